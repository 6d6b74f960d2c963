"""One message of a conversation, whoever's shape it is in: what it calls and what it answers."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import attrs

from todoplan.transcripts.calls import CallResult
from todoplan.transcripts.readers.shapes import (
    arguments_of,
    content_text,
    id_of,
    is_refusal,
    mapping,
    mappings,
    string,
)
from todoplan.transcripts.times import parse_time

__all__ = ["Message", "Reply", "Use", "message_of", "unwrapped"]

_USES = {"tool_use", "tool_call", "tool-call", "toolCall"}
_RESULTS = {"tool_result", "tool-result", "toolResult"}
_ANSWERING = {"tool", "function", "ToolMessage", "ToolMessageChunk"}
_REFUSALS = ("Error:", "ERROR:", "Error invoking tool")


@attrs.frozen
class Use:
    """
    A call of any tool. `call_id` is empty where the recording has none.
    """

    tool: str
    arguments: Mapping[str, Any] | str
    call_id: str


@attrs.frozen
class Reply:
    """
    The answer of a tool: to the call with this id, or to one of the tool of this name.

    `texts` are its parts, where it came in several.
    """

    call_id: str
    tool: str
    result: CallResult
    texts: tuple[str, ...] = ()


@attrs.frozen
class Message:
    """
    What one message holds for us. `turn` is its id, if it has one.
    """

    turn: str
    uses: tuple[Use, ...]
    replies: tuple[Reply, ...]
    at: datetime | None


def unwrapped(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Give the message itself: out of a LangChain constructor, a `{"type", "data"}` pair, an envelope.
    """
    if fields.get("type") == "constructor" and isinstance(fields.get("kwargs"), dict):
        path = fields.get("id")
        kind = path[-1] if isinstance(path, list) and path else None
        return {"type": kind, **fields["kwargs"]}
    for key in ("data", "message"):
        if "role" not in fields and "content" not in fields and isinstance(fields.get(key), dict):
            return {"type": fields.get("type"), **fields[key]}
    return fields


def message_of(fields: Mapping[str, Any]) -> Message:
    """
    Give the message's calls, each once though it may stand in two places, and its answers.
    """
    fields = unwrapped(fields)
    times = (fields, mapping(fields.get("_metadata")), mapping(fields.get("metadata")))
    at = next((found for one in times if (found := parse_time(one.get("timestamp")))), None)
    return Message(id_of(fields.get("id")), tuple(_uses(fields)), tuple(_replies(fields)), at)


def _uses(fields: Mapping[str, Any]) -> Iterator[Use]:
    known: set[str] = set()
    listed = mappings(fields.get("tool_calls")) + mappings(fields.get("invalid_tool_calls"))
    legacy = mapping(fields.get("function_call"))
    for use in map(_listed, (*listed, *([legacy] if legacy else []))):
        if use.call_id not in known:
            yield use
        known |= {use.call_id} - {""}
    for block in mappings(fields.get("content")):
        if string(block.get("type")) in _USES:
            use = _in_content(block)
            if use.call_id not in known and not (listed and not use.call_id):
                yield use
            known |= {use.call_id} - {""}


def _listed(fields: Mapping[str, Any]) -> Use:
    inner = mapping(fields.get("function")) or fields
    arguments = inner.get("arguments", inner.get("args"))
    return Use(string(inner.get("name")), arguments_of(arguments), id_of(fields.get("id")))


def _in_content(block: Mapping[str, Any]) -> Use:
    name = id_of(block.get("name"), block.get("toolName"), block.get("tool_name"))
    given = (block.get(key) for key in ("input", "arguments", "args", "partial_json"))
    arguments = next((one for one in given if one), None)
    ids = (block.get("id"), block.get("tool_call_id"), block.get("toolCallId"))
    return Use(name, arguments_of(arguments), id_of(*ids))


def _replies(fields: Mapping[str, Any]) -> Iterator[Reply]:
    kind = string(fields.get("role")) or string(fields.get("type"))
    content = fields.get("content")
    blocks = [one for one in mappings(content) if string(one.get("type")) in _RESULTS]
    for block in blocks:
        yield _in_block(block)
    if kind in _ANSWERING and not blocks:
        result = _result(fields, content)
        texts = tuple(content_text(one) for one in mappings(content))
        yield Reply(id_of(fields.get("tool_call_id")), string(fields.get("name")), result, texts)


def _in_block(block: Mapping[str, Any]) -> Reply:
    ids = (block.get("tool_use_id"), block.get("tool_call_id"), block.get("toolCallId"))
    name = id_of(block.get("name"), block.get("toolName"))
    content = next((block[key] for key in ("content", "output", "result") if key in block), None)
    return Reply(id_of(*ids), name, _result(block, content))


def _result(fields: Mapping[str, Any], content: Any) -> CallResult:
    text = content_text(content)
    marked = fields.get("is_error") is True or fields.get("status") == "error"
    return CallResult(text, marked or is_refusal(text) or text.startswith(_REFUSALS))
