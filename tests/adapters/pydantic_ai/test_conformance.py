"""Pydantic AI's agent passes the conformance suite."""

import json

from pydantic_ai import Agent, AgentRunResultEvent
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from support.conformance import InFolders, as_text, events_of

from todoplan import FileStore, Planner
from todoplan.adapters.pydantic_ai import Planning, edit_plan, plan_of_state, seed_plan
from todoplan.codec import entry_from_data
from todoplan.testing.adapters import ALL, AdapterSuite, Capability, Definition, Ran, Seen


def seen(messages):
    """Yield messages as the suite reads them: one for each part that says something."""
    for message in messages:
        role = "assistant" if isinstance(message, ModelResponse) else "user"
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                yield Seen("tool", part.content, part.tool_call_id, part.outcome != "success")
            elif isinstance(part, TextPart | UserPromptPart):
                yield Seen(role, part.content)


def _model(script):
    async def said(messages, info):
        tools = [
            Definition(tool.name, tool.description, tool.parameters_json_schema)
            for tool in info.function_tools
        ]
        return await script.areply([Seen("system", info.instructions), *seen(messages)], tools)

    async def answer(messages, info):
        turn = await said(messages, info)
        calls = [
            ToolCallPart(call.name, as_text(call.arguments), call.call_id) for call in turn.calls
        ]
        thoughts = [ThinkingPart(turn.thoughts)] if turn.thoughts else []
        texts = [TextPart(turn.text)] if turn.text else []
        finish = "content_filter" if turn.finish else None
        return ModelResponse(parts=[*thoughts, *calls, *texts], finish_reason=finish)

    async def stream(messages, info):
        turn = await said(messages, info)
        for place, call in enumerate(turn.calls):
            yield {
                place: DeltaToolCall(call.name, as_text(call.arguments), tool_call_id=call.call_id)
            }
        if turn.text:
            yield turn.text

    return FunctionModel(answer, stream_function=stream)


class PydanticAI:
    """One agent; the sessions are message histories, kept as JSON."""

    def __init__(self, setup, store=None):
        self.setup, self.kept = setup, {}
        box, settings = setup.toolbox, setup.settings
        given = {"clock": setup.clock, "verify": setup.verify}
        self.planning = Planning(box, settings, store=store, **given)
        self.agent = Agent(capabilities=[self.planning], instructions="You work.", retries=3)

    def _messages(self, session):
        return ModelMessagesTypeAdapter.validate_json(self.kept.get(session, "[]"))

    def seed(self, session, plan):
        seeded = seed_plan(self.planning, self._messages(session), plan)
        self.kept[session] = ModelMessagesTypeAdapter.dump_json(seeded).decode()

    def edit(self, session, command, actor):
        messages = self._messages(session)
        decision, edited = edit_plan(self.planning, messages, command, actor=actor)
        self.kept[session] = ModelMessagesTypeAdapter.dump_json(edited).decode()
        return decision

    def plan(self, session):
        return plan_of_state(self._messages(session))

    def saved(self):
        return json.dumps(self.kept)

    def resume(self, saved):
        self.kept = json.loads(saved)

    async def run(self, session, script):
        messages = self._messages(session)
        result = await self._ran(_model(script), messages, session)
        self.kept[session] = result.all_messages_json().decode()
        parts = (part for message in result.new_messages() for part in message.parts)
        told = [p.metadata for p in parts if isinstance(p, ToolReturnPart) and p.metadata]
        notes = [one["todoplan"] for one in told if "entry" in one["todoplan"]]
        entries = [entry_from_data(note["entry"]) for note in notes]
        return Ran([*seen(result.all_messages())], events_of(entries), self._returned(result))

    def _returned(self, result):
        return plan_of_state(result)

    async def _ran(self, model, messages, session):
        return await self.agent.run(
            "go", model=model, message_history=messages, conversation_id=session
        )


class Streamed(PydanticAI):
    """The same, streamed."""

    async def _ran(self, model, messages, session):
        told = {"model": model, "message_history": messages, "conversation_id": session}
        async with self.agent.run_stream_events("go", **told) as events:
            *_, last = [event async for event in events]
        assert isinstance(last, AgentRunResultEvent)
        return last.result


class Stored(PydanticAI):
    """The same, with the plans in a file."""

    def __init__(self, setup, folder):
        super().__init__(setup, FileStore(f"{folder}/plans.json"))
        self.folder = folder

    def saved(self):
        return json.dumps([super().saved(), self.folder])

    def resume(self, saved):
        kept, folder = json.loads(saved)
        self.__init__(self.setup, folder)
        super().resume(kept)

    def seed(self, session, plan):
        Planner(self.planning.store, session).restore(plan)

    def edit(self, session, command, actor):
        return Planner(self.planning.store, session).apply(command, actor=actor)

    def _returned(self, result):
        return None

    def plan(self, session):
        return self.planning.store.load(session)


class TestPydanticAI(AdapterSuite):
    capabilities = ALL - {Capability.LIVE_EDITS}

    def host(self, setup):
        return PydanticAI(setup)


class TestPydanticAIStored(InFolders, AdapterSuite):
    reads_as = TestPydanticAI
    capabilities = ALL - {Capability.RETURNS}  # the store has it

    def host(self, setup):
        return Stored(setup, self.new_folder())


class TestPydanticAIStreamed(AdapterSuite):
    reads_as = TestPydanticAI
    # What was streamed has been seen, and is kept.
    capabilities = ALL - {Capability.LIVE_EDITS, Capability.FURTHER_TURNS}

    def host(self, setup):
        return Streamed(setup)
