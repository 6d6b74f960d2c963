"""Strands Agents under the conformance suite: a host for the adapter of `strands_by_hand`."""
# pyright: reportIncompatibleMethodOverride=false, reportOptionalMemberAccess=false

import json
from tempfile import mkdtemp

import pytest
from strands import Agent
from strands.models.model import Model
from strands.session.file_session_manager import FileSessionManager
from support.strands_by_hand import Planning, plan_of_state, seed_plan

from todoplan.testing.adapters import ALL, AdapterSuite, Definition, ModelTurn, Ran, Seen
from todoplan.testing.adapters import Capability as Can

FILTERED = ModelTurn(text="I cannot", finish="refusal")
"""What the provider has filtered."""


class Scripted(Model):
    def __init__(self, script):
        self.script = script

    async def stream(self, messages, tool_specs=(), system_prompt="", **_):
        sent = [Seen("system", system_prompt), *seen(messages)]  # with the reminder at its tail
        turn = await self.script.areply(sent, map(_offered, tool_specs))
        yield {"messageStart": {"role": "assistant"}}
        for start, delta in _blocks(turn):
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
        end = "content_filtered" if turn.finish else "end_turn"
        yield {"messageStop": {"stopReason": "tool_use" if turn.calls else end}}

    async def structured_output(self, output_model, prompt, system_prompt=None, **_):
        yield {}

    def update_config(self, **_): ...

    def get_config(self): ...


def _offered(tool):
    return Definition(tool["name"], tool["description"], tool["inputSchema"]["json"])


def _blocks(turn):
    if turn.thoughts:
        yield {}, {"reasoningContent": {"text": turn.thoughts}}
    if turn.text:
        yield {}, {"text": turn.text}
    for call in turn.calls:
        use = {"toolUseId": call.call_id, "name": call.name}
        yield {"toolUse": use}, {"toolUse": {"input": json.dumps(call.arguments)}}


def seen(messages):
    for message in messages:
        for block in message["content"]:
            if "toolResult" in block:
                result = block["toolResult"]
                text = "".join(part["text"] for part in result["content"])
                yield Seen("tool", text, result["toolUseId"], result["status"] == "error")
            elif "text" in block:
                yield Seen(message["role"], block["text"])


class Strands:
    def __init__(self, setup, folder):
        self.setup, self.folder = setup, folder

    def agent(self, session, script=None):  # anew from the framework's own files, each time
        planning = Planning(self.setup.toolbox, self.setup.settings, self.setup.clock)
        files = FileSessionManager(session, self.folder)
        own = {"agent_id": "helper", "system_prompt": "You work.", "callback_handler": None}
        return Agent(Scripted(script), plugins=[planning], session_manager=files, **own)

    def seed(self, session, plan):
        agent = self.agent(session)
        seed_plan(agent, plan)
        agent._session_manager.sync_agent(agent)

    def plan(self, session):
        return plan_of_state(self.agent(session))

    def edit(self, session, command, actor):
        raise NotImplementedError  # never asked for: `EDITS` is taken out below

    async def run(self, session, script):
        agent = self.agent(session, script)
        await agent.invoke_async("go")
        return Ran([*seen(agent.messages)])

    def saved(self):
        return str(self.folder)

    def resume(self, saved):
        self.folder = saved


class TestStrands(AdapterSuite):
    capabilities = ALL - {Can.RAW_ARGUMENTS, Can.TEXT_ARGUMENTS, Can.LONG_NUMBERS, Can.BROKEN_TEXTS}
    capabilities -= {Can.EVENTS, Can.EDITS, Can.LIVE_EDITS, Can.LISTED, Can.RETURNS, Can.VERIFIER}

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.folder = tmp_path

    def host(self, setup):
        return Strands(setup, mkdtemp(dir=self.folder))
