"""
Where an agent's plan is: in the state of its graph, or in a store. This is asked once, where the
middleware or the tools are made; both kinds answer the same questions.

Everything here is written once, as steps: generators that yield what has to be done and are sent
what came of it. LangGraph's synchronous methods carry the steps out at once, the others await them.

All calls of a turn run at once, on the state before the turn. Law 13: each is answered as if the
calls before it had been carried out. In the state, each call carries those out again for itself.
Calls that are answered already, refused by a guard or a person, are left out: they never happened.
A store has one plan for all of them: there they are carried out once, by one of them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, TypeVar, cast
from zlib import crc32

import attrs
from langchain_core.callbacks import BaseCallbackManager, CallbackManager
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from todoplan.adapters.langgraph.state import (
    MEMORY,
    PLAN,
    RUN,
    SESSION,
    STORED,
    TODOS,
    base_of,
    is_inner,
    look_update,
    messages_in,
    plan_update,
    published,
    publishing,
    run_config,
    step_update,
    stored_record,
    stored_update,
    value_in,
    value_of,
)
from todoplan.codec import entry_to_data
from todoplan.codec.foreign.langchain import Step, head_of, plan_in_value
from todoplan.core.events.apply import Entry
from todoplan.core.events.base import Base
from todoplan.core.plan.model import in_utc
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Call, Clock, Reply, utc_now
from todoplan.dialogue.guidance import Memory
from todoplan.dialogue.toolbox import (
    Toolbox,
    answered_after,
    answered_beside,
    require,
    require_actor,
    require_clock,
    start,
    tell_called,
)
from todoplan.dialogue.tools import Definition
from todoplan.errors import PlanError
from todoplan.planner import AnyStore, AsyncPlanner, Planner
from todoplan.planner.parallel_calls import ParallelCalls
from todoplan.planner.session import SIGHT, AsyncSession, Record, Session
from todoplan.planner.steps import done_at_once, done_awaited, store_of_plans
from todoplan.planner.verifying import Verifier, Verify, Verifying, verifier_of

T = TypeVar("T")
Steps = Generator[Callable[[], Any], Any, T]
Answer = tuple[Reply, dict[str, Any], dict[str, Any] | None]
"""The reply to a call, the update of the state, and the entry of the journal as data."""
logger = logging.getLogger("todoplan")


class _OnePlan:
    """A store from which a session reads the plan of a state; nothing is written there."""

    never_waits = True

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def load(self, _: str) -> Plan:
        """Return the plan."""
        return self._plan

    def entries(self, _: str) -> tuple[Entry, ...]:
        """Return no entries: what others have changed stands in the session's record."""
        return ()

    append = load  # not called: a session's requests write nothing


@attrs.frozen
class Turn:
    """
    The call at `place` among the open planning `calls` of its turn, and the `state` that all of
    them see. `thread` is the `configurable` of the run; `message` is the id of the model's message,
    "" if it has none; `name` names the turn in its thread.
    """

    state: Any
    calls: Sequence[Call]
    place: int
    thread: Mapping[str, Any]
    message: str
    name: str

    @property
    def own(self) -> Call:
        """The call that is to be answered."""
        return self.calls[self.place]


