"""
An earlier plan that comes back: by undo, from a snapshot, or as what somebody else has kept so far.

These are attempts, as those of `transactions`. They put a plan back by one command, so that the
journal goes on: nothing that happened is taken out of it.
"""

from collections.abc import Sequence
from datetime import datetime

import attrs

from todoplan.core.commands import RestorePlan
from todoplan.core.decide.decide import Rejected, decide
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.held_claims import Fences
from todoplan.dialogue.undoing import last_change
from todoplan.dialogue.undoing import undone as taken_back
from todoplan.planner.commits import Journal, Outcome
from todoplan.stores.journals import CUT, is_beginning, plan_at

__all__ = ["begun", "put_back", "undone"]

_ANYTHING_GOES = Policy()
_BEGUN = "begin"


def put_back(plan: Plan, earlier: Plan, blank: Entry, fences: Fences) -> Outcome:
    """
    Make a plan what it was; the entry of that has the time, actor and cause of `blank`. Refused if
    that would end a live claim whose fencing token is not among `fences` (law 19).
    """
    # Under no policy: yesterday's plan may break a rule of today's, and has to come back.
    command = RestorePlan(tuple(earlier), earlier.next_id, earlier.approved)
    decision = decide(plan, command, _ANYTHING_GOES, at=blank.at, fences=fences)
    if isinstance(decision, Rejected):
        return Outcome(decision, plan)
    after = decision.plan
    entry = attrs.evolve(blank, revision=after.revision, events=decision.events)
    return Outcome(decision, after, (entry,))


def begun(plans: Sequence[Plan], plan: Plan, journal: Journal, at: datetime) -> Outcome:
    """
    Begin a plan with what somebody else has kept of it until now, one plan after the other; the
    result says whether it began so, now or before.
    """
    if plan.revision:
        return Outcome(bool(journal) and journal[0].cause == _BEGUN, plan)
    entries: list[Entry] = []
    for each in plans:
        own = {task.id: task.claim.fence for task in plan if task.claim is not None}
        done = put_back(plan, each, Entry(0, (), at, cause=_BEGUN, undoes=0), own)
        plan, entries = done.plan, [*entries, *done.entries]
    return Outcome(result=True, plan=plan, entries=tuple(entries))


def undone(  # noqa: PLR0913, PLR0917 - the first three are bound by `partial`
    actor: str | None,
    seen: int | None,
    fences: Fences,
    plan: Plan,
    journal: Journal,
    at: datetime,
) -> Outcome:
    """
    Take back the last command that still stands, unless the plan has moved on from `seen`.
    """
    # Law 15: "the last command" is another one by now, which its hand has never seen.
    if seen is not None and plan.revision != seen:
        return Outcome(Rejected((_moved_on(plan, seen),)), plan)
    # From the journal: another planner, or this one after a restart, goes on undoing.
    change = last_change(journal)
    if change is None:
        return Outcome(Rejected((_nothing_to_undo(journal),)), plan)
    # Every later entry is an undo or was undone, or a heartbeat: replaying the ones before is
    # enough.
    before = plan_at(journal, journal.index(change))
    decision, entry = taken_back(plan, change, before, at=at, actor=actor, fences=fences)
    if isinstance(decision, Rejected) or entry is None:
        return Outcome(decision, plan)
    return Outcome(decision, decision.plan, (entry,))


def _moved_on(plan: Plan, seen: int) -> Problem:
    return Problem("moved_on", seen=str(seen), legal=str(plan.revision))


def _nothing_to_undo(journal: Journal) -> Problem:
    # A journal that was cut says so, and so does its undo.
    if journal and is_beginning(journal[0]) and journal[0].cause == CUT:
        return Problem("journal_cut", seen=str(journal[0].revision))
    return Problem("nothing_to_undo")
