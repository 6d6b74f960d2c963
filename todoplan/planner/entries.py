"""What a planner appends: the journal entries of what was accepted, with their keys."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from todoplan.core.events.journal import Entry
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.toolbox import Reply
from todoplan.planner.commits import Signed
from todoplan.planner.receipts import Part, replies_text

__all__ = ["entries_of", "signed_entries"]


def entries_of(
    plan: Plan, named: Sequence[tuple[str, tuple[Event, ...]]], at: datetime, actor: str | None
) -> tuple[Entry, ...]:
    """
    Return the journal entries of what was accepted, one for each name that has events.
    """
    entries: list[Entry] = []
    revision = plan.revision
    for cause, events in named:
        if events:
            revision += len(events)
            entries.append(Entry(revision, events, at, actor, cause))
    return tuple(entries)


def signed_entries(  # noqa: PLR0913, PLR0917 - all that an entry says
    plan: Plan,
    parts: Sequence[Part],
    again: Mapping[int, Reply],
    replies: Sequence[Reply],
    at: datetime,
    actor: str | None,
) -> tuple[Signed, ...]:
    """
    Return what is to be appended for each part of a turn that was not carried out before; `replies`
    are those to its calls.
    """
    signed, rest = [], iter(replies)
    for part in parts:
        if part.places and part.places[0] in again:
            continue
        made = [next(rest) for _ in part.places]
        named = [(reply.name, reply.events) for reply in made]
        if entries := entries_of(plan, named, at, actor):
            answer = "" if part.key is None else replies_text(made)
            plan = made[-1].plan
            signed.append(Signed(entries, plan, part.key, answer))
    return tuple(signed)
