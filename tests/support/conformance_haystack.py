"""Haystack under the conformance suite: real agents with a scripted chat generator."""

import asyncio
import json

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from support.conformance import PlanningHost, events_of

from todoplan.adapters import haystack
from todoplan.testing.adapters import Definition, Ran, Seen


@component
class Scripted:
    """A chat generator that says what a script says."""

    def __init__(self, script):
        self.script = script

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: list | None = None):
        return _replies(self.script.reply([*seen(messages)], map(_offered, tools or ())))

    @component.output_types(replies=list[ChatMessage])
    async def run_async(self, messages: list[ChatMessage], tools: list | None = None):
        return _replies(await self.script.areply([*seen(messages)], map(_offered, tools or ())))


def _offered(tool):
    return Definition(tool.name, tool.description, tool.parameters)


def _replies(turn):
    calls = [ToolCall(each.name, each.arguments, each.call_id) for each in turn.calls]
    meta = {"finish_reason": "content_filter" if turn.finish else "stop"}
    reply = ChatMessage.from_assistant(
        turn.text or None, meta, tool_calls=calls, reasoning=turn.thoughts or None
    )
    return {"replies": [reply]}


def seen(messages):
    """Yield the messages of a conversation, as the suite reads them."""
    for message in messages:
        for each in message.tool_call_results:
            yield Seen("tool", each.result, each.origin.id, each.error)
        if message.texts:
            yield Seen(message.role.value, "".join(message.texts))


class Haystack(PlanningHost):
    """
    An agent for each run. What a run returns is the session; the next run takes messages and plan.
    """

    adapter = haystack

    def place(self, session):
        return self.sessions.setdefault(session, {"messages": [], "todoplan": {}})

    def saved(self):
        return json.dumps(
            {
                name: {**each, "messages": [message.to_dict() for message in each["messages"]]}
                for name, each in self.sessions.items()
            }
        )

    def resume(self, saved):
        self.sessions = {
            name: {**each, "messages": [*map(ChatMessage.from_dict, each["messages"])]}
            for name, each in json.loads(saved).items()
        }

    async def run(self, session, script):
        there = self.place(session)
        before = len(haystack.history_of(there))
        agent = Agent(chat_generator=Scripted(script), system_prompt="You work.")
        asked = [*there["messages"], ChatMessage.from_user("go")]
        result = await self.asked(haystack.attach(agent, self.planning), asked, there["todoplan"])
        # Haystack puts the system prompt in front of each run's messages.
        messages = [each for each in result["messages"] if not each.is_from("system")]
        self.sessions[session] = {"messages": messages, "todoplan": result["todoplan"]}
        events = events_of(haystack.history_of(result)[before:])
        return Ran([*seen(messages)], events, haystack.plan_of_state(result))

    async def asked(self, agent, messages, kept):
        return await agent.run_async(messages, todoplan=kept)


class HaystackInThreads(Haystack):
    """The same, not asynchronous: each run in a thread."""

    async def asked(self, agent, messages, kept):
        return await asyncio.to_thread(agent.run, messages, todoplan=kept)
