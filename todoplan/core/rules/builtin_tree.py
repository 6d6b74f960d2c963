"""
The rules about tasks that contain others: how deep they lie, and how parent and child stand.

Containment itself is no rule: that no task lies in itself holds under every policy (law 18).
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
    Yield the tasks that lie in another one than before, each once; those that were brought back as
    well, if they count.
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
    # No generator where there is nothing to ask: most plans have no subtasks.
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
    Return how deep a task lies, 1 at the top. What is `known` is walked no more: a chain of
    subtasks that is made in one command would take quadratic time.
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
    """
    Yield a task and all that it contains, but for what was looked at with all that that contains.
    """
    ids = [task_id]
    for inner in ids:  # it grows while it is walked
        if inner not in looked:
            yield inner
            ids += plan.children(inner)


@_rule(*moves([Status.COMPLETED]), presets={"default": "warn"})
def _parent_complete(change: Change) -> Iterable[Problem]:
    return tuple(_left_open(change)) if change.after.nested else ()


def _left_open(change: Change) -> Iterator[Problem]:
    after = change.after
    done: set[str] = set()  # all that these contain is closed
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
    """
    Yield what lies in a task, until as many are open as a problem names.
    """
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
    Return the nearest closed task that contains this one, or "". What is `known` is walked no more.
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
