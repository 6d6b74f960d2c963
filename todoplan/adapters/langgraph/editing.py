"""
How an application seeds and changes the plan of a thread: on a compiled graph and its config.

A run reads its thread's checkpoint when it starts, works on what it has in memory, and writes
checkpoints over whatever was written meanwhile. So an edit is possible between runs, and while a
run has stopped for a person's answer; an edit under a run's feet would be answered `Accepted` and
then be gone (law 16), and is refused. LangGraph does not say whether a run is going on. What can be
seen is that a thread is between two steps and that nothing says why: no interrupt, no error, no
edit. A process that was killed leaves the same: that is what `stopped=True` is for.
"""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from langgraph.types import StateSnapshot

from todoplan.adapters.langgraph.state import (
    PLAN,
    own_name,
    plan_in,
    plan_update,
    run_config,
    step_update,
    value_in,
)
from todoplan.adapters.langgraph.tools import PlanTool, messages_in
from todoplan.codec.foreign.branches import Step, head_of
from todoplan.core.commands import Command
from todoplan.core.decide.decide import Decision, Rejected
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import DEFAULT
from todoplan.dialogue.application import edited, require
from todoplan.dialogue.clock import utc_now
from todoplan.errors import PlanError

__all__ = ["aedit_plan", "aseed_plan", "command_update", "edit_plan", "seed_plan"]

_Graph = Pregel[Any, Any, Any, Any]


