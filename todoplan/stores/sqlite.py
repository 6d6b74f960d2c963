"""
Plans in a SQLite database, which threads and processes of one machine share.

Read `SqliteStore` at the end first. The sections above it are, from the end: the locked plan, the
sharing and closing of connections, the creation and identification of the database file, the
tables, and the translation of errors of SQLite and the disk.
"""

import ctypes
import errno
import os
import sqlite3
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import repeat
from pathlib import Path
from threading import get_ident
from typing import Self, TypeVar
from weakref import finalize

from todoplan.codec.documents import VERSION
from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, StoreError
from todoplan.lazy import listing
from todoplan.stores.base import (
    ALL,
    Key,
    LocalHold,
    Receipt,
    checked_receipt,
    cut_off,
    entry_of_line,
    follow,
    gone_back,
    is_snapshot_due,
    line_of_entry,
    plan_of_snapshot,
    snapshot_of_plan,
    stored_name,
    text_of_name,
    without_gaps,
)
from todoplan.stores.locks import (
    PRIVATE,
    LockQueue,
    Turn,
    busy,
    lock_file,
    lock_of,
    locked,
    missing_folder,
    paused,
    problem_of,
    sync_folder,
    unlocked,
)

__all__ = ["SqliteStore"]
__dir__ = listing(__all__)


