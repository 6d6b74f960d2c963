"""
Undo of the last change, for frameworks that store the plan and only the latest journal entries.

The plan before a change is computed by replaying the earlier entries. A journal in a framework's
state may not reach back to the beginning, and somebody may have changed the list without an entry.
Law: the entries are trusted only if replaying all of them on an earlier plan gives the current
plan. Otherwise an undo would also undo changes that have no entry (law 15).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

import attrs

from todoplan.core.commands import RestorePlan
from todoplan.core.decide.decide import Decision, Rejected
from todoplan.core.events.apply import replay
from todoplan.core.events.journal import Entry
from todoplan.core.events.types import ClaimRenewed, Event, PlanRestored
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.application import edited
from todoplan.dialogue.held_claims import NO_FENCES, Fences
from todoplan.errors import PlanError

__all__ = ["Start", "last_change", "plan_before", "starts", "undone"]


@attrs.frozen
class Start:
    """An earlier plan, and the number of journal entries that precede it."""

    plan: Plan
    entries: int


def last_change(journal: Sequence[Entry]) -> Entry | None:
    """Return the last entry to undo: not an undo, not undone already, and not just a heartbeat."""
    undone = {entry.undoes for entry in journal}
    standing = (
        entry
        for entry in reversed(journal)
        if entry.undoes is None and entry.revision not in undone and not _is_heartbeat(entry)
    )
    return next(standing, None)


def _is_heartbeat(entry: Entry) -> bool:
    # A worker renews its claim every few seconds: without this, a person's undo would never reach
    # an earlier change. The restored plan keeps the present expiry of each claim.
    return all(type(event) is ClaimRenewed for event in entry.events)


def starts(journal: Sequence[Entry]) -> tuple[Start, ...]:
    """
    Return the plans from which a replay of the journal can start.

    These are the empty plan, if the journal is complete, and each plan that was restored whole.
    """
    # A revision counts events: the first entry of a plan has as many events as its revision.
    is_whole = bool(journal) and journal[0].revision == len(journal[0].events)
    restored = [
        Start(replay(Plan(), entry.events), place + 1)
        for place, entry in enumerate(journal)
        if any(isinstance(event, PlanRestored) for event in entry.events)
    ]
    return (*([Start(Plan(), 0)] if is_whole else ()), *restored)


def plan_before(
    change: Entry, plan: Plan, journal: Sequence[Entry], known: Iterable[Start]
) -> Plan | None:
    """
    Return the plan before a change, replayed from one of the `known` starts.

    Return `None` if the journal leads from none of them to the current `plan`.
    """
    place = journal.index(change)
    for start in known:
        since = journal[start.entries :]
        if start.entries <= place and tuple(replay(start.plan, _events(since))) == tuple(plan):
            # Every later entry is an undo, was undone or is a heartbeat, so it is enough to replay
            # the entries before the change.
            return replay(start.plan, _events(journal[start.entries : place]))
    return None


def _events(entries: Iterable[Entry]) -> list[Event]:
    return [event for entry in entries for event in entry.events]


def undone(  # noqa: PLR0913 - the rest are options, by name
    plan: Plan,
    change: Entry | None,
    before: Plan | None,
    *,
    at: datetime,
    actor: str | None,
    fences: Fences = NO_FENCES,
) -> tuple[Decision, Entry | None]:
    """
    Return the decision that undoes a change, and its journal entry.

    The undo is refused if it would end a live claim whose fencing token is not among `fences`,
    even if the claim's owner has the same name (law 19).

    Raises:
        PlanError: there is a change, but the plan `before` it is unknown.
    """
    if change is None:
        return Rejected((Problem("nothing_to_undo"),)), None
    if before is None:
        msg = (
            f"the last change ({change.cause}) cannot be taken back: the journal that is kept here"
            " does not say what the plan was before it; with store= it can, always"
        )
        raise PlanError(msg, revision=change.revision)
    # With an empty policy: an earlier plan may break a rule of the present policy, and must still
    # be restored.

    command = RestorePlan(tuple(before), before.next_id, before.approved)
    decision, entry = edited(plan, command, Policy(), at=at, actor=actor, fences=fences)
    return decision, entry and attrs.evolve(entry, cause="undo", undoes=change.revision)
