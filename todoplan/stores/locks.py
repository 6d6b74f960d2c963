"""
Locks between threads and between processes. A lock is held no longer than the call that took it.

A signal handler (Ctrl-C) runs in the main thread between two Python instructions, and may raise an
exception there. This can happen after a function has returned a descriptor but before it is
assigned to a name, at the first instruction of an `__exit__`, and inside a `finally`. Two rules
make sure that no resource is lost:

- The C call that takes a resource also stores it in a list (`taken.extend(map(os.open, ...))`).
- A release may be repeated, and is attempted twice: always (`try: let_go() finally: let_go()`), or
  at least after an interrupt (`except BaseException`). The signal interrupts only one attempt.

Processes lock `<file>.lock` with `flock`. To release the lock, LOCK_UN is needed before the
descriptor is closed: a child that was forked in the meantime has a copy of the descriptor, and the
lock would last until the last copy is closed. Lock files get deleted, by people who tidy up or by a
sync service, and the next process then creates a new one. So after taking a lock, a process checks
that the locked file is still the one at the path.
"""

import errno
import os
import re
import stat
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import repeat
from pathlib import Path
from queue import Empty, SimpleQueue
from random import uniform
from secrets import token_hex
from threading import Event, Thread, get_ident
from typing import Any

from todoplan.errors import StoreError

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]  # `no_locks` is raised before it is used


PRIVATE = 0o600
# Without O_NONBLOCK, opening a named pipe would wait for its other end.
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
# Seconds between two attempts. In 0.7 s, the pause shrinks from the first value to the second.
_WAITING = (True,)
_SLOWEST, _QUICKEST = 0.008, 0.001


def moved(taken: list[Any], give: Callable[[Any], object]) -> None:
    """
    Pop each item of `taken` and pass it to the C function `give`. A signal cannot lose an item.
    """
    deque(map(give, map(list.pop, repeat(taken, len(taken)))), maxlen=0)


def opened(taken: list[int], path: str | Path, flags: int, mode: int = PRIVATE) -> int:
    """Open a file, append its descriptor to the list `taken`, and return the descriptor."""
    taken.extend(map(os.open, (path,), (flags,), (mode,)))
    return taken[-1]


def closed(taken: list[int]) -> None:
    """Close the descriptors in the list `taken`, and empty the list."""
    moved(taken, os.close)


def unlocked(taken: list[int], process: int) -> None:
    """
    Unlock and close the descriptors in `taken`, and empty the list.

    In a forked child of `process`, which opened them, they are only closed.
    """
    try:
        # A forked child has a copy of the lock, and unlocking it would release the parent's lock.
        if process == os.getpid():
            for descriptor in taken:
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # pyright: ignore[reportOptionalMemberAccess]
    finally:
        moved(taken, os.close)


class Turn:
    """
    A lock between threads, taken with a timeout. `name` is the store's name in error messages.
    """

    _who = "thread"

    def __init__(self, name: str) -> None:
        self._name = name
        self._free: SimpleQueue[bool] = SimpleQueue()
        self._free.put(*_WAITING)
        self._holder: object = None

    def take(self, taken: list[bool], patience: float) -> Any:
        """
        Take the lock, waiting at most `patience` seconds.

        An item is added to the list `taken`, so that `give_back` knows that the lock was taken.

        Raises:
            StoreError: another thread holds the lock for longer ("busy"), or this thread already
                holds it ("nested").
        """
        me = get_ident()
        if self._holder == me:
            raise self._nested()
        try:
            taken.extend(map(self._free.get, _WAITING, (patience,)))
        except Empty:
            raise self._busy(patience) from None
        self._holder = me

    def _nested(self) -> StoreError:
        msg = (
            f"{self._name}: this {self._who} already holds a plan of it, and would wait for "
            "itself; release that plan first, or append with the object that `hold` returned"
        )
        return StoreError(msg, problem="nested")

    def _busy(self, patience: float) -> StoreError:
        msg = (
            f"{self._name} is busy: another {self._who} of this process has held a plan of it, or "
            f"has waited for one, for {patience:g} seconds; nothing was written; try again, or "
            "give the store more patience="
        )
        return StoreError(msg, problem="busy")

    def give_back(self, taken: list[bool]) -> None:
        """Release the lock if it was taken."""
        if taken:
            self._holder = None
            moved(taken, self._free.put)


