"""
What callers in an asyncio event loop need: threads for blocking calls, and tasks that continue if
their caller is cancelled.

These helpers are in a module of their own because asyncio takes longer to import than all that
`Planner` needs.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import copy_context
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")

GRACE = 1.0
"""The time in seconds that a cancelled caller waits for work that must not be left half done."""

_Loop = asyncio.AbstractEventLoop


def running_loop() -> _Loop | None:
    """Return the asyncio event loop running in this thread, or `None`."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def result_of(work: Awaitable[T]) -> T:
    """Await any awaitable, where a coroutine is required."""
    return await work


def threaded(
    work: Callable[[], T], loop: _Loop, ended: Callable[[], None] = lambda: None
) -> asyncio.Future[T]:
    """
    Run a function in a daemon thread, which does not keep the process from exiting. `ended` is
    called in the loop when the function has ended.
    """
    answer: asyncio.Future[T] = loop.create_future()

    # Runs in the loop, by `call_soon_threadsafe`: futures and semaphores are not thread-safe.
    def settle(value: T | None, failure: BaseException | None) -> None:
        ended()
        if answer.cancelled():
            return
        if failure is None:
            answer.set_result(value)  # type: ignore[arg-type]  # there is a value without a failure
        else:
            answer.set_exception(failure)

    def run() -> None:
        value: T | None = None
        failure: BaseException | None = None
        try:
            value = work()
        except StopIteration as error:  # no future accepts this error: the awaiting task would hang
            failure = RuntimeError(f"the store raised {error!r}")
        except BaseException as error:  # noqa: BLE001 - raised where the answer is awaited
            failure = error
        with suppress(RuntimeError):  # the loop has ended: nobody waits any more
            loop.call_soon_threadsafe(settle, value, failure)

    try:
        # With the caller's context variables, like `asyncio.to_thread`.
        Thread(target=copy_context().run, args=(run,), name="todoplan", daemon=True).start()
    except BaseException:
        ended()
        raise
    return answer


class Limiter:
    """A limit on concurrent calls; the other calls wait in the loop."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._semaphore: tuple[_Loop, asyncio.Semaphore] | None = None

    def semaphore(self, loop: _Loop) -> asyncio.Semaphore:
        """Return the semaphore for an event loop."""
        # A semaphore belongs to one loop, and each `asyncio.run` creates a new loop. So a new loop
        # gets a new semaphore, which is free even if the old one was not released.
        if self._semaphore is None or self._semaphore[0] is not loop:
            self._semaphore = loop, asyncio.Semaphore(self._most)
        return self._semaphore[1]


class Background:
    """
    Tasks that continue without their caller. They are kept here, because an event loop has only
    weak references to its tasks.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a task in the running event loop."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def leave(self, work: Coroutine[Any, Any, object], grace: float = GRACE) -> None:
        """
        Continue the work of a cancelled caller, and wait up to `grace` seconds for its end.

        If the loop ends with the caller (Ctrl-C), the work would end as well, so the caller waits.
        It does not wait longer, because the store may be stuck.
        """
        task = self.start(work)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        if grace:
            await asyncio.wait([task], timeout=grace)

    async def to_its_end(self, work: Coroutine[Any, Any, T]) -> T:
        """Await work that continues even if the caller is cancelled (see `leave`)."""
        task = self.start(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await self.leave(result_of(task))
            raise

    def __len__(self) -> int:
        return len(self._tasks)
