"""Questions on a plan, each a function of it."""

from todoplan.core.plan import graph
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.lazy import listing

__all__ = [
    "blocked",
    "critical_path",
    "next_task",
    "open_tasks",
    "progress",
    "ready",
    "topological_order",
    "unblocked_by",
    "unresolved_blockers",
]
__dir__ = listing(__all__)


def ready(plan: Plan) -> tuple[Task, ...]:
    """
    Return the pending tasks whose blockers are all resolved, in the plan's order.
    """
    return tuple(plan.ready())


def next_task(plan: Plan) -> Task | None:
    """
    Return the task to go on with: the first in progress, else the first ready one, else `None`.
    """
    return next(plan.active(), None) or next(plan.ready(), None)


def open_tasks(plan: Plan) -> tuple[Task, ...]:
    """
    Return the pending and the started tasks, in the plan's order.
    """
    return tuple(task for task in plan if not task.status.resolved)


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


def progress(plan: Plan) -> float:
    """
    Return the resolved share of the plan, from 0.0 to 1.0; an empty plan has 0.0.
    """
    return plan.counts.resolved / len(plan) if len(plan) else 0.0


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
        near
        for near in task.blocks
        if plan.waits_for(near) == 1 and plan[near].status is Status.PENDING
    )
