"""
A pool of connections to one database. Each is lent to one user at a time, the last used one first.

`psycopg_pool` was tried and rejected for three reasons. It only logs why a connection cannot be
made (a wrong password), while the caller waits until the timeout. It runs threads, which a forked
child does not have. And a thread that is interrupted while it waits for a connection (Ctrl-C)
leaves its place in the queue, and the connection that is assigned to that place is lost for good.

- A connection whose use ended in the middle of a transaction is closed and not lent again. The
  server rolls back the transaction, wherever it was interrupted.
- The first steps on a connection write nothing. If they fail because the server was away, as after
  a restart, they are retried on a new connection until `patience` is over.
- A forked child starts with an empty pool and leaves its parent's connections alone (`forks`).
"""

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import repeat
from queue import Empty, SimpleQueue
from random import uniform
from typing import Any, Generic, TypeVar
from weakref import finalize

import psycopg
from psycopg.pq import TransactionStatus

from todoplan.errors import StoreError
from todoplan.stores.locks import moved
from todoplan.stores.postgres.address import Address
from todoplan.stores.postgres.failures import failure, is_passing
from todoplan.stores.postgres.forks import begins_anew, left_alone
from todoplan.stores.postgres.schema import Row, Steps, prepared, settled

__all__ = ["PAUSE", "Connection", "Connections", "Free", "Lent", "carry_out"]

T = TypeVar("T")
C = TypeVar("C", psycopg.Connection[Row], psycopg.AsyncConnection[Row])
Connection = psycopg.Connection[Row]

_WAITING = True
PAUSE = 0.1
"""The approximate time in seconds between two attempts to reach an unavailable server."""

_TRUSTED = 300.0  # seconds; firewalls drop connections that are idle for long


class Free(Generic[C]):
    """Base class of both pools: the idle connections, and the limit on connections in use."""

    def __init__(self, address: Address, most: int, patience: float) -> None:
        _check(most, patience)
        self.address = address
        self.patience = patience
        self.most = most
        self._begin()
        begins_anew(self)

    def _begin(self) -> None:
        self._kept: list[tuple[float, C]] = []
        self._lane: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None
        self.is_prepared = self._was_there = False
        # Also at interpreter exit: Python would warn about each connection that is still open.
        self._finalizer: finalize[..., Any] = finalize(self, _close, self._kept)

    def forked(self) -> object:
        """Reset the pool in a child process, and return the parent's connections."""
        self._finalizer.detach()
        of_parent = self._kept
        self._begin()
        return of_parent

    def close(self) -> None:
        """Close the idle connections."""
        _close(self._kept)

    def take(self) -> C | None:
        """Return an idle connection, `None` if there is none."""
        # Not checked first: between a check and `pop`, another thread may take the last one.
        with suppress(IndexError):
            while True:
                used, db = self._kept.pop()
                if time.monotonic() - used < _TRUSTED:
                    return db
                db.pgconn.finish()
        return None

    def take_into(self, taken: list[tuple[float, C]]) -> bool:
        """Move an idle connection into a list; return False if there is none."""
        with suppress(IndexError):
            while True:
                taken.extend(map(list.pop, (self._kept,)))
                used, db = taken[0]
                if time.monotonic() - used < _TRUSTED:
                    return True
                db.pgconn.finish()
                taken.clear()
        return False

    def keep(self, taken: list[tuple[float, C]]) -> None:
        """Return a connection to the idle ones."""
        self._kept.extend(map(list.pop, repeat(taken, len(taken))))

    def put(self, db: C, process: int) -> None:
        """
        Return a lent connection to the idle ones if it has no open transaction; otherwise close it.
        """
        if process != os.getpid():
            left_alone(db)  # a `with` of the parent ends in its child
        elif db.info.transaction_status is TransactionStatus.IDLE:
            self._kept.append((time.monotonic(), db))
        else:
            db.pgconn.finish()

    def places_in(self, loop: asyncio.AbstractEventLoop) -> asyncio.Semaphore:
        """Return the semaphore for an event loop. A semaphore belongs to a single loop."""
        if self._lane is None or self._lane[0] is not loop:
            self._lane = loop, asyncio.Semaphore(self.most)
        return self._lane[1]

    def check(self, error: psycopg.Error, end: float, doing: str) -> None:
        """
        Return if the operation that raised this error may be retried before `end`.

        Raises:
            StoreError: it may not be retried.
        """
        # Only if the server was reached before: a misspelled address is reported immediately, and a
        # server that is restarting is waited for.
        if self._was_there and is_passing(error) and time.monotonic() < end:
            return
        raise failure(error, self.address, doing) from error

    def checked(self, db: C) -> C:
        """
        Return a new connection if its database can store any text.

        Raises:
            StoreError: the database is not encoded in UTF-8 ("encoding").
        """
        if (encoding := db.info.parameter_status("server_encoding")) != "UTF8":
            db.pgconn.finish()
            msg = (
                f"{self.address} keeps texts as {encoding}, which cannot hold all of them; make "
                "a database for todoplan: createdb --encoding=UTF8 --template=template0 NAME"
            )
            raise StoreError(msg, store=str(self.address), problem="encoding")
        self._was_there = True
        return db

    def all_taken(self) -> StoreError:
        """Return the error for a caller that got no connection in time."""
        msg = (
            f"{self.address} was not asked: all {self.most} connections of this store were in use "
            f"for {self.patience:g} seconds; try again, or let it have more: most_connections="
        )
        return StoreError(msg, store=str(self.address), problem="busy")


