"""
To take the last change back where a framework keeps the plan, and of its journal the latest part.

What stood before a change is found by replaying what came before it. The journal of a state may
begin in the middle, and somebody may have changed the list without an entry. So the law: only where
the entries, replayed upon an earlier plan, make the plan as it is, may they be trusted to say what
it was. Else the work of somebody who is in no entry would be undone with the change (law 15).
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
    """
    An earlier plan, and how many entries of a journal it comes after.
    """

    plan: Plan
    entries: int


def last_change(journal: Sequence[Entry]) -> Entry | None:
    """
    Return the last entry that still stands: no undo itself, not taken back, and no mere heartbeat.
    """
    undone = {entry.undoes for entry in journal}
    standing = (
        entry
        for entry in reversed(journal)
        if entry.undoes is None and entry.revision not in undone and not _is_heartbeat(entry)
    )
    return next(standing, None)


def _is_heartbeat(entry: Entry) -> bool:
    # A worker renews its claim every few seconds: a person's undo would never get past that. What
    # is put back keeps the end that a claim has now.
    return all(type(event) is ClaimRenewed for event in entry.events)


def starts(journal: Sequence[Entry]) -> tuple[Start, ...]:
    """
    Return the plans to begin with that a journal by itself is sure of: the empty one, if it has the
    plan's whole life; and each that was put in place whole.
    """
    # A revision counts events: the first entry of a life has as many as its revision says.
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
    Return what `plan` was before a change, worked out from one of the `known` plans; `None` if the
    journal leads from none of them to the plan as it is.
    """
    place = journal.index(change)
    for start in known:
        since = journal[start.entries :]
        if start.entries <= place and tuple(replay(start.plan, _events(since))) == tuple(plan):
            # Every later entry is an undo or was undone, or a heartbeat: replaying the ones before
            # is enough.
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
    Return the decision that takes a change back, and its entry of the journal. Refused if that
    would end a live claim whose fencing token is not among `fences`, whatever the name of its
    holder (law 19).

    Raises:
        PlanError: there is a change, and nobody knows what was `before` it.
    """
    if change is None:
        return Rejected((Problem("nothing_to_undo"),)), None
    if before is None:
        msg = (
            f"the last change ({change.cause}) cannot be taken back: the journal that is kept here"
            " does not say what the plan was before it; with store= it can, always"
        )
        raise PlanError(msg, revision=change.revision)
    # Under no policy: yesterday's plan may break a rule of today's, and has to come back.
    command = RestorePlan(tuple(before), before.next_id, before.approved)
    decision, entry = edited(plan, command, Policy(), at=at, actor=actor, fences=fences)
    return decision, entry and attrs.evolve(entry, cause="undo", undoes=change.revision)
