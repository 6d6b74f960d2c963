"""
Plans in a SQLite database, which threads and processes of one machine share.

Read `SqliteStore` at the end first. The sections before it, from the last to the first, are: the
locked plan; sharing and closing of connections; creating and identifying the database file; the
tables; errors of SQLite and the disk.
"""

import ctypes
import errno
import os
import sqlite3
import time
import warnings
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from itertools import repeat
from pathlib import Path
from threading import get_ident
from typing import ParamSpec, TypeVar
from weakref import finalize

from todoplan.codec.documents import VERSION, dump_plan
from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.lazy import listing
from todoplan.stores.base import ALL, Key, LocalHold, Receipt, cut_off
from todoplan.stores.locks import (
    PRIVATE,
    LockQueue,
    Turn,
    busy,
    lock_file,
    locked,
    missing_folder,
    paused,
    problem_of,
    sync_folder,
    unlocked,
)
from todoplan.stores.rows import (
    COLUMNS,
    FORMAT,
    LOADED,
    RECEIPT,
    SNAPSHOT,
    TAIL,
    Row,
    RowStore,
    is_snapshot_due,
    line_of_entry,
    receipt_of_rows,
    stored_name,
    tail_of_rows,
)

__all__ = ["SqliteStore"]
__dir__ = listing(__all__)


# -------- errors --------
# Errors of SQLite and the operating system, turned into a StoreError that says what to do.
#
# If an append raises one of these errors, none of its entries were saved: they are written in one
# transaction, which is rolled back before the error reaches the caller.


_WORDS = {
    sqlite3.SQLITE_FULL: (
        "disk_full",
        "the disk, or a quota of it, is full",
        "make room and try again",
    ),
    sqlite3.SQLITE_READONLY: (
        "read_only",
        "it can be read, but not written",
        "see whether this user may write the file and its folder, where SQLite keeps its log",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot_open",
        "it cannot be opened",
        "see whether the folder is there, and whether this user may write in it",
    ),
    sqlite3.SQLITE_NOTADB: (
        "no_database",
        "it is no SQLite database",
        "name another file; a JSON file of plans is for FileStore",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "corrupt",
        "the database is damaged",
        "restore a backup, or save what can be read with sqlite3's .recover",
    ),
    sqlite3.SQLITE_IOERR: (
        "io_error",
        "the disk failed",
        "look into the system's log; a copy of the file on another disk may be intact",
    ),
    sqlite3.SQLITE_BUSY: (
        "busy",
        "somebody else has locked it for too long",
        "try again, end the process that holds it, or give the store more patience=",
    ),
}
_UNREADABLE = (
    "cannot_open",
    "it cannot be opened",
    "see whether the folder is there, and whether this user may read the file and its log",
)
_AGAIN = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
# If two machines do not share locks and memory, WAL mode corrupts a database within a minute.
_NETWORK = {"afs", "beegfs", "ceph", "cifs", "gpfs", "lustre", "nfs", "nfs4", "smb3", "smbfs"}
# File systems shared with a host or a service: whether these are safe cannot be determined here.
_SHARED = {"9p", "fuse.sshfs", "fuse.glusterfs", "vboxsf", "virtiofs", "vmhgfs"}

WAL_RESET_BUG = not (
    sqlite3.sqlite_version_info >= (3, 51, 3) or (3, 50, 7) <= sqlite3.sqlite_version_info < (3, 51)
)
"""
Whether this SQLite has the WAL-reset bug (3.7.0 to 3.51.2): a database may be damaged if one
connection writes while another one copies the log into the file (a checkpoint). We hold our own
lock during both.
"""

FAILURES = (sqlite3.Error, OSError)
"""The errors that `failure` turns into a StoreError."""

