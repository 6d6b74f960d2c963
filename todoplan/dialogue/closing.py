"""
`plan_closed` says whether work on a plan may end, and if not, why. It is for the loops of agents
outside todoplan.

Such a loop calls a predicate after each answer of the model. Often, the predicate asks a second
model. `plan_closed` asks no model: it looks at the tasks, their evidence, and the reasons for which
they wait. `PlanClosed` offers the result in the form that each loop expects.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import attrs

from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import open_tasks, within_reach
from todoplan.dialogue.calls import checked_plan
from todoplan.dialogue.guidance import LONGEST_SUBJECT, MOST_TASKS
from todoplan.dialogue.replies import and_more, counts_text, one_line
from todoplan.texts import say


@attrs.frozen
class PlanClosed:
    """
    Whether work on a plan may end. An instance is true if work may end.

    `reason` tells the model why work may not end; it is "" if work may end. `open` are the ids of
    the open tasks that somebody can work on, and `waiting` are the ids of all other open tasks.
    `unverified` are the ids of the completed tasks that have a check and no evidence that the check
    passed.
    """

    reason: str
    open: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.reason

    def should_continue(self) -> tuple[bool, str]:
        """Return whether to continue, and the reason, for Microsoft's `AgentLoopMiddleware`."""
        return not self, self.reason

    def validation(self) -> dict[str, Any]:
        """Return `passed` and `feedback`, as a validator of Strands' `GoalLoop` does."""
        return {"passed": bool(self), "feedback": self.reason or None}

    def stop_hook(self) -> dict[str, str]:
        """Return the output of a Stop hook of Claude Code, Codex, Gemini CLI and others."""
        return {} if self else {"decision": "block", "reason": self.reason}

    def on_exit(self, state: Any, message: Any) -> None:
        """
        Make a Haystack agent continue if work may not end. Call this in an `on_exit` hook.

        `state` is the agent's state. `message` is a function that makes a message from a text, such
        as `ChatMessage.from_user`.
        """
        if not self:
            state.set("continue_run", True)  # noqa: FBT003 - Haystack's own signature
            state.set("messages", [message(self.reason)])


def plan_closed(
    plan: Plan, *, evidence: bool = True, waits: bool = True, claimed: Collection[str] = ()
) -> PlanClosed:
    """
    Return whether work on a plan may end. The plan alone decides; no model is asked.

    Work may end if there is no open task that somebody can work on, and every completed task with a
    check has evidence that the check passed. Work on an empty plan may end. With `evidence=False`,
    evidence is not required. With `waits=False`, work may not end while any task is open, even if
    nobody can work on it, for example because it waits for something outside the plan. `claimed`
    are the ids of the tasks that others work on (`planner.claimed_by_others`).

    Raises:
        PlanError: `plan` is not a plan.
    """
    near = within_reach(checked_plan(plan), claimed)
    reachable = {task.id for task in near}
    far = tuple(task for task in open_tasks(plan) if task.id not in reachable)
    unverified = tuple(
        task
        for task in (plan if evidence else ())
        if task.status is Status.COMPLETED
        and task.check
        and not (task.evidence and task.evidence.passed)
    )
    sentences = []
    for name, tasks in (
        ("closing.open", near),
        ("closing.waiting", () if waits else far),
        ("closing.unverified", unverified),
    ):
        if tasks:
            shown = [
                f"#{it.id} {one_line(it.subject, LONGEST_SUBJECT)}" for it in tasks[:MOST_TASKS]
            ]
            listed = "; ".join(and_more(shown, len(tasks)))
            sentences.append(say("replies", name, tasks=listed))
    reason = "\n".join([say("replies", "closing.head", counts=counts_text(plan)), *sentences])
    ids = (tuple(task.id for task in tasks) for tasks in (near, far, unverified))
    return PlanClosed(reason if sentences else "", *ids)
