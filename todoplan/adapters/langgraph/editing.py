"""How an application seeds and changes the plan of a thread: on a compiled graph and its config."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.types import StateSnapshot

from todoplan.adapters.langgraph.state import (
    PLAN,
    messages_in,
    own_name,
    plan_in,
    plan_update,
    step_update,
    value_in,
)
from todoplan.codec.branches import Step, head_of
from todoplan.core.commands import Command
from todoplan.core.decide.decide import Accepted, Decision, decide
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import DEFAULT
from todoplan.dialogue.clock import utc_now
from todoplan.errors import PlanError

__all__ = ["aedit_plan", "aseed_plan", "command_update", "edit_plan", "seed_plan"]

_Graph = Pregel[Any, Any, Any, Any]


def seed_plan(
    graph: _Graph, config: RunnableConfig, plan: Plan, *, as_node: str | None = None
) -> RunnableConfig:
    """
    Make this the plan of the config's thread, also of a new one; the graph needs a checkpointer.

    `as_node` names the node that the change counts as. Unless given, that is the last that ran, or
    the start; in an agent where none did, it is "model": LangGraph drops what an input must not
    hold.

    Raises:
        PlanError: as of `edit_plan`.
    """
    state = graph.get_state(config)
    return graph.update_state(config, plan_update(plan), _node(graph, config, state, as_node))


async def aseed_plan(
    graph: _Graph, config: RunnableConfig, plan: Plan, *, as_node: str | None = None
) -> RunnableConfig:
    """
    As `seed_plan`, for asynchronous checkpointers.
    """
    state = await graph.aget_state(config)
    node = _node(graph, config, state, as_node)
    return await graph.aupdate_state(config, plan_update(plan), node)


def edit_plan(
    graph: _Graph,
    config: RunnableConfig,
    command: Command,
    policy: Policy = DEFAULT,
    *,
    as_node: str | None = None,
) -> Decision:
    """
    Carry out a command on the plan of a thread, or say why not; `ClearPlan()` clears it.

    For between runs: an edit while one goes on is lost. Inside a run, let a tool or a node return
    what `command_update` says. Give the config of the thread, not that of an old checkpoint, unless
    a fork from there is meant. `as_node` is that of `seed_plan`.

    Raises:
        PlanError: the thread stands in the middle of a step, part of which LangGraph would forget
            and do again; or nothing ran yet, and the graph's input holds no plan.
    """
    state = graph.get_state(config)
    node = _node(graph, config, state, as_node)
    decision, update = command_update(state.values, command, policy)
    if update:
        graph.update_state(config, update, node)
    return decision


async def aedit_plan(
    graph: _Graph,
    config: RunnableConfig,
    command: Command,
    policy: Policy = DEFAULT,
    *,
    as_node: str | None = None,
) -> Decision:
    """
    As `edit_plan`, for asynchronous checkpointers.
    """
    state = await graph.aget_state(config)
    node = _node(graph, config, state, as_node)
    decision, update = command_update(state.values, command, policy)
    if update:
        await graph.aupdate_state(config, update, node)
    return decision


def _node(
    graph: _Graph, config: RunnableConfig, state: StateSnapshot, as_node: str | None
) -> str | None:
    is_fork = "checkpoint_id" in config.get("configurable", {})
    done = [] if is_fork else [task.name for task in state.tasks if task.result is not None]
    if done:
        msg = (
            f"this thread stands in the middle of a step: what has finished ({', '.join(done)})"
            " would be forgotten and done again; go on first, by invoke(Command(resume=...)) if it"
            " waits for an answer, else by invoke(None)"
        )
        raise PlanError(msg, finished=tuple(done))
    if as_node or messages_in(state.values) or _takes_plans(graph):
        return as_node
    if "model" not in graph.nodes:
        msg = (
            f'the input of this graph holds no "{PLAN}"; name a node whose change this is: as_node'
        )
        raise PlanError(msg, nodes=tuple(graph.nodes))
    return "model"


def _takes_plans(graph: _Graph) -> bool:
    builder = graph.builder if isinstance(graph, CompiledStateGraph) else None
    return builder is not None and PLAN in builder.schemas[builder.input_schema]


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
