"""Microsoft's Agent Framework with a plan: its own provider, ours, and a tool that does nothing."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
    TodoProvider,
)

from benchmarks.measure import Call
from benchmarks.ours import NOTHING, Sent, nothing_sent, plan_like, planned
from benchmarks.workload import active_id, entries
from todoplan.adapters.agent_framework import Planning, seed_plan
from todoplan.dialogue.toolbox import Toolbox

__all__ = ["turns"]

Seed = Callable[[AgentSession], Awaitable[object]]


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A client that makes one call for each message of the user, and then asks: continue?"""

    sent: Sent = ("", {})

    async def _inner_get_response(self, *, messages: Sequence[Message], **_: Any) -> ChatResponse:
        name, arguments = self.sent
        if messages[-1].contents[-1].type == "function_result":
            content = Content.from_text("Shall I go on?")
        else:
            content = Content.from_function_call("c", name, arguments=arguments)
        return ChatResponse(messages=[Message(role="assistant", contents=[content])])


def turns(size: int) -> dict[str, dict[str, Call]]:
    """Return the runs by tool, in a session in which the plan was read."""
    found = {"own": _own(size), NOTHING: _nothing(size)}
    found |= {who: _ours(size, *each) for who, each in planned(size).items()}
    return {"Agent Framework run": found}


def _own(size: int) -> Call:
    async def seed(session: AgentSession) -> None:
        items = [
            {"id": int(number), "title": text, "description": None, "is_complete": status[0] == "c"}
            for number, text, status in entries(size)
        ]
        session.state["todo"] = {"items": items, "next_id": size + 1}

    move = {"items": [{"id": int(active_id(size)), "reason": "done"}]}
    sent = ("todos_get_all", {}), ("todos_complete", move)
    return _run(seed, *sent, context_providers=[TodoProvider()])


def _nothing(size: int) -> Call:
    async def seed(_: AgentSession) -> None:
        """There is no plan."""

    schema = {"type": "object", "properties": {"step": {"type": "string"}}}
    given: dict[str, Any] = {"name": "nothing", "description": "Do nothing.", "input_model": schema}
    tool = FunctionTool(func=lambda step: step, **given)
    return _run(seed, *nothing_sent(size), tools=[tool])


def _ours(size: int, toolset: Any, read: Sent, move: Sent) -> Call:
    planning = Planning(Toolbox(toolset))

    async def seed(session: AgentSession) -> None:
        await seed_plan(planning, session, plan_like(size))

    return _run(seed, read, move, context_providers=[planning])


def _run(seed: Seed, read: Sent, move: Sent, **given: Any) -> Call:
    client = Scripted()
    agent: Any = Agent(client, "Work.", **given)

    async def begun() -> AgentSession:
        session = AgentSession(session_id="s")
        await seed(session)
        client.sent = read
        await agent.run("What is there to do?", session=session)
        client.sent = move
        return session

    session = asyncio.run(begun())
    return Call(
        lambda own: agent.run("Go on.", session=own),
        _answered,
        awaited=True,
        fresh=lambda: deepcopy(session),
    )


def _answered(response: Any) -> bool:
    contents = [each for message in response.messages for each in message.contents]
    results = [each for each in contents if each.type == "function_result"]
    return len(results) == 1 and not results[0].exception and "rror" not in str(results[0].result)
