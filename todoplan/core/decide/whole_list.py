"""
The whole list: what a write makes of a plan, keeping the identity of all that it left alone.

Law: the same list written twice gives no events the second time.
"""

from collections.abc import Sequence
from itertools import count
from typing import Any

import attrs

from todoplan.core.commands import WriteTodos
from todoplan.core.decide.tasks import edit, move, new_tasks
from todoplan.core.decide.transaction import Transaction
from todoplan.core.events.types import PlanCleared, TaskDeleted, TasksReordered
from todoplan.core.plan.matching import match
from todoplan.core.plan.model import EDITABLE, Task, Todo
from todoplan.core.plan.slots import number_of

__all__ = ["clear", "write"]

_SHARED = tuple(field.name for field in attrs.fields(Todo) if field.name in EDITABLE)


def write(transaction: Transaction, command: WriteTodos) -> None:
    """
    Make the list this one: remove what it leaves out, then change, add and order what it holds.
    """
    todos, at = command.todos, transaction.at
    _check(transaction, todos)
    meant = match(transaction.draft, todos)
    kept = {task.id for task in meant if task is not None}
    gone = [task.id for task in transaction.draft if task.id not in kept]
    if gone and not kept:
        transaction.emit(PlanCleared(tuple(gone), at))
    else:
        for task_id in gone:
            transaction.emit(TaskDeleted(task_id, at))
    for todo, task in zip(todos, meant, strict=True):
        if task is None:
            continue
        if todo.content != task.subject or todo.active_form is not None or todo.priority:
            edit(transaction, task, _changes(todo, task))
        if todo.status is not None and todo.status is not task.status:
            move(transaction, task, todo.status)
    order = [task.id if task else "" for task in meant]
    if "" in order:
        numbers = _new_ids(transaction.draft.next_id, todos, order)
        for index, number in numbers.items():
            order[index] = str(number)
        ascending = sorted(numbers, key=numbers.__getitem__)
        transaction.create(new_tasks(((order[index], todos[index]) for index in ascending), at))
    if order != [task.id for task in transaction.draft]:
        transaction.emit(TasksReordered(tuple(order), at))


def _check(transaction: Transaction, todos: Sequence[Todo]) -> None:
    ids: set[str] = set()
    for index, todo in enumerate(todos):
        if not todo.content.strip():
            transaction.refuse("empty_text", path=f"todos[{index}].content")
        if todo.id is not None:
            if todo.id in ids:
                transaction.refuse("duplicate_id", todo.id, seen=todo.id, path=f"todos[{index}].id")
            ids.add(todo.id)


def _changes(todo: Todo, task: Task) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if todo.content != task.subject:
        changes["subject"] = todo.content
    for name in _SHARED:
        given = getattr(todo, name)
        if given is not None and given != getattr(task, name):  # not given: it stays as it is
            changes[name] = given
    return changes


def _new_ids(start: int, todos: Sequence[Todo], order: Sequence[str]) -> dict[int, int]:
    """
    Return the number that each new line's task gets, by the line's index.

    A line that numbers itself, as some models do, keeps its number if it was never used and is no
    further off than the list is long: then the same list means the same tasks when it comes again.
    """
    fresh = [index for index, task_id in enumerate(order) if not task_id]
    if not any(todo.id for todo in todos):
        return dict(zip(fresh, count(start), strict=False))
    own = [number_of(todo.id or "") for todo in todos]
    kept = {index: own[index] for index in fresh if start <= own[index] < start + len(todos)}
    # A number that some line says is not given to another: it would mean that other task next time.
    said = set(own)
    last = max(kept.values(), default=start - 1)
    after = (number for number in count(last + 1) if number not in said)
    return {index: kept[index] if index in kept else next(after) for index in fresh}


def clear(transaction: Transaction) -> None:
    """
    Remove every task; an empty plan is left alone.
    """
    if len(transaction.draft):
        transaction.emit(PlanCleared(tuple(task.id for task in transaction.draft), transaction.at))
