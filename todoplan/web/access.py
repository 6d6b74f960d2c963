"""
Access control for HTTP servers: checked before a request reaches a protocol or a plan.

A web page that a person visits can send requests to servers on that person's machine. Such a
request is recognised by its Host header, or by the Origin header that the browser adds.
"""

import re
from collections.abc import Sequence
from hmac import compare_digest
from ipaddress import ip_address

import attrs
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response

from todoplan.errors import TodoplanError

__all__ = ["Access", "refused"]

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HOST = r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?"
_HOST_HEADER = re.compile(_HOST, re.IGNORECASE)
_ORIGIN_HEADER = re.compile(f"https?://{_HOST}", re.IGNORECASE)


def _trimmed(token: str | None) -> str | None:
    """Strip a token of its trailing newline, as read from a file. An empty token becomes `None`."""
    return (token or "").strip() or None


@attrs.frozen
class Access:
    """
    The conditions for a request: its Host and Origin must be in `hosts`, and it must send `token`.

    If `token` is `None`, no token is required.
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
        known = f"[{host}]" if ":" in host else host
        return cls((*_LOOPBACK, known.lower(), *map(_host_of, names)), token)

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
        if self.token is not None and not self._authorised(headers.getlist("authorization")):
            challenge = {"WWW-Authenticate": "Bearer"}
            return refused(401, "send the token: Authorization: Bearer <token>", challenge)
        return None

    def _known(self, form: re.Pattern[str], values: list[str]) -> bool:
        matches = [form.fullmatch(value) for value in values]
        # Exactly one: with two headers, we might check one and a later component use the other.
        return len(matches) == 1 and all(m and m[1].lower() in self.hosts for m in matches)

    def _authorised(self, values: list[str]) -> bool:
        scheme, _, sent = values[0].partition(" ") if len(values) == 1 else ("", "", "")
        expected = (self.token or "").encode()
        # Compared in constant time, so that the response time does not show how much of a guess was
        # right. Compared as bytes (Starlette decodes headers as latin-1), because `compare_digest`
        # takes only ASCII text.
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


def refused(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    """Return a refusal: a response with one line of plain text."""
    return PlainTextResponse(f"{text}\n", status, headers)
