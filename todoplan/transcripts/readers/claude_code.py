"""Claude Code session logs, and the lines that its SDK streams: one content block a line."""

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from todoplan.transcripts.calls import MAIN_LANE, CallResult, Compaction, PlanningCall
from todoplan.transcripts.lines import Record
from todoplan.transcripts.linking import Answered, Linker, Seen, Signal
from todoplan.transcripts.probe import Probe
from todoplan.transcripts.readers.base import Reader, each, ids_under, records
from todoplan.transcripts.readers.shapes import (
    arguments_of,
    content_text,
    data_of,
    id_of,
    is_refusal,
    mapping,
    mappings,
    string,
    turn_of,
)
from todoplan.transcripts.readers.sidechains import Sidechains, Voice
from todoplan.transcripts.source import Source
from todoplan.transcripts.times import parse_time
from todoplan.transcripts.tools import OWN_TOOL, canonical_tool, mentions_tool

__all__ = ["READER"]

_ids = ids_under(b"tool_use_id")


@attrs.frozen
class _Spoken:
    line: int
    fields: Mapping[str, Any]
    voice: Voice
    at: Any

    @property
    def message(self) -> Mapping[str, Any]:
        return mapping(self.fields.get("message"))


def _recognises(probe: Probe) -> bool:
    return any(map(_is_ours, probe.records))


def _is_ours(record: Mapping[str, Any]) -> bool:
    kind = string(record.get("type"))
    if kind in {"assistant", "user"}:
        return "message" in record
    if kind == "summary":
        return "leafUuid" in record
    return "sessionId" in record and "uuid" in record and bool(kind)


def _signals(source: Source, linker: Linker) -> Iterator[Signal]:
    def wanted(raw: bytes) -> bool:
        return (
            mentions_tool(raw)
            or b"compact_boundary" in raw
            or b'"isSidechain":true' in raw
            or b'"isSidechain": true' in raw
            or linker.awaits(_ids(raw))
            or (linker.curious and b'"tool_use"' in raw)
        )

    sidechains = Sidechains()
    return each(records(source, wanted), lambda record: _of_record(record, sidechains))


def _of_record(record: Record, sidechains: Sidechains) -> Iterator[Signal]:
    fields = record.value
    voice = sidechains.voice(fields)
    if fields.get("subtype") == "compact_boundary":
        at = parse_time(fields.get("timestamp"))
        once = id_of(fields.get("uuid"))
        yield Seen(Compaction(record.line, voice.lane, at), once=once)
    elif fields.get("type") == "progress":
        data = mapping(fields.get("data"))
        inner = mapping(data.get("message"))
        at = inner.get("timestamp") or fields.get("timestamp")
        yield from _of_message(_Spoken(record.line, inner, voice, at))
    else:
        yield from _of_message(_Spoken(record.line, fields, voice, fields.get("timestamp")))


def _of_message(spoken: _Spoken) -> Iterator[Signal]:
    blocks = mappings(spoken.message.get("content"))
    results = sum(block.get("type") == "tool_result" for block in blocks)
    for number, block in enumerate(blocks):
        if block.get("type") == "tool_use":
            yield _seen(spoken, block, number)
        elif block.get("type") == "tool_result":
            yield _answered(spoken, block, alone=results == 1)


def _seen(spoken: _Spoken, block: Mapping[str, Any], number: int) -> Seen:
    name, call_id = string(block.get("name")), id_of(block.get("id"))
    line_id = id_of(spoken.fields.get("uuid"))
    call = PlanningCall(
        tool=name,
        arguments=arguments_of(block.get("input")),
        line=spoken.line,
        lane=_lane(name, spoken.voice),
        actor=spoken.voice.actor,
        turn=turn_of(spoken.line, spoken.message.get("id"), spoken.fields.get("requestId")),
        call_id=call_id,
        at=parse_time(spoken.at),
    )
    return Seen(call, call_id, call_id or (line_id and f"{line_id}#{number}"))


def _lane(name: str, voice: Voice) -> str:
    """
    Choose the lane: a todo list is its writer's own; tasks with ids belong to the session.
    """
    tool = canonical_tool(name) or ""
    return MAIN_LANE if tool.startswith("Task") or tool == OWN_TOOL else voice.lane


def _answered(spoken: _Spoken, block: Mapping[str, Any], *, alone: bool) -> Answered:
    text = content_text(block.get("content"))
    refused = block.get("is_error") is True or is_refusal(text)
    beside = spoken.fields.get("toolUseResult", spoken.fields.get("tool_use_result"))
    result = CallResult(text, refused, data_of(beside) if alone else None)
    return Answered(id_of(block.get("tool_use_id")), result)


READER = Reader("claude-code", _recognises, _signals)
