"""Queries on a plan, as functions."""

from collections.abc import Collection

from todoplan.core.plan import plan as graph
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
    """Return the tasks that can be started, in the plan's order (see `Plan.ready`)."""
    return tuple(plan.ready())


def is_ready(plan: Plan, task_id: str) -> bool:
    """Return True if this task can be started (see `Plan.ready`); False for an unknown id."""
    return plan.is_ready(task_id)


def next_task(plan: Plan) -> Task | None:
    """Return the task to work on: the first in progress, else the first ready one, else `None`."""
    return next(plan.active(), None) or next(plan.ready(), None)


def open_tasks(plan: Plan) -> tuple[Task, ...]:
    """Return the tasks that are pending or in progress, in the plan's order."""
    return tuple(task for task in plan if not task.status.closed)


def unresolved_blockers(plan: Plan, task: Task) -> tuple[str, ...]:
    """Return the ids of the task's unresolved blockers."""
    # Law 7: the edge of a resolved blocker is kept; only this result leaves it out. AgentScope
    # removes the edge when the blocker completes, so a reopened blocker blocks nothing.
    if not plan.waits_for(task.id):
        return ()
    # A journal is replayed without checks. So an edge may name a task that does not exist, and then
    # blocks nothing.
    blockers = filter(None, map(plan.get, task.blocked_by))
    return tuple(blocker.id for blocker in blockers if not blocker.status.resolved)


def blocked(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return a dict from the id of each blocked open task to the ids of its unresolved blockers."""
    return {
        task.id: unresolved_blockers(plan, task)
        for task in open_tasks(plan)
        if plan.waits_for(task.id)
    }


def stuck(plan: Plan) -> dict[str, tuple[str, ...]]:
    """
    Return a dict: for the id of each stuck task, the ids of the failed tasks that are the cause.

    A pending task is stuck if a failed or stuck task blocks it, or if one of its ancestors is stuck
    or blocked by a failed task. At most 20 failed tasks are listed for each stuck task. Reopening
    or replacing a failed task, or removing its edge, frees the tasks that depend on it.
    """
    if not plan.counts.failed:
        return {}
    # For each task, a failed task is recorded once, and at most 20 failed tasks are recorded. So
    # all walks together take linear time. A walk ends at a task with 20 recorded tasks, because the
    # tasks after it have 20 as well.
    found: dict[str, dict[str, None]] = {}
    following, _ = graph.ways(plan)
    for failed in (task for task in plan if task.status is Status.FAILED):
        ahead = [*failed.blocks]
        for task in filter(None, map(plan.get, ahead)):  # the list grows during the loop
            causes = found.setdefault(task.id, {})
            if failed.id not in causes and len(causes) < _MOST_CAUSES:
                causes[failed.id] = None
                # A task that is in progress despite its blocker can still be completed; the tasks
                # that it blocks can then start. Only its subtasks cannot start.
                pending = task.status is Status.PENDING
                ahead += following(task) if pending else plan.children(task.id)
    # In the plan's order, not in the order in which the walks found the tasks.
    return {
        task.id: tuple(found[task.id])
        for task in plan
        if task.id in found and task.status is Status.PENDING
    }


def within_reach(plan: Plan, claimed: Collection[str] = ()) -> tuple[Task, ...]:
    """
    Return the open tasks that somebody can work on or close, in the plan's order.

    Three kinds of tasks are left out: tasks that wait for something outside the plan, tasks that
    can only start after a task that is left out, and tasks whose open subtasks are all left out.
    `claimed` are the ids of tasks that others work on. The asking agent cannot work on these, so
    they are treated like waiting tasks.
    """
    following, _ = graph.ways(plan)
    ahead = [*plan.waiting(), *filter(None, map(plan.get, claimed))]
    on_hold = {task.id for task in ahead}
    # For each parent, the number of its open subtasks that are not on hold. They are counted when
    # the first of them is put on hold.
    left: dict[str, int] = {}
    for task in ahead:  # the list grows during the loop
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
            if not left[above.id]:
                hindered.append(above)
        fresh = [near for near in hindered if near.id not in on_hold]
        ahead += fresh
        on_hold.update(near.id for near in fresh)
    return tuple(task for task in open_tasks(plan) if task.id not in on_hold)


def children(plan: Plan, task_id: str) -> tuple[str, ...]:
    """
    Return the ids of the direct subtasks of a task, in the plan's order; () for an unknown id.
    """
    return plan.children(task_id)


def ancestors(plan: Plan, task_id: str) -> tuple[str, ...]:
    """Return the ids of the ancestors of a task, nearest first; () for an unknown id."""
    return tuple(graph.ancestors(plan, task_id))


def descendants(plan: Plan, task_id: str) -> tuple[str, ...]:
    """Return the ids of all descendants of a task, in the plan's order; () for an unknown id."""
    found: list[str] = []
    # A list instead of recursion: the tree may be as deep as the plan has tasks.
    left = [*reversed(plan.children(task_id))]
    while left:
        found.append(left.pop())
        left += reversed(plan.children(found[-1]))
    return tuple(found)


def leaves(plan: Plan) -> tuple[Task, ...]:
    """Return the tasks without subtasks, in the plan's order."""
    return tuple(task for task in plan if not plan.children(task.id))


def depth(plan: Plan, task_id: str) -> int:
    """Return the depth of a task in the tree, 1 at the top level; 0 for an unknown id."""
    return 1 + len(ancestors(plan, task_id)) if task_id in plan else 0


def progress(plan: Plan, task_id: str | None = None) -> float:
    """
    Return the resolved share of the plan's tasks, from 0.0 to 1.0; 0.0 for an empty plan.

    With an id, return the resolved share of the leaves below that task; a task without subtasks
    counts as its only leaf. The value is computed and never stored. For an unknown id it is 0.0.
    """
    if task_id is None:
        return plan.counts.resolved / len(plan) if len(plan) else 0.0
    inner = (task_id, *descendants(plan, task_id)) if task_id in plan else ()
    statuses = [plan[each].status for each in inner if not plan.children(each)]
    return sum(status.resolved for status in statuses) / len(statuses) if statuses else 0.0


def topological_order(plan: Plan) -> tuple[str, ...]:
    """
    Return all ids, with blockers before the tasks they block, otherwise in the plan's order.

    Parents come before their subtasks.
    """
    return graph.topological_order(plan)


def critical_path(plan: Plan) -> tuple[tuple[str, ...], float]:
    """Return the longest chain of open tasks by estimate: its ids, and its length in minutes."""
    return graph.critical_path(open_tasks(plan))


def unblocked_by(plan: Plan, task_id: str) -> tuple[str, ...]:
    """
    Return the ids of the pending tasks that become ready when this one is completed.

    The result is empty for an unknown or resolved task.
    """
    task = plan.get(task_id)
    if task is None or task.status.resolved:
        return ()
    return tuple(
        near.id
        for near in filter(None, map(plan.get, task.blocks))
        if plan.waits_for(near.id) == 1
        and near.status is Status.PENDING
        and not (near.waiting or plan.children(near.id))
        # The task may block an ancestor as well, which its completion frees too.
        and not any(
            above.waiting or plan.waits_for(above.id) > (task_id in above.blocked_by)
            for above in map(plan.__getitem__, graph.ancestors(plan, near.id))
        )
    )
