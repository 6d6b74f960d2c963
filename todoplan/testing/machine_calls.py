"""What a tool call should come to, by the model."""

from collections.abc import Mapping
from typing import Any

from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.intake.read import read
from todoplan.dialogue.tools.toolset import Query, Tool
from todoplan.testing.machine_judging import Expected, expected
from todoplan.testing.machine_model import Model
from todoplan.testing.machine_step import Step

__all__ = ["call_expected"]


def call_expected(
    plan: Plan, model: Model, policy: Policy, tool: Tool, meant: Mapping[str, Any] | None
) -> Expected:
    """
    Return what a call should come to that means these well-formed arguments; `None`: a refusal.
    """
    request = None if meant is None else tool.request(read(meant, tool.fields).values)
    if request is None or isinstance(request, Problem):
        return Expected(model, refused=True, codes=None)
    if isinstance(request, Query):
        unknown = request.task_id is not None and request.task_id not in model.ids()
        return Expected(model, refused=unknown, codes=None)
    return expected(plan, policy, Step(model, request))
