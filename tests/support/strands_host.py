"""Strands Agents under the conformance suite: the guide's adapter, a scripted model, sessions."""

import json
from types import SimpleNamespace

from strands import Agent
from strands.models.model import Model
from strands.session.file_session_manager import FileSessionManager
from support.docs import defined, fenced

from todoplan.testing.adapters import Definition, ModelTurn, Ran, Seen


def shown(mark):
    """
    Return the names that a block of the guide defines, and its code.
    """
    page = "write-an-adapter"
    return SimpleNamespace(**defined(page, mark), code=fenced(page, f"code: {mark}", "python"))


ADAPTER = shown("strands")
FILTERED = ModelTurn(text="I cannot", finish="refusal")
"""What the provider has filtered."""


class Scripted(Model):
    """
    Says what a script says, as a stream of Strands' events.
    """

    def __init__(self, script):
        self.script = script

    def update_config(self, **model_config):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, output_model, prompt, system_prompt=None, **kwargs):
        yield {}

    async def stream(self, messages, tool_specs=None, system_prompt=None, **kwargs):
        request = [Seen("system", system_prompt), *seen(messages)]
        turn = await self.script.areply(request, map(_offered, tool_specs))
        yield {"messageStart": {"role": "assistant"}}
        if turn.thoughts:
            for event in _block({}, {"reasoningContent": {"text": turn.thoughts}}):
                yield event
        if turn.text:
            for event in _block({}, {"text": turn.text}):
                yield event
        for call in turn.calls:
            use = {"toolUseId": call.call_id, "name": call.name}
            delta = {"toolUse": {"input": _text(call.arguments)}}
            for event in _block({"toolUse": use}, delta):
                yield event
        stop = "content_filtered" if turn.finish else "end_turn"
        yield {"messageStop": {"stopReason": "tool_use" if turn.calls else stop}}


def _offered(tool):
    return Definition(tool["name"], tool["description"], tool["inputSchema"]["json"])


def _block(start, delta):
    yield {"contentBlockStart": {"start": start}}
    yield {"contentBlockDelta": {"delta": delta}}
    yield {"contentBlockStop": {}}


def _text(arguments):
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def seen(messages):
    """
    Yield messages as the suite reads them, a block each.
    """
    for message in messages:
        for block in message["content"]:
            if "toolResult" in block:
                result = block["toolResult"]
                text = "".join(part["text"] for part in result["content"])
                yield Seen("tool", text, result["toolUseId"], result["status"] == "error")
            elif "text" in block:
                yield Seen(message["role"], block["text"])


class Strands:
    """
    Agents whose sessions are files of Strands' own; every run builds its agent from them.
    """

    def __init__(self, setup, folder):
        self.setup, self.folder = setup, folder

    def agent(self, session, script=None):
        planning = ADAPTER.Planning(self.setup.toolbox, self.setup.settings, self.setup.clock)
        return Agent(
            model=Scripted(script),
            system_prompt="You work.",
            plugins=[planning],
            agent_id="helper",
            callback_handler=None,
            session_manager=FileSessionManager(session, self.folder),
        )

    def seed(self, session, plan):
        agent = self.agent(session)
        ADAPTER.seed_plan(agent, plan)
        agent._session_manager.sync_agent(agent)

    def plan(self, session):
        return ADAPTER.plan_of_state(self.agent(session))

    def saved(self):
        return str(self.folder)

    def resume(self, saved):
        self.folder = saved

    async def run(self, session, script):
        agent = self.agent(session, script)
        await agent.invoke_async("go")
        return Ran([*seen(agent.messages)])
