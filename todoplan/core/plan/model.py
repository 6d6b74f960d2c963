"""The entries of a plan: `Todo`, what a model writes, and `Task`, what the plan keeps."""

from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any, cast

import attrs

from todoplan.core.plan.fast_constructor import mutable_variant
from todoplan.core.plan.frozen import EMPTY, FrozenDict
from todoplan.core.plan.validation import as_id, as_ids, as_metadata, as_text, as_text_or_none

__all__ = [
    "OPEN",
    "RESOLVED",
    "Priority",
    "Status",
    "Task",
    "Todo",
    "as_priority",
    "as_status",
]


class Status(StrEnum):
    """
    Where a task stands. "Blocked" is derived from edges and never stored.
    """

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"

    __hash__ = str.__hash__  # Enum's own is written in Python and ten times slower

    @property
    def resolved(self) -> bool:
        """
        True for completed and cancelled: nothing is left to do.
        """
        return self in RESOLVED


RESOLVED = frozenset({Status.COMPLETED, Status.CANCELLED})
OPEN = frozenset({Status.PENDING, Status.IN_PROGRESS})


class Priority(StrEnum):
    """
    How much a task matters, as OpenCode and Claude Code name the grades.
    """

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


def as_status(word: str) -> Status:
    """
    Return the status that a word names; an unknown word is a ValueError.
    """
    return word if type(word) is Status else Status(word)


def as_priority(word: str | None) -> Priority | None:
    """
    Return the priority that a word names; an unknown word is a ValueError.
    """
    return word if word is None or type(word) is Priority else Priority(word)


@attrs.frozen(weakref_slot=False)
class Todo:
    """
    One line of a whole-list write: a value without identity.

    `None` means "not given": what the task already has stays; a new one is pending.
    """

    content: str = attrs.field(converter=as_text)
    status: Status | None = attrs.field(
        default=None, converter=attrs.converters.optional(as_status)
    )
    active_form: str | None = attrs.field(default=None, converter=as_text_or_none)
    priority: Priority | None = attrs.field(default=None, converter=as_priority)
    id: str | None = attrs.field(default=None, converter=as_text_or_none)


@attrs.frozen(weakref_slot=False)
class Task:
    """
    One entry of the plan: identity, text, status, owner, edges, metadata, times.

    `id` is a numeric string without leading zeros. `estimate` is in minutes. Times are aware.
    `blocks` and `blocked_by` hold ids and mirror each other across the plan.
    """

    id: str = attrs.field(converter=as_id)
    subject: str = attrs.field(converter=as_text)
    description: str = ""
    status: Status = attrs.field(default=Status.PENDING, converter=as_status)
    active_form: str | None = None
    priority: Priority | None = attrs.field(default=None, converter=as_priority)
    owner: str | None = None
    blocks: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    blocked_by: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    estimate: float | None = None
    metadata: FrozenDict = attrs.field(default=EMPTY, converter=as_metadata, hash=False)
    created_at: datetime | None = None
    updated_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None

    def but(self, **changes: Any) -> "Task":
        """
        Return a copy with the named fields changed: `attrs.evolve` at a fraction of its cost.
        """
        copy = _Twin(*_values(self))
        for name, value in changes.items():
            setattr(copy, name, value)
        copy.__class__ = Task
        return cast("Task", copy)

    def moved(self, status: Status, at: datetime | None) -> "Task":
        """
        Return a copy with another status, and the times that the move implies.
        """
        copy: Any = _Twin(*_values(self))
        copy.status = status
        copy.completed_at = at if status is _COMPLETED else None
        if status is _IN_PROGRESS and copy.started_at is None:
            copy.started_at = at
        if at is not None:
            copy.updated_at = at
        copy.__class__ = Task
        task: Task = copy
        return task


_IN_PROGRESS, _COMPLETED = Status.IN_PROGRESS, Status.COMPLETED
_Twin = mutable_variant(Task)
_values = attrgetter(*(field.name for field in attrs.fields(Task)))
