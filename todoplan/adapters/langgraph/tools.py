"""
The planning tools for `ToolNode`, with or without `create_agent`; `answering` is what they do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from langchain_core.callbacks import BaseCallbackManager, CallbackManager
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from todoplan.adapters.langgraph.answering import Answering
from todoplan.adapters.langgraph.stored_plans.plan_store import PlanStore
from todoplan.dialogue.application import require, require_actor, require_clock
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.toolbox import Call, Toolbox
from todoplan.dialogue.tools.toolset import Definition
from todoplan.planner import AnyStore
from todoplan.planner.verifying.looking import Verifying
from todoplan.planner.verifying.verifier import Verify

__all__ = ["PlanTool", "make_tools", "tools_of"]


class PlanTool(StructuredTool):
    """
    A planning tool of a `toolbox`, with the `plans` that a store keeps. Where nobody listens it is
    called straight away.
    """

    # A tool is a pydantic model, so these are fields; as `Any` they are neither checked nor copied.
    toolbox: Any = None
    plans: Any = None

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
    plans = PlanStore.of(store, plan_id, chosen, require_clock(clock), verify, require_actor(actor))
    told: dict[str, Any] = {"clock": clock, "verify": verify, "emit_events": emit_events}
    return tools_of(chosen, plans, actor=actor, **told)


def tools_of(  # noqa: PLR0913 - settings of every adapter
    toolbox: Toolbox,
    plans: PlanStore | None,
    *,
    clock: Clock,
    verify: Verify | None,
    emit_events: bool,
    actor: str | None = None,
) -> list[BaseTool]:
    """
    Return the tools of a toolbox, for plans in the state, or in a store.
    """
    verifying = Verifying.of(toolbox, verify)
    answering = Answering(toolbox, clock, emit_events, plans, verifying, actor)
    return [_tool(answering, definition) for definition in toolbox.toolset.definitions()]


def _tool(answering: Answering, definition: Definition) -> BaseTool:
    # ToolNode finds by its annotation which parameter wants the runtime.
    def answer(runtime: ToolRuntime, arguments: dict[str, Any], call_id: str) -> Command[Any]:
        return answering.answer(runtime, Call(definition.name, arguments, call_id))

    async def awaited(
        runtime: ToolRuntime, arguments: dict[str, Any], call_id: str
    ) -> Command[Any]:
        return await answering.aanswer(runtime, Call(definition.name, arguments, call_id))

    return PlanTool.from_function(
        answer,
        # Else nothing is waited for, and calls of one loop stay in order.
        awaited if answering.plans or answering.verifying else None,
        name=definition.name,
        description=definition.description,
        # LangChain does not validate a schema that is a dict: intake reads what was sent, and says
        # what is wrong. It is cheaper, too: 143 us a call, 179 with a pydantic model (empty tool).
        args_schema=definition.schema,
        infer_schema=False,
        toolbox=answering.toolbox,
        plans=answering.plans,
    )
