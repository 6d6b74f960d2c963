"""
The whole list: what a write makes of a plan, keeping the identity of all that it left alone.

Law 8: the same list written twice gives no events the second time.

Law 15: a list is written from memory, so it means its difference to the base, which is what its
session knows of the plan (`Base`), carried out on the plan as it is:

- each line means a task as its session knows it, in its own last words; a line that means none of
  these means a task of the plan by its text, that of others or one's own in others' words; a line
  that means none of these either is a new task;
- a field is set if the line says something else than the session knew and than the plan says: the
  later write stands, and the reply names what it wrote over;
- a task without a line is removed only if this session has listed it, and nobody else has changed
  it since;
- a task that others removed stays removed, whatever its line says;
- tasks that others added stay, each behind the one that it followed; the list's order counts only
  if it is another than the base's.

Where a session is alone, all of this comes to one thing: the list is the plan.

Peers take every list for the whole truth: what a person added between two turns was removed by the
next write of a model that had never seen it.
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


_ROUNDS = 2  # two were enough for whatever was drawn


def write(transaction: Transaction, command: WriteTodos) -> None:
    """
    Make the list this one, or carry out its difference to the base if there is one.
    """
    _check(transaction, command.todos)
    if transaction.base is None:
        _write_whole(transaction, command.todos)
    else:
        _write_from(transaction.base, transaction, command.todos)


def _write_whole(transaction: Transaction, todos: Sequence[Todo]) -> None:
    """
    Make the list this one: remove what it leaves out, then change, add and order what it holds.
    """
    meant = match(transaction.draft, todos)
    # An indented list says itself how its tasks lie: they will stand in its order.
    if transaction.draft.nested and all(todo.level is None for todo in todos):
        meant = _in_tree(transaction.draft, todos, meant)
    kept = {task.id for task in meant if task is not None}
    gone = [task.id for task in transaction.draft if task.id not in kept]
    # One event for all of them: the rule `empty_write` is asked of it, and of no deletion.
    if gone and not kept:
        _clear(transaction)
    else:
        for task_id in gone:
            remove(transaction, task_id)
    for todo, task in zip(todos, meant, strict=True):
        if task is None:
            continue
        # `_SHARED` spelled out, since most lines change nothing: a new field belongs here as well.
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
    Return which task each line means such that the same list will mean the same tasks again.

    Equal lines take equal tasks in the order of the plan. In a plan with subtasks that is not the
    order of the list, and so the first of two equal lines could mean another task the next time.
    """
    if len({normalised(todo.content) for todo in todos}) == len(todos):
        return meant
    for _ in range(_ROUNDS):
        # With the texts that they will have; a new line stands for the task that it will make.
        lines = [
            (task or Task(f"+{place}", "")).but(subject=todo.content)
            for place, (todo, task) in enumerate(zip(todos, meant, strict=True))
        ]
        kept = {task.id: task for task in lines}
        # As they will stand: what lies in a task that goes is lifted up.
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
    Put the tasks of indented lines below that of the last line above them that is indented less.
    """
    # All or none: a list that indents some lines has the others at the top.
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
        if given is not None and given != getattr(task, name):  # not given: it stays as it is
            changes[name] = given
    return changes


def _create(transaction: Transaction, todos: Sequence[Todo], order: list[str]) -> None:
    """
    Create the tasks of the new lines, and put their ids into the order, where they stand as "".
    """
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
    """
    Return each line with the task that it means, as its session knows it; `None` where it is new.
    """
    meant = match(base.tasks(), [_as_meant(base, todo) for todo in todos])
    fresh = [todo for todo, task in zip(todos, meant, strict=True) if task is None]
    if not fresh:
        return list(zip(todos, meant, strict=True))
    taken = {task.id for task in meant if task is not None}
    rest = [task for task in draft if task.id not in taken]
    # Without ids: the session's numbers are those of its own list, or of the base.
    others = iter(match(rest, [attrs.evolve(todo, id=None) for todo in fresh]))
    lines: list[tuple[Todo, Task | None]] = []
    for todo, task in zip(todos, meant, strict=True):
        known = task
        if known is None and (found := next(others)) is not None:
            own = base.get(found.id)
            # Of a task that it has not seen, all that the line says is a change; of its own in
            # somebody's new words, it has taken these over.
            known = Task(found.id, todo.content) if own is None else own.but(subject=found.subject)
        lines.append((todo, known))
    return lines


def _as_meant(base: Base, todo: Todo) -> Todo:
    """
    Return a line without its id, if that is of a task which its session has not listed, and which
    has other words: models number lists of their own.
    """
    if todo.id is None or base.has_listed(todo.id):
        return todo
    task = base.get(todo.id)
    is_same = task is not None and normalised(task.subject) == normalised(todo.content)
    return todo if is_same else attrs.evolve(todo, id=None)


def _woven(order: Sequence[str], rest: Sequence[str]) -> list[str]:
    """
    Return the ids in order, and those that only the rest has, each behind the one it follows there.
    """
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
    Remove every task, but for what others have done since the base; an empty plan is left alone.
    """
    if transaction.base is not None:
        _write_from(transaction.base, transaction, ())
    elif len(transaction.draft):
        _clear(transaction)


def _clear(transaction: Transaction) -> None:
    tasks = tuple(transaction.draft)
    # All that are claimed are named, hence no stop at the first.
    refused = [task for task in tasks if not transaction.may_change(task)]
    if not refused:
        transaction.emit(PlanCleared(tuple(task.id for task in tasks), transaction.at))
