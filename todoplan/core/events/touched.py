"""Which tasks events are about."""

from collections.abc import Iterable
from typing import assert_never

from todoplan.core.events.types import (
    ClaimRenewed,
    EdgeAdded,
    EdgeRemoved,
    Event,
    ParentChanged,
    PlanApproved,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskClaimed,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
    TasksReordered,
)

__all__ = ["ids_of", "touched"]

_OF_THE_PLAN = ParentChanged | TaskDeleted | TasksReordered | PlanCleared | PlanRestored


def ids_of(event: Event) -> tuple[str, ...]:
    """
    Return the ids of the tasks that an event is about, as it names them.
    """
    match event:
        case StatusChanged() | TaskEdited() | TaskDeleted():
            return (event.task_id,)
        case ParentChanged() | TaskClaimed() | ClaimRenewed():
            return (event.task_id,)
        case TaskCreated(task):
            return (task.id,)
        case EdgeAdded() | EdgeRemoved():
            return event.blocker, event.blocked
        case TasksReordered(task_ids) | PlanCleared(task_ids):
            return task_ids
        case PlanRestored(tasks):
            return tuple(task.id for task in tasks)
        case PlanApproved():
            return ()
        case _ as unreachable:
            assert_never(unreachable)


def touched(events: Iterable[Event]) -> tuple[str, ...] | None:
    """
    Return the ids of the tasks that the events changed or added, in order: for whoever keeps a plan
    elsewhere and brings that up to date.

    `None`: the tasks are others, or in another order; look at the whole plan.
    """
    ids: dict[str, None] = {}  # a set that keeps its order
    for event in events:
        if isinstance(event, _OF_THE_PLAN):
            return None
        # A subtask stands behind its siblings, which need not be the end of the plan.
        if isinstance(event, TaskCreated) and event.task.parent is not None:
            return None
        for task_id in ids_of(event):
            ids[task_id] = None
    return tuple(ids)
