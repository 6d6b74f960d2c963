"""
Who may see the board, and what a browser may do with it: around every request.

The page and its scripts are the same for everybody, and hold nothing: they come without the token,
and ask for it. All that is of a plan is below `/api/`, and comes with it.
"""

import attrs
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from todoplan.web.access import Access, refused

__all__ = ["API", "POLICY", "Guard"]

API = "/api/"

# Scripts and styles are files of ours alone, and Chromium takes no text for markup at all.
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""What the page may load and run (its content security policy)."""

_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # Asked again each time, by its hash: a page of yesterday's version and the server of today's
    # would not understand each other.
    "cache-control": "no-cache",
}
_OURS = {"same-origin", "none"}


@attrs.frozen(eq=False)
class Guard:
    """
    An ASGI application before the board's.
    """

    app: ASGIApp
    access: Access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """
        Refuse a request, or hand it on.
        """
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        left_open = False

        async def sending(message: Message) -> None:
            nonlocal left_open
            left_open = message.get("more_body", message["type"] == "http.response.start")
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        refusal = self.access.stranger(headers)
        if refusal is None and API in scope["path"]:
            refusal = self.access.unauthorised(headers)
            # Another port of this machine is the same site to a cookie, and the same host to us;
            # browsers say whose page it is that asks.
            if headers.get("sec-fetch-site", "none") not in _OURS:
                refusal = refused(403, "only the board's own page may ask this")
        await (refusal or self.app)(scope, receive, sending)
        if left_open:
            # A stream that ends with the server is broken off in the middle, and uvicorn complains.
            await send({"type": "http.response.body", "body": b"", "more_body": False})
