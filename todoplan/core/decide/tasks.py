"""Decide commands about single tasks: create, update, delete, move, start."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

import attrs

from todoplan.core.commands import (
    UNSET,
    CreateTask,
    DeleteTask,
    MoveTask,
    UpdateTask,
)
from todoplan.core.decide.changes import edit, move, remove, reorder, still_to_come, wait
from todoplan.core.decide.claims import under
from todoplan.core.decide.transaction import Transaction
from todoplan.core.events.types import TaskCreated
from todoplan.core.plan.fast_constructor import fast_constructor, mutable_variant
from todoplan.core.plan.frozen import EMPTY, LEVELS, FrozenDict, freeze
from todoplan.core.plan.model import EDITABLE, TASK_FIELDS, Status, Task, Todo
from todoplan.errors import PlanError

__all__ = ["create", "delete", "new_tasks", "place", "start_next", "update"]

# Metadata is merged, and waiting depends on the status, so both are handled separately. Every other
# field of the command is set as given.
_SETTABLE = tuple(
    name
    for name in TASK_FIELDS
    if name in EDITABLE - {"metadata", "waiting"} and name in attrs.fields_dict(UpdateTask)
)
_EDGES = ("remove_blocks", "remove_blocked_by", "add_blocks", "add_blocked_by")
_beside_status = attrgetter(*_SETTABLE, "parent", "metadata", *_EDGES)
_NOTHING = (*(UNSET for _ in _SETTABLE), UNSET, EMPTY, *(() for _ in _EDGES))
# After the id, the first fields of a task are those of CreateTask, in the same order.
_given_by = attrgetter(*(name for name in TASK_FIELDS if name in attrs.fields_dict(CreateTask)))
_Task = mutable_variant(Task)  # its class is set to Task once it is filled: see `fast_constructor`
_created = fast_constructor(TaskCreated)


def create(transaction: Transaction, items: Sequence[CreateTask], *, single: bool = False) -> None:
    """Add the tasks, then their edges. In an edge "#0" means the first of these tasks."""
    tasks: list[Task] = []
    ids: dict[str, str] = {}
    for index, item in enumerate(items):
        if not item.subject.strip():
            path = "subject" if single else f"tasks[{index}].subject"
            transaction.refuse("empty_text", path=path)
        # Law 6: ids come from the plan's counter. AgentScope gives out the id of a deleted task
        # again.
        made = _Task(str(transaction.draft.next_id), *_given_by(item))
        if item.blocks or item.blocked_by:
            # Each edge is a separate event, which sets both of its ends (law 4).
            made.blocks = made.blocked_by = ()
        if item.metadata is not EMPTY:
            path = "metadata" if single else f"tasks[{index}].metadata"
            made.metadata = _frozen(transaction, item.metadata, path)
        if transaction.at is not None:
            _set_times(made, transaction.at)
        if item.parent is not None:
            path = "parent" if single else f"tasks[{index}].parent"
            made.parent = _parent(transaction, item.parent, ids, path)
        if item.waiting is not None and item.status is not Status.PENDING:
            path = "waiting" if single else f"tasks[{index}].waiting"
            transaction.refuse("cannot_wait", made.id, seen=item.status, path=path)
            made.waiting = None
        elif item.waiting is not None:
            made.waiting = still_to_come(item.waiting, transaction.at)
        made.__class__ = Task
        tasks.append(made)
        ids[f"#{index}"] = made.id
        transaction.emit(_created(made))
    # Edges come last, so that an item can refer to a later one of the same command.
    for index, (item, task) in enumerate(zip(items, tasks, strict=True)):
        if item.blocks or item.blocked_by:
            _link_new(transaction, item, task.id, ids, "" if single else f"tasks[{index}].")


def _parent(transaction: Transaction, named: str, ids: Mapping[str, str], path: str) -> str | None:
    """Return the id of the parent of a new task; `None` if there is no such task."""
    if not named.startswith("#"):
        found = transaction.find(named, path)
        return None if found is None else found.id
    # A task that is created later in the same command cannot be the parent.
    if named not in ids:
        legal = f"#0 to #{len(ids) - 1}, or the id of a task" if ids else "the id of a task"
        transaction.refuse("unknown_reference", seen=named, legal=legal, path=path)
    return ids.get(named)


def _link_new(
    transaction: Transaction, item: CreateTask, task_id: str, ids: Mapping[str, str], where: str
) -> None:
    for name, ends in (("blocked_by", item.blocked_by), ("blocks", item.blocks)):
        path = where + name
        for end in dict.fromkeys(ends):
            other = ids.get(end) if end.startswith("#") else end
            if other is None:
                legal = f"#0 to #{len(ids) - 1}"
                transaction.refuse("unknown_reference", seen=end, legal=legal, path=path)
            elif name == "blocks":
                transaction.link(task_id, other, path)
            else:
                transaction.link(other, task_id, path)


def new_tasks(todos: Iterable[tuple[str, Todo]], at: datetime | None) -> list[Task]:
    """Return the tasks for new lines of a whole-list write; each line comes with its id."""
    tasks: list[Task] = []
    for task_id, todo in todos:
        made = _Task(
            id=task_id,
            subject=todo.content,
            status=todo.status or Status.PENDING,
            active_form=todo.active_form,
            priority=todo.priority,
            waiting=still_to_come(todo.waiting, at) if todo.waiting else None,
        )
        if at is not None:
            _set_times(made, at)
        made.__class__ = Task
        tasks.append(made)
    return tasks


def _set_times(made: Any, at: datetime) -> None:
    """Set the times that a new task with this status has."""
    made.created_at = made.updated_at = at
    if made.status is Status.IN_PROGRESS:
        made.started_at = at
    elif made.status is Status.COMPLETED:
        made.completed_at = at


def _frozen(transaction: Transaction, metadata: Mapping[str, Any], path: str) -> FrozenDict:
    try:
        frozen: FrozenDict = freeze(metadata)
    except PlanError:
        seen = f"over {LEVELS} levels"
        transaction.refuse("too_deep", seen=seen, legal=str(LEVELS), path=path)
        return EMPTY
    return frozen


def update(transaction: Transaction, command: UpdateTask) -> None:
    """Change one task: its fields, removed edges, its parent, added edges, and its status."""
    task_id = command.task_id
    task = transaction.find(task_id, "task_id")
    if task is None:
        return
    if command.fence is not None and not under(transaction, task, command.fence):
        return
    # Most commands set only a status; one comparison detects this.
    if _beside_status(command) != _NOTHING:
        edit(transaction, task, _changes(transaction, task, command))
        # Edges are removed first, so that one command can reverse an edge.
        for end in command.remove_blocks:
            transaction.unlink(task_id, end, "remove_blocks")
        for end in command.remove_blocked_by:
            transaction.unlink(end, task_id, "remove_blocked_by")
        if command.parent is not UNSET:
            transaction.nest(task, command.parent, "parent")
        for end in command.add_blocks:
            transaction.link(task_id, end, "add_blocks")
        for end in command.add_blocked_by:
            transaction.link(end, task_id, "add_blocked_by")
    if command.status is not UNSET:
        move(transaction, task, command.status)
    if command.waiting is not UNSET:
        wait(transaction, task_id, command.waiting)


def _changes(transaction: Transaction, task: Task, command: UpdateTask) -> dict[str, Any]:
    if command.subject is not UNSET and not command.subject.strip():
        transaction.refuse("empty_text", task.id, path="subject")
    given = zip(_SETTABLE, _beside_status(command), strict=False)
    changes = {
        name: value for name, value in given if value is not UNSET and value != getattr(task, name)
    }
    if command.metadata:
        # `None` in the command deletes its key; a `None` already in the task's metadata stays.
        merged = {**task.metadata, **_frozen(transaction, command.metadata, "metadata")}
        gone = {key for key, value in command.metadata.items() if value is None}
        kept = FrozenDict({key: value for key, value in merged.items() if key not in gone})
        if kept != task.metadata:
            changes["metadata"] = kept
    return changes


def delete(transaction: Transaction, command: DeleteTask) -> None:
    """
    Delete one task. Its subtasks prevent this, move up, or are deleted too, as `children` says.
    """
    task_id = command.task_id
    if transaction.find(task_id, "task_id") is None:
        return
    below = transaction.draft.children(task_id)
    if not below:
        remove(transaction, task_id, "task_id")
        return
    if command.children == "refuse":
        transaction.refuse("has_children", task_id, *below, seen=str(len(below)), path="task_id")
        return
    gone = [task_id]
    if command.children == "remove":
        for inner in gone:  # the list grows during the loop
            gone += transaction.draft.children(inner)
    # The deepest tasks are deleted first, so that no task is moved up only to be deleted.
    for inner in reversed(gone):
        remove(transaction, inner, "task_id")


def place(transaction: Transaction, command: MoveTask) -> None:
    """Put a task, with its subtasks, before or after another one, below the same parent."""
    task = transaction.find(command.task_id, "task_id")
    path = "after" if command.before is None else "before"
    beside = transaction.find(command.before or command.after or "", path)
    if task is None or beside is None or task is beside:
        return
    transaction.nest(task, beside.parent, path)
    order = [each.id for each in transaction.draft]
    order.remove(task.id)
    # After a task means after its subtasks too; the tree order ensures this.
    order.insert(order.index(beside.id) + (command.before is None), task.id)
    reorder(transaction, order)


def start_next(transaction: Transaction) -> None:
    """
    Start the first ready task, unless a task is in progress.

    If other sessions work on the plan too, a ready task that this session has listed or just
    created is preferred.
    """
    if transaction.draft.counts.in_progress:
        return
    # Chosen by readiness: AgentScope 1.x starts the next task by index, even if it is completed.
    ready = transaction.draft.ready()
    base = transaction.base
    if base is None:
        task = next(ready, None)
    else:
        own = {task_id for task_id, _ in transaction.lines or ()}
        own |= {one.task.id for one in transaction.events if isinstance(one, TaskCreated)}
        task = min(
            ready, key=lambda one: one.id not in own and not base.has_listed(one.id), default=None
        )
    if task is not None:
        move(transaction, task, Status.IN_PROGRESS)
