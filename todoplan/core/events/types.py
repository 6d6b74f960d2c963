"""
What happened to a plan, in the past tense. Replaying events gives the plan back, under any policy.

An event carries everything that `apply` needs, the time included: the core has no clock.
"""

from datetime import datetime

import attrs

from todoplan.core.plan.frozen import FrozenDict
from todoplan.core.plan.model import Status, Task
from todoplan.lazy import listing

__all__ = [
    "EdgeAdded",
    "EdgeRemoved",
    "Event",
    "PlanCleared",
    "PlanRestored",
    "StatusChanged",
    "TaskCreated",
    "TaskDeleted",
    "TaskEdited",
    "TasksReordered",
]
__dir__ = listing(__all__)


@attrs.frozen(weakref_slot=False)
class TaskCreated:
    """
    A task was added at the end of the plan. Its edges follow as events of their own.
    """

    task: Task


@attrs.frozen(weakref_slot=False)
class StatusChanged:
    """
    A task went from one status to another, also back.
    """

    task_id: str
    # For rules and for readers of the history: `apply` goes by `new` alone.
    old: Status
    new: Status
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class TaskEdited:
    """
    Fields other than status and edges were set. `changes` maps a field's name to its new value.
    """

    task_id: str
    changes: FrozenDict
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class EdgeAdded:
    """
    `blocked` now waits for `blocker`.
    """

    blocker: str
    blocked: str
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class EdgeRemoved:
    """
    `blocked` no longer waits for `blocker`.
    """

    blocker: str
    blocked: str
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class TaskDeleted:
    """
    A task was removed, its edges with it. Its id is not used again.
    """

    task_id: str
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class TasksReordered:
    """
    The plan's order became `task_ids`: the ids of all tasks.
    """

    task_ids: tuple[str, ...]
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class PlanCleared:
    """
    Every task was removed; ids go on where they were.
    """

    task_ids: tuple[str, ...]
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class PlanRestored:
    """
    The tasks became those of an earlier plan; revision goes on (undo, restore).

    Ids go on from `next_id` or from where they were, whichever is higher.
    """

    # The tasks themselves: whoever replays has no earlier plan at hand.
    tasks: tuple[Task, ...]
    next_id: int = 1
    at: datetime | None = None


Event = (
    TaskCreated
    | StatusChanged
    | TaskEdited
    | EdgeAdded
    | EdgeRemoved
    | TaskDeleted
    | TasksReordered
    | PlanCleared
    | PlanRestored
)
