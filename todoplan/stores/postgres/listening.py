"""
Notifications of commits by other clients, received with PostgreSQL's LISTEN.

A notification only wakes a waiter; it does not carry the change. Notifications can be lost (a
connection was cut, a pooler is in between, a writer uses `notify=False`). So a waiter checks the
plan's revision at the start, again once the server listens, and every `_LOOK` seconds. A
notification only makes the next check come sooner.

A store with `notify=False` does not listen: behind a pooler that lends connections per transaction,
LISTEN would take effect on somebody else's connection.

One thread with one connection listens for all waiters of a store, synchronous or async. It ends
when nobody has waited for a while. While it has no connection, the waiters check more often.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import uniform
from threading import Event, Lock, Thread

import psycopg

from todoplan.stores.postgres.address import Address
from todoplan.stores.postgres.connections import carry_out
from todoplan.stores.postgres.forks import begins_anew
from todoplan.stores.postgres.schema import CHANNEL, settled

__all__ = ["Listener"]

_LOOK = 2.0  # seconds between two checks while the thread listens
_LOOK_ALONE = 0.1  # while it does not
_LINGER = 5.0  # seconds that the thread stays alive without waiters
_TURN = 0.25  # seconds; `close` takes up to this long to be noticed


class Listener:
    """Calls the waiters of a plan back whenever the plan may have changed."""

    def __init__(self, address: Address, *, is_told: bool) -> None:
        self._address = address
        self._is_told = is_told
        self._begin()
        begins_anew(self)

    def _begin(self) -> None:
        self._lock = Lock()
        self._waiting: dict[object, tuple[str, Callable[[], None]]] = {}
        self._last = time.monotonic()
        self._thread: Thread | None = None
        self._closing = Event()
        self._is_listening = False
        self._db: object = None

    @property
    def pause(self) -> float:
        """The maximum time in seconds between two checks of a waiter."""
        return _LOOK if self._is_listening else _LOOK_ALONE

    @contextmanager
    def waking(self, name: str, wake: Callable[[], None]) -> Iterator[None]:
        """
        Call `wake`, in the listening thread, whenever the plan with this stored name may have
        changed.
        """
        me = object()
        with self._lock:
            self._waiting[me] = (name, wake)
            if self._is_told and self._thread is None:
                self._closing.clear()
                self._thread = Thread(target=self._run, name="todoplan-listen", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._waiting.pop(me, None)  # absent in a child forked meanwhile
                self._last = time.monotonic()

    def close(self) -> None:
        """Stop the thread and wait until it has ended. Waiters continue by checking."""
        self._closing.set()
        thread = self._thread
        if thread is not None:
            thread.join()
            self._wake(None)

    def forked(self) -> object:
        """Reset in a child process, and return the parent's connection."""
        of_parent = self._db
        self._begin()
        return of_parent

    def _run(self) -> None:
        while self._goes_on():
            try:
                self._listen()
            except (psycopg.Error, OSError):
                self._is_listening = False
            else:
                return
            # Not immediately: when a server restarts, many clients may reconnect.
            self._closing.wait(uniform(0.5, 1.5) * _TURN)  # noqa: S311 - no secret

    def _listen(self) -> None:
        """Listen until there are no waiters any more."""
        with psycopg.connect(self._address.conninfo, autocommit=True) as db:
            self._db = db
            carry_out(db, settled(db.info))
            db.execute(f"listen {CHANNEL}")
            self._is_listening = True
            self._wake(None)  # for changes from before the server listened
            while self._goes_on():
                for news in db.notifies(timeout=_TURN):
                    self._wake(news.payload.rpartition(":")[0])

    def _wake(self, name: str | None) -> None:
        with self._lock:
            wakes = [wake for wanted, wake in self._waiting.values() if name in (None, wanted)]
        for wake in wakes:
            wake()

    def _goes_on(self) -> bool:
        with self._lock:
            lingers = bool(self._waiting) or time.monotonic() - self._last < _LINGER
            if lingers and not self._closing.is_set():
                return True
            # Under the lock: the next waiter then sees that there is no thread, and starts one.
            self._thread, self._is_listening = None, False
            return False
