"""MCP passes the conformance suite, in this process: a connection for each session."""

import asyncio
from itertools import count

import pytest
from support.conformance import events_of
from support.mcp_client import ERAS, Connections

from todoplan.adapters.mcp import make_server
from todoplan.planner import Planner
from todoplan.stores.file import FileStore
from todoplan.testing.adapters import ALL, AdapterSuite, Capability, Definition, Ran, Seen


def _offered(tool):
    return Definition(tool["name"], tool["description"], tool["inputSchema"])


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
        return Ran(seen, events_of(entries))


NO_MODEL = {
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


class TestMCP(AdapterSuite):
    capabilities = ALL - NO_MODEL

    @pytest.fixture(autouse=True, params=ERAS)
    def _files(self, request, tmp_path):
        self.era, self.files = request.param, (tmp_path / f"{n}.json" for n in count())
        self.connections = Connections()
        yield
        self.connections.close()

    def host(self, setup):
        return MCP(setup, self.era, next(self.files), self.connections)
