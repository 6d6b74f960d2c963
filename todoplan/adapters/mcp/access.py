"""
Who may talk to the HTTP server: checked before a request reaches the protocol, or any plan.

A web page that a person visits can send requests to servers on their machine; what gives it away is
the Host that it had to name, or the Origin that the browser adds.
"""

import re
from collections.abc import Sequence
from hmac import compare_digest
from ipaddress import ip_address

import anyio
import attrs
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from todoplan.adapters.mcp.sessions import Limits
from todoplan.adapters.mcp.shapes import PLAN_ID
from todoplan.errors import TodoplanError

__all__ = ["Access", "Guard"]

# mcp's session manager checks neither Host nor Origin unless it is asked to, 1.30 included;
# CVE-2025-66416 is about such a default.
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HOST = r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?"
_HOST_HEADER = re.compile(_HOST, re.IGNORECASE)
_ORIGIN_HEADER = re.compile(f"https?://{_HOST}", re.IGNORECASE)


def _trimmed(token: str | None) -> str | None:
    """
    Return a token without the newline with which files end; `None` if nothing is left.
    """
    return (token or "").strip() or None


@attrs.frozen
class Access:
    """
    What a request must bring: a Host and an Origin among `hosts`, and the bearer `token` if any.
    """

    hosts: tuple[str, ...] = _LOOPBACK
    token: str | None = attrs.field(default=None, repr=False, converter=_trimmed)

    @classmethod
    def at(cls, host: str, token: str | None = None, names: Sequence[str] = ()) -> "Access":
        """
        Return the access to a server that is bound to `host` and also known by other `names`, as
        they stand in a Host header; their ports do not count.

        Raises:
            TodoplanError: others than this machine could reach it, and there is no token; or a name
                is none.
        """
        if not _trimmed(token) and not _is_loopback(host):
            msg = (
                f"{host} can be reached from other machines, so a token is needed: set "
                "TODOPLAN_MCP_TOKEN to a long random text, or bind 127.0.0.1"
            )
            raise TodoplanError(msg, host=host)
        known = f"[{host}]" if ":" in host else host
        return cls((*_LOOPBACK, known.lower(), *map(_host_of, names)), token)

    def refusal(self, headers: Headers) -> Response | None:
        """
        Return the answer to a request that may not pass, or `None` if it may.
        """
        if not self._known(_HOST_HEADER, headers.getlist("host")):
            return _refused(421, "this Host is not served here; name it with --allow-host")
        # Only browsers send one: without it, no web page is behind the request.
        origins = headers.getlist("origin")
        if origins and not self._known(_ORIGIN_HEADER, origins):
            return _refused(403, "this Origin may not call this server")
        if self.token is not None and not self._authorised(headers.getlist("authorization")):
            challenge = {"WWW-Authenticate": "Bearer"}
            return _refused(401, "send the token: Authorization: Bearer <token>", challenge)
        return None

    def _known(self, form: re.Pattern[str], values: list[str]) -> bool:
        matches = [form.fullmatch(value) for value in values]
        # Exactly one: of two headers we might check one and somebody behind us use the other.
        return len(matches) == 1 and all(m and m[1].lower() in self.hosts for m in matches)

    def _authorised(self, values: list[str]) -> bool:
        scheme, _, sent = values[0].partition(" ") if len(values) == 1 else ("", "", "")
        expected = (self.token or "").encode()
        # In constant time: how far a guess was right must not show in how long the answer takes.
        # As bytes, which Starlette read as latin-1: of texts, `compare_digest` takes ASCII only.
        same = compare_digest(sent.strip(" \t").encode("latin-1"), expected)
        return same and scheme.lower() == "bearer"


def _host_of(name: str) -> str:
    found = _HOST_HEADER.fullmatch(name.strip())
    if not found:
        msg = f"{name!r} is no host; write it without scheme and path: plan.example, or [fd00::7]"
        raise TodoplanError(msg, name=name)
    return found[1].lower()


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _refused(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    return PlainTextResponse(f"{text}\n", status, headers)


@attrs.frozen(eq=False)
class Guard:
    """
    An ASGI application before another one: what passes has been checked, and its body read.
    """

    app: ASGIApp
    access: Access
    limits: Limits = Limits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """
        Refuse the request, or hand it on.
        """
        headers = Headers(scope=scope)
        refusal = self.access.refusal(headers) or _no_plan(scope)
        if refusal is None:
            body = await _body(headers, receive, self.limits)
            if isinstance(body, bytes):
                await self.app(scope, _again(body, receive), send)
                return
            refusal = body
        await refusal(scope, receive, send)


def _no_plan(scope: Scope) -> Response | None:
    plan_id = scope["path_params"].get("plan_id", "plan")
    if PLAN_ID.fullmatch(plan_id):
        return None
    return _refused(404, "a plan's id is 1 to 64 letters, digits, - and _")


async def _body(headers: Headers, receive: Receive, limits: Limits) -> bytes | Response:
    """
    Return the whole body; or the answer to one that is too large, or does not come.
    """
    limit, seconds = limits.body_bytes, limits.body_seconds
    body, too_large = bytearray(), _is_over(headers.get("content-length", ""), limit)
    more = not too_large
    # mcp reads a body as well, but only when it holds a place for the request, and without an end.
    with anyio.move_on_after(seconds):
        while more:
            # A client that hangs up ends the body too; mcp refuses the incomplete JSON.
            message = await receive()
            body += message.get("body", b"")
            too_large = len(body) > limit
            more = message.get("more_body", False) and not too_large
    if too_large:
        return _refused(413, f"the body has over {limit} bytes")
    return _refused(408, f"the body did not come in {seconds:g} seconds") if more else bytes(body)


def _is_over(declared: str, limit: int) -> bool:
    # By their length first: `int` raises over more than 4,300 digits.
    digits, most = declared.lstrip("0"), str(limit)
    return declared.isdecimal() and (len(digits), digits) > (len(most), most)


def _again(body: bytes, receive: Receive) -> Receive:
    """
    Return a channel that gives a body that was read once more, and then what follows it.
    """
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message
