"""
Plans in the format of LangChain's `write_todos`, in both directions: a list of `content` and
`status`.

What such a list cannot represent is lost: ids, descriptions, owners, edges, subtasks, checks,
estimates, metadata and times. The list has three statuses. None of them fits a cancelled task, so
cancelled tasks are left out. A failed task is not done, and its dependents cannot begin: it becomes
`pending` with the extra key `failed`. A waiting task gets the extra key `waiting`. Both keys count
only while the status is still `pending`: if somebody has set another status, that status is newer.
"""

from collections.abc import Iterable
from typing import Any

from todoplan.codec.faults import MisfitError, misfit, wrong_shape
from todoplan.codec.objects import write_fields
from todoplan.codec.plans import assembled
from todoplan.codec.readers import one_of, read_each, read_object
from todoplan.codec.tasks import FIELD_READERS
from todoplan.codec.values import STATUSES, text
from todoplan.core.plan.model import Status, Task, Waiting
from todoplan.core.plan.plan import Plan

__all__ = ["from_langchain", "to_langchain"]

_OPTIONAL = {"active_form": "activeForm", "priority": "priority"}
"""Task fields that Claude Code's list has too, with the names there."""

_THEIRS = Status.PENDING, Status.IN_PROGRESS, Status.COMPLETED
_FAILED, _WAITING = "failed", "waiting"


def _failed(value: Any) -> bool:
    if value is True:
        return True
    raise misfit(value, "not true, which is all that it can be; leave it out")


_FIELDS = {
    "content": text,
    "status": one_of({word: status for word, status in STATUSES.items() if status in _THEIRS}),
    _FAILED: _failed,
    _WAITING: FIELD_READERS["waiting"],
    **{theirs: FIELD_READERS[name] for name, theirs in _OPTIONAL.items()},
}
_WORDS = {status: word for word, status in STATUSES.items()}


def to_langchain(tasks: Iterable[Task]) -> list[dict[str, Any]]:
    """
    Return the todos of a plan. `activeForm`, `priority`, `failed` and `waiting` are present only if
    set.

    Raises:
        CodecError: a `waiting` value cannot be represented in JSON.
    """
    return [_todo(task) for task in tasks if task.status is not Status.CANCELLED]


def _todo(task: Task) -> dict[str, Any]:
    status = task.status if task.status in _THEIRS else Status.PENDING
    todo: dict[str, Any] = {"content": task.subject, "status": _WORDS[status]}
    if task.status is Status.FAILED:
        todo[_FAILED] = True
    if task.waiting is not None:
        todo[_WAITING] = _waiting(task.waiting)
    for name, theirs in _OPTIONAL.items():
        value = getattr(task, name)
        if value is not None:
            todo[theirs] = str(value)
    return todo


def _waiting(waiting: Waiting) -> dict[str, Any]:
    try:
        return write_fields(waiting)
    except MisfitError as error:
        raise wrong_shape(error.below(_WAITING), "todo that JSON can hold") from None


def from_langchain(todos: list[dict[str, Any]]) -> Plan:
    """
    Return a new plan with these todos, numbered from 1.

    Raises:
        CodecError: the data are not a list of todos, or a field would be lost.
    """
    try:
        if not isinstance(todos, list):
            raise misfit(todos, "no array")
        read = read_each(todos, lambda todo: read_object(todo, _FIELDS, ("content", "status")))
    except MisfitError as error:
        raise wrong_shape(error.below("todos"), "list of todos") from None
    return assembled(tuple(_task(str(i), todo) for i, todo in enumerate(read, 1)), 1, 0)


def _task(task_id: str, todo: dict[str, Any]) -> Task:
    rest: dict[str, Any] = {name: todo.get(theirs) for name, theirs in _OPTIONAL.items()}
    status = todo["status"]
    if status is Status.PENDING and _FAILED in todo:
        status = Status.FAILED
    waiting = todo.get(_WAITING) if status is Status.PENDING else None
    return Task(task_id, todo["content"], status=status, waiting=waiting, **rest)
