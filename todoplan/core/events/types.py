"""
The events: changes that happened to a plan. Replaying them restores the plan, under any policy.

An event contains everything that is needed to apply it, including the time: the core has no clock.
Each class declares the fields of the event, the tasks that it names (`task_ids`), and its effect
(`apply_to`). An effect checks no rules: an event that does not fit the plan does nothing (see
`todoplan.core.events.apply`).
"""

from datetime import datetime
from typing import Annotated, Any, get_args

import attrs

from todoplan.core.plan.model import EDITABLE, Approval, Claim, FrozenDict, Status, Task, Value
from todoplan.core.plan.plan import Draft
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

TaskId = Annotated[str, "the id of a task"]
"""The type of an event's field that refers to a task. A merge gives these fields their new ids."""


# Most events name one task. Not an attrs class: `fast_constructor` needs bases without slots.
class _OfOneTask(Value):
    __slots__ = ()

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The ids of the tasks that the event names."""
        event: Any = self
        return (event.task_id,)


class _OfEdge(Value):
    __slots__ = ()

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The ids of the tasks that the event names."""
        event: Any = self
        return event.blocker, event.blocked


def _count_failed_attempt(draft: Draft, task_id: str) -> None:
    task = draft.get(task_id)
    if task is not None and not task.status.closed:
        draft.put(task.but(failed_attempts=task.failed_attempts + 1))


@attrs.frozen(weakref_slot=False, repr=False)
class TaskCreated(Value):
    """A task was added after its siblings. Its edges follow as separate events."""

    task: Task

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The ids of the tasks that the event names."""
        return (self.task.id,)

    def apply_to(self, draft: Draft) -> None:
        """Apply the event to the draft."""
        draft.add(self.task)


@attrs.frozen(weakref_slot=False, repr=False)
class StatusChanged(_OfOneTask):
    """
    A task's status was changed, forwards or backwards.

    If the claim of the task was released, `lost_by` is the owner of that claim.
    """

    task_id: TaskId
    old: Status
    new: Status
    at: datetime | None = None
    lost_by: str | None = None

    def apply_to(self, draft: Draft) -> None:
        """Apply the event to the draft."""
        # Applied whatever the present status is: `old` is only for rules and for people who read
        # the event.
        draft.move(self.task_id, self.new, self.at)
        if self.lost_by is not None:
            _count_failed_attempt(draft, self.task_id)


@attrs.frozen(weakref_slot=False, repr=False)
class TaskEdited(_OfOneTask):
    """
    Fields other than status and edges were set. `changes` maps a field's name to its new value.
    """

    task_id: TaskId
    changes: FrozenDict
    at: datetime | None = None

    def apply_to(self, draft: Draft) -> None:
        """Apply the event to the draft."""
        task = draft.get(self.task_id)
        if task is None:
            return
        # Other fields are ignored, since setting them would break the draft's invariants: a status
        # affects counts, and an edge has two ends.
        changes = {name: new for name, new in self.changes.items() if name in EDITABLE}
        # Only a pending task waits. If the task was started or closed in the meantime, it does not
        # wait.
        if task.status is not Status.PENDING:
            changes.pop("waiting", None)
        # Law 20: evidence counts only for the check for which it was recorded.
        if changes.get("check", task.check) != task.check:
            changes.setdefault("evidence", None)
        draft.put(task.but(updated_at=self.at or task.updated_at, **changes))


@attrs.frozen(weakref_slot=False, repr=False)
class EdgeAdded(_OfEdge):
    """`blocker` now blocks `blocked`."""

    blocker: TaskId
    blocked: TaskId
    at: datetime | None = None

    def apply_to(self, draft: Draft) -> None:
        """Apply the event to the draft."""
        draft.link(self.blocker, self.blocked, self.at)


@attrs.frozen(weakref_slot=False, repr=False)
class EdgeRemoved(_OfEdge):
    """`blocker` no longer blocks `blocked`."""

    blocker: TaskId
    blocked: TaskId
    at: datetime | None = None

    def apply_to(self, draft: Draft) -> None:
        """Apply the event to the draft."""
        draft.unlink(self.blocker, self.blocked, self.at)


@attrs.frozen(weakref_slot=False, repr=False)
class ParentChanged(_OfOneTask):
    """
    A task was moved, with its subtasks, below another one, or to the top level (`parent` is
    `None`).

    It is now the last of its siblings.
    """

    task_id: TaskId
    parent: TaskId | None
    at: datetime | None = None

    def apply_to(self, draft: Draft) -> None:
        """Apply the event to the draft."""
        draft.nest(self.task_id, self.parent, self.at)


@attrs.frozen(weakref_slot=False, repr=False)
class TaskClaimed(_OfOneTask):
    """
    A task in progress was claimed.

    `lost_by` is the owner of the expired claim, if one was taken over.
    """

    task_id: TaskId
    claim: Claim
    lost_by: str | None = None
    at: datetime | None = None

    def apply_to(self, draft: Draft) -> None:
        """Apply the event to the draft."""
        task = draft.get(self.task_id)
        if task is None:
            return
        # Counted even if the task is no longer in progress: a fencing token is never given out
        # twice.
        claims = max(task.claims, self.claim.fence)
        held = self.claim if task.status is Status.IN_PROGRESS else None
        at = self.at or task.updated_at
        draft.put(task.but(claim=held, claims=claims, updated_at=at))
        if self.lost_by is not None:
            _count_failed_attempt(draft, self.task_id)


@attrs.frozen(weakref_slot=False, repr=False)
class ClaimRenewed(_OfOneTask):
    """The owner of a claim extended it."""

    task_id: TaskId
    until: datetime | None
    at: datetime | None = None

    def apply_to(self, draft: Draft) -> None:
        """Apply the event to the draft."""
        task = draft.get(self.task_id)
        if task is not None and task.claim is not None:
            claim = attrs.evolve(task.claim, until=self.until)
            draft.put(task.but(claim=claim, updated_at=self.at or task.updated_at))


@attrs.frozen(weakref_slot=False, repr=False)
class TaskDeleted(_OfOneTask):
    """
    A task was removed with its edges, and its subtasks moved up one level. New tasks get other ids.
    """

    task_id: TaskId
    at: datetime | None = None

    def apply_to(self, draft: Draft) -> None:
        """Apply the event to the draft."""
        draft.remove(self.task_id, self.at)


@attrs.frozen(weakref_slot=False, repr=False)
class TasksReordered(Value):
    """The plan's order was set to `task_ids`, which are the ids of all tasks."""

    task_ids: tuple[TaskId, ...]
    at: datetime | None = None

    def apply_to(self, draft: Draft) -> None:
        """Apply the event to the draft."""
        draft.reorder(self.task_ids)


