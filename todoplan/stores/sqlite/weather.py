"""
Errors of SQLite and the operating system, turned into a StoreError that says what to do.

When one of these errors is raised, nothing of the append was saved: a transaction is atomic, and a
failed one is rolled back before the error reaches the caller.
"""

import os
import sqlite3
import warnings
from pathlib import Path

from todoplan.errors import StoreError
from todoplan.stores.locked_file import missing_folder, problem_of

__all__ = [
    "WAL_RESET_BUG",
    "check_place",
    "in_words",
    "is_busy",
    "is_unwritable",
    "is_writable",
    "refusal",
    "warn_of_missing_locks",
]

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


def is_writable(path: Path) -> bool:
    """Return whether this user may write in the folder of a file."""
    # For the effective user, as the operating system checks.
    return os.access(path.parent, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


class in_words:  # noqa: N801 - used like a function: `with in_words(path):`
    """
    Context manager that turns errors of SQLite and the operating system into a StoreError.

    Raises:
        StoreError: `data["problem"]` names the problem, and the message says what to do.
    """

    # A class, because every append passes through five of these, and a generator takes as long as
    # an SQL statement.
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
