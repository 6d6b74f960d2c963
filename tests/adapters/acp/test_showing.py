"""When a plan is sent: real connections of the official package, both ends in this process."""

import asyncio
import logging
import socket
import threading
from contextlib import asynccontextmanager

import pytest
from acp import Agent, Client, connect_to_agent
from acp.core import AgentSideConnection

from todoplan.adapters.acp import show_plan
from todoplan.core.commands import CreateTask, UpdateTask
from todoplan.planner import AsyncPlanner, Planner
from todoplan.stores.memory import MemoryStore

PATIENCE = 60


class Idle(Agent):
    """An agent that is asked nothing."""


class Editor(Client):
    """Keeps what it is shown."""

    def __init__(self):
        self.shown, self._news = [], asyncio.Event()

    async def session_update(self, session_id, update, **kwargs):
        """Take a plan."""
        self.shown.append((session_id, update))
        self._news.set()

    async def until(self, count):
        """Wait for a plan of so many entries."""
        while not self.shown or len(_entries(self.shown[-1][1])) != count:
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), PATIENCE)


def _entries(update):
    return update.entries if update.session_update == "plan" else update.plan.entries


@asynccontextmanager
async def connected():
    """An agent's connection, the editor at its other end, and what closes it."""
    editor = Editor()
    pair = [await asyncio.open_connection(sock=end) for end in socket.socketpair()]
    (agent_reads, agent_writes), (editor_reads, editor_writes) = pair
    agent = AgentSideConnection(Idle(), agent_writes, agent_reads)
    client = connect_to_agent(editor, editor_writes, editor_reads)
    try:
        yield agent, editor, client
    finally:
        await agent.close()
        await client.close()
        for _, writer in pair:
            writer.close()


def run(test):
    """Run a coroutine function that takes agent, editor and the editor's connection."""

    async def begin():
        async with connected() as ends:
            await test(*ends)

    asyncio.run(begin())


@pytest.mark.parametrize("make", [Planner, AsyncPlanner])
@pytest.mark.parametrize("plan_id", [None, "garden"])
def test_a_plan_is_shown_at_once_and_after_every_change(make, plan_id):
    """By whichever planner; one that nobody has written yet is not shown, an emptied one is."""

    async def test(agent, editor, _):
        planner = make(MemoryStore(), "garden")

        async def act(command):
            done = planner.apply(command)
            return await done if isinstance(planner, AsyncPlanner) else done

        end = await show_plan(agent, "s1", planner, plan_id=plan_id)
        await asyncio.sleep(0)
        assert editor.shown == []
        await act(CreateTask("Sow"))
        await editor.until(1)
        await end()
        await act(CreateTask("Reap"))
        again = await show_plan(agent, "s2", planner, plan_id=plan_id)
        await editor.until(2)
        await again()
        assert [session for session, _ in editor.shown] == ["s1", "s2"]
        if plan_id is not None:
            assert {shown.plan.plan_id for _, shown in editor.shown} == {plan_id}

    run(test)


def test_changes_in_other_threads_are_shown():
    """In the order in which they came; stopping waits until the last one is sent."""

    async def test(agent, editor, _):
        planner = Planner(MemoryStore(), "garden")
        end = await show_plan(agent, "s1", planner)

        def work():
            for number in range(50):
                planner.apply(CreateTask(f"Bed {number}"))

        worker = threading.Thread(target=work)
        worker.start()
        await asyncio.to_thread(worker.join)
        await end()
        await editor.until(50)
        revisions = [update.field_meta["todoplan"]["revision"] for _, update in editor.shown]
        assert revisions == sorted(set(revisions))
        planner.apply(UpdateTask("1", status="completed"))
        await asyncio.sleep(0)
        assert editor.shown[-1][1].entries[0].status == "pending"

    run(test)


def test_what_other_processes_do_is_shown_while_the_planner_follows():
    """Another planner on the same store stands for them."""

    async def test(agent, editor, _):
        store = MemoryStore()
        planner = AsyncPlanner(store, "garden")
        end = await show_plan(agent, "s1", planner, plan_id=None)
        following = asyncio.create_task(planner.follow())
        await asyncio.sleep(0)
        Planner(store, "garden").apply(CreateTask("Sow"))
        await editor.until(1)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await end()

    run(test)


def test_a_client_that_is_gone_is_told_no_more(caplog):
    """It is said once, and the plan goes on."""

    async def test(agent, editor, client):
        planner = AsyncPlanner(MemoryStore(), "garden")
        end = await show_plan(agent, "s1", planner)
        await agent.close()
        with caplog.at_level(logging.ERROR, "todoplan"):
            for subject in ("Sow", "Reap"):
                assert (await planner.apply(CreateTask(subject))).events
                await asyncio.sleep(0.05)
        await end()
        assert editor.shown == []

    run(test)
    assert [record.message for record in caplog.records] == [
        "the client of session 's1' gets no more plans: sending one failed"
    ]


def test_a_loop_that_has_ended_holds_up_nobody(caplog):
    """A planner may live longer than the loop in which its plan was shown."""
    planner = Planner(MemoryStore(), "garden")

    async def test(agent, editor, _):
        await show_plan(agent, "s1", planner)

    run(test)
    assert planner.apply(CreateTask("Sow")).events
    assert caplog.records == []
