"""
A file that many processes write: one at a time, whole, and never lost.

Writing is: lock, read, write a new file beside it, put that in its place, let go. The new file
takes the old one's place at once (`rename`), so a reader needs no lock and sees all of it or none.

Two locks are held, both of `flock`. The one on `<file>.lock` is there before the file is. But lock
files get deleted, by people who tidy up or by a sync service, and then the next writer makes a new
one while an earlier writer still works. So the file itself is locked too, and whoever has waited
for a lock looks again whether what it locked is still what stands at that path: a file that was put
in its place, or a lock that was made anew, is another one. Where there is no file yet, the new one
is linked to its place, which fails if another has come there meanwhile.

- The lock is polled. `flock` can wait by itself, but without a deadline: a process that is stopped
  while it holds the lock would stop all others with it. Who has waited long asks more often, which
  keeps a crowd of writers in rough order; asking costs two microseconds.
- It is released with LOCK_UN before the file is closed. A child that was forked meanwhile has a
  copy of the descriptor, and a lock that is only closed lives until the last copy is.
"""

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from random import uniform
from secrets import token_hex

from todoplan.errors import StoreError

__all__ = [
    "PRIVATE",
    "busy",
    "held",
    "is_at",
    "lock_file_held",
    "missing_folder",
    "no_locks",
    "open_lock_file",
    "open_plain",
    "paused",
    "refusing",
    "remove_stale",
    "sync_folder",
    "unlocked",
    "write_anew",
]

PRIVATE = 0o600
# Without O_NONBLOCK, to open a named pipe would wait for its other end.
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
# Seconds between two attempts: the pauses shrink from the first to the second within 0.7 s.
_SLOWEST, _QUICKEST = 0.008, 0.001
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
        remedy = missing_folder(path)
        msg = f"{path} cannot be {done}: {reason}{remedy and f'; {remedy}'}"
        raise StoreError(msg, file=str(path)) from error


def missing_folder(path: Path) -> str:
    """
    Return what to do where a file's folder is missing; "" if it is there.
    """
    return "" if path.parent.is_dir() else f"make the folder {path.parent} first"


def open_plain(path: Path) -> int:
    """
    Return a descriptor to read a file with; a symbolic link is not followed.
    """
    return os.open(path, os.O_RDONLY | _NOFOLLOW)


@contextmanager
def held(path: Path, patience: float) -> Iterator[None]:
    """
    Hold the locks of a file, waiting for them no longer than `patience` seconds.

    Raises:
        StoreError: somebody else holds one for longer than that, or there are no locks here.
        OSError: there is no such folder, or no permission.
    """
    end = time.monotonic() + patience
    with ExitStack() as locks:
        # Always in this order, so that no two writers wait for each other.
        locks.enter_context(lock_file_held(path, patience))
        with suppress(FileNotFoundError):
            locks.enter_context(_locked(path, lambda: open_plain(path), end, patience))
        yield


def lock_file_held(path: Path, patience: float) -> AbstractContextManager[None]:
    """
    Hold the lock on `<file>.lock` alone: the file itself is not opened.

    Raises:
        StoreError: as of `held`.
        OSError: there is no such folder, or no permission, or the file system has no locks.
    """
    lock = path.with_name(f"{path.name}.lock")
    return _locked(lock, lambda: open_lock_file(path), time.monotonic() + patience, patience)


def open_lock_file(path: Path) -> int:
    """
    Return a descriptor of a file's lock, which is made if there is none.
    """
    lock = f"{path}.lock"
    # First as it nearly always is: an append to a database is as short as three such attempts.
    with suppress(FileNotFoundError):
        return os.open(lock, os.O_RDWR | _NOFOLLOW)
    making = os.O_RDWR | os.O_CREAT | _NOFOLLOW
    with suppress(FileExistsError), ExitStack() as unless_kept:
        descriptor = os.open(lock, making | os.O_EXCL, PRIVATE)
        unless_kept.callback(os.close, descriptor)
        with suppress(FileNotFoundError):
            # Whoever may write the file has to be able to lock it.
            os.fchmod(descriptor, PRIVATE | stat.S_IMODE(os.lstat(path).st_mode))
        unless_kept.pop_all()
        return descriptor
    # O_CREAT once more: the file that stood in our way may be deleted by now.
    return os.open(lock, making, PRIVATE)