_warned: set[str] = set()


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether the database was in use by somebody else, so that a retry may help."""
    return _code(error) in _AGAIN


def is_unwritable(error: sqlite3.Error) -> bool:
    """Return whether SQLite could not open or write a file that it needs beside the database."""
    return _code(error) in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}


def failure(error: sqlite3.Error | OSError, path: Path, *, is_read: bool = False) -> StoreError:
    """Return the StoreError for an error of SQLite or the operating system."""
    if isinstance(error, OSError):
        remedy = missing_folder(path) or "see whether it is there"
        return refusal(path, problem_of(error), str(error.strerror), remedy)
    code = sqlite3.SQLITE_BUSY if is_busy(error) else _code(error)
    problem, seen, remedy = _WORDS.get(code, ("refused", "SQLite refuses", "see why"))
    if is_read and is_unwritable(error):
        problem, seen, remedy = _UNREADABLE
    return refusal(path, problem, f"{seen} ({error})", remedy)


def refusal(path: Path, problem: str, seen: str, remedy: str) -> StoreError:
    """
    Return the StoreError for a problem with a database.

    `problem` is the code. The message says what was `seen`, and the `remedy`.
    """
    msg = f"{path}: {seen}. Nothing was written; {remedy}"
    return StoreError(msg, file=str(path), problem=problem)


def check_place(path: Path) -> None:
    """
    Refuse a network file system; warn once about other shared file systems.

    Raises:
        StoreError: on this file system, other machines would write the file without seeing our
            locks.
    """
    kind = _file_system(path)
    if kind in _NETWORK:
        raise refusal(
            path,
            "network",
            f"it is on a network file system ({kind}), where SQLite loses plans",
            "put it on a disk of this machine; for several machines use a PostgresStore",
        )
    if kind in _SHARED:
        _warn_once(
            f"{path} is on a shared file system ({kind}), where a database is safe only while one "
            "machine uses it; put it on a disk of this machine if you can"
        )


def warn_of_missing_locks(path: Path) -> None:
    """
    Warn once that files cannot be locked here, if this version of SQLite needs our lock to be safe.
    """
    if WAL_RESET_BUG:
        _warn_once(
            f"{path}: SQLite {sqlite3.sqlite_version} can damage a database that two processes "
            "write, unless they lock a file, and files cannot be locked here; use SQLite 3.51.3 "
            "or later, or write from one process only"
        )


def _warn_once(msg: str) -> None:
    if msg not in _warned:
        _warned.add(msg)
        warnings.warn(msg, stacklevel=2)


def _file_system(path: Path) -> str:
    """Return the type of the file system of a path, or "" if it cannot be determined."""
    try:
        lines = Path("/proc/self/mounts").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""  # not Linux
    mounts = [line.split(" ")[1:3] for line in lines]
    # A space in a mount point is written as \040.
    above = [(at.replace("\\040", " "), kind) for at, kind in mounts]
    matches = sorted((len(at), kind) for at, kind in above if path.is_relative_to(at))
    return matches[-1][1] if matches else ""


def _code(error: sqlite3.Error) -> int:
    # Errors raised by Python have no code. The higher bits are details that are not needed.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


# -------- schema --------
# The tables and queries. SQLite's tables have no prefix.


APPLICATION = 0x746F646F
"""
The application id of our files, "todo". `file` and other tools identify databases by this number.
"""

# `plan` has a row id, which gives the order in which plans were added. The journal and the receipts
# are stored in key order, so that the newest entries of a journal are contiguous in the file.
# `since` and `size` are bytes: of the entries since the last snapshot, and of this snapshot. The
# format of the tables is SQLite's `user_version`.
TABLES = (
    """
    CREATE TABLE plan (
        id TEXT PRIMARY KEY,
        revision INTEGER NOT NULL,
        since INTEGER NOT NULL,
        size INTEGER NOT NULL
    )
    """,
    f"CREATE TABLE entry ({COLUMNS['entry']}) WITHOUT ROWID",
    f"CREATE TABLE snapshot ({COLUMNS['snapshot']})",
    f"CREATE TABLE receipt ({COLUMNS['receipt']}) WITHOUT ROWID",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)


def _ours(query: str) -> str:
    """Return a query of `todoplan.stores.rows`, translated to SQLite's SQL."""
    ours = query.replace("todoplan_", "").replace("%s", "?")
    return ours.format(format=FORMAT, clock="")


