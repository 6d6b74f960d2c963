"""
AG-UI: the events that an agent sends to its user interface, in lines or in a list.

The arguments of a call come in pieces. A snapshot of the messages repeats earlier calls, and may
have calls that were not sent before.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from todoplan.transcripts.calls import CallResult, PersonSpoke, PlanningCall
from todoplan.transcripts.files import Probe, Record, Source
from todoplan.transcripts.readers.base import (
    Answered,
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

_TYPES = frozenset(
    {
        "RUN_STARTED",
        "RUN_FINISHED",
        "TEXT_MESSAGE_START",
        "TOOL_CALL_START",
        "TOOL_CALL_CHUNK",
        "MESSAGES_SNAPSHOT",
        "STATE_SNAPSHOT",
    }
)
# An interrupted run leaves calls that never end.
_MOST_OPEN = 64
_LONGEST = 1024 * 1024  # characters of one call's arguments: a plan has a few thousand


def _recognises(probe: Probe) -> bool:
    return any(string(record.get("type")) in _TYPES for record in probe.records)


@attrs.define
class _Open:
    """A call whose arguments are still incomplete."""

    call: PlanningCall
    pieces: list[str] = attrs.Factory(list)
    size: int = 0

    def add(self, piece: str) -> None:
        self.size += len(piece)
        if self.size <= _LONGEST:
            self.pieces.append(piece)

    def whole(self) -> Signal:
        # Arguments that are too long are truncated, so they are not JSON and the call is
        # unreadable.
        arguments = arguments_of("".join(self.pieces))
        call = attrs.evolve(self.call, arguments=arguments)
        return Seen(call, call.call_id, call.call_id)


@attrs.define
class _Run:
    """The open calls by id, the earliest first."""

    open: dict[str, _Open] = attrs.Factory(dict)

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
                yield from self.close(call_id)
            case "TOOL_CALL_RESULT":
                yield from self.close(call_id)
                yield Answered(call_id, _result(event.get("content")))
            case "RUN_FINISHED" | "RUN_ERROR":
                yield from self.close_all()
            case _:
                yield from _of_messages(record)

    def _add(self, call_id: str, event: Mapping[str, Any]) -> None:
        if open_call := self.open.get(call_id):
            open_call.add(string(event.get("delta")))

    def _begin(self, record: Record, call_id: str) -> Iterator[Signal]:
        event = record.value
        if len(self.open) >= _MOST_OPEN:
            yield from self.close(next(iter(self.open)))
        # All calls of one message of the model name it as their parent.
        self.open[call_id] = _Open(
            PlanningCall(
                tool=string(event.get("toolCallName")),
                arguments={},
                line=record.line,
                turn=turn_of(record.line, event.get("parentMessageId")),
                call_id=call_id,
                at=parse_time(event.get("timestamp")),
            )
        )

    def close(self, call_id: str) -> Iterator[Signal]:
        if open_call := self.open.pop(call_id, None):
            yield open_call.whole()

    def close_all(self) -> Iterator[Signal]:
        for call_id in tuple(self.open):
            yield from self.close(call_id)


def _of_messages(record: Record) -> Iterator[Signal]:
    event = record.value
    if event.get("type") == "RUN_STARTED":
        sent = mappings(mapping(event.get("input")).get("messages"))
        if sent and sent[-1].get("role") == "user":
            yield PersonSpoke(record.line, at=parse_time(event.get("timestamp")))
    if event.get("type") != "MESSAGES_SNAPSHOT":
        return
    for message in mappings(event.get("messages")):
        for listed in mappings(message.get("toolCalls")):
            function, call_id = mapping(listed.get("function")), id_of(listed.get("id"))
            call = PlanningCall(
                tool=string(function.get("name")),
                arguments=arguments_of(function.get("arguments")),
                line=record.line,
                turn=turn_of(record.line, message.get("id")),
                call_id=call_id,
            )
            # Without an id, it may be a repetition of an earlier call.
            if call_id:
                yield Seen(call, call_id, call_id)
        if message.get("role") == "tool":
            yield Answered(id_of(message.get("toolCallId")), _result(message.get("content")))


def _result(content: Any) -> CallResult:
    text = content_text(content)
    return CallResult(text, tells_error(text))


def _signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    run = _Run()
    yield from each(records(source), run.of_event)
    yield from run.close_all()


READER = DialectReader("ag-ui", _recognises, _signals)
