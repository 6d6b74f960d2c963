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
- A file that is gone, or that another took the place of, is an error: SQLite would go on writing
  into the one that nobody can see any more.
"""

import ctypes
import errno
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from weakref import finalize

from todoplan.errors import StoreError, TodoplanError
from todoplan.stores.lock_queue import LockQueue
from todoplan.stores.locked_file import busy, lock_file_held
from todoplan.stores.sqlite.opening import (
    DURABLE,
    Connection,
    Identity,
    again,
    connect,
    identity_of,
    is_ours,
    set_up,
)
from todoplan.stores.sqlite.weather import in_words, refusal, warn_of_missing_locks
from todoplan.stores.turn import Turn

__all__ = ["Connection", "Connections"]

T = TypeVar("T")
_Idle = deque[Connection]
_MOST_IDLE = 8
_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS}  # file systems without any
_AT_THE_END = 1.0  # seconds that closing waits for others: nothing is lost by leaving it

_left_open: list[Connection] = []


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
        self._process = os.getpid()
        self._idle: _Idle = deque()
        # Between threads of one handle first: they wait for each other without asking in turns.
        self._turn = Turn(str(self.path))
        self._queue = LockQueue(self.path)
        finalize(self, _close, self.path, self._process, self._idle)

    def close(self) -> None:
        """
        Close what is idle; a later call opens anew.
        """
        self._after_fork()
        _close(self.path, self._process, self._idle)

    def read(self, job: Callable[[Connection], T], missing: T) -> T:
        """
        Return what a job reads, or `missing` if there is no database yet.

        Raises:
            StoreError: the database cannot be read, or is not what it was.
        """
        self._after_fork()
        end = time.monotonic() + self.patience
        with in_words(self.path):
            connection = self._taken(end, create=False)
            if connection is None:
                return missing
            is_sound = False
            try:
                found = again(lambda: job(connection), end)
                is_sound = True
            except TodoplanError:
                is_sound = True  # a row is damaged, of which the connection knows nothing
                raise
            finally:
                if is_sound:
                    self._idle.append(connection)
                else:
                    self._discard(connection, is_locked=False)
            return found

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """
        Yield a connection in a transaction that nobody else can write beside; commit it at the end.

        Whatever is raised, the transaction is rolled back and the locks are let go of.

        Raises:
            StoreError: somebody else has written for too long, or this thread does so already; the
                database cannot be written, or is not what it was.
        """
        self._after_fork()
        process, end = self._process, time.monotonic() + self.patience
        with ExitStack() as held:
            held.enter_context(self._turn.taken(self.patience))
            with in_words(self.path):
                self._lock(held, end)
                connection = self._taken(end, create=True)
            assert connection is not None  # noqa: S101 - with `create` there always is one
            is_sound = False
            try:
                with in_words(self.path):
                    again(lambda: connection.execute("BEGIN IMMEDIATE"), end)
                yield connection
                if process != os.getpid():
                    raise self._forked()
                with in_words(self.path):
                    connection.execute("COMMIT")
                is_sound = True
            finally:
                self._give_back(connection, process, is_sound=is_sound)

    def _give_back(self, connection: Connection, process: int, *, is_sound: bool) -> None:
        """
        Let go of a connection; what it has not committed is rolled back.
        """
        if process != os.getpid():
            _leave_open(connection)
        elif is_sound and len(self._idle) < _MOST_IDLE:
            self._idle.append(connection)
        else:
            # Not used again: a cursor that somebody's traceback still holds would keep it at an
            # older state of the database, on which nothing can be written.
            with suppress(sqlite3.Error):
                # A full or failing disk has rolled it back by itself.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            connection.close()  # under the lock, which we hold

    def _forked(self) -> StoreError:
        return refusal(
            self.path,
            "forked",
            "this process was forked while a plan was held, which its parent goes on holding",
            "fork before or after, and hold the plan again in the child",
        )

    def _lock(self, held: ExitStack, end: float) -> None:
        """
        Take the lock, which `held` lets go of; go on without it where files cannot be locked.
        """
        try:
            held.enter_context(self._queue.held(max(0.0, end - time.monotonic())))
        except StoreError as error:
            if error.data["problem"] == "busy":
                raise busy(self.path, self.patience) from error
            warn_of_missing_locks(self.path)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            warn_of_missing_locks(self.path)

    def _taken(self, end: float, *, create: bool) -> Connection | None:
        """
        Return a connection, `None` if there is no database and none is to be made.
        """
        if self._on_disk() is None and not create:
            return None
        with suppress(IndexError):
            return self._idle.pop()
        return self._opened(end, create=create)

    def _opened(self, end: float, *, create: bool) -> Connection | None:
        connection = connect(self.path, create=create)
        with ExitStack() as unless_kept:
            unless_kept.callback(self._discard, connection, is_locked=create)
            again(lambda: connection.execute(DURABLE), end)
            if not again(lambda: is_ours(connection, self.path), end):
                if not create:
                    return None
                set_up(connection, self.path, end)
            self._identity = self._on_disk()
            unless_kept.pop_all()
        return connection

    def _discard(self, connection: Connection, *, is_locked: bool) -> None:
        if is_locked:
            connection.close()
        else:
            _close(self.path, self._process, deque([connection]))

    def _on_disk(self) -> Identity | None:
        return identity_of(self.path, self._identity)

    def _after_fork(self) -> None:
        if self._process != os.getpid():
            _leave_open(*self._idle)
            self._begin_anew()


def _close(path: Path, process: int, idle: _Idle) -> None:
    """
    Close connections under the lock, or leave them to the end of the process.
    """
    # The last one to close copies the log into the file, as a checkpoint does.
    with ExitStack() as lock:
        may_close = process == os.getpid()
        if may_close and path.with_name(f"{path.name}.lock").exists():
            try:
                lock.enter_context(lock_file_held(path, _AT_THE_END))
            except (StoreError, OSError):
                may_close = False
        while idle:
            connection = idle.popleft()
            if may_close:
                connection.close()
            else:
                _leave_open(connection)


def _leave_open(*given: Connection) -> None:
    """
    Keep connections from being closed: a child's copies of its parent's, which would take back what
    the parent is writing, and those that could not be closed under the lock.
    """
    if not _left_open:
        # Python closes what nobody refers to, also at its own end: the list has to outlive that.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(_left_open))
    _left_open.extend(given)
