"""Running a server: over stdio, or over streamable HTTP behind its guard."""

import os
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

from todoplan.adapters.mcp.access import Access, Guard
from todoplan.adapters.mcp.sessions import Limits, Sessions
from todoplan.web.serving import listen_at, server_of

__all__ = ["http_server", "listen_at", "make_app", "serve_stdio"]


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


def http_server(
    server: Any, access: Access | None = None, limits: Limits | None = None
) -> uvicorn.Server:
    """
    Return the HTTP server: `await .serve(sockets=[listener])` runs it until the process is asked to
    end, or `should_exit` is set.
    """
    limits = limits or Limits()
    return server_of(
        make_app(server, access, limits),
        head_seconds=limits.head_seconds,
        connections=limits.connections,
    )
