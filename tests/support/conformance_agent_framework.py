"""Microsoft's Agent Framework under the conformance suite: real agents, a scripted client."""

import json

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)
from support.conformance import SCRIPT, PlanningHost, events_of

from todoplan.adapters import agent_framework
from todoplan.testing.adapters import Definition, Ran, Seen


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A client that says what the script of the current run says."""

    def _inner_get_response(self, *, messages, stream, options, **_):
        async def respond():
            told = [Seen("system", options.get("instructions") or "")]
            told += [one for message in messages for one in seen(message)]
            turn = await SCRIPT.get().areply(told, map(_offered, options.get("tools") or ()))
            return _contents(turn), "content_filter" if turn.finish else None

        if not stream:
            return self._whole(respond)

        async def parts():
            contents, finish = await respond()
            for content in contents:
                yield ChatResponseUpdate(role="assistant", contents=[content])
            yield ChatResponseUpdate(role="assistant", contents=[], finish_reason=finish)

        return ResponseStream(parts(), finalizer=ChatResponse.from_updates)

    async def _whole(self, respond):
        contents, finish = await respond()
        message = Message(role="assistant", contents=contents)
        return ChatResponse(messages=[message], finish_reason=finish)


def _offered(tool):
    return Definition(tool.name, tool.description, tool.parameters())


def _contents(turn):
    found = [Content.from_text_reasoning(text=turn.thoughts)] if turn.thoughts else []
    found += [Content.from_text(turn.text)] if turn.text else []
    return found + [
        Content.from_function_call(each.call_id, each.name, arguments=each.arguments)
        for each in turn.calls
    ]


def seen(message):
    """Yield what the suite reads of a message."""
    for content in message.contents:
        if content.type == "function_result":
            text = content.result if isinstance(content.result, str) else str(content.result)
            yield Seen("tool", text, content.call_id, bool(content.exception))
        elif content.type == "text" and content.text:
            yield Seen(str(message.role), content.text)


class AgentFramework(PlanningHost):
    """One agent with a planning; sessions are kept as JSON."""

    adapter = agent_framework
    stream = False

    def __init__(self, setup):
        super().__init__(setup)
        self.agent = Agent(
            Scripted(), "You work.", name="worker", context_providers=[self.planning]
        )

    def place(self, session):
        return self.sessions.setdefault(session, AgentSession(session_id=session))

    def saved(self):
        return json.dumps({name: each.to_dict() for name, each in self.sessions.items()})

    def resume(self, saved):
        found = json.loads(saved).items()
        self.sessions = {name: AgentSession.from_dict(each) for name, each in found}

    async def run(self, session, script):
        SCRIPT.set(script)
        there = self.place(session)
        before = len(agent_framework.history_of(there))
        if self.stream:
            stream = self.agent.run("go", session=there, stream=True)
            async for _ in stream:
                pass
            response = await stream.get_final_response()
        else:
            response = await self.agent.run("go", session=there)
        messages = [one for message in response.messages for one in seen(message)]
        return Ran(messages, events_of(agent_framework.history_of(there)[before:]))


class StreamedAgentFramework(AgentFramework):
    """The same, streamed."""

    stream = True