@contextmanager
def _locked(path: Path, opened: Callable[[], int], end: float, patience: float) -> Iterator[None]:
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock  # noqa: PLC0415 - not on every system
    except ImportError:
        raise no_locks(path) from None
    began = time.monotonic()
    while True:
        # Closed at the end, whatever comes: a file system out of locks raises what no retry mends.
        with ExitStack() as letting_go:
            descriptor = opened()
            letting_go.callback(os.close, descriptor)
            try:
                flock(descriptor, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                pass
            else:
                letting_go.callback(unlocked, descriptor, os.getpid())
                if not is_at(path, descriptor):
                    continue
                yield
                return
        if not paused(began, end):
            raise busy(path, patience)


def unlocked(descriptor: int, process: int) -> None:
    """
    Let go of the lock of a descriptor that this process has opened.
    """
    from fcntl import LOCK_UN, flock  # noqa: PLC0415 - as above

    # A child that was forked meanwhile has a copy of the lock, and would let go of its parent's.
    if process == os.getpid():
        flock(descriptor, LOCK_UN)


def paused(began: float, end: float) -> bool:
    """
    Wait a little for what somebody else holds; return False, at once, if the time is up.

    `began` is when the waiting did, by `time.monotonic`, and `end` when it ends.
    """
    now = time.monotonic()
    if now >= end:
        return False
    # Shorter, not longer: with SQLite's growing pauses one of 32 writers waited 3.6 s.
    pause = max(_QUICKEST, _SLOWEST - (now - began) / 100)
    time.sleep(min(uniform(0.5, 1.5) * pause, end - now))  # noqa: S311 - no secret
    return True


def is_at(path: Path, descriptor: int) -> bool:
    """
    Say whether what was opened still stands at its path.
    """
    try:
        found, mine = os.lstat(path), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (found.st_dev, found.st_ino) == (mine.st_dev, mine.st_ino)


def no_locks(path: Path) -> StoreError:
    """
    Return what to raise for a file on a system that cannot lock it.
    """
    msg = (
        f"{path} cannot be locked: a FileStore needs a POSIX system; take a SqliteStore, which "
        "todoplan.stores has as well"
    )
    return StoreError(msg, file=str(path), problem="no_locks")


def busy(path: Path, patience: float) -> StoreError:
    """
    Return what to raise for a file that somebody else has held for too long.
    """
    msg = (
        f"{path} is busy: somebody else has held its lock for {patience:g} seconds, nothing was "
        "written; try again, end the process that holds it, or give the store more patience="
    )
    return StoreError(msg, file=str(path), problem="busy")


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
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW
    try:
        with os.fdopen(os.open(new, flags, PRIVATE), "wb") as file:
            file.write(document)
            file.flush()
            if before is not None:
                _keep_permissions(file.fileno(), before)
            # Before it is put in place: a power cut must not leave half of a document there.
            os.fsync(file.fileno())
            after = os.fstat(file.fileno())
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
        new.unlink(missing_ok=True)
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
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        os.close(descriptor)


def remove_stale(path: Path) -> None:
    """
    Remove new files that writers left behind who were killed before they put them in place.
    """
    ours = re.compile(re.escape(path.name) + r"\.[0-9a-f]{16}\.new")
    with suppress(OSError), os.scandir(path.parent) as found:
        for each in found:
            if ours.fullmatch(each.name) and time.time() - each.stat().st_mtime > _STALE:
                Path(each.path).unlink()
