"""The planning tools for `ToolNode`, with or without `create_agent`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast
from zlib import crc32

import attrs
from langchain_core.callbacks import BaseCallbackManager, CallbackManager
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from todoplan.adapters.langgraph.state import (
    PLAN,
    answered_calls,
    messages_in,
    plan_in,
    step_update,
    value_in,
)
from todoplan.codec.branches import Step, head_of
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.parallel_calls import answered_beside
from todoplan.dialogue.toolbox import Call, Reply, Toolbox
from todoplan.dialogue.tools.toolset import Definition
from todoplan.errors import PlanError

__all__ = ["PlanTool", "make_tools"]

_EDITS = "hitl_edited_tool_calls"


class PlanTool(StructuredTool):
    """
    A planning tool. Where nobody listens it is called straight away.
    """

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
        return await super().ainvoke(input, config, **kwargs)

    # Telling nobody is most of a call: 77 us without, 242 with (`ToolNode`: 1.74 and 2.02 ms).
    def _straight(self, call: Any) -> Any:
        (runtime, arguments), _ = self._to_args_and_kwargs(call["args"], call["id"])
        return cast("Callable[..., Any]", self.func)(runtime, arguments)

    def _to_args_and_kwargs(
        self,
        tool_input: str | dict[str, Any],
        tool_call_id: str | None,  # noqa: ARG002 - theirs
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """
        Hand on the model's arguments as one, so that no name among them can be taken for ours.
        """
        given = dict(tool_input) if isinstance(tool_input, dict) else {}
        runtime = given.pop("runtime", None)
        if not isinstance(runtime, ToolRuntime):
            msg = f"{self.name} needs the state of a graph: call it through a ToolNode"
            raise PlanError(msg, tool=self.name)
        return (runtime, given), {}

    def _unheard(self, given: Any, config: RunnableConfig | None, kwargs: dict[str, Any]) -> bool:
        injected = isinstance(given, Mapping) and "runtime" in given.get("args", ())
        if not injected or kwargs:
            return False
        manager = (config or {}).get("callbacks")
        if not isinstance(manager, BaseCallbackManager):
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
    """
    answering = _Answering(toolbox or Toolbox(), clock, emit_events)
    return [_tool(answering, definition) for definition in answering.toolbox.toolset.definitions()]


def _tool(answering: "_Answering", definition: Definition) -> BaseTool:
    def answer(runtime: ToolRuntime, arguments: dict[str, Any]) -> Command[Any]:
        return answering.answer(runtime, definition.name, arguments)

    return PlanTool.from_function(
        answer,
        name=definition.name,
        description=definition.description,
        args_schema=definition.schema,
        infer_schema=False,
    )


class _Fresh(Command[Any]):
    """
    The command of one call, which nobody else holds: `ToolNode` copies each in depth, and need not.
    """

    def __deepcopy__(self, memo: object) -> "_Fresh":
        return self


@attrs.frozen
class _Answering:
    toolbox: Toolbox
    clock: Clock
    emit_events: bool

    def answer(self, runtime: ToolRuntime, name: str, arguments: dict[str, Any]) -> Command[Any]:
        """
        Answer one call of a turn as if its earlier siblings had been answered: they all see the
        state before the turn.
        """
        state, own = runtime.state, Call(name, arguments, runtime.tool_call_id or "")
        turn, calls = self._turn(state, own)
        place, plan, at = calls.index(own), plan_in(state), self.clock()
        *earlier, reply = answered_beside(self.toolbox, plan, calls, place, at=at)
        message = _message(reply, own.call_id)
        if not reply.events:
            return _Fresh(update={"messages": [message]})
        name = _name(own) if len(calls) > 1 else own.call_id
        parent = _head(earlier, calls) or head_of(value_in(state))
        step = Step(reply.plan, reply.events, name, parent, turn)
        if self.emit_events:
            told = {**step.entry(), "tool": reply.name, "call_id": own.call_id}
            runtime.stream_writer({PLAN: told})
        return _Fresh(update={**step_update(step, state), "messages": [message]})

    def _turn(self, state: Any, own: Call) -> tuple[str, list[Call]]:
        message, answered = answered_calls(messages_in(state))
        edits = value_in(state, _EDITS) or {}
        made = [
            _call(edits.get(call["id"], call), call["id"])
            for call in (message.tool_calls if message else ())
            if call["id"] not in answered
        ]
        calls = [call for call in made if self.toolbox.toolset.find(call.name)]
        if own not in calls:
            calls = [own if call.call_id == own.call_id else call for call in calls]
        return _turn_name(message) if message else own.call_id, calls if own in calls else [own]


def _call(action: Mapping[str, Any], call_id: str | None) -> Call:
    return Call(action["name"], action["args"], call_id or "")


def _turn_name(message: AIMessage) -> str:
    return message.id or " ".join(call["id"] or "" for call in message.tool_calls)


def _head(earlier: Sequence[Reply], calls: Sequence[Call]) -> str:
    done = (at for at in range(len(earlier) - 1, -1, -1) if earlier[at].events)
    return next((f"{earlier[at].plan.revision}:{_name(calls[at])}" for at in done), "")


def _name(call: Call) -> str:
    """
    Name a call by what is carried out: a sibling that saw it otherwise does not follow from it.
    """
    return f"{crc32(repr((call.name, call.arguments)).encode()):x}:{call.call_id}"


def _message(reply: Reply, call_id: str) -> ToolMessage:
    status = "error" if reply.is_error else "success"
    return ToolMessage(reply.text, name=reply.name, tool_call_id=call_id, status=status)