_LOADED, _TAIL, _RECEIPT, _SNAPSHOT = map(_ours, (LOADED, TAIL, RECEIPT, SNAPSHOT))
_PLAN_IDS = "SELECT id FROM plan ORDER BY rowid"
_PLAN = "SELECT revision, since, size FROM plan WHERE id = ?"
_APPEND = "INSERT INTO entry (plan_id, revision, version, line) VALUES (?, ?, ?, ?)"
_MOVE = """
    INSERT INTO plan (id, revision, since, size) VALUES (?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE
    SET revision = excluded.revision, since = excluded.since, size = excluded.size
"""
_CUT = "DELETE FROM entry WHERE plan_id = ? AND revision <= ?"
_FORGET = "DELETE FROM receipt WHERE plan_id = ? AND before < ?"
_SIGN = """
    INSERT INTO receipt (plan_id, key, payload, before, after, answer) VALUES (?, ?, ?, ?, ?, ?)
"""


# -------- opening --------
# Creating a database, which any number of processes may do at once, and recognizing it later.


T = TypeVar("T")
P = ParamSpec("P")
Identity = tuple[int, int]
"""Device and inode of a file. Another file at the same path has another identity."""

Log = tuple[Identity | None, Identity | None]
"""The identities of SQLite's log and of the log's index. `None` is for a file that is missing."""


class Connection(sqlite3.Connection):
    """A connection that remembers the identity of its write-ahead log, to notice a deleted log."""

    log: Log = (None, None)


def rows_of(connection: Connection, query: str, values: Row) -> list[Row]:
    """Execute a statement, and return its rows."""
    return connection.execute(query, values).fetchall()


DURABLE = "PRAGMA synchronous = FULL"
"""Sync commits to disk. This is set on each connection, because the file does not store it."""


def _identity(path: str) -> Identity | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - on every call, and in a third of the time of Path.stat
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def connect(path: Path, *, create: bool, mode: str = "mode=rw") -> Connection:
    """
    Open a connection to the file at a path. With `create`, the file is created if there is none.
    `mode` is the access mode in SQLite's URI of the file.

    Raises:
        StoreError: a database is not safe on this file system.
        sqlite3.Error: the file cannot be opened.
        OSError: the file cannot be created.
    """
    check_place(path)
    if create:
        # SQLite would create a file that others can read, if the umask allows it. The descriptor is
        # closed before SQLite opens the file: see "connections" below.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
    return sqlite3.connect(
        f"{path.as_uri()}?{mode}",
        uri=True,
        timeout=0,  # `again` waits instead
        isolation_level=None,  # Python's implicit BEGIN is deferred, and fails at the first write
        check_same_thread=False,
        factory=Connection,
    )


def is_ours(connection: Connection, path: Path) -> bool:
    """
    Return whether a database has todoplan's tables. Return False for an empty database.

    Raises:
        StoreError: the database belongs to another program ("foreign") or to a newer todoplan
            ("newer_format").
    """
    # Count the tables first. Another process may create them between these queries; if they were
    # counted last, they could be seen without our application id (in one of 320 openings).
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if (application, version) == (APPLICATION, FORMAT):
        return True
    if application == APPLICATION:
        seen = f"its tables have format {version}, and this todoplan reads format {FORMAT}"
        raise refusal(path, "newer_format", seen, "upgrade todoplan")
    if tables or application:
        seen = "it is a database of another program"
        raise refusal(path, "foreign", seen, "use another file for the plans")
    return False


def set_up(connection: Connection, path: Path, end: float) -> None:
    """Create the tables of an empty database, all or none."""
    # If others are reading, this fails immediately, whatever the timeout: one of 320 openings did.
    again(end, connection.execute, "PRAGMA journal_mode = WAL")
    again(end, connection.execute, "BEGIN IMMEDIATE")
    # Check again: where files cannot be locked, another process may have been first.
    if not is_ours(connection, path):
        for statement in TABLES:
            connection.execute(statement)
    connection.execute("COMMIT")
    sync_folder(path.parent)


