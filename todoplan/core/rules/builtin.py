"""
The rules about actions: status changes, whole-list writes, removed tasks.

The message of each rule to a model is under its name in `todoplan/texts/problems.txt`.
"""

from collections.abc import Iterable, Iterator
from types import NoneType

from todoplan.core.commands import Batch, CreateTasks, WriteTodos
from todoplan.core.events.types import (
    EdgeAdded,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
)
from todoplan.core.plan.model import Status
from todoplan.core.plan.questions import unresolved_blockers
from todoplan.core.problems import MOST_NAMED, Problem
from todoplan.core.rules.builtin_tasks import TASK_RULES
from todoplan.core.rules.builtin_tree import TREE_RULES
from todoplan.core.rules.builtin_trust import TRUST_RULES
from todoplan.core.rules.change import Change
from todoplan.core.rules.lifecycle import ACTION_TO, TABLE, Kind
from todoplan.core.rules.rule import Rule, Trigger, first_ids, moves, registering

__all__ = ["RULES", "Rule"]

_HERE: dict[str, Rule] = {}
_rule = registering(_HERE)
_STARTED = moves([Status.IN_PROGRESS])
_MOST_OF_A_TEXT = 60
_COMPLETED = moves([Status.COMPLETED])
_REOPENED = moves(of=[Status.COMPLETED])
# Taken from the table, so that a new status or action needs no change here.
_JUMPED: set[Trigger] = {
    (old, move.target) for (old, _), move in TABLE.items() if move.kind is Kind.JUMP
}


@_rule(
    *_STARTED,
    TaskCreated,
    PlanRestored,
    about_plan=True,
    presets={"default": "warn", "claude": "error"},
)
def _single_in_progress(change: Change) -> Iterable[Problem]:
    # Tasks already in progress before the command are not its fault: only one more is.
    now = change.after.counts.in_progress
    if now <= 1 or now <= change.before.counts.in_progress:
        return ()
    # Each claimed task is another worker's: a team may have several tasks in progress.
    free = [task for task in change.after.active() if task.claim is None]
    now = len(free)
    if now <= 1 or now <= sum(task.claim is None for task in change.before.active()):
        return ()
    return (Problem("single_in_progress", first_ids(free), seen=str(now), legal="1"),)


@_rule()
def _some_in_progress(change: Change) -> Iterable[Problem]:
    if not isinstance(change.command, WriteTodos | Batch):
        return ()  # with single-task commands, the next call may start a task
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


@_rule(*_REOPENED, TaskEdited, TaskDeleted, PlanCleared, presets={"default": "warn"})
def _completed_is_final(change: Change) -> Iterator[Problem]:
    for move in change.moves():
        if move.old is Status.COMPLETED:
            yield Problem("completed_is_final", (move.task_id,), seen=f"set to {move.new}")
    for was, task in change.edited():
        if was.status is Status.COMPLETED and was.subject != task.subject:
            yield Problem("completed_is_final", (task.id,), seen="reworded")
    # A list without open tasks may be removed as a whole: a new one begins.
    if change.before.counts.open:
        for task in change.removed():
            if task.status is Status.COMPLETED:
                yield Problem("completed_is_final", (task.id,), seen="removed")


@_rule(*_JUMPED)
def _linear_status(change: Change) -> Iterator[Problem]:
    for move in change.moves():
        if TABLE[move.old, ACTION_TO[move.new]].kind is Kind.JUMP:
            yield Problem("linear_status", (move.task_id,), seen=f"{move.old} to {move.new}")


def _blocked(change: Change, to: Status, code: str) -> Iterable[Problem]:
    """
    Return a problem for each task that the change put into a status despite unresolved blockers.
    """
    # Judged by the plan after the whole command: pydantic-ai-todo judges step by step, and so
    # refuses the hand-off {complete a, start b} that it advertises.
    arrived: list[str] = []
    for event in change.events:
        if type(event) is StatusChanged and event.new is to:
            arrived.append(event.task_id)
        elif type(event) is TaskCreated:
            arrived.append(event.task.id)
    after = change.after
    late = [task_id for task_id in arrived if after.waits_for(task_id)]
    if not late:
        return ()
    found: list[Problem] = []
    for task in map(after.__getitem__, dict.fromkeys(late)):
        if task.status is to:
            waiting = unresolved_blockers(after, task)[:MOST_NAMED]
            found.append(Problem(code, (task.id,), seen=", ".join(f"#{each}" for each in waiting)))
    return tuple(found)


# EdgeAdded instead of TaskCreated: a new task with a blocker has an edge event too.
@_rule(*_STARTED, EdgeAdded, presets={"agentscope": "warn"})
def _blocked_start(change: Change) -> Iterable[Problem]:
    return _blocked(change, Status.IN_PROGRESS, "blocked_start")


@_rule(*_COMPLETED, EdgeAdded, presets={"agentscope": "warn"})
def _blocked_complete(change: Change) -> Iterable[Problem]:
    return _blocked(change, Status.COMPLETED, "blocked_complete")


@_rule(TaskDeleted, PlanCleared, presets={"default": "warn"})
def _dropped_open_items(change: Change) -> Iterable[Problem]:
    # Also true without a whole-list write: deleting tasks by id names each of them.
    if all(write.clear for write in change.writes()):
        return ()
    dropped = tuple(task.id for task in change.removed() if not task.status.closed)
    if not dropped:
        return ()
    # Named by text as well: a model that writes whole lists may never have seen an id.
    texts = [f'"{change.before[task_id].subject[:_MOST_OF_A_TEXT]}"' for task_id in dropped[:5]]
    texts += ["..."] * (len(dropped) > 5)  # noqa: PLR2004 - the number that a reply names
    seen, legal = str(len(dropped)), ", ".join(texts)
    return (Problem("dropped_open_items", dropped, seen=seen, legal=legal),)


# OpenHands' planner treated a call without a list as an empty list, and deleted the plan. A write
# with a merge base deletes, task by task, those that others have not changed.
@_rule(PlanCleared, TaskDeleted, presets={"default": "error"})
def _empty_write(change: Change) -> Iterable[Problem]:
    still_open = change.before.counts.open
    if not still_open or all(write.todos or write.clear for write in change.writes()):
        return ()
    return (Problem("empty_write", seen=str(still_open)),)


@_rule(*_COMPLETED)
def _batch_completion(change: Change) -> Iterable[Problem]:
    done = tuple(dict.fromkeys(move.task_id for move in change.moves(Status.COMPLETED)))
    return (Problem("batch_completion", done, seen=str(len(done))),) if len(done) > 1 else ()


@_rule(NoneType, presets={"default": "warn"})
def _no_op_write(change: Change) -> Iterable[Problem]:
    if change.events or not any(change.writes()):
        return ()
    return (Problem("no_op_write"),)


RULES: dict[str, Rule] = {**_HERE, **TASK_RULES, **TREE_RULES, **TRUST_RULES}
"""Every rule by name."""
