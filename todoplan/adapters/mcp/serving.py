"""Running a server: over stdio, or over streamable HTTP behind its guard."""

import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import IO, Any, TextIO

import uvicorn
from anyio import wrap_file
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route

from todoplan.adapters.mcp.access import Access, Guard

__all__ = ["http_server", "listen_at", "make_app", "serve_stdio"]

_LAST_WORDS = 1  # seconds that open streams have when the server ends


async def serve_stdio(server: Any) -> None:
    """
    Serve the one client at the other end of stdin and stdout, until it hangs up.
    """
    with _again(sys.stdin, "r") as stdin, _again(sys.stdout, "w") as stdout:
        async with stdio_server(wrap_file(stdin), wrap_file(stdout)) as (read, write):
            await server.run(read, write, server.create_initialization_options())


def _again(stream: TextIO, mode: str) -> IO[str]:
    """
    Return a stream's file opened once more: mcp 1.x closes what it was given.
    """
    return os.fdopen(os.dup(stream.fileno()), mode, encoding="utf-8", errors="replace")


def make_app(server: Any, access: Access | None = None) -> Starlette:
    """
    Return the ASGI application: the server's plan at `/mcp`, others by their id at `/mcp/<id>`.

    Nobody passes whom `access` does not know: from this machine only, unless told otherwise.
    """
    manager = StreamableHTTPSessionManager(server)
    guarded = Guard(manager.handle_request, access or Access())

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    routes = [Route("/mcp", guarded), Route("/mcp/{plan_id}", guarded)]
    return Starlette(routes=routes, lifespan=lifespan)


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


def http_server(server: Any, access: Access | None = None) -> uvicorn.Server:
    """
    Return the HTTP server: `await .serve(sockets=[listener])` runs it until the process is asked to
    end, or `should_exit` is set.
    """
    config = uvicorn.Config(
        make_app(server, access),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_LAST_WORDS,
    )
    return uvicorn.Server(config)
