"""
Whole-list writes: apply a complete list to a plan, keeping the identity of unchanged tasks.

Law 8: writing the same list twice gives no events the second time.

Law 15: a model writes a list from memory, so the list means its difference to the merge base, which
is the plan as its session knows it (`Base`). That difference is applied to the present plan:

- Each line is matched with a task as the session knows it, in the session's own last words. A line
  without such a match is matched by text with the tasks of the present plan: tasks of others, or
  own tasks that others reworded. A line that matches neither is a new task.
- A field is set if the line differs both from what the session knew and from the present plan. The
  later write wins, and the reply names what it overwrote.
- A task without a line is removed only if this session has listed it and nobody else has changed
  it since.
- A task that others removed stays removed, whatever its line says.
- Tasks that others added stay, each after the task that it followed. The list's order counts only
  if it differs from that of the base.

If a session is alone, all of this amounts to one thing: the list is the plan.

Comparable libraries treat every list as the complete truth: a task that a person added between two
turns was removed by the next write of a model that had never seen it.
"""

from collections.abc import Sequence
from itertools import count
from typing import Any

import attrs

from todoplan.core.commands import WriteTodos
from todoplan.core.decide.changes import edit, move, remove, reorder, wait
from todoplan.core.decide.tasks import new_tasks
from todoplan.core.decide.transaction import Transaction
from todoplan.core.events.base import Base
from todoplan.core.events.types import PlanCleared
from todoplan.core.plan.draft import Draft
from todoplan.core.plan.graph import ancestors, tree_order
from todoplan.core.plan.model import EDITABLE, Status, Task, Todo
from todoplan.core.plan.slots import number_of
from todoplan.core.rules.matching import match, normalised

__all__ = ["clear", "write"]

_SHARED = tuple(field.name for field in attrs.fields(Todo) if field.name in EDITABLE - {"waiting"})


_ROUNDS = 2  # two rounds were enough for every generated test case


def write(transaction: Transaction, command: WriteTodos) -> None:
    """
    Replace the plan's list by this one, or apply its difference to the merge base, if there is one.
    """
    _check(transaction, command.todos)
    if transaction.base is None:
        _write_whole(transaction, command.todos)
    else:
        _write_from(transaction.base, transaction, command.todos)


def _write_whole(transaction: Transaction, todos: Sequence[Todo]) -> None:
    """
    Make the plan equal to the list: remove missing tasks, then edit, add and reorder the others.
    """
    meant = match(transaction.draft, todos)
    # An indented list defines its own tree, and the plan gets the list's order.
    if transaction.draft.nested and all(todo.level is None for todo in todos):
        meant = _in_tree(transaction.draft, todos, meant)
    kept = {task.id for task in meant if task is not None}
    gone = [task.id for task in transaction.draft if task.id not in kept]
    # One event for all tasks: the rule `empty_write` checks for it, and for no single deletion.
    if gone and not kept:
        _clear(transaction)
    else:
        for task_id in gone:
            remove(transaction, task_id)
    for todo, task in zip(todos, meant, strict=True):
        if task is None:
            continue
        # The fields of `_SHARED`, spelled out for speed because most lines change nothing. A new
        # field must be added here too.
        if todo.content != task.subject or todo.active_form is not None or todo.priority:
            edit(transaction, task, _changes(todo, task))
        if todo.status is not None and todo.status is not task.status:
            move(transaction, task, todo.status)
        if todo.waiting is not None and task.waiting is None:
            wait(transaction, task.id, todo.waiting)
    order = [task.id if task else "" for task in meant]
    _create(transaction, todos, order)
    _nest(transaction, todos, order)
    reorder(transaction, order)
    transaction.lines = tuple(zip(order, todos, strict=True))


