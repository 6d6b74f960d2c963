"""LlamaIndex under the conformance suite: real agents and workflows, a scripted model."""

import json

import pytest
from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.base.llms.types import TextBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.workflow import Context
from support.conformance import SCRIPT, PlanningHost, events_of

from todoplan.adapters import llama_index
from todoplan.testing.adapters import Definition, Ran, Seen

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


class LlamaIndex(PlanningHost):
    """
    One agent; a session is a context and a memory, both saved as JSON.

    With pydantic 2.14 LlamaIndex cannot save a memory with its context.
    """

    adapter = llama_index
    streaming = True

    def __init__(self, setup):
        super().__init__(setup)
        self.workflow = self.made(self.planning)

    def made(self, planning):
        return llama_index.PlanningAgent(
            planning=planning,
            llm=Scripted(),
            system_prompt="You work.",
            streaming=self.streaming,
        )

    def _session(self, name):
        new = (Context(self.workflow), ChatMemoryBuffer.from_defaults())
        return self.sessions.setdefault(name, new)

    def place(self, session):
        return self._session(session)[0]

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
        before = len(await llama_index.history_of(ctx))
        handler = self.workflow.run("go", ctx=ctx, memory=memory)
        result = await handler
        errors = {each.tool_id for each in result.tool_calls if each.tool_output.is_error}
        messages = [one for message in memory.get_all() for one in seen(message, errors)]
        events = events_of((await llama_index.history_of(ctx))[before:])
        return Ran(messages, events, await llama_index.plan_of_state(handler.ctx))


class Workflow(LlamaIndex):
    """The same agent in an `AgentWorkflow`, not streamed."""

    streaming = False

    def made(self, planning):
        return AgentWorkflow(agents=[super().made(planning)])
