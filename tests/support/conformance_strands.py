"""Strands Agents under the conformance suite: real agents with a scripted model."""

from strands import Agent
from strands.session.file_session_manager import FileSessionManager
from support import strands_host
from support.conformance import PlanningHost, events_of
from support.strands_host import seen

from todoplan.adapters import strands
from todoplan.testing.adapters import Ran


class Scripted(strands_host.Scripted):
    """Answers from the script. `changing` has how many last blocks of each request may change."""

    def __init__(self, script):
        super().__init__(script)
        self.changing = []

    def stream(self, *given, **more):
        self.changing.append(more.get("dynamic_trailing_blocks", 0))
        return super().stream(*given, **more)


class Strands(PlanningHost):
    """A new agent for each run, loaded from the framework's own files."""

    adapter = strands

    def __init__(self, setup, folder):
        super().__init__(setup)
        self.folder = folder

    def place(self, session, script=None):
        files = FileSessionManager(session, self.folder)
        own = {"agent_id": "helper", "system_prompt": "You work.", "callback_handler": None}
        return Agent(Scripted(script), plugins=[self.planning], session_manager=files, **own)

    async def run(self, session, script):
        agent = self.place(session, script)
        before = len(strands.history_of(agent))
        await agent.invoke_async("go")
        return Ran([*seen(agent.messages)], events_of(strands.history_of(agent)[before:]))

    def saved(self):
        return str(self.folder)

    def resume(self, saved):
        self.folder = saved
