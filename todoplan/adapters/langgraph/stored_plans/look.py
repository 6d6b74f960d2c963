"""What a request or an answer finds of a thread's plan: in the state, or in a store."""

from __future__ import annotations

from typing import Any

import attrs

from todoplan.adapters.langgraph.seen import base_of
from todoplan.adapters.langgraph.state import plan_in, value_in
from todoplan.core.events.base import Base
from todoplan.core.plan.plan import Plan

__all__ = ["Look", "look_of_state", "stored_look"]


@attrs.frozen
class Look:
    """
    The plan as a request or an answer finds it, and what of it the model has not seen, if others
    have changed it since. In a store it stands under `plan_id`, and `known` is the revision that
    the model saw last.
    """

    plan: Plan
    base: Base | None
    plan_id: str | None = None
    known: int | None = None


def look_of_state(state: Any) -> Look:
    """
    Return the plan that a state holds, and its base.

    Raises:
        CodecError: what stands there is no plan, or no base.
        PlanError: a store keeps the plan.
    """
    return Look(plan_in(state), base_of(value_in(state)))


def stored_look(plan_id: str, known: int | None, found: tuple[Plan, Base | None]) -> Look:
    """
    Return what a planner has found for a model that knows the plan at a revision.
    """
    plan, base = found
    unseen = base if base and base.has_news(plan) else None
    return Look(plan, unseen, plan_id, known)
