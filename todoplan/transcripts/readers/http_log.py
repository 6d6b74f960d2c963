"""HTTP logs of the Anthropic API (claude-trace): every request repeats the whole conversation."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from hashlib import blake2b
from typing import Any

import attrs

from todoplan.transcripts.calls import MAIN_LANE, BadLine, OtherCall, PlanningCall, may_plan
from todoplan.transcripts.files import NotJsonError, Record, parse_json
from todoplan.transcripts.readers.base import (
    Answered,
    Seen,
    Signal,
    Use,
    arguments_of,
    content_text,
    each,
    id_of,
    mapping,
    mappings,
    message_of,
    parse_time,
    string,
    turn_of,
)

# Limits the number of lanes if the prompt differs in every request.
_MOST_LANES = 1000
# The beginning of a prompt identifies the agent; environment and date come later in it.
_TELLING = 500


@attrs.frozen
class _Place:
    line: int
    lane: str
    at: datetime | None


class _Lanes:
    """One lane for each system prompt that uses planning tools: a subagent has its own."""

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {}

    def lane(self, system: Any) -> str:
        parts = [content_text(one)[:_TELLING] for one in _listed(system)[:2]]
        digest = blake2b("\n".join(parts).encode(errors="replace"), digest_size=16).digest()
        name = f"agent-{len(self._known) + 1}" if self._known else MAIN_LANE
        if len(self._known) >= _MOST_LANES:
            return self._known.get(digest, name)
        return self._known.setdefault(digest, name)


def exchanges(records: Iterable[Record | BadLine]) -> Iterator[Signal]:
    """
    Yield the signals of requests and their answers: a call when it is first met, a result likewise.
    """
    # A log also has the requests of subagents, which differ only in their system prompts.
    lanes = _Lanes()
    return each(records, lambda record: _exchange(record, lanes))


def _exchange(record: Record, lanes: _Lanes) -> Iterator[Signal]:
    request, response = mapping(record.value.get("request")), mapping(record.value.get("response"))
    body = _body(request.get("body"))
    history = [message_of(one) for one in mappings(body.get("messages"))]
    answer, turn = _answer(response)
    met = [(use, f"#{record.line}.{at}") for at, one in enumerate(history) for use in one.uses]
    # A call is in the streamed answer first, and then in every later request. `once` removes the
    # duplicates.
    met += [(use, turn_of(record.line, turn)) for use in answer]
    planning = [(use, turn) for use, turn in met if use.call_id and _may_plan(use)]
    yield from (OtherCall(use.tool, record.line) for use, _ in met if not _may_plan(use))
    if planning:
        at = parse_time(request.get("timestamp"))
        place = _Place(record.line, lanes.lane(body.get("system")), at)
        yield from (_seen(place, use, turn) for use, turn in planning)
    for reply in (reply for one in history for reply in one.replies):
        yield Answered(reply.call_id, reply.result)


def _may_plan(use: Use) -> bool:
    return may_plan(use.tool, use.arguments)


def _seen(place: _Place, use: Use, turn: str) -> Seen:
    call = PlanningCall(
        tool=use.tool,
        arguments=use.arguments,
        line=place.line,
        lane=place.lane,
        actor=place.lane,
        turn=turn,
        call_id=use.call_id,
        at=place.at,
    )
    return Seen(call, use.call_id, use.call_id)


def _answer(response: Mapping[str, Any]) -> tuple[tuple[Use, ...], str]:
    """Return the calls of the answer and its message id, whether it was streamed or not."""
    raw = response.get("body_raw")
    if isinstance(raw, str) and raw:
        return _streamed(raw)
    message = message_of(_body(response.get("body")))
    return message.uses, message.turn


def _streamed(raw: str) -> tuple[tuple[Use, ...], str]:
    turn = ""
    blocks: dict[Any, tuple[Mapping[str, Any], list[str]]] = {}
    for event in _events(raw):
        turn = turn or id_of(mapping(event.get("message")).get("id"))
        index = str(event.get("index"))
        if event.get("type") == "content_block_start":
            blocks[index] = (mapping(event.get("content_block")), [])
        elif event.get("type") == "content_block_delta" and index in blocks:
            blocks[index][1].append(string(mapping(event.get("delta")).get("partial_json")))
    return tuple(_use(block, parts) for block, parts in blocks.values()), turn


def _use(block: Mapping[str, Any], parts: list[str]) -> Use:
    # When streaming, `input` is empty and the arguments follow in pieces.
    arguments = "".join(parts) or block.get("input")
    return Use(string(block.get("name")), arguments_of(arguments), id_of(block.get("id")))


def _events(raw: str) -> Iterator[Mapping[str, Any]]:
    for line in raw.splitlines():
        if line.startswith("data:"):
            yield _body(line.removeprefix("data:"))


def _body(body: Any) -> Mapping[str, Any]:
    if not isinstance(body, str):
        return mapping(body)
    try:
        return mapping(parse_json(body))
    except NotJsonError:
        return {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
