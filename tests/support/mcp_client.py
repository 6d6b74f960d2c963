"""The client of the package mcp, 1.x or 2.x, behind one interface; results are as on the wire."""

import asyncio
import contextlib
import sys
import threading
import warnings
from concurrent.futures import Future

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


class Declaring(mcp.ClientSession):
    """
    A client of mcp 1.x that names extensions among its capabilities, for which 1.x has no argument.
    """

    extensions = None

    async def send_request(self, request, *rest, **more):
        opening = isinstance(getattr(request, "root", None), mcp.types.InitializeRequest)
        if opening and self.extensions is not None:
            request.root.params.capabilities.extensions = self.extensions
        return await super().send_request(request, *rest, **more)


class Peer:
    """A connected client. Notifications of the server are kept until they are read."""

    def __init__(self, era, extensions=None):
        self.era, self.extensions, self.session, self.frames = era, extensions, None, 0
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

    async def prompts(self):
        return (await self._wire(self.session.list_prompts()))["prompts"]

    async def prompt(self, name, **arguments):
        return (await self._wire(self.session.get_prompt(name, arguments)))["messages"]

    async def resources(self):
        return (await self._wire(self.session.list_resources()))["resources"]

    async def read(self, uri):
        return (await self._wire(self.session.read_resource(self._uri(uri))))["contents"]

    @contextlib.asynccontextmanager
    async def subscribed(self, uri, *, times=1):
        """Subscribe to a resource's changes, as the protocol of the era has it."""
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
        """Return the address that the next notification names."""
        with anyio.fail_after(PATIENCE):
            return await self._updates.receive()

    def updates(self):
        """Return the number of unread notifications."""
        return self._updates.statistics().current_buffer_used

    def _uri(self, uri):
        return uri if MODERN else AnyUrl(uri)

    async def _wire(self, result):
        return (await result).model_dump(mode="json", by_alias=True, exclude_none=True)

    def close(self):
        self._told.close()
        self._updates.close()


@contextlib.asynccontextmanager
async def connected(server, era="legacy", extensions=None):
    """Connect to a transport, or to a server in this process; the client names its extensions."""
    peer = Peer(era, extensions)
    with contextlib.closing(peer):
        async with _session(server, peer) as peer.session:
            yield peer


@contextlib.asynccontextmanager
async def _session(server, peer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if MODERN:
            from mcp.client import advertise  # noqa: PLC0415 - mcp 2.x has it

            named = [advertise(*extension) for extension in (peer.extensions or {}).items()]
            more = {"message_handler": peer.hear, "extensions": named}
            async with mcp.Client(server, mode=peer.era, **more) as client:
                yield client
        elif hasattr(server, "run") and peer.extensions is not None:
            async with _in_process(server) as streams, _handshake(*streams, peer) as session:
                yield session
        elif hasattr(server, "create_initialization_options"):
            connect = memory.create_connected_server_and_client_session
            async with connect(server, message_handler=peer.hear) as session:
                yield session
        else:
            async with server as (read, write, *_), _handshake(read, write, peer) as session:
                yield session


@contextlib.asynccontextmanager
async def _handshake(read, write, peer):
    async with Declaring(read, write, message_handler=peer.hear) as session:
        session.extensions = peer.extensions
        await session.initialize()
        yield session


@contextlib.asynccontextmanager
async def _in_process(server):
    async with (
        memory.create_client_server_memory_streams() as (ours, its),
        anyio.create_task_group() as group,
    ):
        group.start_soon(server.run, *its, server.create_initialization_options())
        yield ours
        group.cancel_scope.cancel()


@contextlib.asynccontextmanager
async def over_stdio(file, era="legacy", **options):
    """Serve a file by a process of its own, and connect to it."""
    line = command(file, **options)
    parameters = StdioServerParameters(command=line[0], args=line[1:], env=environment())
    async with connected(stdio_client(parameters), era) as peer:
        yield peer


@contextlib.asynccontextmanager
async def over_http(url, era="legacy", extensions=None, **headers):
    """Connect to a URL."""
    async with (
        create_mcp_http_client(headers=headers) as client,
        connected(streamable_http_client(url, http_client=client), era, extensions) as peer,
    ):
        yield peer


def asked(talk, *options, cwd=None, extensions=None, **variables):
    """Start `todoplan mcp` with these options; return the result of `talk`, which gets a client."""
    line = ["-m", "todoplan", "mcp", *map(str, options)]
    env = {**environment(), **variables}
    server = StdioServerParameters(command=sys.executable, args=line, env=env, cwd=cwd)

    async def run():
        async with connected(stdio_client(server), extensions=extensions) as client:
            return await talk(client)

    return asyncio.run(run())


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
        """Connect, in a task that lasts until `close`; return a queue of work for the client."""
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
        """Let a client do some work; return a future of the result."""
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
