"""Run an HTTP server: its socket, and a deadline for connections that send nothing."""

import asyncio
import socket
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["listen_at", "server_of"]

_GRACE_SECONDS = 1  # for open streams at shutdown: they would never end by themselves


# Based on h11, which uvicorn always installs; httptools needs an extra.
class _Deadline(H11Protocol):
    """
    A connection that is closed if no request head arrives within `head_seconds`.

    uvicorn waits without a limit, so a few thousand silent connections could use up all that it can
    hold.
    """

    head_seconds: float
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the deadline."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """
        Cancel the deadline once the request head is complete; start it if the next head is awaited.
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


def server_of(app: ASGIApp, *, head_seconds: float, connections: int) -> uvicorn.Server:
    """
    Return the HTTP server of an application.

    `await server.serve(sockets=[listener])` runs it until the process receives a signal to stop or
    `should_exit` is set.
    """
    config = uvicorn.Config(
        app,
        # uvicorn creates a protocol object for each connection without arguments of ours, so a
        # subclass carries the deadline.
        http=type("_Protocol", (_Deadline,), {"head_seconds": head_seconds}),
        # Further connections are answered with 503: each one costs a socket and a task.
        limit_concurrency=connections,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    return uvicorn.Server(config)
