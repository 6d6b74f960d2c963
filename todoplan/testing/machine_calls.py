"""What a tool call should come to, by the model."""

from collections.abc import Mapping
from typing import Any

from todoplan.core.commands import DeleteTask
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.intake.read import read
from todoplan.dialogue.tools.toolset import Query, Tool
from todoplan.testing.machine_judging import Expected, expected
from todoplan.testing.machine_model import Model
from todoplan.testing.machine_step import Step

__all__ = ["call_expected"]


def call_expected(  # noqa: PLR0913 - where it stands, and what was sent
    plan: Plan,
    model: Model,
    policy: Policy,
    tool: Tool,
    meant: Mapping[str, Any] | None,
    *,
    sent: object = None,
) -> Expected:
    """
    Return what a call should come to that means these well-formed arguments; `None`: a refusal.

    `sent` are the arguments as they are sent, if others: a guess about a container removes nothing.
    """
    request = None if meant is None else tool.request(read(meant, tool.fields).values)
    if request is None or isinstance(request, Problem):
        return Expected(model, refused=True, codes=None)
    if isinstance(request, Query):
        unknown = request.task_id is not None and request.task_id not in model.ids()
        return Expected(model, refused=unknown, codes=None)
    step = Step(model, request)
    wanted = expected(plan, policy, step)
    if not wanted.refused and _drops_unnamed(step) and read(sent, tool.fields).guessed:
        return Expected(model, refused=True, codes=frozenset({"guessed_container"}))
    return wanted


def _drops_unnamed(step: Step) -> bool:
    named = {part.task_id for part in step.commands if isinstance(part, DeleteTask)}
    emptied = any(part.clear and not part.todos for part in step.writes())
    return bool(set(step.before.ids()) - set(step.after.ids()) - named) and not emptied
