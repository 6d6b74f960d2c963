"""Events of AG-UI."""

import json

import pytest
from support.pace import is_linear, seconds
from support.recorded import TODOS, bad_lines, calls, lines_file

from todoplan.transcripts.calls import PersonSpoke
from todoplan.transcripts.reading import detect, read

TEXT = json.dumps(TODOS)


def event(kind, call_id="c1", **fields):
    """An event about a call."""
    return {"type": kind, "toolCallId": call_id, **fields}


def start(call_id="c1", **fields):
    """A call begins."""
    return event("TOOL_CALL_START", call_id, toolCallName="write_todos", **fields)


def test_a_stream_that_was_saved_as_it_came_is_read(tmp_path):
    """Server-sent events: each under `data:`, with other fields and comments between."""
    events = [start(), event("TOOL_CALL_ARGS", delta=TEXT), event("TOOL_CALL_END")]
    lines = [f"event: message\nid: 1\ndata: {json.dumps(one)}\n" for one in events]
    path = lines_file(tmp_path, ": connected", *lines, "retry: 10", "data: [DONE]", name="run.log")
    assert detect(path) == "ag-ui"
    (call,) = read(path)
    assert call.arguments == TODOS


def test_a_stream_that_was_cut_says_so(tmp_path):
    """What is no JSON behind `data:` is a bad line like any other."""
    path = lines_file(tmp_path, f"data: {json.dumps(start())}", "data: {oops", "data: 5")
    assert [item.line for item in bad_lines(path)] == [2, 3]


def test_chunks_are_a_short_form(tmp_path):
    """The first names the call, the others are of the call that was begun last."""
    chunk = event("TOOL_CALL_CHUNK", toolCallName="write_todos", delta=TEXT[:5])
    rest = {"type": "TOOL_CALL_CHUNK", "delta": TEXT[5:]}
    (call,) = calls(lines_file(tmp_path, chunk, rest, {"type": "RUN_FINISHED"}))
    assert call.arguments == TODOS
    assert calls(lines_file(tmp_path, rest, start("")), "ag-ui")[0].arguments == {}


def test_a_call_that_never_ends_is_given_at_the_end(tmp_path):
    """What came of its arguments is no JSON: the replay calls it unreadable."""
    (call,) = calls(lines_file(tmp_path, start(), event("TOOL_CALL_ARGS", delta=TEXT[:9])))
    assert (call.arguments, call.result) == (TEXT[:9], None)


def test_answers_may_come_before_the_end(tmp_path):
    """The call is whole then; pieces without a call are nobody's."""
    stray = event("TOOL_CALL_ARGS", "x", delta="y")
    begun = (start(), event("TOOL_CALL_ARGS", delta=TEXT), stray)
    told = event("TOOL_CALL_RESULT", content="Error: no")
    (call,) = calls(lines_file(tmp_path, *begun, told, event("TOOL_CALL_END")))
    assert (call.arguments, call.result.is_error) == (TODOS, True)


def test_calls_of_one_message_are_one_turn(tmp_path):
    """They name it as their parent."""
    path = lines_file(tmp_path, start("a", parentMessageId="m"), start("b", parentMessageId="m"))
    assert [call.turn for call in calls(path)] == ["m", "m"]


def test_a_snapshot_brings_what_was_not_sent(tmp_path):
    """Calls with their answers, each once; one without an id cannot be told from others."""
    function = {"name": "write_todos", "arguments": TEXT}
    asked = {"id": "m", "role": "assistant", "toolCalls": [{"id": "c1", "function": function}]}
    asked["toolCalls"].append({"function": function})
    told = {"id": "n", "role": "tool", "toolCallId": "c1", "content": "ok"}
    snapshot = {"type": "MESSAGES_SNAPSHOT", "messages": [asked, told]}
    (call,) = calls(lines_file(tmp_path, snapshot, snapshot))
    assert (call.arguments, call.result.text, call.turn) == (TODOS, "ok", "m")


def test_a_run_begins_with_what_the_person_said(tmp_path):
    """Or with the answer of a tool in the browser, which is nobody's message."""
    for role, spoke in (("user", 1), ("tool", 0)):
        messages = {"messages": [{"role": role, "content": "x"}]}
        path = lines_file(tmp_path, {"type": "RUN_STARTED", "input": messages})
        assert sum(isinstance(item, PersonSpoke) for item in read(path)) == spoke


@pytest.mark.parametrize("ended", [True, False])
def test_calls_without_end_are_bounded(tmp_path, ended):
    """The earliest are given up where there are too many; none is lost."""
    begun = [start(f"c{number}") for number in range(200)]
    path = lines_file(tmp_path, *begun, *[{"type": "RUN_FINISHED"}] * ended)
    assert [call.call_id for call in calls(path)] == [f"c{number}" for number in range(200)]


def test_arguments_without_end_are_not_kept(tmp_path):
    """A megabyte is more than a plan has: the rest is left out, and the call is unreadable."""
    piece = event("TOOL_CALL_ARGS", delta="[" * 300_000)
    (call,) = calls(lines_file(tmp_path, start(), *[piece] * 9))
    assert len(call.arguments) == 1_200_000


def test_pieces_take_linear_time(tmp_path):
    """As many as there are characters."""

    def taking(pieces):
        path = lines_file(tmp_path, start(), *[event("TOOL_CALL_ARGS", delta="x")] * pieces)
        return seconds(lambda: calls(path, "ag-ui"))

    assert is_linear(taking, 20_000)
