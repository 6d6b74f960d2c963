"""The OpenAI Agents SDK passes the conformance suite, streamed or not; it marks no errors."""

import asyncio
import json
from contextlib import suppress

from agents import Agent, RunConfig, Runner
from agents.exceptions import ModelRefusalError
from agents.memory import SessionABC
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseOutputRefusal, ResponseReasoningItem
from support.conformance import as_text

from todoplan.adapters.openai_agents import Planning, attach, edit_plan, plan_of_state, seed_plan
from todoplan.testing.adapters import ALL, AdapterSuite, Capability, Definition, Ran, Seen

_CONFIG = RunConfig(tool_not_found_behavior="return_error_to_model", tracing_disabled=True)
_MOST = 40


class JsonSession(SessionABC):
    """A session of the SDK that is kept as text."""

    def __init__(self, session_id, text="[]"):
        self.session_id, self.text = session_id, text

    async def get_items(self, limit=None):
        return json.loads(self.text)[-limit if limit else None :]

    async def add_items(self, items):
        self.text = json.dumps([*await self.get_items(), *items])

    async def pop_item(self):
        *kept, last = await self.get_items()
        self.text = json.dumps(kept)
        return last

    async def clear_session(self):
        self.text = "[]"


def seen(item):
    """Return an item of the Responses API as the suite reads it, in a list; a call is left out."""
    if item.get("type") in {"function_call", "reasoning"}:
        return []
    if item.get("type") == "function_call_output":
        return [Seen("tool", item["output"], item["call_id"])]
    content = item["content"]
    text = (
        content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    )
    return [Seen(item["role"], text)]


def _request(call):
    given = (
        call.input if isinstance(call.input, list) else [{"role": "user", "content": call.input}]
    )
    return [Seen("system", call.system_instructions), *_all_seen(given)]


def _all_seen(items):
    return [one for item in items for one in seen(item)]


def _said(turn):
    text = [assistant_message(turn.text)] if turn.text or not turn.calls else []
    if turn.finish:
        text[0].content = [ResponseOutputRefusal(type="refusal", refusal=turn.text)]
    thoughts = [_reasoning(turn.thoughts)] if turn.thoughts else []
    return [*thoughts, *text, *map(_call, turn.calls)]


def _reasoning(text):
    summary = [{"type": "summary_text", "text": text}]
    return ResponseReasoningItem(id="rs_1", type="reasoning", summary=summary)


def _call(call):
    return function_call(call.name, as_text(call.arguments), call_id=call.call_id)


def _offered(tool):
    return Definition(tool.name, tool.description, tool.params_json_schema)


def _model(script):
    async def respond(call):
        return _said(await script.areply(_request(call), map(_offered, call.tools)))

    return ScriptedModel([ModelStep.respond(respond)] * (len(script.turns) + _MOST))


class OpenAIAgents:
    """One agent. A session is a `Planning` and a session of the SDK, both kept as JSON texts."""

    def __init__(self, setup):
        self.setup, self.sessions, self.plannings = setup, {}, {}
        self.agent = Agent(name="worker", instructions="You work.")

    def _planning(self, saved=None):
        given = {"clock": self.setup.clock, "verify": self.setup.verify}
        return Planning(self.setup.toolbox, saved=saved, **given)

    def _of(self, session):
        self.sessions.setdefault(session, JsonSession(session))
        return self.plannings.setdefault(session, self._planning())

    def seed(self, session, plan):
        asyncio.run(seed_plan(self._of(session), plan))

    def edit(self, session, command, actor):
        return asyncio.run(edit_plan(self._of(session), command, actor=actor))

    def plan(self, session):
        return plan_of_state(self._of(session).to_data())

    def saved(self):
        sessions = self.sessions.items()
        return json.dumps({n: (each.text, self.plannings[n].to_data()) for n, each in sessions})

    def resume(self, saved):
        for name, (items, planning) in json.loads(saved).items():
            self.sessions[name] = JsonSession(name, items)
            self.plannings[name] = self._planning(planning)

    async def run(self, session, script):
        planning, told = self._of(session), []
        agent = attach(
            self.agent.clone(model=_model(script)), planning, settings=self.setup.settings
        )
        stop = planning.subscribe(lambda entry, _: told.extend(entry.events))
        with suppress(ModelRefusalError):  # the SDK's own way to end a run that was refused
            await self._run(agent, self.sessions[session])
        stop()
        items = await self.sessions[session].get_items()
        return Ran(_all_seen(items), told)

    async def _run(self, agent, session):
        await Runner.run(agent, "go", session=session, run_config=_CONFIG, max_turns=_MOST)


class StreamedOpenAIAgents(OpenAIAgents):
    """The same, streamed."""

    async def _run(self, agent, session):
        result = Runner.run_streamed(
            agent, "go", session=session, run_config=_CONFIG, max_turns=_MOST
        )
        async for _ in result.stream_events():
            pass


class TestOpenAIAgents(AdapterSuite):
    capabilities = ALL - {Capability.ERROR_FLAG, Capability.RETURNS}

    def host(self, setup):
        return OpenAIAgents(setup)


class TestOpenAIAgentsStreamed(AdapterSuite):
    reads_as = TestOpenAIAgents
    capabilities = ALL - {Capability.ERROR_FLAG, Capability.RETURNS}

    def host(self, setup):
        return StreamedOpenAIAgents(setup)