def again(end: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """
    Call a function, and repeat the call while SQLite reports that the database is in use.

    `end` is the deadline by `time.monotonic`.

    Raises:
        sqlite3.Error: the call failed for another reason, or still fails at the deadline.
    """
    began = time.monotonic()
    while True:
        try:
            return function(*args, **kwargs)
        except sqlite3.OperationalError as error:
            if not is_busy(error) or not paused(began, end):
                raise


# -------- connections --------
# Connections to one database, which threads and processes share.
#
# - Writing and closing take our own lock on `<file>.lock` in addition to SQLite's lock. SQLite's
#   lock has no fair queue: because of its growing pauses, one of 32 processes waited 3.6 seconds.
#   And up to SQLite 3.51.2, the database may be damaged without our lock (`WAL_RESET_BUG`). We take
#   it with a newer SQLite too, because another process may use an older one. Programs that do
#   not take our lock (the sqlite3 shell) still respect SQLite's lock.
# - Only SQLite opens the database file. If our code opened and closed the file too, this process
#   would lose all its locks on the file (POSIX).
# - A connection is used by one thread at a time. A forked child neither uses nor closes the
#   connections of its parent; it opens its own.
# - If the database file or SQLite's log was deleted or replaced, an error is raised: SQLite would
#   continue to write into a file that nobody can see any more.


_Idle = deque[Connection]
_MOST_IDLE = 8
_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS}  # file systems without locks
_AT_THE_END = 1.0  # seconds that closing waits for our lock; then the connections stay open

_left_open: list[Connection] = []
_holders: dict[Path, int] = {}  # by database: the thread of this process that has our lock


