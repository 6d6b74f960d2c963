"""
OpenAI Agents SDK: the traces that its processors export, as one span per line or in batches.

Its sessions are lists of API items, which the reader of Codex reads.
"""

from collections.abc import Iterator
from typing import Any

from todoplan.transcripts.calls import CallResult, PlanningCall
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
    mapping,
    parse_time,
    records,
    string,
    tells_error,
    turn_of,
)


def _recognises(probe: Probe) -> bool:
    return any(
        record.get("object") in ("trace", "trace.span") and "id" in record
        for record in probe.records
    )


def _signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    return each(records(source), _of_span)


def _of_span(record: Record) -> Iterator[Signal]:
    span = record.value
    data = mapping(span.get("span_data"))
    if data.get("type") != "function":
        return
    span_id = id_of(span.get("id"))
    call = PlanningCall(
        tool=string(data.get("name")),
        arguments=arguments_of(data.get("input")),
        line=record.line,
        # A trace does not show which calls were sent in one message.
        turn=turn_of(record.line, span_id),
        call_id=span_id,
        at=parse_time(span.get("started_at")),
        result=_result(data.get("output"), mapping(span.get("error")).get("message")),
    )
    yield Seen(call, once=span_id)


def _result(output: Any, error: Any) -> CallResult | None:
    if output is None and error is None:
        return None
    text = content_text(output) or string(error)
    return CallResult(text, error is not None or tells_error(text))


READER = DialectReader("openai-agents", _recognises, _signals)
