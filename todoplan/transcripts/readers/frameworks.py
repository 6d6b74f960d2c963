"""
Recordings of programs that use an agent framework.

ADK, Pydantic AI and AG-UI record events and messages. OpenAI Agents and OTLP record traces, in
which a call is a span with its answer.
"""

from collections.abc import Iterator
from io import StringIO
from typing import Any

import attrs

from todoplan.transcripts.calls import MAIN_LANE, CallResult, Compaction, PersonSpoke, PlanningCall
from todoplan.transcripts.files import Record, Source
from todoplan.transcripts.readers.base import (
    Answered,
    Fields,
    Joiner,
    Seen,
    Signal,
    arguments_of,
    awaiting,
    by_record,
    call_of,
    content_text,
    dialect,
    each,
    id_of,
    mapping,
    mappings,
    parse_time,
    record_dialect,
    records,
    result_of,
    string,
    turn_of,
)

# -------- adk --------
# Google ADK: the events of a session, with camelCase or snake_case keys. An event has parts as in
# Gemini's API, and names its agent. All agents of a session share its state, and so the plan.


@dialect(
    "adk",
    by_record(
        lambda record: (
            "author" in record and ("invocationId" in record or "invocation_id" in record)
        )
    ),
)
def adk(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of a session of ADK."""
    return each(records(source), _AdkSession().of_event)


@attrs.define
class _AdkSession:
    """The main agent of a session, which is the first one that makes a call."""

    main: str = ""

    def of_event(self, record: Record) -> Iterator[Signal]:
        event = record.value
        # When streaming, an event comes in pieces first, and then complete.
        if event.get("partial") is True:
            return
        at, author = parse_time(event.get("timestamp")), string(event.get("author"))
        if mapping(mapping(event.get("actions")).get("compaction")):
            yield Compaction(record.line, at=at)
        if author == "user":
            yield PersonSpoke(record.line, at=at)
        for part in mappings(mapping(event.get("content")).get("parts")):
            if call := mapping(part.get("function_call", part.get("functionCall"))):
                self.main = self.main or author
                yield awaiting(
                    call_of(
                        record,
                        call.get("name"),
                        call.get("args"),
                        at,
                        call_id=id_of(call.get("id")),
                        turn=turn_of(record.line, event.get("id")),
                        actor=MAIN_LANE if author == self.main else author,
                    )
                )
            if answer := mapping(part.get("function_response", part.get("functionResponse"))):
                response = answer.get("response")
                error = mapping(response).get("error")
                # If a function does not return an object, the answer is `{"result": ...}`.
                value = mapping(response).get("result", response) if error is None else error
                result = result_of(value, failed=error is not None, data=value)
                yield Answered(id_of(answer.get("id")), result)


# -------- pydantic_ai --------
# Pydantic AI: its messages as `all_messages_json` writes them, and the events of a run in lines.


def _is_pydantic_ai(record: Fields) -> bool:
    if record.get("kind") in ("request", "response"):
        return any("part_kind" in part for part in mappings(record.get("parts")))
    return string(record.get("event_kind")).startswith("function_tool_")


@record_dialect("pydantic-ai", _is_pydantic_ai)
def pydantic_ai(record: Record) -> Iterator[Signal]:
    """Yield the signals of a message of Pydantic AI, or of an event of a run."""
    fields = record.value
    parts = mappings(fields.get("parts"))
    if string(fields.get("event_kind")).startswith("function_tool_"):
        # An event has one part. Earlier versions have another key for the part of a result.
        parts = (mapping(fields.get("part")) or mapping(fields.get("result")),)
    for part in parts:
        at = parse_time(part.get("timestamp")) or parse_time(fields.get("timestamp"))
        call_id, tool = id_of(part.get("tool_call_id")), string(part.get("tool_name"))
        content = part.get("content")
        match part.get("part_kind"):
            case "user-prompt":
                yield PersonSpoke(record.line, at=at)
            case "compaction":
                yield Compaction(record.line, at=at)
            case "tool-call" | "builtin-tool-call":
                turn = turn_of(record.line, fields.get("provider_response_id"))
                sent = part.get("args")
                yield awaiting(call_of(record, tool, sent, at, call_id=call_id, turn=turn))
            case "tool-return" | "builtin-tool-return":
                failed = part.get("outcome") in ("failed", "denied")
                yield Answered(call_id, result_of(content, failed=failed, data=content))
            case "retry-prompt" if tool:
                # The tool or the validation of its arguments asked the model to retry.
                yield Answered(call_id, CallResult(content_text(content), is_error=True))


# -------- ag_ui --------
# AG-UI: the events that an agent sends to its user interface. The arguments of a call come in
# pieces. A snapshot of the messages repeats earlier calls, and may have calls that were not sent.

_AG_UI_EVENTS = {
    "RUN_STARTED",
    "RUN_FINISHED",
    "TEXT_MESSAGE_START",
    "TOOL_CALL_START",
    "TOOL_CALL_CHUNK",
    "MESSAGES_SNAPSHOT",
    "STATE_SNAPSHOT",
}
# An interrupted run leaves calls that never end.
_MOST_OPEN = 64
_LONGEST = 1024 * 1024  # characters of one call's arguments: a plan has a few thousand


@dialect("ag-ui", by_record(lambda record: string(record.get("type")) in _AG_UI_EVENTS))
def ag_ui(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of a stream of AG-UI events."""
    run = _Run()
    yield from each(records(source), run.of_event)
    yield from run.close_all()


@attrs.define
class _Run:
    """The calls whose arguments are still incomplete, by id, with the arguments so far."""

    open: dict[str, tuple[PlanningCall, StringIO]] = attrs.Factory(dict)

    def of_event(self, record: Record) -> Iterator[Signal]:
        event = record.value
        call_id = id_of(event.get("toolCallId"))
        match event.get("type"):
            case "TOOL_CALL_START":
                yield from self._begin(record, call_id)
            case "TOOL_CALL_ARGS":
                self._add(call_id, event)
            case "TOOL_CALL_CHUNK":
                if call_id and call_id not in self.open:
                    yield from self._begin(record, call_id)
                # A chunk without a call id belongs to the latest call.
                self._add(call_id or next(reversed(self.open), ""), event)
            case "TOOL_CALL_END":
                yield from self._close(call_id)
            case "TOOL_CALL_RESULT":
                yield from self._close(call_id)
                yield Answered(call_id, result_of(event.get("content")))
            case "RUN_FINISHED" | "RUN_ERROR":
                yield from self.close_all()
            case "RUN_STARTED":
                sent = mappings(mapping(event.get("input")).get("messages"))
                if sent and sent[-1].get("role") == "user":
                    yield PersonSpoke(record.line, at=parse_time(event.get("timestamp")))
            case "MESSAGES_SNAPSHOT":
                for message in mappings(event.get("messages")):
                    yield from _repeated(record, message)

    def _add(self, call_id: str, event: Fields) -> None:
        _, arguments = self.open.get(call_id, (None, StringIO()))
        # Arguments that are too long are truncated, so they are not JSON and the call is
        # unreadable.
        if arguments.tell() < _LONGEST:
            arguments.write(string(event.get("delta")))

    def _begin(self, record: Record, call_id: str) -> Iterator[Signal]:
        event = record.value
        if len(self.open) >= _MOST_OPEN:
            yield from self._close(next(iter(self.open)))
        # All calls of one message of the model name it as their parent.
        turn = turn_of(record.line, event.get("parentMessageId"))
        name, at = event.get("toolCallName"), event.get("timestamp")
        call = call_of(record, name, {}, at, call_id=call_id, turn=turn)
        self.open[call_id] = call, StringIO()

    def _close(self, call_id: str) -> Iterator[Signal]:
        if begun := self.open.pop(call_id, None):
            call, arguments = begun
            yield awaiting(attrs.evolve(call, arguments=arguments_of(arguments.getvalue())))

    def close_all(self) -> Iterator[Signal]:
        for call_id in tuple(self.open):
            yield from self._close(call_id)


def _repeated(record: Record, message: Fields) -> Iterator[Signal]:
    """Yield the signals of a message in a snapshot."""
    turn = turn_of(record.line, message.get("id"))
    for listed in mappings(message.get("toolCalls")):
        function = mapping(listed.get("function"))
        name, sent = function.get("name"), function.get("arguments")
        # A call without an id may be a repetition of an earlier call, so it is left out.
        if call_id := id_of(listed.get("id")):
            yield awaiting(call_of(record, name, sent, call_id=call_id, turn=turn))
    if message.get("role") == "tool":
        yield Answered(id_of(message.get("toolCallId")), result_of(message.get("content")))


# -------- openai_agents --------
# OpenAI Agents SDK: the traces that its processors export, as one span per line or in batches. Its
# sessions are lists of API items, which the reader of Codex reads.


@record_dialect(
    "openai-agents",
    lambda record: record.get("object") in ("trace", "trace.span") and "id" in record,
)
def openai_agents(record: Record) -> Iterator[Signal]:
    """Yield the signal of a span of the OpenAI Agents SDK, if it is a function call."""
    span, data = record.value, mapping(record.value.get("span_data"))
    if data.get("type") == "function":
        # A trace does not show which calls were sent in one message.
        span_id = id_of(span.get("id"))
        output, error = data.get("output"), mapping(span.get("error")).get("message")
        call = call_of(
            record,
            data.get("name"),
            data.get("input"),
            span.get("started_at"),
            call_id=span_id,
            turn=turn_of(record.line, span_id),
            result=_span_result(output, error, failed=error is not None),
        )
        yield Seen(call, once=span_id)


def _span_result(output: Any, error: Any, *, failed: bool) -> CallResult | None:
    if output is None and not failed:
        return None
    return result_of(content_text(output) or string(error), failed=failed)


# -------- otlp --------
# OTLP traces in JSON: a batch of spans per line, as collectors write them, or a single document. A
# tool call is a span with its arguments and its result as attributes, whose names depend on the
# recording library. If content is not recorded, there is nothing to replay.

# The names in OpenTelemetry's conventions for generative AI come first. Then come the older names
# of Pydantic AI, and the names of ADK, OpenInference (Phoenix) and OpenLLMetry (Traceloop).
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
_DIGITS = 20  # nanoseconds since 1970 have 19
# A server's traces may have any number of conversations, each with a plan.
_MOST_LANES = 1000


@dialect(
    "otlp",
    by_record(
        lambda record: "resourceSpans" in record or ("traceId" in record and "spanId" in record)
    ),
)
def otlp(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of OTLP traces."""
    return each(records(source), _Traces().of_record)


def _spans(value: Fields) -> list[Fields]:
    """Return the spans of a record, which is a batch or a span, in the order of their start."""
    if "resourceSpans" not in value:
        return [value]
    found = [
        span
        for resource in mappings(value["resourceSpans"])
        for scope in mappings(resource.get("scopeSpans"))
        for span in mappings(scope.get("spans"))
    ]
    # Sorted because spans are exported in the order of their end.
    return sorted(found, key=lambda span: _nanoseconds(span.get("startTimeUnixNano")))


def _nanoseconds(value: Any) -> int:
    if isinstance(value, int):
        return value
    text = string(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else 0


@attrs.define
class _Traces:
    """
    The lanes: one for each conversation, or for each trace without a conversation's id.

    The first lane is the main one.
    """

    lanes: dict[str, str] = attrs.Factory(dict)

    def of_record(self, record: Record) -> Iterator[Signal]:
        for span in _spans(record.value):
            attributes = {
                string(one.get("key")): _attribute(mapping(one.get("value")))
                for one in mappings(span.get("attributes"))
            }
            if any(attributes.get(key) == kind for key, kind in _KINDS.items()) or (
                "tool_arguments" in attributes
            ):
                yield self._called(record, span, attributes)

    def _called(self, record: Record, span: Fields, attributes: Fields) -> Signal:
        span_id, status = id_of(span.get("spanId")), mapping(span.get("status"))
        conversation = string(_first(attributes, _CONVERSATIONS) or span.get("traceId"))
        if conversation not in self.lanes and len(self.lanes) < _MOST_LANES:
            first = not self.lanes or not conversation
            self.lanes[conversation] = MAIN_LANE if first else conversation
        lane = self.lanes.get(conversation, MAIN_LANE)
        call = call_of(
            record,
            _first(attributes, _NAMES),
            _first(attributes, _ARGUMENTS),
            _nanoseconds(span.get("startTimeUnixNano")) or None,
            lane=lane,
            actor=lane,
            # A trace does not show which calls were sent in one message.
            turn=turn_of(record.line, span_id),
            call_id=id_of(attributes.get("gen_ai.tool.call.id"), span_id),
            result=_span_result(
                _first(attributes, _RESULTS),
                status.get("message"),
                failed=status.get("code") in (2, "STATUS_CODE_ERROR"),
            ),
        )
        return Seen(call, once=f"{span.get('traceId')}/{span_id}" if span_id else "")


def _attribute(value: Fields) -> Any:
    # One of stringValue, intValue, kvlistValue, ... Objects are nearly always JSON texts.
    if "kvlistValue" in value:
        entries = mappings(mapping(value["kvlistValue"]).get("values"))
        return {string(one.get("key")): _scalar(one.get("value")) for one in entries}
    return _scalar(value)


def _scalar(value: Any) -> Any:
    return next(iter(mapping(value).values()), None)


def _first(attributes: Fields, keys: tuple[str, ...]) -> Any:
    return next((attributes[key] for key in keys if attributes.get(key) is not None), None)
