"""
How a database is opened for the first time, by any number of processes at once, and known again.
"""

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
"""Device and inode: another file at the same path has another one."""

Log = tuple[Identity | None, ...]
"""Those of SQLite's log and of its index, as long as a connection has them open."""


class Connection(sqlite3.Connection):
    """
    A connection that knows which log it writes.
    """

    log: Log = (None, None)


DURABLE = "PRAGMA synchronous = FULL"
"""What is acknowledged is on the disk. Of each connection: the file does not remember it."""


def log_of(path: Path) -> Log:
    """
    Return what stands where SQLite keeps the log of a database.
    """
    return tuple(_identity(f"{path}{end}") for end in ("-wal", "-shm"))


def _identity(path: str | Path) -> Identity | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - at every call, and a third of the time of Path's
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def identity_of(path: Path, known: Identity | None) -> Identity | None:
    """
    Return what stands at a path, `None` if nothing does. It must be what is `known`, if anything.

    Raises:
        StoreError: the file that was used is gone ("deleted"), or another has taken its place
            ("rolled_back").
        OSError: there is not even a folder.
    """
    identity = _identity(path)
    if identity is None:
        # A folder that is missing is a misspelled path: told on reading, before work is lost.
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
    Return a connection to the file at a path; with `create` it is made if there is none.

    Raises:
        StoreError: no database is safe there.
        sqlite3.Error: it cannot be opened.
        OSError: it cannot be made.
    """
    check_place(path)
    if create:
        # Its owner's alone, which SQLite would leave to the umask. Closed before SQLite opens it.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
    return sqlite3.connect(
        f"{path.as_uri()}?{mode}",
        uri=True,
        timeout=0,  # we wait by ourselves, see `again`
        isolation_level=None,  # Python's own BEGIN is deferred, and fails when it comes to writing
        check_same_thread=False,
        factory=Connection,
    )


def is_ours(connection: Connection, path: Path) -> bool:
    """
    Say whether a database is one of ours; it is not, but may become one, if it is empty.

    Raises:
        StoreError: it is another program's ("foreign"), or a newer todoplan's ("newer_format").
    """
    # The tables first: another process may set it up between these looks, and tables without our
    # mark are another program's (one of 320 openings said so).
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
    """
    Make the tables of an empty database, all or none.
    """
    # Where others read, this fails at once whatever the timeout: one of 320 openings did.
    again(lambda: connection.execute("PRAGMA journal_mode = WAL"), end)
    again(lambda: connection.execute("BEGIN IMMEDIATE"), end)
    # Once more: where files cannot be locked, somebody may have come first.
    if not is_ours(connection, path):
        for statement in TABLES:
            connection.execute(statement)
    connection.execute("COMMIT")
    sync_folder(path.parent)


def again(job: Callable[[], T], end: float) -> T:
    """
    Do something that SQLite may refuse since somebody else is at it, until it is done.

    `end` is the last moment, by `time.monotonic`.

    Raises:
        sqlite3.Error: it is refused for another reason, or still at the end.
    """
    began = time.monotonic()
    while True:
        try:
            return job()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or not paused(began, end):
                raise
