"""Opening a database: creating it, by any number of processes at once, and recognizing it later."""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from todoplan.stores.locked_file import sync_folder
from todoplan.stores.locks import PRIVATE, paused
from todoplan.stores.sqlite.schema import APPLICATION, FORMAT, TABLES
from todoplan.stores.sqlite.weather import check_place, is_busy, refusal

__all__ = [
    "DURABLE",
    "Connection",
    "Identity",
    "again",
    "connect",
    "identity_of",
    "is_ours",
    "log_of",
    "set_up",
]

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


def identity_of(path: Path, known: Identity | None) -> Identity | None:
    """
    Return the identity of the file at a path, `None` if there is none, and compare it with `known`.

    Raises:
        StoreError: the known file is gone ("deleted"), or another file has replaced it
            ("rolled_back").
        OSError: the folder is missing.
    """
    identity = _identity(path)
    if identity is None:
        # A missing folder is a misspelled path. Reading reports it, before any work is lost.
        path.parent.stat()
    if known in (None, identity):
        return identity
    problem, seen = (
        ("deleted", "it is not there any more")
        if identity is None
        else ("rolled_back", "another file has taken its place while it was in use")
    )
    remedy = "bring it back, or make a new SqliteStore to go on from what is there"
    raise refusal(path, problem, seen, remedy)


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