def _in_tree(draft: Draft, todos: Sequence[Todo], meant: list[Task | None]) -> list[Task | None]:
    """
    Return the task for each line, chosen so that writing the same list again gives the same result.

    Equal lines are matched with equal tasks in plan order. In a plan with subtasks that is not the
    order of the list, so the first of two equal lines could match a different task the next time.
    """
    if len({normalised(todo.content) for todo in todos}) == len(todos):
        return meant
    for _ in range(_ROUNDS):
        # With their future texts; a new line is represented by a placeholder task.
        lines = [
            (task or Task(f"+{place}", "")).but(subject=todo.content)
            for place, (todo, task) in enumerate(zip(todos, meant, strict=True))
        ]
        kept = {task.id: task for task in lines}
        # With their future parents: the subtasks of a deleted task move up.
        lifted = [
            task.but(parent=next((a for a in ancestors(draft, task.id) if a in kept), None))
            for task in lines
        ]
        again = match([kept[task.id] for task in tree_order(lifted)], todos)
        meant = [draft.get(task.id) if task is not None else None for task in again]
    return meant


def _check(transaction: Transaction, todos: Sequence[Todo]) -> None:
    ids: set[str] = set()
    for index, todo in enumerate(todos):
        if not todo.content.strip():
            transaction.refuse("empty_text", path=f"todos[{index}].content")
        if todo.waiting is not None and todo.status not in {None, Status.PENDING}:
            path = f"todos[{index}].status"
            transaction.refuse("cannot_wait", seen=todo.status or "", path=path)
        if todo.id is not None:
            if todo.id in ids:
                transaction.refuse("duplicate_id", todo.id, seen=todo.id, path=f"todos[{index}].id")
            ids.add(todo.id)


def _nest(transaction: Transaction, todos: Sequence[Todo], ids: Sequence[str]) -> None:
    """
    Put the task of each indented line below the task of the nearest line above with less indent.
    """
    # If any line has a level, lines without one are at the top level.
    if [todo.level for todo in todos].count(None) == len(todos):
        return
    above: list[tuple[int, str]] = []
    for index, (todo, task_id) in enumerate(zip(todos, ids, strict=True)):
        level = todo.level or 0
        while above and above[-1][0] >= level:
            above.pop()
        parent = above[-1][1] if above else None
        above.append((level, task_id))
        task = transaction.draft.get(task_id)
        if task is not None and task.parent != parent:
            transaction.nest(task, parent, f"todos[{index}]")


def _changes(todo: Todo, task: Task) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if todo.content != task.subject:
        changes["subject"] = todo.content
    for name in _SHARED:
        given = getattr(todo, name)
        if given is not None and given != getattr(task, name):  # None means not given
            changes[name] = given
    return changes


def _create(transaction: Transaction, todos: Sequence[Todo], order: list[str]) -> None:
    """Create the tasks of the new lines, and put their ids into `order` in place of ""."""
    if "" not in order:
        return
    numbers = _new_ids(transaction.draft.next_id, todos, order)
    for index, number in numbers.items():
        order[index] = str(number)
    ascending = sorted(numbers, key=numbers.__getitem__)
    lines = ((order[index], todos[index]) for index in ascending)
    transaction.create(new_tasks(lines, transaction.at))


def _new_ids(start: int, todos: Sequence[Todo], order: Sequence[str]) -> dict[int, int]:
    """
    Return the number for each new line's task, by the index of the line.

    Some models number their lines. Such a line keeps its number if that was never used and exceeds
    the next id by less than the length of the list. Then the same list means the same tasks when it
    is written again.
    """
    fresh = [index for index, task_id in enumerate(order) if not task_id]
    if not any(todo.id for todo in todos):
        return dict(zip(fresh, count(start), strict=False))
    own = [number_of(todo.id or "") for todo in todos]
    kept = {index: own[index] for index in fresh if start <= own[index] < start + len(todos)}
    # A number that a line has is not given to another task: that line would then match the other
    # task the next time.
    said = set(own)
    last = max(kept.values(), default=start - 1)
    after = (number for number in count(last + 1) if number not in said)
    return {index: kept[index] if index in kept else next(after) for index in fresh}


