"""
Dialects that are lists of chat messages: Anthropic's, LangChain's, and chat completions.

They differ in the format of a message, which `conversation` handles. HTTP logs of the Anthropic API
have a section of their own.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import chain
from typing import Any

import attrs

from todoplan.transcripts.calls import (
    MAIN_LANE,
    BadLine,
    CallResult,
    OtherCall,
    PlanningCall,
    ShownPlan,
    may_plan,
)
from todoplan.transcripts.files import NotJsonError, Probe, Record, Source, parse_json, sibling_list
from todoplan.transcripts.readers.base import (
    Answered,
    Fields,
    Joiner,
    Signal,
    Use,
    arguments_of,
    awaiting,
    by_record,
    content_text,
    conversation,
    data_of,
    dialect,
    each,
    id_of,
    mapping,
    mappings,
    message_of,
    parse_time,
    records,
    string,
    turn_of,
    unwrapped,
)

# -------- http_log --------
# HTTP logs (claude-trace): every request repeats the whole conversation. A log also has the
# requests of subagents, which differ only in their system prompts.

# Limits the number of lanes if the prompt differs in every request.
_MOST_LANES = 1000
# The beginning of a prompt identifies the agent; environment and date come later in it.
_TELLING = 500


@attrs.define
class _Log:
    """The lanes by system prompt. Each agent has its own prompt, and so its own lane."""

    lanes: dict[bytes, str] = attrs.Factory(dict)

    def exchange(self, record: Record) -> Iterator[Signal]:
        """Yield the signals of a request and its answer: calls and results, even repeated ones."""
        request = mapping(record.value.get("request"))
        body = _body(request.get("body"))
        history = [message_of(one) for one in mappings(body.get("messages"))]
        answer, turn = _answer(mapping(record.value.get("response")))
        met = [(use, f"#{record.line}.{at}") for at, one in enumerate(history) for use in one.uses]
        # A call is in the streamed answer first, and then in every later request. `awaiting`
        # removes the duplicates.
        met += [(use, turn_of(record.line, turn)) for use in answer]
        planning = []
        for use, turn in met:
            if not may_plan(use.tool, use.arguments):
                yield OtherCall(use.tool, record.line)
            elif use.call_id:
                planning.append((use, turn))
        if planning:
            system, at = body.get("system"), parse_time(request.get("timestamp"))
            blocks = system if isinstance(system, list) else [system]
            telling = "\n".join(content_text(one)[:_TELLING] for one in blocks[:2])
            digest = blake2b(telling.encode(errors="replace"), digest_size=16).digest()
            # Beyond the limit, all new prompts have one lane.
            lane = f"agent-{len(self.lanes) + 1}" if self.lanes else MAIN_LANE
            if len(self.lanes) < _MOST_LANES:
                self.lanes.setdefault(digest, lane)
            lane = self.lanes.get(digest, lane)
            for use, turn in planning:
                call = PlanningCall(
                    use.tool, use.arguments, record.line, lane, lane, turn, use.call_id, at
                )
                yield awaiting(call)
        for reply in (reply for one in history for reply in one.replies):
            yield Answered(reply.call_id, reply.result)


def _answer(response: Fields) -> tuple[tuple[Use, ...], str]:
    """Return the calls and the message id of an answer, whether it was streamed or not."""
    raw = response.get("body_raw")
    if not isinstance(raw, str) or not raw:
        message = message_of(_body(response.get("body")))
        return message.uses, message.turn
    turn = ""
    blocks: dict[str, tuple[Fields, list[str]]] = {}
    for line in raw.splitlines():
        if not line.startswith("data:"):
            continue
        event = _body(line.removeprefix("data:"))
        turn = turn or id_of(mapping(event.get("message")).get("id"))
        index = str(event.get("index"))
        if event.get("type") == "content_block_start":
            blocks[index] = (mapping(event.get("content_block")), [])
        elif event.get("type") == "content_block_delta" and index in blocks:
            blocks[index][1].append(string(mapping(event.get("delta")).get("partial_json")))
    uses = (
        # When streaming, `input` is empty and the arguments follow in pieces.
        Use(
            string(block.get("name")),
            arguments_of("".join(parts) or block.get("input")),
            id_of(block.get("id")),
        )
        for block, parts in blocks.values()
    )
    return tuple(uses), turn


def _body(body: Any) -> Fields:
    try:
        return mapping(parse_json(body) if isinstance(body, str) else body)
    except NotJsonError:
        return {}


# -------- lists --------


def _is_anthropic(probe: Probe) -> bool:
    if any(map(_is_exchange, probe.records)):
        return True
    # Conversions of Claude Code sessions to chat completions keep Anthropic's content blocks in
    # addition to `tool_calls`. A message with `tool_calls` is a chat completion.
    if any("tool_calls" in record for record in probe.records):
        return False
    return any(
        string(block.get("type")) in {"tool_use", "tool_result"}
        for record in probe.records
        if "role" in record
        for block in mappings(record.get("content"))
    )


def _is_exchange(record: Fields) -> bool:
    return isinstance(record.get("request"), dict) and "response" in record


@dialect("anthropic", _is_anthropic)
def anthropic(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of messages of the Anthropic API, or of an HTTP log of it."""
    # HTTP logs have a whole conversation on each line, message lists one message.
    found = records(source)
    for one in found:
        if isinstance(one, BadLine):
            yield one
            continue
        rest: Iterable[Record | BadLine] = chain([one], found)
        yield from each(rest, _Log().exchange) if _is_exchange(one.value) else conversation(rest)


_SPOKEN = {"content", "tool_calls", "function_call"}
_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}


def _is_chat(record: Fields) -> bool:
    message = unwrapped(record)
    return string(message.get("role")) in _ROLES and not _SPOKEN.isdisjoint(message)


@dialect("chat", by_record(_is_chat))
def chat(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of chat messages."""
    return conversation(records(source))


_KINDS = {"human", "ai", "tool", "system", "remove", "AIMessageChunk"}


def _is_langchain(record: Fields) -> bool:
    if record.get("type") == "constructor":
        return "lc" in record and "kwargs" in record
    message = unwrapped(record)
    return string(message.get("type")) in _KINDS and "role" not in message and "content" in message


@dialect("langchain", by_record(_is_langchain))
def langchain(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of LangChain's messages, and of the state of a thread around them."""
    yield from conversation(records(source))
    # A thread's state ends with the middleware's list, which a person or a node may have changed
    # without any message.
    if todos := sibling_list(source, "todos"):
        yield ShownPlan(0, CallResult("", data=data_of({"todos": todos})))