def seed_plan(  # noqa: PLR0913 - as `edit_plan`
    graph: _Graph,
    config: RunnableConfig,
    plan: Plan,
    *,
    actor: str | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> RunnableConfig:
    """
    Make this the plan of the config's thread, also of a new one; the graph needs a checkpointer.

    `actor` is who does it, for the journal. `as_node` names the node that the change counts as.
    Unless given, that is the last that ran, or the start; in an agent where none did, it is
    "model": LangGraph drops what an input must not hold. `stopped` is that of `edit_plan`.

    Raises:
        PlanError: as of `edit_plan`.
    """
    _check(graph, config)
    update = plan_update(plan, actor=actor)
    node = _node(graph, config, graph.get_state(config), as_node, stopped=stopped)
    return graph.update_state(config, update, node)


async def aseed_plan(  # noqa: PLR0913 - as `edit_plan`
    graph: _Graph,
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
    _check(graph, config)
    update = plan_update(plan, actor=actor)
    node = _node(graph, config, await graph.aget_state(config), as_node, stopped=stopped)
    return await graph.aupdate_state(config, update, node)


def edit_plan(  # noqa: PLR0913 - each a keyword, two of them LangGraph's own
    graph: _Graph,
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

    Not while a run goes on: inside one, let a tool or a node return what `command_update` says. A
    thread that was left between two steps, by a process that died or a `stream` that was not read
    to its end, looks as if a run went on: `stopped=True` says that none does. A run that saves
    nothing before its end (durability="exit") cannot be seen at all.

    Raises:
        PlanError: a run goes on; the graph keeps no plan or has no checkpointer; the thread stands
            in the middle of a step, part of which LangGraph would forget and do again; or nothing
            ran yet, and the graph's input holds no plan.
    """
    _check(graph, config)
    state = graph.get_state(config)
    node = _node(graph, config, state, as_node, stopped=stopped)
    chosen = _policy(graph) if policy is None else policy
    decision, update = command_update(state.values, command, actor=actor, policy=chosen)
    if update:
        graph.update_state(config, update, node)
    return decision


async def aedit_plan(  # noqa: PLR0913 - as `edit_plan`
    graph: _Graph,
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
    _check(graph, config)
    state = await graph.aget_state(config)
    node = _node(graph, config, state, as_node, stopped=stopped)
    chosen = _policy(graph) if policy is None else policy
    decision, update = command_update(state.values, command, actor=actor, policy=chosen)
    if update:
        await graph.aupdate_state(config, update, node)
    return decision


def _check(graph: _Graph, config: RunnableConfig) -> None:
    require(graph, Pregel, "a compiled graph, such as create_agent(...) returns")
    require(config, dict, 'a config, such as {"configurable": {"thread_id": "1"}}')
    if PLAN not in graph.channels:
        # LangGraph drops keys that its state has not: the edit would be accepted and not be there.
        msg = (
            f"the state of this graph has no {PLAN!r}, so that no plan would be kept: give"
            " create_agent a PlanMiddleware, or write the graph over PlanState"
        )
        raise PlanError(msg, channels=tuple(graph.channels))
    if graph.checkpointer is None or graph.checkpointer is False:
        msg = "this graph has no checkpointer, so that nothing would be kept: give it one"
        raise PlanError(msg)


def _policy(graph: _Graph) -> Policy:
    """
    Return the policy of the graph's planning tools: what the model may not do, an edit may not do
    by accident either.
    """
    nodes = (getattr(node, "bound", None) for node in graph.nodes.values())
    tools = (t for n in nodes if isinstance(n, ToolNode) for t in n.tools_by_name.values())
    ours = next((tool for tool in tools if isinstance(tool, PlanTool)), None)
    policy: Policy = DEFAULT if ours is None else ours.toolbox.policy
    return policy


def _node(
    graph: _Graph,
    config: RunnableConfig,
    state: StateSnapshot,
    as_node: str | None,
    *,
    stopped: bool,
) -> str | None:
    """
    Return the node that an edit is to count as, `None` for LangGraph's own choice.
    """
    thread = config.get("configurable", {})
    here = run_config().get("thread_id")
    if here is not None and here == thread.get("thread_id"):
        raise PlanError(_running("this code is part of it"))
    # From an old checkpoint the edit starts a branch, and no run is going on there.
    if "checkpoint_id" not in thread:
        says_why = state.interrupts or any(task.error for task in state.tasks)
        # After an edit with `stopped=True` the thread still has tasks: further edits need no flag.
        is_edit = (state.metadata or {}).get("source") in {"update", "fork"}
        # Not `next`, which leaves out what has run in this step and is about to be saved.
        if state.tasks and not (stopped or says_why or is_edit):
            raise PlanError(_running(f"it is at {', '.join(task.name for task in state.tasks)}"))
        done = [task.name for task in state.tasks if task.result is not None]
        if done:
            # An edit is a checkpoint of its own: what the step's other tasks have written would
            # not be read again.
            msg = (
                f"this thread stands in the middle of a step: what has finished ({', '.join(done)})"
                " would be forgotten and done again; go on first, by invoke(Command(resume=...)) if"
                " it waits for an answer, else by invoke(None)"
            )
            raise PlanError(msg, finished=tuple(done))
    if as_node or messages_in(state.values) or _takes_plans(graph):
        return as_node
    if "model" not in graph.nodes:
        msg = (
            f'the input of this graph holds no "{PLAN}"; name a node whose change this is: as_node'
        )
        raise PlanError(msg, nodes=tuple(graph.nodes))
    # LangGraph takes the first edit of a thread for an input, and drops what OmitFromInput marks.
    return "model"


def _running(seen: str) -> str:
    return (
        f"a run of this thread seems to be going on ({seen}), which would write over the edit: edit"
        " when it has ended; inside it, return command_update(...) from a tool or node; if it was"
        " left between two steps, finish it by invoke(None), or say stopped=True"
    )


def _takes_plans(graph: _Graph) -> bool:
    # A graph over PlanState takes a plan as input; an agent's input leaves it out.
    builder = graph.builder if isinstance(graph, CompiledStateGraph) else None
    return builder is not None and PLAN in builder.schemas[builder.input_schema]


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
    if entry is None or isinstance(decision, Rejected):
        return decision, {}
    name = own_name()
    step = Step(decision.plan, entry.events, name, head_of(value_in(state)), turn=name)
    return decision, step_update(step, state, entry)
