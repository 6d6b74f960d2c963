"""
Calls that are made twice and happen once: how a result is kept beside its key, and read again.

A framework makes a call again after a crash, a timeout or a resumed run, and cannot know whether
the first one was carried out: of 54 writers that were killed, 4 to 13 had appended what nobody was
told of. So the append carries the call's key, and what was answered is kept with it. To decide
again upon the plan of then was the other way; but an answer also depends on what its hand had seen,
on the policy and on the version of the texts, none of which the journal knows.

- The plan of a result that is given again is the plan as it stands: whoever keeps it (a framework's
  state) would otherwise go back to an older one.
- A call that changed nothing, a look or a refusal, is not kept: there is nothing in it to do twice,
  and the list that it showed may be long. Made again, it is answered anew.
- What a framework repeats is one call or all of a turn, as it went down: in another order, in other
  groups. So its calls carry a key each (`keys_of_calls`), and those of them that were carried out
  are given again beside those that were not.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import attrs

from todoplan.core.commands import Command
from todoplan.core.decide.decide import Accepted
from todoplan.core.events.apply import replay
from todoplan.core.events.base import Base, Note
from todoplan.core.events.types import Event, TaskCreated
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.dialogue.held_claims import Fences, fences_after
from todoplan.dialogue.intake.repairs import Repair
from todoplan.dialogue.replies.unseen import unseen_text
from todoplan.dialogue.toolbox import Call, Reply, Turn
from todoplan.planner.arguments import unfit
from todoplan.stores.hold import Key, Receipt

__all__ = [
    "Part",
    "accepted_again",
    "accepted_text",
    "joined",
    "key_of_command",
    "keys_of_calls",
    "parts_of_turn",
    "replies_again",
    "replies_text",
    "with_kept",
    "with_own",
]


@attrs.frozen
class Part:
    """
    Those calls of a turn, by their places, that one key stands for; `None`: nothing is kept.
    """

    key: Key | None
    places: Sequence[int]


def parts_of_turn(
    key: str | Sequence[str] | None, calls: Sequence[Call], actor: str | None
) -> tuple[Part, ...]:
    """
    Return the parts of a turn that has one key, one for each call, or none.

    Raises:
        PlanError: a key is no name, or there are more or fewer than there are calls.
    """
    places = range(len(calls))
    if key is None:
        return (Part(None, places),)
    if not isinstance(key, tuple | list):
        return (Part(_key_of_calls(key, places, calls, actor), places),)
    if len(key) != len(calls) or len({*key}) != len(key):
        raise unfit(key, f"give one key for the turn, or one for each of its {len(calls)} calls")
    alone = [(name, [place]) for name, place in zip(key, places, strict=True)]
    return tuple(Part(_key_of_calls(name, at, calls, actor), at) for name, at in alone)


def _key_of_calls(
    name: object, places: Sequence[int], calls: Sequence[Call], actor: str | None
) -> Key:
    # Ids of calls are no part of it: a framework may give new ones to calls that it makes again.
    asked = [[calls[place].name, calls[place].arguments] for place in places]
    return _key(name, ["turn", asked, actor])


def keys_of_calls(calls: Sequence[Call], *scope: object) -> tuple[str, ...]:
    """
    Return a key for each call, the same whenever it is made again: see `Planner.keys_of`.
    """
    # Without ids (Gemini's calls need none) the place in the response tells calls apart. What is
    # asked for is a part of the key: under one id an agent may not fail for what a person edited.
    ids = [call.call_id or str(place) for place, call in enumerate(calls)]
    return tuple(
        f"{name}:{_digest([*scope, name, call.name, call.arguments])[:32]}"
        for name, call in zip(ids, calls, strict=True)
    )


def key_of_command(key: str, command: Command, actor: str | None) -> Key:
    """
    Return the key of a command.

    Raises:
        PlanError: `key` is no name.
    """
    return _key(key, ["apply", repr(command), actor])


def _key(name: object, asked: Any) -> Key:
    if not isinstance(name, str) or not name:
        raise unfit(name, "a key is the name of one call: a text that is not empty, key='call_7'")
    return Key(name, _digest(asked))


def _digest(asked: Any) -> str:
    try:
        text = json.dumps(asked, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        text = repr(asked)  # what is no JSON, as a model's arguments may be
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def replies_text(replies: Sequence[Reply]) -> str:
    """
    Return replies as they are kept beside their key; their events stand in the journal.
    """
    kept = [
        {
            "name": reply.name,
            "text": reply.text,
            "is_error": reply.is_error,
            "has_entry": bool(reply.events),
            "problems": [attrs.asdict(each) for each in reply.problems],
            "warnings": [attrs.asdict(each) for each in reply.warnings],
            "repairs": [attrs.asdict(each) for each in reply.repairs],
        }
        for reply in replies
    ]
    return json.dumps({"replies": kept}, separators=(",", ":"))


def replies_again(
    plan: Plan, calls: Sequence[Call], parts: Sequence[Part], kept: Sequence[Receipt | None]
) -> Mapping[int, Reply]:
    """
    Return the replies that were kept of a turn, by the places of their calls.
    """
    found: dict[int, Reply] = {}
    for part, receipt in zip(parts, kept, strict=False):
        if receipt is not None:
            entries, last = iter(receipt.entries), receipt.entries[-1]
            told = json.loads(receipt.answer)["replies"]
            for place, each in zip(part.places, told, strict=True):
                entry = next(entries) if each["has_entry"] else None
                found[place] = Reply(
                    plan,
                    each["text"],
                    () if entry is None else entry.events,
                    each["is_error"],
                    _problems(each["problems"]),
                    _problems(each["warnings"]),
                    tuple(Repair(**repair) for repair in each["repairs"]),
                    each["name"],
                    calls[place].call_id,
                    repeat_of=(entry or last).revision,
                    note=Note(named=_own_in(() if entry is None else entry.events)),
                )
    return found


def _own_in(events: Sequence[Event]) -> tuple[str, ...]:
    # Less than the call knew, never more: what its lines said without a change is not in events.
    return tuple(event.task.id for event in events if isinstance(event, TaskCreated))


def with_own(seen: Base, kept: Sequence[Receipt | None]) -> Base:
    """
    Return what a hand has seen, and what it did itself by calls that are made again: its framework
    has lost that, and it is no news to it.
    """
    entries = (entry for receipt in kept if receipt is not None for entry in receipt.entries)
    own = [event for one in entries if one.revision > seen.plan.revision for event in one.events]
    # Whether that was before a reminder showed the plan is not known: so that counts for nothing.
    if not own:
        return seen
    # In its place of the journal: what others did before it stays unseen.
    return attrs.evolve(seen, plan=replay(seen.plan, own))


def with_kept(fences: Fences, kept: Sequence[Receipt | None]) -> Fences:
    """
    Return a hand's fences, and those that its calls got which are made again.
    """
    entries = [entry for receipt in kept if receipt is not None for entry in receipt.entries]
    return fences_after(fences, [event for entry in entries for event in entry.events])


def joined(turn: Turn, again: Mapping[int, Reply], seen: Base | None) -> Turn:
    """
    Return a turn with the replies that are given again in their places. What others did since
    `seen` is told by the first of them, if no call was carried out anew that tells it.
    """
    anew = iter(turn.replies)
    count = len(turn.replies) + len(again)
    replies = [again[place] if place in again else next(anew) for place in range(count)]
    told = any(not reply.is_error for reply in turn.replies)
    news = "" if seen is None or told else unseen_text(seen, turn.plan)
    for place in sorted(again):
        text = again[place].text
        if news and not again[place].is_error:
            # Part of it may stand there already, as it was told then.
            text, news = f"{news}\n{text.removeprefix(news).lstrip()}", ""
        replies[place] = attrs.evolve(replies[place], plan=turn.plan, text=text)
    return Turn(turn.plan, tuple(replies))


def accepted_text(decision: Accepted) -> str:
    """
    Return what is kept of a decision beside its key.
    """
    warnings = [attrs.asdict(each) for each in decision.warnings]
    return json.dumps({"warnings": warnings}, separators=(",", ":"))


def accepted_again(plan: Plan, receipt: Receipt) -> Accepted:
    """
    Return a decision that was kept, with the plan as it stands.
    """
    events = tuple(event for entry in receipt.entries for event in entry.events)
    return Accepted(plan, events, _problems(json.loads(receipt.answer)["warnings"]))


def _problems(kept: list[dict[str, Any]]) -> tuple[Problem, ...]:
    return tuple(Problem(**{**each, "task_ids": tuple(each["task_ids"])}) for each in kept)
