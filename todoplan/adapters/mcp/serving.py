"""
Running a server over streamable HTTP, with access checks and limits.

`Guard` checks each HTTP request: whether the client may use the server, the plan id, and the size
of the body. By default, mcp's session manager checks neither Host nor Origin, not even in 1.30;
CVE-2025-66416 is about such a default. So `todoplan.web` checks them, with every version of mcp.

`Limits` limits requests, connections and sessions, and `Sessions` ends idle sessions. Otherwise a
client that sends slowly, disappears, or opens many sessions would block other clients. mcp counts
and ends sessions since 1.30. mcp 1.27 does not: it also keeps a session for each request that did
not open one, and never frees ended sessions. So sessions are counted here, before mcp. To end a
session, a DELETE request is sent to mcp, as a client would do.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import attrs
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from todoplan.adapters.mcp.server import PLAN_ID
from todoplan.web import (
    DEEPEST,
    Access,
    is_too_deep,
    listen_at,  # noqa: F401 - a public name of the package
    read_body,
    refused,
    sent_again,
    server_of,
)

_ID = "mcp-session-id"
_FULL = "too many sessions are open; end one of them, or try again later\n"


@attrs.frozen
class Limits:
    """
    The limits of the HTTP server: bytes and seconds of a request, open sessions, and connections.

    A request must arrive within `head_seconds` (its headers) and `body_seconds` (its body). A
    session ends when it was not used for `idle_seconds`. An open stream counts as use.
    """

    # mcp 1.30 itself allows 4 MiB and 10,000 sessions, and ends sessions after the same half hour.
    body_bytes: int = 1024 * 1024
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    sessions: int = 1_000
    idle_seconds: float = 1_800.0
    connections: int = 2_000


@attrs.define
class _Session:
    """The number of open requests of a session, and the time of its last use."""

    open: int
    used: float


class Sessions:
    """ASGI middleware in front of mcp's session manager. It counts and ends the sessions."""

    def __init__(self, manager: Any, limits: Limits) -> None:
        self._manager = manager
        self._limits = limits
        self._sessions: dict[str, _Session] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to mcp, and update the state of its session."""
        headers = Headers(scope=scope)
        known, opened = headers.get(_ID), None
        # A request of protocol 2026-07-28 has a version header and no session. A request that opens
        # a session has neither a version header nor a session id.
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
            # End the session if mcp made it for a request that did not open one, or if concurrent
            # requests have exceeded the limit.
            refused = opened and (not session or len(self._sessions) > self._limits.sessions)
            if refused or scope["method"] == "DELETE":
                # Without the shield, a cancelled request could not await the end of the session.
                with anyio.CancelScope(shield=True):
                    await self._end(known or opened or "")

    async def end_idle(self) -> None:
        """End idle sessions periodically; this never returns."""
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
            """Discard the response."""

        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._manager.handle_request(scope, receive, send)
        # mcp 1.27 keeps ended sessions until the server ends.
        getattr(self._manager, "_server_instances", {}).pop(session_id, None)


@attrs.frozen(eq=False)
class Guard:
    """ASGI middleware that checks each request, reads its body, and then calls `app`."""

    app: ASGIApp
    access: Access
    limits: Limits = Limits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or let `app` answer it."""
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


def make_app(server: Any, access: Access | None = None, limits: Limits | None = None) -> Starlette:
    """
    Return the ASGI application, with the server's plan at `/mcp` and other plans at `/mcp/<id>`.

    `server` is what `make_server` has returned. `access` decides which clients may use the
    application; by default, those on this machine.
    """
    limits = limits or Limits()
    # mcp's own check of Host and Origin stays off; the guard checks them with every version of mcp.
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
    Return the HTTP server for `make_app(server, access, limits)`.

    `await server.serve(sockets=[listener])` runs the server until the process receives a signal to
    end or `should_exit` is set.
    """
    limits = limits or Limits()
    app = make_app(server, access, limits)
    return server_of(app, head_seconds=limits.head_seconds, connections=limits.connections)
