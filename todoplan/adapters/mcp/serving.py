"""
Running a server: over stdio, or over streamable HTTP behind its guard.

The guard says who may talk to the server, about which plan, and how much may be sent. mcp's session
manager checks neither Host nor Origin unless it is asked to, 1.30 included; CVE-2025-66416 is about
such a default. So `todoplan.web` checks them, on every version of mcp.

How much of an HTTP server its clients may take: requests, connections and sessions that end.

A client that sends slowly, goes away without a word or opens session after session would hold what
others need. mcp counts and ends sessions itself since 1.30; 1.27 does neither, keeps a session for
each request that opened none, and forgets no ended one. So they are counted here, before mcp, and
ended as a client ends them: by a DELETE.
"""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import IO, Any, TextIO

import anyio
import attrs
import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from todoplan.adapters.mcp.server import PLAN_ID
from todoplan.web.access import Access, refused
from todoplan.web.bodies import DEEPEST, is_too_deep, read_body, sent_again
from todoplan.web.serving import server_of

_ID = "mcp-session-id"
_FULL = "too many sessions are open; end one of them, or try again later\n"


@attrs.frozen
class Limits:
    """
    What a client may take: bytes and seconds of a request, sessions, and connections of all.

    A session ends when nobody has used it for `idle_seconds`; an open stream uses it.
    """

    # mcp 1.30 itself takes 4 MiB and 10,000 sessions, and ends them after the same half hour.
    body_bytes: int = 1024 * 1024
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    sessions: int = 1_000
    idle_seconds: float = 1_800.0
    connections: int = 2_000


@attrs.define
class _Session:
    """How many requests a session is answering, and when it was last used."""

    open: int
    used: float


class Sessions:
    """An ASGI application before mcp's manager of sessions: it knows every session by its id."""

    def __init__(self, manager: Any, limits: Limits) -> None:
        self._manager = manager
        self._limits = limits
        self._sessions: dict[str, _Session] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, and note what becomes of its session."""
        headers = Headers(scope=scope)
        known, opened = headers.get(_ID), None
        # A request of protocol 2026-07-28 has no session; one that opens a session has no version.
        opening = known is None and "mcp-protocol-version" not in headers
        if opening and len(self._sessions) >= self._limits.sessions:
            await PlainTextResponse(_FULL, 503)(scope, receive, send)
            return

        async def noting(message: Message) -> None:
            nonlocal opened
            if known is None and message["type"] == "http.response.start":
                opened = MutableHeaders(raw=message["headers"]).get(_ID)
                if opened and message["status"] < 400:  # noqa: PLR2004 - HTTP's own line
                    self._sessions[opened] = _Session(1, anyio.current_time())
            await send(message)

        session = self._sessions.get(known or "")
        if session:
            session.open += 1
        try:
            await self._manager.handle_request(scope, receive, noting)
        finally:
            session = session or self._sessions.get(opened or "")
            if session:
                session.open -= 1
                session.used = anyio.current_time()
            # A request that opened no session was given one all the same; and one too many may
            # have come in beside others.
            refused = opened and (not session or len(self._sessions) > self._limits.sessions)
            if refused or scope["method"] == "DELETE":
                # In a scope that anyio has cancelled every await raises: the session would stay.
                with anyio.CancelScope(shield=True):
                    await self._end(known or opened or "")

    async def end_idle(self) -> None:
        """End sessions that nobody uses, for ever."""
        while True:
            await anyio.sleep(self._limits.idle_seconds / 4)
            latest = anyio.current_time() - self._limits.idle_seconds
            for session_id, session in tuple(self._sessions.items()):
                if not session.open and session.used <= latest:
                    await self._end(session_id)

    async def _end(self, session_id: str) -> None:
        self._sessions.pop(session_id, None)
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "DELETE",
            "path": "/mcp",
            "query_string": b"",
            "headers": [(b"host", b"localhost"), (_ID.encode(), session_id.encode())],
            "path_params": {},
        }

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(_: Message) -> None:
            """Nobody asked."""

        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._manager.handle_request(scope, receive, send)
        # mcp 1.27 keeps those that have ended until the server does.
        getattr(self._manager, "_server_instances", {}).pop(session_id, None)


@attrs.frozen(eq=False)
class Guard:
    """An ASGI application before another one: what passes has been checked, and its body read."""

    app: ASGIApp
    access: Access
    limits: Limits = Limits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or hand it on."""
        headers, limits = Headers(scope=scope), self.limits
        body: bytes | Response | None = self.access.refusal(headers)
        if body is None and not PLAN_ID.fullmatch(scope["path_params"].get("plan_id", "plan")):
            body = refused(404, "a plan's id is 1 to 64 letters, digits, - and _")
        if body is None:
            body = await read_body(headers, receive, limits.body_bytes, limits.body_seconds)
        if isinstance(body, bytes) and is_too_deep(body):
            body = refused(400, f"this is no JSON, or is nested more than {DEEPEST} deep")
        if isinstance(body, bytes):
            await self.app(scope, sent_again(body, receive), send)
        else:
            await body(scope, receive, send)


async def serve_stdio(server: Any) -> None:
    """Serve the one client at the other end of stdin and stdout, until it hangs up."""
    with _again(sys.stdin, "r") as stdin, _again(sys.stdout, "w") as stdout:
        async with stdio_server(anyio.wrap_file(stdin), anyio.wrap_file(stdout)) as (read, write):
            await server.run(read, write, server.create_initialization_options())


def _again(stream: TextIO, mode: str) -> IO[str]:
    """Return a stream's file opened once more: mcp 1.x closes what it was given."""
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
    app = make_app(server, access, limits)
    return server_of(app, head_seconds=limits.head_seconds, connections=limits.connections)
