"""Where a plan and the naive model differ, in sentences."""

from collections.abc import Iterator

from support.naive.model import Model

from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Approval, Status, Task
from todoplan.core.plan.plan import Counts, Plan
from todoplan.core.plan.questions import unresolved_blockers
from todoplan.testing import machine


def as_plan(model: Model, revision: int = 0) -> Plan:
    """Return a plan of the model's tasks; `revision` is that of an approval at the step at hand."""
    tasks = [
        Task(
            **task,
            blocks=tuple(b for a, b in model.edges if a == task["id"]),
            blocked_by=tuple(a for a, b in model.edges if b == task["id"]),
        )
        for task in model.tasks
    ]
    approved = model.approved
    if approved is not None and approved["revision"] is None:
        approved = {**approved, "revision": revision}
    return plan_of(tasks, next_id=model.next_id, approved=approved and Approval(**approved))


def differences(plan: Plan, model: Model, *, times: bool) -> Iterator[str]:
    """
    Yield where a plan is not the model: what it holds, and what it says of itself (blockers,
    children, counts, lists), which the model counts anew.
    """
    revision = plan.approved.revision if plan.approved else 0
    yield from machine.differences(plan, as_plan(model, revision), times=times)
    statuses = [task["status"] for task in model.tasks]
    counts = Counts(**{status.value: statuses.count(status) for status in Status})
    opinions: dict[str, tuple[object, object]] = {"counts": (plan.counts, counts)}
    for name, tasks, wanted in (
        ("ready", plan.ready(), model.ready()),
        ("in progress", plan.active(), model.active()),
        ("waiting", plan.waiting(), model.waiting()),
    ):
        opinions[f"tasks {name}"] = [task.id for task in tasks], wanted
    for task in plan:
        if task.id in model.ids():
            blockers = {*unresolved_blockers(plan, task)}, {*model.blockers(task.id)}
            opinions[f"blockers of #{task.id}"] = blockers
            opinions[f"children of #{task.id}"] = (
                [*plan.children(task.id)],
                model.children(task.id),
            )
    for what, (found, wanted) in opinions.items():
        if found != wanted:
            yield f"the {what}: {found}, by the naive model {wanted}"
