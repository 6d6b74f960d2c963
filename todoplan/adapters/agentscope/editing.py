"""
How an application reads, seeds and changes the plan, and repairs a list that was written by hand.

All of it is done at once, with nothing awaited, on the state that the tools read anew with every
call, or in the store of the agent's tools: an edit is in the plan also while a reply is under way
(law 16).
"""

from __future__ import annotations

from agentscope.agent import Agent
from agentscope.state import AgentState

from todoplan.adapters.agentscope.plan_store import PlanStore, plans_of
from todoplan.adapters.agentscope.state import (
    Held,
    journal_of,
    load,
    refuse_stored,
    save,
    state_of,
)
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
from todoplan.dialogue.undoing import last_change, plan_before, starts, undone

__all__ = ["edit_plan", "history_of", "plan_of_state", "repair", "seed_plan", "undo_plan"]


def plan_of_state(state: AgentState | Agent) -> Plan:
    """
    Return the plan that the tasks of a state, or of an agent's, are, repaired where they need it;
    of an agent whose tools have a store, the plan there.

    Raises:
        PlanError: the tasks are no plan and can be repaired in more than one way; this is no state;
            or a store keeps its plan.
        CodecError: a task holds what no plan can.
    """
    if plans := _plans(state):
        return plans.opened(state_of(state)).plan
    return load(state_of(state)).plan


def history_of(state: AgentState | Agent) -> tuple[Entry, ...]:
    """
    Return what happened to the plan, oldest first: when, by whom (`actor`; `None`: no name)
    and by which tool or command (`cause`). The state keeps the latest 50 entries, fewer if long; a
    store keeps all.

    What others did to the list itself is no entry: its revision is missing.

    Raises:
        PlanError: this is no state, or a store keeps its plan.
        CodecError: what stands there is no journal.
    """
    if plans := _plans(state):
        return plans.opened(state_of(state)).history()
    return journal_of(state_of(state))


def seed_plan(state: AgentState | Agent, plan: Plan, *, actor: str | None = None) -> None:
    """
    Make the state's tasks those of a plan; whatever stood there goes. Ids in use go on. Where a
    store keeps the plan, give the agent.

    Raises:
        PlanError: this is no state, or no plan.
    """
    own = state_of(state)
    require(plan, Plan)
    if plans := _plans(state):
        planner = plans.opened(own)
        planner.restore(plan, actor=actor)
        plans.publish(own, planner.plan)  # its interfaces need not wait for the next look
        return
    refuse_stored(own)
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
    state by itself knows of none, and `AGENTSCOPE` holds. It does not know of a store either: where
    one keeps the plan, give the agent. `actor` is who does it, for the journal.

    Raises:
        PlanError, CodecError: as of `plan_of_state`; what was given is no policy.
    """
    own = state_of(state)
    chosen = _policy(state) if policy is None else require(policy, Policy)
    if plans := _plans(state):
        planner = plans.opened(own)
        decision = planner.apply(command, actor=actor, policy=chosen)
        plans.publish(own, planner.plan)
        return decision
    held = load(own)
    decision, entry = edited(held.plan, command, chosen, at=utc_now(), actor=actor)
    if isinstance(decision, Accepted):
        _keep(own, held, decision.plan, entry)
    return decision


def undo_plan(state: AgentState | Agent, *, actor: str | None = None) -> Decision:
    """
    Take the last change of the plan back that still stands, whoever made it; again, the one before
    it.

    Raises:
        PlanError, CodecError: as of `edit_plan`; or the journal of the state does not say what was
            before the change: it has the latest 50 entries, and none of what others did to the list
            itself.
    """
    own = state_of(state)
    if plans := _plans(state):
        planner = plans.opened(own)
        decision = planner.undo(actor=actor)
        plans.publish(own, planner.plan)
        return decision
    held, journal = load(own), journal_of(own)
    change = last_change(journal)
    before = None if change is None else plan_before(change, held.plan, journal, starts(journal))
    decision, entry = undone(held.plan, change, before, at=utc_now(), actor=actor)
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


def _tools(given: object) -> list[object]:
    groups = given.toolkit.tool_groups if isinstance(given, Agent) else ()
    return [tool for group in groups for tool in group.tools]


def _policy(given: object) -> Policy:
    boxes = (getattr(tool, "toolbox", None) for tool in _tools(given))
    found = next((box for box in boxes if isinstance(box, Toolbox)), None)
    return AGENTSCOPE if found is None else found.policy


def _plans(given: object) -> PlanStore | None:
    """
    Return where the tools of an agent keep their plans, if a store does.
    """
    return plans_of(_tools(given))


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
