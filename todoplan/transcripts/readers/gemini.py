"""
Gemini CLI: session files, lists of API contents, and the markdown of `/chat share`.

`gemini_markdown` reads the markdown; `gemini_pairs` puts calls without ids to their responses.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from todoplan.transcripts.calls import PersonSpoke, PlanningCall
from todoplan.transcripts.files.lines import Record
from todoplan.transcripts.files.probe import Probe
from todoplan.transcripts.files.source import Source
from todoplan.transcripts.readers.gemini_markdown import is_markdown, markdown_signals
from todoplan.transcripts.readers.gemini_pairs import Pairs, response_result
from todoplan.transcripts.readers.shared.base import DialectReader, each, records
from todoplan.transcripts.readers.shared.join import Joiner, Seen, Signal
from todoplan.transcripts.readers.shared.values import (
    arguments_of,
    id_of,
    mapping,
    mappings,
    parse_time,
    string,
    turn_of,
)

__all__ = ["READER"]


def _recognises(probe: Probe) -> bool:
    return is_markdown(probe.text) or any(map(_is_ours, probe.records))


def _unwrapped(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Give a line of Qwen Code as the message in it: `{type, timestamp, message: {role, parts}}`.
    """
    message = mapping(record.get("message"))
    return {"timestamp": record.get("timestamp"), **message} if "parts" in message else record


def _is_ours(record: Mapping[str, Any]) -> bool:
    record = _unwrapped(record)
    if record.get("type") == "gemini" or record.get("role") == "model":
        return True
    return "projectHash" in record and "sessionId" in record


def _signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    return markdown_signals(source) if source.form == "text" else _of_messages(source)


def _of_messages(source: Source) -> Iterator[Signal]:
    pairs = Pairs()
    return each(
        records(source),
        lambda record: _of_message(Record(record.line, _unwrapped(record.value)), pairs),
    )


def _of_message(record: Record, pairs: Pairs) -> Iterator[Signal]:
    # In the API the response of a tool has the role user too: a person writes text.
    if record.value.get("type") == "user" or (
        record.value.get("role") == "user"
        and any("text" in part for part in mappings(record.value.get("parts")))
    ):
        yield PersonSpoke(record.line, at=parse_time(record.value.get("timestamp")))
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
    # Call and result stand together: nothing is waited for.
    return Seen(planning, once=call_id)


READER = DialectReader("gemini", _recognises, _signals)
