"""
Connections to one database, which threads and processes share.

- Writing and closing take our own lock on `<file>.lock` in addition to SQLite's lock. SQLite's lock
  has no fair queue: because of its growing pauses, one of 32 processes waited 3.6 seconds. And up
  to SQLite 3.51.2, two connections that write and checkpoint at the same moment may damage the
  database (`weather.WAL_RESET_BUG`). A newer SQLite takes our lock too, because another process may
  use an older one. For programs that do not take our lock (the sqlite3 shell), SQLite's lock still
  works.
- Only SQLite opens the database file: closing any other descriptor of it would release all locks
  that this process has on the file (POSIX).
- A connection is used by one thread at a time. A forked child does not use its parent's connections
  and leaves them unclosed; it opens its own.
- If the database file or SQLite's log was deleted or replaced, that is an error: SQLite would
  continue to write into a file that nobody can see any more.
"""

import ctypes
import errno
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import repeat
from pathlib import Path
from threading import get_ident
from typing import TypeVar
from weakref import finalize

from todoplan.errors import CodecError, StoreError
from todoplan.stores.locks import (
    Hold,
    LockQueue,
    Turn,
    busy,
    lock_file,
    lock_of,
    locked,
    unlocked,
)
from todoplan.stores.sqlite.opening import (
    DURABLE,
    Connection,
    Identity,
    again,
    connect,
    identity_of,
    is_ours,
    log_of,
    set_up,
)
from todoplan.stores.sqlite.weather import (
    in_words,
    is_unwritable,
    is_writable,
    refusal,
    warn_of_missing_locks,
)

__all__ = ["Connection", "Connections", "Writing"]

T = TypeVar("T")
_Idle = deque[Connection]
_MOST_IDLE = 8
_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS}  # file systems without locks
_AT_THE_END = 1.0  # seconds that closing waits for the lock; not closing loses nothing

_left_open: list[Connection] = []
_holders: dict[Path, int] = {}  # by database: the thread of this process that has our lock


class Connections:
    """The connections of one `SqliteStore` to its database."""

    def __init__(self, path: Path, patience: float) -> None:
        self.path = path
        self.patience = patience
        self._identity: Identity | None = None
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.process = os.getpid()
        self.idle: _Idle = deque()
        # Threads of one store wait on this lock first, without polling.
        self.turn = Turn(str(self.path))
        self._queue = LockQueue(self.path)
        finalize(self, _close, self.path, self.process, self.idle)

    def close(self) -> None:
        """Close the idle connections. A later call opens new ones."""
        self.after_fork()
        _close(self.path, self.process, self.idle)

    def read(self, job: Callable[[Connection], T], missing: T) -> T:
        """
        Call `job` with a connection and return its result, or `missing` if there is no database
        yet.

        Raises:
            StoreError: the database cannot be read, or its file was deleted or replaced.
        """
        self.after_fork()
        end, taken = time.monotonic() + self.patience, list[Connection]()
        is_sound = False
        try:
            with in_words(self.path, "read"):
                if self.on_disk() is None:
                    return missing
                try:
                    if not self.take(taken, end, create=False):
                        return missing
                    found = again(lambda: job(taken[0]), end)
                except sqlite3.Error as error:
                    if not is_unwritable(error) or not self._take_immutable(taken):
                        raise
                    return job(taken[0])
            is_sound = True
            return found  # noqa: TRY300 - a raise must leave it unsound
        except CodecError:
            is_sound = True  # a row is damaged; the connection itself is sound
            raise
        finally:
            try:
                self._put_back(taken, is_sound=is_sound)
            finally:
                self._put_back(taken, is_sound=is_sound)

    def _take_immutable(self, taken: list[Connection]) -> bool:
        """
        Open a database in a place where nothing can be written, and SQLite therefore cannot create
        a log.

        Return False if this user can write there, or if the database has no tables of todoplan.
        """
        _close(self.path, self.process, deque(taken))
        taken.clear()
        if is_writable(self.path):
            return False
        log = Path(f"{self.path}-wal")
        # In immutable mode SQLite ignores the log: committed entries would be missing.
        if log.exists() and log.stat().st_size:
            raise refusal(
                self.path,
                "read_only",
                f"nothing can be written here, and its log ({log.name}) is still to be brought in",
                "open it once where it can be written, or copy both files there",
            )
        taken.append(connect(self.path, create=False, mode="immutable=1"))
        return is_ours(taken[0], self.path)

    def _put_back(self, taken: list[Connection], *, is_sound: bool) -> None:
        """
        Return a connection to the idle ones after a read, or close it under the lock if it is not
        sound.
        """
        if is_sound:
            self.idle.extend(map(list.pop, repeat(taken, len(taken))))
        elif taken:
            _close(self.path, self.process, deque(taken))
            taken.clear()

    def take(self, taken: list[Connection], end: float, *, create: bool) -> bool:
        """
        Take an idle connection, or open a new one. Return False if the database has no tables yet.
        """
        with suppress(IndexError):
            taken.extend(map(deque.pop, (self.idle,)))
            # If SQLite's log was deleted, nobody would ever see what is written now.
            known, log = taken[0].log, log_of(self.path)
            if known[0] is not None and known != log:
                if log[0] is not None:
                    # Not closed either: SQLite would delete the log that others use.
                    _leave_open(*taken)
                    taken.clear()
                raise refusal(
                    self.path,
                    "deleted",
                    f"its log ({self.path.name}-wal) was deleted, or another took its place, while "
                    "it was in use",
                    "see what is there: it may lack what was appended of late",
                )
            return True
        taken.append(connect(self.path, create=create))
        connection = taken[0]
        again(lambda: connection.execute(DURABLE), end)
        if not again(lambda: is_ours(connection, self.path), end):
            if not create:
                return False
            set_up(connection, self.path, end)
        self._identity = self.on_disk()
        # The connection has read by now and therefore opened the log, which nobody else will delete
        # meanwhile.
        connection.log = log_of(self.path)
        return True

    def lock(self, taken: list[int], end: float) -> None:
        """Take our lock. Continue without it where files cannot be locked."""
        try:
            self._queue.take(taken, max(0.0, end - time.monotonic()))
        except StoreError as error:
            if error.data["problem"] == "busy":
                raise busy(self.path, self.patience) from error
            warn_of_missing_locks(self.path)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            warn_of_missing_locks(self.path)

    def on_disk(self) -> Identity | None:
        """
        Return the identity of the file at the path, and check that the file was not deleted or
        replaced.
        """
        return identity_of(self.path, self._identity)

    def after_fork(self) -> None:
        """Start with new connections if this process is a forked child."""
        if self.process != os.getpid():
            _leave_open(*self.idle)
            self._begin_anew()


