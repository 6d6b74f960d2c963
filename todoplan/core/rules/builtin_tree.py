"""
The rules about subtasks: their depth, and the statuses of parent and child.

That no task contains itself is not a rule here: it holds under every policy (law 18).
"""

from collections.abc import Collection, Iterable, Iterator

from todoplan.core.events.types import ParentChanged, PlanRestored, TaskCreated
from todoplan.core.plan.model import CLOSED, OPEN, Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import MOST_NAMED, Problem
from todoplan.core.rules.change import Change
from todoplan.core.rules.rule import Rule, moves, registering

__all__ = ["TREE_RULES"]

TREE_RULES: dict[str, Rule] = {}
_rule = registering(TREE_RULES)


def _placed(change: Change, *, restored: bool) -> Iterator[str]:
    """
    Yield the ids of tasks that have a new parent, each once.

    Restored tasks are included if `restored` is true.
    """
    ids: dict[str, None] = {}
    for event in change.events:
        if type(event) is TaskCreated:
            ids[event.task.id] = None
        elif type(event) is ParentChanged:
            ids[event.task_id] = None
        elif restored and type(event) is PlanRestored:
            ids.update(dict.fromkeys(task.id for task in event.tasks))
    before = change.before
    for task_id in ids:
        task, was = change.after.get(task_id), before.get(task_id)
        if task is not None and task.parent and (was is None or was.parent != task.parent):
            yield task_id


@_rule(
    TaskCreated,
    ParentChanged,
    PlanRestored,
    about_plan=True,
    limit="depth",
    presets={"langchain": "error"},
)
def _max_depth(change: Change) -> Iterable[Problem]:
    # No generator if there is nothing to check: most plans have no subtasks.
    return tuple(_too_deep(change)) if change.after.nested else ()


def _too_deep(change: Change) -> Iterator[Problem]:
    most = change.limits.depth
    levels: dict[str, int] = {}
    looked: set[str] = set()
    for task_id in _placed(change, restored=True):
        for inner in _within(change.after, task_id, looked):
            looked.add(inner)
            level = _level(change.after, inner, levels)
            if level > most:
                yield Problem("max_depth", (inner,), seen=str(level), legal=str(most))


def _level(plan: Plan, task_id: str, known: dict[str, int]) -> int:
    """
    Return the depth of a task, 1 at the top level.

    Depths in `known` are not computed again: that would take quadratic time for a chain of subtasks
    created in one command.
    """
    trail: list[str] = []
    step: str | None = task_id
    while step is not None and step not in known:
        trail.append(step)
        step = plan[step].parent
    level = known[step] if step is not None else 0
    for each in reversed(trail):
        level += 1
        known[each] = level
    return level


def _within(plan: Plan, task_id: str, looked: Collection[str]) -> Iterator[str]:
    """Yield a task and its descendants, skipping those in `looked` with their descendants."""
    ids = [task_id]
    for inner in ids:  # the list grows during the loop
        if inner not in looked:
            yield inner
            ids += plan.children(inner)


@_rule(*moves([Status.COMPLETED]), presets={"default": "warn"})
def _parent_complete(change: Change) -> Iterable[Problem]:
    return tuple(_left_open(change)) if change.after.nested else ()


def _left_open(change: Change) -> Iterator[Problem]:
    after = change.after
    done: set[str] = set()  # all descendants of these are closed
    for move in change.moves(Status.COMPLETED):
        task = after.get(move.task_id)
        if task is not None and task.status is Status.COMPLETED:
            walked = [*_until_many_are_open(after, task.id, done)]
            found = [each for each in walked if not after[each].status.closed]
            if found:
                yield Problem("parent_complete", (task.id,), seen=", ".join(found))
            else:
                done.update(walked)


def _until_many_are_open(plan: Plan, task_id: str, done: Collection[str]) -> Iterator[str]:
    """Yield descendants of a task, until as many are open as a problem names."""
    many = 0
    for inner in _within(plan, task_id, done):
        yield inner
        many += not plan[inner].status.closed
        if many == MOST_NAMED:
            return


@_rule(*moves(OPEN, of=CLOSED), TaskCreated, ParentChanged, presets={"default": "warn"})
def _child_of_closed(change: Change) -> Iterable[Problem]:
    return tuple(_below_closed(change)) if change.after.nested else ()


def _below_closed(change: Change) -> Iterator[Problem]:
    after = change.after
    ids = dict.fromkeys(_placed(change, restored=False))
    reopened = (move for move in change.moves() if move.old.closed and not move.new.closed)
    ids.update(dict.fromkeys(move.task_id for move in reopened))
    known: dict[str, str] = {}
    for task in filter(None, map(after.get, ids)):
        closed = "" if task.status.closed else _closed_above(after, task, known)
        if closed:
            yield Problem("child_of_closed", (task.id,), seen=closed)


def _closed_above(plan: Plan, task: Task, known: dict[str, str]) -> str:
    """
    Return the id of the nearest closed ancestor of this task, or "".

    Results in `known` are not computed again.
    """
    trail: list[str] = []
    found, step = "", task.parent
    while step is not None and not found:
        if step in known:
            found = known[step]
            break
        trail.append(step)
        found = step if plan[step].status.closed else ""
        step = plan[step].parent
    known.update(dict.fromkeys(trail, found))
    return found
