"""
What a hand last saw of a plan, and what the others have done to it since (law 15).

A plan has several hands: a model, the person who watches, the program around them, other agents.
Most of what goes wrong between them is one undoing what it has never seen: a whole list is written
from memory, and what was added in the meantime is not on it. So a write means the difference
between the list and its base, the plan as its writer last saw it. A base is kept only while there
is something that its hand has not seen; without one, the base is the plan as it is.
"""

from collections.abc import Iterable, Mapping

import attrs

from todoplan.core.events.apply import replay
from todoplan.core.events.touched import ids_of
from todoplan.core.events.types import Event
from todoplan.core.plan.frozen import EMPTY, FrozenDict
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan

__all__ = ["Base", "Difference", "differences"]


def _actors(given: Mapping[str, str]) -> FrozenDict:
    return FrozenDict(given)


@attrs.frozen
class Base:
    """
    The plan as a hand last saw it. `actors` says, by task id, who has changed it since, if known.

    `shown` is the plan as a reminder showed it in the very request that this hand now answers.
    """

    plan: Plan
    actors: Mapping[str, str] = attrs.field(default=EMPTY, converter=_actors)
    # A reminder is in one request and kept nowhere: the next request shows nothing of it, and a
    # model that goes on from there has not seen what it said. Only what an answer told is kept.
    shown: Plan | None = None

    @property
    def upon(self) -> Plan:
        """
        The plan that the calls of this answer are written upon.
        """
        return self.plan if self.shown is None else self.shown

    def with_own(self, events: Iterable[Event]) -> "Base":
        """
        Return the base once this hand has done this itself, which is no news to it.
        """
        events = tuple(events)
        shown = None if self.shown is None else replay(self.shown, events)
        return attrs.evolve(self, plan=replay(self.plan, events), shown=shown)

    def after(self, events: Iterable[Event], actor: str | None) -> "Base":
        """
        Return the base once another hand has done this as well.
        """
        if actor is None:
            return self
        touched = {task_id: actor for event in events for task_id in ids_of(event)}
        return attrs.evolve(self, actors={**self.actors, **touched})

    def unseen(self, plan: Plan) -> "tuple[Difference, ...]":
        """
        Return what others made of the tasks since, in the order of the plan; what is gone is last.
        """
        found = differences(self.plan, plan, self.actors)
        # Heartbeats of claims are many, and nothing to tell of.
        return tuple(each for each in found if not _is_renewal(each))

    def has_news(self, plan: Plan) -> bool:
        """
        Say whether there is anything to tell of: tasks that are not as they were, or an approval.
        """
        return bool(self.unseen(plan)) or self.is_newly_approved(plan)

    def is_newly_approved(self, plan: Plan) -> bool:
        """
        Say whether a person has approved the plan since.
        """
        return plan.approved is not None and plan.approved != self.plan.approved


@attrs.frozen
class Difference:
    """
    One task that is not as it was: `was` is `None` for a new one, `now` for one that is gone.
    """

    was: Task | None
    now: Task | None
    actor: str | None = None

    @property
    def task(self) -> Task:
        """
        The task as it is, or as it was before it went.
        """
        task = self.now or self.was
        assert task is not None  # noqa: S101 - one of them is there, by `differences`
        return task


def _is_renewal(found: Difference) -> bool:
    was, now = found.was, found.now
    if was is None or now is None or was.claim is None or now.claim is None:
        return False
    fresh = attrs.evolve(was.claim, until=now.claim.until)
    return fresh == now.claim and was.but(claim=now.claim, updated_at=now.updated_at) == now


def differences(was: Plan, now: Plan, actors: Mapping[str, str] = EMPTY) -> tuple[Difference, ...]:
    """
    Return the tasks in which two versions of a plan differ, edges and times included.
    """
    if was is now:
        return ()
    changed = [
        Difference(was.get(task.id), task, actors.get(task.id))
        for task in now
        # Versions share what did not change, so identity decides nearly all.
        if (old := was.get(task.id)) is not task and old != task
    ]
    gone = [Difference(task, None, actors.get(task.id)) for task in was if task.id not in now]
    return (*changed, *gone)
