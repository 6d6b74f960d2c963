"""
The planning tools for `ToolNode`, with or without `create_agent`.

All calls of a turn run at once, on the state before the turn. Law 13: each is answered as if the
calls before it had been carried out, by carrying them out again, here and for itself. Calls that
are answered already, refused by a guard or a person, are left out of that: they never happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast
from zlib import crc32

import attrs
from langchain_core.callbacks import BaseCallbackManager, CallbackManager
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from todoplan.adapters.langgraph.seen import SEEN, base_of
from todoplan.adapters.langgraph.state import (
    PLAN,
    plan_in,
    step_update,
    value_in,
)
from todoplan.codec.foreign.branches import Step, head_of
from todoplan.core.events.journal import Entry
from todoplan.core.plan.validation import in_utc
from todoplan.dialogue.application import require, require_clock
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.parallel_calls import answered_beside
from todoplan.dialogue.toolbox import Call, Reply, Toolbox
from todoplan.dialogue.tools.toolset import Definition

__all__ = ["PlanTool", "answered_calls", "make_tools", "messages_in"]

# A private key of HumanInTheLoopMiddleware: the calls that a person has edited, by id.
_EDITS = "hitl_edited_tool_calls"


def messages_in(state: Any) -> Sequence[BaseMessage]:
    """
    Return the messages of a state: a mapping, an object with attributes, or the list itself.
    """
    return state if isinstance(state, list) else value_in(state, "messages") or ()


def answered_calls(messages: Sequence[BaseMessage]) -> tuple[AIMessage | None, set[str]]:
    """
    Return the model's last message, and which calls have their answer behind it, by id.
    """
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return message, answered
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
    return None, answered


class PlanTool(StructuredTool):
    """
    A planning tool of a `toolbox`. Where nobody listens it is called straight away.
    """

    # A tool is a pydantic model, so this is a field; as `Any` it is neither checked nor copied.
    toolbox: Any = None

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - LangChain's name
        """
        Answer a call; as every tool does if somebody listens.
        """
        if self._unheard(input, config, kwargs):
            return self._straight(input)
        return super().invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - LangChain's name
        """
        Answer a call; nothing is waited for, so that calls of one loop stay in order.
        """
        if self._unheard(input, config, kwargs):
            return self._straight(input)
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


def make_tools(
    toolbox: Toolbox | None = None, *, clock: Clock = utc_now, emit_events: bool = False
) -> list[BaseTool]:
    """
    Return the tools of a toolbox, for `bind_tools` and `ToolNode` over a state such as `PlanState`.

    `emit_events`: each accepted call is told on the stream mode "custom" as {"todoplan": ...}, with
    the entry of the journal, the tool's name and the call's id. Calls of one turn run at once and
    tell in any order; `revision` is the right one.

    Raises:
        PlanError: what was given is no toolbox, or no clock.
    """
    chosen = Toolbox() if toolbox is None else require(toolbox, Toolbox)
    answering = _Answering(chosen, require_clock(clock), emit_events)
    return [_tool(answering, definition) for definition in chosen.toolset.definitions()]


def _tool(answering: _Answering, definition: Definition) -> BaseTool:
    # ToolNode finds by its annotation which parameter wants the runtime.
    def answer(runtime: ToolRuntime, arguments: dict[str, Any], call_id: str) -> Command[Any]:
        return answering.answer(runtime, Call(definition.name, arguments, call_id))

    return PlanTool.from_function(
        answer,
        name=definition.name,
        description=definition.description,
        # LangChain does not validate a schema that is a dict: intake reads what was sent, and says
        # what is wrong. It is cheaper, too: 143 us a call, 179 with a pydantic model (empty tool).
        args_schema=definition.schema,
        infer_schema=False,
        toolbox=answering.toolbox,
    )


class _Fresh(Command[Any]):
    """
    The command of one call, which nobody else holds: `ToolNode` copies each in depth, and need not.
    """

    def __deepcopy__(self, memo: object) -> _Fresh:
        return self


@attrs.frozen
class _Answering:
    toolbox: Toolbox
    clock: Clock
    emit_events: bool

    def answer(self, runtime: ToolRuntime | None, own: Call) -> Command[Any]:
        """
        Answer one call of a turn as if the calls before it had been answered: they all see the
        state before the turn.
        """
        state: Any = runtime.state if runtime else {}
        own = attrs.evolve(own, call_id=runtime.tool_call_id or "") if runtime else own
        turn, calls = self._turn(state, own)
        place, plan, at = calls.index(own), plan_in(state), self.clock()
        base = base_of(value_in(state))
        *earlier, reply = answered_beside(self.toolbox, plan, calls, place, at=at, base=base)
        status = "error" if reply.is_error else "success"
        message = ToolMessage(reply.text, name=reply.name, tool_call_id=own.call_id, status=status)
        # What this call follows from: the last call before it that did something, or the state.
        parent = _head(earlier, calls) or head_of(value_in(state))
        if not reply.events:
            # Also an answer that changed nothing was a look, if others had done something.
            looked = base is not None and not reply.is_error
            look = {PLAN: {SEEN: parent}} if looked else {}
            return _Fresh(update={**look, "messages": [message]})
        name = _name(own) if len(calls) > 1 else own.call_id
        step = Step(reply.plan, reply.events, name, parent, turn)
        if self.emit_events and runtime:
            news = {**step.entry(), "tool": reply.name, "call_id": own.call_id}
            runtime.stream_writer({PLAN: news})
        entry = Entry(reply.plan.revision, reply.events, in_utc(at), cause=reply.name)
        update = step_update(step, state, entry, by_model=True)
        return _Fresh(update={**update, "messages": [message]})

    def _turn(self, state: Any, own: Call) -> tuple[str, list[Call]]:
        """
        Return the name of the turn that a call is part of, and the turn's open planning calls.
        """
        message, answered = answered_calls(messages_in(state))
        if message is None:
            return own.call_id, [own]
        # Where a person has edited a call, the message still holds what the model sent.
        edits = value_in(state, _EDITS) or {}
        calls = []
        for call in message.tool_calls:
            action = edits.get(call["id"], call)
            # Carried out again, a call that a guard or a person refused would come back to life.
            if call["id"] not in answered and self.toolbox.toolset.find(action["name"]):
                calls.append(Call(action["name"], action["args"], call["id"] or ""))
        if own not in calls:
            # A `wrap_tool_call` has changed its arguments on the way: what runs is what counts.
            calls = [own if call.call_id == own.call_id else call for call in calls]
        # `add_messages` gives every message an id; a state with a list of its own need not.
        turn = message.id or " ".join(call["id"] or "" for call in message.tool_calls)
        # A call that the application made up is answered upon the plan as it is.
        return turn, calls if own in calls else [own]


def _head(earlier: Sequence[Reply], calls: Sequence[Call]) -> str:
    done = (at for at in range(len(earlier) - 1, -1, -1) if earlier[at].events)
    return next((f"{earlier[at].plan.revision}:{_name(calls[at])}" for at in done), "")


def _name(call: Call) -> str:
    """
    Name a call by what is carried out: one beside it that saw it otherwise does not follow from it.
    """
    # Not `hash`: it is salted for each process, and a turn may be resumed in another one.
    return f"{crc32(repr((call.name, call.arguments)).encode()):x}:{call.call_id}"