class Writing(Hold[T]):
    """
    A write transaction, which is committed at the end. Nobody else can write meanwhile.

    After any exception the transaction is rolled back and the locks are released.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._turn: list[bool] = []
        self._lock: list[int] = []
        self._taken: list[Connection] = []
        self._process = 0
        self._is_sound = False

    def begun(self) -> Connection:
        """
        Begin the transaction.

        Raises:
            StoreError: somebody else has written for too long, or this thread already has a
                transaction; or the database cannot be written, or its file was deleted or replaced.
        """
        mine = self._connections
        mine.after_fork()
        self._process, end = mine.process, time.monotonic() + mine.patience
        # The objects of this process: a forked child has other ones.
        self._turns, self._idle = mine.turn, mine.idle
        self._turns.take(self._turn, mine.patience)
        with in_words(mine.path):
            mine.lock(self._lock, end)
            _holders[mine.path] = get_ident()
            mine.on_disk()
            mine.take(self._taken, end, create=True)
            connection = self._taken[0]
            again(lambda: connection.execute("BEGIN IMMEDIATE"), end)
        return connection

    def commit(self) -> None:
        """
        Commit the transaction.

        Raises:
            StoreError: this process was forked from the one that began the transaction, and cannot
                commit.
        """
        if self._process != os.getpid():
            raise refusal(
                self._connections.path,
                "forked",
                "this process was forked while a plan was held, which its parent goes on holding",
                "fork before or after, and hold the plan again in the child",
            )
        with in_words(self._connections.path):
            self._taken[0].execute("COMMIT")
        self._is_sound = True

    def release(self, _: T | None) -> None:
        """Release the connection and the locks. What is not committed is rolled back."""
        if not self._process:
            return
        is_ours = self._process == os.getpid()
        try:
            if not is_ours:
                _leave_open(*self._taken)
                self._taken.clear()
            elif self._is_sound and len(self._idle) < _MOST_IDLE:
                self._idle.extend(map(list.pop, repeat(self._taken, len(self._taken))))
            elif self._taken:
                connection = self._taken[0]
                # Not used again: a cursor that is still referenced by a traceback would keep the
                # connection at an older state of the database, on which it cannot write.
                with suppress(sqlite3.Error):
                    # A full or failing disk has already rolled it back.
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                connection.close()  # under our lock
                self._taken.clear()
        finally:
            if self._lock and is_ours:
                _holders.pop(self._connections.path, None)
            unlocked(self._lock, self._process)
            self._turns.give_back(self._turn)


def _close(path: Path, process: int, idle: _Idle) -> None:
    """Close connections under our lock, or leave them open until the process ends."""
    # The last connection to close copies the log into the file, like a checkpoint.
    lock: list[int] = []
    try:
        may_close = process == os.getpid()
        # Not if this thread has the lock, for example when a store is garbage-collected during a
        # write.
        if may_close and _holders.get(path) != get_ident():
            try:
                if lock_of(path).exists():
                    end = time.monotonic() + _AT_THE_END
                    locked(lock, lock_of(path), lambda: lock_file(lock, path), end, _AT_THE_END)
            except (StoreError, OSError):
                may_close = False
        while idle:
            if may_close:
                idle[0].close()
            else:
                _leave_open(idle[0])
            idle.popleft()
    finally:
        try:
            unlocked(lock, os.getpid())
        finally:
            unlocked(lock, os.getpid())


def _leave_open(*given: Connection) -> None:
    """
    Keep connections from being closed.

    These are a child's copies of its parent's connections, whose closing would roll back what the
    parent is writing, and connections that could not be closed under our lock.
    """
    if not _left_open:
        # Python closes unreferenced connections, also at interpreter exit: the list has to outlive
        # that.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(_left_open))
    _left_open.extend(given)
