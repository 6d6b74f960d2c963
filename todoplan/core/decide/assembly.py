"""
Build a plan from existing tasks, for codecs, imports and seeds. Invalid tasks are refused as a
whole.
"""

from collections.abc import Iterable, Iterator

from todoplan.core.plan.draft import Draft
from todoplan.core.plan.graph import topological_order, tree_order
from todoplan.core.plan.model import Approval, Claim, Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.slots import LARGEST_GIVEN, number_of
from todoplan.core.plan.validation import as_whole_number, tuple_of
from todoplan.core.problems import MOST_NAMED, Problem
from todoplan.errors import PlanError

__all__ = ["plan_of", "plan_problems"]


def plan_of(
    tasks: Iterable[Task],
    *,
    next_id: int = 1,
    revision: int = 0,
    approved: Approval | None = None,
) -> Plan:
    """
    Return the plan with these tasks, in this order, with subtasks moved directly after their
    parent.

    `next_id` is raised above every id in use; no id may exceed 10**15.

    Raises:
        PlanError: the tasks do not form a plan; `data["problems"]` holds every problem.
    """
    kept = tuple_of(tasks, Task, "tasks, such as [Task('1', 'Write it')]")
    next_id, revision = as_whole_number(next_id), as_whole_number(revision, 0)
    problems = tuple(plan_problems(kept, next_id))
    if problems:
        named = [
            f"{p.code} {', '.join(p.task_ids[:MOST_NAMED])} ({p.seen})"
            for p in problems[:MOST_NAMED]
        ]
        more = f" and {len(problems) - MOST_NAMED} more" if len(problems) > MOST_NAMED else ""
        listed = "; ".join(named) + more
        msg = f"these tasks are no plan: {listed}. Repair them, or create them by commands"
        raise PlanError(msg, problems=problems)
    draft = Draft(Plan())
    draft.next_id, draft.revision, draft.approved = next_id, revision, approved
    draft.replace(kept)
    return draft.freeze()


def plan_problems(tasks: tuple[Task, ...], next_id: int = 1) -> Iterator[Problem]:
    """
    Yield each problem that prevents these tasks and this next id from forming a plan.

    Checked are ids, texts, waits, claims, parents, edges and cycles.
    """
    if next_id > LARGEST_GIVEN:
        yield Problem("bad_id", seen=f"the next id is over {LARGEST_GIVEN}")
    known: dict[str, Task] = {}
    for task in tasks:
        if not 0 < number_of(task.id) <= LARGEST_GIVEN:
            yield Problem("bad_id", (task.id,), seen="an id is a number like 7, as a string")
        # pydantic-ai-todo accepts two tasks with one id; an update then reaches only the first.
        if task.id in known:
            yield Problem("duplicate_id", (task.id,), seen="the id stands twice")
        if not task.subject.strip():
            yield Problem("empty_text", (task.id,), seen="no subject")
        if task.waiting is not None and task.status is not Status.PENDING:
            yield Problem("cannot_wait", (task.id,), seen=task.status)
        if task.claim is not None and not _may_be_claimed(task, task.claim):
            yield Problem("not_claimable", (task.id,), seen=task.id)
        known[task.id] = task
    nested = [task for task in tasks if task.parent is not None]
    yield from _edge_problems(tasks, known, nested)


def _may_be_claimed(task: Task, claim: Claim) -> bool:
    # Law 19: the count of claims is the highest fencing token given out so far.
    return task.status is Status.IN_PROGRESS and claim.fence <= task.claims


def _edge_problems(
    tasks: tuple[Task, ...], known: dict[str, Task], nested: list[Task]
) -> Iterator[Problem]:
    blocking = {(task.id, end) for task in tasks for end in task.blocks}
    waiting = {(end, task.id) for task in tasks for end in task.blocked_by}
    # In most documents all edges are mirrored and lead from a task to a later one; then no walk is
    # needed.
    if blocking == waiting and not nested and _lead_onwards(blocking, tasks):
        return
    broken = [problem for task in tasks for problem in _own_edge_problems(task, known)]
    broken += _one_sided(blocking - waiting, known, "blocked_by")
    turned = {(blocked, blocker) for blocker, blocked in waiting - blocking}
    broken += _one_sided(turned, known, "blocks")
    for task in nested:
        if task.parent not in known:
            broken.append(
                Problem("unknown_task", (task.id, task.parent or ""), seen="the parent is no task")
            )
    yield from broken
    if not broken:
        # Checked last, because the sort requires mirrored edges.
        in_order = set(topological_order(known.values()))
        rest = tuple(task_id for task_id in known if task_id not in in_order)
        if rest:
            yield Problem("cycle", rest, seen="these tasks wait for each other")
        elif nested:
            yield from _edges_within(tasks)


def _edges_within(tasks: Iterable[Task]) -> Iterator[Problem]:
    """
    Yield a problem for each edge by which a task blocks its descendant. Parents form no cycle here.
    """
    # In tree order the descendants of a task directly follow it, up to position `last`. This takes
    # one pass; a walk up from each task would take quadratic time in a deep tree.
    order = tree_order(tasks)
    place = {task.id: number for number, task in enumerate(order)}
    last = dict(place)
    for task in reversed(order):
        if task.parent is not None:
            last[task.parent] = max(last[task.parent], last[task.id])
    for task in order:
        for above in task.blocked_by:
            # An edge in the other direction, from descendant to ancestor, would be a cycle.
            if place[above] < place[task.id] <= last[above]:
                yield Problem("edge_within", (task.id, above), seen=task.id, legal=above)


def _lead_onwards(edges: set[tuple[str, str]], tasks: tuple[Task, ...]) -> bool:
    """
    Return True if no walk is needed to see that these mirrored edges are valid.

    This is so if each edge occurs once and leads from a task to a later one.
    """
    # An end that is no task has position -1: the full check then reports it.
    place = {task.id: number for number, task in enumerate(tasks)}
    return len(edges) == sum(len(task.blocks) for task in tasks) == sum(
        len(task.blocked_by) for task in tasks
    ) and all(place[start] < place.get(end, -1) for start, end in edges)


def _own_edge_problems(task: Task, known: dict[str, Task]) -> Iterator[Problem]:
    for name, ends in (("blocks", task.blocks), ("blocked_by", task.blocked_by)):
        if len(set(ends)) != len(ends):
            yield Problem("duplicate_edge", (task.id,), seen=f"an id stands twice in {name}")
        if task.id in ends:
            yield Problem("self_edge", (task.id,), seen=f"{name} names the task itself")
        for end in ends:
            if end not in known:
                yield Problem("unknown_task", (task.id, end), seen=f"{name} names no task")


def _one_sided(
    edges: set[tuple[str, str]], known: dict[str, Task], mirror: str
) -> Iterator[Problem]:
    # Sorted, because the order of a set of strings differs between processes.
    for task_id, end in sorted(edges):
        if end in known and end != task_id:
            yield Problem("one_sided_edge", (task_id, end), seen=f"{mirror} does not mirror it")
