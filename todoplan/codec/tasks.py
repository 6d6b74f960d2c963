"""
Tasks as plain data, in both directions. This is the hot path, so the code is written out.

Each field is read according to its kind (`TASK_FIELDS`). The two writers, here and in `fragments`,
name the fields one by one: a loop over a table was tried, and took twice as long for a plan of
1,000 tasks. Therefore a test sets every field of a task and checks each writer for the field
(`tests/codec/test_every_field.py`). A field that was once left out here was lost on saving, and no
test noticed.

Law: `_quick` is only a shortcut. Whatever it does not accept at once is decided by `read_object`.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import attrgetter
from typing import Any

import attrs

from todoplan.codec.faults import MisfitError, misfit
from todoplan.codec.objects import claim, evidence, waiting, write_fields
from todoplan.codec.readers import (
    FieldReader,
    faults_in,
    one_of,
    optional,
    read_each,
    read_object,
)
from todoplan.codec.values import (
    PRIORITIES,
    STATUSES,
    count,
    ids,
    metadata,
    number,
    text,
    time_or_null,
    write_metadata,
    write_time,
)
from todoplan.core.plan.fast_constructor import mutable_variant
from todoplan.core.plan.frozen import EMPTY, FrozenDict, thaw
from todoplan.core.plan.model import TASK_FIELDS, Claim, Evidence, FieldKind, Task, Waiting

__all__ = [
    "FIELD_READERS",
    "RARE",
    "REQUIRED",
    "TROUBLE",
    "plain_value",
    "rare_values",
    "read_task",
    "read_tasks",
    "write_changes",
    "write_task",
    "write_tasks",
]

REQUIRED = ("id", "subject", "status")
"""The fields that every written task has."""
_LEAST = len(REQUIRED)

_READERS: dict[FieldKind, FieldReader] = {
    FieldKind.ID: text,
    FieldKind.TEXT: text,
    FieldKind.TEXT_OR_NONE: optional(text),
    FieldKind.STATUS: one_of(STATUSES),
    FieldKind.PRIORITY: optional(one_of(PRIORITIES)),
    FieldKind.PARENT: optional(text),
    FieldKind.WAITING: optional(waiting),
    FieldKind.EVIDENCE: optional(evidence),
    FieldKind.CLAIM: optional(claim),
    FieldKind.COUNT: count,
    FieldKind.IDS: ids,
    FieldKind.NUMBER: optional(number),
    FieldKind.METADATA: metadata,
    FieldKind.TIME: time_or_null,
}
FIELD_READERS: dict[str, FieldReader] = {
    name: _READERS[TASK_FIELDS[name].kind] for name in dict.fromkeys((*REQUIRED, *TASK_FIELDS))
}
"""The reader of each task field, in the order in which fields are written."""

_WORDS = {status: word for word, status in STATUSES.items()}
_GRADES = {priority: word for word, priority in PRIORITIES.items()}
RARE = (
    "parent",
    "waiting",
    "check",
    "answer",
    "evidence",
    "claim",
    "claims",
    "failed_attempts",
)
rare_values = attrgetter(*RARE)
_MutableTask = mutable_variant(Task)
# Errors of the fast path for a wrong value; the slow path then describes the fault.
TROUBLE = (MisfitError, AttributeError, KeyError, TypeError)


def write_task(task: Task) -> dict[str, Any]:
    """
    Return a task as plain data: id, subject and status, and the fields that differ from their
    default.

    Raises:
        MisfitError: a value cannot be represented in JSON, or a time has no time zone.
    """
    try:
        return _written(task)
    except TROUBLE:
        values = {name: getattr(task, name) for name in FIELD_READERS}
        raise MisfitError(faults_in(_as_read(values), FIELD_READERS)) from None


def _written(
    task: Task,
) -> dict[str, Any]:
    blocks, blocked_by = task.blocks, task.blocked_by
    data: dict[str, Any] = {
        "id": task.id,
        "subject": task.subject,
        "status": _WORDS[task.status],
    }
    if task.description != "":
        data["description"] = task.description
    if task.active_form is not None:
        data["active_form"] = task.active_form
    if task.priority is not None:
        data["priority"] = _GRADES[task.priority]
    if task.owner is not None:
        data["owner"] = task.owner
    "".join((*data.values(), *blocks, *blocked_by))  # a TypeError if one is not a str
    if blocks:
        data["blocks"] = list(blocks)
    if blocked_by:
        data["blocked_by"] = list(blocked_by)
    if task.estimate is not None:
        data["estimate"] = number(task.estimate)
    if task.metadata is not EMPTY and task.metadata:
        data["metadata"] = write_metadata(task.metadata)
    if (
        task.parent is not None
        or task.waiting is not None
        or task.check is not None
        or task.answer is not None
        or task.evidence is not None
        or task.claim is not None
        or task.claims
        or task.failed_attempts
    ):
        for name, value in zip(RARE, rare_values(task), strict=True):
            if value is not None and value != 0:
                data[name] = plain_value(value)
    if task.created_at is not None:
        data["created_at"] = write_time(task.created_at)
    if task.updated_at is not None:
        data["updated_at"] = write_time(task.updated_at)
    if task.started_at is not None:
        data["started_at"] = write_time(task.started_at)
    if task.completed_at is not None:
        data["completed_at"] = write_time(task.completed_at)
    return data


def plain_value(value: Any) -> Any:
    """Return a text, a count, or an object value as plain data."""
    if isinstance(value, str):
        return text(value)
    return count(value) if isinstance(value, int) else write_fields(value)


def _as_read(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as a document would contain them, so that a reader can find their faults."""
    data = dict(values)
    for name, value in data.items():
        if isinstance(value, datetime):
            data[name] = value.isoformat()
        elif isinstance(value, tuple):
            data[name] = list(value)
        elif isinstance(value, Waiting | Evidence | Claim):
            data[name] = _as_read(attrs.asdict(value))
    return data


