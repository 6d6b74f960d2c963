"""
Tasks as plain data, both ways: the hot path, hence straight-line code.

Law: `_quick` is only a shortcut. Whatever it does not take at once, `fields` decides.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, cast

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
from todoplan.core.frozen import EMPTY
from todoplan.core.model import Task
from todoplan.core.twin import mutable_twin

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

_NAMES = frozenset(TASK_FIELDS)
_WORDS = {status: word for word, status in STATUSES.items()}
_GRADES = {priority: word for word, priority in PRIORITIES.items()}
_time_or_none = optional(time)
_Twin = mutable_twin(Task)
_TEXT = {str}
_TEXT_OR_NULL = {str, type(None)}
_NONE: list[str] = []
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
    _write_times(task, data)
    return data


def _write_times(task: Task, data: dict[str, Any]) -> None:
    created_at, updated_at, completed_at = task.created_at, task.updated_at, task.completed_at
    if created_at is not None:
        data["created_at"] = write_time(created_at)
    if updated_at is not None:
        same = updated_at is created_at  # so it is until a task is touched; it saves a third
        data["updated_at"] = data["created_at"] if same else write_time(updated_at)
    if task.started_at is not None:
        data["started_at"] = write_time(task.started_at)
    if completed_at is not None:
        same = completed_at is updated_at
        data["completed_at"] = data["updated_at"] if same else write_time(completed_at)


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
    if isinstance(data, dict):
        try:
            return _quick(data)
        except _TROUBLE:
            pass
    return Task(**fields(data, TASK_FIELDS, REQUIRED))


def _quick(data: dict[str, Any]) -> Task:
    if not data.keys() <= _NAMES:
        raise KeyError
    get = data.get
    task_id, subject, description = data["id"], data["subject"], get("description", "")
    active_form, owner = get("active_form"), get("owner")
    blocks, blocked_by = get("blocks", _NONE), get("blocked_by", _NONE)
    texts = {*map(type, (task_id, subject, description, *blocks, *blocked_by))}
    if texts != _TEXT or not {type(active_form), type(owner)} <= _TEXT_OR_NULL:
        raise TypeError
    if not type(blocks) is type(blocked_by) is list:
        raise TypeError
    priority, estimate, kept = get("priority"), get("estimate"), get("metadata", EMPTY)
    created_at, updated_at = get("created_at"), get("updated_at")
    started_at, completed_at = get("started_at"), get("completed_at")
    created = _time_or_none(created_at)
    updated = created if updated_at == created_at else _time_or_none(updated_at)
    copy = _Twin(
        task_id,
        subject,
        description,
        STATUSES[data["status"]],
        active_form,
        None if priority is None else PRIORITIES[priority],
        owner,
        tuple(blocks),
        tuple(blocked_by),
        None if estimate is None else number(estimate),
        EMPTY if kept is EMPTY else metadata(kept),
        created,
        updated,
        _time_or_none(started_at),
        updated if completed_at == updated_at else _time_or_none(completed_at),
    )
    copy.__class__ = Task
    return cast("Task", copy)


def read_tasks(items: Any) -> tuple[Task, ...]:
    """
    Read an array of tasks.

    Raises:
        MisfitError: with every fault in it.
    """
    if not isinstance(items, list):
        raise misfit(items, "no array")
    return each(items, read_task)
