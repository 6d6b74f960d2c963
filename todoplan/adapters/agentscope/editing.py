"""How an application seeds and changes the plan of a state by plans and commands."""

from agentscope.state import AgentState

from todoplan.adapters.agentscope.state import load, save
from todoplan.core.commands import Command, RestorePlan
from todoplan.core.decide.decide import Accepted, Decision, decide
from todoplan.core.events.touched import touched
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import AGENTSCOPE
from todoplan.dialogue.clock import utc_now

__all__ = ["edit_plan", "seed_plan"]


def seed_plan(state: AgentState, plan: Plan) -> None:
    """
    Make the state's tasks those of a plan; whatever stood there goes. Ids in use go on.
    """
    state.tasks_context.tasks.clear()
    edit_plan(state, RestorePlan(tuple(plan), plan.next_id), Policy())


def edit_plan(state: AgentState, command: Command, policy: Policy = AGENTSCOPE) -> Decision:
    """
    Carry out a command on the state's plan, or say why not; `ClearPlan()` clears it.

    Raises:
        PlanError, CodecError: as of `plan_of_state`.
    """
    held = load(state)
    decision = decide(held.plan, command, policy, at=utc_now())
    if isinstance(decision, Accepted) and decision.events:
        save(state, held, decision.plan, touched(decision.events))
    return decision
