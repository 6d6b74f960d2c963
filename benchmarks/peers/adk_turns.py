"""Google ADK with a plan: runs of its runner that make one planning call and then answer."""

import asyncio
from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

from benchmarks.measure import Call
from benchmarks.ours import NOTHING, Sent, nothing_sent, plan_like, planned
from todoplan.adapters.google_adk import Planning, attach, seed_plan
from todoplan.dialogue.toolbox import Toolbox

__all__ = ["response", "turns"]

_WHO = {"user_id": "ann", "session_id": "s"}


class Scripted(BaseLlm):
    """A model that makes one call for each message of the user, and then asks: continue?"""

    sent: Sent = ("", {})

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002, FBT001, FBT002 - ADK's
    ) -> AsyncIterator[LlmResponse]:
        """Yield the one response."""
        name, arguments = self.sent
        *_, last = (part for one in llm_request.contents for part in one.parts or ())
        if last.function_response:
            part = types.Part(text="Shall I go on?")
        else:
            part = types.Part(function_call=types.FunctionCall(name=name, args=arguments))
        yield response(part)


def response(part: types.Part) -> LlmResponse:
    """Return a response of the model with this part."""
    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=1, candidates_token_count=1
    )
    content = types.Content(role="model", parts=[part])
    return LlmResponse(content=content, usage_metadata=usage)


def nothing(step: str) -> str:
    """Do nothing."""
    return step


def turns(size: int) -> dict[str, dict[str, Call]]:
    """Return the runs by tool, in a session in which the plan was read; ADK has no own tool."""
    found = {NOTHING: _run(size, None, *nothing_sent(size))}
    for who, (toolset, read, move) in planned(size).items():
        found[who] = _run(size, Planning(Toolbox(toolset)), read, move)
    return {"Google ADK run": found}


def _run(size: int, planning: Planning | None, read: Sent, move: Sent) -> Call:
    def runner(sessions: Any, sent: Sent) -> Runner:
        service = InMemorySessionService()
        service.sessions = deepcopy(sessions)
        model = Scripted(model="scripted", sent=sent)
        agent = LlmAgent(name="worker", instruction="Work.", model=model)
        agent = attach(agent, planning) if planning else agent.clone({"tools": [nothing]})
        return Runner(app_name="app", agent=agent, session_service=service)

    async def begun() -> Any:
        first = runner({}, read)
        session = await first.session_service.create_session(app_name="app", **_WHO)
        if planning is not None:
            await seed_plan(planning, first.session_service, session, plan_like(size))
        await _ran(first)
        return first.session_service.sessions

    sessions = asyncio.run(begun())
    return Call(_ran, _answered, awaited=True, fresh=lambda: runner(sessions, move))


async def _ran(runner: Runner) -> list[Any]:
    said = types.Content(role="user", parts=[types.Part(text="Go on.")])
    return [event async for event in runner.run_async(**_WHO, new_message=said)]


def _answered(events: list[Any]) -> bool:
    answers = [answer.response for event in events for answer in event.get_function_responses()]
    return len(answers) == 1 and "error" not in answers[0]
