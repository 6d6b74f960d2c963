"""
Drift: the differences between a plan and the revision that a person approved.

A person approves a plan at one revision. Afterwards the model continues to plan, and the plan that
is carried out in the end may be a different one. The plan stores the approved revision; the journal
shows the plan at that revision. Progress is not drift: the plan was approved so that its tasks are
started, paused, verified and completed.
"""

from collections.abc import Iterable

import attrs

from todoplan.core.events.apply import Entry, replay
from todoplan.core.events.base import Difference, changed_by, differences
from todoplan.core.events.types import Event, PlanApproved, PlanCleared, PlanRestored
from todoplan.core.plan.model import TASK_FIELDS, Approval, Status, instance_of, tuple_of
from todoplan.core.plan.plan import Plan
from todoplan.errors import PlanError
from todoplan.lazy import listing

__all__ = ["Drift", "drift"]
__dir__ = listing(__all__)


@attrs.frozen
class Drift:
    """
    The changes to an approved plan since its approval.

    `came` are the tasks that were added since, `went` the tasks that were removed, and `changed`
    the tasks in which approved fields were changed. Each difference names the actor who made the
    change, if known. A `Drift` without changes is false.
    """

    approval: Approval
    came: tuple[Difference, ...] = ()
    went: tuple[Difference, ...] = ()
    changed: tuple[Difference, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.came or self.went or self.changed)

    @staticmethod
    def fields(difference: Difference) -> tuple[str, ...]:
        """
        Return the approved fields in which a task has changed; () for an added or removed task.
        """
        was, now = difference.was, difference.now
        if was is None or now is None:
            return ()
        dropped = now.status is Status.CANCELLED and was.status is not Status.CANCELLED
        return tuple(
            name
            for name, field in TASK_FIELDS.items()
            # The status is progress, but a cancelled task is no longer part of the plan.
            if (dropped and name == "status")
            or (not field.is_progress and getattr(was, name) != getattr(now, name))
        )


def drift(plan: Plan, history: Iterable[Entry]) -> Drift:
    """
    Return the differences between a plan and the revision that was approved last.

    `history` are the entries of the plan's journal, oldest first. The first of them must be the
    journal's first entry, or one that restores or clears the plan. The approval must be included.

    Raises:
        PlanError: the plan was never approved, or the history does not show the approved plan.
    """
    approval = instance_of(plan, Plan, "a plan, such as planner.plan").approved
    if approval is None:
        msg = (
            f"the plan, at revision {plan.revision}, was never approved; to approve it, use"
            " the command ApprovePlan(by)"
        )
        raise PlanError(msg, revision=plan.revision)
    legal = "the entries of the plan's journal, oldest first, such as planner.history()"
    was, actors = _approved(approval, tuple_of(history, Entry, legal))
    found = differences(was, plan, actors)
    return Drift(
        approval,
        came=tuple(each for each in found if each.was is None),
        went=tuple(each for each in found if each.now is None),
        changed=tuple(each for each in found if Drift.fields(each)),
    )


def _approved(approval: Approval, history: tuple[Entry, ...]) -> tuple[Plan, dict[str, str]]:
    """Return the approved plan, and the actor who has changed each task since."""
    start: Plan | None = None
    events: list[Event] = []
    first = at = history[0].revision - len(history[0].events) if history else 0
    for entry in history:
        before = entry.revision - len(entry.events)
        if before != at and at < approval.revision:
            msg = (
                f"the history is not whole: an entry leads from revision {before} to"
                f" {entry.revision}, and the one before it to {at}. Give all entries, oldest first"
            )
            raise PlanError(msg, revision=entry.revision, expected=at)
        at = entry.revision
        for revision, event in enumerate(entry.events, before + 1):
            if revision > approval.revision:
                break
            # This event determines all tasks, so earlier events are not needed.
            if revision == 1 or isinstance(event, PlanRestored | PlanCleared):
                start, events = Plan(revision=revision - 1), []
            events.append(event)
    if start is None or start.revision + len(events) != approval.revision:
        held = f"revision {first + 1} to {at}" if history else "nothing"
        msg = (
            f"the history does not reach the approved revision {approval.revision}: it has {held}."
            " It must start at the beginning, or with an entry that restores or clears the plan. A"
            " store keeps all entries; or approve the plan again"
        )
        raise PlanError(msg, approved=approval.revision)
    if events[-1] != PlanApproved(approval.by, approval.at):
        # A plan that was imported from elsewhere keeps its approval but gets new revision numbers.
        msg = (
            f"revision {approval.revision} of the history is not the approval that the plan has:"
            " it is the history of another plan, or the plan was approved before it was imported"
            " here. Give the history in which it was approved, or approve it again"
        )
        raise PlanError(msg, approved=approval.revision)
    was = replay(start, events)
    since = (
        attrs.evolve(entry, events=entry.events[approval.revision - entry.revision :])
        if entry.revision - len(entry.events) < approval.revision
        else entry
        for entry in history
        if entry.revision > approval.revision
    )
    return was, changed_by(was, since)
