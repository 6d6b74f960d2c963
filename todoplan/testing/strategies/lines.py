"""The list of a plan, rewritten by somebody who knows it: no line is about what is not there."""

from __future__ import annotations

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from todoplan.core.commands import WriteTodos
from todoplan.core.plan.graph import ancestors
from todoplan.core.plan.model import Status, Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.testing.strategies.command import CHANGES
from todoplan.testing.strategies.text import titles
from todoplan.testing.strategies.values import todos

__all__ = ["containers", "indented", "rewritten"]


def containers(plan: Plan, parent: str | None) -> set[str]:
    """
    Return what a task lies in that lies in this one: none of that may block it.
    """
    return set() if parent is None else {parent, *ancestors(plan, parent)}


def rewritten(draw: DrawFn, plan: Plan) -> WriteTodos:
    """
    Draw the list as it is, but shortened, shuffled, moved on, by id or not, with new lines behind.
    """
    # Where somebody has claimed a task each line says which it means: none may mean that one.
    known = any(task.claim for task in plan)
    lines = [_line(draw, task, known=known) for task in plan if draw(_KEPT) or task.claim]
    lines = draw(st.permutations(lines)) if draw(st.booleans()) else lines
    return WriteTodos((*lines, *draw(_NEW_LINES)), draw(st.booleans()))


def indented(draw: DrawFn, plan: Plan) -> WriteTodos:
    """
    Draw the list as it is, indented as it is, with new lines behind that lie where they may. Where
    no edge could join what then lies in each other, any line may be left out or lie elsewhere.
    """
    free = not any(task.blocked_by for task in plan)
    kept = [task for task in plan if not free or draw(_KEPT) or task.claim]
    lines = []
    for task in kept:
        level = draw(_LEVELS) if free else len(containers(plan, task.parent))
        lines.append(attrs.evolve(_line(draw, task, known=True), level=level))
    new = [attrs.evolve(todo, level=draw(_LEVELS)) for todo in draw(_NEW_LINES)]
    return WriteTodos((*lines, *new), draw(st.booleans()))


def _line(draw: DrawFn, task: Task, *, known: bool) -> Todo:
    status = draw(_NEXT[task.status]) if task.claim is None else task.status
    line = Todo(task.subject, status, id=task.id if known or draw(st.booleans()) else None)
    # Said to be pending: without an id it may mean another task of this text, and that be closed.
    pending = line.status is Status.PENDING
    return attrs.evolve(line, waiting=draw(CHANGES["waiting"])) if pending else line


def _new_line(todo: Todo) -> Todo:
    status = todo.status if todo.waiting is None else Status.PENDING
    return attrs.evolve(todo, status=status, level=None)


_KEPT = st.sampled_from([True, True, True, False])
_LEVELS = st.integers(0, 2)
_NEXT = {status: st.sampled_from([status, None, *Status]) for status in Status}
_NEW_LINES = st.lists(todos(titles(), st.nothing()).map(_new_line), max_size=2)
