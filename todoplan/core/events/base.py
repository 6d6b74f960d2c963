"""
What a hand last saw of a plan, and what the others have done to it since (law 15).

A plan has several hands: a model, the person who watches, the program around them, other agents.
Most of what goes wrong between them is one undoing what it has never seen: a whole list is written
from memory, and what was added in the meantime is not on it. So a write means the difference
between the list and its base, the plan as its writer last saw it. A base is kept only while there
is something that its hand has not seen; without one, the base is the plan as it is.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from todoplan.core.events.apply import replay
from todoplan.core.events.touched import ids_of
from todoplan.core.events.types import Event
from todoplan.core.plan.frozen import EMPTY, FrozenDict
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan

__all__ = ["NOBODYS", "Base", "Difference", "Note", "differences"]


def _actors(given: Mapping[str, str]) -> FrozenDict:
    return FrozenDict(given)


NOBODYS: frozenset[str] = frozenset()


@attrs.frozen
class Note:
    """
    What one call of a session says of its own sight of the plan: which task each of its `lines`
    means, the tasks that it `named` by id, and what it `read` ("" for the whole plan).
    """

    lines: tuple[tuple[str, Any], ...] | None = None
    named: tuple[str, ...] = ()
    read: str | None = None


@attrs.frozen
class Base:
    """
    What a session knows of a plan (law 15). Pure: `advanced` says what it knows after its calls.

    `plan`: the plan as of its last answered call; news begin behind it. `listed`: the tasks that it
    wrote in a whole list, created or named by id (`None`: all of `plan`, as of an agent alone).
    `mine`: its own last words of listed tasks that others have changed or deleted since; they stand
    until its own list takes the change over, or its own call reads it. `told`: of the tasks below
    this id it was told that they stay. `actors` says, by task id, who has changed it since.
    """

    plan: Plan
    actors: Mapping[str, str] = attrs.field(default=EMPTY, converter=_actors)
    shown: Plan | None = None  # ignored: a reminder moves no base
    listed: frozenset[str] | None = None
    mine: Mapping[str, Task] = attrs.field(default=EMPTY, converter=_actors)
    told: int = 0

    def get(self, task_id: str) -> Task | None:
        """
        Return a task in the session's own last words, or as it last saw it.
        """
        return self.mine.get(task_id) or self.plan.get(task_id)

    def __contains__(self, task_id: str) -> bool:
        return task_id in self.mine or task_id in self.plan

    def tasks(self) -> list[Task]:
        """
        Return the tasks that its next list is compared with, in their order.
        """
        gone = [task for task in self.mine.values() if task.id not in self.plan]
        return [*(self.mine.get(task.id, task) for task in self.plan), *gone]

    def has_listed(self, task_id: str) -> bool:
        """
        Say whether a list that leaves this task out may drop it.
        """
        return task_id in self.plan if self.listed is None else task_id in self.listed

    def may_drop(self, task: Task) -> bool:
        """
        Say whether a missing line drops a task as it stands: listed, and nobody else touched it.
        """
        if task.id in self.mine or not self.has_listed(task.id):
            return False
        return self.plan.get(task.id) == task

    @property
    def upon(self) -> "Base":
        """
        What the calls of this answer are written upon.
        """
        return self

    def with_own(self, events: Iterable[Event]) -> "Base":
        """
        Return the base once this session has done this itself, which is no news to it.
        """
        events = tuple(events)
        return attrs.evolve(self, plan=replay(self.plan, events)) if events else self

    def advanced(self, before: Plan, after: Plan, notes: Iterable[Note]) -> "Base":
        """
        Return what the session knows once its calls, which `notes` tell of, were answered.
        """
        notes = tuple(notes)
        said = {task_id: line for note in notes for task_id, line in note.lines or ()}
        named = {task_id for note in notes for task_id in note.named}
        read = {note.read for note in notes if note.read is not None}
        listed = {task.id for task in self.plan} if self.listed is None else set(self.listed)
        mine: dict[str, Task] = {}
        others = () if self.plan is before else differences(self.plan, before)
        touched = dict.fromkeys((*self.mine, *(one.task.id for one in others)))
        for task_id in touched if "" not in read else ():
            was, now = self.get(task_id), after.get(task_id)
            if task_id in read or was is None:
                continue
            if task_id in said:
                own = _in_words(was, said[task_id])
                if now is None or _words(own) != _words(now):
                    mine[task_id] = own
            elif task_id in listed and now is not None:
                # Left out or not asked for: it stays as the session's own words have it.
                if task_id not in named:
                    mine[task_id] = was
                elif was.subject != now.subject:
                    mine[task_id] = now.but(subject=was.subject)
        listed |= {*said, *named}
        kept = {task_id for task_id in listed if task_id in after or task_id in mine}
        told = after.next_id if any(note.lines is not None for note in notes) else self.told
        if not mine and all(task.id in kept for task in after):
            return Base(after, told=told)
        return Base(after, listed=frozenset(kept), mine=mine, told=told)

    @property
    def is_alone(self) -> bool:
        """
        Say whether the session has listed all that there is, in the words of the plan.
        """
        return self.listed is None and not self.mine

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


def _in_words(was: Task, line: Any) -> Task:
    given = {name: getattr(line, name) for name in _LINE if getattr(line, name) is not None}
    return was.but(subject=line.content, **given)


def _words(task: Task) -> tuple[Any, ...]:
    return (task.subject, *(getattr(task, name) for name in _LINE))


_LINE = ("status", "active_form", "priority")


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
