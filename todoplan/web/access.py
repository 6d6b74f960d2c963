"""
Who may talk to an HTTP server: checked before a request reaches a protocol, or any plan.

A web page that a person visits can send requests to servers on their machine; what gives it away is
the Host that it had to name, or the Origin that the browser adds.
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

    @property
    def is_local(self) -> bool:
        """
        Whether it names this machine alone.
        """
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
        Return the access to a server that is bound to `host` and also known by other `names`, as
        they stand in a Host header; their ports do not count. `variable` is where a person sets the
        token, for the message that asks for one.

        Raises:
            TodoplanError: others than this machine could reach it, and there is no token; or a name
                is none.
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
        """
        Return the answer to a request that may not pass, or `None` if it may.
        """
        return self.stranger(headers) or self.unauthorised(headers)

    def stranger(self, headers: Headers) -> Response | None:
        """
        Return the answer to a request from elsewhere, whatever token it brings.
        """
        if not self._known(_HOST_HEADER, headers.getlist("host")):
            return refused(421, "this Host is not served here; name it with --allow-host")
        # Only browsers send one: without it, no web page is behind the request.
        origins = headers.getlist("origin")
        if origins and not self._known(_ORIGIN_HEADER, origins):
            return refused(403, "this Origin may not call this server")
        return None

    def unauthorised(self, headers: Headers) -> Response | None:
        """
        Return the answer to a request without the token, if there is one to be brought.
        """
        if self.token is not None and not self._authorised(headers.getlist("authorization")):
            challenge = {"WWW-Authenticate": "Bearer"}
            return refused(401, "send the token: Authorization: Bearer <token>", challenge)
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


def refused(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    """
    Return the answer to a request that does not pass: a line of plain text.
    """
    return PlainTextResponse(f"{text}\n", status, headers)
