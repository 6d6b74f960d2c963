"""
Build plans from events. Every event is accepted and no rule is checked, so an old journal replays
under any policy.

Theory. `decide` checks once whether a command is allowed, at the time of the command. Its events
are facts, and are applied here whenever a plan is built from its history. So nothing is refused
here: an event that does not fit the plan (its task is gone, its edge exists already) does nothing,
in every version of todoplan alike. A check here could make plans unreadable that were valid when
they were saved.

Law: replaying the events that `decide` returned gives the plan that it returned. replay(a + b)
equals replaying b on the result of replaying a. Each event increments the revision, even one that
does nothing: the revision is a position in the history.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Never, NoReturn, assert_never

import attrs

from todoplan.core.events.types import (
    ClaimRenewed,
    EdgeAdded,
    EdgeRemoved,
    Event,
    ParentChanged,
    PlanApproved,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskClaimed,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
    TasksReordered,
)
from todoplan.core.plan.model import EDITABLE, Approval, Status, short_repr
from todoplan.core.plan.plan import Draft, Plan
from todoplan.errors import PlanError


def apply(plan: Plan, event: Event) -> Plan:
    """
    Return the plan after one event.

    Raises:
        PlanError: an argument is not a plan, or not an event.
    """
    return replay(plan, (event,))


def replay(plan: Plan, events: Iterable[Event]) -> Plan:
    """
    Return the plan after these events. Replaying a + b equals replaying b on the result of a.

    Raises:
        PlanError: `plan` is not a plan, or an item of `events` is not an event.
    """
    if type(plan) is not Plan or not hasattr(events, "__iter__"):
        _check_arguments(plan, events)
    draft = Draft(plan)
    for event in events:
        fold(draft, event)
    return draft.freeze()


def fold(draft: Draft, event: Event) -> None:
    """Apply one event to the draft. Every event increments the revision."""
    draft.revision += 1
    # Cases are tried in order, so the most frequent event comes first.
    match event:
        case StatusChanged():
            # Applied whatever the present status is: `old` is only for rules and readers.
            draft.move(event.task_id, event.new, event.at)
            if event.lost_by is not None:
                _count_failed_attempt(draft, event.task_id)
        case TaskCreated():
            draft.add(event.task)
        case TaskEdited():
            _edit(draft, event)
        case EdgeAdded(blocker, blocked, at):
            draft.link(blocker, blocked, at)
        case EdgeRemoved(blocker, blocked, at):
            draft.unlink(blocker, blocked, at)
        case TaskDeleted(task_id, at):
            draft.remove(task_id, at)
        case ParentChanged(task_id, parent, at):
            draft.nest(task_id, parent, at)
        case TaskClaimed() | ClaimRenewed():
            _claim(draft, event)
        case TasksReordered(task_ids):
            draft.reorder(task_ids)
        case PlanCleared():
            draft.replace(())
        case PlanRestored(tasks, next_id, _, approved):
            # Law 6: the counter never goes back, or the ids of later tasks would be given out
            # again.
            draft.next_id = max(draft.next_id, next_id)
            draft.replace(tasks)
            draft.approved = approved
        case PlanApproved(by, at):
            draft.approved = Approval(draft.revision, by, at)
        case _ as unreachable:
            _refuse(unreachable)


def _refuse(event: Never) -> NoReturn:
    msg = (
        f"{short_repr(event)} is no event; give events, such as those of a decision:"
        " replay(plan, accepted.events)"
    )
    raise PlanError(msg, seen=event)


def _check_arguments(plan: object, events: object) -> None:
    if not isinstance(plan, Plan):
        msg = f"{short_repr(plan)} was given as the plan; write replay(plan, events)"
        raise PlanError(msg, seen=plan)
    if not isinstance(events, Iterable):
        msg = f"{short_repr(events)} are no events; write replay(plan, accepted.events)"
        raise PlanError(msg, seen=events)


def _edit(draft: Draft, event: TaskEdited) -> None:
    task = draft.get(event.task_id)
    if task is not None:
        # Setting another field would break the draft's invariants: a status affects counts, an edge
        # has two ends.
        changes = {name: new for name, new in event.changes.items() if name in EDITABLE}
        # Only a pending task waits: a task that was started or closed since stays so.
        if task.status is not Status.PENDING:
            changes.pop("waiting", None)
        # Law 20: evidence counts only for the check for which it was recorded.
        if changes.get("check", task.check) != task.check:
            changes.setdefault("evidence", None)
        draft.put(task.but(updated_at=event.at or task.updated_at, **changes))


def _claim(draft: Draft, event: TaskClaimed | ClaimRenewed) -> None:
    task = draft.get(event.task_id)
    if task is None:
        return
    at = event.at or task.updated_at
    if isinstance(event, TaskClaimed):
        # Counted even if the task is no longer in progress: a fencing token is never given out
        # twice.
        held = event.claim if task.status is Status.IN_PROGRESS else None
        claims = max(task.claims, event.claim.fence)
        draft.put(task.but(claim=held, claims=claims, updated_at=at))
        if event.lost_by is not None:
            _count_failed_attempt(draft, event.task_id)
    elif task.claim is not None:
        claim = attrs.evolve(task.claim, until=event.until)
        draft.put(task.but(claim=claim, updated_at=at))


def _count_failed_attempt(draft: Draft, task_id: str) -> None:
    task = draft.get(task_id)
    if task is not None and not task.status.closed:
        draft.put(task.but(failed_attempts=task.failed_attempts + 1))


# -------- touched --------
# Which tasks events affect.


_OF_THE_PLAN = ParentChanged | TaskDeleted | TasksReordered | PlanCleared | PlanRestored


def ids_of(event: Event) -> tuple[str, ...]:
    """Return the ids of the tasks that an event names."""
    match event:
        case StatusChanged() | TaskEdited() | TaskDeleted():
            return (event.task_id,)
        case ParentChanged() | TaskClaimed() | ClaimRenewed():
            return (event.task_id,)
        case TaskCreated(task):
            return (task.id,)
        case EdgeAdded() | EdgeRemoved():
            return event.blocker, event.blocked
        case TasksReordered(task_ids) | PlanCleared(task_ids):
            return task_ids
        case PlanRestored(tasks):
            return tuple(task.id for task in tasks)
        case PlanApproved():
            return ()
        case _ as unreachable:
            assert_never(unreachable)


def touched(events: Iterable[Event]) -> tuple[str, ...] | None:
    """
    Return the ids of the tasks that the events changed or added, in order.

    This is for code that updates a copy of a plan. `None` means that the change is larger (tasks
    were removed, moved or restored), so the whole plan must be read.
    """
    ids: dict[str, None] = {}  # an ordered set
    for event in events:
        if isinstance(event, _OF_THE_PLAN):
            return None
        # A subtask is put after its siblings, which may not be the end of the plan.
        if isinstance(event, TaskCreated) and event.task.parent is not None:
            return None
        for task_id in ids_of(event):
            ids[task_id] = None
    return tuple(ids)


# -------- journal --------
# One entry of a plan's history: the events of an accepted command, with time and actor.


@attrs.frozen
class Entry:
    """
    The effect of one accepted command.

    `revision` is the plan's revision after the command, and identifies the entry. `cause` is the
    name of the command or tool. `undoes` is the revision of the entry that this one undid.
    """

    revision: int
    events: tuple[Event, ...]
    at: datetime | None = None
    actor: str | None = None
    cause: str = ""
    undoes: int | None = None