class Connections:
    """The connections of one `SqliteStore` to its database."""

    def __init__(self, path: Path, patience: float) -> None:
        self.path = path
        self.patience = patience
        # As texts, because a path would be turned into a text again at every look.
        self._file, self._wal, self._shm = f"{path}", f"{path}-wal", f"{path}-shm"
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

    def rows(self, query: str, values: Row) -> list[Row]:
        """
        Return the rows of a query. If there is no database, there are none.

        Raises:
            StoreError: the database cannot be read, or its file was deleted or replaced.
        """
        self.after_fork()
        end, taken = time.monotonic() + self.patience, list[Connection]()
        is_sound = False
        try:
            if self.on_disk() is None:
                return []
            try:
                if not self.take(taken, end, create=False):
                    return []
                rows = again(end, rows_of, taken[0], query, values)
            except sqlite3.Error as error:
                if not is_unwritable(error) or not self._take_immutable(taken):
                    raise
                return rows_of(taken[0], query, values)
            is_sound = True
            return rows  # noqa: TRY300 - a raise must leave it unsound
        except FAILURES as error:
            raise failure(error, self.path, is_read=True) from error
        finally:
            try:
                self._put_back(taken, is_sound=is_sound)
            finally:
                self._put_back(taken, is_sound=is_sound)

    def _take_immutable(self, taken: list[Connection]) -> bool:
        """
        Open a database in a folder that is not writable, where SQLite cannot create its log. The
        new connection replaces the one in `taken`.

        Return False if the folder is writable, or if the database has no tables of todoplan.
        """
        _close(self.path, self.process, deque(taken))
        taken.clear()
        # Check the effective user, as the operating system does.
        is_effective = os.access in os.supports_effective_ids
        if os.access(self.path.parent, os.W_OK, effective_ids=is_effective):
            return False
        log = Path(f"{self.path}-wal")
        # In immutable mode, SQLite ignores the log, so committed entries would be missing.
        if log.exists() and log.stat().st_size:
            raise refusal(
                self.path,
                "read_only",
                f"it is read-only here, and its log ({log.name}) is not merged into it yet",
                "open it once where it can be written, or copy both files there",
            )
        taken.append(connect(self.path, create=False, mode="immutable=1"))
        return is_ours(taken[0], self.path)

    def _put_back(self, taken: list[Connection], *, is_sound: bool) -> None:
        """
        Move the connection in `taken` back to the idle connections, or close it if it is not sound.
        """
        if is_sound:
            self.idle.extend(map(list.pop, repeat(taken, len(taken))))
        elif taken:
            _close(self.path, self.process, deque(taken))
            taken.clear()

    def take(self, taken: list[Connection], end: float, *, create: bool) -> bool:
        """
        Move an idle or a new connection into `taken`. Return False if the database has no tables.

        With `create`, missing tables are created.
        """
        with suppress(IndexError):
            taken.extend(map(deque.pop, (self.idle,)))
            # If SQLite's log was deleted, nobody could ever read what is written now.
            known, log = taken[0].log, self._log()
            if known[0] is not None and known != log:
                if log[0] is not None:
                    # The connection is not closed either: SQLite would delete the log of others.
                    _leave_open(*taken)
                    taken.clear()
                raise refusal(
                    self.path,
                    "deleted",
                    f"its log ({self.path.name}-wal) was deleted or replaced while it was in use",
                    "check the plans: the latest entries may be missing",
                )
            return True
        taken.append(connect(self.path, create=create))
        connection = taken[0]
        again(end, connection.execute, DURABLE)
        if not again(end, is_ours, connection, self.path):
            if not create:
                return False
            set_up(connection, self.path, end)
        self._identity = self.on_disk()
        # The connection has read, so it has opened the log. SQLite deletes no log that is open.
        connection.log = self._log()
        return True

    def lock(self, taken: list[int], end: float) -> None:
        """
        Take the lock between processes.

        If files cannot be locked here, warn and continue without the lock.
        """
        try:
            is_locked = self._queue.take(taken, end)
        except StoreError:  # this system has none
            warn_of_missing_locks(self.path)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            warn_of_missing_locks(self.path)
        else:
            if not is_locked:
                raise busy(self.path, self.patience)

    def _log(self) -> Log:
        return _identity(self._wal), _identity(self._shm)

    def on_disk(self) -> Identity | None:
        """
        Return the identity of the database file, or `None` if there is no file.

        Raises:
            StoreError: the file was deleted ("deleted") or replaced ("rolled_back") while in use.
            OSError: the folder is missing.
        """
        # Read first: if another thread creates the file at this moment, it sets the attribute
        # after the look at the path, and then the missing file would count as deleted.
        known = self._identity
        identity = _identity(self._file)
        if identity is None:
            # If the folder is missing too, the path is misspelled. Raise before any work is lost.
            self.path.parent.stat()
        if known in (None, identity):
            return identity
        problem, seen = (
            ("deleted", "it was deleted while it was in use")
            if identity is None
            else ("rolled_back", "it was replaced by another file while it was in use")
        )
        remedy = "restore it, or make a new SqliteStore to continue from this file"
        raise refusal(self.path, problem, seen, remedy)

    def after_fork(self) -> None:
        """Start with new connections if this process is a forked child."""
        if self.process != os.getpid():
            _leave_open(*self.idle)
            self._begin_anew()


def _close(path: Path, process: int, idle: _Idle) -> None:
    """
    Close connections under the lock between processes.

    If the lock cannot be taken, leave them open until the process ends.
    """
    # When the last connection is closed, SQLite copies the log into the file. This needs our lock.
    lock: list[int] = []
    taken: list[Connection] = []
    try:
        may_close = process == os.getpid()
        # This thread may already have the lock, if a store is garbage-collected during a write.
        if may_close and _holders.get(path) != get_ident():
            try:
                lock_path, end = f"{path}.lock", time.monotonic() + _AT_THE_END
                if Path(lock_path).exists():
                    may_close = locked(lock, lock_path, lock_file, end)
            except (StoreError, OSError):
                may_close = False
        # Each connection is removed from `idle` first, so that no other thread gets a closed one.
        with suppress(IndexError):
            while True:
                taken.extend(map(deque.pop, (idle,)))
                if may_close:
                    taken[0].close()
                else:
                    _leave_open(taken[0])
                taken.clear()
    finally:
        try:
            idle.extend(taken)  # closing was interrupted
            unlocked(lock, os.getpid())
        finally:
            unlocked(lock, os.getpid())


