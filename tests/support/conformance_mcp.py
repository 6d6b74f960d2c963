"""The MCP server under the conformance suite: the real client, a plan id for each session."""

import asyncio
import threading
from concurrent.futures import Future

from support.mcp_client import connected

from todoplan.adapters.mcp import make_server
from todoplan.planner import Planner
from todoplan.stores.file import FileStore
from todoplan.testing.adapters import Definition, Ran, Seen


def _offered(tool):
    return Definition(tool["name"], tool["description"], tool["inputSchema"])


class Connections:
    """A loop in a thread of its own, in which connections stay open between the runs of a check."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._talks = []

    def submit(self, work):
        """Run a coroutine in that loop; return its future."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def open(self, server, era):
        """Connect, in a task that lasts until the end; return what takes work for the client."""
        asked = asyncio.Queue()

        async def talk():
            async with connected(server, era) as client:
                while (one := await asked.get()) is not None:
                    work, done = one
                    try:
                        done.set_result(await work(client))
                    except Exception as error:  # noqa: BLE001 - the check is to raise it, not this task
                        done.set_exception(error)

        self._talks.append((asyncio.ensure_future(talk()), asked))
        return asked

    def asked(self, client, work):
        """Have a client do something; return the future."""
        done = Future()
        self._loop.call_soon_threadsafe(client.put_nowait, (work, done))
        return done

    def close(self):
        """End all connections, and the thread."""

        async def end():
            for _, asked in self._talks:
                asked.put_nowait(None)
            await asyncio.gather(*(task for task, _ in self._talks))

        self.submit(end()).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class MCP:
    """
    A file of plans. Each session is a connection to a server of its own on it, until a restart.
    """

    def __init__(self, setup, era, file, connections):
        self.setup, self.era, self.file, self.connections = setup, era, file, connections
        self.store, self.clients = FileStore(file), {}

    def seed(self, session, plan):
        Planner(self.store, session).restore(plan)

    def edit(self, session, command, actor):
        return Planner(self.store, session).apply(command, actor=actor)

    def plan(self, session):
        return self.store.load(session)

    def saved(self):
        return str(self.file)

    def resume(self, saved):
        self.file, self.store, self.clients = saved, FileStore(saved), {}

    async def run(self, session, script):
        seen, before = [], len(self.store.entries(session))

        async def talk(client):
            script.offer(map(_offered, await client.tools()))
            for turn in script.turns:
                for call in turn.calls:
                    result = await client.call(call.name, call.arguments)
                    (content,) = result["content"]
                    seen.append(Seen("tool", content["text"], call.call_id, result["isError"]))

        if session not in self.clients:
            given = {"clock": self.setup.clock, "verify": self.setup.verify}
            server = make_server(self.setup.toolbox, store=self.store, plan_id=session, **given)
            opening = self.connections.submit(self.connections.open(server, self.era))
            self.clients[session] = await asyncio.wrap_future(opening)
        await asyncio.wrap_future(self.connections.asked(self.clients[session], talk))
        entries = self.store.entries(session)[before:]
        return Ran(seen, [event for entry in entries for event in entry.events])
