"""
The events: changes that happened to a plan. Replaying them restores the plan, under any policy.

An event contains everything that `apply` needs, including the time: the core has no clock.
"""

from datetime import datetime

import attrs

from todoplan.core.plan.model import Approval, Claim, FrozenDict, Status, Task
from todoplan.lazy import listing

__all__ = [
    "ClaimRenewed",
    "EdgeAdded",
    "EdgeRemoved",
    "Event",
    "ParentChanged",
    "PlanApproved",
    "PlanCleared",
    "PlanRestored",
    "StatusChanged",
    "TaskClaimed",
    "TaskCreated",
    "TaskDeleted",
    "TaskEdited",
    "TasksReordered",
]
__dir__ = listing(__all__)


@attrs.frozen(weakref_slot=False)
class TaskCreated:
    """A task was added after its siblings. Its edges follow as separate events."""

    task: Task


@attrs.frozen(weakref_slot=False)
class StatusChanged:
    """
    A task's status was changed, forwards or backwards.

    `lost_by` is the owner whose claim the change released.
    """

    task_id: str
    # For rules and for readers of the history: `apply` uses only `new`.
    old: Status
    new: Status
    at: datetime | None = None
    lost_by: str | None = None


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
    """`blocker` now blocks `blocked`."""

    blocker: str
    blocked: str
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class EdgeRemoved:
    """`blocker` no longer blocks `blocked`."""

    blocker: str
    blocked: str
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class ParentChanged:
    """
    A task was moved, with its subtasks, below another one, or to the top level (`parent` is
    `None`).

    It is now the last of its siblings.
    """

    task_id: str
    parent: str | None
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class TaskClaimed:
    """
    A task in progress was claimed.

    `lost_by` is the owner of the expired claim, if one was taken over.
    """

    task_id: str
    claim: Claim
    lost_by: str | None = None
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class ClaimRenewed:
    """The owner of a claim extended it."""

    task_id: str
    until: datetime | None
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class TaskDeleted:
    """
    A task was removed with its edges. Its id is not used again; its subtasks moved up one level.
    """

    task_id: str
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class TasksReordered:
    """The plan's order was set to `task_ids`, which are the ids of all tasks."""

    task_ids: tuple[str, ...]
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class PlanCleared:
    """Every task was removed. The next id is unchanged."""

    task_ids: tuple[str, ...]
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class PlanRestored:
    """
    The tasks of an earlier plan were restored (undo, restore). The revision still goes up.

    The next id is `next_id`, or the present one if that is higher. `approved` is the approval of
    the earlier plan.
    """

    # The tasks themselves are stored, because a replay does not have the earlier plan.
    tasks: tuple[Task, ...]
    next_id: int = 1
    at: datetime | None = None
    approved: Approval | None = None


@attrs.frozen(weakref_slot=False)
class PlanApproved:
    """The plan was approved as it is: this event's revision is the approved one."""

    by: str | None = None
    at: datetime | None = None


Event = (
    TaskCreated
    | StatusChanged
    | TaskEdited
    | EdgeAdded
    | EdgeRemoved
    | ParentChanged
    | TaskClaimed
    | ClaimRenewed
    | TaskDeleted
    | TasksReordered
    | PlanCleared
    | PlanRestored
    | PlanApproved
)
