"""
The list that interfaces read: LangChain's `content` and `status`, and beside them what else is so.

An interface draws the keys that it knows: deep-agents-ui and whatever reads `useStream` know those
two. So the others stand only where they say something, and a plan that uses none of it is published
as LangChain would.
"""

from collections.abc import Iterable
from typing import Any

from todoplan.codec import to_langchain
from todoplan.core.plan.model import Status, Task

__all__ = ["list_of"]


def list_of(tasks: Iterable[Task]) -> list[dict[str, Any]]:
    """
    Return the todos of a plan, cancelled tasks left out: `content` and `status`; `activeForm`,
    `priority`, `failed` and `waiting` as `to_langchain` has them; `owner`; and of tasks that an
    edge or a parent joins to others their `id`, `blockedBy` and `parent`.

    Raises:
        CodecError: what a task waits for holds what JSON cannot.
    """
    shown = [task for task in tasks if task.status is not Status.CANCELLED]
    todos = to_langchain(shown)
    ids = {task.id for task in shown}
    parents = {task.parent for task in shown}
    for todo, task in zip(todos, shown, strict=True):
        if task.owner is not None:
            todo["owner"] = task.owner
        if task.blocked_by or task.blocks or task.parent is not None or task.id in parents:
            todo["id"] = task.id
            # A cancelled blocker is not in the list, and blocks nobody.
            if before := [blocker for blocker in task.blocked_by if blocker in ids]:
                todo["blockedBy"] = before
            if task.parent in ids:
                todo["parent"] = task.parent
    return todos
