"""
How an application seeds and changes the plan of a thread, and takes a change back: on a compiled
graph and its config.

In a store this is done at any time. In the state it is a write between two runs: a run reads its
thread's checkpoint when it starts, works on what it has in memory, and writes checkpoints over
whatever was written meanwhile. An edit under a run's feet would be answered `Accepted` and then be
gone (law 16), and is refused. LangGraph does not say whether a run is going on. What can be seen is
that a thread is between two steps and that nothing says why: no interrupt, no error, no edit. A
process that was killed leaves the same: that is what `stopped=True` is for.

Each function is written once, as steps, and stands here twice: carried out at once, and awaited.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar
from uuid import uuid4

import attrs
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel

from todoplan.adapters.langgraph.plans import (
    PLAN,
    AnyPlans,
    PlanTool,
    Steps,
    StoredPlans,
    at_once,
    awaited,
    journal_in,
    messages_in,
    plan_in,
    plan_update,
    run_config,
    step_update,
    value_in,
    value_of,
)
from todoplan.codec.foreign.langchain import Step, head_of, plan_in_value
from todoplan.core.commands import Command
from todoplan.core.decide import Decision
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
T = TypeVar("T")
P = ParamSpec("P")
_GRAPH = "a compiled graph, such as create_agent(...) returns"
_CONFIG = 'a config, such as {"configurable": {"thread_id": "1"}}'


def _twins(
    steps: Callable[Concatenate[str, P], Steps[T]],
) -> tuple[Callable[P, T], Callable[P, Coroutine[Any, Any, T]]]:
    """
    Return the function that carries out steps at once, and the one that awaits them, for
    asynchronous checkpointers and stores. The first argument of the steps is the prefix of the
    graph's methods: "" or "a".
    """

    def carried_out(*args: P.args, **kwargs: P.kwargs) -> T:
        return at_once(steps("", *args, **kwargs))

    async def waited_for(*args: P.args, **kwargs: P.kwargs) -> T:
        return await awaited(steps("a", *args, **kwargs))

    shown = signature(partial(steps, ""))
    returned = shown.return_annotation.removeprefix("Steps[").removesuffix("]")
    twins: tuple[Any, Any] = carried_out, waited_for
    for twin, prefix in zip(twins, ("", "a"), strict=True):
        twin.__name__ = twin.__qualname__ = prefix + steps.__name__.removeprefix("_")
        twin.__doc__, twin.__signature__ = steps.__doc__, shown.replace(return_annotation=returned)
    return twins


def _seed_plan(  # noqa: PLR0913 - as `edit_plan`
    prefix: str,
    graph: Graph,
    config: RunnableConfig,
    plan: Plan,
    *,
    actor: str | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> Steps[RunnableConfig]:
    """
    Make this the plan of the config's thread, also of a new one; without a store the graph needs a
    checkpointer. No conversation has listed its tasks: a list that leaves them out keeps them.

    `actor` is who does it, for the journal. `as_node` names the node that the change counts as.
    Unless given, that is the last that ran, or the start; in an agent where none did, it is
    "model": LangGraph drops what an input must not hold. `stopped` is that of `edit_plan`.

    Raises:
        PlanError: as of `edit_plan`.
    """
    thread = _Thread(graph, config, as_node, stopped, prefix)
    if planner := (yield from thread.planner()):
        yield partial(planner.restore, require(plan, Plan), actor=actor)
        return config
    _, node = yield from thread.values()
    saved: RunnableConfig = yield thread.writing(plan_update(plan, actor=actor), node)
    return saved


def _edit_plan(  # noqa: PLR0913 - each a keyword, two of them LangGraph's own
    prefix: str,
    graph: Graph,
    config: RunnableConfig,
    command: Command,
    *,
    actor: str | None = None,
    policy: Policy | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> Steps[Decision]:
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
    thread = _Thread(graph, config, as_node, stopped, prefix)
    # What the model may not do, an edit may not do by accident either.
    own = DEFAULT if thread.plans is None else thread.plans.toolbox.policy
    chosen = own if policy is None else require(policy, Policy)
    decision: Decision
    if planner := (yield from thread.planner()):
        decision = yield partial(planner.apply, command, actor=actor, policy=chosen)
        return decision
    values, node = yield from thread.values()
    decision, update = command_update(values, command, actor=actor, policy=chosen)
    if update:
        yield thread.writing(update, node)
    return decision


def _undo_plan(  # noqa: PLR0913 - as `edit_plan`
    prefix: str,
    graph: Graph,
    config: RunnableConfig,
    *,
    actor: str | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> Steps[Decision]:
    """
    Take the last change of a thread's plan back that still stands, whoever made it; again, the one
    before it.

    What was before it is found in the journal and in the thread's earlier checkpoints. When it is
    possible, and what the other arguments mean, is as of `edit_plan`.

    Raises:
        PlanError: as of `edit_plan`; or neither says what was before the change.
    """
    thread = _Thread(graph, config, as_node, stopped, prefix)
    decision: Decision
    if planner := (yield from thread.planner()):
        decision = yield partial(planner.undo, actor=actor)
        return decision
    values, node = yield from thread.values()
    plan, journal = plan_in(values), journal_in(values)
    change, known = last_change(journal), starts(journal)
    # The state has the latest part of the journal, and the thread's checkpoints have earlier plans:
    # between them they say what was before the last change, as a rule.
    history: Any = thread.do("get_state_history", config)()
    following: Any = anext if prefix else next
    before = None
    while change is not None and (before := plan_before(change, plan, journal, known)) is None:
        earlier = yield partial(following, history, None)
        then = journal_in(earlier.values) if earlier else ()
        if not then or then[-1] not in journal:
            break  # what happened between it and the journal has been dropped
        known = (Start(plan_in_value(value_in(earlier.values)), journal.index(then[-1]) + 1),)
    decision, entry = undone(plan, change, before, at=utc_now(), actor=actor)
    if update := _update(values, decision, entry):
        yield thread.writing(update, node)
    return decision


seed_plan, aseed_plan = _twins(_seed_plan)
edit_plan, aedit_plan = _twins(_edit_plan)
undo_plan, aundo_plan = _twins(_undo_plan)


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
    if entry is None:
        return {}
    name, value = uuid4().hex, value_of(state)
    step = Step(decision.unwrap(), entry.events, name, head_of(value), turn=name)
    return step_update(step, value, entry)


@attrs.frozen
class _Thread:
    """The thread of a graph that is to be changed, at once or awaited."""

    graph: Graph
    config: RunnableConfig
    as_node: str | None
    stopped: bool
    prefix: str

    def do(self, name: str, *given: Any) -> Callable[[], Any]:
        """Return the step that a method of the graph is."""
        return partial(getattr(self.graph, self.prefix + name), *given)

    def writing(self, update: dict[str, Any], node: str | None) -> Callable[[], Any]:
        """Return the step that writes an update."""
        return self.do("update_state", self.config, update, node)

    @property
    def plans(self) -> AnyPlans | None:
        """
        Where the graph's planning tools keep their plans; `None` if it has none.

        Raises:
            PlanError: this is no graph.
        """
        nodes = require(self.graph, Pregel, _GRAPH).nodes.values()
        nodes_of_tools = (node.bound for node in nodes if isinstance(node.bound, ToolNode))
        tools = (tool for node in nodes_of_tools for tool in node.tools_by_name.values())
        return next((tool.plans for tool in tools if isinstance(tool, PlanTool)), None)

    def planner(self) -> Steps[Any]:
        """
        Return the planner of a thread whose plan is in a store; `None` if it is in the state.

        Raises:
            PlanError: no graph or no config; or the state has a plan, and the store another.
        """
        plans = self.plans
        if not isinstance(plans, StoredPlans):
            return None
        thread = require(self.config, dict, _CONFIG).get("configurable", {})
        plan_id = plans.id_of(thread, thread.get("checkpoint_ns", ""))
        # What a thread has in its state from before is the plan's beginning, and comes first.
        saved = (yield self.do("get_state", self.config)) if self.graph.checkpointer else None
        values = saved.values if saved else {}
        planner, _ = yield from plans.opened(values, plan_id, awaits=bool(self.prefix))
        return planner

    def values(self) -> Steps[tuple[Any, str | None]]:
        """
        Return the state of the thread, and the node that an edit is to count as, `None` for
        LangGraph's own choice.

        Raises:
            PlanError: as of `edit_plan`.
        """
        graph = self.graph
        thread = require(self.config, dict, _CONFIG).get("configurable", {})
        if PLAN not in graph.channels:
            # LangGraph drops keys that its state has not: the edit would be accepted and not be
            # there.
            msg = (
                f"the state of this graph has no {PLAN!r}, so that no plan would be kept: give"
                " create_agent a PlanMiddleware, or write the graph over PlanState"
            )
            raise PlanError(msg, channels=tuple(graph.channels))
        if graph.checkpointer is None or graph.checkpointer is False:
            msg = "this graph has no checkpointer, so that nothing would be kept: give it one"
            raise PlanError(msg)
        state = yield self.do("get_state", self.config)
        here = run_config().get("configurable", {}).get("thread_id")
        if here is not None and here == thread.get("thread_id"):
            raise PlanError(_running("this code is part of it"))
        # From an old checkpoint the edit starts a branch, and no run is going on there.
        if "checkpoint_id" not in thread:
            says_why = state.interrupts or any(task.error for task in state.tasks)
            # After an edit with `stopped=True` the thread still has tasks: further edits need no
            # flag.
            is_edit = (state.metadata or {}).get("source") in {"update", "fork"}
            # Not `next`, which leaves out what has run in this step and is about to be saved.
            if state.tasks and not (self.stopped or says_why or is_edit):
                names = ", ".join(task.name for task in state.tasks)
                raise PlanError(_running(f"it is at {names}"))
            done = [task.name for task in state.tasks if task.result is not None]
            if done:
                # An edit is a checkpoint of its own: what the step's other tasks have written would
                # not be read again.
                msg = (
                    f"this thread stands in the middle of a step: what has finished"
                    f" ({', '.join(done)}) would be forgotten and done again; go on first, by"
                    " invoke(Command(resume=...)) if it waits for an answer, else by invoke(None)"
                )
                raise PlanError(msg, finished=tuple(done))
        messages = messages_in(state.values)
        said = bool(messages) and isinstance(messages[-1], AIMessage | ToolMessage)
        is_input = bool(state.tasks) and not said
        # A graph over PlanState takes a plan as input; an agent's input leaves it out.
        builder = graph.builder if isinstance(graph, CompiledStateGraph) else None
        takes_plans = builder is not None and PLAN in builder.schemas[builder.input_schema]
        if self.as_node or takes_plans or (messages and not is_input):
            return state.values, self.as_node
        if "model" not in graph.nodes:
            msg = (
                f'the input of this graph holds no "{PLAN}"; name a node whose change this is:'
                " as_node"
            )
            raise PlanError(msg, nodes=tuple(graph.nodes))
        if is_input and state.interrupts:
            msg = (
                "this thread waits for an answer before its first step, where LangGraph would drop"
                " the edit: answer first, by invoke(Command(resume=...)), or name a node whose"
                " change this is, from which the thread then goes on: as_node"
            )
            raise PlanError(msg, nodes=tuple(graph.nodes))
        # LangGraph takes the first edit of a thread for an input, and one behind an input that
        # nothing has answered yet; and drops of it what OmitFromInput marks.
        return state.values, "model"


def _running(seen: str) -> str:
    return (
        f"a run of this thread seems to be going on ({seen}), which would write over the edit: edit"
        " when it has ended; inside it, return command_update(...) from a tool or node; if it was"
        " left between two steps, finish it by invoke(None), or say stopped=True"
    )
