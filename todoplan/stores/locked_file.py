"""
A file that many processes write: one at a time, whole, and never lost.

Writing is: lock, read, write a new file beside it, put that in its place, let go. The new file
takes the old one's place at once (`rename`), so a reader needs no lock and sees all of it or none.

Two locks are held (`todoplan.stores.locks`). The one on `<file>.lock` is there before the file is.
But lock files get deleted, and then the next writer makes a new one while an earlier writer still
works. So the file itself is locked too. Where there is no file yet, the new one is linked to its
place, which fails if another has come there meanwhile.
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
_STALE = 60.0  # seconds: nobody takes so long to write a file of this size
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS}  # file systems such as FAT
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP}  # of a folder, on file systems that have no such thing


@contextmanager
def refusing(path: Path, done: str) -> Iterator[None]:
    """
    Raise what goes wrong with a file as a StoreError; `done` is what was to be done with it.
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
    """
    Return the word for what the system refused.
    """
    return _PROBLEMS.get(error.errno or 0, "cannot_open")


def missing_folder(path: Path) -> str:
    """
    Return what to do where a file's folder is missing; "" if it is there.
    """
    return "" if path.parent.is_dir() else f"make the folder {path.parent} first"


def open_plain(taken: list[int], path: Path) -> int:
    """
    Open a file to read it; a symbolic link is not followed.
    """
    return opened(taken, path, os.O_RDONLY | NOFOLLOW)


def lock(taken: tuple[list[int], list[int]], path: Path, patience: float) -> None:
    """
    Take the locks of a file, waiting for them no longer than `patience` seconds.

    Raises:
        StoreError: somebody else holds one for longer than that, or there are no locks here.
        OSError: there is no such folder, or no permission.
    """
    end = time.monotonic() + patience
    # Always in this order, so that no two writers wait for each other.
    first, second = taken
    locked(first, lock_of(path), lambda: lock_file(first, path), end, patience)
    with suppress(FileNotFoundError):
        locked(second, path, lambda: open_plain(second, path), end, patience)


def write_anew(path: Path, document: bytes, *, is_first: bool) -> os.stat_result:
    """
    Put a document in the place of a file, with its permissions, and return what it is now. If it
    `is_first`, there was no file when the writer looked, and there must be none now.

    It is on the disk; that the folder knows it is for `sync_folder`.

    Raises:
        FileExistsError: there was no file, and now there is one: nothing was written.
    """
    before = None if is_first else os.lstat(path)
    # A name of our own: under a fixed one, a file of the user's would be in our way.
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
        # Before it is put in place: a power cut must not leave half of a document there.
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
        # Only root can give a file away, and must: else its owner could not go on.
        owner = before.st_uid if os.geteuid() == 0 else -1
        try:
            os.fchown(descriptor, owner, before.st_gid)
        except PermissionError:
            mode &= ~stat.S_IRWXG  # what that group could do, ours must not
    os.fchmod(descriptor, mode)


def sync_folder(folder: Path) -> None:
    """
    Have the names in a folder written to the disk.
    """
    # A rename changes the folder: to sync the file alone does not make it last.
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
    """
    Remove new files that writers left behind who were killed before they put them in place.
    """
    ours = re.compile(re.escape(path.name) + r"\.[0-9a-f]{16}\.new")
    with suppress(OSError), os.scandir(path.parent) as found:
        for each in found:
            if ours.fullmatch(each.name) and time.time() - each.stat().st_mtime > _STALE:
                Path(each.path).unlink()
