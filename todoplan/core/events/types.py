"""
What happened to a plan, in the past tense. Replaying events gives the plan back, under any policy.

An event carries everything that `apply` needs, the time included: the core has no clock.
"""

from datetime import datetime

import attrs

from todoplan.core.plan.frozen import FrozenDict
from todoplan.core.plan.model import Approval, Claim, Status, Task
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
    """
    A task was added at the end of the plan. Its edges follow as events of their own.
    """

    task: Task


@attrs.frozen(weakref_slot=False)
class StatusChanged:
    """
    A task went from one status to another, also back. `lost_by` is whose claim was released by it.
    """

    task_id: str
    # For rules and for readers of the history: `apply` goes by `new` alone.
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
class ParentChanged:
    """
    A task, with all that it contains, went below another one, or to the top: `parent` is `None`.

    It stands behind its siblings now.
    """

    task_id: str
    parent: str | None
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class TaskClaimed:
    """
    Somebody got the right to work on a task, which is in progress. `lost_by` is whose claim had
    run out, if it was taken over.
    """

    task_id: str
    claim: Claim
    lost_by: str | None = None
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class ClaimRenewed:
    """
    The holder of a claim put off its end.
    """

    task_id: str
    until: datetime | None
    at: datetime | None = None


@attrs.frozen(weakref_slot=False)
class TaskDeleted:
    """
    A task was removed, its edges with it. Its id is not used again. What it contained went up.
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

    Ids go on from `next_id` or from where they were, whichever is higher. `approved` is what that
    plan had been approved as.
    """

    # The tasks themselves: whoever replays has no earlier plan at hand.
    tasks: tuple[Task, ...]
    next_id: int = 1
    at: datetime | None = None
    approved: Approval | None = None


@attrs.frozen(weakref_slot=False)
class PlanApproved:
    """
    Somebody agreed to the plan as it stands: this revision is the approved one.
    """

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
