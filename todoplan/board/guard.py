"""
Middleware that checks every request of the board and sets the security headers of responses.

The page and its scripts contain no data. They are served without the token, and the page asks the
person for it. All data of plans is below `/api/`, which requires the token.
"""

import attrs
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from todoplan.web.access import Access, refused

__all__ = ["API", "POLICY", "Guard"]

API = "/api/"

# Only our own files may be scripts and styles; Chromium refuses to parse any text as markup.
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""The content security policy of the page."""

_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # Revalidated on each load, by ETag: a page of an older version may not understand a newer
    # server.
    "cache-control": "no-cache",
}
_OURS = {"same-origin", "none"}


@attrs.frozen(eq=False)
class Guard:
    """ASGI middleware around the board."""

    app: ASGIApp
    access: Access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it to the application."""
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
            # For cookies, another port of this machine is the same site, and for us the same host.
            # The browser says in this header which page sent the request.
            if headers.get("sec-fetch-site", "none") not in _OURS:
                refusal = refused(403, "only the board's own page may ask this")
        await (refusal or self.app)(scope, receive, sending)
        if left_open:
            # When the server stops, a stream is cut off in the middle, and uvicorn logs an error.
            # End it here.
            await send({"type": "http.response.body", "body": b"", "more_body": False})
