"""
The rules that require somebody else: the program that checks whether a task is done, or the person
who approves a plan.

Whoever switches one of these rules on must have such a program or person.
"""

from collections.abc import Iterable, Iterator

from todoplan.core.events.types import (
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
)
from todoplan.core.plan.model import Status
from todoplan.core.problems import MOST_NAMED, Problem
from todoplan.core.rules.change import Change
from todoplan.core.rules.rule import Rule, moves, registering

__all__ = ["TRUST_RULES"]

TRUST_RULES: dict[str, Rule] = {}
_rule = registering(TRUST_RULES)
_BEGUN = {Status.IN_PROGRESS, Status.COMPLETED}


def _arrived(change: Change, statuses: Iterable[Status]) -> Iterator[str]:
    """Yield the ids of tasks that the change put into one of these statuses, each once."""
    ids: dict[str, None] = {}
    for event in change.events:
        if type(event) is StatusChanged and event.new in statuses:
            ids[event.task_id] = None
        elif type(event) is TaskCreated and event.task.status in statuses:
            ids[event.task.id] = None
    return iter(ids)


@_rule(*moves([Status.COMPLETED]), TaskCreated, opt_in=True)
def _evidence_required(change: Change) -> Iterator[Problem]:
    # Law 20. The check before the command counts too: removing the check and completing the task in
    # one command does not avoid the rule.
    for task_id in _arrived(change, {Status.COMPLETED}):
        task, was = change.after.get(task_id), change.before.get(task_id)
        check = (task and task.check) or (was and was.check)
        if task is None or not check or task.status is not Status.COMPLETED:
            continue
        if task.evidence is None or not task.evidence.passed:
            yield Problem("evidence_required", (task_id,), seen=check)


@_rule(*moves(_BEGUN), TaskCreated, opt_in=True)
def _approval_required(change: Change) -> Iterable[Problem]:
    if change.after.approved is not None:
        return ()
    begun = tuple(_arrived(change, _BEGUN))[:MOST_NAMED]
    return (Problem("approval_required", begun),) if begun else ()


@_rule(TaskCreated, TaskDeleted, PlanCleared, PlanRestored, presets={"default": "warn"})
def _approved_changed(change: Change) -> Iterable[Problem]:
    approved = change.before.approved
    if approved is None or (change.actor is not None and change.actor == approved.by):
        return ()
    return tuple(_changed(change, approved.by or "somebody else"))


def _changed(change: Change, by: str) -> Iterator[Problem]:
    before, after = change.before, change.after
    if any(type(event) is PlanRestored for event in change.events):
        came = tuple(task.id for task in after if task.id not in before)
        went = tuple(task.id for task in before if task.id not in after)
    else:
        created = (event.task.id for event in change.events if type(event) is TaskCreated)
        came = tuple(task_id for task_id in created if task_id in after)
        went = tuple(task.id for task in change.removed())
    for ids, seen in ((came, "added since"), (went, "removed since")):
        if ids:
            yield Problem("approved_changed", ids[:MOST_NAMED], seen=seen, legal=by)
