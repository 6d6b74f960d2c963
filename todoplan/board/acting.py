"""
A person changes a plan, with the same commands and under the same policy as everyone else.

The page sends the revision that it showed. Changes that others made since then are not silently
undone (law 15). An edit of a field that someone else has changed is accepted with a warning. A
change of status, a removal or an approval is refused if its object differs from what was shown; the
person is asked to look again. Both are rules, so they are checked together with the command, on the
current plan.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from todoplan.board.wishes import command_of
from todoplan.core.decide.decide import Decision, Rejected
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem, explain
from todoplan.core.rules.change import Change
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.rule import Rule
from todoplan.errors import PlanError
from todoplan.planner import AsyncPlanner
from todoplan.render.phrases import event_phrases

__all__ = ["carry_out"]

_Check = Callable[[Change], Iterator[Problem]]
_OF_WHAT_WAS_SHOWN: dict[str, Callable[[Task], object]] = {
    "status": lambda task: task.status,
    "remove": lambda task: task,
}
"""Actions that are refused if the task has changed, with the part of the task that is compared."""


async def carry_out(
    planner: AsyncPlanner, policy: Policy, wish: Mapping[str, Any], actor: str
) -> dict[str, Any]:
    """
    Carry out a person's request, and return a result for people to read.

    The result is `{"accepted", "told", "revision", "warnings"}`.

    Raises:
        PlanError: the request is malformed.
    """
    base = wish.get("base")
    if base is not None and (type(base) is not int or base < 0):
        msg = f"base is the revision that the page shows, a whole number; this is {base!r}"
        raise PlanError(msg, seen=base)
    if wish.get("do") == "undo":
        before = await planner.plan()
        return _told(await planner.undo(actor=actor, seen=base), before)
    command = command_of(wish, actor)
    if base is not None:
        plan, behind = await planner.look(base)
        shown = plan if behind is None else behind.plan
        policy = _mindful(policy, wish, shown, base)
    return _told(await planner.apply(command, actor=actor, policy=policy))


def _told(decision: Decision, before: Plan | None = None) -> dict[str, Any]:
    if isinstance(decision, Rejected):
        return {"accepted": False, "told": decision.text, "warnings": []}
    if before is not None and before.revision + len(decision.events) != decision.plan.revision:
        before = None  # someone else changed the plan in between
    said = event_phrases(decision.events, decision.plan, before) or ("nothing to change",)
    return {
        "accepted": True,
        "told": "; ".join(said),
        "revision": decision.plan.revision,
        "warnings": [explain(warning) for warning in decision.warnings],
    }


def _mindful(policy: Policy, wish: Mapping[str, Any], shown: Plan, base: int) -> Policy:
    """Add a rule to the policy that compares the task with what the person was shown, if needed."""
    kind, task_id = wish["do"], wish.get("task")
    was = shown.get(task_id) if isinstance(task_id, str) else None
    # If the journal was truncated, what was shown is unknown; then the plan must not have changed.
    is_known = shown.revision == base
    if kind == "approve" or (kind in _OF_WHAT_WAS_SHOWN and not is_known):
        return policy.adding(Rule("board_moved_on", _moved_on(base)))
    if was is None or not is_known:
        return policy
    if kind == "edit":
        return policy.adding(Rule("board_seen", _set_beside(was, wish["field"])), "warn")
    if kind in _OF_WHAT_WAS_SHOWN:
        return policy.adding(Rule("board_seen", _changed(was, _OF_WHAT_WAS_SHOWN[kind])))
    return policy


def _moved_on(base: int) -> _Check:
    def check(change: Change) -> Iterator[Problem]:
        if change.before.revision != base:
            yield Problem("moved_on", seen=str(base), legal=str(change.before.revision))

    return check


def _set_beside(was: Task, field: str) -> _Check:
    def check(change: Change) -> Iterator[Problem]:
        task = change.before.get(was.id)
        if task is not None and getattr(task, field) != getattr(was, field):
            value = getattr(task, field)
            yield Problem("changed_beside", (was.id,), seen="" if value is None else str(value))

    return check


def _changed(was: Task, of: Callable[[Task], object]) -> _Check:
    def check(change: Change) -> Iterator[Problem]:
        task = change.before.get(was.id)
        if task is not None and of(task) != of(was):
            yield Problem("changed_unseen", (was.id,), seen=task.status.replace("_", " "))

    return check
