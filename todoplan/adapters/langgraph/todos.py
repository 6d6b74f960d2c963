"""The list `todos`, which interfaces read; where there is no plan yet, the plan that it is."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from todoplan.codec import to_langchain
from todoplan.core.commands import WriteTodos
from todoplan.core.decide.decide import decide_with_change
from todoplan.core.plan.model import Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.intake.cleaning import clean
from todoplan.dialogue.intake.read import read
from todoplan.dialogue.tools.todos import write_tool

__all__ = ["TODOS", "plan_of_todos", "publishing", "todos_of"]

TODOS = "todos"

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
    return {TODOS: to_langchain(tasks)}


def plan_of_todos(todos: Sequence[Any]) -> Plan:
    """
    Return the plan that a list is which others wrote, judged by no rule.

    An entry that cannot be read becomes a task whose text is the entry, as JSON; empty ones are
    left out.
    """
    return decide_with_change(Plan(), WriteTodos(tuple(_read(todos))), Policy(), None)[1].after


def _read(todos: Sequence[Any]) -> Iterator[Todo]:
    for entry in todos:
        intake = read({TODOS: [entry]}, _FIELDS)
        if not intake.problems:
            yield from (attrs.evolve(todo, id=None) for todo in intake.values[TODOS])
        elif entry:
            text = json.dumps(entry, default=str, skipkeys=True, ensure_ascii=False)
            yield Todo(clean(text, TODOS)[0])
