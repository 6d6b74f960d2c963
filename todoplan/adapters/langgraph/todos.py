"""
The list `todos`, which interfaces read: what was published there, and what others wrote there.

Beside the list stands a sum of it, written wherever it is written here. A list that has another
sum was written by others: LangChain's own middleware, or the application.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from zlib import crc32

import attrs

from todoplan.codec import to_langchain
from todoplan.core.commands import WriteTodos
from todoplan.core.decide import weigh
from todoplan.core.model import Task, Todo
from todoplan.core.plan import Plan
from todoplan.core.policy import Policy
from todoplan.dialogue.cleaning import clean
from todoplan.dialogue.intake import read
from todoplan.dialogue.tools_todos import write_tool

__all__ = ["SUM", "TODOS", "is_published", "publishing", "rewritten", "todos_of"]

TODOS = "todos"
SUM = "todoplan_todos"

_NO_LIST = -1
_FIELDS = write_tool(TODOS).fields


def todos_of(plan: Plan) -> list[dict[str, str]]:
    """
    Return the plan as user interfaces read it: `content` and `status`, cancelled tasks left out.
    """
    return to_langchain(plan)


def publishing(tasks: Iterable[Task]) -> dict[str, Any]:
    """
    Return the update that publishes these tasks.
    """
    todos = to_langchain(tasks)
    return {TODOS: todos, SUM: _sum(todos)}


def is_published(todos: Any, published: int | None) -> bool:
    """
    Say whether a list is the one whose sum this is. Where none was kept it counts as published.
    """
    return published is None or published == _sum(todos)


def _sum(todos: Any) -> int:
    try:
        text = "\0".join([todo["status"] + todo["content"] for todo in todos])
    except (TypeError, KeyError):
        return _NO_LIST
    return crc32(text.encode("utf-8", "surrogatepass"))


def rewritten(plan: Plan, todos: Sequence[Any]) -> Plan:
    """
    Return the plan with the list that others wrote: matched like any whole list, judged by no rule.

    What the list has no room for (cancelled tasks) stays. An entry that cannot be read becomes a
    task whose text is the entry, as JSON; empty ones are left out.
    """
    unseen = (Todo(task.subject, id=task.id) for task in plan if not to_langchain([task]))
    command = WriteTodos((*_read(todos), *unseen))
    return weigh(plan, command, Policy(), None)[1].after


def _read(todos: Sequence[Any]) -> Iterator[Todo]:
    for entry in todos:
        intake = read({TODOS: [entry]}, _FIELDS)
        if not intake.problems:
            yield from (attrs.evolve(todo, id=None) for todo in intake.values[TODOS])
        elif entry:
            text = json.dumps(entry, default=str, skipkeys=True, ensure_ascii=False)
            yield Todo(clean(text, TODOS)[0])
