"""
Locks of threads and of processes, which nobody holds longer than the call that took them.

A signal's handler runs in the main thread between two instructions of Python, and may raise there
(Ctrl-C): also after a function has returned a descriptor and before a name is bound to it, at the
first instruction of an `__exit__`, and within a `finally`. Two rules hold against that.

- What is taken is put into a list by the same call into C (`taken.extend(map(os.open, ...))`).
- What lets go may be done twice, and is: `try: let_go() finally: let_go()`. The signal hits one.

Processes lock `<file>.lock` by `flock`. It is released with LOCK_UN before it is closed: a child
that was forked meanwhile has a copy of the descriptor, and a lock that is only closed lives until
the last copy is. Lock files get deleted, by people who tidy up or by a sync service, and then the
next one makes a new one. So whoever has a lock looks whether what was locked still stands there.
"""

import os
import stat
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import repeat
from pathlib import Path
from queue import Empty, SimpleQueue
from random import uniform
from threading import Event, Lock, Thread, get_ident
from types import TracebackType
from typing import Any, Generic, TypeVar

from todoplan.errors import StoreError

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "NOFOLLOW",
    "PRIVATE",
    "Hold",
    "LockQueue",
    "Turn",
    "busy",
    "closed",
    "is_at",
    "lock_file",
    "lock_of",
    "locked",
    "moved",
    "opened",
    "paused",
    "unlocked",
]

T = TypeVar("T")
R = TypeVar("R")

PRIVATE = 0o600
# Without O_NONBLOCK, to open a named pipe would wait for its other end.
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
# Seconds between two attempts: the pauses shrink from the first to the second within 0.7 s.
_WAITING = (True,)
_SLOWEST, _QUICKEST = 0.008, 0.001


def moved(taken: list[Any], give: Callable[[Any], object]) -> None:
    """
    Give all that was taken to a function of C, so that each is there or was given.
    """
    deque(map(give, map(list.pop, repeat(taken, len(taken)))), maxlen=0)


def opened(taken: list[int], path: str | Path, flags: int, mode: int = PRIVATE) -> int:
    """
    Open a file, put its descriptor into a list, and return it.
    """
    taken.extend(map(os.open, (path,), (flags,), (mode,)))
    return taken[-1]


def closed(taken: list[int]) -> None:
    """
    Close descriptors.
    """
    moved(taken, os.close)


def unlocked(taken: list[int], process: int) -> None:
    """
    Let go of the locks of descriptors that a process has opened, and close them.
    """
    try:
        # A child that was forked meanwhile has a copy of the lock, and would release its parent's.
        if process == os.getpid():
            for descriptor in taken:
                fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        closed(taken)


