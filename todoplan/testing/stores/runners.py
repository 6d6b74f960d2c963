"""
How a check is run, so that it is written once, as a coroutine over an `AsyncStore`.

The methods of a `Store` are awaited without an event loop, for they return at once; so a store that
must not be called from within a loop can be proved as well.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from inspect import isawaitable, iscoroutinefunction
from itertools import islice
from threading import Barrier
from types import FrameType
from typing import Any, TypeVar

import attrs

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.planner import AsyncPlanner, Planner
from todoplan.stores.base import AsyncStore, Store
from todoplan.stores.hold import Held, HoldingStore, Key, Receipt

__all__ = ["Runner", "TaskRunner", "ThreadRunner", "Work"]

T = TypeVar("T")
Work = Coroutine[Any, Any, T]
_SWITCHES = 300


class TaskRunner:
    """
    Runs checks of an `AsyncStore`: a loop for each check, and a task for each of several.
    """

    def run(self, work: Work[T]) -> T:
        """
        Run a check to its end.
        """
        return asyncio.run(work)

    async def together(self, *works: Work[T]) -> list[T]:
        """
        Run several at once, to the end of all, and return what each returned.
        """
        return list(await asyncio.gather(*works))

    async def pause(self) -> None:
        """
        Let others have their turn.
        """
        await asyncio.sleep(0)

    async def value(self, made: Any) -> Any:
        """
        Return what a method of the suite has returned, awaited if need be.
        """
        return await made if isawaitable(made) else made

    async def watched(self, store: Any, plan_id: str, count: int, quiet: float) -> list[Entry]:
        """
        Return the first entries that a watcher sees, fewer if none comes for so many seconds.
        """
        seen: list[Entry] = []
        async with aclosing(AsyncPlanner(store, plan_id).watch(0, timeout=quiet)) as watch:
            async for entry in watch:
                seen.append(entry)
                if len(seen) == count:
                    break
        return seen

    def as_async(self, store: Any) -> AsyncStore:
        """
        Return a store of the author's as one whose methods are awaited.
        """
        return store  # type: ignore[no-any-return]  # a store of the author's own type


class ThreadRunner:
    """
    Runs checks of a `Store`: without a loop, and in a thread for each of several.
    """

    def run(self, work: Work[T]) -> T:
        """
        Run a check to its end, in this thread.

        Raises:
            TypeError: something waits for an event loop.
        """
        try:
            work.send(None)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # StopIteration's value is Any
        work.close()
        msg = "something waits for an event loop; prove an asynchronous store by AsyncStoreSuite"
        raise TypeError(msg)

    async def together(self, *works: Work[T]) -> list[T]:
        """
        Run several, a thread each, that start at once and take turns within the store.
        """
        start = Barrier(len(works))

        def one(work: Work[T]) -> T:
            usual = sys.getprofile()  # a debugger's, or a profiler's
            start.wait()
            sys.setprofile(_handing_over())
            try:
                return self.run(work)
            finally:
                sys.setprofile(usual)

        with ThreadPoolExecutor(len(works)) as pool:
            return list(pool.map(one, works))

    async def pause(self) -> None:
        """
        Go on: threads have their turn anyway.
        """

    async def value(self, made: Any) -> Any:
        """
        Return what a method of the suite has returned.
        """
        return made

    async def watched(self, store: Any, plan_id: str, count: int, quiet: float) -> list[Entry]:
        """
        Return the first entries that a watcher sees, fewer if none comes for so many seconds.
        """
        return list(islice(Planner(store, plan_id).watch(0, timeout=quiet), count))

    def as_async(self, store: Any) -> AsyncStore:
        """
        Return a store of the author's as one whose methods are awaited.

        Raises:
            TypeError: they are already.
        """
        if iscoroutinefunction(store.load):
            msg = f"{type(store).__name__}.load is awaited; prove the store by AsyncStoreSuite"
            raise TypeError(msg)
        return _Returning(store)


Runner = TaskRunner | ThreadRunner


@attrs.frozen
class _Returning:
    """
    A `Store` whose methods are awaited, and never wait.
    """

    store: Store

    async def load(self, plan_id: str) -> Plan:
        return self.store.load(plan_id)

    async def entries(self, plan_id: str) -> tuple[Entry, ...]:
        return self.store.entries(plan_id)

    async def append(
        self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan
    ) -> bool:
        return self.store.append(plan_id, expected, entries, plan)

    async def plan_ids(self) -> tuple[str, ...]:
        return _can_hold(self.store).plan_ids()

    async def entries_since(self, plan_id: str, revision: int) -> tuple[Entry, ...]:
        return _can_hold(self.store).entries_since(plan_id, revision)

    @asynccontextmanager
    async def hold(self, plan_id: str) -> AsyncIterator["_HeldReturning"]:
        with _can_hold(self.store).hold(plan_id) as held:
            yield _HeldReturning(held)


@attrs.frozen
class _HeldReturning:
    """
    A held plan whose methods are awaited, and never wait.
    """

    held: Held

    @property
    def revision(self) -> int:
        return self.held.revision

    async def now(self) -> datetime:
        return self.held.now()

    async def entries_since(self, revision: int) -> tuple[Entry, ...]:
        return self.held.entries_since(revision)

    async def receipt(self, key: Key) -> Receipt | None:
        return self.held.receipt(key)

    async def append(self, *given: Any, **named: Any) -> tuple[Entry, ...]:
        return self.held.append(*given, **named)


def _can_hold(store: Any) -> HoldingStore:
    return store  # type: ignore[no-any-return]  # asked only of one that can


def _handing_over() -> Callable[[FrameType, str, object], None]:
    """
    Return what lets another thread go on, the first few hundred times that the store is at work.

    Threads alone seldom meet: an append is over before the interpreter switches. A profile function
    is called at every call and return, which is where two appends get in each other's way. Modules
    of our own do not count, but for our stores: the turns would be used up in the checks.
    """
    switches = iter(range(_SWITCHES))

    def next_please(frame: FrameType, *_: object) -> None:
        module = str(frame.f_globals.get("__name__"))
        of_the_store = not module.startswith("todoplan.") or module.startswith("todoplan.stores.")
        if of_the_store and next(switches, None) is not None:
            time.sleep(0)

    return next_please
