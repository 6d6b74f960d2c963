"""HTTP logs in which every request repeats the history."""

import json

from support.recorded import TODOS, bad_lines, calls, lines_file

from todoplan.transcripts.readers import frameworks
from todoplan.transcripts.reading import detect


def _use(call_id, name="TodoWrite", arguments=TODOS):
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def _told(call_id, text="ok"):
    return {"type": "tool_result", "tool_use_id": call_id, "content": text}


def _exchange(*messages, system="main", response=None, at=1748561905.03):
    history = [{"role": "user", "content": list(blocks)} for blocks in messages]
    body = {"model": "m", "system": system, "messages": history}
    return {"request": {"timestamp": at, "body": body}, "response": response}


def _streamed(call_id, text, message="msg_1"):
    events = [
        {"type": "message_start", "message": {"id": message}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
        {"type": "content_block_start", "index": 1, "content_block": _use(call_id, arguments={})},
        {"type": "content_block_delta", "index": 1, "delta": {"partial_json": text[:5]}},
        {"type": "content_block_delta", "index": 1, "delta": {"partial_json": text[5:]}},
        {"type": "content_block_delta", "index": 7, "delta": {"partial_json": "lost"}},
    ]
    body = "".join(f"event: x\ndata: {json.dumps(event)}\n\n" for event in events)
    return {"body_raw": body + "data: [oops\n\ndata: [1]\n\n"}


def test_a_call_counts_once_though_every_request_repeats_it(tmp_path):
    """It is met in the streamed answer; its result in the next request."""
    text = json.dumps(TODOS)
    path = lines_file(
        tmp_path,
        _exchange(response=_streamed("t1", text)),
        "oops",
        _exchange([_use("t1")], [_told("t1")], response={"body": {"content": [_use("t2")]}}),
        _exchange([_use("t1")], [_told("t1")], [_use("t2")], [_told("t2", "two")]),
    )
    assert detect(path) == "anthropic"
    found = calls(path)
    expected = [(1, "t1", "msg_1"), (3, "t2", "#3")]
    assert [(call.line, call.call_id, call.turn) for call in found] == expected
    assert [call.result.text for call in found] == ["ok", "two"]
    assert [call.arguments for call in found] == [TODOS, TODOS]
    assert found[0].at.year == 2025
    assert len(bad_lines(path)) == 1


def test_each_system_prompt_has_a_lane(tmp_path):
    """A subagent is told by its system prompt, as text or as blocks; others do not count."""
    blocks = [{"type": "text", "text": "you"}, {"type": "text", "text": "are a subagent"}]
    path = lines_file(
        tmp_path,
        _exchange([_use("t0", "Bash")], system="title"),
        _exchange([_use("t1")]),
        _exchange([_use("t2")], system=blocks),
        _exchange([_use("t3")]),
    )
    assert [call.lane for call in calls(path)] == ["main", "agent-2", "main"]


def test_lanes_are_bounded(tmp_path, monkeypatch):
    """Past the bound new prompts share a lane."""
    monkeypatch.setattr(frameworks, "_MOST_LANES", 2)
    path = lines_file(tmp_path, *[_exchange([_use(f"t{n}")], system=f"s{n}") for n in range(4)])
    assert [call.lane for call in calls(path)] == ["main", "agent-2", "agent-3", "agent-3"]


def test_what_a_log_has_of_its_calls_is_read(tmp_path):
    """
    A log that begins in the middle has its first calls in a request, one turn a message. A call
    without an id cannot be told from the same call in an earlier request. A body that was logged as
    text is parsed, and one that is no JSON says nothing.
    """
    exchange = _exchange([_use("t1"), _use("t2")], [_told("t1")], [_use("t3"), _use(None)])
    exchange["request"]["body"] = json.dumps(exchange["request"]["body"])
    exchange["response"] = {"body": "<html>"}
    found = [(call.call_id, call.turn) for call in calls(lines_file(tmp_path, exchange))]
    assert found == [("t1", "#1.0"), ("t2", "#1.0"), ("t3", "#1.2")]