class Turn:
    """
    What one thread at a time has. `name` is that of the store, for errors.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._free: SimpleQueue[bool] = SimpleQueue()
        self._free.put(*_WAITING)
        self._holder: int | None = None

    def take(self, taken: list[bool], patience: float) -> None:
        """
        Take the turn, waiting no longer than `patience` seconds; `taken` has it until `give_back`.

        Raises:
            StoreError: somebody else has it for longer ("busy"), or this thread itself ("nested").
        """
        if self._holder == get_ident():
            msg = (
                f"{self._name}: this thread holds a plan of it already, and would wait for itself; "
                "let go of that plan first, or append by what `hold` gave"
            )
            raise StoreError(msg, problem="nested")
        try:
            taken.extend(map(self._free.get, _WAITING, (patience,)))
        except Empty:
            msg = (
                f"{self._name} is busy: another thread has held a plan of it for {patience:g} "
                "seconds, nothing was written; try again, or give the store more patience="
            )
            raise StoreError(msg, problem="busy") from None
        self._holder = get_ident()

    def give_back(self, taken: list[bool]) -> None:
        """
        Give the turn back, if it was taken.
        """
        if taken:
            self._holder = None
            moved(taken, self._free.put)


def lock_of(path: Path) -> Path:
    """
    Return the name of a file's lock.
    """
    return path.with_name(f"{path.name}.lock")


def lock_file(taken: list[int], path: Path) -> int:
    """
    Open a file's lock, which is made if there is none.
    """
    lock = f"{path}.lock"
    # First as it nearly always is: an append to a database is as short as three such attempts.
    with suppress(FileNotFoundError):
        return opened(taken, lock, os.O_RDWR | NOFOLLOW)
    making = os.O_RDWR | os.O_CREAT | NOFOLLOW
    with suppress(FileExistsError):
        descriptor = opened(taken, lock, making | os.O_EXCL)
        with suppress(FileNotFoundError):
            # Whoever may write the file has to be able to lock it.
            os.fchmod(descriptor, PRIVATE | stat.S_IMODE(os.lstat(path).st_mode))
        return descriptor
    # O_CREAT once more: the file that stood in our way may be deleted by now.
    return opened(taken, lock, making)


def locked(
    taken: list[int], path: Path, opening: Callable[[], int], end: float, patience: float
) -> None:
    """
    Lock a file, asking again and again until `end`; `taken`, an empty list, has it then.

    The lock is polled: `flock` can wait by itself, but without a deadline. Who has waited long asks
    more often, which keeps a crowd of writers in rough order; asking costs two microseconds.

    Raises:
        StoreError: somebody else holds it for longer ("busy"), or there are no locks here.
        OSError: there is no such folder, or no permission.
    """
    if fcntl is None:
        raise no_locks(path)
    began = time.monotonic()
    while True:
        descriptor = opening()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_at(path, descriptor):
                return
            is_free = True
        except BlockingIOError:
            is_free = False
        except OSError:
            closed(taken)
            raise
        unlocked(taken, os.getpid())
        if not is_free and not paused(began, end):
            raise busy(path, patience)


def is_at(path: Path, descriptor: int) -> bool:
    """
    Say whether what was opened still stands at its path.
    """
    try:
        found, mine = os.lstat(path), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (found.st_dev, found.st_ino) == (mine.st_dev, mine.st_ino)


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


class Hold(Generic[T]):
    """
    What is held for the length of a `with`: `begin` takes it, `keep` is called at the end if
    nothing was raised, and `release`, which may be called twice, lets go of it.
    """

    _held: T | None = None
    _is_over = True

    def begin(self) -> T:
        """
        Take what is to be held.
        """
        raise NotImplementedError

    def keep(self, held: T) -> None:
        """
        Keep what was done.
        """
        raise NotImplementedError

    def release(self, held: T | None) -> None:
        """
        Let go of all that is held.
        """
        raise NotImplementedError

    def __enter__(self) -> T:
        self._is_over = False
        try:
            self._held = self.begin()
            return self._held  # noqa: TRY300 - an interrupt may still come in front of it
        except BaseException:
            self.let_go()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None and self._held is not None:
                self.keep(self._held)
        finally:
            self.let_go()

    def let_go(self) -> None:
        """
        Let go; for whoever has to be sure, as an interrupt may have come before `__exit__` began.
        """
        if self._is_over:
            return
        try:
            self.release(self._held)
        finally:
            self.release(self._held)
        self._is_over = True

    def __del__(self) -> None:
        self.let_go()

    def done(self, act: Callable[[T], R]) -> R:
        """
        Hold, do something with what is held, and return what it comes to.
        """
        try:
            with self as held:
                return act(held)
        finally:
            self.let_go()


class LockQueue:
    """
    The lock of a file, for one thread of this process at a time: in the system's own queue.

    `flock` can wait by itself, and 32 processes that do so wait 0.1 seconds at most for each other.
    Asking again and again takes the processor from whoever holds the lock: the same 32 did a
    fiftieth of the work, and one of them waited for three seconds. But `flock` has no deadline, and
    a process that is stopped while it holds the lock would stop all others with it. So a thread
    waits, and we wait for the thread, as long as we like. One that was given up waits on: when it
    comes to the lock, it lets go of it at once.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._given_up: _Waiter | None = None

    def take(self, taken: list[int], patience: float) -> None:
        """
        Take the lock, waiting for it no longer than `patience` seconds; `taken` has it then.

        Raises:
            StoreError: somebody else holds it for longer than that ("busy"), or there are no locks
                on this system ("no_locks").
            OSError: there is no such folder, or no permission, or the file system has no locks.
        """
        if fcntl is None:
            raise no_locks(self._path)
        began = time.monotonic()
        end = began + patience
        while True:
            descriptor = lock_file(taken, self._path)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_locked = True
            except BlockingIOError:
                is_locked = self._waited(taken, descriptor, began, end)
            except OSError:
                closed(taken)  # there are no locks on it, so there is none to let go of
                raise
            # A lock file that was deleted while we waited locks nobody out.
            if is_locked and is_at(lock_of(self._path), descriptor):
                return
            unlocked(taken, os.getpid())
            if time.monotonic() >= end:
                raise busy(self._path, patience)

    def _waited(self, taken: list[int], descriptor: int, began: float, end: float) -> bool:
        if self._given_up is not None and self._given_up.is_alive():
            # One thread at most for each handle, however often somebody tries in vain.
            paused(began, end)
            return False
        waiter = _Waiter(descriptor)
        try:
            waiter.start()
            waiter.came.wait(max(0.0, end - time.monotonic()))
        except RuntimeError:  # no thread can be started
            paused(began, end)
        finally:
            # Also after an interrupt: what nobody waits for is let go of.
            try:
                waiter.stop(taken)
            finally:
                waiter.stop(taken)
            self._given_up = None if waiter.is_locked else waiter
        return waiter.is_locked


class _Waiter(Thread):
    """
    Waits for the lock of a descriptor, which is the thread's from its beginning to its end.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__(name="todoplan lock", daemon=True)
        self._descriptor = descriptor
        self._mutex = Lock()
        # Not `_is_stopped`, by which Python's threads know whether they are alive.
        self._is_unwanted = self._has_it = False
        self.is_locked = False
        self.came = Event()

    def run(self) -> None:
        with self._mutex:
            if self._is_unwanted:
                return
            self._has_it = True
        is_locked = False
        with suppress(OSError):  # a file system out of locks: who waits is told that it is busy
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            is_locked = True
        self._end(is_locked=is_locked)

    def _end(self, *, is_locked: bool) -> None:
        with self._mutex:
            self._has_it, is_unwanted = False, self._is_unwanted
            self.is_locked = is_locked and not is_unwanted
        self.came.set()
        if is_unwanted:
            unlocked([self._descriptor], os.getpid())

    def stop(self, taken: list[int]) -> None:
        """
        Wait no longer. While the thread waits on, the descriptor is the thread's alone.
        """
        with self._mutex:
            if not self._is_unwanted:
                self._is_unwanted = True
                if self._has_it:
                    del taken[:]
