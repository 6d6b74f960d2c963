"""Questions on a plan, each a function of it."""

from collections import deque
from collections.abc import Collection

from todoplan.core.plan import graph
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.lazy import listing

__all__ = [
    "ancestors",
    "blocked",
    "children",
    "critical_path",
    "depth",
    "descendants",
    "is_ready",
    "leaves",
    "next_task",
    "open_tasks",
    "progress",
    "ready",
    "stuck",
    "topological_order",
    "unblocked_by",
    "unresolved_blockers",
    "within_reach",
]
__dir__ = listing(__all__)

_MOST_CAUSES = 20


def ready(plan: Plan) -> tuple[Task, ...]:
    """
    Return the tasks that can be started, in the plan's order (see `Plan.ready`).
    """
    return tuple(plan.ready())


def is_ready(plan: Plan, task_id: str) -> bool:
    """
    Say whether this task can be started, as `ready` would; an unknown one cannot.
    """
    task = plan.get(task_id)
    if task is None or not _may_start(plan, task) or plan.waits_for(task_id):
        return False
    return not _held_above(plan, task)


def _may_start(plan: Plan, task: Task) -> bool:
    return task.status is Status.PENDING and not task.waiting and not plan.children(task.id)


def _held_above(plan: Plan, task: Task) -> bool:
    above = filter(None, map(plan.get, graph.ancestors(plan, task.id))) if task.parent else ()
    return any(outer.waiting or plan.waits_for(outer.id) for outer in above)


def next_task(plan: Plan) -> Task | None:
    """
    Return the task to go on with: the first in progress, else the first ready one, else `None`.
    """
    return next(plan.active(), None) or next(plan.ready(), None)


def open_tasks(plan: Plan) -> tuple[Task, ...]:
    """
    Return the pending and the started tasks, in the plan's order.
    """
    return tuple(task for task in plan if not task.status.closed)


def unresolved_blockers(plan: Plan, task: Task) -> tuple[str, ...]:
    """
    Return the ids that the task still waits for: its edges less the resolved ones.
    """
    # Law 7: a resolved blocker stays an edge and is left out here. AgentScope takes the edge out
    # when the blocker completes, and a blocker that is reopened then blocks nobody.
    if not plan.waits_for(task.id):
        return ()
    # A journal replays unchecked: an edge may lead to no task, and then holds nothing up.
    blockers = filter(None, map(plan.get, task.blocked_by))
    return tuple(blocker.id for blocker in blockers if not blocker.status.resolved)


def blocked(plan: Plan) -> dict[str, tuple[str, ...]]:
    """
    Return, for every open task that has unresolved blockers, the ids of those.
    """
    return {
        task.id: unresolved_blockers(plan, task)
        for task in open_tasks(plan)
        if plan.waits_for(task.id)
    }


def stuck(plan: Plan) -> dict[str, tuple[str, ...]]:
    """
    Return, for every pending task that can never start as the plan stands, the ids of the failed
    tasks that it is behind, at most 20: it waits for one of them, or for a task that does, or lies
    in such a task.

    Reopening or replacing what failed, or taking the edge away, sets it free.
    """
    found: dict[str, dict[str, None]] = {}
    if plan.counts.failed:
        for failed in plan:
            if failed.status is Status.FAILED:
                _spread(plan, failed, found)
    # In the plan's order, whichever failed task led to it.
    return {
        task.id: tuple(found[task.id])
        for task in plan
        if task.id in found and task.status is Status.PENDING
    }


def _spread(plan: Plan, failed: Task, found: dict[str, dict[str, None]]) -> None:
    # Each task takes in a cause once, and 20 in all: so the walks together stay linear. What a full
    # task keeps back, those behind it have no room for either.
    following, _ = graph.ways(plan)
    ahead = deque(failed.blocks)
    while ahead:
        task = plan.get(ahead.popleft())
        if task is None:
            continue
        causes = found.setdefault(task.id, {})
        if failed.id not in causes and len(causes) < _MOST_CAUSES:
            causes[failed.id] = None
            # What was started all the same can still end, and free what waits for it; but what it
            # contains is held up with it.
            pending = task.status is Status.PENDING
            ahead += following(task) if pending else plan.children(task.id)


