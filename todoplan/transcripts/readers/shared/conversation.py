"""
A conversation of chat messages, in anyone's shape, as signals: what it calls and what it answers.

The same call may stand twice in one message: conversions of agent sessions write it into the
content and into `tool_calls`. It counts once, by its id.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import count
from typing import Any

import attrs

from todoplan.transcripts.calls import BadLine, CallResult, PersonSpoke, PlanningCall
from todoplan.transcripts.files.lines import Record
from todoplan.transcripts.readers.shared.join import Answered, Seen, Signal
from todoplan.transcripts.readers.shared.values import (
    arguments_of,
    content_text,
    id_of,
    is_refusal,
    mapping,
    mappings,
    parse_time,
    string,
    tells_error,
    turn_of,
)

__all__ = ["Message", "Reply", "Use", "conversation", "message_of", "unwrapped"]

_USES = {"tool_use", "tool_call", "tool-call", "toolCall", "toolRequest"}
_RESULTS = {"tool_result", "tool-result", "toolResult", "toolResponse"}
_ANSWERING = {"tool", "function", "ToolMessage", "ToolMessageChunk"}
_DONE = CallResult("")
_PEOPLE = {"human", "HumanMessage"}


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
    What one message holds for us. `turn` is its id, if it has one; `by_person` says who spoke.
    """

    turn: str
    uses: tuple[Use, ...]
    replies: tuple[Reply, ...]
    at: datetime | None
    by_person: bool = False


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
    replies = tuple(_replies(fields))
    by_person = not replies and (
        fields.get("role") == "user" or string(fields.get("type")) in _PEOPLE
    )
    return Message(id_of(fields.get("id")), tuple(_uses(fields)), replies, at, by_person)


def _uses(fields: Mapping[str, Any]) -> Iterator[Use]:
    known: set[str] = set()
    # Listed calls first: of the same call, the content of LangChain has only unparsed text. It sets
    # calls apart whose arguments are no JSON.
    listed = mappings(fields.get("tool_calls")) + mappings(fields.get("invalid_tool_calls"))
    # The oldest chat format has one call a message, without an id.
    legacy = mapping(fields.get("function_call"))
    for use in map(_listed, (*listed, *([legacy] if legacy else []))):
        if use.call_id not in known:
            yield use
        known |= {use.call_id} - {""}
    for block in mappings(fields.get("content")):
        if string(block.get("type")) in _USES:
            use = _in_content(block)
            # Beside listed calls, one in the content that has no id can only be one of them again.
            if use.call_id not in known and not (listed and not use.call_id):
                yield use
            known |= {use.call_id} - {""}


# Up to the next tag alike and no further: the one in prose is never closed, and a text full of them
# would be read to its end by each.
_XML = re.compile(r"<(update_todo_list|task_progress)>((?:(?!<\1>).)*?)</\1>", re.DOTALL)
_XML_LIST = re.compile(r"</?todos>")


def _written_in(message: Mapping[str, Any]) -> Iterator[Use]:
    """
    Give the lists that stand within other things: in the text as XML, or beside other arguments.

    Roo and Cline call their tools so where a model has no tool calls; Cline's `task_progress` is
    an argument of whichever tool is called.
    """
    if message.get("role") != "assistant":
        return
    blocks = mappings(message.get("content"))
    for text in (string(message.get("content")), *(string(one.get("text")) for one in blocks)):
        for tool, inner in _XML.findall(text):
            yield Use(tool, {"todos": _XML_LIST.sub("", inner)}, "")
    for block in blocks:
        progress = mapping(block.get("input")).get("task_progress")
        if isinstance(progress, str):
            yield Use("task_progress", {"todos": progress}, "")


def _listed(fields: Mapping[str, Any]) -> Use:
    inner = mapping(fields.get("function")) or fields
    arguments = inner.get("arguments", inner.get("args"))
    return Use(string(inner.get("name")), arguments_of(arguments), id_of(fields.get("id")))


