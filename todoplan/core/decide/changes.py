"""The small changes that commands consist of. Each does nothing if there is nothing to change."""

from datetime import datetime
from typing import Any

from todoplan.core.decide.transaction import Transaction
from todoplan.core.events.types import StatusChanged, TaskDeleted, TaskEdited, TasksReordered
from todoplan.core.plan.fast_constructor import fast_constructor
from todoplan.core.plan.frozen import FrozenDict
from todoplan.core.plan.graph import tree_order
from todoplan.core.plan.model import Status, Task, Waiting
from todoplan.core.rules.lifecycle import ACTION_TO, TABLE, Kind

__all__ = ["edit", "move", "remove", "reorder", "still_to_come", "wait"]

_moved = fast_constructor(StatusChanged)


def edit(transaction: Transaction, task: Task, changes: dict[str, Any]) -> None:
    """Set the fields, if there are any."""
    if changes:
        transaction.emit(TaskEdited(task.id, FrozenDict(changes), transaction.at))


def move(transaction: Transaction, task: Task, status: Status) -> None:
    """Change the status of the task, unless it has that status already."""
    cell = TABLE[task.status, ACTION_TO[status]]
    if cell.kind is not Kind.STAY and (task.claim is None or transaction.may_change(task)):
        transaction.emit(_moved(task.id, task.status, cell.target, transaction.at))


def remove(transaction: Transaction, task_id: str, path: str = "") -> None:
    """Delete a task, unless another actor has claimed it."""
    task = transaction.draft.get(task_id)
    if task is not None and (task.claim is None or transaction.may_change(task, path)):
        transaction.emit(TaskDeleted(task_id, transaction.at))


def still_to_come(waiting: Waiting | None, at: datetime | None) -> Waiting | None:
    """
    Return a wait, or `None` if it ends at or before this time.

    An expired wait would be ended by the next command, and begin again when the same list is
    written again (law 8).
    """
    over = waiting is not None and at is not None and waiting.until and waiting.until <= at
    return None if over else waiting


def wait(transaction: Transaction, task_id: str, waiting: Waiting | None) -> None:
    """
    Make a task wait for something outside the plan, or end its wait (`None`).

    A task in progress becomes pending; a closed task is refused.
    """
    task = transaction.draft.get(task_id)
    waiting = still_to_come(waiting, transaction.at)
    if task is None or task.waiting == waiting:
        return
    if task.status is Status.IN_PROGRESS:
        move(transaction, task, Status.PENDING)
    elif task.status is not Status.PENDING:
        transaction.refuse("cannot_wait", task_id, seen=task.status, path="waiting")
        return
    edit(transaction, task, {"waiting": waiting})


def reorder(transaction: Transaction, order: list[str]) -> None:
    """Put all tasks into this order, as far as the tree allows, unless they already are."""
    draft = transaction.draft
    now = [task.id for task in draft]
    if order == now:
        return
    if draft.nested:
        tasks = filter(None, map(draft.get, order))
        # The final order: writing the same list again must change nothing (law 8).
        order = [task.id for task in tree_order(tasks)]
    if order != now:
        transaction.emit(TasksReordered(tuple(order), transaction.at))
