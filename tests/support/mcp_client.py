"""The real client of mcp 1.x or 2.x, whichever is installed, as one: results as on the wire."""

import contextlib
import warnings

import anyio
import mcp
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared import exceptions, memory
from mcp.shared._httpx_utils import create_mcp_http_client
from pydantic import AnyUrl
from support.mcp_server import command, environment

MODERN = hasattr(mcp, "Client")
ERAS = ("legacy", "auto") if MODERN else ("legacy",)
"""How to connect: with the handshake, or as protocol 2026-07-28 has it (mcp 2.x only)."""

ProtocolError = exceptions.MCPError if MODERN else exceptions.McpError
PATIENCE = 20


class Peer:
    """
    A connected client. What the server tells unasked is kept until it is looked at.
    """

    def __init__(self, era):
        self.era, self.session, self.frames = era, None, 0
        self._told, self._updates = anyio.create_memory_object_stream(100)

    async def hear(self, message):
        message = getattr(message, "root", message)
        if getattr(message, "method", "") == "notifications/resources/updated":
            self.frames += 1
            if self.era != "auto":
                await self._told.send(str(message.params.uri))

    async def tools(self):
        return (await self._wire(self.session.list_tools()))["tools"]

    async def call(self, name, arguments=None):
        return await self._wire(self.session.call_tool(name, arguments or {}))

    async def resources(self):
        return (await self._wire(self.session.list_resources()))["resources"]

    async def read(self, uri):
        return (await self._wire(self.session.read_resource(self._uri(uri))))["contents"]

    @contextlib.asynccontextmanager
    async def subscribed(self, uri, *, times=1):
        """
        Be told of a resource's changes, in the way of the era.
        """
        if self.era == "auto":
            async with (
                self.session.listen(resource_subscriptions=[uri]) as listening,
                anyio.create_task_group() as group,
            ):
                group.start_soon(self._follow, listening)
                yield
                group.cancel_scope.cancel()
            return
        for _ in range(times):
            await self._deprecated(self.session.subscribe_resource, uri)
        yield
        await self._deprecated(self.session.unsubscribe_resource, uri)

    async def _follow(self, listening):
        async for event in listening:
            await self._told.send(event.uri)

    async def _deprecated(self, method, uri):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return await method(self._uri(uri))

    async def update(self):
        """
        Return the address that the next notification names.
        """
        with anyio.fail_after(PATIENCE):
            return await self._updates.receive()

    def updates(self):
        """
        Return how many notifications wait.
        """
        return self._updates.statistics().current_buffer_used

    def _uri(self, uri):
        return uri if MODERN else AnyUrl(uri)

    async def _wire(self, result):
        return (await result).model_dump(mode="json", by_alias=True, exclude_none=True)

    def close(self):
        self._told.close()
        self._updates.close()


@contextlib.asynccontextmanager
async def connected(server, era="legacy"):
    """
    Connect to a transport, or to a server in this process.
    """
    peer = Peer(era)
    with contextlib.closing(peer):
        async with _session(server, peer) as peer.session:
            yield peer


@contextlib.asynccontextmanager
async def _session(server, peer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if MODERN:
            async with mcp.Client(server, mode=peer.era, message_handler=peer.hear) as client:
                yield client
        elif hasattr(server, "create_initialization_options"):
            connect = memory.create_connected_server_and_client_session
            async with connect(server, message_handler=peer.hear) as session:
                yield session
        else:
            async with (
                server as (read, write, *_),
                mcp.ClientSession(read, write, message_handler=peer.hear) as session,
            ):
                await session.initialize()
                yield session


@contextlib.asynccontextmanager
async def over_stdio(file, era="legacy", **options):
    """
    Serve a file by a process of its own, and connect to it.
    """
    line = command(file, **options)
    parameters = StdioServerParameters(command=line[0], args=line[1:], env=environment())
    async with connected(stdio_client(parameters), era) as peer:
        yield peer


@contextlib.asynccontextmanager
async def over_http(url, era="legacy", **headers):
    """
    Connect to a URL.
    """
    async with (
        create_mcp_http_client(headers=headers) as client,
        connected(streamable_http_client(url, http_client=client), era) as peer,
    ):
        yield peer