@attrs.frozen
class StatePlans:
    """Plans in the states of their graphs. `actor` is whose calls are answered."""

    toolbox: Toolbox
    clock: Clock
    actor: str | None = None
    verifying: Verifying | None = None

    @property
    def is_awaited(self) -> bool:
        """Say whether the asynchronous way through waits for anything."""
        return self.verifying is not None

    def session(self, state: Any, *, awaits: bool) -> Steps[Any]:
        """Return the session of a request, which reads the plan of its state."""
        yield from ()  # as steps: in a store it takes some
        value = value_of(state)
        plan, base = plan_in_value(value), base_of(value)
        upon = Base(plan) if base is None else base
        # The plan is this thread's alone, and so are its claims.
        fences = {task.id: task.claim.fence for task in plan.active() if task.claim}
        sight: dict[str, Any] = {name: getattr(upon, name) for name in SIGHT}
        memory = Memory.of(value_in(state, MEMORY))
        record = Record("", upon.plan.revision, fences=fences, memory=memory, behind=base, **sight)
        store: Any = _OnePlan(plan)
        given: dict[str, Any] = {"toolbox": self.toolbox, "clock": self.clock}
        if awaits:
            return AsyncSession(AsyncPlanner(store, PLAN, **given), record)
        return Session(Planner(store, PLAN, **given), record)

    def kept(self, state: Any, session: Any) -> Steps[dict[str, Any]]:  # noqa: ARG002 - as of a store
        """Return the update after a request."""
        yield from ()  # as above
        if not value_in(state):
            if not (listed := value_of(state)):
                return {}
            update = plan_update(plan_in_value(listed))
            update[PLAN][SESSION] = listed.get(SESSION)
            return update
        update = published(state, plan_in_value(value_in(state)))
        if update and state.get(TODOS) and not state.get(RUN):
            # Interfaces and other planners write this list too, and a thread must not end for it.
            # But who passes `todos` to invoke and is not heard should be able to learn why.
            logger.warning(
                "todos differ from the plan that this thread has, and are written over: change the"
                " plan by edit_plan(agent, config, command), or set it by seed_plan(agent, config,"
                " plan)"
            )
        return update

    def answer(self, turn: Turn, *, awaits: bool) -> Steps[Answer]:
        """Answer one call of a turn as if the calls before it had been answered."""
        value = value_of(turn.state)
        plan, base, began = plan_in_value(value), base_of(value), start(self.toolbox)

        def attempt(box: Toolbox) -> tuple[tuple[Reply, ...], Any]:
            upon: dict[str, Any] = {"at": (at := in_utc(self.clock())), "base": base}
            return answered_beside(box, plan, turn.calls, turn.place, actor=self.actor, **upon), at

        if self.verifying is None:
            replies, at = attempt(self.toolbox)
        else:
            looking = self.verifying
            if not awaits:
                looking.verifier.refuse_awaited("ainvoke or astream")
            # Of no use to a run that has no thread, nor a message with a name: another has both.
            where = turn.thread.get("thread_id"), _room(turn.thread), turn.name
            ids = [call.call_id for call in turn.calls]
            with looking.of_turn(where if turn.name else object(), ids, turn.own.call_id) as shared:
                look = looking.aanswer if awaits else looking.answer
                replies, at = yield partial(look, attempt, shared)
        tell_called(self.toolbox, replies[-1:], self.actor, began)
        *earlier, reply = replies
        # What this call follows from: the last call before it that did something, or the state.
        parent = _head(earlier, turn.calls) or head_of(value)
        # A refusal that records what a verifier has found tells nothing of what others did.
        note = None if base is None or reply.is_error else reply.note
        if not reply.events:
            return reply, {} if note is None else look_update(parent, note), None
        name = _name(turn.own) if len(turn.calls) > 1 else turn.own.call_id
        step = Step(reply.plan, reply.events, name, parent, turn.name)
        entry = Entry(reply.plan.revision, reply.events, at, self.actor, reply.name)
        return reply, step_update(step, value, entry, note, by_model=True), step.entry()


def _head(earlier: Sequence[Reply], calls: Sequence[Call]) -> str:
    done = (at for at in range(len(earlier) - 1, -1, -1) if earlier[at].events)
    return next((f"{earlier[at].plan.revision}:{_name(calls[at])}" for at in done), "")


def _name(call: Call) -> str:
    """
    Name a call by what is carried out: one beside it that saw it otherwise does not follow from it.
    """
    # Not `hash`: it is salted for each process, and a turn may be resumed in another one.
    return f"{crc32(repr((call.name, call.arguments)).encode()):x}:{call.call_id}"


def _room(thread: Mapping[str, Any]) -> str:
    # In a run it ends with the node: "node:id", or "graph:id|node:id".
    namespace: str = thread.get("checkpoint_ns", "")
    return namespace.rpartition("|")[0]


@attrs.frozen
class _Answered:
    """What a group of calls came to, and the record of its session then."""

    replies: tuple[Reply, ...]
    plan: Plan
    session: Any
    record: Record


