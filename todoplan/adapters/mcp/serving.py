"""Running a server: over stdio, or over streamable HTTP behind its guard."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import IO, Any, TextIO

import anyio
import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from todoplan.adapters.mcp.access import Access, Guard
from todoplan.adapters.mcp.sessions import Limits, Sessions

__all__ = ["http_server", "listen_at", "make_app", "serve_stdio"]

_GRACE_SECONDS = 1  # that open streams have when the server ends: they would go on for ever


async def serve_stdio(server: Any) -> None:
    """
    Serve the one client at the other end of stdin and stdout, until it hangs up.
    """
    with _again(sys.stdin, "r") as stdin, _again(sys.stdout, "w") as stdout:
        async with stdio_server(anyio.wrap_file(stdin), anyio.wrap_file(stdout)) as (read, write):
            await server.run(read, write, server.create_initialization_options())


def _again(stream: TextIO, mode: str) -> IO[str]:
    """
    Return a stream's file opened once more: mcp 1.x closes what it was given.
    """
    return os.fdopen(os.dup(stream.fileno()), mode, encoding="utf-8", errors="replace")


def make_app(server: Any, access: Access | None = None, limits: Limits | None = None) -> Starlette:
    """
    Return the ASGI application: the server's plan at `/mcp`, others by their id at `/mcp/<id>`.

    Nobody passes whom `access` does not know: from this machine only, unless told otherwise.
    """
    limits = limits or Limits()
    # Its own check of Host and Origin stays off: the guard has checked before, on every version.
    manager = StreamableHTTPSessionManager(server)
    sessions = Sessions(manager, limits)
    guarded = Guard(sessions, access or Access(), limits)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run(), anyio.create_task_group() as group:
            group.start_soon(sessions.end_idle)
            yield
            group.cancel_scope.cancel()

    routes = [Route("/mcp", guarded), Route("/mcp/{plan_id}", guarded)]
    return Starlette(routes=routes, lifespan=lifespan)


# Of h11, which uvicorn always brings; httptools comes with an extra only.
class _Deadline(H11Protocol):
    """
    A connection that is closed unless it sends the head of a request within some seconds.

    uvicorn waits for one for ever, and a few thousand silent connections would be all it can hold.
    """

    head_seconds: float
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """
        Begin to wait.
        """
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """
        Wait on if the head is not there yet.
        """
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """
        Wait no more.
        """
        super().connection_lost(exc)
        self._stop_waiting()

    def _wait(self) -> None:
        # There is no cycle before the first request.
        if not getattr(self.cycle, "response_complete", True):
            self._stop_waiting()  # the head has come; its body is the guard's matter
        elif self._waiting is None:
            self._waiting = self.loop.call_later(self.head_seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def listen_at(host: str, port: int) -> tuple[socket.socket, str]:
    """
    Return a socket that listens, and the server's URL; port 0 is any that is free.

    Raises:
        OSError: it is taken, or no address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family)
    shown = f"[{host}]" if ":" in host else host
    return listener, f"http://{shown}:{listener.getsockname()[1]}/mcp"


def http_server(
    server: Any, access: Access | None = None, limits: Limits | None = None
) -> uvicorn.Server:
    """
    Return the HTTP server: `await .serve(sockets=[listener])` runs it until the process is asked to
    end, or `should_exit` is set.
    """
    limits = limits or Limits()
    config = uvicorn.Config(
        make_app(server, access, limits),
        # uvicorn makes one for each connection and hands it nothing of ours, so a class carries it.
        http=type("_Protocol", (_Deadline,), {"head_seconds": limits.head_seconds}),
        # A connection beyond these is answered with 503: each costs a socket and a task.
        limit_concurrency=limits.connections,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    return uvicorn.Server(config)
