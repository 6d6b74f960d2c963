"""Connections as mcp shows them to the handlers: whose session it is, who is told of a change."""

import asyncio
import sys
from types import SimpleNamespace

import anyio
import pytest

from todoplan.adapters.mcp import server
from todoplan.adapters.mcp.server import Handlers
from todoplan.core.commands import CreateTask
from todoplan.planner import AsyncPlanner
from todoplan.stores.memory import MemoryStore

LATER = "2026-07-28"
URI = "todoplan://plan/plan"


async def hears(_=None):
    """Take what is sent."""


class Desk(Handlers):
    """Handlers with a store in memory."""

    def __init__(self):
        self.store = MemoryStore()
        super().__init__(lambda plan_id: AsyncPlanner(self.store, plan_id), "plan")


class Connection:
    """A client's connection; each of its requests comes with another session object."""

    def __init__(self, desk, name="agent", plan="plan", version="2025-11-25", send=hears):
        self.desk, self.plan, self.version, self.send = desk, plan, version, send
        self.said = name and SimpleNamespace(clientInfo=SimpleNamespace(name=name))
        self.own = f"The work of {id(self)}"

    def context(self):
        session = SimpleNamespace(client_params=self.said, send_resource_updated=self.send)
        request = SimpleNamespace(path_params={"plan_id": self.plan})
        return SimpleNamespace(session=session, request=request, protocol_version=self.version)

    async def write(self, text=None):
        params = {"todos": [{"content": text or self.own, "status": "pending"}]}
        call = SimpleNamespace(name="write_todos", arguments=params)
        await self.desk.call_tool(self.context(), call)
        return self

    async def is_known(self):
        """Whether its next list drops what it has written: another session's list would not."""
        await self.write("Sow")
        return all(task.subject != self.own for task in self.desk.store.load(self.plan))

    async def subscribe(self, what="subscribe"):
        uri = f"todoplan://plan/{self.plan}"
        await getattr(self.desk, what)(self.context(), SimpleNamespace(uri=uri))
        return self


@pytest.mark.parametrize(
    ("name", "actor"),
    [("a\nb\x1b" + "c" * 90, "ab" + "c" * 38), ("\n", None), ("   ", None), (None, None)],
)
def test_a_name_is_one_line_and_not_for_ever(name, actor):
    """Whatever a client calls itself stands in the journal; it may have no name."""
    desk = Desk()
    asyncio.run(Connection(desk, name).write())
    assert [entry.actor for entry in desk.store.entries("plan")] == [actor]


@pytest.mark.parametrize(
    ("name", "other", "version", "is_same"),
    [
        ("a", "a", LATER, True),
        ("a", "b", LATER, False),
        (None, None, LATER, True),
        ("a", "a", "2025-11-25", False),
    ],
)
def test_without_connections_a_name_is_the_session(name, other, version, is_same):
    """Protocol 2026-07-28: every request comes alone. Before, two windows have one name."""

    async def run():
        desk = Desk()
        first = await Connection(desk, name, version=version).write()
        second = Connection(desk, other, version=version)
        second.own = first.own
        return await second.is_known()

    assert asyncio.run(run()) is is_same


def test_of_many_sessions_the_longest_away_is_forgotten(monkeypatch):
    """A connection is one session for as long as it is known."""
    monkeypatch.setattr("todoplan.planner.steps.MOST_REMEMBERED", 3)

    async def run():
        desk = Desk()
        first, second, third = [await Connection(desk).write() for _ in range(3)]
        await first.write()
        await Connection(desk).write()
        return [await each.is_known() for each in (third, first, second)]

    assert asyncio.run(run()) == [True, True, False]


def test_plans_that_nobody_follows_are_forgotten(monkeypatch):
    """However many a client names: kept are those that somebody follows, and the latest."""
    monkeypatch.setattr(server, "_MOST", 3)

    async def run():
        desk = Desk()
        plans = {plan: Connection(desk, plan=plan) for plan in "abcdef"}
        await (await plans["a"].subscribe()).write()
        for plan in "bcdce":
            await plans[plan].write()
        found = [await plans[plan].is_known() for plan in "acb"]
        for plan in "cb":
            await plans[plan].subscribe()
        await plans["f"].write()
        return [*found, await plans["f"].is_known()]

    assert asyncio.run(run()) == [True, True, False, True]


def told(*sends, changes=2):
    """Subscribe connections that are told by these functions; return who was told, in order."""
    heard = []

    async def run():
        desk = Desk()
        for number, send in enumerate(sends):

            async def tell(uri, number=number, send=send):
                assert str(uri) == URI
                heard.append(number)
                await send()

            await Connection(desk, send=tell).subscribe()
        with anyio.fail_after(60):
            for change in range(changes):
                await desk.topic("plan").planner.apply(CreateTask(f"{change}"))

    asyncio.run(run())
    return heard


async def closed():
    raise anyio.ClosedResourceError


async def broken():
    raise anyio.BrokenResourceError


@pytest.mark.parametrize("deaf", [closed, broken, anyio.sleep_forever])
def test_who_does_not_hear_is_forgotten(deaf, monkeypatch):
    """A closed connection, and one that does not take what it is sent, are told once at most."""
    monkeypatch.setattr(server, "_PATIENCE", 0.01)
    assert sorted(told(deaf, hears)) == [0, 1, 1]


def test_the_oldest_of_too_many_is_forgotten(monkeypatch):
    """Clients that come and go without a word do not fill the memory."""
    monkeypatch.setattr("todoplan.planner.steps.MOST_REMEMBERED", 3)
    assert sorted(told(*[hears] * 5, changes=1)) == [2, 3, 4]


def test_connections_are_told_at_once(monkeypatch):
    """One that does not read holds up no other."""
    monkeypatch.setattr(server, "_PATIENCE", 60)
    both = anyio.Event()

    async def heard_by_another():
        both.set()

    assert sorted(told(both.wait, heard_by_another, changes=1)) == [0, 1]


def test_a_connection_is_one_however_many_sessions_it_has():
    """The session of a later request takes the place of the earlier one."""
    heard = []

    async def hear(uri):
        heard.append(str(uri))

    async def run():
        desk = Desk()
        one, other = (Connection(desk, send=hear) for _ in range(2))
        for each in (one, one, other, other):
            await each.subscribe()
        for leaving in (one, other, other):
            await desk.topic("plan").planner.apply(CreateTask("Dig"))
            await leaving.subscribe("unsubscribe")

    asyncio.run(run())
    assert heard == [URI] * 3


class Bus(list):
    """As mcp 2.x has it: what is published is heard by whoever has a request open."""

    async def publish(self, event):
        self.append(event)


async def listened(*given):
    return given


SUBSCRIPTIONS = SimpleNamespace(
    InMemorySubscriptionBus=Bus,
    ListenHandler=lambda bus: lambda context, params: listened(bus, context, params),
    ResourceUpdated=lambda uri: {"uri": uri},
)


def test_open_requests_are_told_by_what_mcp_brings(monkeypatch):
    """Where mcp serves `subscriptions/listen`, each plan has a bus, and its changes go there."""
    monkeypatch.setitem(sys.modules, "mcp.server.subscriptions", SUBSCRIPTIONS)

    async def run():
        desk = Desk()
        context = Connection(desk).context()
        bus, *asked = await desk.listen(context, "params")
        other, *_ = await desk.listen(Connection(desk, plan="other").context(), "params")
        await Connection(desk).write()
        return asked == [context, "params"], bus, other

    assert asyncio.run(run()) == (True, [{"uri": URI}], [])