# -------- errors --------
# Errors of SQLite and the operating system, turned into a StoreError that says what to do.
#
# When one of these errors is raised, nothing of the append was saved: a transaction is atomic, and
# a failed one is rolled back before the error reaches the caller.


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
        "bring back a copy from before, or save what can be read with sqlite3's .recover",
    ),
    sqlite3.SQLITE_IOERR: (
        "io_error",
        "the disk failed",
        "look into the system's log; a copy of the file on another disk may still be good",
    ),
    sqlite3.SQLITE_BUSY: (
        "busy",
        "somebody else has held it for too long",
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
# Shared with a host or a service. Whether this is safe cannot be determined here.
_SHARED = {"9p", "fuse.sshfs", "fuse.glusterfs", "vboxsf", "virtiofs", "vmhgfs"}

WAL_RESET_BUG = not (
    sqlite3.sqlite_version_info >= (3, 51, 3) or (3, 50, 7) <= sqlite3.sqlite_version_info < (3, 51)
)
"""
Whether this SQLite has the WAL-reset bug (3.7.0 to 3.51.2): a database may be damaged if one
connection writes while another checkpoints the log into the file. We hold our own lock during both.
"""

_warned: set[str] = set()


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether a retry may help."""
    return _code(error) in _AGAIN


def is_unwritable(error: sqlite3.Error) -> bool:
    """Return whether SQLite could not open or write a file that it needs beside the database."""
    return _code(error) in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}


class in_words:  # noqa: N801 - used like a function: `with in_words(path):`
    """
    Context manager that turns errors of SQLite and the operating system into a StoreError.

    Raises:
        StoreError: `data["problem"]` names the problem, and the message says what to do.
    """

    # A class, because every append uses five of these context managers, and one made from a
    # generator takes as long as an SQL statement.
    __slots__ = ("_done", "_path")

    def __init__(self, path: Path, done: str = "written") -> None:
        self._path, self._done = path, done

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, sqlite3.Error):
            code = sqlite3.SQLITE_BUSY if is_busy(error) else _code(error)
            problem, seen, remedy = _WORDS.get(code, ("refused", "SQLite refuses", "see why"))
            if self._done == "read" and is_unwritable(error):
                problem, seen, remedy = _UNREADABLE
            raise refusal(self._path, problem, f"{seen} ({error})", remedy) from error
        if isinstance(error, OSError):
            reason = str(error.strerror)
            remedy = missing_folder(self._path) or "see whether it is there"
            raise refusal(self._path, problem_of(error), reason, remedy) from error


def refusal(path: Path, problem: str, seen: str, remedy: str) -> StoreError:
    """Return the StoreError for a problem with a database."""
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
            f"it is on a network's file system ({kind}), where SQLite loses plans",
            "put it on a disk of this machine; for many machines take a PostgresStore",
        )
    if kind in _SHARED:
        _warn_once(
            f"{path} is on a file system that is shared with others ({kind}): a database is safe "
            "there only while one machine uses it; put it on a disk of this machine if you can"
        )


def warn_of_missing_locks(path: Path) -> None:
    """Warn once if files cannot be locked and this SQLite needs our lock."""
    if WAL_RESET_BUG:
        _warn_once(
            f"{path}: SQLite {sqlite3.sqlite_version} can damage a database that two processes "
            "write, and files cannot be locked here, by which that is avoided elsewhere; take "
            "SQLite 3.51.3 or later, or write from one process alone"
        )


def _warn_once(msg: str) -> None:
    if msg not in _warned:
        _warned.add(msg)
        warnings.warn(msg, stacklevel=2)


def _file_system(path: Path) -> str:
    """Return the type of the file system of a path, "" if it cannot be determined."""
    try:
        lines = Path("/proc/self/mounts").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""  # not Linux
    mounts = [line.split(" ")[1:3] for line in lines]
    # A space in a mount point is written as \040.
    above = [(at.replace("\\040", " "), kind) for at, kind in mounts]
    found = sorted((len(at), kind) for at, kind in above if path.is_relative_to(at))
    return found[-1][1] if found else ""


def _code(error: sqlite3.Error) -> int:
    # Errors raised by Python have no code. The higher bits are details that are not needed.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


# -------- schema --------
# The tables. Every key begins with the plan's id, and no statement spans plans, so that a plan can
# be moved to another file with all its rows.


APPLICATION = 0x746F646F
"""
The application id of our files, "todo". `file` and other tools identify databases by this number.
"""

FORMAT = 1
"""The version of the tables, in SQLite's `user_version`. Rows state a version of their own."""

# `plan` has a row id, which gives the order in which plans were added. The other tables are stored
# in key order, so that the newest entries of a journal are contiguous in the file.
TABLES = (
    """
    CREATE TABLE plan (
        id TEXT PRIMARY KEY,
        revision INTEGER NOT NULL,
        since INTEGER NOT NULL,  -- bytes of entries since the last snapshot
        size INTEGER NOT NULL    -- bytes of the last snapshot
    )
    """,
    """
    CREATE TABLE entry (
        plan_id TEXT NOT NULL,
        revision INTEGER NOT NULL,
        version INTEGER NOT NULL,
        line TEXT NOT NULL,
        PRIMARY KEY (plan_id, revision)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE snapshot (
        plan_id TEXT PRIMARY KEY,
        revision INTEGER NOT NULL,
        version INTEGER NOT NULL,
        document TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE receipt (
        plan_id TEXT NOT NULL,
        key TEXT NOT NULL,
        payload TEXT NOT NULL,
        before INTEGER NOT NULL,    -- the revision before its entries, and after them
        after INTEGER NOT NULL,
        answer TEXT NOT NULL,
        PRIMARY KEY (plan_id, key)
    ) WITHOUT ROWID
    """,
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)


# -------- opening --------
# Opening a database: creating it, by any number of processes at once, and recognizing it later.


T = TypeVar("T")
Identity = tuple[int, int]
"""Device and inode. A file that replaces another one at the same path has a different identity."""

Log = tuple[Identity | None, ...]
"""The identities of SQLite's log and of the log's index while a connection has them open."""


class Connection(sqlite3.Connection):
    """A connection that remembers the identity of the log that it writes."""

    log: Log = (None, None)


DURABLE = "PRAGMA synchronous = FULL"
"""
Commits are synced to disk. Set on each connection, because the file does not store the setting.
"""


def log_of(path: Path) -> Log:
    """Return the identities of the files where SQLite keeps a database's log."""
    return tuple(_identity(f"{path}{end}") for end in ("-wal", "-shm"))


def _identity(path: str | Path) -> Identity | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - on every call, and in a third of the time of Path.stat
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def connect(path: Path, *, create: bool, mode: str = "mode=rw") -> Connection:
    """
    Open a connection to the file at a path. With `create`, the file is created if there is none.

    Raises:
        StoreError: a database is not safe on this file system.
        sqlite3.Error: the file cannot be opened.
        OSError: the file cannot be created.
    """
    check_place(path)
    if create:
        # Created with owner-only permissions, which SQLite would leave to the umask. Closed before
        # SQLite opens the file.
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
    Return whether a database has our tables. An empty database has none but may get them.

    Raises:
        StoreError: the database belongs to another program ("foreign") or to a newer todoplan
            ("newer_format").
    """
    # Count the tables first: another process may create them between these queries, and tables
    # without our application id look like another program's (one of 320 openings reported that).
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if (application, version) == (APPLICATION, FORMAT):
        return True
    if application == APPLICATION:
        seen = f"its tables have the form {version}, and this todoplan knows {FORMAT}"
        raise refusal(path, "newer_format", seen, "upgrade todoplan")
    if tables or application:
        seen = "it is a database, but none of plans"
        raise refusal(path, "foreign", seen, "give the plans a file of their own")
    return False


def set_up(connection: Connection, path: Path, end: float) -> None:
    """Create the tables of an empty database, all or none."""
    # If others are reading, this fails immediately, whatever the timeout: one of 320 openings did.
    again(lambda: connection.execute("PRAGMA journal_mode = WAL"), end)
    again(lambda: connection.execute("BEGIN IMMEDIATE"), end)
    # Check again: where files cannot be locked, another process may have been first.
    if not is_ours(connection, path):
        for statement in TABLES:
            connection.execute(statement)
    connection.execute("COMMIT")
    sync_folder(path.parent)


def again(job: Callable[[], T], end: float) -> T:
    """
    Call `job`, and repeat the call while SQLite reports that the database is in use.

    `end` is the deadline by `time.monotonic`.

    Raises:
        sqlite3.Error: the call failed for another reason, or still fails at the deadline.
    """
    began = time.monotonic()
    while True:
        try:
            return job()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or not paused(began, end):
                raise


# -------- connections --------
# Connections to one database, which threads and processes share.
#
# - Writing and closing take our own lock on `<file>.lock` in addition to SQLite's lock. SQLite's
#   lock has no fair queue: because of its growing pauses, one of 32 processes waited 3.6 seconds.
#   And up to SQLite 3.51.2, two connections that write and checkpoint at the same moment may
#   damage the database (`WAL_RESET_BUG`). A newer SQLite takes our lock too, because
#   another process may use an older one. For programs that do not take our lock (the sqlite3
#   shell), SQLite's lock still works.
# - Only SQLite opens the database file: closing any other descriptor of it would release all locks
#   that this process has on the file (POSIX).
# - A connection is used by one thread at a time. A forked child does not use its parent's
#   connections and leaves them unclosed; it opens its own.
# - If the database file or SQLite's log was deleted or replaced, that is an error: SQLite would
#   continue to write into a file that nobody can see any more.


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
        # For the effective user, as the operating system checks.
        is_effective = os.access in os.supports_effective_ids
        if os.access(self.path.parent, os.W_OK, effective_ids=is_effective):
            return False
        log = Path(f"{self.path}-wal")
        # In immutable mode SQLite ignores the log: committed entries would be missing.
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
        After a read, put the connection back among the idle ones. If it is not sound, close it
        under the lock.
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
        Return the identity of the file at the path, `None` if there is none.

        Raises:
            StoreError: the file that was in use is gone ("deleted"), or another one has replaced it
                ("rolled_back").
            OSError: the folder is missing.
        """
        identity = _identity(self.path)
        if identity is None:
            # A missing folder is a misspelled path. Reading reports it, before any work is lost.
            self.path.parent.stat()
        if self._identity in (None, identity):
            return identity
        problem, seen = (
            ("deleted", "it is not there any more")
            if identity is None
            else ("rolled_back", "another file has taken its place while it was in use")
        )
        remedy = "bring it back, or make a new SqliteStore to continue from this file"
        raise refusal(self.path, problem, seen, remedy)

    def after_fork(self) -> None:
        """Start with new connections if this process is a forked child."""
        if self.process != os.getpid():
            _leave_open(*self.idle)
            self._begin_anew()


def _close(path: Path, process: int, idle: _Idle) -> None:
    """Close connections under our lock, or leave them open until the process ends."""
    # The last connection to close copies the log into the file, like a checkpoint.
    lock: list[int] = []
    taken: list[Connection] = []
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
        # Taken first: another thread may use the store meanwhile, and must not get a closed one.
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


# -------- the locked plan --------
# All operations on a locked plan are within one SQLite transaction.


TO_THE_END = 2**63 - 1
"""SQLite's largest integer: no revision is larger."""

_PLAN = "SELECT revision, since, size FROM plan WHERE id = ?"
_ENTRIES = """
    SELECT revision, version, line FROM entry
    WHERE plan_id = ? AND revision > ? AND revision <= ? ORDER BY revision
"""
_APPEND = "INSERT INTO entry (plan_id, revision, version, line) VALUES (?, ?, ?, ?)"
_MOVE = """
    INSERT INTO plan (id, revision, since, size) VALUES (?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE
    SET revision = excluded.revision, since = excluded.since, size = excluded.size
"""
_SNAPSHOT = """
    INSERT INTO snapshot (plan_id, revision, version, document) VALUES (?, ?, ?, ?)
    ON CONFLICT (plan_id) DO UPDATE
    SET revision = excluded.revision, version = excluded.version, document = excluded.document
"""
_RECEIPT = "SELECT payload, before, after, answer FROM receipt WHERE plan_id = ? AND key = ?"
_CUT = "DELETE FROM entry WHERE plan_id = ? AND revision <= ?"
_FORGET = "DELETE FROM receipt WHERE plan_id = ? AND after <= ?"
_SIGN = """
    INSERT INTO receipt (plan_id, key, payload, before, after, answer) VALUES (?, ?, ?, ?, ?, ?)
"""


def revision_of(connection: Connection, name: str) -> int:
    """Return the revision of a plan by its stored name; 0 if the plan was never written."""
    row = connection.execute(_PLAN, (name,)).fetchone()
    return row[0] if row else 0


def entries_between(
    connection: Connection, plan_id: str, after: int, until: int = TO_THE_END
) -> tuple[Entry, ...]:
    """Return the entries after revision `after`, up to and including revision `until`."""
    rows = connection.execute(_ENTRIES, (stored_name(plan_id), after, until)).fetchall()
    return tuple(entry_of_line(plan_id, *row) for row in rows)


class SqliteHold(LocalHold):
    """
    A plan that is locked by a write transaction, and with it the whole file.

    After any exception the transaction is rolled back and the locks are released.
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
            StoreError: somebody else has written for too long, or this thread already has a
                transaction; or the database cannot be written, or its file was deleted or replaced.
        """
        mine = self._connections
        mine.after_fork()
        # The objects of this process: a forked child has other ones.
        self._turns, self._idle = mine.turn, mine.idle
        self._process, end = mine.process, time.monotonic() + mine.patience
        self._turns.take(self._turn, mine.patience)
        with in_words(mine.path):
            mine.lock(self._lock, end)
            _holders[mine.path] = get_ident()
            mine.on_disk()
            mine.take(self._taken, end, create=True)
            connection = self._taken[0]
            again(lambda: connection.execute("BEGIN IMMEDIATE"), end)
            row: tuple[int, int, int] | None = connection.execute(_PLAN, (self._name,)).fetchone()
        self.revision, self._since, self._size = row or (0, 0, 0)

    def keep(self) -> None:
        """
        Commit what was appended.

        Raises:
            StoreError: an append failed halfway, and its error was caught inside the `with`; or
                this process was forked from the one that began the transaction, and cannot commit.
        """
        if self._is_broken:
            msg = (
                f"an append to the plan {self._plan_id!r} failed, and its exception was caught: "
                "none of the appended entries are kept; let the exception pass"
            )
            raise StoreError(msg, plan_id=self._plan_id, problem="broken")
        if self._process != os.getpid():
            raise refusal(
                self._path,
                "forked",
                "this process was forked while a plan was held, which its parent goes on holding",
                "fork before or after, and hold the plan again in the child",
            )
        with in_words(self._path):
            self._taken[0].execute("COMMIT")
        self._is_sound = True

    def release(self) -> None:
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
                _holders.pop(self._path, None)
            unlocked(self._lock, self._process)
            self._turns.give_back(self._turn)

    def receipt(self, key: Key) -> Receipt | None:
        """
        Return the result of the append that carried this key.

        Raises:
            StoreError: the key was used with another payload ("key_reused").
        """
        given = (self._name, stored_name(key.name))
        with in_words(self._path):
            row = self._connection().execute(_RECEIPT, given).fetchone()
        if row is None:
            return None
        payload, before, after, answer = row
        # Check the key first: entries of a different request are not read.
        found = checked_receipt(self._plan_id, key, payload, Receipt((), answer))
        return Receipt(self._between(before, after), found.answer)

    def compact(self, keep: int | timedelta) -> int:
        """
        Cut the journal: see `SqliteStore.compact`.

        Raises:
            PlanError: `keep` is neither a number of entries nor an age.
        """
        cut = cut_off(self._between(ALL), keep, self.now())
        if cut is None:
            return 0
        removed, first, plan = cut
        line = line_of_entry(self._plan_id, first)
        with self._at_once() as connection:
            connection.execute(_CUT, (self._name, first.revision))
            connection.execute(_FORGET, (self._name, first.revision))
            connection.execute(_APPEND, (self._name, first.revision, VERSION, line))
            self._keep(connection, plan)
            connection.execute(_MOVE, (self._name, self.revision, self._since, self._size))
        return removed

    def _after(self, revision: int) -> tuple[Entry, ...]:
        return self._between(revision)

    def _add(self, entries: tuple[Entry, ...], plan: Plan, key: Key | None, answer: str) -> None:
        # Encode before the first statement: if that raises, nothing was written.
        lines = [line_of_entry(self._plan_id, entry) for entry in entries]
        with self._at_once() as connection:
            for entry, line in zip(entries, lines, strict=True):
                connection.execute(_APPEND, (self._name, entry.revision, VERSION, line))
                self._since += len(line.encode())
            if is_snapshot_due(self._since, self._size):
                self._keep(connection, plan)
            connection.execute(_MOVE, (self._name, plan.revision, self._since, self._size))
            if key is not None:
                signed = (key.payload, self.revision, plan.revision, answer)
                connection.execute(_SIGN, (self._name, stored_name(key.name), *signed))
            self.revision = plan.revision

    def _keep(self, connection: Connection, plan: Plan) -> None:
        """Save the plan's snapshot, from which it is loaded."""
        document = snapshot_of_plan(plan)
        self._since, self._size = 0, len(document.encode())
        connection.execute(_SNAPSHOT, (self._name, plan.revision, VERSION, document))

    def _between(self, after: int, until: int = TO_THE_END) -> tuple[Entry, ...]:
        with in_words(self._path):
            return entries_between(self._connection(), self._plan_id, after, until)

    @contextmanager
    def _at_once(self) -> Iterator[Connection]:
        """Yield the connection for statements that are saved together or not at all."""
        with in_words(self._path):
            connection = self._connection()
            self._is_broken = True
            yield connection
            self._is_broken = False

    def _connection(self) -> Connection:
        self._check()
        return self._taken[0]


# -------- store --------
# `SqliteStore`: plans by id in one SQLite database.


_STORE_SNAPSHOT = "SELECT document FROM snapshot WHERE plan_id = ?"
_NAMES = "SELECT id FROM plan ORDER BY rowid"


class SqliteStore:
    """
    A `HoldingStore` in one SQLite database. Safe between threads and processes of one machine.

    A change is synced to disk before the call returns. A writer waits for others for at most
    `patience` seconds, then raises a StoreError whose `data["problem"]` is "busy". The first append
    creates the file, readable by its owner only. A store may be used after a fork.
    """

    def __init__(self, path: str | os.PathLike[str], *, patience: float = 10.0) -> None:
        given: object = path
        named = os.fspath(path) if isinstance(given, str | os.PathLike) else ""
        if not named or "\0" in named or "://" in named or named == ":memory:":
            msg = (
                f"{path!r} is no path; give the name of a file, such as SqliteStore('plans.db'); "
                "open_store takes a URL, and MemoryStore() keeps plans in memory"
            )
            raise StoreError(msg, seen=path)
        # Symbolic links are resolved, so that all names of a file have one lock. Made absolute now,
        # because the process may change its working directory.
        self.path = Path(named).resolve()
        self._connections = Connections(self.path, patience)

    def load(self, plan_id: str) -> Plan:
        """
        Return the plan as its last entry left it.

        Raises:
            StoreError: the database cannot be read; `data["problem"]` says why.
            CodecError: a row of the plan is damaged, or of a newer version.
        """
        name = stored_name(plan_id)

        def load(connection: Connection) -> Plan:
            row = connection.execute(_STORE_SNAPSHOT, (name,)).fetchone()
            plan = plan_of_snapshot(plan_id, *row) if row else Plan()
            # Two queries without a transaction: rows committed between them are only newer entries.
            return follow(plan, entries_between(connection, plan_id, plan.revision))

        return self._connections.read(load, Plan())

    def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """
        Return the plan's journal, oldest entry first.

        Raises:
            TodoplanError: the same errors as `load`.
        """
        stored_name(plan_id)
        return self._connections.read(
            lambda connection: tuple(without_gaps(entries_between(connection, plan_id, ALL))), ()
        )

    def entries_since(self, plan_id: str, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries after a revision, oldest first.

        Raises:
            TodoplanError: the same errors as `load`; a StoreError ("rolled_back") if the plan has
                not reached that revision.
        """
        name = stored_name(plan_id)

        def tail(connection: Connection) -> tuple[Entry, ...]:
            found = revision_of(connection, name)
            if revision > found:
                raise gone_back(plan_id, revision, found)
            # Usually there is nothing new.
            return () if revision == found else entries_between(connection, plan_id, revision)

        return self._connections.read(tail, ())

    def plan_ids(self) -> tuple[str, ...]:
        """
        Return the ids of the plans in the database, in the order in which they were added.

        Raises:
            StoreError: the same errors as `load`.
        """
        names: list[tuple[str]] = self._connections.read(
            lambda connection: connection.execute(_NAMES).fetchall(), []
        )
        return tuple(text_of_name(name) for (name,) in names)

    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Add entries if the plan is at revision `expected`; return whether they were added.

        Raises:
            TodoplanError: the same errors as `hold`; a CodecError if an entry contains a value that
                JSON cannot represent.
        """
        return self.hold(plan_id).append_if_at(expected, entries, plan)

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

    def compact(self, plan_id: str, *, keep: int | timedelta) -> int:
        """
        Cut a plan's journal and return the number of removed entries.

        `keep` is the number of newest entries to keep, or the maximum age of the entries to keep.
        One entry replaces the removed ones. It has the plan as it was then, with that revision and
        time. Undo cannot go back further than this entry. Idempotency keys of removed entries are
        deleted.

        Raises:
            PlanError: `keep` is neither a number of entries nor an age.
            TodoplanError: the same errors as `hold`.
        """
        return self.hold(plan_id).done(lambda held: held.compact(keep))

    def close(self) -> None:
        """Close the idle connections. A store that is used again opens new ones."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
