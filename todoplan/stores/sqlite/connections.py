"""
Connections to one database: how threads and processes share it, and how it is let go of.

- A write, and a close, happens under a lock of ours on `<file>.lock` as well as under SQLite's own.
  SQLite's has no fair queue: with its growing pauses one of 32 processes waited 3.6 seconds. And
  up to 3.51.2 two connections that write and copy the log at the same moment may damage the
  database (`weather.WAL_RESET_BUG`). A newer SQLite takes the lock too: the process beside it may
  have an older one. Who does not know our lock (the sqlite3 shell) is waited for as ever.
- The file itself is never opened but by SQLite: to close any descriptor of it would let go of every
  lock that this process has on it (POSIX).
- A connection is used by one thread at a time and not at all by a child that was forked: it has
  connections of its own, and leaves the parent's as they are, unclosed.
- A file that is gone, or that another took the place of, is an error, and so of SQLite's log:
  SQLite would go on writing into the one that nobody can see any more.
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
_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS}  # file systems without any
_AT_THE_END = 1.0  # seconds that closing waits for others: nothing is lost by leaving it

_left_open: list[Connection] = []
_holders: dict[Path, int] = {}  # the threads of this process that have the lock of a database


class Connections:
    """
    The connections of one handle to the database at a path.
    """

    def __init__(self, path: Path, patience: float) -> None:
        self.path = path
        self.patience = patience
        self._identity: Identity | None = None
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.process = os.getpid()
        self.idle: _Idle = deque()
        # Between threads of one handle first: they wait for each other without asking in turns.
        self.turn = Turn(str(self.path))
        self._queue = LockQueue(self.path)
        finalize(self, _close, self.path, self.process, self.idle)

    def close(self) -> None:
        """
        Close what is idle; a later call opens anew.
        """
        self.after_fork()
        _close(self.path, self.process, self.idle)

    def read(self, job: Callable[[Connection], T], missing: T) -> T:
        """
        Return what a job reads, or `missing` if there is no database yet.

        Raises:
            StoreError: the database cannot be read, or is not what it was.
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
            return found  # noqa: TRY300 - else it would be unsound
        except CodecError:
            is_sound = True  # a row is damaged, of which the connection knows nothing
            raise
        finally:
            try:
                self._put_back(taken, is_sound=is_sound)
            finally:
                self._put_back(taken, is_sound=is_sound)

    def _take_immutable(self, taken: list[Connection]) -> bool:
        """
        Open a database where nothing can be written, and so SQLite can make no log to read by.
        """
        _close(self.path, self.process, deque(taken))
        taken.clear()
        if is_writable(self.path):
            return False
        log = Path(f"{self.path}-wal")
        # SQLite would read past it: acknowledged entries would be missing.
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
        Keep a connection that was read by, or close it under the lock.
        """
        if is_sound:
            self.idle.extend(map(list.pop, repeat(taken, len(taken))))
        elif taken:
            _close(self.path, self.process, deque(taken))
            taken.clear()

    def take(self, taken: list[Connection], end: float, *, create: bool) -> bool:
        """
        Take a connection that is idle, or a new one; return False if it is none of plans yet.
        """
        with suppress(IndexError):
            taken.extend(map(deque.pop, (self.idle,)))
            # Somebody has deleted SQLite's log: what is written now nobody would ever see.
            known, log = taken[0].log, log_of(self.path)
            if known[0] is not None and known != log:
                if log[0] is not None:
                    # Not to be closed either: SQLite would delete the log of others.
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
        # By now it has read, and so opened the log, which nobody else will delete meanwhile.
        connection.log = log_of(self.path)
        return True

    def lock(self, taken: list[int], end: float) -> None:
        """
        Take the lock; go on without it where files cannot be locked.
        """
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
        Return what stands at the path; it must be what was there before.
        """
        return identity_of(self.path, self._identity)

    def after_fork(self) -> None:
        """
        Begin anew in a child process.
        """
        if self.process != os.getpid():
            _leave_open(*self.idle)
            self._begin_anew()


class Writing(Hold[T]):
    """
    A transaction that nobody else can write beside; it is committed at the end.

    Whatever is raised, the transaction is rolled back and the locks are let go of.
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
            StoreError: somebody else has written for too long, or this thread does so already; the
                database cannot be written, or is not what it was.
        """
        mine = self._connections
        mine.after_fork()
        self._process, end = mine.process, time.monotonic() + mine.patience
        # Of this process: in a child that was forked these are other ones.
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
            StoreError: this process was forked from the one that holds it; it cannot be committed.
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
        """
        Let go of the connection, the lock and the turn; what is not committed is rolled back.
        """
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
                # Not used again: a cursor that somebody's traceback still holds would keep it at an
                # older state of the database, on which nothing can be written.
                with suppress(sqlite3.Error):
                    # A full or failing disk has rolled it back by itself.
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                connection.close()  # under the lock, which we hold
                self._taken.clear()
        finally:
            if self._lock and is_ours:
                _holders.pop(self._connections.path, None)
            unlocked(self._lock, self._process)
            self._turns.give_back(self._turn)


def _close(path: Path, process: int, idle: _Idle) -> None:
    """
    Close connections under the lock, or leave them to the end of the process.
    """
    # The last one to close copies the log into the file, as a checkpoint does.
    lock: list[int] = []
    try:
        may_close = process == os.getpid()
        # Not where this thread has the lock, as when a handle is collected meanwhile.
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
    Keep connections from being closed: a child's copies of its parent's, which would take back what
    the parent is writing, and those that could not be closed under the lock.
    """
    if not _left_open:
        # Python closes what nobody refers to, also at its own end: the list has to outlive that.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(_left_open))
    _left_open.extend(given)
