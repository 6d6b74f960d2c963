"""
Walks over the edges and the tree of a plan: cycles, order, the critical path.

Law: a chain of 100,000 tasks neither recurses (Python stops at 1,000 frames) nor takes quadratic
time. A cycle is found before it exists: an edge closes a cycle if a path leads back already.

A task that is held up holds up all tasks that it contains (law 18). So a path leads along `blocks`,
and from a task down to its subtasks; the tasks of a cycle of both kinds could never start. No path
leads from a subtask up to its parent: the parent does not wait for it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from operator import attrgetter
from typing import Protocol

from todoplan.core.plan.model import Task

__all__ = [
    "Tasks",
    "ancestors",
    "critical_path",
    "edges_from_above",
    "edges_within",
    "may_block",
    "may_contain",
    "path_between",
    "topological_order",
    "tree_order",
    "ways",
]


class Tasks(Protocol):
    """The methods of a plan or a draft that a walk needs."""

    def get(self, task_id: str) -> Task | None:
        """Return the task with this id, or `None`."""

    def children(self, task_id: str) -> tuple[str, ...]:
        """Return the ids of the direct subtasks of this task."""
        ...

    @property
    def nested(self) -> bool:
        """Whether there may be subtasks."""
        ...


_Trail = dict[str, str | None]
"""The predecessor of each task on the walk; `None` for the start."""

_blocks, _blocked_by = attrgetter("blocks"), attrgetter("blocked_by")

_Neighbours = Callable[[Task], tuple[str, ...]]


def ways(tasks: Tasks) -> tuple[_Neighbours, _Neighbours]:
    """
    Return two functions of a task, which return ids: the tasks it holds up, and the tasks that hold
    it up.

    The first returns the tasks that it blocks and its subtasks, the second its blockers and its
    parent.
    """
    if not tasks.nested:  # most plans: plain attributes, read in C
        return _blocks, _blocked_by
    return (
        lambda task: (*task.blocks, *tasks.children(task.id)),
        lambda task: task.blocked_by if task.parent is None else (*task.blocked_by, task.parent),
    )


def ancestors(tasks: Tasks, task_id: str) -> Iterator[str]:
    """Yield the ids of the ancestors of this task, nearest first."""
    task = tasks.get(task_id)
    while task is not None and task.parent is not None:
        yield task.parent
        task = tasks.get(task.parent)


def edges_within(tasks: Tasks, outer: str, inner: str) -> Iterator[tuple[str, str]]:
    """
    Yield the edges by which `outer` or its ancestors block `inner` or its descendants.

    Each edge is a pair (blocked, blocker). Law 18 forbids an edge between a task and its ancestor.
    """
    above = {outer, *ancestors(tasks, outer)}
    below = [inner]
    while below:
        task = tasks.get(below.pop())
        if task is not None:
            yield from ((task.id, end) for end in task.blocked_by if end in above)
            below += tasks.children(task.id)


def edges_from_above(tasks: Tasks, task_id: str, looked: set[str]) -> Iterator[tuple[str, str]]:
    """
    Yield the edges by which an ancestor blocks this task or one of its descendants.

    Each edge is a pair (blocked, blocker); the blocker is an ancestor of the blocked task. Tasks in
    `looked` are skipped with all their descendants; the tasks visited are added to it.
    """
    below = [task_id]
    while below:
        task = tasks.get(below.pop())
        if task is None or task.id in looked:
            continue
        looked.add(task.id)
        # The ancestors are walked only for tasks with blockers: in a chain of subtasks, walking
        # them for each task would take quadratic time.
        if task.blocked_by:
            above = set(ancestors(tasks, task.id))
            yield from ((task.id, end) for end in task.blocked_by if end in above)
        below += tasks.children(task.id)


def may_block(tasks: Tasks, blocker: str, blocked: str) -> bool:
    """
    Return True if `blocker` may block `blocked`.

    This is so if no path leads back, and neither task contains the other.
    """
    apart = blocked not in ancestors(tasks, blocker) and blocker not in ancestors(tasks, blocked)
    return apart and not path_between(tasks, blocked, blocker)


def may_contain(tasks: Tasks, parent: str, child: str) -> bool:
    """
    Return True if `child` may be put below `parent`.

    This is so if no path leads back, and no edge would join a task with its ancestor.
    """
    # An edge in the other direction, from descendant to ancestor, is a path that leads back.
    return not path_between(tasks, child, parent) and not any(edges_within(tasks, parent, child))


def path_between(tasks: Tasks, start: str, goal: str) -> tuple[str, ...]:
    """
    Return the ids of a path from `start` to `goal`, both included; () if there is none.

    A path leads along `blocks`, and from a task down to its subtasks. The search is breadth first,
    alternating from both ends, so that its cost is that of the smaller side: a new task at the end
    of a long chain costs one step.
    """
    if start == goal:
        return (start,)
    down: _Trail = {start: None}
    up: _Trail = {goal: None}
    # No recursion: pydantic-ai-todo and pydantic-ai-harness raise RecursionError on a long chain.
    ahead, back = deque([start]), deque([goal])
    following, behind = ways(tasks)
    sides = (ahead, down, up, following), (back, up, down, behind)
    # A side with an empty queue has visited everything that it can reach: there is no path.
    while ahead and back:
        for queue, seen, other, ends in sides:
            here = queue.popleft()
            task = tasks.get(here)
            for near in ends(task) if task else ():
                if near in seen:
                    continue
                seen[near] = here
                if near in other:
                    return (*reversed(_trail(down, near)), *_trail(up, near)[1:])
                queue.append(near)
    return ()


def _trail(seen: _Trail, end: str) -> list[str]:
    trail: list[str] = []
    step: str | None = end
    while step is not None:
        trail.append(step)
        step = seen[step]
    return trail


def tree_order(tasks: Iterable[Task]) -> list[Task]:
    """
    Return the tasks in tree order: each is followed by its descendants, siblings in the given
    order.

    A parent is cleared if it is not among the tasks, or if it would close a cycle of parents.
    """
    listed = list(tasks)
    known = {task.id for task in listed}
    below: dict[str | None, list[Task]] = {}
    for task in reversed(listed):
        below.setdefault(task.parent, []).append(task)
    order: list[Task] = []
    seen: set[str] = set()
    # Tasks on a cycle of parents are not below any top-level task: the first of them becomes one.
    for top in [*(task for task in listed if task.parent not in known), *listed]:
        left = [] if top.id in seen else [top if top.parent is None else top.but(parent=None)]
        while left:
            task = left.pop()
            if task.id not in seen:
                seen.add(task.id)
                order.append(task)
                left += below.get(task.id, ())
    return order


def topological_order(tasks: Iterable[Task]) -> tuple[str, ...]:
    """
    Return the ids so that every blocker comes before the tasks it blocks, and every parent before
    its subtasks.

    Otherwise the given order is kept. Tasks on a cycle, and tasks that depend on a cycle, are left
    out: the result is then shorter than the input. Edges to tasks that are not given are ignored.
    """
    # Kahn's algorithm. The heap holds positions instead of ids, so of all tasks that may come next,
    # the first of the plan does: the result keeps the plan's order wherever the edges allow it.
    given = {task.id: (place, task) for place, task in enumerate(tasks)}
    by_place = [task for _, task in given.values()]
    waits = [sum(blocker in given for blocker in task.blocked_by) for task in by_place]
    below: dict[str, list[str]] = {}
    for place, task in enumerate(by_place):
        if task.parent is not None and task.parent in given:
            below.setdefault(task.parent, []).append(task.id)
            waits[place] += 1
    heap = [place for place, blockers in enumerate(waits) if not blockers]
    order: list[str] = []
    while heap:
        task = by_place[heappop(heap)]
        order.append(task.id)
        freed = [end for end in task.blocks if end in given] + below.get(task.id, [])
        for place in (given[end][0] for end in freed):
            waits[place] -= 1
            if not waits[place]:
                heappush(heap, place)
    return tuple(order)


def critical_path(tasks: Iterable[Task]) -> tuple[tuple[str, ...], float]:
    """
    Return the longest chain of the given tasks by estimate: its ids, and its length in minutes.

    A task without an estimate counts 0 minutes. So does a task with subtasks among the given ones,
    because their estimates count instead. The blockers of a task block its subtasks too. Of chains
    of equal length the one with more tasks is returned. Without tasks the result is `((), 0)`.
    """
    given = {task.id: task for task in tasks}
    containers = {task.parent for task in given.values()}
    # In this order blockers come first, so the longest chain to each of them is already computed.
    best: dict[str, tuple[float, int]] = {}
    before: dict[str, str | None] = {}
    for task_id in topological_order(given.values()):
        task = given[task_id]
        before_it = (*task.blocked_by, task.parent) if task.parent else task.blocked_by
        last = max((end for end in before_it if end in best), key=best.__getitem__, default=None)
        minutes, steps = best[last] if last else (0.0, 0)
        own = 0.0 if task_id in containers else task.estimate or 0.0
        best[task_id] = (minutes + own, steps + 1)
        before[task_id] = last
    if not best:
        return (), 0.0
    end = max(best, key=best.__getitem__)
    return tuple(reversed(_trail(before, end))), best[end][0]
