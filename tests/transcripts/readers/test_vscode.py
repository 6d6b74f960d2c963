"""Copilot's exported chats of VS Code."""

import json

import pytest
from support.recorded import calls, document_file

from todoplan.transcripts.calls import OtherCall, PersonSpoke
from todoplan.transcripts.reading import read

LISTED = [{"id": 1, "title": "Sow", "status": "not-started"}]
SHOWN = {"kind": "todoList", "todoList": [{**LISTED[0], "id": "1"}]}


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
    """With its result; what the window shows of the same call is not counted again."""
    sent = {"id": "c1", "name": "manage_todo_list", "arguments": '{"operation": "read"}'}
    other = {"id": "c0", "name": "copilot_readFile", "arguments": "{}"}
    rounds = [{"id": "r1", "timestamp": 1_772_443_201_000, "toolCalls": [other, sent]}]
    told = {"c1": {"content": [{"value": "# Task List"}]}}
    path = chat(tmp_path, part(), toolCallRounds=rounds, toolCallResults=told)
    (call,) = calls(path)
    expected = ({"operation": "read"}, "# Task List", "r1")
    assert (call.arguments, call.result.text, call.turn) == expected
    assert call.at.second == 1
    assert isinstance(next(read(path)), PersonSpoke)


def test_without_rounds_the_window_tells(tmp_path):
    """Older exports, and calls that the editor made for itself."""
    path = chat(tmp_path, part(), part(toolId="copilot_readFile", toolSpecificData=None))
    (call,) = calls(path)
    assert call.arguments == {"todoList": SHOWN["todoList"]}
    assert (call.result.is_error, call.at.year) == (False, 2026)
    other = [{"toolCalls": [{"id": "c0", "name": "copilot_readFile", "arguments": "{}"}]}]
    assert len(calls(chat(tmp_path, part(), toolCallRounds=other))) == 1


@pytest.mark.parametrize(
    ("answer", "refused"), [(False, True), ({"type": 0}, True), ({"type": 4}, False), (True, False)]
)
def test_a_call_that_somebody_denied_is_refused(tmp_path, answer, refused):
    """It is shown all the same."""
    (call,) = calls(chat(tmp_path, part(isConfirmed=answer)))
    assert call.result.is_error is refused


def test_our_own_tool_of_a_server_is_read(tmp_path):
    """By its arguments: a `plan` of another product is none of ours."""
    given = {"write": ["Sow"]}
    shown = part(toolId="mcp_todoplan_plan", toolSpecificData={"kind": "input", "rawInput": given})
    (call,) = calls(chat(tmp_path, shown))
    assert (call.tool, call.arguments) == ("plan", given)


@pytest.mark.parametrize(
    ("tool", "own"),
    [
        ("mcp_todoplan_write_todos", "write_todos"),
        ("mcp_my_server_TaskCreate", "TaskCreate"),
        ("mcp_notes_list_todos", "mcp_notes_list_todos"),
        ("mcp_notes_plan", "plan"),
        ("mcp_", "mcp_"),
    ],
)
def test_planning_tools_of_servers_have_their_own_names(tmp_path, tool, own):
    """The arguments of a server's tool stand as they were given, in both places."""
    given = {"todos": [{"content": "Sow", "status": "pending"}]}
    shown = part(toolId=tool, toolSpecificData={"kind": "input", "rawInput": given})
    sent = {"id": "c1", "name": tool, "arguments": json.dumps(given)}
    for path in (chat(tmp_path, shown), chat(tmp_path, toolCallRounds=[{"toolCalls": [sent]}])):
        (found,) = [item for item in read(path) if not isinstance(item, PersonSpoke)]
        assert found.tool == own
        assert getattr(found, "arguments", given) == given


def test_a_call_without_a_result_has_none(tmp_path):
    """The chat was exported while it was at work; a result may also be an error."""
    rounds = [
        {"toolCalls": [{"id": name, "name": "manage_todo_list", "arguments": "{}"}]}
        for name in ("c1", "c2")
    ]
    told = {"c2": {"content": [{"value": "Error: todoList is required"}]}}
    first, second = calls(chat(tmp_path, toolCallRounds=rounds, toolCallResults=told))
    assert first.result is None
    assert second.result.is_error
    assert first.turn != second.turn


def test_other_tools_are_named(tmp_path):
    """Where no planning tool was called."""
    path = chat(tmp_path, part(toolId="copilot_readFile"))
    assert OtherCall("copilot_readFile", 1) in list(read(path))
