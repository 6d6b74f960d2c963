"""
Plans in Strands Agents: `pip install 'todoplan[strands]'`.

`Planning` is a plugin that gives one agent the tools, the prompt and the guidance (reminders to the
model). `make_tools` returns only the tools.

The plan is in the agent's state, which session managers save, or in a store. `plan_of_state` and
`history_of` read the state; `seed_plan`, `edit_plan` and `undo_plan` change it between runs.

The plan and the session's record (which tasks the session has listed, and what it has last seen of
the plan) are a JSON text in `agent.state`, which every session manager of Strands saves. It is a
text because Strands deeply copies a value each time it is read or written. When a run begins, the
adapter makes a session object from this text, and saves the object there during the run.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

from todoplan.errors import MissingExtraError

try:
    from strands import Agent
    from strands.hooks import AfterInvocationEvent, BeforeInvocationEvent
    from strands.middleware import InvokeModelContext, InvokeModelStage, ModelStopReason
    from strands.plugins import Plugin
    from strands.types.tools import AgentTool, ToolGenerator, ToolSpec, ToolUse
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "strands") from error

from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.dialogue import text_of
from todoplan.dialogue.calls import Call
from todoplan.dialogue.guidance import Message, ToolResult
from todoplan.dialogue.toolbox import require
from todoplan.dialogue.tools import Definition
from todoplan.lazy import listing
from todoplan.planner.editing import edit_plan, seed_plan, undo_plan
from todoplan.planner.session import AsyncSession, BasePlanning, read_text
from todoplan.stores.slot import history_in_slot, plan_in_slot

__all__ = [
    "Planning",
    "edit_plan",
    "history_of",
    "make_tools",
    "plan_of_state",
    "seed_plan",
    "undo_plan",
]
__dir__ = listing(__all__)

KEY = "todoplan"
"""The key of the agent's state."""


class Planning(BasePlanning, Plugin):
    """
    The plan of one agent: `Agent(model, plugins=[Planning()])`.

    `toolbox` has the tools and their policy, `settings` configure the reminders to the model,
    `clock` returns the current time with its time zone, and `verify` checks whether a task is done
    (see `AsyncPlanner`). `system_prompt` is appended to the agent's prompt; the default is the tool
    set's prompt, and "" adds none. `actor` is the agent's name in the journal. With a `store`, the
    plan is kept there under `plan_id`, and the agent's state has only the record of what this
    session has listed and seen.

    Raises:
        PlanError: an argument has the wrong type, or a store is given without a plan id.
    """

    def prepare(self) -> None:
        """Initialise the planning. No run is active yet."""
        Plugin.__init__(self)
        self._runs: WeakKeyDictionary[Agent, AsyncSession] = WeakKeyDictionary()
        self.opened({})  # a store without a plan id is refused now, not at a call

    @property
    def name(self) -> str:
        """The name of the plugin."""
        return KEY

    def init_agent(self, agent: Agent) -> None:
        """Give an agent the tools, the prompt and the guidance. Strands calls this."""
        for tool in make_tools(self):
            agent.tool_registry.register_tool(tool)
        if self.system_prompt:
            agent.system_prompt = f"{agent.system_prompt or ''}\n\n{self.system_prompt}".strip()
        agent.add_hook(self._begin, BeforeInvocationEvent)
        agent.add_hook(self._end, AfterInvocationEvent)
        agent.add_middleware(InvokeModelStage, self._guided)

    def session(self, agent: Agent) -> AsyncSession:
        """Return the session of an agent's run, or a new one from the agent's state."""
        return self._runs.get(agent) or self.saved(agent)

    def saved(self, agent: Agent) -> AsyncSession:
        """Return the session that was saved in an agent's state, or a new one."""
        return self.opened(_kept(agent))

    @asynccontextmanager
    async def editing(self, agent: Agent) -> AsyncGenerator[AsyncSession]:
        """
        Yield the saved session of an agent, and save it after the edit.

        If the agent has a session manager, it saves the change at once.

        Raises:
            PlanError: no store keeps the plan, and a run is active: of this agent, or of another
                agent with the same saved session.
        """
        session = self.saved(require(agent, Agent, "an agent of Strands"))
        if self.store is None and _place(agent) in map(_place, self._runs):
            self.refuse_edit_beside(
                "a run of this agent", "edit its plan after the run", needs_id=True
            )
        yield session
        agent.state.set(KEY, session.to_text())
        # Strands saves the state when a message is added or a run ends, and neither happens here.
        if manager := agent._session_manager:  # noqa: SLF001 - it has no public name
            manager.sync_agent(agent)

    def _begin(self, event: BeforeInvocationEvent) -> None:
        self._runs[event.agent] = self.saved(event.agent)

    def _end(self, event: AfterInvocationEvent) -> None:
        self._runs.pop(event.agent, None)

    async def _guided(
        self, context: InvokeModelContext, call_model: Any
    ) -> AsyncGenerator[Any, None]:
        """
        Add the reminder to the end of one request, and ask the model again if it answers while
        tasks are open.
        """
        agent: Any = context.agent
        session = self.session(agent)
        # A result does not have the tool's name.
        uses = [use for message in context.messages for use in _found("toolUse", message)]
        names = {use["toolUseId"]: use["name"] for use in uses}
        request = await session.before_model(
            [neutral(message, names) for message in context.messages],
            is_new=not _found("toolResult", context.messages[-1]),
        )
        event: Any = None
        while True:
            async for event in call_model(_reminded(context, request.text)):
                if not isinstance(event, ModelStopReason):
                    yield event
            answer = neutral(event.message, {}, event.stop_reason)
            try:
                advice = await session.after_model(answer, request=request)
            finally:
                agent.state.set(KEY, session.to_text())
            if advice.verdict != "again":
                yield event
                return
            request = request.again(advice)
            context = context.replace(messages=[*context.messages, event.message])


