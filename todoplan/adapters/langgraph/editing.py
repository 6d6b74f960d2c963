"""How an application seeds and changes the plan of a thread: on a compiled graph and its config."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel
from langgraph.types import StateSnapshot

from todoplan.adapters.langgraph.state import (
    messages_in,
    own_name,
    plan_in,
    plan_update,
    step_update,
    value_in,
)
from todoplan.codec.branches import Step, head_of
from todoplan.core.commands import Command
from todoplan.core.decide import Accepted, Decision, decide
from todoplan.core.plan import Plan
from todoplan.core.policy import Policy
from todoplan.core.presets import DEFAULT
from todoplan.dialogue.clock import utc_now

__all__ = ["aedit_plan", "aseed_plan", "command_update", "edit_plan", "seed_plan"]

_Graph = Pregel[Any, Any, Any, Any]


def seed_plan(
    graph: _Graph, config: RunnableConfig, plan: Plan, *, as_node: str | None = None
) -> RunnableConfig:
    """
    Make this the plan of the config's thread, also of a new one; the graph needs a checkpointer.

    `as_node` names the node that the change counts as. Unless given, that is the last that ran; in
    an agent where none did, it is "model", since LangGraph drops what an input must not hold.
    """
    node = as_node or _node(graph, graph.get_state(config))
    return graph.update_state(config, plan_update(plan), node)


async def aseed_plan(
    graph: _Graph, config: RunnableConfig, plan: Plan, *, as_node: str | None = None
) -> RunnableConfig:
    """
    As `seed_plan`, for asynchronous checkpointers.
    """
    node = as_node or _node(graph, await graph.aget_state(config))
    return await graph.aupdate_state(config, plan_update(plan), node)


def _node(graph: _Graph, state: StateSnapshot) -> str | None:
    unused = "model" in graph.nodes and not messages_in(state.values)
    return "model" if unused else None


def edit_plan(
    graph: _Graph, config: RunnableConfig, command: Command, policy: Policy = DEFAULT
) -> Decision:
    """
    Carry out a command on the plan of a thread, or say why not; `ClearPlan()` clears it.

    What the thread's own run writes in between stays. Give the config of the thread, not that of
    an old checkpoint, unless a fork from there is meant.
    """
    state = graph.get_state(config)
    decision, update = command_update(state.values, command, policy)
    if update:
        graph.update_state(config, update, _node(graph, state))
    return decision


async def aedit_plan(
    graph: _Graph, config: RunnableConfig, command: Command, policy: Policy = DEFAULT
) -> Decision:
    """
    As `edit_plan`, for asynchronous checkpointers.
    """
    state = await graph.aget_state(config)
    decision, update = command_update(state.values, command, policy)
    if update:
        await graph.aupdate_state(config, update, _node(graph, state))
    return decision


def command_update(
    state: Any, command: Command, policy: Policy = DEFAULT
) -> tuple[Decision, dict[str, Any]]:
    """
    Return what a command comes to in a state, and the update for a node or a tool of your own.

    The update is empty if the command was refused or changed nothing.
    """
    decision = decide(plan_in(state), command, policy, at=utc_now())
    if not isinstance(decision, Accepted) or not decision.events:
        return decision, {}
    name = own_name()
    step = Step(decision.plan, decision.events, name, head_of(value_in(state)), turn=name)
    return decision, step_update(step, state)
