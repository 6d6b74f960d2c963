"""The planning tools for `ToolNode`, with or without `create_agent`, and how they answer a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import attrs
from langchain_core.callbacks import BaseCallbackManager, CallbackManager
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from todoplan.adapters.langgraph.plans import AnyPlans, Steps, Turn, at_once, awaited, plans_for
from todoplan.adapters.langgraph.state import PLAN, messages_in, value_in
from todoplan.dialogue.calls import Call, Clock, utc_now
from todoplan.dialogue.toolbox import Toolbox, require, require_actor, require_clock
from todoplan.dialogue.tools import Definition
from todoplan.planner import AnyStore
from todoplan.planner.verifying import Verify

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
