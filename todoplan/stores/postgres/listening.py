"""
Hearing of what others commit, by PostgreSQL's LISTEN: a wake-up, and never the news itself.

An announcement can be lost (a connection was cut, a pooler stood between, somebody writes with
`notify=False`), so whoever waits looks at the plan's revision first, again once the server listens,
and every `LOOK` seconds; an announcement only has it look sooner.

Of a store with `notify=False` nobody is woken up: behind a pooler that lends connections by the
transaction, LISTEN would listen on somebody else's.

One thread with one connection listens for all who wait by a store, called or awaited, and ends when
nobody has waited for a while. While it has no connection, those who wait look more often.
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

_LOOK = 2.0  # seconds between two looks of those who would be woken up
_LOOK_ALONE = 0.1  # of those who would not
_LINGER = 5.0  # seconds that the thread waits for somebody who waits
_TURN = 0.25  # seconds: so long the thread hears nothing of being closed


class Listener:
    """
    Wakes those who wait for a plan whenever it may have changed.
    """

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
        """
        So many seconds those who wait may go without a look.
        """
        return _LOOK if self._is_listening else _LOOK_ALONE

    @contextmanager
    def waking(self, name: str, wake: Callable[[], None]) -> Iterator[None]:
        """
        Call a function, in a thread of its own, whenever the plan of this stored name may have
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
                self._waiting.pop(me, None)  # in a child that was forked meanwhile it is not there
                self._last = time.monotonic()

    def close(self) -> None:
        """
        End the thread, and wait for that; whoever waits goes on by looking.
        """
        self._closing.set()
        thread = self._thread
        if thread is not None:
            thread.join()
            self._wake(None)

    def forked(self) -> object:
        """
        Begin anew in a child process, and return the parent's connection.
        """
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
            # Not at once: where a server is restarted, there may be many of us.
            self._closing.wait(uniform(0.5, 1.5) * _TURN)  # noqa: S311 - no secret

    def _listen(self) -> None:
        """
        Listen until nobody waits any more.
        """
        with psycopg.connect(self._address.conninfo, autocommit=True) as db:
            self._db = db
            carry_out(db, settled(db.info))
            db.execute(f"listen {CHANNEL}")
            self._is_listening = True
            self._wake(None)  # what came before the server listened
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
            # Under the lock: whoever comes next finds none, and starts another.
            self._thread, self._is_listening = None, False
            return False
