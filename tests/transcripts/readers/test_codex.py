"""Codex rollouts."""

import json

import pytest
from support.recorded import calls, compactions, lines_file

from todoplan.transcripts.calls import PersonSpoke
from todoplan.transcripts.reading import read

AT = "2026-06-23T07:26:12.420Z"
PLAN = {"plan": [{"step": "Design", "status": "in_progress"}]}


def _item(kind, **payload):
    return {"timestamp": AT, "type": "response_item", "payload": {"type": kind} | payload}


def _call(call_id="c1", arguments=None, name="update_plan"):
    text = json.dumps(PLAN) if arguments is None else arguments
    return _item("function_call", id="fc_1", name=name, call_id=call_id, arguments=text)


def _output(call_id="c1", output="Plan updated", kind="function_call_output"):
    return _item(kind, call_id=call_id, output=output)


def _script(text, call_id="c1"):
    return _item("custom_tool_call", name="exec", call_id=call_id, input=text)


def test_a_call_has_the_arguments_that_its_text_holds(tmp_path):
    """Arguments are JSON in a string; the result is found by the call's id."""
    other = _call("c0", name="shell")
    (call,) = calls(
        lines_file(tmp_path, other, _call(), {"type": "other"}, _output("c0"), _output())
    )
    assert (call.tool, call.arguments, call.line, call.call_id) == ("update_plan", PLAN, 2, "c1")
    assert (call.result.text, call.result.is_error) == ("Plan updated", False)
    assert (call.at.hour, call.turn, call.lane) == (7, "#2", "main")


@pytest.mark.parametrize(
    ("output", "text", "refused"),
    [
        ("failed to parse function arguments: x", "failed to parse function arguments: x", True),
        ('{"output":"Plan updated","metadata":{}}', "Plan updated", False),
        ({"content": "no", "success": False}, "no", True),
        ({"content": "Plan updated", "success": False}, "Plan updated", True),
        ([{"type": "output_text", "text": "Plan updated"}], "Plan updated", False),
        ("", "", False),
        (None, "", False),
    ],
)
def test_outputs_of_all_versions_are_read(tmp_path, output, text, refused):
    """Wrapped or plain, the text is found, and what is not the one good answer is an error."""
    (call,) = calls(lines_file(tmp_path, _call(), _output(output=output)))
    assert (call.result.text, call.result.is_error) == (text, refused)


@pytest.mark.parametrize("output", ["ok, 0/1 completed", "0/1: #1 created; #1 started"])
@pytest.mark.parametrize("name", ["write_todos", "plan"])
def test_other_tools_have_more_than_one_good_answer(tmp_path, name, output):
    """Only `update_plan` says the same each time."""
    own = _call(name=name, arguments='{"write": ["a"]}')
    (call,) = calls(lines_file(tmp_path, own, _output(output=output)))
    assert (call.result.text, call.result.is_error) == (output, False)


def test_calls_within_a_script_are_found(tmp_path):
    """
    In code mode the argument is a literal; both calls of a script share its answer, which says
    whether the script failed.
    """
    script = 'tools.shell({a: 1}); tools.update_plan({plan:[{step:"A"}]}); tools.update_plan(p)'
    done = [
        {"type": "input_text", "text": "Script completed\n"},
        {"type": "input_text", "text": "{}"},
    ]
    answer = _output(output=done, kind="custom_tool_call_output")
    first, second = calls(lines_file(tmp_path, _script(script), _script("1", "c2"), answer))
    assert first.arguments == {"plan": [{"step": "A"}]}
    assert second.arguments == "p"
    assert first.result == second.result
    assert first.result.text == "Script completed\n\n{}"
    assert not first.result.is_error
    failed = _output(output="Script failed\nboom", kind="custom_tool_call_output")
    (call,) = calls(lines_file(tmp_path, _script("tools.update_plan({plan:[]})"), failed))
    assert call.result.is_error


def test_a_repeated_call_counts_once_and_other_events_are_told(tmp_path):
    """A resumed rollout repeats its history."""
    compacted = {"timestamp": AT, "type": "compacted", "payload": {"message": "x"}}
    said = {"timestamp": AT, "type": "event_msg", "payload": {"type": "user_message"}}
    redacted = _call("REDACTED")
    path = lines_file(tmp_path, _call(), _call(), compacted, redacted, redacted, said)
    assert [call.line for call in calls(path)] == [1, 4, 5]
    assert [each.line for each in read(path) if isinstance(each, PersonSpoke)] == [6]
    assert [(one.line, one.at.day) for one in compactions(path)] == [(3, 23)]


def test_old_rollouts_without_envelopes_are_read(tmp_path):
    """The item itself is the line."""
    bare = {"type": "function_call", "name": "update_plan", "call_id": "c1", "arguments": "{}"}
    answer = {"type": "function_call_output", "call_id": "c1", "output": "Plan updated"}
    (call,) = calls(lines_file(tmp_path, bare, "oops", answer))
    assert call.result.text == "Plan updated"
