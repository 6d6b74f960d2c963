"""Calls that stand still, out of the way of the event loop: each in a thread of its own."""

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
"""Seconds for which whoever is cancelled waits for what must not stay half done."""

_Loop = asyncio.AbstractEventLoop


def running_loop() -> _Loop | None:
    """
    Return the loop of asyncio that runs in this thread, if one does.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def result_of(work: Awaitable[T]) -> T:
    """
    Await whatever can be awaited, where a coroutine is wanted.
    """
    return await work


async def aside(method: Callable[..., Any], *arguments: Any) -> Any:
    """
    Await what may stand still for long: in a thread of its own, unless it is awaited anyway.
    """
    if iscoroutinefunction(method):
        return await method(*arguments)
    return await threaded(partial(method, *arguments), asyncio.get_running_loop(), lambda: None)


def threaded(work: Callable[[], T], loop: _Loop, ended: Callable[[], None]) -> asyncio.Future[T]:
    """
    Run a function in a thread that does not keep the process from ending.
    """
    answer: asyncio.Future[T] = loop.create_future()

    # In the loop, by `call_soon_threadsafe`: futures and semaphores are not safe between threads.
    def settle(value: T | None, failure: BaseException | None) -> None:
        ended()
        if answer.cancelled():
            return
        if failure is None:
            answer.set_result(value)  # type: ignore[arg-type]  # there is one without a failure
        else:
            answer.set_exception(failure)

    def run() -> None:
        value: T | None = None
        failure: BaseException | None = None
        try:
            value = work()
        except StopIteration as error:  # a future takes none, and its waiter would wait for ever
            failure = RuntimeError(f"the store raised {error!r}")
        except BaseException as error:  # noqa: BLE001 - raised where the answer is awaited
            failure = error
        with suppress(RuntimeError):  # the loop has ended: nobody waits any more
            loop.call_soon_threadsafe(settle, value, failure)

    try:
        # With the caller's context variables, as `asyncio.to_thread` has it.
        Thread(target=copy_context().run, args=(run,), name="todoplan", daemon=True).start()
    except BaseException:
        ended()
        raise
    return answer


class Lane:
    """
    Room for so many calls at once; the others wait in the loop.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._room: tuple[_Loop, asyncio.Semaphore] | None = None

    def within(self, loop: _Loop) -> asyncio.Semaphore:
        """
        Return the semaphore of a loop.
        """
        # A semaphore belongs to one loop, and each `asyncio.run` makes another. A place that was
        # not given back when its loop ended would be missing for ever.
        if self._room is None or self._room[0] is not loop:
            self._room = loop, asyncio.Semaphore(self._places)
        return self._room[1]


class Background:
    """
    What goes on without its caller. A loop holds its tasks weakly, so they are held here.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """
        Start a task in the loop that runs here.
        """
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def leave(self, work: Coroutine[Any, Any, object], grace: float = GRACE) -> None:
        """
        Start what a cancelled caller leaves behind, and wait for it a moment: a loop that ends with
        its caller (Ctrl-C) would end it as well. A store that is stuck holds nobody up for longer.
        """
        task = self.start(work)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        if grace:
            await asyncio.wait([task], timeout=grace)

    async def to_its_end(self, work: Coroutine[Any, Any, T]) -> T:
        """
        Await work that goes on where its caller is cancelled, who waits for it as of `leave`.
        """
        task = self.start(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await self.leave(result_of(task))
            raise

    def __len__(self) -> int:
        return len(self._tasks)