def _in_content(block: Mapping[str, Any]) -> Use:
    if goose := mapping(mapping(block.get("toolCall")).get("value")):
        block = {"id": block.get("id"), **goose}
    name = id_of(block.get("name"), block.get("toolName"), block.get("tool_name"))
    # LangChain's constructors have an empty `input` and the arguments in `partial_json`.
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
    if goose := mapping(block.get("toolResult")):
        refused = goose.get("status") == "error"
        text = content_text(goose.get("error" if refused else "value"))
        return Reply(id_of(block.get("id")), "", CallResult(text, refused))
    ids = (block.get("tool_use_id"), block.get("tool_call_id"), block.get("toolCallId"))
    name = id_of(block.get("name"), block.get("toolName"))
    content = next((block[key] for key in ("content", "output", "result") if key in block), None)
    return Reply(id_of(*ids), name, _result(block, content))


def _result(fields: Mapping[str, Any], content: Any) -> CallResult:
    text = content_text(content)
    marked = fields.get("is_error") is True or fields.get("status") == "error"
    return CallResult(text, marked or tells_error(text))


@attrs.define
class _Asked:
    """
    A call of the latest message that called, and the key that its answer goes to.
    """

    use: Use
    key: str
    reply: Reply | None = None


def conversation(records: Iterable[Record | BadLine]) -> Iterator[Signal]:
    """
    Give the signals of messages in any known shape.

    Answers are kept until the next message that calls: only then can it be told whether several
    of them were merged into the first one's.
    """
    asked: list[_Asked] = []
    numbers = count(1)
    for record in records:
        if isinstance(record, BadLine):
            yield record
            continue
        message = message_of(record.value)
        if message.by_person:
            yield PersonSpoke(record.line, at=message.at)
        for use in _written_in(unwrapped(record.value)):
            # Their answers are part of the other tool's, or of the person's next message.
            call = PlanningCall(use.tool, use.arguments, record.line, at=message.at, result=_DONE)
            yield Seen(call)
        if message.uses:
            yield from _answers(asked)
            asked = [_Asked(use, use.call_id or f" {next(numbers)}") for use in message.uses]
            yield from _calls(record, message, asked)
        for reply in message.replies:
            yield from _heard(asked, reply)
    yield from _answers(asked)


def _calls(record: Record, message: Message, asked: list[_Asked]) -> Iterator[Seen]:
    for one in asked:
        call = PlanningCall(
            tool=one.use.tool,
            arguments=one.use.arguments,
            line=record.line,
            turn=turn_of(record.line, message.turn),
            call_id=one.use.call_id,
            at=message.at,
        )
        yield Seen(call, one.key)


def _heard(asked: list[_Asked], reply: Reply) -> Iterator[Answered]:
    for one in asked:
        if one.reply is None and _belongs(one.use, reply):
            one.reply = reply
            return
    # To a call of an earlier message.
    if reply.call_id:
        yield Answered(reply.call_id, reply.result)


def _belongs(use: Use, reply: Reply) -> bool:
    if reply.call_id or use.call_id:
        return reply.call_id == use.call_id
    return reply.tool in {"", use.tool}


def _answers(asked: list[_Asked]) -> Iterator[Answered]:
    _split_merged(asked)
    for one in asked:
        if one.reply:
            yield Answered(one.key, one.reply.result)


def _split_merged(asked: list[_Asked]) -> None:
    """
    Give the parts of an answer to the calls without one, if there is a part for each.

    Some converters put the answers of parallel calls into one message under the first call's id.
    """
    silent = [one for one in asked if one.reply is None]
    for place, one in enumerate(asked):
        if silent and one.reply and len(one.reply.texts) == len(silent) + 1:
            group = [one, *(other for other in asked[place:] if other.reply is None)]
            if len(group) == len(one.reply.texts):
                _distribute(group, one.reply)
                return


def _distribute(group: list[_Asked], reply: Reply) -> None:
    for one, text in zip(group, reply.texts, strict=True):
        one.reply = attrs.evolve(reply, result=CallResult(text, is_refusal(text)))
