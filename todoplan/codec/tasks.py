"""
Tasks as plain data and as JSON text, both ways: the hot path, hence straight-line code.

A field is read as its kind says (`TASK_FIELDS`). The two writers name the fields: a loop over a
table of them was tried, and took twice as long for a plan of 1,000 tasks. In exchange a test sets
every field of a task and asks each writer for it (`tests/codec/test_every_field.py`); a field once
left out here was lost on saving, and no test saw.

Laws. `_quick` is only a shortcut: whatever it does not take at once, `read_object` decides. A
fragment is, to the byte, `to_text` of what `write_task` returns, made once and then kept with its
plan: of a plan that is written after every call, one task of a thousand is new.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from json.encoder import encode_basestring
from operator import attrgetter
from typing import Any

from todoplan.codec.faults import MisfitError, misfit
from todoplan.codec.readers import (
    FieldReader,
    faults_in,
    one_of,
    optional,
    read_each,
    read_object,
)
from todoplan.codec.text import in_one_line, to_raw, to_text
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
from todoplan.core.plan.chunk_text import ChunkWriter
from todoplan.core.plan.fast_constructor import mutable_variant
from todoplan.core.plan.frozen import EMPTY, FrozenDict, thaw
from todoplan.core.plan.model import TASK_FIELDS, FieldKind, Task

__all__ = [
    "FIELD_READERS",
    "FRAGMENTS",
    "REQUIRED",
    "fragment",
    "read_task",
    "read_tasks",
    "write_changes",
    "write_task",
    "write_tasks",
]

REQUIRED = ("id", "subject", "status")
"""The fields that every written task has."""

_READERS: dict[FieldKind, FieldReader] = {
    FieldKind.ID: text,
    FieldKind.TEXT: text,
    FieldKind.TEXT_OR_NONE: optional(text),
    FieldKind.STATUS: one_of(STATUSES),
    FieldKind.PRIORITY: optional(one_of(PRIORITIES)),
    FieldKind.IDS: ids,
    FieldKind.NUMBER: optional(number),
    FieldKind.METADATA: metadata,
    FieldKind.TIME: optional(time),
}
FIELD_READERS: dict[str, FieldReader] = {
    name: _READERS[TASK_FIELDS[name].kind] for name in dict.fromkeys((*REQUIRED, *TASK_FIELDS))
}
"""How each field of a task is read, in the order in which fields are written."""

_WORDS = {status: word for word, status in STATUSES.items()}
_GRADES = {priority: word for word, priority in PRIORITIES.items()}
_TIMES = tuple(f.name for f in TASK_FIELDS.values() if f.kind is FieldKind.TIME)
_moments = attrgetter(*_TIMES)
_NO_TIMES = (None,) * len(_TIMES)
# In a prototype, f-strings that quote like this took half the time of json.dumps.
_quoted = encode_basestring
_MutableTask = mutable_variant(Task)
# What straight-line code meets in a value of another kind; the careful way then names it.
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
        values = {name: getattr(task, name) for name in FIELD_READERS}
        raise MisfitError(faults_in(_as_read(values), FIELD_READERS)) from None


def _written(task: Task) -> dict[str, Any]:  # noqa: C901 - a branch for each field
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
    if task.estimate is not None:
        data["estimate"] = number(task.estimate)
    if task.metadata is not EMPTY and task.metadata:
        data["metadata"] = write_metadata(task.metadata)
    for name in _TIMES:
        at = getattr(task, name)
        if at is not None:
            data[name] = write_time(at)
    return data


def _as_read(values: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return values as they would stand in a document, so that a reader finds what is wrong in them.
    """
    data = dict(values)
    for name, value in data.items():
        if isinstance(value, datetime):
            data[name] = value.isoformat()
        elif isinstance(value, tuple):
            data[name] = list(value)
    return data


def write_changes(changes: Mapping[str, Any], readers: Mapping[str, FieldReader]) -> dict[str, Any]:
    """
    Return fields that were set, also to their default, as plain data; `readers` says which may be.

    Raises:
        MisfitError: there is no such field, or JSON cannot hold it.
    """
    data = _as_read(changes)
    for name, value in read_object(data, readers).items():
        if isinstance(value, FrozenDict):
            data[name] = thaw(value)
        elif isinstance(data[name], str):
            data[name] = str(data[name])  # the word of a member
        elif TASK_FIELDS[name].kind is FieldKind.NUMBER:
            data[name] = value
    return data


def write_tasks(tasks: Iterable[Task], first: int = 0) -> list[dict[str, Any]]:
    """
    Return tasks as plain data; in paths they are counted from `first`.

    Raises:
        MisfitError: some cannot be written; the paths say which.
    """
    return list(read_each(tasks, write_task, first))


def fragment(task: Task) -> str:  # noqa: C901, PLR0912 - a branch for each field
    """
    Return the JSON text of a plan's task; its id is a number, hence nothing to be quoted.

    Raises:
        MisfitError: the task holds what JSON cannot.
    """
    try:
        # `_value_`, since `value` goes through a descriptor that is written in Python.
        raw = (
            f'{{"id":"{task.id}","subject":{_quoted(task.subject)},"status":"{task.status._value_}"'
        )
        if task.description != "":
            raw += f',"description":{_quoted(task.description)}'
        if not (task.active_form is task.priority is task.owner is None):
            if task.active_form is not None:
                raw += f',"active_form":{_quoted(task.active_form)}'
            if task.priority is not None:
                raw += f',"priority":"{task.priority._value_}"'
            if task.owner is not None:
                raw += f',"owner":{_quoted(task.owner)}'
        if task.blocks:
            raw += f',"blocks":[{",".join(map(_quoted, task.blocks))}]'
        if task.blocked_by:
            raw += f',"blocked_by":[{",".join(map(_quoted, task.blocked_by))}]'
        if task.estimate is not None:
            raw += f',"estimate":{to_raw(number(task.estimate))}'
        if task.metadata is not EMPTY and task.metadata:
            raw += f',"metadata":{to_raw(write_metadata(task.metadata))}'
        moments = _moments(task)
        if moments != _NO_TIMES:
            for name, at in zip(_TIMES, moments, strict=True):
                if at is not None:
                    raw += f',"{name}":"{write_time(at)}"'
        raw += "}"
        return raw if raw.isascii() else in_one_line(raw)
    except _TROUBLE:
        return to_text(write_task(task))


def _fragments(tasks: Sequence[Task]) -> list[str]:
    return [fragment(task) for task in tasks]


FRAGMENTS = ChunkWriter(fragment, _fragments, ",")
"""How the tasks of a plan are written, each once."""


def read_task(data: Any) -> Task:
    """
    Read a task.

    Raises:
        MisfitError: with every fault in it.
    """
    try:
        return _quick(data)
    except _TROUBLE:
        return Task(**read_object(data, FIELD_READERS, REQUIRED))


def _quick(data: Any) -> Task:
    task_id, subject, status = data["id"], data["subject"], STATUSES[data["status"]]
    if not (type(task_id) is type(subject) is str and isinstance(data, dict)):
        raise TypeError
    made = _MutableTask(task_id, subject, "", status)  # names would cost half as much again
    if len(data) > len(REQUIRED):
        for name, value in data.items():
            if name not in REQUIRED:
                setattr(made, name, FIELD_READERS[name](value))
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
        return read_each(items, read_task)
