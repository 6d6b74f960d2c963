"""Gemini CLI: session files, lists of API contents, and the markdown of `/chat share`."""

from collections.abc import Iterator, Mapping
from typing import Any

from todoplan.transcripts.calls import PlanningCall
from todoplan.transcripts.lines import Record
from todoplan.transcripts.linking import Linker, Seen, Signal
from todoplan.transcripts.probe import Probe
from todoplan.transcripts.readers.base import Reader, each, records
from todoplan.transcripts.readers.gemini_markdown import markdown_signals, recognises_markdown
from todoplan.transcripts.readers.gemini_pairs import Pairs, response_result
from todoplan.transcripts.readers.shapes import (
    arguments_of,
    id_of,
    mapping,
    mappings,
    string,
    turn_of,
)
from todoplan.transcripts.source import Source
from todoplan.transcripts.times import parse_time

__all__ = ["READER"]


def _recognises(probe: Probe) -> bool:
    return recognises_markdown(probe.text) or any(map(_is_ours, probe.records))


def _is_ours(record: Mapping[str, Any]) -> bool:
    if record.get("type") == "gemini" or record.get("role") == "model":
        return True
    return "projectHash" in record and "sessionId" in record


def _signals(source: Source, _linker: Linker) -> Iterator[Signal]:
    return markdown_signals(source) if source.form == "text" else _of_messages(source)


def _of_messages(source: Source) -> Iterator[Signal]:
    pairs = Pairs()
    return each(records(source), lambda record: _of_message(record, pairs))


def _of_message(record: Record, pairs: Pairs) -> Iterator[Signal]:
    for call in mappings(record.value.get("toolCalls")):
        yield _of_session(record, call)
    for part in mappings(record.value.get("parts")):
        yield from pairs.of_part(record, part)


def _of_session(record: Record, call: Mapping[str, Any]) -> Seen:
    call_id = id_of(call.get("id"))
    at = parse_time(call.get("timestamp")) or parse_time(record.value.get("timestamp"))
    responses = [mapping(one.get("functionResponse")) for one in mappings(call.get("result"))]
    result = response_result(responses[0].get("response")) if responses else None
    planning = PlanningCall(
        tool=string(call.get("name")),
        arguments=arguments_of(call.get("args")),
        line=record.line,
        turn=turn_of(record.line, record.value.get("id")),
        call_id=call_id,
        at=at,
        result=result,
    )
    return Seen(planning, once=call_id)


READER = Reader("gemini", _recognises, _signals)
