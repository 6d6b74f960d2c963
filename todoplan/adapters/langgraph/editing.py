"""
How an application seeds and changes the plan of a thread: on a compiled graph and its config.

In a store this is done at any time, also while a run goes on: all of them read the plan there. In
the state it is a write between two runs (see `threads`).
"""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

from todoplan.adapters.langgraph.state import (
    own_name,
    plan_in,
    plan_update,
    step_update,
    value_in,
)
from todoplan.adapters.langgraph.threads import (
    Graph,
    aplanner_of,
    check,
    node_of,
    planner_of,
    plans_of,
    policy_of,
)
from todoplan.codec.foreign.branches import Step, head_of
from todoplan.core.commands import Command
from todoplan.core.decide.decide import Decision, Rejected
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import DEFAULT
from todoplan.dialogue.application import edited, require
from todoplan.dialogue.clock import utc_now
from todoplan.errors import PlanError

__all__ = [
    "aedit_plan",
    "aseed_plan",
    "command_update",
    "edit_plan",
    "edit_update",
    "seed_plan",
]


def seed_plan(  # noqa: PLR0913 - as `edit_plan`
    graph: Graph,
    config: RunnableConfig,
    plan: Plan,
    *,
    actor: str | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> RunnableConfig:
    """
    Make this the plan of the config's thread, also of a new one; without a store the graph needs a
    checkpointer.

    `actor` is who does it, for the journal. `as_node` names the node that the change counts as.
    Unless given, that is the last that ran, or the start; in an agent where none did, it is
    "model": LangGraph drops what an input must not hold. `stopped` is that of `edit_plan`.

    Raises:
        PlanError: as of `edit_plan`.
    """
    if plans := plans_of(graph):
        planner_of(plans, graph, config).restore(require(plan, Plan), actor=actor)
        return config
    check(graph, config)
    update = plan_update(plan, actor=actor)
    node = node_of(graph, config, graph.get_state(config), as_node, stopped=stopped)
    return graph.update_state(config, update, node)


async def aseed_plan(  # noqa: PLR0913 - as `edit_plan`
    graph: Graph,
    config: RunnableConfig,
    plan: Plan,
    *,
    actor: str | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> RunnableConfig:
    """
    As `seed_plan`, for asynchronous checkpointers.
    """
    if plans := plans_of(graph):
        planner = await aplanner_of(plans, graph, config)
        await planner.restore(require(plan, Plan), actor=actor)
        return config
    check(graph, config)
    update = plan_update(plan, actor=actor)
    node = node_of(graph, config, await graph.aget_state(config), as_node, stopped=stopped)
    return await graph.aupdate_state(config, update, node)


def edit_plan(  # noqa: PLR0913 - each a keyword, two of them LangGraph's own
    graph: Graph,
    config: RunnableConfig,
    command: Command,
    *,
    actor: str | None = None,
    policy: Policy | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> Decision:
    """
    Carry out a command on the plan of a thread, or say why not; `ClearPlan()` clears it.

    It is judged by the policy of the graph's own tools unless another is given. `actor` is who does
    it, for the journal. Give the config of the thread, not that of an old checkpoint, unless a fork
    from there is meant. `as_node` is that of `seed_plan`.

    Where a store keeps the plan, it is done at once, at any time. Else not while a run goes on:
    inside one, let a tool or a node return what `command_update` says. A
    thread that was left between two steps, by a process that died or a `stream` that was not read
    to its end, looks as if a run went on: `stopped=True` says that none does. A run that saves
    nothing before its end (durability="exit") cannot be seen at all.

    Raises:
        PlanError: a run goes on; the graph keeps no plan or has no checkpointer; the thread stands
            in the middle of a step, part of which LangGraph would forget and do again; or nothing
            ran yet, and the graph's input holds no plan.
    """
    chosen = policy_of(graph) if policy is None else require(policy, Policy)
    if plans := plans_of(graph):
        return planner_of(plans, graph, config).apply(command, actor=actor, policy=chosen)
    check(graph, config)
    state = graph.get_state(config)
    node = node_of(graph, config, state, as_node, stopped=stopped)
    decision, update = command_update(state.values, command, actor=actor, policy=chosen)
    if update:
        graph.update_state(config, update, node)
    return decision


async def aedit_plan(  # noqa: PLR0913 - as `edit_plan`
    graph: Graph,
    config: RunnableConfig,
    command: Command,
    *,
    actor: str | None = None,
    policy: Policy | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> Decision:
    """
    As `edit_plan`, for asynchronous checkpointers.
    """
    chosen = policy_of(graph) if policy is None else require(policy, Policy)
    if plans := plans_of(graph):
        planner = await aplanner_of(plans, graph, config)
        return await planner.apply(command, actor=actor, policy=chosen)
    check(graph, config)
    state = await graph.aget_state(config)
    node = node_of(graph, config, state, as_node, stopped=stopped)
    decision, update = command_update(state.values, command, actor=actor, policy=chosen)
    if update:
        await graph.aupdate_state(config, update, node)
    return decision


def command_update(
    state: Any, command: Command, *, actor: str | None = None, policy: Policy = DEFAULT
) -> tuple[Decision, dict[str, Any]]:
    """
    Return what a command comes to in a state, and the update for a node or a tool of your own.

    The update is empty if the command was refused or changed nothing.

    Raises:
        CodecError: what stands in the state is no plan.
        PlanError: what was given is no state, no command or no policy.
    """
    if state is None or isinstance(state, str | int):
        msg = f"{short_repr(state)} was given; give the state that the node or tool was handed"
        raise PlanError(msg, seen=state)
    decision, entry = edited(plan_in(state), command, policy, at=utc_now(), actor=actor)
    return decision, edit_update(state, decision, entry)


def edit_update(state: Any, decision: Decision, entry: Entry | None) -> dict[str, Any]:
    """
    Return the update of a state for what was decided upon its plan; empty if nothing was done.
    """
    if entry is None or isinstance(decision, Rejected):
        return {}
    name = own_name()
    step = Step(decision.plan, entry.events, name, head_of(value_in(state)), turn=name)
    return step_update(step, state, entry)