def lock_file(taken: list[int], path: str) -> int:
    """Open a lock file, `<file>.lock`, and create it if there is none."""
    # The usual case first. It matters: an append to a database takes as long as three such calls.
    with suppress(FileNotFoundError):
        return opened(taken, path, os.O_RDWR | NOFOLLOW)
    making = os.O_RDWR | os.O_CREAT | NOFOLLOW
    with suppress(FileExistsError):
        descriptor = opened(taken, path, making | os.O_EXCL)
        with suppress(FileNotFoundError):
            # Everybody who may write the file must be able to lock it.
            mode = stat.S_IMODE(os.lstat(path.removesuffix(".lock")).st_mode)
            os.fchmod(descriptor, PRIVATE | mode)
        return descriptor
    # With O_CREAT, because the file may have been deleted again.
    return opened(taken, path, making)


def polled(_descriptor: int, began: float, end: float) -> bool:
    """
    Pause until the next attempt to take a lock. Return False: the lock was not taken yet.

    The longer a caller has waited, the shorter the pause, so many writers get the lock roughly in
    order. One attempt costs two microseconds.
    """
    paused(began, end)
    return False


def locked(
    taken: list[int],
    path: str,
    opening: Callable[[list[int], str], int],
    end: float,
    waited: Callable[[int, float, float], bool] = polled,
) -> bool:
    """
    Lock a file, retrying until `end`; return whether it is locked.

    `opening` opens the file and appends its descriptor to `taken`, an empty list. `waited` waits
    while somebody else has the lock, and returns whether it has taken the lock.

    Raises:
        StoreError: this system has no file locks ("no_locks").
        OSError: there is no such folder, or no permission, or the file system has no locks.
    """
    if fcntl is None:
        raise no_locks(path)
    began = time.monotonic()
    while True:
        descriptor = opening(taken, path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_locked = True
        except BlockingIOError:
            if time.monotonic() >= end:
                closed(taken)
                return False
            is_locked = waited(descriptor, began, end)
        except OSError:
            closed(taken)  # without a lock, `unlocked` is not needed
            raise
        # If the file was deleted during the wait, others lock a new one.
        if is_locked and is_at(path, descriptor):
            return True
        unlocked(taken, os.getpid())


def is_at(path: str, descriptor: int) -> bool:
    """Return whether an open descriptor is still the file at its path."""
    try:
        at_path, open_file = os.lstat(path), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (at_path.st_dev, at_path.st_ino) == (open_file.st_dev, open_file.st_ino)


def paused(began: float, end: float) -> bool:
    """
    Sleep before the next attempt to take a lock. If the deadline is over, return False instead.

    `began` and `end` are the start of the wait and its deadline, by `time.monotonic`.
    """
    now = time.monotonic()
    if now >= end:
        return False
    # The pauses shrink: with SQLite's growing pauses one of 32 writers waited 3.6 s.
    pause = max(_QUICKEST, _SLOWEST - (now - began) / 100)
    time.sleep(min(uniform(0.5, 1.5) * pause, end - now))  # noqa: S311 - no secret
    return True


def no_locks(path: str) -> StoreError:
    """Return the error for a system that cannot lock files."""
    msg = (
        f"{path} cannot be locked: a FileStore needs a POSIX system; use a SqliteStore, which "
        "todoplan.stores has as well"
    )
    return StoreError(msg, file=str(path), problem="no_locks")


def busy(path: str | Path, patience: float) -> StoreError:
    """Return the error for a file that somebody else has locked for too long."""
    msg = (
        f"{path} is busy: somebody else has held its lock for {patience:g} seconds, nothing was "
        "written; try again, end the process that holds it, or give the store more patience="
    )
    return StoreError(msg, file=str(path), problem="busy")


class LockQueue:
    """
    A lock of a file between processes, which wait for it in the operating system's own queue.

    In this process, one thread may use it at a time.

    A blocking `flock` is fair: each of 32 processes waited for at most 0.1 seconds. With polling,
    which takes processor time from the process that has the lock, they did a fiftieth of the work,
    and one of them waited for three seconds. But a blocking `flock` has no timeout, so a process
    that is stopped while it has the lock would stop all others. Therefore a helper thread blocks in
    `flock`, and the caller waits for the helper thread with a timeout. If the time is up, the
    helper thread keeps waiting; when it gets the lock, it releases the lock immediately.
    """

    def __init__(self, path: Path) -> None:
        self._lock_path = f"{path}.lock"
        self._given_up: Thread | None = None

    def take(self, taken: list[int], end: float) -> bool:
        """
        Take the lock, waiting until `end`, and return whether it was taken.

        The descriptor of the lock file is appended to `taken`, an empty list.
        """
        return locked(taken, self._lock_path, lock_file, end, self._waited)

    def _waited(self, descriptor: int, began: float, end: float) -> bool:
        # At most one helper thread for each handle, however many attempts time out.
        if self._given_up is not None and self._given_up.is_alive():
            return polled(descriptor, began, end)
        # The thread locks a copy of the descriptor, which is the same open file, so the caller may
        # close its own at any time. The item of `wanted` is popped once: by the thread when it has
        # the lock, or by the caller when it gives up.
        copies, wanted, got, ended = list[int](), [True], list[bool](), Event()

        def wait() -> None:
            # IndexError: given up before the thread began. OSError: no locks are left.
            with suppress(IndexError, OSError):
                copy = copies.pop()
                try:
                    fcntl.flock(copy, fcntl.LOCK_EX)  # pyright: ignore[reportOptionalMemberAccess]
                    got.extend(map(list.pop, (wanted,)))
                except IndexError:
                    fcntl.flock(copy, fcntl.LOCK_UN)  # pyright: ignore[reportOptionalMemberAccess]
                finally:
                    os.close(copy)
            ended.set()

        def give_up() -> None:
            wanted.clear()
            with suppress(IndexError):  # the thread was faster
                moved(copies, os.close)

        thread = Thread(target=wait, name="todoplan lock", daemon=True)
        try:
            copies.extend(map(os.dup, (descriptor,)))
            thread.start()
            ended.wait(max(0.0, end - time.monotonic()))
        except RuntimeError:  # no thread can be started
            paused(began, end)
        finally:
            # Also after an interrupt, so that the thread releases the lock.
            try:
                give_up()
            finally:
                give_up()
            self._given_up = None if got else thread
        return bool(got)


# -------- locked_file --------
# A file that several processes write, one at a time, completely, and without losing changes.
#
# To write, a process locks the file, reads it, writes a new file next to it, renames the new file
# to the old name, and releases the locks. The rename is atomic, so a reader needs no lock and sees
# either the old file or the new one.
#
# A writer takes two locks: one on `<file>.lock`, which can exist before the file does, and one on
# the file itself. The second one is needed because lock files get deleted: the next writer then
# creates a new lock file, while an earlier writer still works. If there is no file yet, the new
# file is linked to its name, which fails if another writer has just created the file.


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
    "too_large": "put other plans in another file, or use a SqliteStore",
}
_STALE = 60.0  # seconds; no write of a file of this size takes so long
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS}  # file systems such as FAT
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP}  # file systems that cannot sync a folder


