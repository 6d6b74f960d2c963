"""LlamaIndex under the conformance suite: real agents and workflows, a scripted model."""

import asyncio
import json
from contextvars import ContextVar

import pytest
from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.base.llms.types import TextBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.workflow import Context

from todoplan.adapters.llama_index import (
    Planning,
    PlanningAgent,
    edit_plan,
    history_of,
    plan_of_state,
    seed_plan,
)
from todoplan.testing.adapters import Definition, Ran, Seen

SCRIPT = ContextVar("SCRIPT")
WARNINGS = pytest.mark.filterwarnings(
    "ignore::pydantic.warnings.PydanticDeprecationWarning",
    "ignore::workflows.context.state_store.UnserializableKeyWarning",
)
"""The framework reads deprecated attributes of each agent, and cannot save a memory."""


class Scripted(MockFunctionCallingLLM):
    """LlamaIndex's own fake model, which says what the script of the current run says."""

    async def achat(self, messages, tools=(), **_):
        sent = [one for message in messages for one in seen(message)]
        turn = await SCRIPT.get().areply(sent, map(_offered, tools))
        blocks = [ThinkingBlock(content=turn.thoughts)] if turn.thoughts else []
        blocks += [TextBlock(text=turn.text)] if turn.text else []
        blocks += [
            ToolCallBlock(
                tool_call_id=call.call_id, tool_name=call.name, tool_kwargs=call.arguments
            )
            for call in turn.calls
        ]
        raw = {"choices": [{"finish_reason": "content_filter" if turn.finish else "stop"}]}
        return ChatResponse(message=ChatMessage(role="assistant", blocks=blocks), raw=raw)

    async def astream_chat(self, messages, tools=(), **_):
        async def parts():
            whole = await self.achat(messages, tools)
            blocks = whole.message.blocks
            for number in range(1, len(blocks)):
                part = ChatMessage(role="assistant", blocks=blocks[:number])
                yield ChatResponse(message=part)
            yield whole

        return parts()


def _offered(tool):
    shown = tool.metadata
    return Definition(shown.name, shown.description, shown.get_parameters_dict())


def seen(message, errors=()):
    """
    Yield what the suite reads of a message; `errors` are the ids of calls whose result is one.
    """
    if text := message.content:
        call_id = message.additional_kwargs.get("tool_call_id", "")
        yield Seen(message.role.value, text, call_id, call_id in errors)


class LlamaIndex:
    """
    One agent; a session is a context and a memory, both saved as JSON.

    With pydantic 2.14 LlamaIndex cannot save a memory with its context.
    """

    streaming = True

    def __init__(self, setup):
        given = {"clock": setup.clock, "verify": setup.verify}
        self.planning = Planning(setup.toolbox, setup.settings, **given)
        self.workflow = self.made(self.planning)
        self.sessions = {}

    def made(self, planning):
        return PlanningAgent(
            planning=planning,
            llm=Scripted(),
            system_prompt="You work.",
            streaming=self.streaming,
        )

    def _session(self, name):
        new = (Context(self.workflow), ChatMemoryBuffer.from_defaults())
        return self.sessions.setdefault(name, new)

    def seed(self, session, plan):
        asyncio.run(seed_plan(self.planning, self._session(session)[0], plan))

    def edit(self, session, command, actor):
        ctx, _ = self._session(session)
        return asyncio.run(edit_plan(self.planning, ctx, command, actor=actor))

    def plan(self, session):
        return asyncio.run(plan_of_state(self._session(session)[0]))

    def saved(self):
        return json.dumps(
            {
                name: [ctx.to_dict(), [each.model_dump(mode="json") for each in memory.get_all()]]
                for name, (ctx, memory) in self.sessions.items()
            }
        )

    def resume(self, saved):
        for name, (ctx, history) in json.loads(saved).items():
            read = [ChatMessage.model_validate(each) for each in history]
            memory = ChatMemoryBuffer.from_defaults(chat_history=read)
            self.sessions[name] = (Context.from_dict(self.workflow, ctx), memory)

    async def run(self, session, script):
        SCRIPT.set(script)
        ctx, memory = self._session(session)
        before = len(await history_of(ctx))
        handler = self.workflow.run("go", ctx=ctx, memory=memory)
        result = await handler
        errors = {each.tool_id for each in result.tool_calls if each.tool_output.is_error}
        messages = [one for message in memory.get_all() for one in seen(message, errors)]
        events = [event for entry in (await history_of(ctx))[before:] for event in entry.events]
        return Ran(messages, events, await plan_of_state(handler.ctx))


class Workflow(LlamaIndex):
    """The same agent in an `AgentWorkflow`, not streamed."""

    streaming = False

    def made(self, planning):
        return AgentWorkflow(agents=[super().made(planning)])
