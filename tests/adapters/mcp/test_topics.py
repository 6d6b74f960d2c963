"""Who is told: connections that went away or do not listen hold up nobody and are forgotten."""

import asyncio
from types import SimpleNamespace

import anyio
import pytest

from todoplan.adapters.mcp import topics
from todoplan.adapters.mcp.server import Desk
from todoplan.adapters.mcp.topics import Sessions
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
    told, known = [], Sessions()

    async def send(uri):
        told.append(uri)

    async def run():
        one, same, other, _ = made = sessions_of(send, 2)
        for session in made:
            known.add(session)
        await known.publish(URI)
        known.remove(same)
        known.remove(one)
        await known.publish(URI)
        known.remove(other)
        await known.publish(URI)

    asyncio.run(run())
    assert told == [URI] * 3


@pytest.mark.parametrize("gone", [anyio.ClosedResourceError, anyio.BrokenResourceError, None])
def test_who_does_not_hear_is_forgotten(gone, monkeypatch):
    """A closed connection, and one that does not take what it is sent, are told once at most."""
    monkeypatch.setattr(topics, "_PATIENCE", 0)
    told, known = [], Sessions()

    async def send(uri):
        told.append(uri)
        if gone:
            raise gone
        await anyio.sleep_forever()

    async def run():
        known.add(sessions_of(send, 1)[0])
        await known.publish(URI)
        await known.publish(URI)

    asyncio.run(run())
    assert told == [URI]


def test_the_oldest_of_too_many_is_forgotten(monkeypatch):
    """Clients that come and go without a word do not fill the memory."""
    monkeypatch.setattr(topics, "_MOST", 3)
    told, known = [], Sessions()

    async def send(uri):
        told.append(uri)

    async def run():
        kept = sessions_of(send, 5)
        for session in kept:
            known.add(session)
        await known.publish(URI)

    asyncio.run(run())
    assert len(told) == 3


class Bus:
    """As mcp 2.x has it: what is published is heard by whoever has a request open."""

    def __init__(self):
        self.published = []

    async def publish(self, event):
        self.published.append(event)


SUBSCRIPTIONS = SimpleNamespace(
    InMemorySubscriptionBus=Bus,
    ListenHandler=lambda bus: lambda context, params: (bus, context, params),
    ResourceUpdated=lambda uri: {"uri": uri},
)


def test_open_requests_are_told_by_what_mcp_brings(monkeypatch):
    """Where mcp serves `subscriptions/listen`, each plan has a bus, and its changes go there."""
    monkeypatch.setattr(topics, "modern_subscriptions", lambda: SUBSCRIPTIONS)
    planners = {"plan": AsyncPlanner(), "other": AsyncPlanner()}
    desk = Desk(planners.__getitem__, "plan", structured=True)
    context = SimpleNamespace(request=None)
    elsewhere = SimpleNamespace(request=SimpleNamespace(path_params={"plan_id": "other"}))
    bus, *asked = desk.listen(context, "params")
    other, *_ = desk.listen(elsewhere, "params")

    asyncio.run(planners["plan"].apply(CreateTask("Dig")))
    assert asked == [context, "params"]
    assert (bus.published, other.published) == ([{"uri": URI}], [])
