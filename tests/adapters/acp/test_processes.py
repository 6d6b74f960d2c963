"""An agent and a client of the official package, each a process of its own, over stdio."""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from acp import PROTOCOL_VERSION, Client, spawn_agent_process, text_block

from todoplan import Planner, Task, plan_of
from todoplan.core.commands import CreateTask, UpdateTask
from todoplan.core.plan.model import Waiting
from todoplan.stores.file import FileStore

pytestmark = pytest.mark.slow

AGENT = Path(__file__).parents[2] / "support" / "acp_agent.py"
PATIENCE = 60


class Editor(Client):
    """Keeps what it is to draw, as an editor does."""

    def __init__(self):
        self.shown, self._news = [], asyncio.Event()

    async def session_update(self, session_id, update, **kwargs):
        """Take a plan; the later one replaces the earlier one."""
        self.shown.append(update)
        self._news.set()

    async def until(self, wanted):
        """Wait for a plan that is as wanted, and return it."""
        while not (self.shown and wanted(self.shown[-1])):
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), PATIENCE)
        return self.shown[-1]


@asynccontextmanager
async def session(path, *arguments):
    """Begin a session with the agent."""
    editor = Editor()
    command = (sys.executable, str(AGENT), str(path), *arguments)
    async with spawn_agent_process(
        editor, *command, env=os.environ, use_unstable_protocol=True
    ) as (agent, _):
        await agent.initialize(protocol_version=PROTOCOL_VERSION)
        await agent.new_session(cwd=str(path.parent), mcp_servers=[])

        async def call(tool, **arguments):
            said = text_block(f"{tool} {json.dumps(arguments)}")
            answer = await agent.prompt(session_id="s1", prompt=[said])
            return answer.stop_reason

        yield editor, call


def test_every_change_reaches_the_client(tmp_path):
    """From the first task on; each update is the whole plan, with ids and edges."""

    async def run():
        async with session(tmp_path / "plans.json") as (editor, call):
            assert await call("TaskCreate", subject="Sow", description="In rows") == "end_turn"
            first = await editor.until(lambda update: len(update.entries) == 1)
            await call("TaskCreate", subject="Reap", description="By hand")
            await call("TaskUpdate", taskId="2", addBlockedBy=["1"])
            await call("TaskUpdate", taskId="1", status="in_progress")
            last = await editor.until(lambda update: update.entries[0].status == "in_progress")
            assert await call("TaskUpdate", taskId="9", status="completed") == "refusal"
            return first, last

    first, last = asyncio.run(run())
    assert first.session_update == last.session_update == "plan"
    assert [(entry.content, entry.priority) for entry in last.entries] == [
        ("Sow", "medium"),
        ("Reap", "medium"),
    ]
    metas = [entry.field_meta["todoplan"] for entry in last.entries]
    assert metas[0] == {"id": "1", "status": "in_progress"}
    assert metas[1] == {"id": "2", "status": "pending", "blocked_by": ["1"]}
    assert first.field_meta["todoplan"]["revision"] < last.field_meta["todoplan"]["revision"]


def test_a_plan_that_is_there_is_shown_at_once(tmp_path):
    """As `plan_update` with its id, where the client takes that."""
    path = tmp_path / "plans.json"
    planner = Planner(FileStore(path), "garden")
    planner.restore(plan_of([Task("1", "Sow"), Task("2", "Choose a bed")]))
    planner.apply(UpdateTask("1", status="failed"))
    planner.apply(UpdateTask("2", waiting=Waiting("for bob", question="North or south?")))
    planner.apply(CreateTask("Dream", status="cancelled"))

    async def run():
        async with session(path, "garden") as (editor, _):
            return await editor.until(lambda update: update.session_update == "plan_update")

    shown = asyncio.run(run()).plan
    assert (shown.type, shown.plan_id) == ("items", "garden")
    assert [(entry.content, entry.status) for entry in shown.entries] == [
        ("Sow (failed)", "pending"),
        ("Choose a bed (waiting: for bob; asks: North or south?)", "pending"),
    ]
    assert [entry.field_meta["todoplan"]["status"] for entry in shown.entries] == [
        "failed",
        "pending",
    ]
