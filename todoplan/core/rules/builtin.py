"""
The rules that a policy can switch: each looks at a change and yields what is wrong with it.

A rule about the plan yields only what a change breaks anew: a fault that the plan had before is not
held against a command that does not add to it, so that a stricter policy never locks a plan up.
"""

from collections.abc import Iterable, Iterator, Sequence
from types import NoneType

from todoplan.core.commands import Batch, CreateTasks, WriteTodos
from todoplan.core.events.types import (
    EdgeAdded,
    Event,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
)
from todoplan.core.plan.lifecycle import ACTION_TO, TABLE, Kind
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules.builtin_tasks import TASK_RULES
from todoplan.core.rules.change import Change
from todoplan.core.rules.rule import MOST_NAMED, Rule, Trigger, first_ids, moves, registering

__all__ = ["RULES", "Rule"]

_HERE: dict[str, Rule] = {}
_rule = registering(_HERE)
_STARTED = moves([Status.IN_PROGRESS])
_COMPLETED = moves([Status.COMPLETED])
_REOPENED = moves(of=[Status.COMPLETED])
_JUMPED: set[Trigger] = {
    (old, move.target) for (old, _), move in TABLE.items() if move.kind is Kind.JUMP
}


@_rule(*_STARTED, TaskCreated, PlanRestored, about_plan=True)
def _single_in_progress(change: Change) -> Iterable[Problem]:
    now = change.after.counts.in_progress
    if now <= 1 or now <= change.before.counts.in_progress:
        return ()
    return (
        Problem("single_in_progress", first_ids(change.after.active()), seen=str(now), legal="1"),
    )


@_rule()
def _some_in_progress(change: Change) -> Iterable[Problem]:
    if not isinstance(change.command, WriteTodos | Batch):
        return ()  # of several calls, the next may start a task
    before, after = change.before.counts, change.after.counts
    if after.in_progress or not after.open or (before.open and not before.in_progress):
        return ()
    return (Problem("some_in_progress", first_ids(change.after.ready()), seen="0", legal="1"),)


@_rule()
def _first_in_progress(change: Change) -> Iterable[Problem]:
    after = change.after.counts
    listed = any(change.writes()) or isinstance(change.command, CreateTasks)
    if not listed or change.before.counts.open or after.in_progress or not after.open:
        return ()
    return (Problem("first_in_progress", first_ids(change.after.ready()), seen="0", legal="1"),)


@_rule(*_REOPENED, TaskEdited, TaskDeleted, PlanCleared)
def _completed_is_final(change: Change) -> Iterator[Problem]:
    for move in change.moves():
        if move.old is Status.COMPLETED:
            yield Problem("completed_is_final", (move.task_id,), seen=f"set to {move.new}")
    for was, task in change.edited():
        if was.status is Status.COMPLETED and was.subject != task.subject:
            yield Problem("completed_is_final", (task.id,), seen="reworded")
    if change.before.counts.open:
        for task in change.removed():
            if task.status is Status.COMPLETED:
                yield Problem("completed_is_final", (task.id,), seen="removed")


@_rule(*_JUMPED)
def _linear_status(change: Change) -> Iterator[Problem]:
    for move in change.moves():
        if TABLE[move.old, ACTION_TO[move.new]].kind is Kind.JUMP:
            yield Problem("linear_status", (move.task_id,), seen=f"{move.old} to {move.new}")


def _blocked_moves(change: Change, to: Status) -> Iterable[Problem]:
    late = list(filter(change.after.waits_for, _arrived(change.events, to)))
    return _blocked(change.after, dict.fromkeys(late), to) if late else ()


def _blocked(plan: Plan, task_ids: Iterable[str], to: Status) -> Iterator[Problem]:
    for task in filter(None, map(plan.get, task_ids)):
        if task.status is to:
            waiting = [b for b in task.blocked_by if not plan[b].status.resolved]
            yield Problem(f"blocked_{_VERB[to]}", (task.id,), seen=", ".join(waiting[:MOST_NAMED]))


def _arrived(events: Sequence[Event], to: Status) -> list[str]:
    arrived = []
    for event in events:
        if type(event) is StatusChanged and event.new is to:
            arrived.append(event.task_id)
        elif type(event) is TaskCreated:
            arrived.append(event.task.id)
    return arrived


_VERB = {Status.IN_PROGRESS: "start", Status.COMPLETED: "complete"}


@_rule(*_STARTED, EdgeAdded)
def _blocked_start(change: Change) -> Iterable[Problem]:
    return _blocked_moves(change, Status.IN_PROGRESS)


@_rule(*_COMPLETED, EdgeAdded)
def _blocked_complete(change: Change) -> Iterable[Problem]:
    return _blocked_moves(change, Status.COMPLETED)


@_rule(TaskDeleted, PlanCleared)
def _dropped_open_items(change: Change) -> Iterable[Problem]:
    if all(write.clear for write in change.writes()):
        return ()
    dropped = tuple(task.id for task in change.removed() if not task.status.resolved)
    return (Problem("dropped_open_items", dropped, seen=str(len(dropped))),) if dropped else ()


@_rule(PlanCleared)
def _empty_write(change: Change) -> Iterable[Problem]:
    still_open = change.before.counts.open
    if not still_open or all(write.todos or write.clear for write in change.writes()):
        return ()
    return (Problem("empty_write", seen=str(still_open)),)


@_rule(*_COMPLETED)
def _batch_completion(change: Change) -> Iterable[Problem]:
    done = tuple(dict.fromkeys(move.task_id for move in change.moves(Status.COMPLETED)))
    return (Problem("batch_completion", done, seen=str(len(done))),) if len(done) > 1 else ()


@_rule(NoneType)
def _no_op_write(change: Change) -> Iterable[Problem]:
    if change.events or not any(change.writes()):
        return ()
    return (Problem("no_op_write"),)


RULES: dict[str, Rule] = {**_HERE, **TASK_RULES}
"""Every rule by its name."""
