"""The Claude Agent SDK under the conformance suite: a scripted program, plans in a file."""

import asyncio

from claude_agent_sdk import ClaudeAgentOptions, query
from support.claude_agent_sdk_cli import ScriptedCLI

from todoplan.adapters.claude_agent_sdk import (
    Planning,
    attach,
    edit_plan,
    history_of,
    plan_of_state,
    seed_plan,
)
from todoplan.stores.file import FileStore
from todoplan.testing.adapters import Definition, Ran, Seen


class ClaudeAgentSDK:
    """One planning for all sessions, whose plans are in a file."""

    def __init__(self, setup, file):
        self.setup = setup
        self.resume(file)

    def resume(self, saved):
        self.file = saved
        given = {"clock": self.setup.clock, "verify": self.setup.verify}
        settings = self.setup.settings
        self.planning = Planning(self.setup.toolbox, settings, store=FileStore(saved), **given)
        self.options = attach(ClaudeAgentOptions(), self.planning)

    def saved(self):
        return str(self.file)

    def seed(self, session, plan):
        asyncio.run(seed_plan(self.planning, session, plan))

    def edit(self, session, command, actor):
        return asyncio.run(edit_plan(self.planning, session, command, actor=actor))

    def plan(self, session):
        return asyncio.run(plan_of_state(self.planning, session))

    async def run(self, session, script):
        before = len(await history_of(self.planning, session))
        program = ScriptedCLI(*script.turns, session=session)
        async for message in query(prompt="go", options=self.options, transport=program):
            assert not message.is_error, message
        script.offer(
            Definition(tool["name"], tool["description"], tool["inputSchema"])
            for tool in program.tools
        )
        seen = [
            Seen("tool", answer["content"][0]["text"], call_id, answer["isError"])
            for call_id, answer in program.answers.items()
        ]
        entries = (await history_of(self.planning, session))[before:]
        return Ran(seen, [event for entry in entries for event in entry.events])
