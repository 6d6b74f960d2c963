"""The Claude Agent SDK under the conformance suite: a scripted program, plans in a file."""

from claude_agent_sdk import ClaudeAgentOptions, query
from support.claude_agent_sdk_cli import ScriptedCLI
from support.conformance_planning import PlanningHost, events_of, result

from todoplan.adapters import claude_agent_sdk
from todoplan.stores.file import FileStore
from todoplan.testing.adapters import Definition, Ran, Seen


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
