"""Item by item: what creating, updating and deleting tasks makes of a plan."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from todoplan.core.commands import UNSET, CreateTask, UpdateTask
from todoplan.core.decide.transaction import Transaction
from todoplan.core.events.types import (
    EdgeAdded,
    EdgeRemoved,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
)
from todoplan.core.plan.fast_constructor import fast_constructor
from todoplan.core.plan.frozen import EMPTY, LEVELS, FrozenDict, freeze
from todoplan.core.plan.graph import path_between
from todoplan.core.plan.lifecycle import ACTION_TO, TABLE, Kind
from todoplan.core.plan.model import Status, Task, Todo
from todoplan.errors import PlanError

__all__ = ["create", "delete", "edit", "move", "new_task", "start_next", "task_of", "update"]

_Times = tuple[datetime | None, datetime | None, datetime | None, datetime | None]
_NO_TIMES: _Times = (None, None, None, None)
_PENDING, _IN_PROGRESS, _COMPLETED = Status.PENDING, Status.IN_PROGRESS, Status.COMPLETED
_TEXTS = ("subject", "description", "active_form", "priority", "owner", "estimate")
_fields = attrgetter(*_TEXTS, "metadata")
_NO_FIELDS = (*(UNSET for _ in _TEXTS), EMPTY)
_ends = attrgetter("add_blocks", "add_blocked_by", "remove_blocks", "remove_blocked_by")
_NO_ENDS = ((), (), (), ())
_task = fast_constructor(Task)
_moved = fast_constructor(StatusChanged)
_created = fast_constructor(TaskCreated)


def create(transaction: Transaction, items: Sequence[CreateTask], *, single: bool = False) -> None:
    """
    Add the tasks, then their edges: "#0" means the first of them.
    """
    ids: dict[str, str] = {}
    for index, item in enumerate(items):
        if not item.subject.strip():
            transaction.fault("empty_text", path="subject" if single else f"tasks[{index}].subject")
        task_id = ids[f"#{index}"] = str(transaction.draft.next_id)
        task = new_task(transaction, item, task_id, "" if single else f"tasks[{index}].")
        transaction.emit(_created(task))
    for index, item in enumerate(items):
        where, mine = "" if single else f"tasks[{index}].", ids[f"#{index}"]
        for end in _resolved(transaction, item.blocked_by, ids, f"{where}blocked_by"):
            _link(transaction, end, mine, f"{where}blocked_by")
        for end in _resolved(transaction, item.blocks, ids, f"{where}blocks"):
            _link(transaction, mine, end, f"{where}blocks")


def new_task(transaction: Transaction, item: CreateTask, task_id: str, where: str = "") -> Task:
    """
    Return the task that a creation makes, with the times that its status implies.

    `where` is where the creation stands in the command, such as "tasks[0].".
    """
    return _task(
        task_id,
        item.subject,
        item.description,
        item.status,
        item.active_form,
        item.priority,
        item.owner,
        (),
        (),
        item.estimate,
        _frozen(transaction, item.metadata, where),
        *_times_of(item.status, transaction.at),
    )


def _frozen(transaction: Transaction, metadata: Mapping[str, Any], where: str = "") -> FrozenDict:
    try:
        frozen: FrozenDict = freeze(metadata)
    except PlanError:
        seen, path = f"over {LEVELS} levels", f"{where}metadata"
        transaction.fault("too_deep", seen=seen, legal=str(LEVELS), path=path)
        return EMPTY
    return frozen


def task_of(todo: Todo, task_id: str, at: datetime | None) -> Task:
    """
    Return the task that a new line makes.
    """
    status = todo.status or _PENDING
    form, priority = todo.active_form, todo.priority
    return _task(
        task_id, todo.content, "", status, form, priority, None, (), (), None, EMPTY,
        *_times_of(status, at),
    )  # fmt: skip


def _times_of(status: Status, at: datetime | None) -> _Times:
    """
    Return when a task that is created with a status was created, updated, started, completed.
    """
    if at is None:
        return _NO_TIMES
    started, completed = status is _IN_PROGRESS, status is _COMPLETED
    return at, at, at if started else None, at if completed else None


def _resolved(
    transaction: Transaction, ends: Iterable[str], ids: dict[str, str], path: str
) -> Iterable[str]:
    for end in dict.fromkeys(ends):
        if not end.startswith("#"):
            yield end
        elif end in ids:
            yield ids[end]
        else:
            transaction.fault(
                "unknown_reference", seen=end, legal=f"#0 to #{len(ids) - 1}", path=path
            )


def _link(transaction: Transaction, blocker: str, blocked: str, path: str) -> None:
    if blocker == blocked:
        transaction.fault("self_edge", blocker, seen=blocker, path=path)
        return
    end = transaction.find(blocker, path), transaction.find(blocked, path)
    if end[0] is None or end[1] is None or blocked in end[0].blocks:
        return
    way = path_between(transaction.draft, blocked, blocker)
    if way:
        transaction.fault("cycle", *way, blocked, seen=" -> ".join((*way, blocked)), path=path)
        return
    transaction.emit(EdgeAdded(blocker, blocked, transaction.at))


def _unlink(transaction: Transaction, blocker: str, blocked: str, path: str) -> None:
    ends = transaction.find(blocker, path), transaction.find(blocked, path)
    if ends[0] is not None and ends[1] is not None and blocked in ends[0].blocks:
        transaction.emit(EdgeRemoved(blocker, blocked, transaction.at))


def update(transaction: Transaction, command: UpdateTask) -> None:
    """
    Change one task: its fields, then edges taken away, edges added, and its status.
    """
    task = transaction.find(command.task_id, "task_id")
    if task is None:
        return
    if _fields(command) != _NO_FIELDS:
        _rewrite(transaction, task, command)
    if _ends(command) != _NO_ENDS:
        _edges(transaction, command)
    if command.status is not UNSET:
        move(transaction, task, command.status)


def _rewrite(transaction: Transaction, task: Task, command: UpdateTask) -> None:
    if command.subject is not UNSET and not command.subject.strip():
        transaction.fault("empty_text", task.id, path="subject")
    edit(transaction, task, _changes(transaction, task, command))


def _changes(transaction: Transaction, task: Task, command: UpdateTask) -> dict[str, Any]:
    given = zip(_TEXTS, _fields(command), strict=False)
    changes = {
        name: value for name, value in given if value is not UNSET and value != getattr(task, name)
    }
    if command.metadata:
        merged = {**task.metadata, **_frozen(transaction, command.metadata)}
        gone = {key for key, value in command.metadata.items() if value is None}
        kept = FrozenDict({key: value for key, value in merged.items() if key not in gone})
        if kept != task.metadata:
            changes["metadata"] = kept
    return changes


def edit(transaction: Transaction, task: Task, changes: dict[str, Any]) -> None:
    """
    Set the fields, if there are any to set.
    """
    if changes:
        transaction.emit(TaskEdited(task.id, FrozenDict(changes), transaction.at))


def _edges(transaction: Transaction, command: UpdateTask) -> None:
    task_id = command.task_id
    for end in command.remove_blocks:
        _unlink(transaction, task_id, end, "remove_blocks")
    for end in command.remove_blocked_by:
        _unlink(transaction, end, task_id, "remove_blocked_by")
    for end in command.add_blocks:
        _link(transaction, task_id, end, "add_blocks")
    for end in command.add_blocked_by:
        _link(transaction, end, task_id, "add_blocked_by")


def move(transaction: Transaction, task: Task, status: Status) -> None:
    """
    Take the task to the status, unless it is there.
    """
    cell = TABLE[task.status, ACTION_TO[status]]
    if cell.kind is not Kind.STAY:
        transaction.emit(_moved(task.id, task.status, cell.target, transaction.at))


def delete(transaction: Transaction, task_id: str) -> None:
    """
    Remove one task.
    """
    if transaction.find(task_id, "task_id") is not None:
        transaction.emit(TaskDeleted(task_id, transaction.at))


def start_next(transaction: Transaction) -> None:
    """
    Start the first ready task, if none is in progress.
    """
    task = transaction.draft.first_ready()
    if task is not None and not transaction.draft.counts.in_progress:
        move(transaction, task, _IN_PROGRESS)