def write_changes(changes: Mapping[str, Any], readers: Mapping[str, FieldReader]) -> dict[str, Any]:
    """
    Return changed fields as plain data, including fields set to their default.

    `readers` has the fields that are allowed.

    Raises:
        MisfitError: there is no such field, or JSON cannot represent its value.
    """
    data = _as_read(changes)
    for name, value in read_object(data, readers).items():
        if isinstance(value, FrozenDict):
            data[name] = thaw(value)
        elif isinstance(value, Waiting | Evidence):
            data[name] = write_fields(value)
        elif isinstance(data[name], str):
            data[name] = str(data[name])  # the value of an enum member
        elif TASK_FIELDS[name].kind is FieldKind.NUMBER:
            data[name] = value
    return data


def write_tasks(tasks: Iterable[Task], first: int = 0) -> list[dict[str, Any]]:
    """
    Return tasks as plain data. In error paths, tasks are numbered from `first`.

    Raises:
        MisfitError: some tasks cannot be written; the paths say which.
    """
    return list(read_each(tasks, write_task, first))


def read_task(data: Any) -> Task:
    """
    Read a task.

    Raises:
        MisfitError: the data are not a task; the error lists every fault.
    """
    try:
        return _quick([data])[0]
    except TROUBLE:
        return Task(**read_object(data, FIELD_READERS, REQUIRED))


def _quick(items: list[Any]) -> list[Task]:
    tasks = []
    # In one loop: a function call for each task took a tenth of the time.
    for data in items:
        task_id, subject, status = data["id"], data["subject"], STATUSES[data["status"]]
        if not (type(task_id) is type(subject) is str and type(data) is dict):
            raise TypeError
        made = _MutableTask(task_id, subject, "", status)  # keywords cost half as much again
        if len(data) > _LEAST:
            for name, value in data.items():
                if name not in REQUIRED:
                    setattr(made, name, FIELD_READERS[name](value))
        made.__class__ = Task
        tasks.append(made)
    return tasks


def read_tasks(items: Any) -> tuple[Task, ...]:
    """
    Read an array of tasks.

    Raises:
        MisfitError: the data are not an array of tasks; the error lists every fault.
    """
    if not isinstance(items, list):
        raise misfit(items, "no array")
    try:
        return tuple(_quick(items))
    except TROUBLE:
        return read_each(items, read_task)