def _leave_open(*connections: Connection) -> None:
    """
    Keep connections open until the process ends.

    In a forked child, closing a connection of the parent would roll back what the parent is
    writing. A connection that could not be closed under the lock between processes stays open as
    well.
    """
    if not _left_open:
        # Python closes connections that are not referenced, also when the interpreter exits. The
        # additional reference makes sure that this list is never freed.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(_left_open))
    _left_open.extend(connections)


# -------- the locked plan --------
# A locked plan. All operations on it are in one SQLite transaction.


def _written(text: str) -> str | bytes:
    """Return a text as SQLite can store it: as bytes, if it has half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def _read(stored: str | bytes) -> str:
    return stored if isinstance(stored, str) else stored.decode("utf-8", "surrogatepass")


class SqliteHold(LocalHold):
    """
    A plan that is locked by a write transaction, which locks the whole file.

    After any exception, the transaction is rolled back and the locks are released.
    """

    def __init__(self, connections: Connections, plan_id: str) -> None:
        super().__init__(plan_id)
        self._name = stored_name(plan_id)
        self._connections, self._path = connections, connections.path
        self._turn: list[bool] = []
        self._lock: list[int] = []
        self._taken: list[Connection] = []
        self._process = 0
        self._is_sound = self._is_broken = False

    def begin(self) -> None:
        """
        Begin the transaction.

        Raises:
            StoreError: somebody else has written for too long; this thread already has a
                transaction; the database cannot be written; or its file was deleted or replaced.
        """
        connections = self._connections
        connections.after_fork()
        # The lock and the connections of this process: a child that is forked during the
        # transaction gets its own.
        self._turns, self._idle = connections.turn, connections.idle
        self._process, end = connections.process, time.monotonic() + connections.patience
        self._turns.take(self._turn, connections.patience)
        try:
            connections.lock(self._lock, end)
            _holders[connections.path] = get_ident()
            connections.on_disk()
            connections.take(self._taken, end, create=True)
            again(end, self._taken[0].execute, "BEGIN IMMEDIATE")
        except FAILURES as error:
            raise failure(error, connections.path) from error
        rows = self._execute(_PLAN, (self._name,))
        self.revision, self._since, self._size = rows[0] if rows else (0, 0, 0)

    def keep(self) -> None:
        """
        Commit the appended entries.

        Raises:
            StoreError: an append failed, and its error was caught inside the `with`; or this
                process is a forked child of the one that began the transaction.
        """
        if self._is_broken:
            msg = (
                f"an append to the plan {self._plan_id!r} failed, and its exception was caught: "
                "none of the appended entries are saved; do not catch it within the `with`"
            )
            raise StoreError(msg, plan_id=self._plan_id, problem="broken")
        if self._process != os.getpid():
            raise refusal(
                self._path,
                "forked",
                "this process was forked while its parent held a plan",
                "fork before or after that, and hold the plan again in the child",
            )
        self._execute("COMMIT")
        self._is_sound = True

    def release(self) -> None:
        """Release the connection and the locks. What is not committed is rolled back."""
        if not (self._taken or self._lock or self._turn):
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
                # Close it: a traceback may still refer to a cursor, so that the connection would
                # see an older state of the database, and could not write.
                with suppress(sqlite3.Error):
                    # After an error of the disk, SQLite itself has rolled back.
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                connection.close()  # under our lock
                self._taken.clear()
        finally:
            if self._lock and is_ours:
                _holders.pop(self._path, None)
            unlocked(self._lock, self._process)
            self._turns.give_back(self._turn)

    def _receipt(self, key: Key) -> Receipt | None:
        """Look up the result of the append that had this key."""
        rows = self._execute(_RECEIPT, (self._name, stored_name(key.name)))
        texts = [(*row[:3], *map(_read, row[3:])) for row in rows]
        return receipt_of_rows(self._plan_id, key, texts)

    def compact(self, keep: int | timedelta) -> int:
        """
        Cut the journal: see `SqliteStore.compact`.

        Raises:
            PlanError: `keep` is neither a number of entries nor an age.
        """
        cut = cut_off(self.entries_since(ALL), keep, self.now())
        if cut is None:
            return 0
        removed, first, plan = cut
        at, line = (self._name, first.revision), line_of_entry(self._plan_id, first)
        self._is_broken = True
        self._execute(_CUT, at)
        self._execute(_FORGET, at)
        self._execute(_APPEND, (*at, VERSION, line))
        self._write_snapshot(plan)
        self._execute(_MOVE, (self._name, self.revision, self._since, self._size))
        self._is_broken = False
        return removed

    def _tail(self, revision: int) -> tuple[Entry, ...]:
        """Return the entries after a revision."""
        rows = self._execute(_TAIL, (revision, self._name))
        return tail_of_rows(self._plan_id, revision, rows)

    def _write(self, entries: tuple[Entry, ...], plan: Plan, key: Key | None, answer: str) -> None:
        """Write the entries, the key's receipt and, if it is due, a new snapshot."""
        # Encode before the first statement, because this may raise.
        lines = [line_of_entry(self._plan_id, entry) for entry in entries]
        self._is_broken = True
        for entry, line in zip(entries, lines, strict=True):
            self._execute(_APPEND, (self._name, entry.revision, VERSION, line))
            self._since += len(line.encode())
        if is_snapshot_due(self._since, self._size):
            self._write_snapshot(plan)
        self._execute(_MOVE, (self._name, plan.revision, self._since, self._size))
        if key is not None:
            signed = (_written(key.payload), self.revision, plan.revision, _written(answer))
            self._execute(_SIGN, (self._name, stored_name(key.name), *signed))
        self.revision, self._is_broken = plan.revision, False

    def _write_snapshot(self, plan: Plan) -> None:
        document = dump_plan(plan, check=True)
        self._since, self._size = 0, len(document.encode())
        self._execute(_SNAPSHOT, (self._name, plan.revision, VERSION, document))

    def _execute(self, statement: str, values: Row = ()) -> list[Row]:
        try:
            return self._taken[0].execute(statement, values).fetchall()
        except FAILURES as error:
            raise failure(error, self._path) from error


