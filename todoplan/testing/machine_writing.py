"""A whole-list write upon the naive model: what each line means, and which numbers new ones get."""

from collections.abc import Callable, Iterator
from typing import Any

from todoplan.core.plan.model import Todo
from todoplan.testing.machine_edits import Edits
from todoplan.testing.machine_rules import plain

__all__ = ["write"]

_Todos = tuple[Todo, ...]
_Same = Callable[[Todo, dict[str, Any]], bool]
_SAME: tuple[_Same, ...] = (
    lambda todo, task: todo.id == task["id"],
    lambda todo, task: todo.content == task["subject"],
    lambda todo, task: plain(todo.content) == plain(task["subject"]),
)


def write(edits: Edits, todos: _Todos) -> None:
    """
    Make the list these lines, in their order.
    """
    ids = [todo.id for todo in todos if todo.id is not None]
    edits.faults["duplicate_id"] += len(ids) - len(set(ids))
    edits.faults["empty_text"] += sum(not todo.content.strip() for todo in todos)
    meant = _meant(edits, todos)
    _leave_out(edits, meant)
    for todo, old in zip(todos, meant, strict=True):
        if old is not None:
            _keep(edits, todo, old)
    order = [*meant]
    for number, place in sorted(_numbers(edits, todos, meant)):
        edits.after.next_id = number
        order[place] = _add(edits, todos[place])
    edits.changed |= order != edits.after.ids()
    edits.after.tasks.sort(key=lambda task: order.index(task["id"]))


def _meant(edits: Edits, todos: _Todos) -> list[str | None]:
    left = edits.after.ids()
    meant: list[str | None] = [None] * len(todos)
    for same in _SAME:
        for place, todo in enumerate(todos):
            alike = [task_id for task_id in left if same(todo, edits.after.known(task_id))]
            if meant[place] is None and alike:
                meant[place] = alike[0]
                left.remove(alike[0])
    return meant


def _leave_out(edits: Edits, meant: list[str | None]) -> None:
    if not any(meant):  # all at once: nobody is left whose edges could be touched
        edits.changed |= bool(edits.after.tasks)
        edits.removed += edits.after.ids()
        edits.after.tasks, edits.after.edges = [], []
    for task_id in edits.after.ids():
        if task_id not in meant:
            edits.delete(task_id)


def _numbers(edits: Edits, todos: _Todos, meant: list[str | None]) -> Iterator[tuple[int, int]]:
    """
    Yield new numbers with their places: a line's own id if unused and near, else the next.
    """
    start = edits.after.next_id
    near = {str(number): number for number in range(start, start + len(todos))}
    own = {place: near.get(todos[place].id or "") for place, old in enumerate(meant) if old is None}
    number = max([start - 1, *filter(None, own.values())])
    for place, given in own.items():
        if given is None:
            number += 1
            while str(number) in [todo.id for todo in todos]:
                number += 1
        yield given or number, place


def _add(edits: Edits, todo: Todo) -> str:
    status = todo.status or "pending"
    return edits.new(todo.content, status, active_form=todo.active_form, priority=todo.priority)


def _keep(edits: Edits, todo: Todo, old: str) -> None:
    given = {"active_form": todo.active_form, "priority": todo.priority}
    said = {name: value for name, value in given.items() if value is not None}
    edits.edit(old, subject=todo.content, **said)
    if todo.status is not None:
        edits.move(old, todo.status)
