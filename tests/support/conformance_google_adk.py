"""Google ADK under the conformance suite: its runner and sessions, with a scripted model."""

import asyncio
import pickle

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from support.conformance import SCRIPT, PlanningHost, events_of

from todoplan.adapters import google_adk
from todoplan.testing.adapters import Definition, Ran, Seen

APP, USER = "app", "ann"


class Scripted(BaseLlm):
    """Says what the script of the current run says."""

    async def generate_content_async(self, llm_request, stream=False):  # noqa: FBT002 - ADK's
        system = Seen("system", llm_request.config.system_instruction or "")
        messages = [one for content in llm_request.contents for one in seen(content)]
        offered = [
            Definition(one.name, one.description, one.parameters_json_schema)
            for tool in llm_request.config.tools or []
            for one in tool.function_declarations or []
        ]
        turn = await SCRIPT.get().areply([system, *messages], offered)
        if stream and turn.text:
            part = types.Content(role="model", parts=[types.Part(text=turn.text)])
            yield LlmResponse(content=part, partial=True)
        yield _said(turn)


def _said(turn):
    parts = [types.Part(text=turn.thoughts, thought=True)] if turn.thoughts else []
    parts += [types.Part(text=turn.text)] if turn.text else []
    for call in turn.calls:
        made = types.FunctionCall(id=call.call_id, name=call.name, args=call.arguments)
        parts.append(types.Part(function_call=made))
    finish = types.FinishReason.SAFETY if turn.finish else types.FinishReason.STOP
    return LlmResponse(content=types.Content(role="model", parts=parts), finish_reason=finish)


def seen(content):
    """Return the messages in a content, as the suite reads them."""
    found = []
    for part in content.parts or []:
        if part.function_response:
            answer = part.function_response.response
            is_error = "error" in answer
            text = answer.get("error" if is_error else "result")
            found.append(Seen("tool", text, part.function_response.id, is_error))
        elif part.text and not part.thought:
            found.append(Seen("assistant" if content.role == "model" else "user", part.text))
    return found


class GoogleADK(PlanningHost):
    """One attached agent; the sessions are those of ADK's service."""

    adapter = google_adk
    streaming = StreamingMode.NONE

    def __init__(self, setup):
        super().__init__(setup)
        self.service = InMemorySessionService()
        agent = LlmAgent(name="worker", instruction="You work.", model=Scripted(model="scripted"))
        self.agent = google_adk.attach(agent, self.planning)

    async def _session(self, name):
        given = {"app_name": APP, "user_id": USER, "session_id": name}
        found = await self.service.get_session(**given)
        return found or await self.service.create_session(**given)

    def seed(self, session, plan):
        async def seed():
            there = await self._session(session)
            await google_adk.seed_plan(self.planning, self.service, there, plan)

        asyncio.run(seed())

    def edit(self, session, command, actor):
        async def edit():
            there = await self._session(session)
            given = self.planning, self.service, there, command
            return await google_adk.edit_plan(*given, actor=actor)

        return asyncio.run(edit())

    def place(self, session):
        return asyncio.run(self._session(session))

    def saved(self):
        return pickle.dumps(self.service.sessions)

    def resume(self, saved):
        self.service.sessions = pickle.loads(saved)  # noqa: S301 - what `saved` has written

    async def run(self, session, script):
        SCRIPT.set(script)
        before = len(google_adk.history_of(await self._session(session)))
        runner = Runner(app_name=APP, agent=self.agent, session_service=self.service)
        said = types.Content(role="user", parts=[types.Part(text="go")])
        config = RunConfig(streaming_mode=self.streaming)
        async for _ in runner.run_async(
            user_id=USER, session_id=session, new_message=said, run_config=config
        ):
            pass
        there = await self._session(session)
        contents = [event.content for event in there.events if event.content]
        messages = [one for content in contents for one in seen(content)]
        return Ran(messages, events_of(google_adk.history_of(there)[before:]))


class StreamedGoogleADK(GoogleADK):
    """The same, streamed."""

    streaming = StreamingMode.SSE
