"""Sessions of Entire, OpenCode, VS Code and OpenHands."""

import json

import pytest
from support.recorded import (
    TODOS,
    answers,
    bad_lines,
    calls,
    compactions,
    document_file,
    lines_file,
    text_file,
)

from todoplan.transcripts.calls import OtherCall, PersonSpoke
from todoplan.transcripts.reading import detect, read

# -------- entire --------


def _entire(*blocks, **fields):
    line = {"v": 1, "agent": "codex", "type": "assistant", "ts": "2026-04-29T22:57:59Z", "id": "m1"}
    return line | {"content": list(blocks)} | fields


def _use(call_id, **fields):
    return {"type": "tool_use", "id": call_id, "name": "todowrite", "input": TODOS} | fields


def test_entire_lines_are_read(tmp_path):
    """The result stands in the call, or is missing. A call that is repeated counts once."""
    good = {"output": "[]", "status": "success"}
    bad = {"output": "no", "status": "error"}
    path = lines_file(
        tmp_path,
        _entire(_use("c1", result=good), _use("c2"), {"type": "text"}),
        "oops",
        _entire(_use("c3", result=bad), _use("c1", result=good), _use("c4", name="bash"), id=None),
    )
    found = calls(path)
    expected = [("c1", "m1"), ("c2", "m1"), ("c3", "#3")]
    assert [(call.call_id, call.turn) for call in found] == expected
    assert answers(path) == ["[]", None, "!no"]
    assert (found[0].arguments, found[0].at.day, len(bad_lines(path))) == (TODOS, 29, 1)


# -------- opencode --------


def _part(status="completed", call_id="REDACTED", **state):
    state = {"status": status, "input": TODOS, "output": "[]", "metadata": {"todos": []}} | state
    return {"type": "tool", "tool": "todowrite", "callID": call_id, "state": state}


def _message(*parts, message_id="m1"):
    return {"info": {"id": message_id, "time": {"created": 1772897822000}}, "parts": list(parts)}


def test_opencode_sessions_are_read(tmp_path):
    """
    Redacted ids make no two calls one; times are of the call, else of the message. An error has its
    text, an unfinished call no result. A part may say that the conversation was summarised.
    """
    timed = _part(call_id="c1", time={"start": 1772897823000})
    failed, running = _part("error", error="no"), _part("running")
    other = _part() | {"tool": "bash"}
    summary = _message({"type": "compaction"}, message_id="REDACTED")
    value = {"info": {}, "messages": [_message(timed, failed, running, other), "x", summary]}
    path = document_file(tmp_path, value)
    found = [(call.call_id, call.turn, call.line, call.at.second) for call in calls(path)]
    assert found == [("c1", "m1", 1, 3), ("", "m1", 1, 2), ("", "m1", 1, 2)]
    assert answers(path) == ["[]", "!no", None]
    assert calls(path)[0].result.data == {"todos": []}
    assert len(bad_lines(path)) == 1
    assert [(one.line, one.at.year) for one in compactions(path)] == [(3, 2026)]


# -------- vscode --------

LISTED = [{"id": 1, "title": "Sow", "status": "not-started"}]
SHOWN = {"kind": "todoList", "todoList": [{**LISTED[0], "id": "1"}]}
READ_FILE = {"id": "c0", "name": "copilot_readFile", "arguments": "{}"}


def part(**fields):
    """A call as the window shows it."""
    shown = {"kind": "toolInvocationSerialized", "toolId": "manage_todo_list", "isComplete": True}
    return {**shown, "toolCallId": "t1", "toolSpecificData": SHOWN, **fields}


def chat(folder, *parts, **metadata):
    """An exported chat of one request."""
    request = {"requestId": "q", "message": {"text": "go"}, "response": [{"value": "x"}, *parts]}
    request |= {"timestamp": 1_772_443_200_000, "result": {"metadata": metadata}}
    return document_file(folder, {"requests": [request, {"requestId": "r", "response": []}]})


def test_a_call_is_taken_as_the_model_sent_it(tmp_path):
    """
    What the window shows of the same call is not counted again. A result may be missing, as the
    chat was exported while it was at work, or be an error.
    """
    names = ("c1", "c2", "c3")
    sent = [{"id": one, "name": "manage_todo_list", "arguments": '{"a": 1}'} for one in names]
    rounds = [
        {"id": "r1", "timestamp": 1_772_443_201_000, "toolCalls": [READ_FILE, *sent[:2]]},
        {"toolCalls": sent[2:]},
    ]
    told = {"c1": {"content": [{"value": "# List"}]}, "c3": {"content": [{"value": "Error: no"}]}}
    path = chat(tmp_path, part(), toolCallRounds=rounds, toolCallResults=told)
    found = [(call.arguments, call.turn, call.at.second) for call in calls(path)]
    assert found == [({"a": 1}, "r1", 1), ({"a": 1}, "r1", 1), ({"a": 1}, "#1.1", 0)]
    assert answers(path) == ["# List", None, "!Error: no"]
    assert isinstance(next(read(path)), PersonSpoke)


def test_without_rounds_the_window_tells(tmp_path):
    """Older exports, and calls that the editor made for itself."""
    other = part(toolId="copilot_readFile", toolSpecificData=None)
    path = chat(tmp_path, part(), other)
    (call,) = calls(path)
    assert call.arguments == {"todoList": SHOWN["todoList"]}
    assert (call.result.is_error, call.at.year) == (False, 2026)
    assert len(calls(chat(tmp_path, part(), toolCallRounds=[{"toolCalls": [READ_FILE]}]))) == 1
    assert OtherCall("copilot_readFile", 1) in list(read(chat(tmp_path, other)))


