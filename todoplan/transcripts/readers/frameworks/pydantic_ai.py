"""
Pydantic AI: its messages as `all_messages_json` writes them, and the events of a run in lines.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from todoplan.transcripts.calls import CallResult, Compaction, PersonSpoke, PlanningCall
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
    mapping,
    mappings,
    parse_time,
    records,
    string,
    tells_error,
    turn_of,
)

_REFUSED = {"failed", "denied"}


def _recognises(probe: Probe) -> bool:
    return any(map(_is_ours, probe.records))


def _is_ours(record: Mapping[str, Any]) -> bool:
    if record.get("kind") in ("request", "response"):
        return any("part_kind" in part for part in mappings(record.get("parts")))
    return string(record.get("event_kind")).startswith("function_tool_")


def _signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    return each(records(source), _of_record)


def _of_record(record: Record) -> Iterator[Signal]:
    # An event has one part. Earlier versions have another key for the part of a result.
    fields = record.value
    single = mapping(fields.get("part")) or mapping(fields.get("result"))
    parts = mappings(fields.get("parts"))
    if string(fields.get("event_kind")).startswith("function_tool_"):
        parts = (single,)
    at = parse_time(fields.get("timestamp"))
    for part in parts:
        yield from _of_part(record, part, parse_time(part.get("timestamp")) or at)


def _of_part(record: Record, part: Mapping[str, Any], at: datetime | None) -> Iterator[Signal]:
    call_id, tool = id_of(part.get("tool_call_id")), string(part.get("tool_name"))
    match part.get("part_kind"):
        case "user-prompt":
            yield PersonSpoke(record.line, at=at)
        case "compaction":
            yield Compaction(record.line, at=at)
        case "tool-call" | "builtin-tool-call":
            call = PlanningCall(
                tool=tool,
                arguments=arguments_of(part.get("args")),
                line=record.line,
                turn=turn_of(record.line, record.value.get("provider_response_id")),
                call_id=call_id,
                at=at,
            )
            yield Seen(call, call_id, call_id)
        case "tool-return" | "builtin-tool-return":
            content = part.get("content")
            text = content_text(content)
            refused = part.get("outcome") in _REFUSED or tells_error(text)
            yield Answered(call_id, CallResult(text, refused, data_of(content)))
        case "retry-prompt" if tool:
            # The tool or the validation of its arguments asked the model to retry.
            yield Answered(call_id, CallResult(content_text(part.get("content")), is_error=True))


READER = DialectReader("pydantic-ai", _recognises, _signals)
