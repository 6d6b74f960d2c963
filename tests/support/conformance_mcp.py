"""The MCP server under the conformance suite: the real client, a plan id for each session."""

from support.mcp_client import connected

from todoplan.adapters.mcp import make_server
from todoplan.planner import Planner
from todoplan.stores.file import FileStore
from todoplan.testing.adapters import Definition, Ran, Seen


def _offered(tool):
    return Definition(tool["name"], tool["description"], tool["inputSchema"])


class MCP:
    """
    A file of plans. Every run is a server of its own on it, with one client.
    """

    def __init__(self, setup, era, file):
        self.setup, self.era, self.file = setup, era, file
        self.store = FileStore(file)

    def seed(self, session, plan):
        Planner(self.store, session).restore(plan)

    def edit(self, session, command, actor):
        return Planner(self.store, session).apply(command, actor=actor)

    def plan(self, session):
        return self.store.load(session)

    def saved(self):
        return str(self.file)

    def resume(self, saved):
        self.file, self.store = saved, FileStore(saved)

    async def run(self, session, script):
        seen, before = [], len(self.store.entries(session))
        setup = self.setup
        given = {"clock": setup.clock, "verify": setup.verify, "plan_id": session}
        server = make_server(setup.toolbox, store=self.store, **given)
        async with connected(server, self.era) as client:
            script.offer(map(_offered, await client.tools()))
            for turn in script.turns:
                for call in turn.calls:
                    result = await client.call(call.name, call.arguments)
                    (content,) = result["content"]
                    seen.append(Seen("tool", content["text"], call.call_id, result["isError"]))
        entries = self.store.entries(session)[before:]
        return Ran(seen, [event for entry in entries for event in entry.events])
