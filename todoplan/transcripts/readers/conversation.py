"""A conversation's messages as signals: calls once, results to calls, merged results parted."""

from collections.abc import Iterable, Iterator
from itertools import count

import attrs

from todoplan.transcripts.calls import BadLine, CallResult, PlanningCall
from todoplan.transcripts.lines import Record
from todoplan.transcripts.linking import Answered, Seen, Signal
from todoplan.transcripts.readers.messages import Message, Reply, Use, message_of
from todoplan.transcripts.readers.shapes import is_refusal, turn_of

__all__ = ["conversation"]


@attrs.define
class _Asked:
    """
    A call of the latest message that called, and the key that its answer goes to.
    """

    use: Use
    key: str
    reply: Reply | None = None


def conversation(records: Iterable[Record | BadLine]) -> Iterator[Signal]:
    """
    Give the signals of messages in any known shape.

    Answers are kept until the next message that calls: only then can it be told whether several
    of them were merged into the first one's.
    """
    asked: list[_Asked] = []
    numbers = count(1)
    for record in records:
        if isinstance(record, BadLine):
            yield record
            continue
        message = message_of(record.value)
        if message.uses:
            yield from _answers(asked)
            asked = [_Asked(use, use.call_id or f" {next(numbers)}") for use in message.uses]
            yield from _calls(record, message, asked)
        for reply in message.replies:
            yield from _heard(asked, reply)
    yield from _answers(asked)


def _calls(record: Record, message: Message, asked: list[_Asked]) -> Iterator[Seen]:
    for one in asked:
        call = PlanningCall(
            tool=one.use.tool,
            arguments=one.use.arguments,
            line=record.line,
            turn=turn_of(record.line, message.turn),
            call_id=one.use.call_id,
            at=message.at,
        )
        yield Seen(call, one.key)


def _heard(asked: list[_Asked], reply: Reply) -> Iterator[Answered]:
    for one in asked:
        if one.reply is None and _belongs(one.use, reply):
            one.reply = reply
            return
    if reply.call_id:
        yield Answered(reply.call_id, reply.result)


def _belongs(use: Use, reply: Reply) -> bool:
    if reply.call_id or use.call_id:
        return reply.call_id == use.call_id
    return reply.tool in {"", use.tool}


def _answers(asked: list[_Asked]) -> Iterator[Answered]:
    _part_merged(asked)
    for one in asked:
        if one.reply:
            yield Answered(one.key, one.reply.result)


def _part_merged(asked: list[_Asked]) -> None:
    """
    Give the parts of an answer to the calls without one, if there is a part for each.
    """
    silent = [one for one in asked if one.reply is None]
    for place, one in enumerate(asked):
        if silent and one.reply and len(one.reply.texts) == len(silent) + 1:
            group = [one, *(other for other in asked[place:] if other.reply is None)]
            if len(group) == len(one.reply.texts):
                _share(group, one.reply)
                return


def _share(group: list[_Asked], reply: Reply) -> None:
    for one, text in zip(group, reply.texts, strict=True):
        one.reply = attrs.evolve(reply, result=CallResult(text, is_refusal(text)))
