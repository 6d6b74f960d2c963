"""
Tasks as plain data, both ways: the hot path, hence straight-line code.

Law: `_quick` is only a shortcut. Whatever it does not take at once, `fields` decides.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from todoplan.codec.faults import MisfitError, misfit
from todoplan.codec.shapes import Reader, each, faults_in, fields, one_of, optional
from todoplan.codec.values import (
    PRIORITIES,
    STATUSES,
    ids,
    metadata,
    number,
    text,
    time,
    write_metadata,
    write_time,
)
from todoplan.core.plan.fast_constructor import mutable_variant
from todoplan.core.plan.frozen import EMPTY
from todoplan.core.plan.model import Task

__all__ = ["REQUIRED", "TASK_FIELDS", "read_task", "read_tasks", "write_task", "write_tasks"]

TASK_FIELDS: dict[str, Reader] = {
    "id": text,
    "subject": text,
    "status": one_of(STATUSES),
    "description": text,
    "active_form": optional(text),
    "priority": optional(one_of(PRIORITIES)),
    "owner": optional(text),
    "blocks": ids,
    "blocked_by": ids,
    "estimate": optional(number),
    "metadata": metadata,
    "created_at": optional(time),
    "updated_at": optional(time),
    "started_at": optional(time),
    "completed_at": optional(time),
}

REQUIRED = ("id", "subject", "status")
"""The fields that every written task has."""

_WORDS = {status: word for word, status in STATUSES.items()}
_GRADES = {priority: word for word, priority in PRIORITIES.items()}
_TIMES = ("created_at", "updated_at", "started_at", "completed_at")
_Twin = mutable_variant(Task)
_TROUBLE = (MisfitError, AttributeError, KeyError, TypeError)


def write_task(task: Task) -> dict[str, Any]:
    """
    Return a task as plain data: id, subject and status, and what differs from its default.

    Raises:
        MisfitError: it holds what JSON cannot, or a time without a zone.
    """
    try:
        return _written(task)
    except _TROUBLE:
        raise MisfitError(faults_in(_bare(task), TASK_FIELDS)) from None


def _written(task: Task) -> dict[str, Any]:
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
    "".join((*data.values(), *blocks, *blocked_by))  # a TypeError if one is no text
    if blocks:
        data["blocks"] = list(blocks)
    if blocked_by:
        data["blocked_by"] = list(blocked_by)
    return _write_rest(task, data)


def _write_rest(task: Task, data: dict[str, Any]) -> dict[str, Any]:
    if task.estimate is not None:
        data["estimate"] = number(task.estimate)
    if task.metadata is not EMPTY and task.metadata:
        data["metadata"] = write_metadata(task.metadata)
    for name in _TIMES:
        at = getattr(task, name)
        if at is not None:
            data[name] = write_time(at)
    return data


def _bare(task: Task) -> dict[str, Any]:
    data = {name: getattr(task, name) for name in TASK_FIELDS}
    for name, value in data.items():
        if isinstance(value, datetime):
            data[name] = value.isoformat()
        elif isinstance(value, tuple):
            data[name] = list(value)
    return data


def write_tasks(tasks: Iterable[Task], first: int = 0) -> list[dict[str, Any]]:
    """
    Return tasks as plain data; in paths they are counted from `first`.

    Raises:
        MisfitError: some cannot be written; the paths say which.
    """
    return list(each(tasks, write_task, first))


def read_task(data: Any) -> Task:
    """
    Read a task.

    Raises:
        MisfitError: with every fault in it.
    """
    try:
        return _quick(data)
    except _TROUBLE:
        return Task(**fields(data, TASK_FIELDS, REQUIRED))


def _quick(data: Any) -> Task:
    task_id, subject, status = data["id"], data["subject"], STATUSES[data["status"]]
    if not (type(task_id) is type(subject) is str and isinstance(data, dict)):
        raise TypeError
    made = _Twin(task_id, subject, "", status)
    if len(data) > len(REQUIRED):
        for name, value in data.items():
            if name not in REQUIRED:
                setattr(made, name, TASK_FIELDS[name](value))
    made.__class__ = Task
    return made  # type: ignore[no-any-return]  # it is one now


def read_tasks(items: Any) -> tuple[Task, ...]:
    """
    Read an array of tasks.

    Raises:
        MisfitError: with every fault in it.
    """
    if not isinstance(items, list):
        raise misfit(items, "no array")
    try:
        return tuple([_quick(item) for item in items])
    except _TROUBLE:
        return each(items, read_task)