@attrs.frozen
class StoredPlans:
    """
    Plans in a store: that of a thread is the one under `plan_id`, or under the id of the thread. An
    agent's plan is its own: within a graph of its own it has another id.

    A plan that a thread has in its state when it is first run with a store, or a list under
    `todos`, begins the plan in the store, once: if nothing was ever written there. One that was
    cleared gives way to what is there.
    """

    store: AnyStore
    plan_id: str | None
    toolbox: Toolbox
    clock: Clock
    actor: str | None = None
    verify: Verifier | None = None
    is_agents: bool = False
    _calls: ParallelCalls[_Answered] = attrs.field(factory=ParallelCalls)

    is_awaited = True

    def id_of(self, thread: Mapping[str, Any], namespace: str | None = None) -> str:
        """
        Return the id of the plan of a thread, by the `configurable` of a run or of a config;
        `namespace` is that of the graph itself, if this is no run.

        Raises:
            PlanError: there is no thread.
        """
        if self.plan_id is not None:
            return self.plan_id
        if (name := thread.get("thread_id")) is None:
            msg = (
                "a store is given, and nothing says which of its plans this is: run the graph with"
                ' a config {"configurable": {"thread_id": ...}}, or give plan_id='
            )
            raise PlanError(msg)
        room = _room(thread) if namespace is None else namespace
        # A graph by hand shares its caller's plan, as it does where the state keeps it.
        return f"{name}|{room}" if room and self.is_agents else str(name)

    def planner(self, plan_id: str, *, awaits: bool) -> Any:
        """
        Return a planner for a plan, an asynchronous one for who awaits.

        Raises:
            PlanError: the store is an asynchronous one, and nobody awaits.
        """
        given: dict[str, Any] = {"toolbox": self.toolbox, "clock": self.clock}
        if awaits:
            return AsyncPlanner(self.store, plan_id, verify=self.verify, **given)
        if iscoroutinefunction(self.store.load):
            msg = (
                "this store is awaited: run the graph by ainvoke or astream, and change the plan"
                " by aedit_plan"
            )
            raise PlanError(msg)
        # A person's edits are not looked at: they need no verifier that could be awaited.
        verify = None if self.verify is None or self.verify.is_awaited else self.verify
        return Planner(cast("Any", self.store), plan_id, verify=verify, **given)

    def opened(self, state: Any, plan_id: str, *, awaits: bool) -> Steps[tuple[Any, Record]]:
        """
        Return a planner for the plan of a thread, and the record of its session; what the state
        held is handed over.

        Raises:
            PlanError: the state holds a plan, and the store another.
        """
        planner = self.planner(plan_id, awaits=awaits)
        if STORED in (value_in(state) or {}):
            return planner, stored_record(value_in(state), plan_id)
        value = value_of(state)
        plan, base = plan_in_value(value), base_of(value)
        if plan == Plan():
            return planner, Record()
        known = Base(plan) if base is None else base
        plans = (plan,) if known.plan == plan else (known.plan, plan)
        if (yield partial(planner.begin, *plans)):
            # The first that was handed over is the plan as the session knows it.
            return planner, attrs.evolve(Record().after_turn(known, Memory(), 0, None), revision=1)
        if len(plan):  # one without tasks was cleared, and so given up
            _refuse_another(state, plan_id)
        return planner, Record()

    def _session(self, planner: Any, record: Record) -> Any:
        kind: Any = Session if isinstance(planner, Planner) else AsyncSession
        # In a team a thread is an actor, and its id a name.
        thread = run_config().get("configurable", {}).get("thread_id")
        own = str(thread) if self.toolbox.toolset.team else None
        return kind(planner, record, actor=own if self.actor is None else self.actor)

    def session(self, state: Any, *, awaits: bool) -> Steps[Any]:
        """Return the session of a request."""
        plan_id = self.id_of(run_config().get("configurable", {}))
        planner, record = yield from self.opened(state, plan_id, awaits=awaits)
        memory = Memory.of(value_in(state, MEMORY))
        return self._session(planner, attrs.evolve(record, memory=memory))

    def kept(self, state: Any, session: Any) -> Steps[dict[str, Any]]:
        """Return the update after a request."""
        plan_id = self.id_of(run_config().get("configurable", {}))
        was = stored_record(value_in(state), plan_id)
        plan, _ = yield session.unseen
        return stored_update(plan_id, was, session.state) | published(state, plan)

    def answer(self, turn: Turn, *, awaits: bool) -> Steps[Answer]:
        """
        Answer one call of a turn, by carrying out those that are started with it.

        A call that is started again is not carried out again, by this process or, where the store
        keeps keys, by another one.
        """
        names = [call.name for call in turn.calls]
        clashing = self.toolbox.clashing(names)
        if turn.place in clashing:
            return answered_after(self.toolbox, Plan(), turn.own, names), {}, None
        if self.verify is not None and not awaits:
            self.verify.refuse_awaited("ainvoke or astream")
        plan_id = self.id_of(turn.thread)
        planner, record = yield from self.opened(turn.state, plan_id, awaits=awaits)
        thread = str(turn.thread.get("thread_id", ""))

        def carry_out(calls: Sequence[Call], earlier: Sequence[_Answered]) -> Steps[_Answered]:
            session = earlier[-1].session if earlier else self._session(planner, record)
            # A node that runs again, after a crash between our commit and LangGraph's checkpoint,
            # finds the state as it was: the same message, and the same revision known.
            response = (thread, turn.message, record.revision) if turn.message else None
            if len(calls) == len(names) - len(clashing):
                done = yield partial(session.answer, calls, response)
                return _Answered(done.replies, done.plan, session, session.state)
            replies = []
            for call in calls:
                reply = yield partial(session.answer_one, call, turn.calls, response)
                replies.append(reply)
            return _Answered(tuple(replies), replies[-1].plan, session, session.state)

        ids = [call.call_id for at, call in enumerate(turn.calls) if at not in clashing]
        room = run_config().get("max_concurrency")
        if room is not None and room < len(turn.calls):
            ids = [turn.own.call_id]  # where there is no room for all at once, none can wait
        # A message without an id may have the same calls as one before: nothing is kept of it.
        key = (plan_id, thread, turn.message) if turn.message else object()
        group = self._calls.aanswer if awaits else self._calls.answer
        drive: Any = awaited if awaits else at_once
        reply, done = yield partial(
            group, key, ids, turn.own, lambda *given: drive(carry_out(*given))
        )
        update = stored_update(plan_id, record, done.record)
        if not all(one.is_error for one in done.replies) or update:
            update |= publishing(done.plan)
        entry = entry_to_data(Entry(reply.revision, reply.events)) if reply.events else None
        return reply, update, entry