def _reminded(context: InvokeModelContext, text: str) -> InvokeModelContext:
    if not text:
        return context
    messages = [*context.messages]
    if messages[-1]["role"] == "assistant":
        messages.append({"role": "user", "content": []})
    messages[-1] = {**messages[-1], "content": [*messages[-1]["content"], {"text": text}]}
    # Models place the cache point before these blocks. It must come before the reminder, because
    # the next request does not contain the reminder.
    changing = context.dynamic_trailing_blocks + 1
    return context.replace(messages=messages, dynamic_trailing_blocks=changing)


def neutral(message: Any, names: dict[str, str], finish: str = "") -> Message:
    """
    Convert a message to the neutral form that guidance reads. `names` are the names of the called
    tools by call id, and `finish` is the finish reason.
    """
    calls = tuple(use["name"] for use in _found("toolUse", message))
    results = tuple(
        ToolResult(
            names.get(result["toolUseId"], ""), result["status"] == "success", result["toolUseId"]
        )
        for result in _found("toolResult", message)
    )
    text = text_of(_found("text", message))
    return Message(message["role"], text, calls, results, finish=finish)


def _found(kind: str, message: Any) -> list[Any]:
    """Return the content blocks of one kind, such as "toolUse", in a message."""
    return [block[kind] for block in message["content"] if kind in block]


class PlanTool(AgentTool):
    """One planning tool; `make_tools` makes it."""

    def __init__(self, planning: Planning, definition: Definition) -> None:
        super().__init__()
        self._planning, self._definition = planning, definition

    @property
    def tool_name(self) -> str:
        """The name that the model sees."""
        return self._definition.name

    @property
    def tool_type(self) -> str:
        """The kind of tool, for Strands: "todoplan"."""
        return KEY

    @property
    def tool_spec(self) -> ToolSpec:
        """The definition that the model sees."""
        shown, schema = self._definition, {"json": {**self._definition.schema}}
        return ToolSpec(name=shown.name, description=shown.description, inputSchema=schema)

    async def stream(
        self, tool_use: ToolUse, invocation_state: dict[str, Any], **_: Any
    ) -> ToolGenerator:
        """Answer a call; a refusal has the status "error"."""
        agent: Agent = invocation_state["agent"]
        # Strands starts the calls of a message in order, each as a task of its own.
        uses = _found("toolUse", agent.messages[-1]) if agent.messages else []
        turn = [Call(use["name"], use["input"], use["toolUseId"]) for use in uses]
        call = Call(self.tool_name, tool_use["input"], tool_use["toolUseId"])
        session = self._planning.session(agent)
        reply = await session.answer_one(call, turn if call in turn else [call], "")
        agent.state.set(KEY, session.to_text())
        status = "error" if reply.is_error else "success"
        yield {"toolUseId": call.call_id, "status": status, "content": [{"text": reply.text}]}


def make_tools(planning: Planning) -> list[AgentTool]:
    """
    Return the tools for `Agent(tools=...)`, without the prompt and the reminders.

    Raises:
        PlanError: the argument is not a `Planning`.
    """
    definitions = require(planning, Planning).toolbox.toolset.definitions()
    return [PlanTool(planning, definition) for definition in definitions]


def plan_of_state(agent: Agent) -> Plan:
    """
    Return the plan in an agent's state, or an empty plan if there is none.

    Raises:
        CodecError: the saved plan is damaged.
        PlanError: a store keeps the plan.
    """
    return plan_in_slot(_kept(agent), "agent")


def history_of(agent: Agent) -> tuple[Entry, ...]:
    """
    Return the journal in an agent's state, oldest entry first.

    It has at most the latest 50 entries, fewer if they are long.

    Raises:
        CodecError: the saved journal is damaged.
        PlanError: see `plan_of_state`.
    """
    return history_in_slot(_kept(agent), "agent")


def _kept(agent: Agent) -> dict[str, Any]:
    return read_text(require(agent, Agent).state.get(KEY) or "{}")


def _place(agent: Agent) -> object:
    """Return a value that is equal for agents with the same saved session."""
    manager: Any = agent._session_manager  # noqa: SLF001 - as above
    return (manager.session_id, agent.agent_id) if manager else id(agent)
