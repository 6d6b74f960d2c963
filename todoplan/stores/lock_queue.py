"""
Waiting for the lock on `<file>.lock` in the system's own queue, and not for ever.

`flock` can wait by itself, and 32 processes that do so wait 0.1 seconds at most for each other.
Asking again and again, as a `FileStore` does, takes the processor from whoever holds the lock: the
same 32 did a fiftieth of the work, and one of them waited for three seconds. But `flock` has no
deadline, and a process that is stopped while it holds the lock would stop all others with it. So a
thread waits, and we wait for the thread, as long as we like. One that was given up waits on: when
it comes to the lock, it lets go of it at once.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread

from todoplan.stores.locked_file import busy, is_at, no_locks, open_lock_file, paused, unlocked

__all__ = ["LockQueue"]


class LockQueue:
    """
    The lock of a file, for one thread of this process at a time.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock_file = path.with_name(f"{path.name}.lock")
        self._given_up: _Waiter | None = None

    @contextmanager
    def held(self, patience: float) -> Iterator[None]:
        """
        Hold the lock, waiting for it no longer than `patience` seconds.

        Raises:
            StoreError: somebody else holds it for longer than that ("busy"), or there are no locks
                on this system ("no_locks").
            OSError: there is no such folder, or no permission, or the file system has no locks.
        """
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock  # noqa: PLC0415 - not on every system
        except ImportError:
            raise no_locks(self._path) from None
        began, process = time.monotonic(), os.getpid()
        end = began + patience
        while True:
            descriptor = open_lock_file(self._path)
            try:
                try:
                    flock(descriptor, LOCK_EX | LOCK_NB)
                    is_locked = True
                except BlockingIOError:
                    is_locked = self._waited(descriptor, began, end)
                # A lock file that was deleted while we waited locks nobody out.
                if is_locked and is_at(self._lock_file, descriptor):
                    yield
                    return
            finally:
                unlocked(descriptor, process)
                os.close(descriptor)
            if time.monotonic() >= end:
                raise busy(self._path, patience)

    def _waited(self, descriptor: int, began: float, end: float) -> bool:
        if self._given_up is not None and self._given_up.is_alive():
            # One thread at most for each handle, however often somebody tries in vain.
            paused(began, end)
            return False
        waiter = _Waiter(descriptor)
        try:
            waiter.start()
            waiter.came.wait(max(0.0, end - time.monotonic()))
        finally:
            # Also after an interrupt: what nobody waits for is let go of.
            is_locked = waiter.stop()
            self._given_up = None if is_locked else waiter
        return is_locked


class _Waiter(Thread):
    """
    Waits for the lock of a descriptor, by a copy of its own: the other one may be closed meanwhile.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__(name="todoplan lock", daemon=True)
        self._descriptor = os.dup(descriptor)
        self._mutex = Lock()
        # Not `_is_stopped`, by which Python's threads know whether they are alive.
        self._is_unwanted = self._is_locked = False
        self.came = Event()

    def run(self) -> None:
        from fcntl import LOCK_EX, LOCK_UN, flock  # noqa: PLC0415 - as above

        try:
            with suppress(OSError):  # a file system out of locks: who waits is told that it is busy
                flock(self._descriptor, LOCK_EX)
                with self._mutex:
                    self._is_locked = not self._is_unwanted
                    if self._is_unwanted:
                        flock(self._descriptor, LOCK_UN)
        finally:
            self.came.set()
            os.close(self._descriptor)

    def stop(self) -> bool:
        """
        Wait no longer; say whether the lock is ours by now.
        """
        with self._mutex:
            self._is_unwanted = True
            return self._is_locked
