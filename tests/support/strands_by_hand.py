"""
A whole adapter for Strands Agents, without a `Session`: tools, reminders and a further turn.

The guide for writers of adapters points here; the conformance suite runs it (`strands_host`).
"""
# pyright: reportIncompatibleMethodOverride=false, reportPossiblyUnboundVariable=false
# pyright: reportArgumentType=false, reportCallIssue=false, reportAssignmentType=false

from collections.abc import AsyncIterator, Sequence
from typing import Any

from strands import Agent
from strands.middleware import InvokeModelContext, InvokeModelStage, ModelStopReason
from strands.plugins import Plugin
from strands.types.tools import AgentTool, ToolSpec, ToolUse

from todoplan import Plan
from todoplan.codec import plan_from_data, plan_to_data
from todoplan.dialogue import (
    Call,
    Clock,
    Guidance,
    Memory,
    Message,
    Settings,
    Toolbox,
    ToolResult,
    answered_after,
    text_of,
    unfinished_error,
    utc_now,
)

PLAN, MEMORY = "todoplan", "todoplan_memory"


def plan_of_state(agent: Agent) -> Plan:
    return plan_from_data(agent.state.get(PLAN) or plan_to_data(Plan()))


def seed_plan(agent: Agent, plan: Plan) -> None:
    agent.state.set(PLAN, plan_to_data(plan))


class PlanTool(AgentTool):
    tool_type = "todoplan"

    def __init__(self, toolbox: Toolbox, definition: Any, clock: Clock) -> None:
        super().__init__()
        self.toolbox, self.definition, self.clock = toolbox, definition, clock

    @property
    def tool_name(self) -> str:
        return self.definition.name

    @property
    def tool_spec(self) -> ToolSpec:
        shown, schema = self.definition, {"json": self.definition.schema}
        return ToolSpec(name=shown.name, description=shown.description, inputSchema=schema)

    async def stream(self, tool_use: ToolUse, invocation_state: Any, **_: Any) -> Any:
        agent, plan = invocation_state["agent"], plan_of_state(invocation_state["agent"])
        turn = [use["name"] for use in _found("toolUse", agent.messages[-1])]
        call = Call(self.tool_name, tool_use["input"], tool_use["toolUseId"])
        reply = answered_after(self.toolbox, plan, call, turn, at=self.clock())
        if reply.events:
            seed_plan(agent, reply.plan)
            memory = Memory.of(agent.state.get(MEMORY)).saw_own(plan.revision, reply.plan)
            agent.state.set(MEMORY, memory.to_data())
        status = "error" if reply.is_error else "success"
        yield {"toolUseId": call.call_id, "status": status, "content": [{"text": reply.text}]}


class Planning(Plugin):
    name = "todoplan"

    def __init__(
        self, toolbox: Toolbox, settings: Settings | None = None, clock: Clock = utc_now
    ) -> None:
        super().__init__()
        self.toolbox, self.clock = toolbox, clock
        self.guidance = Guidance(toolbox.toolset, settings or Settings(), toolbox.policy)

    def init_agent(self, agent: Agent) -> None:
        toolset = self.toolbox.toolset
        for definition in toolset.definitions():
            agent.tool_registry.register_tool(PlanTool(self.toolbox, definition, self.clock))
        agent.system_prompt = f"{agent.system_prompt or ''}\n\n{toolset.system_prompt()}".strip()
        agent.add_middleware(InvokeModelStage, self._guided)

    async def _guided(self, context: InvokeModelContext, call_model: Any) -> AsyncIterator[Any]:
        state, plan = context.agent.state, plan_of_state(context.agent)
        memory = Memory.of(state.get(MEMORY))
        if not _found("toolResult", context.messages[-1]):
            memory = memory.new_run(plan)
        advice = self.guidance.before_model(plan, _neutral(context.messages), memory)
        while True:
            async for event in call_model(_reminded(context, advice.text)):
                if not isinstance(event, ModelStopReason):
                    yield event
            answer = _one(event.message, {}, event.stop_reason)
            advice = self.guidance.after_model(plan, answer, advice.memory)
            if advice.verdict != "again":
                break
            context = context.replace(messages=[*context.messages, event.message])
        state.set(MEMORY, advice.memory.to_data())
        if advice.verdict == "raise":
            raise unfinished_error(plan)
        yield event


def _reminded(context: InvokeModelContext, text: str) -> InvokeModelContext:
    if not text:
        return context
    messages = [*context.messages]
    if messages[-1]["role"] == "assistant":
        messages.append({"role": "user", "content": []})
    messages[-1] = {**messages[-1], "content": [*messages[-1]["content"], {"text": text}]}
    changing = context.dynamic_trailing_blocks + 1  # the cache point must come before it
    return context.replace(messages=messages, dynamic_trailing_blocks=changing)


def _neutral(messages: Sequence[Any]) -> list[Message]:
    uses = [use for message in messages for use in _found("toolUse", message)]
    names = {use["toolUseId"]: use["name"] for use in uses}
    return [_one(message, names) for message in messages]


def _one(message: Any, names: dict[str, str], finish: str = "") -> Message:
    calls = tuple(use["name"] for use in _found("toolUse", message))
    results = tuple(
        ToolResult(names.get(result["toolUseId"], ""), result["status"] == "success")
        for result in _found("toolResult", message)
    )
    text = text_of(_found("text", message))
    return Message(message["role"], text, calls, results, finish=finish)


def _found(kind: str, message: Any) -> list[Any]:
    return [block[kind] for block in message["content"] if kind in block]
