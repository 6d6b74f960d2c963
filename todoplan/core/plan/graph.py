"""
Walks over the edges of a plan: cycles, order, the critical path.

Law: a chain of 100,000 tasks neither recurses (Python stops at 1,000 frames) nor takes quadratic
time. A cycle is found before it is there: an edge closes one where a path leads back already.
"""

from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush
from operator import attrgetter
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
"""From where each task was reached; `None` at the start."""

_blocks, _blocked_by = attrgetter("blocks"), attrgetter("blocked_by")


def path_between(tasks: Tasks, start: str, goal: str) -> tuple[str, ...]:
    """
    Return the ids from `start` to `goal` along `blocks`, both included; () when there is no way.

    Breadth first, from both ends in turn, so that the cost is that of the smaller side: a new task
    at the end of a long chain costs one step.
    """
    if start == goal:
        return (start,)
    down: _Trail = {start: None}
    up: _Trail = {goal: None}
    # No recursion: pydantic-ai-todo and pydantic-ai-harness raise RecursionError on a long chain.
    ahead, behind = deque([start]), deque([goal])
    sides = (ahead, down, up, _blocks), (behind, up, down, _blocked_by)
    # A side that has run out has seen all that it can reach: there is no way.
    while ahead and behind:
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


def topological_order(tasks: Iterable[Task]) -> tuple[str, ...]:
    """
    Return the ids so that every blocker stands before what it blocks; otherwise in the given order.

    Tasks on a cycle, and those behind it, are left out: the result is shorter than the input.
    Edges to tasks that are not given do not count.
    """
    # Kahn's algorithm. The heap holds places, not ids, so that of all tasks that may come next the
    # first of the plan does: the result is the plan's own order wherever edges leave a choice.
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
    # Blockers come first in this order: each task's longest way is known when it is asked for.
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
