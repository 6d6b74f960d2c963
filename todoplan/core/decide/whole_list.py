"""The whole list: what a write makes of a plan, keeping the identity of all that it left alone."""

from collections.abc import Sequence
from itertools import count
from operator import itemgetter

from todoplan.core.commands import WriteTodos
from todoplan.core.decide.tasks import edit, move, task_of
from todoplan.core.decide.transaction import Transaction
from todoplan.core.events.types import PlanCleared, TaskDeleted, TasksReordered
from todoplan.core.plan.matching import match
from todoplan.core.plan.model import Task, Todo
from todoplan.core.plan.slots import number_of

__all__ = ["clear", "write"]


def write(transaction: Transaction, command: WriteTodos) -> None:
    """
    Make the list this one: remove what it leaves out, then change, add and order what it holds.
    """
    todos = command.todos
    _check(transaction, todos)
    meant = match(transaction.draft, todos)
    _remove(transaction, {task.id for task in meant if task is not None})
    for todo, task in zip(todos, meant, strict=True):
        if task is not None:
            _change(transaction, todo, task)
    order = [task.id if task else "" for task in meant]
    if "" in order:
        _add(transaction, todos, order)
    if order != [task.id for task in transaction.draft]:
        transaction.emit(TasksReordered(tuple(order), transaction.at))


def _add(transaction: Transaction, todos: Sequence[Todo], order: list[str]) -> None:
    tasks: list[Task] = []
    for index, task_id in sorted(_new_ids(transaction, todos, order).items(), key=_number):
        order[index] = str(task_id)
        tasks.append(task_of(todos[index], order[index], transaction.at))
    transaction.create(tasks)


_number = itemgetter(1)


def _check(transaction: Transaction, todos: Sequence[Todo]) -> None:
    seen: set[str] = set()
    for index, todo in enumerate(todos):
        if not todo.content.strip():
            transaction.fault("empty_text", path=f"todos[{index}].content")
        if todo.id is not None and todo.id in seen:
            transaction.fault("duplicate_id", todo.id, seen=todo.id, path=f"todos[{index}].id")
        if todo.id is not None:
            seen.add(todo.id)


def _remove(transaction: Transaction, kept: set[str]) -> None:
    gone = [task.id for task in transaction.draft if task.id not in kept]
    if gone and not kept:
        transaction.emit(PlanCleared(tuple(gone), transaction.at))
        return
    for task_id in gone:
        transaction.emit(TaskDeleted(task_id, transaction.at))


def _new_ids(
    transaction: Transaction, todos: Sequence[Todo], order: Sequence[str]
) -> dict[int, int]:
    """
    Return the number that each new line's task gets, by the line's index.

    A line that numbers itself, as some models do, keeps its number if it was never used and is no
    further off than the list is long: then the same list means the same tasks when it comes again.
    """
    start = transaction.draft.next_id
    fresh = [index for index, task_id in enumerate(order) if not task_id]
    if not any(todo.id for todo in todos):
        return dict(zip(fresh, count(start), strict=False))
    own = [number_of(todo.id or "") for todo in todos]
    kept = {index: own[index] for index in fresh if start <= own[index] < start + len(todos)}
    said = set(own)
    last = max(kept.values(), default=start - 1)
    after = (number for number in count(last + 1) if number not in said)
    return {index: kept[index] if index in kept else next(after) for index in fresh}


def _change(transaction: Transaction, todo: Todo, task: Task) -> None:
    if todo.content != task.subject or todo.active_form is not None or todo.priority:
        _rewrite(transaction, todo, task)
    if todo.status is not None and todo.status is not task.status:
        move(transaction, task, todo.status)


def _rewrite(transaction: Transaction, todo: Todo, task: Task) -> None:
    given = (
        ("subject", todo.content, task.subject),
        ("active_form", todo.active_form, task.active_form),
        ("priority", todo.priority, task.priority),
    )
    edit(
        transaction, task, {name: new for name, new, old in given if new is not None and new != old}
    )


def clear(transaction: Transaction) -> None:
    """
    Remove every task; an empty plan is left alone.
    """
    if len(transaction.draft):
        transaction.emit(PlanCleared(tuple(task.id for task in transaction.draft), transaction.at))