def within_reach(plan: Plan, claimed: Collection[str] = ()) -> tuple[Task, ...]:
    """
    Return the open tasks that somebody can go on with, or close, in the plan's order: without those
    that wait for something outside of it, that can only start after one of these, or whose open
    subtasks all are such. `claimed` are the ids of tasks that others work on: for one agent, these
    are out of reach in the same way.
    """
    on_hold = _on_hold(plan, claimed)
    return tuple(task for task in open_tasks(plan) if task.id not in on_hold)


def _on_hold(plan: Plan, claimed: Collection[str]) -> set[str]:
    following, _ = graph.ways(plan)
    ahead = deque(plan.waiting())
    ahead += filter(None, map(plan.get, claimed))
    found = {task.id for task in ahead}
    # How many open subtasks of a task are not on hold; counted when the first one is found to be.
    left: dict[str, int] = {}
    while ahead:
        task = ahead.popleft()
        hindered = [
            near
            for near in filter(None, map(plan.get, following(task)))
            if near.status is Status.PENDING
        ]
        above = plan.get(task.parent) if task.parent else None
        if above is not None and not above.status.closed:
            if above.id not in left:
                inner = map(plan.get, plan.children(above.id))
                left[above.id] = sum(not each.status.closed for each in inner if each)
            left[above.id] -= 1
            hindered += [above] * (not left[above.id])
        fresh = [near for near in hindered if near.id not in found]
        ahead += fresh
        found.update(near.id for near in fresh)
    return found


def children(plan: Plan, task_id: str) -> tuple[str, ...]:
    """
    Return the ids of the tasks right below this one, in the plan's order; () for an unknown id.
    """
    return plan.children(task_id)


def ancestors(plan: Plan, task_id: str) -> tuple[str, ...]:
    """
    Return the ids of the tasks that contain this one, from the nearest on; () for an unknown id.
    """
    return tuple(graph.ancestors(plan, task_id))


def descendants(plan: Plan, task_id: str) -> tuple[str, ...]:
    """
    Return the ids of all that a task contains, in the plan's order; () for an unknown id.
    """
    found: list[str] = []
    # A list, not a recursion: containment may be as deep as the plan has tasks.
    left = [*reversed(plan.children(task_id))]
    while left:
        found.append(left.pop())
        left += reversed(plan.children(found[-1]))
    return tuple(found)


def leaves(plan: Plan) -> tuple[Task, ...]:
    """
    Return the tasks that contain none, in the plan's order: what there is to do.
    """
    return tuple(task for task in plan if not plan.children(task.id))


def depth(plan: Plan, task_id: str) -> int:
    """
    Return how deep a task lies, 1 at the top; 0 for an unknown id.
    """
    return 1 + len(ancestors(plan, task_id)) if task_id in plan else 0


def progress(plan: Plan, task_id: str | None = None) -> float:
    """
    Return the resolved share of the plan, from 0.0 to 1.0; an empty plan has 0.0.

    With an id, the resolved share of the leaves that the task contains, which is derived and never
    stored; a leaf is its own. An unknown id has 0.0.
    """
    if task_id is None:
        return plan.counts.resolved / len(plan) if len(plan) else 0.0
    inner = (task_id, *descendants(plan, task_id)) if task_id in plan else ()
    statuses = [plan[each].status for each in inner if not plan.children(each)]
    return sum(status.resolved for status in statuses) / len(statuses) if statuses else 0.0


def topological_order(plan: Plan) -> tuple[str, ...]:
    """
    Return all ids so that blockers stand before what they block, else in the plan's order.
    """
    return graph.topological_order(plan)


def critical_path(plan: Plan) -> tuple[tuple[str, ...], float]:
    """
    Return the longest chain of open tasks by estimate: its ids, and its length in minutes.
    """
    return graph.critical_path(open_tasks(plan))


def unblocked_by(plan: Plan, task_id: str) -> tuple[str, ...]:
    """
    Return the pending tasks that completing this one would make ready.

    An unknown or resolved task unblocks nothing.
    """
    task = plan.get(task_id)
    if task is None or task.status.resolved:
        return ()
    return tuple(
        near.id
        for near in filter(None, map(plan.get, task.blocks))
        if plan.waits_for(near.id) == 1 and _may_start(plan, near) and not _held_above(plan, near)
    )
