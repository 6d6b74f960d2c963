"""
Makes a test of each check, runs it on a store, and reports failures.

Each check is written once, as a coroutine function with a parameter `harness`. It uses an
`AsyncStore`. The methods of a `Store` are wrapped in coroutines that never wait, and the check runs
without an event loop. So a store that must not be called inside an event loop can be tested as
well.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager
from functools import update_wrapper
from inspect import isawaitable, iscoroutinefunction, signature
from itertools import islice
from pathlib import Path
from threading import Barrier
from types import FrameType
from typing import Any, TypeVar

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import PlanError
from todoplan.planner import AsyncPlanner, Planner
from todoplan.stores.base import AsyncStore
from todoplan.testing.assertions import difference, must
from todoplan.testing.failures import TellsFailures
from todoplan.testing.stores.appends import Append

T = TypeVar("T")
_Check = TypeVar("_Check", bound=Callable[..., Any])
Work = Coroutine[Any, Any, T]
_SWITCHES = 300


class TaskRunner:
    """
    Runs the checks of an `AsyncStore`: an event loop for each check, and tasks for parallel work.
    """

    def run(self, work: Work[T]) -> T:
        """Run a check to its end."""
        return asyncio.run(work)

    async def together(self, *works: Work[T]) -> list[T]:
        """Run coroutines in parallel until all have ended, and return their results."""
        return list(await asyncio.gather(*works))

    async def pause(self) -> None:
        """Let other tasks run."""
        await asyncio.sleep(0)

    async def watched(self, store: Any, plan_id: str, count: int, quiet: float) -> list[Entry]:
        """
        Return the first `count` entries that a watcher sees. If none arrives for `quiet` seconds,
        return fewer.
        """
        seen: list[Entry] = []
        async with aclosing(AsyncPlanner(store, plan_id).watch(0, timeout=quiet)) as watch:
            async for entry in watch:
                seen.append(entry)
                if len(seen) == count:
                    break
        return seen

    def as_async(self, store: Any) -> AsyncStore:
        """Return the store as an `AsyncStore`."""
        return store  # type: ignore[no-any-return]  # a store of the author's own type


class ThreadRunner:
    """Runs the checks of a `Store`: without an event loop, and with threads for parallel work."""

    def run(self, work: Work[T]) -> T:
        """
        Run a check to its end, in this thread.

        Raises:
            TypeError: the check or the store awaits an event loop.
        """
        try:
            work.send(None)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # StopIteration's value is Any
        work.close()
        msg = "the store awaits an event loop; test an asynchronous store by AsyncStoreSuite"
        raise TypeError(msg)

    async def together(self, *works: Work[T]) -> list[T]:
        """
        Run each coroutine in a thread, and return the results.

        The threads start at the same time. Python switches between them often in the store's code.
        """
        start = Barrier(len(works))

        def one(work: Work[T]) -> T:
            usual = sys.getprofile()  # that of a debugger or profiler
            start.wait()
            sys.setprofile(_handing_over())
            try:
                return self.run(work)
            finally:
                sys.setprofile(usual)

        with ThreadPoolExecutor(len(works)) as pool:
            return list(pool.map(one, works))

    async def pause(self) -> None:
        """Do nothing: threads are switched by the interpreter."""

    async def watched(self, store: Any, plan_id: str, count: int, quiet: float) -> list[Entry]:
        """Return the same as `TaskRunner.watched`."""
        return list(islice(Planner(store, plan_id).watch(0, timeout=quiet), count))

    def as_async(self, store: Any) -> AsyncStore:
        """
        Wrap the store as an `AsyncStore`.

        Raises:
            TypeError: the store's methods are coroutines already.
        """
        if iscoroutinefunction(store.load):
            msg = f"{type(store).__name__}.load is a coroutine; test the store by AsyncStoreSuite"
            raise TypeError(msg)
        returning: Any = _Returning(store)
        return returning  # type: ignore[no-any-return]  # its methods are found by name


Runner = TaskRunner | ThreadRunner


@attrs.frozen
class _Returning:
    """A `Store`, or its lock handle, whose methods are wrapped in coroutines that never wait."""

    made: Any

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.made, name)
        if not callable(method):  # the `revision` of a lock handle
            return method

        async def returning(*given: Any, **named: Any) -> Any:
            return method(*given, **named)

        return returning

    @asynccontextmanager
    async def hold(self, plan_id: str) -> AsyncIterator[Any]:
        with self.made.hold(plan_id) as held:
            yield _Returning(held)


def _handing_over() -> Callable[[FrameType, str, object], None]:
    """
    Return a profile function that switches threads at the first few hundred calls in the store.

    Without this function, threads seldom conflict, because an append ends before the interpreter
    switches to another thread. Python runs a profile function at every call and return, and that is
    where two appends can interfere. Calls in other modules of todoplan than its stores do not
    count: otherwise the checks would use up the switches.
    """
    switches = iter(range(_SWITCHES))

    def switch(frame: FrameType, *_: object) -> None:
        module = str(frame.f_globals.get("__name__"))
        of_the_store = not module.startswith("todoplan.") or module.startswith("todoplan.stores.")
        if of_the_store and next(switches, None) is not None:
            time.sleep(0)

    return switch


class Checks(TellsFailures):
    """
    Base class of all checks.

    `drawing` has Hypothesis' settings for drawn examples. `folder` is a directory of the test,
    which pytest removes.
    """

    # Without the health check `too_slow`: to draw an example, a planner runs many commands, and
    # stores take time.
    drawing: settings = settings(
        max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    folder: Path
    runner: Runner

    def __init_subclass__(cls, **more: Any) -> None:
        """Make a test of each check: a coroutine function with a parameter `harness`."""
        for name, check in [*vars(cls).items()]:
            if iscoroutinefunction(check) and "harness" in signature(check).parameters:
                setattr(cls, name, _test_of(check))
        super().__init_subclass__(**more)

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def store(self) -> Any:
        """
        Return a new, empty store that shares no data with earlier ones. Override this method.

        Raises:
            PlanError: the suite does not override it.
        """
        name = type(self).__name__
        msg = f"{name} has no store; write `def store(self): return MyStore()`, a new one each time"
        raise PlanError(msg, suite=name)

    def reopened(self, store: Any) -> Any:
        """
        Return another handle on the data of a store, as another process would open.

        By default it is the same object, for stores whose data are only in memory.
        """
        return store

    def in_another_process(self, store: Any) -> str | None:  # noqa: ARG002 - for subclasses
        """
        Return Python code with which another process opens the store: `opened = lambda:
        MyStore(...)`.

        If this method returns `None`, the checks with several processes are skipped.
        """
        return None

    def close(self, store: Any) -> Any:
        """
        Release the resources of a handle. The suite calls this once for each handle, at the end of
        a check.
        """

    def hold(self, law: Callable[["Harness"], Work[None]]) -> None:
        """Run a check on a new store, and close all handles afterwards."""

        async def work() -> None:
            handles = [await awaited(self.store())]
            try:
                await law(Harness(self, handles, self.runner.as_async(handles[0])))
            finally:
                # Compared by identity: a store that cannot be reopened is its own second handle,
                # and must be closed only once.
                for handle in {id(handle): handle for handle in handles}.values():
                    await awaited(self.close(handle))

        self.runner.run(work())


async def awaited(made: Any) -> Any:
    """Return the result of a method of the suite, which may be a coroutine."""
    return await made if isawaitable(made) else made


@attrs.define
class Harness:
    """A new store, and all handles on its data, in the order in which they were opened."""

    checks: Checks
    handles: list[Any]
    store: AsyncStore

    async def again(self) -> AsyncStore:
        """Return another handle on the store's data."""
        return self.checks.runner.as_async(await self._reopened())

    async def planners(self, plan_id: str) -> tuple[AsyncPlanner, AsyncPlanner]:
        """Return two planners on one plan, each with its own handle."""
        other = await self._reopened()
        return AsyncPlanner(self.handles[0], plan_id), AsyncPlanner(other, plan_id)

    async def together(self, *works: Work[T]) -> list[T]:
        """Run coroutines in parallel, and return their results."""
        return await self.checks.runner.together(*works)

    async def _reopened(self) -> Any:
        self.handles.append(await awaited(self.checks.reopened(self.handles[0])))
        return self.handles[-1]


