"""
The entries of a plan: `Todo`, what a model writes, and `Task`, what the plan keeps.

A task's fields are declared here and nowhere else. Whoever handles tasks field by field (events,
codecs, views, schemas, test strategies) goes by `TASK_FIELDS`, so that a new field cannot be left
out in silence: one that a hand-kept list had forgotten was once dropped on saving, and no test saw.
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum, StrEnum
from operator import attrgetter
from typing import Any, Literal, cast

import attrs

from todoplan.core.plan.fast_constructor import mutable_variant
from todoplan.core.plan.frozen import EMPTY, FrozenDict
from todoplan.core.plan.validation import (
    as_id,
    as_ids,
    as_member,
    as_metadata,
    as_number_or_none,
    as_text,
    as_text_or_none,
    as_time_or_none,
    short_repr,
)

__all__ = [
    "EDITABLE",
    "OPEN",
    "RESOLVED",
    "TASK_FIELDS",
    "FieldKind",
    "Priority",
    "PriorityWord",
    "Status",
    "StatusWord",
    "Task",
    "TaskField",
    "Todo",
    "as_priority",
    "as_status",
]


class Status(StrEnum):
    """
    Where a task stands. "Blocked" is derived from edges and never stored.
    """

    # pydantic-ai-todo stores "blocked": once the blockers were done, nothing ever took it back.
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


# Spelled out, since a new status must be put on one side or the other; a test holds that it is.
RESOLVED = frozenset({Status.COMPLETED, Status.CANCELLED})
OPEN = frozenset({Status.PENDING, Status.IN_PROGRESS})


class Priority(StrEnum):
    """
    How much a task matters, as OpenCode and Claude Code name the grades.
    """

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


# What converters take: with the words spelled out, a misspelled one is a type error.
StatusWord = Status | Literal["pending", "in_progress", "completed", "cancelled"]
PriorityWord = Priority | Literal["high", "medium", "low"]


def as_status(word: StatusWord) -> Status:
    """
    Return the status that a word names; an unknown word is a PlanError.
    """
    return word if type(word) is Status else as_member(word, Status)


def as_priority(word: PriorityWord | None) -> Priority | None:
    """
    Return the priority that a word names; an unknown word is a PlanError.
    """
    return word if word is None or type(word) is Priority else as_member(word, Priority)


def _status_or_none(word: StatusWord | None) -> Status | None:
    return None if word is None else as_status(word)


@attrs.frozen(weakref_slot=False)
class Todo:
    """
    One line of a whole-list write: a value without identity.

    `None` means "not given": what the task already has stays; a new one is pending.
    """

    content: str = attrs.field(converter=as_text)
    status: Status | None = attrs.field(default=None, converter=_status_or_none)
    active_form: str | None = attrs.field(default=None, converter=as_text_or_none)
    priority: Priority | None = attrs.field(default=None, converter=as_priority)
    id: str | None = attrs.field(default=None, converter=as_text_or_none)


class FieldKind(Enum):
    """
    What a field of a task holds. Where `None` may stand, it means "not given" and is the default.
    """

    ID = "the task's own id"
    TEXT = "a text"
    TEXT_OR_NONE = "a text, or None"
    STATUS = "a Status"
    PRIORITY = "a Priority, or None"
    IDS = "a tuple of task ids"
    NUMBER = "a finite number, or None"
    METADATA = "JSON values by key"
    TIME = "an aware time, or None"


@attrs.frozen
class TaskField:
    """
    One field of a task. `editable`: a `TaskEdited` event may set it. The other fields have events
    of their own (status, edges), or follow from these (times).
    """

    name: str
    kind: FieldKind
    default: Any
    editable: bool


def _is(kind: FieldKind, *, editable: bool = False) -> dict[str, Any]:
    return {"kind": kind, "editable": editable}


# No slot for weak references: it would forbid the class swap of `fast_constructor`.
@attrs.frozen(weakref_slot=False, repr=False)
class Task:
    """
    One entry of the plan: identity, text, status, owner, edges, metadata, times.

    `id` is a numeric string without leading zeros. `estimate` is in minutes. Times are aware.
    `blocks` and `blocked_by` hold ids and mirror each other across the plan.

    A task's repr shows the fields that differ from their default, long ones cut.
    """

    id: str = attrs.field(metadata=_is(FieldKind.ID), converter=as_id)
    subject: str = attrs.field(metadata=_is(FieldKind.TEXT, editable=True), converter=as_text)
    description: str = attrs.field(
        metadata=_is(FieldKind.TEXT, editable=True), default="", converter=as_text
    )
    status: Status = attrs.field(
        metadata=_is(FieldKind.STATUS), default=Status.PENDING, converter=as_status
    )
    active_form: str | None = attrs.field(
        metadata=_is(FieldKind.TEXT_OR_NONE, editable=True),
        default=None,
        converter=as_text_or_none,
    )
    priority: Priority | None = attrs.field(
        metadata=_is(FieldKind.PRIORITY, editable=True), default=None, converter=as_priority
    )
    owner: str | None = attrs.field(
        metadata=_is(FieldKind.TEXT_OR_NONE, editable=True),
        default=None,
        converter=as_text_or_none,
    )
    blocks: tuple[str, ...] = attrs.field(metadata=_is(FieldKind.IDS), default=(), converter=as_ids)
    blocked_by: tuple[str, ...] = attrs.field(
        metadata=_is(FieldKind.IDS), default=(), converter=as_ids
    )
    estimate: float | None = attrs.field(
        metadata=_is(FieldKind.NUMBER, editable=True), default=None, converter=as_number_or_none
    )
    metadata: FrozenDict = attrs.field(
        metadata=_is(FieldKind.METADATA, editable=True),
        default=EMPTY,
        converter=as_metadata,
        # `freeze` leaves alone what is no JSON, such as a set, and that may have no hash.
        hash=False,
    )
    created_at: datetime | None = attrs.field(
        metadata=_is(FieldKind.TIME), default=None, converter=as_time_or_none
    )
    updated_at: datetime | None = attrs.field(
        metadata=_is(FieldKind.TIME), default=None, converter=as_time_or_none
    )
    started_at: datetime | None = attrs.field(
        metadata=_is(FieldKind.TIME), default=None, converter=as_time_or_none
    )
    completed_at: datetime | None = attrs.field(
        metadata=_is(FieldKind.TIME), default=None, converter=as_time_or_none
    )

    def but(self, **changes: Any) -> Task:
        """
        Return a copy with the named fields changed: `attrs.evolve` at a fraction of its cost.
        """
        copy = _MutableTask(*_values(self))
        for name, value in changes.items():
            setattr(copy, name, value)
        copy.__class__ = Task
        return cast("Task", copy)

    def moved(self, status: Status, at: datetime | None) -> Task:
        """
        Return a copy with another status, and the times that the move implies.
        """
        copy: Any = _MutableTask(*_values(self))
        copy.status = status
        # A task that is reopened is not complete, whenever it once was; its first start stays.
        copy.completed_at = at if status is _COMPLETED else None
        if status is _IN_PROGRESS and copy.started_at is None:
            copy.started_at = at
        if at is not None:
            copy.updated_at = at
        copy.__class__ = Task
        task: Task = copy
        return task

    def __repr__(self) -> str:
        shown = [short_repr(self.id, kind=False), short_repr(self.subject, kind=False)]
        for field in list(TASK_FIELDS.values())[2:]:
            value = getattr(self, field.name)
            if value != field.default:
                shown.append(f"{field.name}={short_repr(value, kind=False)}")
        return f"Task({', '.join(shown)})"


_IN_PROGRESS, _COMPLETED = Status.IN_PROGRESS, Status.COMPLETED
_MutableTask = mutable_variant(Task)  # a change of status makes a copy: it is the hot path
# One call in C for all fifteen fields.
_values = attrgetter(*(field.name for field in attrs.fields(Task)))

TASK_FIELDS: dict[str, TaskField] = {
    field.name: TaskField(
        field.name, field.metadata["kind"], field.default, field.metadata["editable"]
    )
    for field in attrs.fields(Task)
}
"""Every field of a task by its name, in the order of `Task`."""

EDITABLE = frozenset(field.name for field in TASK_FIELDS.values() if field.editable)
"""The fields that a `TaskEdited` event may set."""
