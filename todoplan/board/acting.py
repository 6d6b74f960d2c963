"""
A person acts on a plan, by the same commands and under the same policy as everybody else.

The page says which revision it showed. What others did since is not undone unseen (law 15): an edit
of a field that somebody else has set in the meantime stands, and says so; whoever would change a
status, remove a task or approve a plan that is no longer what was shown is asked to look again.
Both are rules, so they are judged at once with the command, upon the plan as it is then.
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
"""What is done only to what the person saw of a task, and what of it counts."""


async def carry_out(
    planner: AsyncPlanner, policy: Policy, wish: Mapping[str, Any], actor: str
) -> dict[str, Any]:
    """
    Carry out what a person wants, and return what came of it: `{"accepted", "told", "revision",
    "warnings"}`, for people to read.

    Raises:
        PlanError: it is nothing that a page asks for.
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
        before = None  # somebody else came in between
    said = event_phrases(decision.events, decision.plan, before) or ("nothing to change",)
    return {
        "accepted": True,
        "told": "; ".join(said),
        "revision": decision.plan.revision,
        "warnings": [explain(warning) for warning in decision.warnings],
    }


def _mindful(policy: Policy, wish: Mapping[str, Any], shown: Plan, base: int) -> Policy:
    """
    Return the policy with a rule for what was shown to the person, where there has to be one.
    """
    kind, task_id = wish["do"], wish.get("task")
    was = shown.get(task_id) if isinstance(task_id, str) else None
    # A journal that was cut does not tell what was shown: then only the plan as it is will do.
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