@pytest.mark.parametrize(
    ("answer", "refused"), [(False, True), ({"type": 0}, True), ({"type": 4}, False), (True, False)]
)
def test_a_call_that_somebody_denied_is_refused(tmp_path, answer, refused):
    """It is shown all the same."""
    (call,) = calls(chat(tmp_path, part(isConfirmed=answer)))
    assert call.result.is_error is refused


@pytest.mark.parametrize(
    ("tool", "own", "given"),
    [
        ("mcp_todoplan_write_todos", "write_todos", TODOS),
        ("mcp_my_server_TaskCreate", "TaskCreate", TODOS),
        ("mcp_notes_list_todos", "mcp_notes_list_todos", TODOS),
        ("mcp_todoplan_plan", "plan", {"write": ["Sow"]}),
        ("mcp_notes_plan", "plan", {"goal": "Sow"}),
        ("mcp_", "mcp_", TODOS),
    ],
)
def test_planning_tools_of_servers_have_their_own_names(tmp_path, tool, own, given):
    """
    The arguments of a server's tool stand as they were given, in both places. By them, a `plan` of
    another product is none of ours.
    """
    shown = part(toolId=tool, toolSpecificData={"kind": "input", "rawInput": given})
    sent = {"id": "c1", "name": tool, "arguments": json.dumps(given)}
    for path in (chat(tmp_path, shown), chat(tmp_path, toolCallRounds=[{"toolCalls": [sent]}])):
        (found,) = [item for item in read(path) if not isinstance(item, PersonSpoke)]
        assert found.tool == own
        assert getattr(found, "arguments", given) == given
        assert isinstance(found, OtherCall) is (own.startswith("mcp_") or "goal" in given)


# -------- openhands --------

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


def test_events_of_openhands_are_read(tmp_path):
    """
    What the model sent is taken, not what was made of it; without what was sent, the action. The
    observation is the data. An event with an error answers a call that was refused.
    """
    refused = {"kind": "AgentErrorEvent", "source": "agent", "tool_name": "task_tracker"}
    refused |= {"tool_call_id": "t3", "error": "Error validating tool"}
    other = {"kind": "OtherEvent", "source": "agent", "tool_name": "task_tracker"}
    events = [_action(), _action("t0", "terminal"), _observed(), _action("t2", tool_call=None)]
    events += [_observed("t2", is_error=True), _action("t3"), other, refused, "oops"]
    for path in (lines_file(tmp_path, *events), document_file(tmp_path, events)):
        (call, second, _) = calls(path)
        expected = (ARGUMENTS, "r1", "t1", 46)
        assert (call.arguments, call.turn, call.call_id, call.at.minute) == expected
        assert call.result.data["content"][0]["text"] == "updated"
        assert second.arguments == {"kind": "TaskTrackerAction"}
        assert answers(path) == ["updated", "!updated", "!Error validating tool"]
        assert len(bad_lines(path)) == 1


def _step(number, what, body):
    return f"### [{number}] {what} · 2026-07-30 22:24:46 UTC\n\n```\n{body}\n```\n\n"


CALLED = _step(5, "TOOL CALL — task_tracker", json.dumps(ARGUMENTS, indent=2))
TOLD = "TOOL RESULT — task_tracker"
OBSERVED = json.dumps({"content": [{"type": "text", "text": "updated"}], "is_error": False})


@pytest.mark.parametrize(
    ("heading", "body", "answer"),
    [
        (TOLD, OBSERVED, "updated"),
        (TOLD, "updated", "updated"),
        (TOLD, '"updated"', '"updated"'),
        (f"{TOLD} [ERROR]", "ERROR: x\ny", "!ERROR: x\ny"),
        (TOLD, "ERROR: x", "!ERROR: x"),
    ],
)
def test_markdown_logs_are_read(tmp_path, heading, body, answer):
    """A heading tells what the block under it is."""
    shell = _step(1, "TOOL CALL — terminal", '{"command": "x"}')
    text = shell + CALLED + _step(2, "THINKING", "hm") + _step(6, heading, body)
    path = text_file(tmp_path, text)
    assert detect(path) == "openhands"
    (call,) = calls(path)
    expected = ("task_tracker", ARGUMENTS, 22, "#9")
    assert (call.tool, call.arguments, call.at.hour, call.turn) == expected
    assert answers(path) == [answer]


def test_results_in_markdown_go_to_calls_in_turn(tmp_path):
    """
    The oldest call without a result takes the next; one too many is passed over. A call that was
    cut is given as the text it is. Bad bytes are told, and the log is read all the same.
    """
    told = [_step(n, TOLD, f"r{n}") for n in range(3)]
    path = text_file(tmp_path, CALLED + CALLED + "".join(told) + CALLED[:-10].removesuffix("```"))
    assert answers(path) == ["r0", "r1", None]
    assert isinstance(calls(path)[2].arguments, str)
    assert bad_lines(path)[0].reason.startswith("cut")
    path.write_bytes(b"\xff\n" + CALLED.encode())
    assert len(calls(path)) == len(bad_lines(path)) == 1
