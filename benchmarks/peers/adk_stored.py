"""Google ADK's session after a plan's life: its state, and the changes of state in its events."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

from benchmarks.ours import Sent, life_of
from benchmarks.peers.adk_turns import response
from todoplan.adapters.google_adk import Planning, make_tools
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks

__all__ = ["lives"]


class Playing(BaseLlm):
    """A model that makes one call after the other, and then answers."""

    going: Iterator[Any]

    async def generate_content_async(
        self,
        llm_request: LlmRequest,  # noqa: ARG002 - ADK's
        stream: bool = False,  # noqa: ARG002, FBT001, FBT002 - ADK's
    ) -> AsyncIterator[LlmResponse]:
        """Yield the one response."""
        said: Sent | None = next(self.going, None)
        if said is None:
            part = types.Part(text="Done.")
        else:
            part = types.Part(function_call=types.FunctionCall(name=said[0], args=said[1]))
        yield response(part)


def lives(size: int) -> dict[str, tuple[int, int]]:
    """Return the bytes of the state, and of all its changes in the events; ADK has no own tool."""
    return {"todoplan TaskUpdate": asyncio.run(_life(size))}


async def _life(size: int) -> tuple[int, int]:
    model = Playing(model="scripted", going=life_of(size))
    tools: list[Any] = [*make_tools(Planning(Toolbox(tasks())))]
    agent = LlmAgent(name="worker", instruction="Work.", model=model, tools=tools)
    service = InMemorySessionService()
    who = {"user_id": "ann", "session_id": "s"}
    await service.create_session(app_name="app", **who)
    runner = Runner(app_name="app", agent=agent, session_service=service)
    said = types.Content(role="user", parts=[types.Part(text="Go on.")])
    config = RunConfig(max_llm_calls=10_000)
    async for _ in runner.run_async(**who, new_message=said, run_config=config):
        pass
    session = await service.get_session(app_name="app", **who)
    deltas = [event.actions.state_delta for event in session.events]
    return _bytes(session.state), sum(_bytes(delta) for delta in deltas if delta)


def _bytes(value: Any) -> int:
    return len(json.dumps(value))
