"""
The entries of a plan: `Todo`, a line that a model writes, and `Task`, an entry that the plan keeps.

A task's fields are declared here and nowhere else. Code that handles tasks field by field (events,
codecs, views, schemas, test strategies) iterates over `TASK_FIELDS`, so that no new field can be
forgotten. A separate list of fields once missed one: it was lost on saving, and no test noticed.
"""

from __future__ import annotations

from datetime import datetime
from operator import attrgetter
from typing import Any, cast

import attrs

from todoplan.core.plan.fast_constructor import mutable_variant
from todoplan.core.plan.frozen import EMPTY, FrozenDict
from todoplan.core.plan.validation import (
    as_id,
    as_ids,
    as_metadata,
    as_number_or_none,
    as_text,
    as_text_or_none,
    as_time_or_none,
    as_whole_number,
    instance_of,
    short_repr,
)
from todoplan.core.plan.values import (
    CLOSED,
    OPEN,
    RESOLVED,
    Approval,
    Claim,
    Evidence,
    FieldKind,
    Priority,
    PriorityWord,
    Status,
    StatusWord,
    TaskField,
    Waiting,
    as_priority,
    as_status,
)

__all__ = [
    "CLOSED",
    "EDITABLE",
    "OPEN",
    "RESOLVED",
    "TASK_FIELDS",
    "Approval",
    "Claim",
    "Evidence",
    "FieldKind",
    "Priority",
    "PriorityWord",
    "Status",
    "StatusWord",
    "Task",
    "TaskField",
    "Todo",
    "Waiting",
    "as_priority",
    "as_status",
    "as_waiting",
]


def _status_or_none(word: StatusWord | None) -> Status | None:
    return None if word is None else as_status(word)


def as_waiting(value: Waiting | None) -> Waiting | None:
    """
    Return a `Waiting`, or `None`.

    Raises:
        PlanError: the value is anything else.
    """
    legal = 'None, or what it waits for, such as Waiting("the answer of ann")'
    return None if value is None else instance_of(value, Waiting, legal)


def _claim(value: Claim | None) -> Claim | None:
    legal = 'None, or a claim, such as Claim("worker-1", fence=1)'
    return None if value is None else instance_of(value, Claim, legal)


def _count(value: int) -> int:
    return as_whole_number(value, 0)


def _level(value: int | None) -> int | None:
    return None if value is None else as_whole_number(value, 0)


def _evidence(value: Evidence | None) -> Evidence | None:
    legal = 'None, or what was found, such as Evidence(True, "40 passed")'
    return None if value is None else instance_of(value, Evidence, legal)


@attrs.frozen(weakref_slot=False)
class Todo:
    """
    One line of a whole-list write: a value without identity.

    `None` means "not given": an existing task keeps its value, and a new task is pending. `waiting`
    is set on a task that does not wait yet. `level` is the depth of the line's indentation, from 0:
    the line is a subtask of the nearest line above that is indented less. If no line of a list has
    a level, tasks keep their parents.
    """

    content: str = attrs.field(converter=as_text)
    status: Status | None = attrs.field(default=None, converter=_status_or_none)
    active_form: str | None = attrs.field(default=None, converter=as_text_or_none)
    priority: Priority | None = attrs.field(default=None, converter=as_priority)
    id: str | None = attrs.field(default=None, converter=as_text_or_none)
    waiting: Waiting | None = attrs.field(default=None, converter=as_waiting)
    level: int | None = attrs.field(default=None, converter=_level)


def _is(kind: FieldKind, *, editable: bool = False) -> dict[str, Any]:
    return {"kind": kind, "editable": editable}


# A slot for weak references would prevent the class swap of `fast_constructor`.
@attrs.frozen(weakref_slot=False, repr=False)
class Task:
    """
    One entry of the plan: identity, text, status, owner, position in the tree, edges, metadata,
    times.

    `id` is a numeric string without leading zeros. `estimate` is in minutes. Times are aware.
    `blocks` and `blocked_by` hold ids and mirror each other across the plan. `parent` is the id of
    the task that contains this one.

    Only a pending task has `waiting`; `answer` is the latest answer to its question. `check`
    describes how to verify that the task is done; `evidence` is the result of that check since the
    task was last started. Only a task in progress has a `claim`. `claims` counts the claims over
    the task's whole life, `failed_attempts` the claims that were released or lost since the task
    was last closed.

    The repr shows the fields that differ from their default, long ones shortened.
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
        # `freeze` does not change values that are not JSON, such as a set, and these may be
        # unhashable.
        hash=False,
    )
    parent: str | None = attrs.field(
        metadata=_is(FieldKind.PARENT), default=None, converter=as_text_or_none
    )
    waiting: Waiting | None = attrs.field(
        metadata=_is(FieldKind.WAITING, editable=True), default=None, converter=as_waiting
    )
    check: str | None = attrs.field(
        metadata=_is(FieldKind.TEXT_OR_NONE, editable=True),
        default=None,
        converter=as_text_or_none,
    )
    answer: str | None = attrs.field(
        metadata=_is(FieldKind.TEXT_OR_NONE, editable=True),
        default=None,
        converter=as_text_or_none,
    )
    evidence: Evidence | None = attrs.field(
        metadata=_is(FieldKind.EVIDENCE, editable=True), default=None, converter=_evidence
    )
    claim: Claim | None = attrs.field(metadata=_is(FieldKind.CLAIM), default=None, converter=_claim)
    claims: int = attrs.field(metadata=_is(FieldKind.COUNT), default=0, converter=_count)
    failed_attempts: int = attrs.field(metadata=_is(FieldKind.COUNT), default=0, converter=_count)
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
        """Return a copy with the named fields changed. It is much faster than `attrs.evolve`."""
        copy = _MutableTask(*_values(self))
        for name, value in changes.items():
            setattr(copy, name, value)
        copy.__class__ = Task
        return cast("Task", copy)

    def moved(self, status: Status, at: datetime | None) -> Task:
        """
        Return a copy with another status, and with the times and fields that the change implies.
        """
        copy: Any = _MutableTask(*_values(self))
        copy.status = status
        # A reopened task has no completion time, but keeps the time of its first start.
        copy.completed_at = at if status is _COMPLETED else None
        if status is not _PENDING:
            copy.waiting = None
        # Law 20: only evidence since the last start counts, and reopening a task discards it.
        if status is _IN_PROGRESS:
            copy.evidence = None
            if copy.started_at is None:
                copy.started_at = at
        else:
            copy.claim = None
            if status.closed:
                copy.failed_attempts = 0
            if copy.evidence is not None and self.status.closed:
                copy.evidence = None
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


_PENDING, _IN_PROGRESS, _COMPLETED = Status.PENDING, Status.IN_PROGRESS, Status.COMPLETED
_MutableTask = mutable_variant(Task)  # every status change makes a copy, so this must be fast
# Reads all fields in one call in C.
_values = attrgetter(*(field.name for field in attrs.fields(Task)))

TASK_FIELDS: dict[str, TaskField] = {
    field.name: TaskField(
        field.name, field.metadata["kind"], field.default, field.metadata["editable"]
    )
    for field in attrs.fields(Task)
}
"""Every field of a task by name, in the order of `Task`."""

EDITABLE = frozenset(field.name for field in TASK_FIELDS.values() if field.editable)
"""The fields that a `TaskEdited` event may set."""
