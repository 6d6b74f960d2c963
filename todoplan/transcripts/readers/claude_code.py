"""
Claude Code session logs, and the lines that its SDK streams: one content block per line.

A message is spread over several lines with one `message.id`, so parallel calls are lines of one
turn. Subagents write to the same file: on `isSidechain` lines (1.x) or inside `progress` lines
(2.1). A todo list belongs to its writer; Task tools act on one table for the session.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from todoplan.transcripts.calls import (
    MAIN_LANE,
    CallResult,
    Compaction,
    PersonSpoke,
    PlanningCall,
    ShownPlan,
    mentions_tool,
)
from todoplan.transcripts.files import Probe, Record, Source
from todoplan.transcripts.readers.base import (
    Answered,
    DialectReader,
    Joiner,
    Seen,
    Signal,
    arguments_of,
    content_text,
    data_of,
    each,
    id_of,
    ids_under,
    is_refusal,
    mapping,
    mappings,
    parse_time,
    records,
    string,
    turn_of,
    writers_lane,
)

_REMEMBERED = 4096
_UNKNOWN = "sidechain"


@attrs.frozen
class Speaker:
    """The agent that wrote a line, and the lane of its own todo list."""

    lane: str = MAIN_LANE
    actor: str = MAIN_LANE


class Sidechains:
    """
    Assigns lines of subagents to lanes, by following them from child to parent.

    Only the latest few thousand lines are kept. A subagent is identified by its id, by the call
    that started it, or by its first line.
    """

    def __init__(self) -> None:
        self._lanes: OrderedDict[str, str] = OrderedDict()

    def speaker(self, fields: Mapping[str, Any]) -> Speaker:
        """Return the agent that wrote this line."""
        agent = self._agent(fields)
        if agent:
            return Speaker(agent, agent)
        return Speaker(MAIN_LANE, id_of(fields.get("agentName")) or MAIN_LANE)

    def _agent(self, fields: Mapping[str, Any]) -> str:
        if fields.get("type") == "progress":
            return _named(mapping(fields.get("data")).get("agentId")) or _UNKNOWN
        if fields.get("isSidechain") is True:
            return _named(fields.get("agentId")) or self._root(fields)
        return _named(fields.get("parent_tool_use_id"))

    def _root(self, fields: Mapping[str, Any]) -> str:
        own, parent = id_of(fields.get("uuid")), id_of(fields.get("parentUuid"))
        lane = self._lanes.get(parent, _UNKNOWN)
        # In 1.x a subagent has no id. It is named by the first line of its chain, which has no
        # parent.
        if own and not parent:
            lane = f"{_UNKNOWN}-{own[:8]}"
        self._lanes[own] = lane
        if len(self._lanes) > _REMEMBERED:
            self._lanes.popitem(last=False)
        return lane


def _named(value: Any) -> str:
    name = id_of(value)
    return f"agent-{name}" if name else ""


_ids = ids_under(b"tool_use_id")
# Claude Code writes no blank after a colon, but a copy by json.dumps has one.
_SPOKEN = (b'"role":"user"', b'"role": "user"')
# Messages that the program writes in the person's name: hooks, slash commands, command output.
_NOT_SAID = (
    "<command-",
    "<local-command",
    "<bash-std",
    "Caveat:",
    "<system-reminder>",
    "[Request interrupted",
    "Stop hook feedback:",
    "<task-notification>",
)
_NOT_OF_A_PERSON = ("isMeta", "isCompactSummary", "isSidechain", "isSynthetic")


@attrs.frozen
class _Entry:
    line: int
    fields: Mapping[str, Any]
    speaker: Speaker
    at: Any

    @property
    def message(self) -> Mapping[str, Any]:
        return mapping(self.fields.get("message"))


def _recognises(probe: Probe) -> bool:
    return any(map(_is_ours, probe.records))


def _is_ours(record: Mapping[str, Any]) -> bool:
    kind = string(record.get("type"))
    if "parts" in mapping(record.get("message")):
        return False  # Qwen Code has the same envelope around Gemini's messages
    if kind in {"assistant", "user"}:
        return "message" in record
    if kind == "summary":  # may be the first line, about another session
        return "leafUuid" in record
    return "sessionId" in record and "uuid" in record and bool(kind)


def _signals(source: Source, joiner: Joiner) -> Iterator[Signal]:
    # Most bytes of a session are file contents. A recording of 100 MB is read in seconds because
    # only relevant lines are parsed. Sidechain lines are relevant for the parents of subagents.
    def wanted(raw: bytes) -> bool:
        return (
            mentions_tool(raw)
            or b"compact_boundary" in raw
            or b"task_reminder" in raw
            # Answers of tools have the role user too.
            or (b'"tool_result"' not in raw and any(mark in raw for mark in _SPOKEN))
            or b'"isSidechain":true' in raw
            or b'"isSidechain": true' in raw
            or joiner.awaits(_ids(raw))
            or (joiner.wants_other_tools and b'"tool_use"' in raw)
        )

    sidechains = Sidechains()
    return each(records(source, wanted), lambda record: _of_record(record, sidechains))


def _of_record(record: Record, sidechains: Sidechains) -> Iterator[Signal]:
    fields = record.value
    speaker = sidechains.speaker(fields)
    if fields.get("subtype") == "compact_boundary":
        at = parse_time(fields.get("timestamp"))
        # A resumed session holds copies of lines, with the same uuid.
        once = id_of(fields.get("uuid"))
        yield Seen(Compaction(record.line, speaker.lane, at), once=once)
    elif mapping(fields.get("attachment")).get("type") == "task_reminder":
        # The attachment lists the table as the program sees it: in one recording a task was
        # completed without a recorded call. An empty list means that the tools were not used yet.
        if tasks := mapping(fields.get("attachment")).get("content"):
            at = parse_time(fields.get("timestamp"))
            yield ShownPlan(record.line, CallResult("", data=data_of({"tasks": tasks})), at=at)
    elif _is_said(fields):
        at, once = parse_time(fields.get("timestamp")), id_of(fields.get("uuid"))
        yield Seen(PersonSpoke(record.line, speaker.lane, at), once=once)
    elif fields.get("type") == "progress":  # 2.1: a subagent's message, two levels deeper
        data = mapping(fields.get("data"))
        inner = mapping(data.get("message"))
        at = inner.get("timestamp") or fields.get("timestamp")
        yield from _of_message(_Entry(record.line, inner, speaker, at))
    else:
        yield from _of_message(_Entry(record.line, fields, speaker, fields.get("timestamp")))


def _is_said(fields: Mapping[str, Any]) -> bool:
    marked = any(fields.get(key) is True for key in _NOT_OF_A_PERSON)
    if fields.get("type") != "user" or marked or fields.get("parent_tool_use_id"):
        return False
    content = mapping(fields.get("message")).get("content")
    if any(block.get("type") == "tool_result" for block in mappings(content)):
        return False
    text = content_text(content).lstrip()
    return bool(text) and not text.startswith(_NOT_SAID)


def _of_message(entry: _Entry) -> Iterator[Signal]:
    blocks = mappings(entry.message.get("content"))
    results = sum(block.get("type") == "tool_result" for block in blocks)
    for number, block in enumerate(blocks):
        if block.get("type") == "tool_use":
            yield _seen(entry, block, number)
        elif block.get("type") == "tool_result":
            yield _answered(entry, block, alone=results == 1)


def _seen(entry: _Entry, block: Mapping[str, Any], number: int) -> Seen:
    name, call_id = string(block.get("name")), id_of(block.get("id"))
    line_id = id_of(entry.fields.get("uuid"))
    call = PlanningCall(
        tool=name,
        arguments=arguments_of(block.get("input")),
        line=entry.line,
        lane=writers_lane(name, entry.speaker.lane),
        actor=entry.speaker.actor,
        turn=turn_of(entry.line, entry.message.get("id"), entry.fields.get("requestId")),
        call_id=call_id,
        at=parse_time(entry.at),
    )
    # Without an id, copies are detected by the line and the position of the block in it.
    return Seen(call, call_id, call_id or (line_id and f"{line_id}#{number}"))


def _answered(entry: _Entry, block: Mapping[str, Any], *, alone: bool) -> Answered:
    text = content_text(block.get("content"))
    # Some refusals have only a text and no flag.
    refused = block.get("is_error") is True or is_refusal(text)
    # `toolUseResult` belongs to the line and not to the block. If the line has several answers, it
    # cannot be assigned to one.
    beside = entry.fields.get("toolUseResult", entry.fields.get("tool_use_result"))
    data = data_of(beside) if alone else None
    # "Task not found" has `success: false` but no flag.
    refused = refused or (data is not None and data.get("success") is False)
    result = CallResult(text, refused, data)
    return Answered(id_of(block.get("tool_use_id")), result)


READER = DialectReader("claude-code", _recognises, _signals)