def _write_from(base: Base, transaction: Transaction, todos: Sequence[Todo]) -> None:
    draft = transaction.draft
    before = [task.id for task in draft]
    lines = _lines(base, draft, todos)
    named = {known.id for _, known in lines if known is not None}
    for task in [task for task in draft if task.id not in named and base.may_drop(task)]:
        remove(transaction, task.id)
    dead: list[tuple[str, Todo]] = []
    written: list[Todo] = []
    order: list[str] = []
    for todo, known in lines:
        now = None if known is None else draft.get(known.id)
        if known is not None and now is None:
            dead.append((known.id, todo))
            continue
        written.append(todo)
        order.append("" if known is None else known.id)
        if known is not None and now is not None:
            changes = _changes(todo, known)
            edit(transaction, now, {n: v for n, v in changes.items() if v != getattr(now, n)})
            status = todo.status
            if status is not None and status is not known.status and base.may_reopen(now):
                move(transaction, now, status)
            if todo.waiting is not None and known.waiting is None:
                wait(transaction, now.id, todo.waiting)
    old = [task_id for task_id in order if task_id]
    _create(transaction, written, order)
    _nest(transaction, written, order)
    kept = [task_id for task_id in before if draft.get(task_id) is not None]
    lines_before = [task.id for task in base.tasks()]
    if base.order:
        lines_before = _woven(base.order, lines_before)
    mentioned = {*old}
    if old == [task_id for task_id in lines_before if task_id in mentioned]:
        final = _woven(kept, order)
    else:
        final = _woven(order, kept)
    reorder(transaction, final)
    transaction.lines = (*zip(order, written, strict=True), *dead)


def _lines(base: Base, draft: Draft, todos: Sequence[Todo]) -> list[tuple[Todo, Task | None]]:
    """Return each line with its task as the session knows it; `None` for a new task."""
    meant = match(base.tasks(), [_as_meant(base, todo) for todo in todos])
    fresh = [todo for todo, task in zip(todos, meant, strict=True) if task is None]
    if not fresh:
        return list(zip(todos, meant, strict=True))
    taken = {task.id for task in meant if task is not None}
    rest = [task for task in draft if task.id not in taken]
    # Ids are ignored here: the session's numbers refer to its own list or to the base.
    others = iter(match(rest, [attrs.evolve(todo, id=None) for todo in fresh]))
    lines: list[tuple[Todo, Task | None]] = []
    for todo, task in zip(todos, meant, strict=True):
        known = task
        if known is None and (found := next(others)) is not None:
            own = base.get(found.id)
            # For a task that the session has not seen, everything in the line is a change. For its
            # own task in another actor's words, the line shows that the session has accepted these
            # words.
            known = Task(found.id, todo.content) if own is None else own.but(subject=found.subject)
        lines.append((todo, known))
    return lines


def _as_meant(base: Base, todo: Todo) -> Todo:
    """
    Return a line without its id if the id is probably the model's own numbering.

    This is so if the session has not listed the task with that id, and the task has another text.
    """
    if todo.id is None or base.has_listed(todo.id):
        return todo
    task = base.get(todo.id)
    is_same = task is not None and normalised(task.subject) == normalised(todo.content)
    return todo if is_same else attrs.evolve(todo, id=None)


def _woven(order: Sequence[str], rest: Sequence[str]) -> list[str]:
    """Return the ids of `order`, and after each the ids that follow it only in `rest`."""
    placed = set(order)
    following: dict[str, list[str]] = {}
    last = ""
    for task_id in rest:
        if task_id in placed:
            last = task_id
        else:
            following.setdefault(last, []).append(task_id)
    woven = following.get("", [])
    for task_id in order:
        woven += (task_id, *following.get(task_id, ()))
    return woven


def clear(transaction: Transaction) -> None:
    """
    Remove every task except those that others have added or changed since the merge base.

    An empty plan is left unchanged.
    """
    if transaction.base is not None:
        _write_from(transaction.base, transaction, ())
    elif len(transaction.draft):
        _clear(transaction)


def _clear(transaction: Transaction) -> None:
    tasks = tuple(transaction.draft)
    # A list and not any(): each claimed task is reported.
    refused = [task for task in tasks if not transaction.may_change(task)]
    if not refused:
        transaction.emit(PlanCleared(tuple(task.id for task in tasks), transaction.at))