def drawn(examples: SearchStrategy[Any]) -> Callable[[_Check], _Check]:
    """Let a check have one more argument, an example; each example is tested on a new store."""

    def note(check: _Check) -> _Check:
        vars(check)["examples"] = examples
        return check

    return note


def _test_of(check: Callable[..., Work[None]]) -> Callable[[Checks], None]:
    """Return a test that runs a check on a new store, or on one for each drawn example."""
    examples = vars(check).get("examples")

    def test(self: Checks) -> None:
        if examples is None:
            self.hold(lambda harness: check(self, harness))
            return

        # Defined inside the test: `drawing` belongs to the subclass, and Hypothesis objects to one
        # `@given` method that several classes inherit (differing_executors).
        @self.drawing
        @given(examples)
        def every(example: Any) -> None:
            self.hold(lambda harness: check(self, harness, example))

        every()

    update_wrapper(test, check)
    del vars(test)["__wrapped__"]  # pytest would take the parameters of the check for fixtures
    return test


def equal(found: Any, wanted: Any, what: str) -> None:
    """Fail the check unless both values are equal; the message shows the first difference."""
    if found != wanted:
        path, mine, theirs = difference(found, wanted)
        must(holds=False, message=f"{what}{path}:\n  found  {mine}\n  wanted {theirs}")


def same_plan(found: Any, wanted: Plan, what: str) -> None:
    """Fail the check unless a value is a plan equal to the wanted one."""
    must(isinstance(found, Plan), f"{what}:\n  found  {found!r}\n  wanted a Plan")
    equal(found.revision, wanted.revision, f"{what}.revision")
    equal(found.next_id, wanted.next_id, f"{what}.next_id")
    equal(tuple(found), tuple(wanted), f"{what}, its tasks")


def entries_of(appended: Iterable[Append]) -> tuple[Entry, ...]:
    """Return the entries of these appends."""
    return tuple(entry for append in appended for entry in append.entries)


async def keeps(store: AsyncStore, plan_id: str, appended: Sequence[Append], when: str) -> None:
    """
    Fail the check unless the store has the plan and the journal that result from these appends.
    """
    plan = appended[-1].plan if appended else Plan()
    same_plan(await store.load(plan_id), plan, f"{when}, load({plan_id!a})")
    equal(await store.entries(plan_id), entries_of(appended), f"{when}, entries({plan_id!a})")


async def accepted(store: AsyncStore, plan_id: str, append: Append) -> None:
    """Append, and fail the check unless the store accepts it."""
    done = await store.append(plan_id, append.expected, append.entries, append.plan)
    at = f"append({plan_id!a}, {append.expected}, ...)"
    must(done, f"{at} returned {done!r}, wanted True: the plan is at this revision")


async def refused(store: AsyncStore, plan_id: str, append: Append) -> None:
    """Append, and fail the check unless the store refuses it because of the plan's revision."""
    done = await store.append(plan_id, append.expected, append.entries, append.plan)
    at = f"append({plan_id!a}, {append.expected}, ...)"
    must(not done, f"{at} returned {done!r}, wanted False: the plan is at another revision")
