"""Running blocking calls outside the event loop, each in a thread of its own."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from inspect import iscoroutinefunction
from threading import Thread
from typing import Any, TypeVar

__all__ = ["GRACE", "Background", "Lane", "aside", "result_of", "running_loop", "threaded"]

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


async def aside(method: Callable[..., Any], *arguments: Any) -> Any:
    """
    Await a method that may block: in a thread of its own, unless the method is a coroutine
    function.
    """
    if iscoroutinefunction(method):
        return await method(*arguments)
    return await threaded(partial(method, *arguments), asyncio.get_running_loop(), lambda: None)


def threaded(work: Callable[[], T], loop: _Loop, ended: Callable[[], None]) -> asyncio.Future[T]:
    """Run a function in a daemon thread, which does not keep the process from exiting."""
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
        except StopIteration as error:  # a future refuses it, and the awaiting task would hang
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


class Lane:
    """A limit on concurrent calls; the other calls wait in the loop."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._room: tuple[_Loop, asyncio.Semaphore] | None = None

    def within(self, loop: _Loop) -> asyncio.Semaphore:
        """Return the semaphore for an event loop."""
        # A semaphore belongs to one loop, and each `asyncio.run` creates a new loop. A place that
        # was not released when its loop ended would be lost forever.
        if self._room is None or self._room[0] is not loop:
            self._room = loop, asyncio.Semaphore(self._places)
        return self._room[1]


class Background:
    """
    Tasks that continue without their caller. An event loop refers to tasks weakly, so they are
    stored here.
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
        Start work that a cancelled caller leaves behind, and wait up to `grace` seconds for it.

        A loop that ends with its caller (Ctrl-C) would end the work as well. The limit keeps a
        stuck store from blocking the caller.
        """
        task = self.start(work)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        if grace:
            await asyncio.wait([task], timeout=grace)

    async def to_its_end(self, work: Coroutine[Any, Any, T]) -> T:
        """
        Await work that continues if the caller is cancelled; the cancelled caller then waits as in
        `leave`.
        """
        task = self.start(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await self.leave(result_of(task))
            raise

    def __len__(self) -> int:
        return len(self._tasks)
