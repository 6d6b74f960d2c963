"""Which tasks events affect."""

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
    """Return the ids of the tasks that an event names."""
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
    Return the ids of the tasks that the events changed or added, in order.

    This is for code that updates a copy of a plan. `None` means that the change is larger (tasks
    were removed, moved or restored), so the whole plan must be read.
    """
    ids: dict[str, None] = {}  # an ordered set
    for event in events:
        if isinstance(event, _OF_THE_PLAN):
            return None
        # A subtask is put after its siblings, which may not be the end of the plan.
        if isinstance(event, TaskCreated) and event.task.parent is not None:
            return None
        for task_id in ids_of(event):
            ids[task_id] = None
    return tuple(ids)