AnyPlans = StatePlans | StoredPlans


def plans_for(  # noqa: PLR0913, PLR0917 - what the tools were given
    toolbox: Toolbox,
    clock: Clock,
    store: AnyStore | None,
    plan_id: str | None,
    verify: Verify | None,
    actor: str | None,
    *,
    is_agents: bool = False,
) -> AnyPlans:
    """
    Return where plans are kept: in a store, or without one in the state.

    Raises:
        PlanError: this is no store or no verifier; or there is no store, and an id is given.
    """
    kept = store_of_plans(store, plan_id)
    if kept is None:
        return StatePlans(toolbox, clock, actor, Verifying.of(toolbox, verify))
    given = toolbox, clock, actor, verifier_of(verify), is_agents
    return StoredPlans(kept, plan_id, *given)


def at_once(steps: Steps[T]) -> T:
    """Carry out steps, one by one, and return what they came to."""
    with closing(steps):
        return done_at_once(steps)


async def awaited(steps: Steps[T]) -> T:
    """Do the same, awaiting each of them."""
    with closing(steps):
        return await done_awaited(steps)


def _refuse_another(state: Any, plan_id: str) -> None:
    if not value_in(state) and is_inner():  # its caller's list, which stays where it is
        logger.warning("todos of the graph around an agent are none of its plan, which a store has")
        return
    msg = (
        f"this thread has a {'plan' if value_in(state) else 'list of todos'} in its state, and the"
        f" store another under {plan_id!r}: give plan_id= of a plan that is new, or give one up (a"
        " list by todos=[] in the input; a plan by ClearPlan() through an agent without store=)"
    )
    raise PlanError(msg, plan_id=plan_id)


