"""OpenCode session exports. A part of a message has the call and its result; ids may repeat."""

from collections.abc import Iterator, Mapping
from typing import Any

from todoplan.transcripts.calls import CallResult, Compaction, PersonSpoke, PlanningCall
from todoplan.transcripts.files import Probe, Record, Source
from todoplan.transcripts.readers.base import (
    DialectReader,
    Joiner,
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
    turn_of,
)


def _recognises(probe: Probe) -> bool:
    return any(
        isinstance(record.get("info"), dict) and isinstance(record.get("parts"), list)
        for record in probe.records
    )


def _signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    return each(records(source), _of_record)


def _of_record(record: Record) -> Iterator[Signal]:
    if mapping(record.value.get("info")).get("role") == "user":
        yield PersonSpoke(record.line, at=_time(record, {}))
    for part in mappings(record.value.get("parts")):
        yield from _of_part(record, part)


def _of_part(record: Record, part: Mapping[str, Any]) -> Iterator[Signal]:
    if part.get("type") == "compaction":
        yield Compaction(record.line, at=_time(record, part))
    elif part.get("type") == "tool":
        state = mapping(part.get("state"))
        yield PlanningCall(
            tool=string(part.get("tool")),
            arguments=arguments_of(state.get("input")),
            line=record.line,
            turn=turn_of(record.line, mapping(record.value.get("info")).get("id")),
            # Not used as a key, because Entire masks all call ids in its copies with one text.
            call_id=id_of(part.get("callID")),
            at=_time(record, part),
            result=_result(state),
        )


def _time(record: Record, part: Mapping[str, Any]) -> Any:
    own = mapping(mapping(part.get("state")).get("time")).get("start")
    sent = mapping(mapping(record.value.get("info")).get("time")).get("created")
    return parse_time(own) or parse_time(sent)


def _result(state: Mapping[str, Any]) -> CallResult | None:
    # Its `todos` is the list after the call, which takes precedence in a replay.
    data = data_of(state.get("metadata"))
    match state.get("status"):
        case "error":
            return CallResult(content_text(state.get("error")), is_error=True, data=data)
        case "completed":
            return CallResult(content_text(state.get("output")), data=data)
        case _:
            return None


READER = DialectReader("opencode", _recognises, _signals)
