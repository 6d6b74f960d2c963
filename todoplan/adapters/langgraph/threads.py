"""
How an application seeds and changes the plan of a thread, and takes a change back: on a compiled
graph and its config.

In a store this is done at any time. In the state it is a write between two runs: a run reads its
thread's checkpoint when it starts, works on what it has in memory, and writes checkpoints over
whatever was written meanwhile. An edit under a run's feet would be answered `Accepted` and then be
gone (law 16), and is refused. LangGraph does not say whether a run is going on. What can be seen is
that a thread is between two steps and that nothing says why: no interrupt, no error, no edit. A
process that was killed leaves the same: that is what `stopped=True` is for.

Each function stands here in both colours; what they do is written once, as steps (see `plans`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import attrs
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from langgraph.types import StateSnapshot

from todoplan.adapters.langgraph.state import (
    PLAN,
    history_of,
    is_stored,
    messages_in,
    own_name,
    plan_in,
    plan_update,
    run_config,
    step_update,
    value_in,
    value_of,
)
from todoplan.adapters.langgraph.tools import (
    AnyPlans,
    PlanTool,
    Steps,
    StoredPlans,
    at_once,
    awaited,
)
from todoplan.codec.foreign.langchain import Step, head_of, plan_in_value
from todoplan.core.commands import Command
from todoplan.core.decide import Decision, Rejected
from todoplan.core.events.apply import Entry
from todoplan.core.plan.model import short_repr
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import DEFAULT, Policy
from todoplan.dialogue.calls import utc_now
from todoplan.dialogue.toolbox import (
    Start,
    edited,
    last_change,
    plan_before,
    require,
    starts,
    undone,
)
from todoplan.errors import PlanError

Graph = Pregel[Any, Any, Any, Any]
_GRAPH = "a compiled graph, such as create_agent(...) returns"
_CONFIG = 'a config, such as {"configurable": {"thread_id": "1"}}'


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
    checkpointer. No conversation has listed its tasks: a list that leaves them out keeps them.

    `actor` is who does it, for the journal. `as_node` names the node that the change counts as.
    Unless given, that is the last that ran, or the start; in an agent where none did, it is
    "model": LangGraph drops what an input must not hold. `stopped` is that of `edit_plan`.

    Raises:
        PlanError: as of `edit_plan`.
    """
    return at_once(_seed(_Thread(graph, config, as_node, stopped), plan, actor))


