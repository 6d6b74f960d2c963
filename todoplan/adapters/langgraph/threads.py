"""
Where an application's change to a thread goes: into a store, or into the state, and when it may.

A run reads its thread's checkpoint when it starts, works on what it has in memory, and writes
checkpoints over whatever was written meanwhile. So an edit of the state is possible between runs,
and while a run has stopped for a person's answer; an edit under a run's feet would be answered
`Accepted` and then be gone (law 16), and is refused. LangGraph does not say whether a run is going
on. What can be seen is that a thread is between two steps and that nothing says why: no interrupt,
no error, no edit. A process that was killed leaves the same: that is what `stopped=True` is for.
"""

from __future__ import annotations

from typing import Any, cast

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from langgraph.types import StateSnapshot

from todoplan.adapters.langgraph.answering import messages_in
from todoplan.adapters.langgraph.runs import run_config
from todoplan.adapters.langgraph.state import PLAN
from todoplan.adapters.langgraph.stored_plans.plan_store import PlanStore
from todoplan.adapters.langgraph.tools import PlanTool
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import DEFAULT
from todoplan.dialogue.application import require
from todoplan.dialogue.toolbox import Toolbox
from todoplan.errors import PlanError
from todoplan.planner import AsyncPlanner, Planner

__all__ = [
    "Graph",
    "aplanner_of",
    "check",
    "node_of",
    "planner_of",
    "plans_of",
    "policy_of",
]

Graph = Pregel[Any, Any, Any, Any]
_GRAPH = "a compiled graph, such as create_agent(...) returns"
_CONFIG = 'a config, such as {"configurable": {"thread_id": "1"}}'


def check(graph: Graph, config: RunnableConfig) -> None:
    """
    Raise unless a plan can be kept in the state of the graph's threads.

    Raises:
        PlanError: this is no graph, no config, or the graph keeps no plan, or has no checkpointer.
    """
    require(graph, Pregel, _GRAPH)
    require(config, dict, _CONFIG)
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


def _tool(graph: Graph) -> PlanTool | None:
    nodes = (getattr(node, "bound", None) for node in require(graph, Pregel, _GRAPH).nodes.values())
    tools = (t for n in nodes if isinstance(n, ToolNode) for t in n.tools_by_name.values())
    return next((tool for tool in tools if isinstance(tool, PlanTool)), None)


def policy_of(graph: Graph) -> Policy:
    """
    Return the policy of the graph's planning tools: what the model may not do, an edit may not do
    by accident either.
    """
    tool = _tool(graph)
    return DEFAULT if tool is None else cast("Toolbox", tool.toolbox).policy


def plans_of(graph: Graph) -> PlanStore | None:
    """
    Return where the graph's planning tools keep their plans, if a store does.

    Raises:
        PlanError: this is no graph.
    """
    tool = _tool(graph)
    return None if tool is None else cast("PlanStore | None", tool.plans)


def _plan_id(plans: PlanStore, config: RunnableConfig) -> str:
    """
    Return the id of the plan of a config's thread, in a store.

    Raises:
        PlanError: this is no config, or it names no thread.
    """
    thread = require(config, dict, _CONFIG).get("configurable", {})
    return plans.id_of(thread, thread.get("checkpoint_ns", ""))


def node_of(
    graph: Graph,
    config: RunnableConfig,
    state: StateSnapshot,
    as_node: str | None,
    *,
    stopped: bool,
) -> str | None:
    """
    Return the node that an edit is to count as, `None` for LangGraph's own choice.

    Raises:
        PlanError: a run goes on, or the thread stands in the middle of a step; see `edit_plan`.
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
    is_input = _is_input(state)
    if as_node or _takes_plans(graph) or (messages_in(state.values) and not is_input):
        return as_node
    if "model" not in graph.nodes:
        msg = (
            f'the input of this graph holds no "{PLAN}"; name a node whose change this is: as_node'
        )
        raise PlanError(msg, nodes=tuple(graph.nodes))
    if is_input and state.interrupts:
        msg = (
            "this thread waits for an answer before its first step, where LangGraph would drop the"
            " edit: answer first, by invoke(Command(resume=...)), or name a node whose change this"
            " is, from which the thread then goes on: as_node"
        )
        raise PlanError(msg, nodes=tuple(graph.nodes))
    # LangGraph takes the first edit of a thread for an input, and one behind an input that nothing
    # has answered yet; and drops of it what OmitFromInput marks.
    return "model"


def _is_input(state: StateSnapshot) -> bool:
    messages = messages_in(state.values)
    said = bool(messages) and isinstance(messages[-1], AIMessage | ToolMessage)
    return bool(state.tasks) and not said


def _running(seen: str) -> str:
    return (
        f"a run of this thread seems to be going on ({seen}), which would write over the edit: edit"
        " when it has ended; inside it, return command_update(...) from a tool or node; if it was"
        " left between two steps, finish it by invoke(None), or say stopped=True"
    )


def _takes_plans(graph: Graph) -> bool:
    # A graph over PlanState takes a plan as input; an agent's input leaves it out.
    builder = graph.builder if isinstance(graph, CompiledStateGraph) else None
    return builder is not None and PLAN in builder.schemas[builder.input_schema]


def planner_of(plans: PlanStore, graph: Graph, config: RunnableConfig) -> Planner:
    """
    Return the planner of a thread whose plan is in a store.

    Raises:
        PlanError: there is no thread; the store is an asynchronous one; or the state has a plan,
            and the store another.
    """
    plan_id = _plan_id(plans, config)
    # What a thread has in its state from before is the plan's beginning, and must not come later.
    values = graph.get_state(config).values if graph.checkpointer else {}
    return plans.opened(values, plan_id)[0]


async def aplanner_of(plans: PlanStore, graph: Graph, config: RunnableConfig) -> AsyncPlanner:
    """
    As `planner_of`, for any store.
    """
    plan_id = _plan_id(plans, config)
    values = (await graph.aget_state(config)).values if graph.checkpointer else {}
    return (await plans.aopened(values, plan_id))[0]
