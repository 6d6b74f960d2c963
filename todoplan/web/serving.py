"""Running an HTTP server: its socket, and a deadline for whoever connects and says nothing."""

import asyncio
import socket
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["listen_at", "server_of"]

_GRACE_SECONDS = 1  # that open streams have when the server ends: they would go on for ever


# Of h11, which uvicorn always brings; httptools comes with an extra only.
class _Deadline(H11Protocol):
    """
    A connection that is closed unless it sends the head of a request within some seconds.

    uvicorn waits for one for ever, and a few thousand silent connections would be all it can hold.
    """

    head_seconds: float
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """
        Begin to wait.
        """
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """
        Wait on if the head is not there yet.
        """
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """
        Wait no more.
        """
        super().connection_lost(exc)
        self._stop_waiting()

    def _wait(self) -> None:
        # There is no cycle before the first request.
        if not getattr(self.cycle, "response_complete", True):
            self._stop_waiting()  # the head has come; its body is the guard's matter
        elif self._waiting is None:
            self._waiting = self.loop.call_later(self.head_seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def listen_at(host: str, port: int, path: str = "/mcp") -> tuple[socket.socket, str]:
    """
    Return a socket that listens, and the URL of a path there; port 0 is any that is free.

    Raises:
        OSError: it is taken, or no address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family)
    shown = f"[{host}]" if ":" in host else host
    return listener, f"http://{shown}:{listener.getsockname()[1]}{path}"


def server_of(app: ASGIApp, *, head_seconds: float, connections: int) -> uvicorn.Server:
    """
    Return the HTTP server of an application: `await .serve(sockets=[listener])` runs it until the
    process is asked to end, or `should_exit` is set.
    """
    config = uvicorn.Config(
        app,
        # uvicorn makes one for each connection and hands it nothing of ours, so a class carries it.
        http=type("_Protocol", (_Deadline,), {"head_seconds": head_seconds}),
        # A connection beyond these is answered with 503: each costs a socket and a task.
        limit_concurrency=connections,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    return uvicorn.Server(config)