async def aseed_plan(  # noqa: PLR0913 - as `edit_plan`
    graph: Graph,
    config: RunnableConfig,
    plan: Plan,
    *,
    actor: str | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> RunnableConfig:
    """As `seed_plan`, for asynchronous checkpointers."""
    thread = _Thread(graph, config, as_node, stopped, awaits=True)
    return await awaited(_seed(thread, plan, actor))


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
    return at_once(_edit(_Thread(graph, config, as_node, stopped), command, actor, policy))


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
    """As `edit_plan`, for asynchronous checkpointers."""
    thread = _Thread(graph, config, as_node, stopped, awaits=True)
    return await awaited(_edit(thread, command, actor, policy))


def undo_plan(
    graph: Graph,
    config: RunnableConfig,
    *,
    actor: str | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> Decision:
    """
    Take the last change of a thread's plan back that still stands, whoever made it; again, the one
    before it.

    What was before it is found in the journal and in the thread's earlier checkpoints. When it is
    possible, and what the other arguments mean, is as of `edit_plan`.

    Raises:
        PlanError: as of `edit_plan`; or neither says what was before the change.
    """
    return at_once(_undo(_Thread(graph, config, as_node, stopped), actor))


async def aundo_plan(
    graph: Graph,
    config: RunnableConfig,
    *,
    actor: str | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> Decision:
    """As `undo_plan`, for asynchronous checkpointers and stores."""
    return await awaited(_undo(_Thread(graph, config, as_node, stopped, awaits=True), actor))


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
    return decision, _update(state, decision, entry)


def _update(state: Any, decision: Decision, entry: Entry | None) -> dict[str, Any]:
    if entry is None or isinstance(decision, Rejected):
        return {}
    name, value = own_name(), value_of(state)
    step = Step(decision.plan, entry.events, name, head_of(value), turn=name)
    return step_update(step, value, entry)


@attrs.frozen
class _Thread:
    """The thread of a graph that is to be changed, and in which colour."""

    graph: Graph
    config: RunnableConfig
    as_node: str | None
    stopped: bool
    awaits: bool = False

    def do(self, name: str, *given: Any) -> Callable[[], Any]:
        """Return the step that a method of the graph is."""
        return partial(getattr(self.graph, f"a{name}" if self.awaits else name), *given)

    def planner(self) -> Steps[Any]:
        """
        Return the planner of a thread whose plan is in a store; `None` if it is in the state.

        Raises:
            PlanError: no graph or no config; or the state has a plan, and the store another.
        """
        plans = _plans_of(self.graph)
        if not isinstance(plans, StoredPlans):
            return None
        thread = require(self.config, dict, _CONFIG).get("configurable", {})
        plan_id = plans.id_of(thread, thread.get("checkpoint_ns", ""))
        # What a thread has in its state from before is the plan's beginning, and comes first.
        saved = (yield self.do("get_state", self.config)) if self.graph.checkpointer else None
        values = saved.values if saved else {}
        planner, _ = yield from plans.opened(values, plan_id, awaits=self.awaits)
        return planner

    def values(self) -> Steps[tuple[Any, str | None]]:
        """
        Return the state of the thread, and the node that an edit is to count as.

        Raises:
            PlanError: as of `edit_plan`.
        """
        _check(self.graph, self.config)
        state = yield self.do("get_state", self.config)
        node = _node_of(self.graph, self.config, state, self.as_node, stopped=self.stopped)
        return state.values, node


def _seed(thread: _Thread, plan: Plan, actor: str | None) -> Steps[RunnableConfig]:
    if planner := (yield from thread.planner()):
        yield partial(planner.restore, require(plan, Plan), actor=actor)
        return thread.config
    _, node = yield from thread.values()
    update = plan_update(plan, actor=actor)
    config: RunnableConfig = yield thread.do("update_state", thread.config, update, node)
    return config


def _edit(
    thread: _Thread, command: Command, actor: str | None, policy: Policy | None
) -> Steps[Decision]:
    plans = _plans_of(thread.graph)
    # What the model may not do, an edit may not do by accident either.
    own = DEFAULT if plans is None else plans.toolbox.policy
    chosen = own if policy is None else require(policy, Policy)
    decision: Decision
    if planner := (yield from thread.planner()):
        decision = yield partial(planner.apply, command, actor=actor, policy=chosen)
        return decision
    values, node = yield from thread.values()
    decision, update = command_update(values, command, actor=actor, policy=chosen)
    if update:
        yield thread.do("update_state", thread.config, update, node)
    return decision


def _undo(thread: _Thread, actor: str | None) -> Steps[Decision]:
    decision: Decision
    if planner := (yield from thread.planner()):
        decision = yield partial(planner.undo, actor=actor)
        return decision
    values, node = yield from thread.values()
    plan, journal = plan_in(values), history_of(values) if value_in(values) else ()
    change, known = last_change(journal), starts(journal)
    # The state has the latest part of the journal, and the thread's checkpoints have earlier plans:
    # between them they say what was before the last change, as a rule.
    history: Any = thread.do("get_state_history", thread.config)()
    following: Any = anext if thread.awaits else next
    before = None
    while change is not None and (before := plan_before(change, plan, journal, known)) is None:
        earlier = yield partial(following, history, None)
        value = value_in(earlier.values) if earlier else None
        then = history_of(earlier.values) if value and not is_stored(value) else ()
        if not then or then[-1] not in journal:
            break  # what happened between it and the journal has been dropped
        known = (Start(plan_in_value(value), journal.index(then[-1]) + 1),)
    decision, entry = undone(plan, change, before, at=utc_now(), actor=actor)
    if update := _update(values, decision, entry):
        yield thread.do("update_state", thread.config, update, node)
    return decision


def _plans_of(graph: Graph) -> AnyPlans | None:
    """
    Return where the graph's planning tools keep their plans; `None` if it has none.

    Raises:
        PlanError: this is no graph.
    """
    nodes = (getattr(node, "bound", None) for node in require(graph, Pregel, _GRAPH).nodes.values())
    tools = (t for n in nodes if isinstance(n, ToolNode) for t in n.tools_by_name.values())
    found = next((tool for tool in tools if isinstance(tool, PlanTool)), None)
    return None if found is None else cast("AnyPlans", found.plans)


def _check(graph: Graph, config: RunnableConfig) -> None:
    """
    Raise unless a plan can be kept in the state of the graph's threads.

    Raises:
        PlanError: this is no graph, no config, or the graph keeps no plan, or has no checkpointer.
    """
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


def _node_of(
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
    here = run_config().get("configurable", {}).get("thread_id")
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
