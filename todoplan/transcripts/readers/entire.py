"""Entire's compact transcripts: one message per line, and each call contains its result."""

from collections.abc import Iterator, Mapping
from typing import Any

from todoplan.transcripts.calls import CallResult, PlanningCall, mentions_tool
from todoplan.transcripts.files import Probe, Record, Source
from todoplan.transcripts.readers.base import (
    DialectReader,
    Joiner,
    Seen,
    Signal,
    arguments_of,
    content_text,
    each,
    id_of,
    is_refusal,
    mappings,
    parse_time,
    records,
    string,
    turn_of,
)


def _recognises(probe: Probe) -> bool:
    return any("v" in record and "agent" in record and "ts" in record for record in probe.records)


def _signals(source: Source, joiner: Joiner) -> Iterator[Signal]:
    def wanted(raw: bytes) -> bool:
        return mentions_tool(raw) or (joiner.wants_other_tools and b'"tool_use"' in raw)

    return each(records(source, wanted), _of_record)


def _of_record(record: Record) -> Iterator[Seen]:
    for block in mappings(record.value.get("content")):
        if block.get("type") == "tool_use":
            yield _seen(record, block)


def _seen(record: Record, block: Mapping[str, Any]) -> Seen:
    call_id = id_of(block.get("id"))
    call = PlanningCall(
        tool=string(block.get("name")),
        arguments=arguments_of(block.get("input")),
        line=record.line,
        turn=turn_of(record.line, record.value.get("id")),
        call_id=call_id,
        at=parse_time(record.value.get("ts")),
        result=_result(block.get("result")),
    )
    # No key is needed, because the call already has its result.
    return Seen(call, once=call_id)


def _result(value: Any) -> CallResult | None:
    if not isinstance(value, dict):
        return None  # some calls have none
    text = content_text(value.get("output"))
    return CallResult(text, value.get("status") == "error" or is_refusal(text))


READER = DialectReader("entire", _recognises, _signals)
