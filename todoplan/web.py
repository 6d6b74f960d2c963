"""
HTTP server code that the MCP server and the board share.

This module has three sections: `access` checks whether a request is allowed, `bodies` limits
request bodies, and `serving` runs a server. The extras `board` and `mcp` install what it needs,
Starlette and uvicorn.
"""

import asyncio
import re
import socket
from collections.abc import Sequence
from hmac import compare_digest
from ipaddress import ip_address
from typing import Any

import anyio
import attrs
import uvicorn
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive
from uvicorn.protocols.http.h11_impl import H11Protocol

from todoplan.errors import TodoplanError

# -------- access --------
# Access control for HTTP servers. It comes before any parsing of a request.
#
# A web page that a person visits can send requests to servers on that person's machine. Such a
# request has a foreign Host header, or the browser adds a foreign Origin header.


_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HOST = r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?"
_HOST_HEADER = re.compile(_HOST, re.IGNORECASE)
_ORIGIN_HEADER = re.compile(f"https?://{_HOST}", re.IGNORECASE)


def _trimmed(token: str | None) -> str | None:
    """Remove spaces around a token, such as a final newline. Return `None` if nothing is left."""
    return (token or "").strip() or None


@attrs.frozen
class Access:
    """
    The conditions for a request: its Host and Origin must be in `hosts`, and it must send `token`.

    If `token` is `None`, requests need no token. Spaces around a token are ignored.
    """

    hosts: tuple[str, ...] = _LOOPBACK
    token: str | None = attrs.field(default=None, repr=False, converter=_trimmed)

    @property
    def is_local(self) -> bool:
        """Whether `hosts` names only this machine."""
        return all(_is_loopback(host.strip("[]")) for host in self.hosts)

    @classmethod
    def at(
        cls,
        host: str,
        token: str | None = None,
        names: Sequence[str] = (),
        *,
        variable: str = "TODOPLAN_MCP_TOKEN",
    ) -> "Access":
        """
        Return the access rules for a server that is bound to `host`.

        `names` are further host names of the server, as sent in a Host header; ports are ignored.
        `variable` is the environment variable of the token, as named in the error message.

        Raises:
            TodoplanError: other machines can reach the server and there is no token; or a name is
                not a valid host.
        """
        if not _trimmed(token) and not _is_loopback(host):
            msg = (
                f"{host} can be reached from other machines, so a token is needed: set "
                f"{variable} to a long random text, or bind 127.0.0.1"
            )
            raise TodoplanError(msg, host=host)
        hosts = [*_LOOPBACK, (f"[{host}]" if ":" in host else host).lower()]
        for name in names:
            match = _HOST_HEADER.fullmatch(name.strip())
            if not match:
                msg = (
                    f"{name!r} is no host; write it without scheme and path: plan.example, or "
                    "[fd00::7]"
                )
                raise TodoplanError(msg, name=name)
            hosts.append(match[1].lower())
        return cls(tuple(hosts), token)

    def refusal(self, headers: Headers) -> Response | None:
        """Return the response that refuses a request, or `None` if the request is allowed."""
        return self.stranger(headers) or self.unauthorised(headers)

    def stranger(self, headers: Headers) -> Response | None:
        """Refuse a request with a foreign Host or Origin, whatever token it sends."""
        if not self._known(_HOST_HEADER, headers.getlist("host")):
            return refused(421, "this Host is not served here; name it with --allow-host")
        # Only browsers send an Origin. A request without one does not come from a web page.
        origins = headers.getlist("origin")
        if origins and not self._known(_ORIGIN_HEADER, origins):
            return refused(403, "this Origin may not call this server")
        return None

    def unauthorised(self, headers: Headers) -> Response | None:
        """Refuse a request without the bearer token, if a token is required."""
        if self.token is None:
            return None
        values = headers.getlist("authorization")
        scheme, _, sent = values[0].partition(" ") if len(values) == 1 else ("", "", "")
        # Compared in constant time, so that the response time does not show how much of a guess was
        # right. Compared as bytes (Starlette decodes headers as latin-1), because `compare_digest`
        # takes only ASCII text.
        is_same = compare_digest(sent.strip(" \t").encode("latin-1"), self.token.encode())
        if is_same and scheme.lower() == "bearer":
            return None
        challenge = {"WWW-Authenticate": "Bearer"}
        return refused(401, "send the token: Authorization: Bearer <token>", challenge)

    def _known(self, form: re.Pattern[str], values: list[str]) -> bool:
        matches = [form.fullmatch(value) for value in values]
        # Exactly one: with two headers, we might check one and a later component use the other.
        return len(matches) == 1 and all(m and m[1].lower() in self.hosts for m in matches)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def refused(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    """Return a refusal: a response with one line of plain text."""
    return PlainTextResponse(f"{text}\n", status, headers)


# -------- bodies --------
# Request bodies: read completely, with a limit on size and time, before any parser sees them.


DEEPEST = 100
"""The maximum depth of nested JSON in a body."""

# A string is one token, so that brackets inside it are not counted.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


async def read_body(
    headers: Headers, receive: Receive, limit: int, seconds: float
) -> bytes | Response:
    """
    Return the whole body, or the response that refuses it.

    A body is refused if it has more than `limit` bytes or does not arrive within `seconds`.
    """
    declared, body = headers.get("content-length", ""), bytearray()
    # Compare lengths first: `int` raises an error for more than 4,300 digits.
    digits, most = declared.lstrip("0"), str(limit)
    too_large = declared.isdecimal() and (len(digits), digits) > (len(most), most)
    more = not too_large
    # The package mcp would also read the body. But mcp has no deadline, and by then the request
    # already counts towards mcp's limit of requests.
    with anyio.move_on_after(seconds):
        while more:
            # A disconnect also ends the body; mcp refuses the incomplete JSON.
            message = await receive()
            body += message.get("body", b"")
            too_large = len(body) > limit
            more = message.get("more_body", False) and not too_large
    if too_large:
        return refused(413, f"the body has over {limit} bytes")
    return refused(408, f"the body did not come in {seconds:g} seconds") if more else bytes(body)


def is_too_deep(body: bytes) -> bool:
    """
    Return whether JSON is nested more than `DEEPEST` levels deep, without parsing it.

    The parsers that run later are recursive, and could exhaust the stack. A body with a zero byte
    is not JSON in UTF-8 and counts as too deep.
    """
    if b"\0" in body:  # UTF-16: the byte of a quotation mark is also one half of other characters
        return True
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return False
    depth = 0
    for token in _TOKEN.finditer(body):
        first = body[token.start()]
        if first in b"[{":
            depth += 1
            if depth > DEEPEST:
                return True
        elif first in b"]}":
            depth -= 1
    return False


def sent_again(body: bytes, receive: Receive) -> Receive:
    """
    Return a receive channel that replays a body that was already read, then continues with
    `receive`.
    """
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


# -------- serving --------
# The socket of an HTTP server, and a deadline for connections that send nothing.


_GRACE_SECONDS = 1  # until a shutdown cuts open streams, which would never end by themselves


# Based on h11, which uvicorn always installs; httptools needs an extra.
class _Deadline(H11Protocol):
    """
    A connection that is closed if no request head arrives within `head_seconds`.

    uvicorn itself has no such deadline, so silent connections could use up the limit of open
    connections.
    """

    head_seconds: float
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the deadline."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """
        Cancel the deadline once the request head is complete. Start it when the next head is
        awaited.
        """
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
        super().connection_lost(exc)
        self._stop_waiting()

    def _wait(self) -> None:
        # There is no cycle before the first request.
        if not getattr(self.cycle, "response_complete", True):
            self._stop_waiting()  # the head is complete; `read_body` limits the body
        elif self._waiting is None:
            self._waiting = self.loop.call_later(self.head_seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def listen_at(host: str, port: int, path: str = "/mcp") -> tuple[socket.socket, str]:
    """
    Return a listening socket, and the URL of `path` on it. Port 0 selects any free port.

    Raises:
        OSError: the port is in use, or the host is not an address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family)
    shown = f"[{host}]" if ":" in host else host
    return listener, f"http://{shown}:{listener.getsockname()[1]}{path}"


def server_of(
    app: ASGIApp, *, head_seconds: float = 10.0, connections: int = 1_000
) -> uvicorn.Server:
    """
    Return the HTTP server of an application.

    The head of a request must arrive within `head_seconds`. At most `connections` are open at once.
    `await server.serve(sockets=[listener])` runs the server until the process receives a signal to
    stop or `should_exit` is set.
    """
    config = uvicorn.Config(
        app,
        # uvicorn creates a protocol object for each connection, and passes no arguments of ours. So
        # the deadline is an attribute of a subclass.
        http=type("_Protocol", (_Deadline,), {"head_seconds": head_seconds}),
        # Further connections are answered with 503: each one costs a socket and a task.
        limit_concurrency=connections,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    return uvicorn.Server(config)
