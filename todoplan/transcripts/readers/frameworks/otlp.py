"""
OTLP traces in JSON: a batch of spans per line, as collectors write them, or a single document.

A tool call is a span with its arguments and its result as attributes, whose names depend on the
recording library. If content is not recorded, there is nothing to replay.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from todoplan.transcripts.calls import MAIN_LANE, CallResult, PlanningCall
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
    mappings,
    parse_time,
    records,
    string,
    tells_error,
    turn_of,
)

# The conventions for generative AI first; then Pydantic AI's older names, ADK's, OpenInference's
# (Phoenix) and OpenLLMetry's (Traceloop).
_NAMES = ("gen_ai.tool.name", "tool.name", "tool_name", "traceloop.entity.name")
_ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "tool_arguments",
    "gcp.vertex.agent.tool_call_args",
    "tool.parameters",
    "input.value",
    "traceloop.entity.input",
)
_RESULTS = (
    "gen_ai.tool.call.result",
    "tool_response",
    "gcp.vertex.agent.tool_response",
    "output.value",
    "traceloop.entity.output",
)
_KINDS = {
    "gen_ai.operation.name": "execute_tool",
    "openinference.span.kind": "TOOL",
    "traceloop.span.kind": "tool",
}
_CONVERSATIONS = ("gen_ai.conversation.id", "session.id", "gcp.vertex.agent.session_id")
_FAILED = (2, "STATUS_CODE_ERROR")
_DIGITS = 20  # nanoseconds since 1970 have 19
# A server's traces may have any number of conversations, each with a plan.
_MOST_LANES = 1000


def _recognises(probe: Probe) -> bool:
    return any(
        "resourceSpans" in record or ("traceId" in record and "spanId" in record)
        for record in probe.records
    )


def _spans(value: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return the spans of a record, which is a batch or a span, in the order of their start."""
    if "resourceSpans" not in value:
        return (value,)
    found = [
        span
        for resource in mappings(value["resourceSpans"])
        for scope in mappings(resource.get("scopeSpans"))
        for span in mappings(scope.get("spans"))
    ]
    # Sorted because spans are exported in the order of their end.
    return tuple(sorted(found, key=lambda span: _nanoseconds(span.get("startTimeUnixNano"))))


def _nanoseconds(value: Any) -> int:
    if isinstance(value, int):
        return value
    text = string(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else 0


@attrs.define
class _Traces:
    """
    The lanes: one for each conversation, or for each trace without one. The first is the main one.
    """

    lanes: dict[str, str] = attrs.Factory(dict)

    def of_record(self, record: Record) -> Iterator[Signal]:
        for span in _spans(record.value):
            attributes = _attributes(span)
            if any(attributes.get(key) == kind for key, kind in _KINDS.items()) or (
                "tool_arguments" in attributes
            ):
                yield self._called(record, span, attributes)

    def _called(
        self, record: Record, span: Mapping[str, Any], attributes: Mapping[str, Any]
    ) -> Signal:
        span_id = id_of(span.get("spanId"))
        lane = self._lane(_first(attributes, _CONVERSATIONS) or span.get("traceId"))
        call = PlanningCall(
            tool=string(_first(attributes, _NAMES)),
            arguments=arguments_of(_first(attributes, _ARGUMENTS)),
            line=record.line,
            lane=lane,
            actor=lane,
            # A trace does not show which calls were sent in one message.
            turn=turn_of(record.line, span_id),
            call_id=id_of(attributes.get("gen_ai.tool.call.id"), span_id),
            at=parse_time(_nanoseconds(span.get("startTimeUnixNano")) or None),
            result=_result(span, _first(attributes, _RESULTS)),
        )
        return Seen(call, once=f"{span.get('traceId')}/{span_id}" if span_id else "")

    def _lane(self, key: Any) -> str:
        known = string(key)
        if known in self.lanes or len(self.lanes) >= _MOST_LANES:
            return self.lanes.get(known, MAIN_LANE)
        return self.lanes.setdefault(known, known if self.lanes and known else MAIN_LANE)


def _attributes(span: Mapping[str, Any]) -> dict[str, Any]:
    return {
        string(one.get("key")): _value(mapping(one.get("value")))
        for one in mappings(span.get("attributes"))
    }


def _value(value: Mapping[str, Any]) -> Any:
    # One of stringValue, intValue, kvlistValue, ... Objects are nearly always JSON texts.
    found = next(iter(value.values()), None)
    entries = mappings(mapping(found).get("values"))
    if "kvlistValue" in value:
        return {string(one.get("key")): _scalar(one.get("value")) for one in entries}
    return found


def _scalar(value: Any) -> Any:
    return next(iter(mapping(value).values()), None)


def _first(attributes: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((attributes[key] for key in keys if attributes.get(key) is not None), None)


def _result(span: Mapping[str, Any], told: Any) -> CallResult | None:
    status = mapping(span.get("status"))
    failed = status.get("code") in _FAILED
    if told is None and not failed:
        return None
    text = content_text(told) or string(status.get("message"))
    return CallResult(text, failed or tells_error(text))


def _signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    return each(records(source), _Traces().of_record)


READER = DialectReader("otlp", _recognises, _signals)