# -------- tools --------
# The planning tools for `ToolNode`, with or without `create_agent`, and how they answer a call.

# A private key of HumanInTheLoopMiddleware: the calls that a person has edited, by id.
_EDITS = "hitl_edited_tool_calls"


class PlanTool(StructuredTool):
    """A planning tool of an agent's `plans`. Where nobody listens it is called straight away."""

    # A tool is a pydantic model, so this is a field; as `Any` it is neither checked nor copied.
    plans: Any = None

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - LangChain's name
        """Answer a call; as every tool does if somebody listens."""
        if self._unheard(input, config, kwargs):
            return self._straight(input)
        return super().invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - LangChain's name
        """Answer a call; nothing is waited for, so that calls of one loop stay in order."""
        if self._unheard(input, config, kwargs):
            if self.coroutine is None:
                return self._straight(input)
            arguments, _ = self._to_args_and_kwargs(input["args"], input["id"])
            return await self.coroutine(*arguments)
        # LangChain hands a tool without a coroutine to a worker thread; heard calls take that road.
        return await super().ainvoke(input, config, **kwargs)

    # Telling nobody is most of a call: 77 us without, 242 with (`ToolNode`: 1.74 and 2.02 ms).
    def _straight(self, call: Any) -> Any:
        arguments, _ = self._to_args_and_kwargs(call["args"], call["id"])
        return cast("Callable[..., Any]", self.func)(*arguments)

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """
        Hand on the model's arguments as one, so that no name among them can be taken for ours.

        Outside a graph there is no runtime, and the plan is empty: LangChain's own tests call
        `write_todos.invoke(tool_call)` that way.
        """
        given = dict(tool_input) if isinstance(tool_input, dict) else {}
        # Only an injected runtime is one: a model may send an argument of the same name.
        runtime = given.get("runtime")
        if isinstance(runtime, ToolRuntime):
            del given["runtime"]
        else:
            runtime = None
        return (runtime, given, tool_call_id or ""), {}

    def _unheard(self, given: Any, config: RunnableConfig | None, kwargs: dict[str, Any]) -> bool:
        injected = isinstance(given, Mapping) and "runtime" in given.get("args", ())
        if not injected or kwargs:
            return False
        manager = (config or {}).get("callbacks")
        if not isinstance(manager, BaseCallbackManager):
            # It adds the tracers that the environment asks for (LangSmith), which the config lacks.
            manager = CallbackManager.configure(manager)
        return not (manager.handlers or self.callbacks or self.verbose)


def make_tools(  # noqa: PLR0913 - settings of every adapter
    toolbox: Toolbox | None = None,
    *,
    store: AnyStore | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
    plan_id: str | None = None,
    actor: str | None = None,
    emit_events: bool = False,
) -> list[BaseTool]:
    """
    Return the tools of a toolbox, for `bind_tools` and `ToolNode` over a state such as `PlanState`.

    With a `store` the plan is kept there under `plan_id`, or else under the thread's id, and not in
    the state. `verify` looks whether a task is done (see `Planner`), `actor` is this agent's name
    in the history. `emit_events`: each accepted call is told on the stream mode "custom" as
    {"todoplan": ...}, with the entry of the journal, the tool's name and the call's id. Calls of
    one turn run at once and tell in any order; `revision` is the right one.

    Raises:
        PlanError: what was given is no toolbox, no store, no clock, no verifier or no name.
    """
    chosen = Toolbox() if toolbox is None else require(toolbox, Toolbox)
    kept = store, plan_id, verify, require_actor(actor)
    return tools_of(plans_for(chosen, require_clock(clock), *kept), emit_events=emit_events)


