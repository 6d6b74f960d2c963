"""
Who is told that a plan changed.

A client of the handshake subscribes with its session; since protocol 2026-07-28 it keeps a request
open, which mcp 2.x serves. A connection knows one of the two ways, so nobody is told twice.
"""

from collections.abc import Awaitable
from contextlib import suppress
from importlib import import_module
from typing import Any

import anyio
from pydantic import AnyUrl

from todoplan.adapters.mcp.clients import Clients
from todoplan.adapters.mcp.shapes import plan_uri
from todoplan.planner import AsyncPlanner

__all__ = ["Connections", "OpenRequests", "Topic", "modern_subscriptions"]

_PATIENCE = 1.0  # seconds: who does not read is forgotten, and would hold up the call that tells
_MOST = 1_000  # clients that vanish do not unsubscribe, and mcp 1.x does not say that they are gone


def modern_subscriptions() -> Any:
    """
    Return the module with which mcp 2.x serves `subscriptions/listen`; `None` on mcp 1.x.
    """
    with suppress(ModuleNotFoundError):
        return import_module("mcp.server.subscriptions")
    return None


class Connections:
    """
    The sessions that subscribed, one for each connection.

    mcp 2.x makes a session object for each request. What the client said of itself in the handshake
    is one object for the whole connection in both versions: that tells connections apart.
    """

    def __init__(self) -> None:
        self._sessions: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def add(self, session: Any) -> None:
        """
        Tell this connection from now on. Of more than 1,000 the oldest is forgotten.
        """
        self._sessions[id(session.client_params)] = session
        for oldest in list(self._sessions)[:-_MOST]:
            del self._sessions[oldest]

    def remove(self, session: Any) -> None:
        """
        Tell this connection no more.
        """
        self._sessions.pop(id(session.client_params), None)

    async def publish(self, uri: str) -> None:
        """
        Tell every connection at once; one that is closed, or does not read, is forgotten.
        """
        async with anyio.create_task_group() as group:
            # A copy: others subscribe while these are told, and who does not hear is removed.
            for key, session in tuple(self._sessions.items()):
                group.start_soon(self._publish_to, key, session, uri)

    async def _publish_to(self, key: int, session: Any, uri: str) -> None:
        if not await _was_sent(session, uri):
            self._sessions.pop(key, None)


async def _was_sent(session: Any, uri: str) -> bool:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        with anyio.move_on_after(_PATIENCE):
            await session.send_resource_updated(AnyUrl(uri))
            return True
    return False


class OpenRequests:
    """
    The requests that stay open to be told, as mcp 2.x serves them: `answer` keeps one open.
    """

    def __init__(self, subscriptions: Any) -> None:
        self._bus = subscriptions.InMemorySubscriptionBus()
        self._updated = subscriptions.ResourceUpdated
        self._handler = subscriptions.ListenHandler(self._bus)
        self.count = 0

    async def answer(self, context: Any, params: Any) -> Any:
        """
        Keep a request open until its client closes it.
        """
        self.count += 1
        try:
            return await self._handler(context, params)
        finally:
            self.count -= 1

    async def publish(self, uri: str) -> None:
        """
        Tell every open request that asked for this address.
        """
        await self._bus.publish(self._updated(uri=uri))


class Topic:
    """
    One plan, the clients that call, and those who want to know of its changes.
    """

    def __init__(self, plan_id: str, planner: AsyncPlanner) -> None:
        self.plan_id = plan_id
        self.uri = plan_uri(plan_id)
        self.planner = planner
        self.clients = Clients(planner)
        self.connections = Connections()
        modern = modern_subscriptions()
        self._open_requests = [OpenRequests(modern)] if modern else []
        planner.subscribe(self._changed)

    def listen(self, context: Any, params: Any) -> Awaitable[Any]:
        """
        Keep a request open and tell it of changes (mcp 2.x).
        """
        return self._open_requests[0].answer(context, params)

    @property
    def is_followed(self) -> bool:
        """
        Whether somebody wants to know of changes.
        """
        return bool(self.connections) or any(each.count for each in self._open_requests)

    async def _changed(self, *_: Any) -> None:
        ways: list[Connections | OpenRequests] = [self.connections, *self._open_requests]
        for way in ways:
            await way.publish(self.uri)
