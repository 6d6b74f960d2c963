"""Where a plan and the naive model differ, in sentences."""

from collections.abc import Iterable, Iterator
from typing import Any

import attrs
from support.naive.model import TIMES, Model, as_dict, edges_of

from todoplan.core.plan.model import Approval, Claim, Evidence, Status, Task
from todoplan.core.plan.plan import Counts, Plan
from todoplan.core.plan.questions import unresolved_blockers


def differences(plan: Plan, model: Model, *, times: bool) -> Iterator[str]:
    """
    Yield where a plan is not the model: what it holds, and what it says of itself (edges at both
    ends, children, counts, ready), which the model counts anew.
    """
    ids, edges, wanted_edges = [task.id for task in plan], edges_of(plan), set(model.edges)
    if ids != model.ids():
        yield f"the tasks are {_named(ids)}, they should be {_named(model.ids())}"
    yield from (f"the edge {_edge(each)} is missing" for each in sorted(wanted_edges - edges))
    yield from (f"the edge {_edge(each)} is too many" for each in sorted(edges - wanted_edges))
    if plan.next_id != model.next_id:
        yield f"the next id is {plan.next_id}, it should be {model.next_id}"
    for task in plan:
        yield from _fields(task, model, times=times)
    for task in plan:
        yield from _mirrors(plan, task.id)
        if task.id not in model.ids():
            continue  # said already; of what is not there the model can be asked nothing
        if set(unresolved_blockers(plan, task)) != set(model.blockers(task.id)):
            yield f"#{task.id} does not wait for {_named(model.blockers(task.id))}"
        children = [*plan.children(task.id)]
        if children != model.children(task.id):
            should = _named(model.children(task.id))
            yield f"the children of #{task.id} are {_named(children)}, they should be {should}"
    statuses = [task["status"] for task in model.tasks]
    counts = Counts(**{status.value: statuses.count(status) for status in Status})
    if plan.counts != counts:
        yield f"the counts are {tuple(plan.counts)}, they should be {tuple(counts)}"
    yield from _lists(plan, model)
    yield from _approval(plan.approved, model.approved, times=times)


def _fields(task: Task, model: Model, *, times: bool) -> Iterator[str]:
    wanted = model.get(task.id) or {}
    for name in [name for name in wanted if times or name not in TIMES]:
        found, should = as_dict(task)[name], wanted[name]
        if not times:
            found, should = _untimed(found), _untimed(should)
        if found != should:
            yield f"the {name} of #{task.id} is {found!r}, it should be {should!r}"


def _untimed(value: Any) -> Any:
    if isinstance(value, Claim):
        return attrs.evolve(value, until=None)
    return attrs.evolve(value, at=None) if isinstance(value, Evidence) else value


def _approval(
    found: Approval | None, wanted: dict[str, Any] | None, *, times: bool
) -> Iterator[str]:
    """Yield where an approval is not what it should be. A revision of `None` may be any."""
    if found is None or wanted is None:
        if found is not None:
            yield "the plan is approved, it should not be"
        elif wanted is not None:
            yield "the plan is not approved, it should be"
        return
    for name in ("revision", "by", "at") if times else ("revision", "by"):
        value = getattr(found, name)
        if value != wanted[name] and (name, wanted[name]) != ("revision", None):
            yield f"the {name} of the approval is {value!r}, it should be {wanted[name]!r}"


def _lists(plan: Plan, model: Model) -> Iterator[str]:
    for name, tasks, wanted in (
        ("ready", plan.ready(), model.ready()),
        ("in progress", plan.active(), model.active()),
        ("waiting", plan.waiting(), model.waiting()),
    ):
        ids = [task.id for task in tasks]
        if ids != wanted:
            yield f"the tasks that are {name} are {_named(ids)}, they should be {_named(wanted)}"


def _mirrors(plan: Plan, task_id: str) -> Iterator[str]:
    """Yield where the edges of a task are not the same at both ends (law 4)."""
    # Both ways: AgentScope, after a task is reopened, has the edge at one end only.
    for name, mirror in (("blocks", "blocked_by"), ("blocked_by", "blocks")):
        ends: tuple[str, ...] = getattr(plan[task_id], name)
        if len(set(ends)) < len(ends):
            yield f"#{task_id} names a task twice in {name}"
        lost = [e for e in ends if e not in plan or task_id not in getattr(plan[e], mirror)]
        if lost:
            yield f"#{task_id} {name} {_named(lost)}, which {mirror} does not mirror"


def _named(ids: Iterable[str]) -> str:
    return ", ".join(f"#{task_id}" for task_id in ids) or "none"


def _edge(edge: tuple[str, str]) -> str:
    return f"#{edge[0]} -> #{edge[1]}"


def model_text(model: Model) -> str:
    """Return the model as `list_text` shows a plan."""
    lines = []
    for task in model.tasks:
        owner = f" ({task['owner']})" if task["owner"] else ""
        waits = model.blockers(task["id"])
        claimed = f" [claimed by {task['claim'].owner}]" if task["claim"] else ""
        blocked = f" [blocked by {_named(waits)}]" if waits else ""
        waiting = f" [waiting for {task['waiting'].reason}]" if task["waiting"] else ""
        below = f" [in #{task['parent']}]" if task["parent"] else ""
        said = f"{task['subject']}{owner}{claimed}{blocked}{waiting}{below}"
        lines.append(f"#{task['id']} [{task['status']}] {said}")
    return "\n".join(lines) or "no tasks"
