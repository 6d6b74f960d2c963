"""Recordings in which call and result are one: Entire's and OpenCode's."""

import pytest
from support.recorded import TODOS, bad_lines, calls, compactions, document_file, lines_file


def _entire(*blocks, **fields):
    line = {"v": 1, "agent": "codex", "type": "assistant", "ts": "2026-04-29T22:57:59Z", "id": "m1"}
    return line | {"content": list(blocks)} | fields


def _use(call_id, **fields):
    return {"type": "tool_use", "id": call_id, "name": "todowrite", "input": TODOS} | fields


def test_entire_lines_are_read(tmp_path):
    """The result stands in the call, or is missing."""
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
    assert [call.result and call.result.is_error for call in found] == [False, None, True]
    assert (found[0].arguments, found[0].at.day, len(bad_lines(path))) == (TODOS, 29, 1)


def _part(status="completed", call_id="REDACTED", **state):
    state = {"status": status, "input": TODOS, "output": "[]", "metadata": {"todos": []}} | state
    return {"type": "tool", "tool": "todowrite", "callID": call_id, "state": state}


def _message(*parts, message_id="m1"):
    return {"info": {"id": message_id, "time": {"created": 1772897822000}}, "parts": list(parts)}


def test_opencode_sessions_are_read(tmp_path):
    """Redacted ids make no two calls one; times are of the call, else of the message."""
    timed = _part(call_id="c1", time={"start": 1772897823000})
    other = _part() | {"tool": "bash"}
    value = {"info": {}, "messages": [_message(timed, _part(), _part(), other), "x"]}
    found = calls(document_file(tmp_path, value))
    assert [call.call_id for call in found] == ["c1", "", ""]
    assert [call.at.second for call in found] == [3, 2, 2]
    assert {(call.turn, call.line, call.result.data["todos"] == []) for call in found} == {
        ("m1", 1, True)
    }
    assert len(bad_lines(document_file(tmp_path, value))) == 1


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"status": "error", "error": "no"}, ("no", True)),
        ({"status": "completed"}, ("[]", False)),
        ({"status": "running"}, None),
    ],
)
def test_opencode_states_tell_how_it_went(tmp_path, state, expected):
    """An error has its text, an unfinished call no result."""
    (call,) = calls(document_file(tmp_path, {"messages": [_message(_part(**state))]}))
    assert (call.result and (call.result.text, call.result.is_error)) == expected


def test_opencode_compactions_are_told(tmp_path):
    """A part says that the conversation was summarised."""
    path = document_file(
        tmp_path, {"messages": [_message({"type": "compaction"}, message_id="REDACTED")]}
    )
    assert [(one.line, one.at.year) for one in compactions(path)] == [(1, 2026)]
