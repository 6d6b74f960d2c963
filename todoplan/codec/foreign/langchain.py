"""
Plans as LangChain's `write_todos` keeps them, both ways: a list of `content` and `status`.

What such a list cannot hold is lost on the way there: ids, descriptions, owners, edges, estimates,
metadata and times. It has three statuses, and none of them is true of a cancelled task; cancelled
tasks are left out.
"""

from collections.abc import Iterable
from typing import Any

from todoplan.codec.faults import MisfitError, misfit, wrong_shape
from todoplan.codec.plans import assembled
from todoplan.codec.readers import one_of, read_each, read_object
from todoplan.codec.tasks import FIELD_READERS
from todoplan.codec.values import STATUSES, text
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import Plan

__all__ = ["from_langchain", "to_langchain"]

_OPTIONAL = {"active_form": "activeForm", "priority": "priority"}
"""Fields of a task that Claude Code's list has too, by their names there."""

_FIELDS = {
    "content": text,
    "status": one_of({word: s for word, s in STATUSES.items() if s is not Status.CANCELLED}),
    **{theirs: FIELD_READERS[name] for name, theirs in _OPTIONAL.items()},
}
_WORDS = {status: word for word, status in STATUSES.items()}


def to_langchain(tasks: Iterable[Task]) -> list[dict[str, Any]]:
    """
    Return the todos of a plan; `activeForm` and `priority` only where they are set.
    """
    return [_todo(task) for task in tasks if task.status is not Status.CANCELLED]


def _todo(task: Task) -> dict[str, Any]:
    todo = {"content": task.subject, "status": _WORDS[task.status]}
    for name, theirs in _OPTIONAL.items():
        value = getattr(task, name)
        if value is not None:
            todo[theirs] = str(value)
    return todo


def from_langchain(todos: list[dict[str, Any]]) -> Plan:
    """
    Return a new plan with these todos, numbered from 1.

    Raises:
        CodecError: no such list; a field that would be lost is a fault as well.
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
    return Task(task_id, todo["content"], status=todo["status"], **rest)
