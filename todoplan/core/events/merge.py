"""
Two histories of one plan into one: for frameworks whose branches write in the same step.

Law: no task that either side made is lost, no id is used twice, and what comes out is a plan: edges
that would close a cycle are left out. Changes to the same task: the later one wins.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import assert_never

import attrs

from todoplan.core.events.apply import fold
from todoplan.core.events.types import (
    EdgeAdded,
    EdgeRemoved,
    Event,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
    TasksReordered,
)
from todoplan.core.plan.draft import Draft
from todoplan.core.plan.frozen import FrozenDict
from todoplan.core.plan.graph import path_between
from todoplan.core.plan.model import EDITABLE, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.slots import number_of

__all__ = ["joined", "rebased"]

_Ids = dict[str, str]


def rebased(
    plan: Plan, events: Iterable[Event], moved: Mapping[str, str] | None = None
) -> tuple[Plan, _Ids]:
    """
    Return the plan after events that were decided upon another version of it, and the ids moved.

    A task whose id is used here gets a new one. `moved` is what an earlier call returned for events
    of the same origin.
    """
    draft, ids = Draft(plan), dict(moved or {})
    for event in events:
        for placed in _placed(event, draft, ids):
            fold(draft, placed)
    return draft.freeze(), ids


def _placed(event: Event, draft: Draft, ids: _Ids) -> Iterator[Event]:
    match event:
        case TaskCreated(task):
            yield TaskCreated(task.but(id=_free(task.id, draft, ids)))
        case StatusChanged() | TaskEdited() | TaskDeleted():
            yield attrs.evolve(event, task_id=ids.get(event.task_id, event.task_id))
        case EdgeAdded() | EdgeRemoved():
            blocker, blocked = (ids.get(end, end) for end in (event.blocker, event.blocked))
            if isinstance(event, EdgeRemoved) or not path_between(draft, blocked, blocker):
                yield attrs.evolve(event, blocker=blocker, blocked=blocked)
        case TasksReordered(task_ids):
            yield attrs.evolve(event, task_ids=tuple(ids.get(end, end) for end in task_ids))
        case PlanCleared(task_ids, at):
            yield from (TaskDeleted(ids.get(end, end), at) for end in task_ids)
        case PlanRestored():
            yield event
        case _ as unreachable:
            assert_never(unreachable)


def _free(task_id: str, draft: Draft, ids: _Ids) -> str:
    if number_of(task_id) < draft.next_id:
        ids[task_id] = str(draft.next_id)
    return ids.get(task_id, task_id)


def joined(mine: Plan, other: Plan) -> Plan:
    """
    Return two versions of a plan as one, where what lies between them is not known.

    If `other` followed from `mine`, that is `other`. If not, its order stands, and the tasks that
    only `mine` made follow under new ids. A task that one side deleted and the other still has may
    come back: nothing is lost in silence.
    """
    plan, _ = rebased(other, _news(mine, other))
    if plan is other or plan == other:
        return other
    return attrs.evolve(plan, revision=max(plan.revision, mine.revision + 1))


def _news(mine: Plan, other: Plan) -> Iterator[Event]:
    made = {task.id for task in mine if _only_here(task, other)}
    for task in mine:
        if task.id in made:
            yield TaskCreated(task)
        elif task.id in other and _later(task, other[task.id]):
            yield from _differences(task, other[task.id])
    for task in mine:
        for blocker in task.blocked_by:
            if task.id in made or blocker in made:
                yield EdgeAdded(blocker, task.id, task.updated_at)


def _only_here(task: Task, other: Plan) -> bool:
    theirs = other.get(task.id)
    if theirs is None:
        return number_of(task.id) >= other.next_id
    if task.created_at is None and theirs.created_at is None:
        return task.subject != theirs.subject
    return task.created_at != theirs.created_at


def _later(task: Task, theirs: Task) -> bool:
    if task.updated_at is None or theirs.updated_at is None:
        return False
    return task.updated_at > theirs.updated_at


def _differences(task: Task, theirs: Task) -> Iterator[Event]:
    at: datetime | None = task.updated_at
    changes = {
        name: value
        for name in sorted(EDITABLE)
        if (value := getattr(task, name)) != getattr(theirs, name)
    }
    if changes:
        yield TaskEdited(task.id, FrozenDict(changes), at)
    if task.status is not theirs.status:
        yield StatusChanged(task.id, theirs.status, task.status, at)