class Connections(Free[psycopg.Connection[Row]]):
    """
    A pool of at most `most` connections. A caller waits for a free one for at most `patience`
    seconds.
    """

    def _begin(self) -> None:
        super()._begin()
        self.places: SimpleQueue[None] = SimpleQueue()
        for _ in range(self.most):
            self.places.put(None)

    def lend(self, lent: "Lent", first: Callable[[], Steps[T]], doing: str) -> T:
        """
        Lend a connection, after executing the `first` steps on it. These steps must not write.

        Raises:
            StoreError: the database cannot be reached, or refuses a statement.
        """
        end = time.monotonic() + self.patience
        try:
            lent.places.extend(map(self.places.get, (_WAITING,), (self.patience,)))
        except Empty:
            raise self.all_taken() from None
        while True:
            is_new = not self.take_into(lent.connections)
            try:
                if is_new:
                    new = psycopg.connect(self.address.conninfo, autocommit=True)
                    lent.connections.append((0.0, new))
                    carry_out(self.checked(new), settled(new.info))
                db = lent.db
                if not self.is_prepared:
                    carry_out(db, prepared())
                    self.is_prepared = True
                return carry_out(db, first())
            except psycopg.Error as error:
                lent.drop()
                self.check(error, end, doing)
            if is_new:
                time.sleep(uniform(0.5, 1.5) * PAUSE)  # noqa: S311 - no secret


class Lent:
    """A lent connection, and its place in the pool."""

    def __init__(self, of: Connections) -> None:
        self._of = of
        self._free, self._process = of.places, os.getpid()
        self.places: list[None] = []
        self.connections: list[tuple[float, Connection]] = []

    @property
    def db(self) -> Connection:
        """The connection."""
        return self.connections[0][1]

    def drop(self) -> None:
        """Close the connection. The server rolls back its transaction."""
        for _, db in self.connections:
            db.pgconn.finish()
        self.connections.clear()

    def give_back(self) -> None:
        """Return the connection and its place to the pool. May be called twice."""
        if self._process != os.getpid():
            for _, db in self.connections:
                left_alone(db)  # a `with` of the parent ends in its child
            self.connections.clear()
            return
        try:
            if self.connections:
                db = self.db
                if db.info.transaction_status is TransactionStatus.IDLE:
                    self.connections[:] = [(time.monotonic(), db)]
                    self._of.keep(self.connections)
                else:
                    # After any exception, also an interrupt: the same as if this process had died.
                    self.drop()
        finally:
            moved(self.places, self._free.put)


def carry_out(db: Connection, steps: Steps[T]) -> T:
    """Execute steps on a connection and return their result."""
    rows: list[Row] | None = None
    try:
        while True:
            query, values = steps.send(rows)
            cursor = db.execute(query, values)
            rows = cursor.fetchall() if cursor.description else []
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # a generator's value is Any
    finally:
        steps.close()


def _check(most: object, patience: object) -> None:
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        msg = f"most_connections={most!r}: give a number of connections from 1 on, such as 4"
        raise StoreError(msg, problem="argument", seen=most)
    if not isinstance(patience, int | float) or isinstance(patience, bool) or patience < 0:
        msg = f"patience={patience!r}: give a number of seconds, such as 10"
        raise StoreError(msg, problem="argument", seen=patience)


def _close(kept: list[tuple[float, Any]]) -> None:
    with suppress(IndexError):  # a check first could race, see `take`
        while True:
            _, db = kept.pop()
            db.pgconn.finish()
