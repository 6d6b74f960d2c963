"""DeepAgents over ACP: its server draws the plan of our middleware as it is."""

import asyncio
import os
import sys
from pathlib import Path

from acp import PROTOCOL_VERSION, Client, spawn_agent_process, text_block

TESTS = Path(__file__).parents[1]
AGENT = """
import asyncio
from acp import run_agent
from deepagents import create_deep_agent
from deepagents_acp.server import AgentServerACP
from langgraph.checkpoint.memory import InMemorySaver
from support.scripted_server import Scripted, middleware

made = create_deep_agent(
    model=Scripted(), middleware=[middleware()], checkpointer=InMemorySaver()
)
asyncio.run(run_agent(AgentServerACP(made)))
"""


def test_the_plan_is_drawn_as_it_is(tmp_path):
    """Of the task tools, which that server has never heard of."""
    shown = []

    class Editor(Client):
        async def session_update(self, session_id, update, **kwargs):
            if update.session_update == "plan":
                shown.append([(entry.content, entry.status) for entry in update.entries])

    async def run():
        path = os.pathsep.join((str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")))
        async with spawn_agent_process(
            Editor(), sys.executable, "-c", AGENT, env={**os.environ, "PYTHONPATH": path}
        ) as (agent, _):
            await agent.initialize(protocol_version=PROTOCOL_VERSION)
            session = await agent.new_session(cwd=str(tmp_path), mcp_servers=[])
            said = [text_block("Plan the garden")]
            await agent.prompt(session_id=session.session_id, prompt=said)

    asyncio.run(run())
    # Of parallel calls that server draws each by itself, in the order in which they come.
    assert [("Sow", "pending"), ("Reap", "pending")] in shown
    assert shown[-1] == [("Sow", "in_progress"), ("Reap", "pending")]
