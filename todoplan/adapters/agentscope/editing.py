"""
How an application seeds and changes the plan, and repairs a list that was written by hand.

All of it is done at once, with nothing awaited, on the state that the tools read anew with every
call: an edit is in the plan also while a reply is under way (law 16).
"""

from __future__ import annotations

from agentscope.agent import Agent
from agentscope.state import AgentState

from todoplan.adapters.agentscope.state import Held, load, save, state_of
from todoplan.core.commands import Command
from todoplan.core.decide.decide import Accepted, Decision
from todoplan.core.events.journal import Entry
from todoplan.core.events.touched import touched
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import AGENTSCOPE
from todoplan.dialogue.application import edited, require, seeded
from todoplan.dialogue.clock import utc_now
from todoplan.dialogue.toolbox import Toolbox

__all__ = ["edit_plan", "repair", "seed_plan"]


def seed_plan(state: AgentState | Agent, plan: Plan, *, actor: str | None = None) -> None:
    """
    Make the state's tasks those of a plan; whatever stood there goes. Ids in use go on.

    Raises:
        PlanError: this is no state, or no plan.
    """
    own = state_of(state)
    require(plan, Plan)
    own.tasks_context.tasks.clear()  # it may be a list that is no plan, and could not be read
    held = load(own)
    after, entry = seeded(held.plan, plan, at=utc_now(), actor=actor)
    _keep(own, held, after, entry)


def edit_plan(
    state: AgentState | Agent,
    command: Command,
    *,
    actor: str | None = None,
    policy: Policy | None = None,
) -> Decision:
    """
    Carry out a command on the plan, or say why not; `ClearPlan()` clears it.

    Given the agent, it is judged by the policy of the agent's own tools unless another is given; a
    state by itself knows of none, and `AGENTSCOPE` holds. `actor` is who does it, for the journal.

    Raises:
        PlanError, CodecError: as of `plan_of_state`; what was given is no policy.
    """
    own = state_of(state)
    held = load(own)
    chosen = _policy(state) if policy is None else policy
    decision, entry = edited(held.plan, command, chosen, at=utc_now(), actor=actor)
    if isinstance(decision, Accepted):
        _keep(own, held, decision.plan, entry)
    return decision


def _keep(state: AgentState, held: Held, plan: Plan, entry: Entry | None) -> None:
    if entry is not None:
        # Before `save`, which makes the plan the new one: the base is the plan before the edit.
        held.seen.edited(held.plan, entry)
        save(state, held, plan, touched(entry.events))
        held.record(entry)
        held.keep_base()


def _policy(given: object) -> Policy:
    if isinstance(given, Agent):
        for tool in (tool for group in given.toolkit.tool_groups for tool in group.tools):
            toolbox = getattr(tool, "toolbox", None)
            if isinstance(toolbox, Toolbox):
                return toolbox.policy
    return AGENTSCOPE


def repair(state: AgentState | Agent) -> tuple[str, ...]:
    """
    Fix the state's task list in place, and return what was repaired, in words; () if it was fine.
    For lists that were seeded or imported, before an agent runs.

    Ids that are no numbers or stand twice get new ones, edges are noted at both of their tasks,
    those that lead nowhere are dropped, and a task without a subject gets one.

    Raises:
        PlanError: what can be repaired in more than one way: a cycle, edges that name an id which
            stands twice. `data["problems"]` holds every fault. The list is left as it was.
        CodecError: a task holds what no plan can. The list is left as it was.
    """
    return tuple(load(state_of(state)).repairs())
