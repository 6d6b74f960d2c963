"""
A file that several processes write, one at a time, completely, and without losing changes.

To write, a process locks the file, reads it, writes a new file next to it, renames the new file to
the old name, and releases the locks. The rename is atomic, so a reader needs no lock and sees
either the old file or the new one.

A writer takes two locks (`todoplan.stores.locks`). The lock on `<file>.lock` exists before the file
does. But lock files get deleted, and the next writer then creates a new lock file while an earlier
writer is still working. So the file itself is locked as well. If there is no file yet, the new file
is linked to its name, which fails if another writer has created the file in the meantime.
"""

import errno
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from todoplan.errors import StoreError
from todoplan.stores.locks import NOFOLLOW, closed, lock_file, lock_of, locked, opened

_PROBLEMS = {
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.EROFS: "read_only",
    errno.EIO: "io_error",
    errno.EFBIG: "too_large",
}
_REMEDIES = {
    "disk_full": "make room, and try again",
    "read_only": "see whether this user may write the file and its folder",
    "io_error": "look into the system's log",
    "too_large": "keep other plans in another file, or take a SqliteStore",
}
_STALE = 60.0  # seconds; no write of a file of this size takes so long
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS}  # file systems such as FAT
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP}  # file systems that cannot sync a folder


@contextmanager
def refusing(path: Path, done: str) -> Iterator[None]:
    """
    Turn an OSError of a file into a StoreError. `done` names the operation: "read" or "written".
    """
    try:
        yield
    except OSError as error:
        linked = error.errno == errno.ELOOP
        reason = "it is a symbolic link; name the file itself" if linked else error.strerror
        problem = problem_of(error)
        if done == "written" and error.errno in {errno.EACCES, errno.EPERM}:
            problem = "read_only"
        remedy = missing_folder(path) or _REMEDIES.get(problem, "")
        msg = f"{path} cannot be {done}: {reason}{remedy and f'; {remedy}'}"
        raise StoreError(msg, file=str(path), problem=problem) from error


def problem_of(error: OSError) -> str:
    """Return the value of `data["problem"]` for an operating system error."""
    return _PROBLEMS.get(error.errno or 0, "cannot_open")


def missing_folder(path: Path) -> str:
    """Return the remedy if the file's folder is missing; "" if the folder exists."""
    return "" if path.parent.is_dir() else f"make the folder {path.parent} first"


def open_plain(taken: list[int], path: Path) -> int:
    """Open a file for reading without following a symbolic link."""
    return opened(taken, path, os.O_RDONLY | NOFOLLOW)


def lock(taken: tuple[list[int], list[int]], path: Path, patience: float) -> None:
    """
    Take both locks of a file, waiting at most `patience` seconds.

    Raises:
        StoreError: another process holds a lock for longer than that, or this system has no file
            locks.
        OSError: there is no such folder, or no permission.
    """
    end = time.monotonic() + patience
    # Always in this order, so that two writers cannot deadlock.
    first, second = taken
    locked(first, lock_of(path), lambda: lock_file(first, path), end, patience)
    with suppress(FileNotFoundError):
        locked(second, path, lambda: open_plain(second, path), end, patience)


def write_anew(path: Path, document: bytes, *, is_first: bool) -> os.stat_result:
    """
    Replace a file with a document, keep the file's permissions, and return the new file's status.

    If `is_first`, the writer has seen no file, and there must be none now. The content is synced to
    disk; call `sync_folder` to sync the folder entry.

    Raises:
        FileExistsError: `is_first` is set and the file exists now. Nothing was written.
    """
    before = None if is_first else os.lstat(path)
    # A random name: under a fixed name, one of the user's files could be in the way.
    new = path.with_name(f"{path.name}.{token_hex(8)}.new")
    flags, taken = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW, list[int]()

    def tidy_up() -> None:
        closed(taken)
        new.unlink(missing_ok=True)

    try:
        descriptor = opened(taken, new, flags)
        with open(descriptor, "wb", closefd=False) as file:
            file.write(document)
        if before is not None:
            _keep_permissions(descriptor, before)
        # Before the rename: a power failure must not leave half a document under the final name.
        os.fsync(descriptor)
        after = os.fstat(descriptor)
        try:
            if before is None:
                os.link(new, path)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            before = after
        if before is not None:
            new.replace(path)
    finally:
        try:
            tidy_up()
        finally:
            tidy_up()
    return after


def _keep_permissions(descriptor: int, before: os.stat_result) -> None:
    mode = stat.S_IMODE(before.st_mode)
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        # Only root can change the owner, and must do so: otherwise the owner could not continue.
        owner = before.st_uid if os.geteuid() == 0 else -1
        try:
            os.fchown(descriptor, owner, before.st_gid)
        except PermissionError:
            mode &= ~stat.S_IRWXG  # our group must not get the rights of the other group
    os.fchmod(descriptor, mode)


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that its file names are on disk."""
    # A rename changes the folder; syncing only the file does not make the rename durable.
    taken: list[int] = []
    try:
        os.fsync(opened(taken, folder, os.O_RDONLY))
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        try:
            closed(taken)
        finally:
            closed(taken)


def remove_stale(path: Path) -> None:
    """Remove temporary files of writers that were killed before the rename."""
    ours = re.compile(re.escape(path.name) + r"\.[0-9a-f]{16}\.new")
    with suppress(OSError), os.scandir(path.parent) as found:
        for each in found:
            if ours.fullmatch(each.name) and time.time() - each.stat().st_mtime > _STALE:
                Path(each.path).unlink()
