"""The Claude Agent SDK passes the conformance suite, with a program that plays the script."""

from itertools import count

import pytest
from claude_agent_sdk import ClaudeAgentOptions, query
from support.claude_agent_sdk_cli import ScriptedCLI
from support.conformance import PlanningHost, events_of, result

from todoplan.adapters import claude_agent_sdk
from todoplan.stores.file import FileStore
from todoplan.testing.adapters import ALL, AdapterSuite, Capability, Definition, Ran, Seen


class ClaudeAgentSDK(PlanningHost):
    """One planning for all sessions, whose plans are in a file."""

    adapter = claude_agent_sdk

    def __init__(self, setup, file):
        super().__init__(setup, store=FileStore(file))
        self.file = file
        self.options = claude_agent_sdk.attach(ClaudeAgentOptions(), self.planning)

    def resume(self, saved):
        self.__init__(self.setup, saved)

    def saved(self):
        return str(self.file)

    def place(self, session):
        return session

    def plan(self, session):
        return result(claude_agent_sdk.plan_of_state(self.planning, session))

    async def run(self, session, script):
        before = len(await claude_agent_sdk.history_of(self.planning, session))
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
        entries = await claude_agent_sdk.history_of(self.planning, session)
        return Ran(seen, events_of(entries[before:]))


class TestClaudeAgentSDK(AdapterSuite):
    # The model runs in another program, which keeps what a hook has told. It is sent to the model
    # and not to us: no thoughts, no finish, no text of arguments. It makes calls one by one.
    capabilities = ALL - {
        Capability.MODEL,
        Capability.TURNS,
        Capability.REMINDERS,
        Capability.FURTHER_TURNS,
        Capability.FINISH,
        Capability.THOUGHTS,
        Capability.TEXT_ARGUMENTS,
        Capability.RAW_ARGUMENTS,
        Capability.LONG_NUMBERS,
        Capability.RETURNS,
    }

    @pytest.fixture(autouse=True)
    def _files(self, tmp_path):
        self.files = (tmp_path / f"{number}.json" for number in count())

    def host(self, setup):
        return ClaudeAgentSDK(setup, next(self.files))
