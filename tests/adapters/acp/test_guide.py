"""The guide's program: an editor runs it as it is shown."""

import asyncio
import os
import sys

import pytest
from acp import PROTOCOL_VERSION, Client, spawn_agent_process, text_block
from support.docs import fenced


@pytest.mark.slow
def test_the_smallest_program_shows_its_plan(tmp_path):
    """All that it did has been sent when its turn ends."""
    agent = tmp_path / "agent.py"
    agent.write_text(fenced("acp", "code: agent", "python"), "utf-8")
    shown = []

    class Editor(Client):
        async def session_update(self, session_id, update, **kwargs):
            shown.append(update)

    async def run():
        async with spawn_agent_process(Editor(), sys.executable, str(agent), env=os.environ) as (
            connection,
            _,
        ):
            await connection.initialize(protocol_version=PROTOCOL_VERSION)
            session = await connection.new_session(cwd=str(tmp_path))
            await connection.prompt(session_id=session.session_id, prompt=[text_block("Go")])

    asyncio.run(run())
    assert [(entry.content, entry.status) for entry in shown[-1].entries] == [
        ("Sow beans", "completed"),
        ("Reap", "pending"),
    ]