def tools_of(plans: AnyPlans, *, emit_events: bool) -> list[BaseTool]:
    """Return the planning tools of an agent."""
    return [
        _tool(plans, one, emit_events=emit_events) for one in plans.toolbox.toolset.definitions()
    ]


def _tool(plans: AnyPlans, definition: Definition, *, emit_events: bool) -> BaseTool:
    # ToolNode finds by its annotation which parameter wants the runtime.
    def answer(runtime: ToolRuntime, arguments: dict[str, Any], call_id: str) -> Command[Any]:
        own = Call(definition.name, arguments, call_id)
        return at_once(_answer(plans, runtime, own, emit_events=emit_events, awaits=False))

    async def answer_awaited(
        runtime: ToolRuntime, arguments: dict[str, Any], call_id: str
    ) -> Command[Any]:
        own = Call(definition.name, arguments, call_id)
        return await awaited(_answer(plans, runtime, own, emit_events=emit_events, awaits=True))

    return PlanTool.from_function(
        answer,
        # Else nothing is waited for, and calls of one loop stay in order.
        answer_awaited if plans.is_awaited else None,
        name=definition.name,
        description=definition.description,
        # LangChain does not validate a schema that is a dict: intake reads what was sent, and says
        # what is wrong. It is cheaper, too: 143 us a call, 179 with a pydantic model (empty tool).
        args_schema=definition.schema,
        infer_schema=False,
        plans=plans,
    )


class _Fresh(Command[Any]):
    """
    The command of one call, which nobody else holds: `ToolNode` copies each in depth, and need not.
    """

    def __deepcopy__(self, memo: object) -> _Fresh:
        return self


def _answer(
    plans: AnyPlans, runtime: ToolRuntime | None, own: Call, *, emit_events: bool, awaits: bool
) -> Steps[Command[Any]]:
    state: Any = runtime.state if runtime else {}
    own = attrs.evolve(own, call_id=runtime.tool_call_id or "") if runtime else own
    thread: Mapping[str, Any] = runtime.config.get("configurable", {}) if runtime else {}
    turn = _turn(plans.toolbox, state, own, thread)
    reply, update, entry = yield from plans.answer(turn, awaits=awaits)
    if emit_events and runtime and entry is not None:
        news = {**entry, "tool": reply.name, "call_id": own.call_id}
        runtime.stream_writer({PLAN: news})
    status = "error" if reply.is_error else "success"
    message = ToolMessage(reply.text, name=reply.name, tool_call_id=own.call_id, status=status)
    return _Fresh(update={**update, "messages": [message]})


def answered_calls(messages: Sequence[BaseMessage]) -> tuple[AIMessage | None, set[str]]:
    """Return the model's last message, and which calls have their answer behind it, by id."""
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return message, answered
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
    return None, answered


def _turn(toolbox: Toolbox, state: Any, own: Call, thread: Mapping[str, Any]) -> Turn:
    """Return the turn that a call is part of, with its open planning calls."""
    message, answered = answered_calls(messages_in(state))
    if message is None:
        return Turn(state, [own], 0, thread, "", own.call_id)
    # Where a person has edited a call, the message still holds what the model sent.
    edits = value_in(state, _EDITS) or {}
    calls = []
    for call in message.tool_calls:
        action = edits.get(call["id"], call)
        # Carried out again, a call that a guard or a person refused would come back to life.
        if call["id"] not in answered and toolbox.toolset.find(action["name"]):
            calls.append(Call(action["name"], action["args"], call["id"] or ""))
    # What runs is what counts: a `wrap_tool_call` may have changed its arguments on the way. Where
    # two calls have one id, the arguments tell which this is.
    same = [place for place, call in enumerate(calls) if call.call_id == own.call_id]
    place = same[0] if len(same) == 1 else next((at for at in same if calls[at] == own), -1)
    if place < 0:  # the application made it up: it is answered upon the plan as it is
        calls, place = [own], 0
    calls[place] = own
    # `add_messages` gives every message an id; a state with a list of its own need not.
    name = message.id or " ".join(call["id"] or "" for call in message.tool_calls)
    return Turn(state, calls, place, thread, message.id or "", name)