@contextmanager
def refusing(path: Path, done: str) -> Iterator[None]:
    """Turn an OSError of a file into a StoreError. `done` is the operation: "read" or "written"."""
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
    """Return advice if the file's folder is missing; otherwise return ""."""
    return "" if path.parent.is_dir() else f"make the folder {path.parent} first"


def open_plain(taken: list[int], path: str | Path) -> int:
    """Open a file for reading without following a symbolic link."""
    return opened(taken, path, os.O_RDONLY | NOFOLLOW)


def lock(taken: tuple[list[int], list[int]], path: Path, patience: float) -> None:
    """
    Lock `<file>.lock` and then the file itself, if it exists, waiting at most `patience` seconds.

    The two lists in `taken` receive the descriptors.

    Raises:
        StoreError: another process holds a lock for longer than that, or this system has no file
            locks.
        OSError: there is no such folder, or no permission.
    """
    end = time.monotonic() + patience
    # All writers lock in this order, so that they cannot deadlock.
    first, second = taken
    lock_path = f"{path}.lock"
    if not locked(first, lock_path, lock_file, end):
        raise busy(lock_path, patience)
    with suppress(FileNotFoundError):
        if not locked(second, str(path), open_plain, end):
            raise busy(path, patience)


def write_anew(path: Path, document: bytes, *, is_first: bool) -> os.stat_result:
    """
    Replace a file with a document, keep the file's permissions, and return the new file's status.

    With `is_first`, the file must not exist. The content is synced to disk; call `sync_folder` to
    sync the folder entry.

    Raises:
        FileExistsError: `is_first` is true, and the file exists. Nothing was written.
    """
    before = None if is_first else os.lstat(path)
    # A random name, because the user may have a file with any fixed name.
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
        # Only root can change the owner. Without this, the old owner could not write a file that
        # root has written.
        owner = before.st_uid if os.geteuid() == 0 else -1
        try:
            os.fchown(descriptor, owner, before.st_gid)
        except PermissionError:
            mode &= ~stat.S_IRWXG  # the rights of the old file's group are not for our group
    os.fchmod(descriptor, mode)


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that its file names are on disk."""
    # A rename changes the folder, so it is not durable if only the file is synced.
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
    with suppress(OSError), os.scandir(path.parent) as files:
        for file in files:
            if ours.fullmatch(file.name) and time.time() - file.stat().st_mtime > _STALE:
                Path(file.path).unlink()
