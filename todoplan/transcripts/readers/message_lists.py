"""
Dialects that are lists of chat messages: Anthropic's, LangChain's, and chat completions.

They differ in the format of a message, which `conversation` handles. This module recognises them.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from todoplan.transcripts.calls import BadLine, CallResult, ShownPlan
from todoplan.transcripts.files import Probe, Source, sibling_list
from todoplan.transcripts.readers.base import (
    DialectReader,
    Joiner,
    Signal,
    conversation,
    data_of,
    mappings,
    records,
    string,
    unwrapped,
)
from todoplan.transcripts.readers.http_log import exchanges

_BLOCKS = {"tool_use", "tool_result"}


def _is_anthropic_sample(probe: Probe) -> bool:
    if any(map(_is_exchange, probe.records)):
        return True
    # Conversions of Claude Code sessions to chat completions keep Anthropic's content blocks in
    # addition to `tool_calls`. A message with `tool_calls` is a chat completion.
    chat = any("tool_calls" in record for record in probe.records)
    return not chat and any(map(_is_message, probe.records))


def _is_exchange(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("request"), dict) and "response" in record


def _is_message(record: Mapping[str, Any]) -> bool:
    kinds = {string(block.get("type")) for block in mappings(record.get("content"))}
    return "role" in record and bool(kinds & _BLOCKS)


def _anthropic_signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    # HTTP logs (claude-trace) have a whole conversation on each line, message lists one message.
    found = records(source)
    for one in found:
        if isinstance(one, BadLine):
            yield one
        else:
            of_all = exchanges if _is_exchange(one.value) else conversation
            yield from of_all(chain([one], found))


ANTHROPIC = DialectReader("anthropic", _is_anthropic_sample, _anthropic_signals)


_SPOKEN = {"content", "tool_calls", "function_call"}
_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}


def _is_chat_sample(probe: Probe) -> bool:
    return any(map(_is_chat, probe.records))


def _is_chat(record: Mapping[str, Any]) -> bool:
    message = unwrapped(record)
    return string(message.get("role")) in _ROLES and not _SPOKEN.isdisjoint(message)


def _chat_signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    return conversation(records(source))


CHAT = DialectReader("chat", _is_chat_sample, _chat_signals)


_KINDS = {"human", "ai", "tool", "system", "remove", "AIMessageChunk"}


def _is_langchain_sample(probe: Probe) -> bool:
    return any(map(_is_langchain, probe.records))


def _is_langchain(record: Mapping[str, Any]) -> bool:
    if record.get("type") == "constructor":
        return "lc" in record and "kwargs" in record
    message = unwrapped(record)
    return string(message.get("type")) in _KINDS and "role" not in message and "content" in message


def _langchain_signals(source: Source, joiner: Joiner) -> Iterator[Signal]:
    yield from _chat_signals(source, joiner)
    # A thread's state ends with the middleware's list, which a person or a node may have changed
    # without any message.
    if todos := sibling_list(source, "todos"):
        yield ShownPlan(0, CallResult("", data=data_of({"todos": todos})))


LANGCHAIN = DialectReader("langchain", _is_langchain_sample, _langchain_signals)
