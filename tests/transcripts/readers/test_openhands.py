"""OpenHands events and logs."""

import json

import pytest
from support.recorded import bad_lines, calls, document_file, lines_file, text_file

from todoplan.transcripts.reading import detect

ARGUMENTS = {"command": "plan", "task_list": [{"title": "A", "notes": "", "status": "todo"}]}


def _action(call_id="t1", tool="task_tracker", **fields):
    event = {"kind": "ActionEvent", "id": "e1", "timestamp": "2026-01-28T12:46:55.632344"}
    sent = {"id": call_id, "name": tool, "arguments": json.dumps(ARGUMENTS)}
    return event | {
        "source": "agent", "tool_name": tool, "tool_call_id": call_id, "llm_response_id": "r1",
        "tool_call": sent, "action": {"kind": "TaskTrackerAction"},
    } | fields  # fmt: skip


def _observed(call_id="t1", **fields):
    observation = {"content": [{"type": "text", "text": "updated"}], "is_error": False} | fields
    event = {"kind": "ObservationEvent", "source": "environment", "tool_name": "task_tracker"}
    return event | {"tool_call_id": call_id, "observation": observation}


def test_events_are_read(tmp_path):
    """What the model sent is taken, not what was made of it; the observation is the data."""
    path = lines_file(tmp_path, _action(), "oops", _action("t0", "terminal"), _observed())
    (call,) = calls(path)
    assert (call.arguments, call.turn, call.call_id, call.at.minute) == (ARGUMENTS, "r1", "t1", 46)
    assert (call.result.text, call.result.is_error) == ("updated", False)
    assert call.result.data["content"][0]["text"] == "updated"
    assert len(bad_lines(path)) == 1


def test_a_list_of_events_is_read_too(tmp_path):
    """The same events in one document; without what was sent, the action is taken."""
    path = document_file(tmp_path, [_action(tool_call=None), _action(), _observed(is_error=True)])
    (call,) = calls(path)
    assert call.arguments == {"kind": "TaskTrackerAction"}
    assert call.result.is_error


def test_refused_calls_have_an_error_event(tmp_path):
    """An event with an error answers the call; any other event says nothing."""
    refused = {"kind": "AgentErrorEvent", "source": "agent", "tool_name": "task_tracker"}
    refused |= {"tool_call_id": "t1", "error": "Error validating tool"}
    other = {"kind": "OtherEvent", "source": "agent", "tool_name": "task_tracker"}
    (call,) = calls(lines_file(tmp_path, _action(), other, refused))
    assert (call.result.text, call.result.is_error) == ("Error validating tool", True)


def _step(number, what, body):
    return f"### [{number}] {what} · 2026-07-30 22:24:46 UTC\n\n```\n{body}\n```\n\n"


CALL = _step(5, "TOOL CALL — task_tracker", json.dumps(ARGUMENTS, indent=2))
OBSERVED = json.dumps({"content": [{"type": "text", "text": "updated"}], "is_error": False})


@pytest.mark.parametrize(
    ("heading", "body", "text", "refused"),
    [
        ("TOOL RESULT — task_tracker", OBSERVED, "updated", False),
        ("TOOL RESULT — task_tracker", "updated", "updated", False),
        ("TOOL RESULT — task_tracker", '"updated"', '"updated"', False),
        ("TOOL RESULT — task_tracker [ERROR]", "ERROR: x\ny", "ERROR: x\ny", True),
        ("TOOL RESULT — task_tracker", "ERROR: x", "ERROR: x", True),
    ],
)
def test_markdown_logs_are_read(tmp_path, heading, body, text, refused):
    """A heading tells what the block under it is."""
    shell = _step(1, "TOOL CALL — terminal", '{"command": "x"}')
    path = text_file(tmp_path, shell + CALL + _step(2, "THINKING", "hm") + _step(6, heading, body))
    assert detect(path) == "openhands"
    (call,) = calls(path)
    expected = ("task_tracker", ARGUMENTS, 22, "#9")
    assert (call.tool, call.arguments, call.at.hour, call.turn) == expected
    assert (call.result.text, call.result.is_error) == (text, refused)


def test_results_in_markdown_go_to_calls_in_turn(tmp_path):
    """The oldest call without a result takes the next; one too many is passed over."""
    told = [_step(n, "TOOL RESULT — task_tracker", f"r{n}") for n in range(3)]
    path = text_file(tmp_path, CALL + CALL + "".join(told) + CALL)
    assert [call.result and call.result.text for call in calls(path)] == ["r0", "r1", None]


def test_a_log_cut_inside_a_block_tells_so(tmp_path):
    """The call that was cut is given as the text it is."""
    path = text_file(tmp_path, CALL[:-10].removesuffix("```"))
    (call,) = calls(path)
    assert isinstance(call.arguments, str)
    assert bad_lines(path)[0].reason.startswith("cut")


def test_bad_bytes_in_a_log_are_told(tmp_path):
    """The log is read all the same."""
    path = tmp_path / "log.md"
    path.write_bytes(b"\xff\n" + CALL.encode())
    assert len(calls(path)) == len(bad_lines(path)) == 1
