"""Strands Agents under the conformance suite: real agents with a scripted model."""

import asyncio
import json

from strands import Agent
from strands.models.model import Model
from strands.session.file_session_manager import FileSessionManager

from todoplan.adapters.strands import Planning, edit_plan, history_of, plan_of_state, seed_plan
from todoplan.testing.adapters import Definition, Ran, Seen


class Scripted(Model):
    """Says what the script says. `requests` are the numbers of blocks that change at the tail."""

    def __init__(self, script):
        self.script, self.changing = script, []

    async def stream(self, messages, tool_specs=(), system_prompt="", **more):
        self.changing.append(more.get("dynamic_trailing_blocks", 0))
        sent = [Seen("system", system_prompt), *seen(messages)]
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

    def update_config(self, **_):
        """Do nothing: there is no configuration."""

    def get_config(self):
        return {}


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
    """Yield the messages of a conversation, as the suite reads them."""
    for message in messages:
        for block in message["content"]:
            if "toolResult" in block:
                result = block["toolResult"]
                text = "".join(part["text"] for part in result["content"])
                yield Seen("tool", text, result["toolUseId"], result["status"] == "error")
            elif "text" in block:
                yield Seen(message["role"], block["text"])


class Strands:
    """An agent for each run, anew from the framework's own files."""

    def __init__(self, setup, folder):
        self.setup, self.folder = setup, folder
        given = {"clock": setup.clock, "verify": setup.verify}
        self.planning = Planning(setup.toolbox, setup.settings, **given)

    def agent(self, session, script=None):
        files = FileSessionManager(session, self.folder)
        own = {"agent_id": "helper", "system_prompt": "You work.", "callback_handler": None}
        return Agent(Scripted(script), plugins=[self.planning], session_manager=files, **own)

    def seed(self, session, plan):
        asyncio.run(seed_plan(self.planning, self.agent(session), plan))

    def plan(self, session):
        return plan_of_state(self.agent(session))

    def edit(self, session, command, actor):
        return asyncio.run(edit_plan(self.planning, self.agent(session), command, actor=actor))

    async def run(self, session, script):
        agent = self.agent(session, script)
        before = len(history_of(agent))
        await agent.invoke_async("go")
        events = [event for entry in history_of(agent)[before:] for event in entry.events]
        return Ran([*seen(agent.messages)], events)

    def saved(self):
        return str(self.folder)

    def resume(self, saved):
        self.folder = saved
