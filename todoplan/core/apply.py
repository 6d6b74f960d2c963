"""
Events into plans: total, and without a rule. Yesterday's journal replays under any policy.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, assert_never

from todoplan.core.draft import Draft
from todoplan.core.events import (
    EdgeAdded,
    EdgeRemoved,
    Event,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
    TasksReordered,
)
from todoplan.core.model import Status, Task
from todoplan.core.plan import Plan

__all__ = ["EDITABLE", "apply", "born", "fold", "replay"]

EDITABLE = frozenset(
    {"subject", "description", "active_form", "priority", "owner", "estimate", "metadata"}
)


def apply(plan: Plan, event: Event) -> Plan:
    """
    Return what one event makes of a plan.
    """
    return replay(plan, (event,))


def replay(plan: Plan, events: Iterable[Event]) -> Plan:
    """
    Return the plan after these events. Replaying a + b is replaying b upon what a gave.
    """
    draft = Draft(plan)
    for event in events:
        fold(draft, event)
    return draft.freeze()


def fold(draft: Draft, event: Event) -> None:
    """
    Let one event happen to the draft. Every event counts one revision.
    """
    draft.revision += 1
    match event:
        case TaskCreated(task):
            draft.add(task)
        case StatusChanged(task_id, _, new, at):
            _put(draft, task_id, at, _times(new, at))
        case TaskEdited(task_id, changes, at):
            _put(draft, task_id, at, {k: v for k, v in changes.items() if k in EDITABLE})
        case EdgeAdded(blocker, blocked, at):
            draft.link(blocker, blocked, at)
        case EdgeRemoved(blocker, blocked, at):
            draft.unlink(blocker, blocked, at)
        case TaskDeleted(task_id, at):
            draft.remove(task_id, at)
        case TasksReordered(task_ids):
            draft.reorder(task_ids)
        case PlanCleared():
            draft.replace(())
        case PlanRestored(tasks, next_id):
            draft.next_id = max(draft.next_id, next_id)
            draft.replace(tasks)
        case _ as unreachable:
            assert_never(unreachable)


def _put(draft: Draft, task_id: str, at: datetime | None, changes: dict[str, Any]) -> None:
    task = draft.get(task_id)
    if task is not None:
        if task.started_at is not None:
            changes.pop("started_at", None)
        draft.put(task.but(updated_at=at or task.updated_at, **changes))


def _times(new: Status, at: datetime | None) -> dict[str, Any]:
    changes: dict[str, Any] = {"status": new, "completed_at": None}
    if new is Status.IN_PROGRESS:
        changes["started_at"] = at
    if new is Status.COMPLETED:
        changes["completed_at"] = at
    return changes


def born(task: Task, at: datetime | None) -> Task:
    """
    Return a new task with the times that its status implies.
    """
    changes = _times(task.status, at)
    return task.but(created_at=at, updated_at=at, **changes)
