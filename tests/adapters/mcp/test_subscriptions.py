"""Who is told: connections that went away or do not listen hold up nobody and are forgotten."""

import asyncio
import sys
from types import SimpleNamespace

import anyio
import pytest

from todoplan.adapters.mcp import server
from todoplan.adapters.mcp.server import Handlers, Topic
from todoplan.core.commands import CreateTask
from todoplan.planner import AsyncPlanner

URI = "todoplan://plan/plan"


class Session:
    """One request's view of a connection; what it is told goes through `send`."""

    def __init__(self, connection, send):
        self.client_params, self._send = connection, send

    async def send_resource_updated(self, uri):
        await self._send(str(uri))


def sessions_of(send, count):
    """Two views of each of so many connections."""
    connections = [object() for _ in range(count)]
    return [Session(connection, send) for connection in connections for _ in range(2)]


def test_a_connection_is_one_however_many_sessions_it_has():
    """The session of a later request takes the place of the earlier one."""
    told, known = [], Topic("plan", AsyncPlanner())

    async def send(uri):
        told.append(uri)

    async def run():
        one, same, other, _ = made = sessions_of(send, 2)
        for session in made:
            known.subscribe(session)
        await known._changed()
        known.unsubscribe(same)
        known.unsubscribe(one)
        await known._changed()
        known.unsubscribe(other)
        await known._changed()

    asyncio.run(run())
    assert told == [URI] * 3


@pytest.mark.parametrize("gone", [anyio.ClosedResourceError, anyio.BrokenResourceError, None])
def test_who_does_not_hear_is_forgotten(gone, monkeypatch):
    """A closed connection, and one that does not take what it is sent, are told once at most."""
    monkeypatch.setattr(server, "_PATIENCE", 0)
    told, known = [], Topic("plan", AsyncPlanner())

    async def send(uri):
        told.append(uri)
        if gone:
            raise gone
        await anyio.sleep_forever()

    async def run():
        known.subscribe(sessions_of(send, 1)[0])
        await known._changed()
        await known._changed()

    asyncio.run(run())
    assert told == [URI]


def test_the_oldest_of_too_many_is_forgotten(monkeypatch):
    """Clients that come and go without a word do not fill the memory."""
    monkeypatch.setattr("todoplan.planner.session.MOST_REMEMBERED", 3)
    told, known = [], Topic("plan", AsyncPlanner())

    async def send(uri):
        told.append(uri)

    async def run():
        kept = sessions_of(send, 5)
        for session in kept:
            known.subscribe(session)
        await known._changed()

    asyncio.run(run())
    assert len(told) == 3


def test_connections_are_told_at_once(monkeypatch):
    """One that does not read holds up no other."""
    told, known = [], Topic("plan", AsyncPlanner())

    async def run():
        both = anyio.Event()

        async def send(uri):
            told.append(uri)
            if len(told) == 2:
                both.set()
            await both.wait()

        for session in sessions_of(send, 2):
            known.subscribe(session)
        with anyio.fail_after(60):
            await known._changed()

    monkeypatch.setattr(server, "_PATIENCE", 60)
    asyncio.run(run())
    assert told == [URI] * 2


def test_plans_that_nobody_follows_are_forgotten(monkeypatch):
    """However many a client names: kept are those that somebody follows, and the latest."""
    monkeypatch.setattr(server, "_MOST", 3)
    handlers = Handlers(lambda plan_id: AsyncPlanner(), "plan", structured=True)
    followed = handlers.topic("a")
    followed.subscribe(Session(object(), None))
    kept = [handlers.topic(plan_id) for plan_id in ("b", "c", "d", "c", "e")]
    assert handlers.topic("a") is followed
    assert handlers.topic("c") is kept[1]
    assert handlers.topic("b") is not kept[0]
    for topic in (handlers.topic("c"), handlers.topic("b")):
        topic.subscribe(Session(object(), None))
    assert handlers.topic("f") is handlers.topic("f")


class Bus:
    """As mcp 2.x has it: what is published is heard by whoever has a request open."""

    def __init__(self):
        self.published = []

    async def publish(self, event):
        self.published.append(event)


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
    planners = {"plan": AsyncPlanner(), "other": AsyncPlanner()}
    desk = Handlers(planners.__getitem__, "plan", structured=True)
    context = SimpleNamespace(request=None)
    elsewhere = SimpleNamespace(request=SimpleNamespace(path_params={"plan_id": "other"}))
    bus, *asked = asyncio.run(desk.listen(context, "params"))
    other, *_ = asyncio.run(desk.listen(elsewhere, "params"))

    asyncio.run(planners["plan"].apply(CreateTask("Dig")))
    assert asked == [context, "params"]
    assert (bus.published, other.published) == ([{"uri": URI}], [])
