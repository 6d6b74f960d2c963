"""OpenHands: events, a line or a list, and its markdown logs."""

from collections.abc import Iterator, Mapping
from typing import Any

from todoplan.transcripts.calls import CallResult, PlanningCall
from todoplan.transcripts.lines import Record
from todoplan.transcripts.linking import Answered, Linker, Seen, Signal
from todoplan.transcripts.probe import Probe
from todoplan.transcripts.readers.base import Reader, each, records
from todoplan.transcripts.readers.openhands_markdown import markdown_signals, recognises_markdown
from todoplan.transcripts.readers.shapes import (
    arguments_of,
    content_text,
    data_of,
    id_of,
    mapping,
    string,
    turn_of,
)
from todoplan.transcripts.source import Source
from todoplan.transcripts.times import parse_time
from todoplan.transcripts.tools import mentions_tool

__all__ = ["READER"]


def _recognises(probe: Probe) -> bool:
    return recognises_markdown(probe.text) or any(
        string(record.get("kind")).endswith("Event") and "source" in record
        for record in probe.records
    )


def _signals(source: Source, linker: Linker) -> Iterator[Signal]:
    def wanted(raw: bytes) -> bool:
        return mentions_tool(raw) or (linker.curious and b'"ActionEvent"' in raw)

    if source.form == "text":
        return markdown_signals(source)
    return each(records(source, wanted), _of_event)


def _of_event(record: Record) -> Iterator[Signal]:
    fields = record.value
    key = id_of(fields.get("tool_call_id"))
    match fields.get("kind"):
        case "ActionEvent":
            yield Seen(_call(record, key), key, key)
        case "ObservationEvent":
            observation = mapping(fields.get("observation"))
            refused = observation.get("is_error") is True
            text = content_text(observation.get("content"))
            yield Answered(key, CallResult(text, refused, data_of(observation)))
        case _ if "error" in fields:
            yield Answered(key, CallResult(content_text(fields["error"]), is_error=True))


def _call(record: Record, call_id: str) -> PlanningCall:
    fields = record.value
    return PlanningCall(
        tool=string(fields.get("tool_name")),
        arguments=_arguments(fields),
        line=record.line,
        turn=turn_of(record.line, fields.get("llm_response_id")),
        call_id=call_id,
        at=parse_time(fields.get("timestamp")),
    )


def _arguments(fields: Mapping[str, Any]) -> Mapping[str, Any] | str:
    """
    Give what the model sent; what OpenHands made of it, only where the former is missing.
    """
    sent = mapping(fields.get("tool_call"))
    return arguments_of(sent.get("arguments", fields.get("action")))


READER = Reader("openhands", _recognises, _signals)
