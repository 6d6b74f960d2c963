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
from todoplan.codec.shapes import each, fields, one_of, optional
from todoplan.codec.values import PRIORITIES, STATUSES, text
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import Plan

__all__ = ["from_langchain", "to_langchain"]

_FIELDS = {
    "content": text,
    "status": one_of({word: s for word, s in STATUSES.items() if s is not Status.CANCELLED}),
    "activeForm": optional(text),
    "priority": optional(one_of(PRIORITIES)),
}
_WORDS = {status: word for word, status in STATUSES.items()}


def to_langchain(tasks: Iterable[Task]) -> list[dict[str, Any]]:
    """
    Return the todos of a plan; `activeForm` and `priority` only where they are set.
    """
    return [_todo(task) for task in tasks if task.status is not Status.CANCELLED]


def _todo(task: Task) -> dict[str, Any]:
    todo = {"content": task.subject, "status": _WORDS[task.status]}
    if task.active_form is not None:
        todo["activeForm"] = task.active_form
    if task.priority is not None:
        todo["priority"] = task.priority.value
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
        read = each(todos, lambda todo: fields(todo, _FIELDS, ("content", "status")))
    except MisfitError as error:
        raise wrong_shape(error.below("todos"), "list of todos") from None
    return assembled(tuple(_task(str(i), todo) for i, todo in enumerate(read, 1)), 1, 0)


def _task(task_id: str, todo: dict[str, Any]) -> Task:
    return Task(
        task_id,
        todo["content"],
        status=todo["status"],
        active_form=todo.get("activeForm"),
        priority=todo.get("priority"),
    )
