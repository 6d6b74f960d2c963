"""
Walks over the edges of a plan: cycles, order, the critical path. Iterative, so that a chain of any
length neither recurses nor takes quadratic time.
"""

from collections import deque
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Protocol

from todoplan.core.plan.model import Task

__all__ = ["Tasks", "critical_path", "path_between", "topological_order"]


class Tasks(Protocol):
    """
    What a walk needs of a plan or a draft.
    """

    def get(self, task_id: str) -> Task | None:
        """
        Return the task with this id, or `None`.
        """


_Trail = dict[str, str | None]


def path_between(tasks: Tasks, start: str, goal: str) -> tuple[str, ...]:
    """
    Return the ids from `start` to `goal` along `blocks`, both included; () when there is no way.

    Both ends are walked in turn, so that the cost is that of the smaller side: a new task at the
    end of a long chain costs one step.
    """
    if start == goal:
        return (start,)
    down: _Trail = {start: None}
    up: _Trail = {goal: None}
    ahead, behind = deque([start]), deque([goal])
    while ahead and behind:
        met = _step(tasks, ahead, down, up, _blocks) or _step(tasks, behind, up, down, _blocked_by)
        if met:
            return (*reversed(_trail(down, met)), *_trail(up, met)[1:])
    return ()


def _blocks(task: Task) -> tuple[str, ...]:
    return task.blocks


def _blocked_by(task: Task) -> tuple[str, ...]:
    return task.blocked_by


def _step(
    tasks: Tasks,
    queue: deque[str],
    seen: _Trail,
    other: _Trail,
    neighbours: Callable[[Task], tuple[str, ...]],
) -> str | None:
    here = queue.popleft()
    task = tasks.get(here)
    for near in neighbours(task) if task else ():
        if near not in seen:
            seen[near] = here
            if near in other:
                return near
            queue.append(near)
    return None


def _trail(seen: _Trail, end: str) -> list[str]:
    trail: list[str] = []
    step: str | None = end
    while step is not None:
        trail.append(step)
        step = seen[step]
    return trail


def topological_order(tasks: Iterable[Task]) -> tuple[str, ...]:
    """
    Return the ids so that every blocker stands before what it blocks; otherwise in the given order.

    Tasks on a cycle, and those behind it, are left out: the result is shorter than the input.
    Edges to tasks that are not given do not count.
    """
    given = {task.id: (place, task) for place, task in enumerate(tasks)}
    by_place = [task for _, task in given.values()]
    waits = [sum(blocker in given for blocker in task.blocked_by) for task in by_place]
    heap = [place for place, blockers in enumerate(waits) if not blockers]
    order: list[str] = []
    while heap:
        task = by_place[heappop(heap)]
        order.append(task.id)
        for place in (given[dependent][0] for dependent in task.blocks if dependent in given):
            waits[place] -= 1
            if not waits[place]:
                heappush(heap, place)
    return tuple(order)


def critical_path(tasks: Iterable[Task]) -> tuple[tuple[str, ...], float]:
    """
    Return the longest chain of the given tasks by estimate, and its length in minutes.

    A task without an estimate counts 0 minutes; of chains of equal length the one with more tasks
    wins. No tasks: `((), 0)`.
    """
    given = {task.id: task for task in tasks}
    best: dict[str, tuple[float, int]] = {}
    before: dict[str, str | None] = {}
    for task_id in topological_order(given.values()):
        task = given[task_id]
        blockers = [blocker for blocker in task.blocked_by if blocker in best]
        last = max(blockers, key=best.__getitem__, default=None)
        minutes, steps = best[last] if last else (0.0, 0)
        best[task_id] = (minutes + (task.estimate or 0.0), steps + 1)
        before[task_id] = last
    if not best:
        return (), 0.0
    end = max(best, key=best.__getitem__)
    return tuple(reversed(_trail(before, end))), best[end][0]
