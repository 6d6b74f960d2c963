"""
Google ADK: the events of a session in lines or in a list, with camelCase or snake_case keys.

An event has parts as in Gemini's API, and names its agent. All agents of a session share its
state, and so the plan.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from todoplan.transcripts.calls import (
    MAIN_LANE,
    CallResult,
    Compaction,
    PersonSpoke,
    PlanningCall,
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
    mapping,
    mappings,
    parse_time,
    records,
    string,
    tells_error,
    turn_of,
)


def _either(fields: Mapping[str, Any], snake: str, camel: str) -> Any:
    return fields[snake] if snake in fields else fields.get(camel)


def _recognises(probe: Probe) -> bool:
    return any(
        "author" in record and ("invocationId" in record or "invocation_id" in record)
        for record in probe.records
    )


@attrs.define
class _Session:
    """The main agent of a session, which is the first one that makes a call."""

    main: str = ""

    def of_event(self, record: Record) -> Iterator[Signal]:
        event = record.value
        # When streaming, an event comes in pieces first, and then complete.
        if event.get("partial") is True:
            return
        at = parse_time(event.get("timestamp"))
        if mapping(mapping(event.get("actions")).get("compaction")):
            yield Compaction(record.line, at=at)
        if event.get("author") == "user":
            yield PersonSpoke(record.line, at=at)
        for part in mappings(mapping(event.get("content")).get("parts")):
            if call := mapping(_either(part, "function_call", "functionCall")):
                yield self._sent(record, call, at)
            if response := mapping(_either(part, "function_response", "functionResponse")):
                yield Answered(id_of(response.get("id")), _result(response.get("response")))

    def _sent(self, record: Record, call: Mapping[str, Any], at: Any) -> Signal:
        author, call_id = string(record.value.get("author")), id_of(call.get("id"))
        self.main = self.main or author
        planning = PlanningCall(
            tool=string(call.get("name")),
            arguments=arguments_of(call.get("args")),
            line=record.line,
            actor=MAIN_LANE if author == self.main else author,
            turn=turn_of(record.line, record.value.get("id")),
            call_id=call_id,
            at=at,
        )
        return Seen(planning, call_id, call_id)


def _result(response: Any) -> CallResult:
    fields = mapping(response)
    error = fields.get("error")
    # If a function does not return an object, the answer is `{"result": ...}`.
    told = fields.get("result", response) if error is None else error
    text = content_text(told)
    return CallResult(text, error is not None or tells_error(text), data_of(told))


def _signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    return each(records(source), _Session().of_event)


READER = DialectReader("adk", _recognises, _signals)