@attrs.frozen(weakref_slot=False, repr=False)
class PlanCleared(Value):
    """Every task was removed. The next id is unchanged."""

    task_ids: tuple[TaskId, ...]
    at: datetime | None = None

    def apply_to(self, draft: Draft) -> None:
        """Apply the event to the draft."""
        draft.replace(())


@attrs.frozen(weakref_slot=False, repr=False)
class PlanRestored(Value):
    """
    The tasks of an earlier plan were restored (undo, restore). The revision is not restored: it is
    incremented.

    The next id is `next_id`, or the present one if that is higher. `approved` is the approval of
    the earlier plan.
    """

    # The tasks themselves are stored, because a replay does not have the earlier plan.
    tasks: tuple[Task, ...]
    next_id: int = 1
    at: datetime | None = None
    approved: Approval | None = None

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The ids of the tasks that the event names."""
        return tuple(task.id for task in self.tasks)

    def apply_to(self, draft: Draft) -> None:
        """Apply the event to the draft."""
        # Law 6: the counter never goes back, or the ids of later tasks would be given out again.
        draft.next_id = max(draft.next_id, self.next_id)
        draft.replace(self.tasks)
        draft.approved = self.approved


@attrs.frozen(weakref_slot=False, repr=False)
class PlanApproved(Value):
    """The plan was approved as it is: this event's revision is the approved one."""

    by: str | None = None
    at: datetime | None = None

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The ids of the tasks that the event names: none."""
        return ()

    def apply_to(self, draft: Draft) -> None:
        """Apply the event to the draft."""
        draft.approved = Approval(draft.revision, self.by, self.at)


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
EVENT_TYPES = frozenset(get_args(Event))
"""The classes of all events."""
