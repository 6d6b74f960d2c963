"""Where a plan and the naive model part, in sentences: what is checked after every step."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from todoplan.core.plan.plan import Counts, Plan
from todoplan.core.plan.questions import unresolved_blockers
from todoplan.testing.machine_model import TIMES, Model, view

__all__ = ["differences", "in_itself", "model_text"]

_STATUSES = ("pending", "in_progress", "completed", "cancelled")


def differences(plan: Plan, model: Model, *, times: bool = True) -> Iterator[str]:
    """
    Yield where a plan's tasks, order, edges and next id are not the model's.
    """
    tasks, edges, next_id = view(plan)
    _, wanted_edges, wanted_next = view(model)
    ids, wanted_ids = [task["id"] for task in tasks], model.ids()
    if ids != wanted_ids:
        yield f"the tasks are {_named(ids)}, they should be {_named(wanted_ids)}"
    yield from (f"the edge {_edge(each)} is missing" for each in sorted(wanted_edges - edges))
    yield from (f"the edge {_edge(each)} is too many" for each in sorted(edges - wanted_edges))
    if next_id != wanted_next:
        yield f"the next id is {next_id}, it should be {wanted_next}"
    skipped = () if times else TIMES
    for task in tasks:
        yield from _task_differences(task, model.task(task["id"]) or task, skipped)


def _task_differences(
    task: dict[str, Any], wanted: dict[str, Any], skipped: Sequence[str]
) -> Iterator[str]:
    for name, value in wanted.items():
        if name not in skipped and task[name] != value:
            yield f"the {name} of #{task['id']} is {task[name]!r}, it should be {value!r}"


def in_itself(plan: Plan, model: Model) -> Iterator[str]:
    """
    Yield where what a plan says of itself is not what counting anew gives: mirrors, counts, ready.
    """
    for task in plan:
        for name, ends, mirror in (
            ("blocks", task.blocks, "blocked_by"),
            ("blocked_by", task.blocked_by, "blocks"),
        ):
            if len(set(ends)) < len(ends):
                yield f"#{task.id} names a task twice in {name}"
            lost = [
                end for end in ends if end not in plan or task.id not in _ends(plan, end, mirror)
            ]
            if lost:
                yield f"#{task.id} {name} {_named(lost)}, which {mirror} does not mirror"
        if set(unresolved_blockers(plan, task)) != set(model.waiting(task.id)):
            yield f"#{task.id} does not wait for {_named(model.waiting(task.id))}"
    counts = Counts(*(model.count(status) for status in _STATUSES))
    if plan.counts != counts:
        yield f"the counts are {tuple(plan.counts)}, they should be {tuple(counts)}"
    yield from _lists(plan, model)


def _ends(plan: Plan, task_id: str, name: str) -> tuple[str, ...]:
    ends: tuple[str, ...] = getattr(plan[task_id], name)
    return ends


def _lists(plan: Plan, model: Model) -> Iterator[str]:
    for name, found, wanted in (
        ("ready", plan.ready(), model.ready()),
        ("in progress", plan.active(), model.active()),
    ):
        ids = [task.id for task in found]
        if ids != wanted:
            yield f"the tasks that are {name} are {_named(ids)}, they should be {_named(wanted)}"


def _named(ids: Iterable[str]) -> str:
    return ", ".join(f"#{task_id}" for task_id in ids) or "none"


def _edge(edge: tuple[str, str]) -> str:
    return f"#{edge[0]} -> #{edge[1]}"


def model_text(model: Model) -> str:
    """
    Return the model as `list_text` shows a plan.
    """
    lines = []
    for task in model.tasks:
        owner = f" ({task['owner']})" if task["owner"] else ""
        waits = model.waiting(task["id"])
        blocked = f" [blocked by {_named(waits)}]" if waits else ""
        lines.append(f"#{task['id']} [{task['status']}] {task['subject']}{owner}{blocked}")
    return "\n".join(lines) or "no tasks"