# -------- store --------
# `SqliteStore`: plans by id in one SQLite database.


class SqliteStore(RowStore):
    """
    A `HoldingStore` in one SQLite database. Safe between threads and processes of one machine.

    A change is synced to disk before the call returns. A writer waits for other writers for at most
    `patience` seconds, then raises a StoreError whose `data["problem"]` is "busy". The first append
    creates the file, which only its owner can read. A store may be used after a fork.
    """

    _loaded, _tail, _plan_ids = _LOADED, _TAIL, _PLAN_IDS

    def __init__(self, path: str | os.PathLike[str], *, patience: float = 10.0) -> None:
        given: object = path
        named = os.fspath(path) if isinstance(given, str | os.PathLike) else ""
        if not named or "\0" in named or "://" in named or named == ":memory:":
            msg = (
                f"{path!r} is no path; give the name of a file, such as SqliteStore('plans.db'); "
                "for a URL use open_store, and for plans in memory MemoryStore()"
            )
            raise StoreError(msg, seen=path)
        # Symbolic links are resolved, so that all names of a file have one lock. The path is made
        # absolute now, because the process may change its working directory.
        self.path = Path(named).resolve()
        self._connections = Connections(self.path, patience)

    def hold(self, plan_id: str) -> SqliteHold:
        """
        Lock a plan for the duration of a `with` block, whose end commits the appended entries.

        The whole file is locked, because SQLite allows one writer at a time.

        Raises:
            StoreError: somebody else held the lock for longer than `patience` ("busy"), this thread
                already holds it ("nested"), or the database cannot be written; `data["problem"]`
                says why.
        """
        return SqliteHold(self._connections, plan_id)

    def close(self) -> None:
        """Close the idle connections. A store that is used again opens new ones."""
        self._connections.close()

    def _ask(self, query: str, values: Row, read: Callable[[list[Row]], T], doing: str) -> T:  # noqa: ARG002 - errors name the file
        return read(self._connections.rows(query, values))
