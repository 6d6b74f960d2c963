"""An ACP agent over stdio whose plan moves with each prompt; run by a client as a process."""

import asyncio
import sys

from acp import PROTOCOL_VERSION, Agent, InitializeResponse, NewSessionResponse, PromptResponse
from acp import run_agent as serve
from acp.schema import AgentCapabilities

from todoplan import TASKS, Toolbox
from todoplan.adapters.acp import show_plan
from todoplan.planner import AsyncPlanner
from todoplan.stores.file import FileStore


class Gardener(Agent):
    """Each prompt is a line "TOOL JSON", as a model would call it."""

    def __init__(self, path, plan_id):
        self._planner = AsyncPlanner(FileStore(path), "garden", toolbox=Toolbox(TASKS))
        self._plan_id = plan_id
        self._client = None

    def on_connect(self, conn):
        """Keep the connection: it is how the client is told."""
        self._client = conn

    async def initialize(self, protocol_version, client_capabilities=None, **kwargs):
        """Say which version is spoken."""
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION, agent_capabilities=AgentCapabilities()
        )

    async def new_session(self, cwd, mcp_servers=None, **kwargs):
        """Show the plan in the session."""
        await show_plan(self._client, "s1", self._planner, plan_id=self._plan_id)
        return NewSessionResponse(session_id="s1")

    async def prompt(self, prompt, session_id, **kwargs):
        """Make the call."""
        tool, _, arguments = prompt[0].text.partition(" ")
        reply = await self._planner.call(tool, arguments, actor="gardener")
        return PromptResponse(stop_reason="refusal" if reply.is_error else "end_turn")


if __name__ == "__main__":
    path, *plan_id = sys.argv[1:]
    asyncio.run(serve(Gardener(path, plan_id[0] if plan_id else None), use_unstable_protocol=True))
