"""
`AsyncPlanner`: the same transactions, awaited, over an `AsyncStore` or a `Store`.

Two things must not happen in an event loop: that a store stands still and everything else with it,
and that a call which is cancelled leaves something undone that was begun.

- A `Store` is called in a thread of its own: to start one costs little beside a file or a
  database, and a thread of an executor would keep the process from ending while the store is
  stuck. A planner has a few such calls at once, the others wait in the loop; so a plan whose store
  is stuck takes nothing from other plans. `MemoryStore` is called where we are: it never waits for
  more than a few instructions of another thread.
- An append that has begun is waited for to its end, also when its caller was cancelled, and then
  subscribers are told what it came to. Each subscriber is told in a task of its own.

Where no loop of asyncio runs (Trio, or a store's test suite), stores are called and subscribers
told where we are; what a cancelled call leaves untold there is told after the next command.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from threading import Thread
from typing import Any, TypeVar

from todoplan.core.commands import Command
from todoplan.core.decide.decide import Decision
from todoplan.core.events.base import Base
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.toolbox import Call, Reply, Toolbox, Turn
from todoplan.errors import PlanError
from todoplan.planner.telling import News, Step, Steps
from todoplan.planner.transactions import Transactions
from todoplan.stores.base import AnyStore
from todoplan.stores.memory import MemoryStore

__all__ = ["AsyncPlanner"]

T = TypeVar("T")
_Loop = asyncio.AbstractEventLoop
_AT_ONCE = 4  # reads pass by an append that takes long, and a stuck store holds so many threads


class AsyncPlanner(Transactions):
    """
    One plan, as a `Planner` has it, awaited. A subscriber may be a coroutine function.

    A call that is cancelled may have been carried out; if so, subscribers are told of it.
    """

    def __init__(
        self,
        store: AnyStore | None = None,
        plan_id: str | None = None,
        *,
        toolbox: Toolbox | None = None,
        clock: Clock = utc_now,
    ) -> None:
        super().__init__(store, plan_id, toolbox=toolbox, clock=clock)
        never_waits = type(self._store) is MemoryStore  # a subclass may do anything
        self._in_thread = not never_waits and not iscoroutinefunction(self._store.load)
        self._lane: tuple[_Loop, asyncio.Semaphore] | None = None
        # A loop holds its tasks weakly: what goes on without its caller is held here.
        self._background: set[asyncio.Task[Any]] = set()

    async def plan(self) -> Plan:
        """
        Return the plan as it stands.
        """
        return await self._await(self._plan())

    async def apply(
        self, command: Command, *, actor: str | None = None, policy: Policy | None = None
    ) -> Decision:
        """
        Carry a command out, or say why not; under the toolbox's policy unless another is given.
        """
        return await self._await(self._apply(command, actor, policy))

    async def call(self, name: str, arguments: object = None, *, actor: str | None = None) -> Reply:
        """
        Answer one tool call, telling what others did since this hand's last one.
        """
        return await self._await(self._call(name, arguments, actor))

    async def turn(
        self, calls: Sequence[Call], *, actor: str | None = None, base: Base | None = None
    ) -> Turn:
        """
        Answer all planning calls of one model turn, in order as one. `base` is the plan as their
        writer last saw it, where the caller knows that (law 15).
        """
        return await self._await(self._turn(calls, actor, base))

    async def base_of(self, actor: str | None = None) -> Base | None:
        """
        Return the plan as a hand last saw it, and who has changed it since; `None` if it has seen
        all. See `Planner.base_of`.
        """
        return await self._await(self._base_of(actor))

    async def undo(self, *, actor: str | None = None) -> Decision:
        """
        Take the last accepted command back that still stands; again, the one before it.
        """
        return await self._await(self._undo(actor))

    async def restore(self, earlier: Plan, *, actor: str | None = None) -> Decision:
        """
        Make the tasks those of an earlier plan, or seed them.
        """
        return await self._await(self._restore(earlier, actor))

    async def history(self) -> tuple[Entry, ...]:
        """
        Return what happened, oldest first.
        """
        return await self._await(self._history())

    async def _await(self, steps: Steps[T]) -> T:
        value: Any = None
        failure: Exception | None = None
        try:
            while True:
                step = steps.send(value) if failure is None else steps.throw(failure)
                value, failure = None, None
                try:
                    value = await self._perform(step)
                except Exception as raised:  # noqa: BLE001 - the transaction knows what follows
                    failure = raised
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # a generator's value is Any
        finally:
            steps.close()

    async def _perform(self, step: Step) -> Any:
        if isinstance(step, News):
            return await self._tell(step)
        if isinstance(step, tuple):
            name, arguments = step
            return await self._ask(name, arguments)
        value = step()
        if not isawaitable(value):
            return value
        try:
            return await value
        except asyncio.CancelledError as error:
            task = asyncio.current_task() if _running_loop() else None
            if task is None or task.cancelling():
                raise
            # Not we were cancelled: what the subscriber waited for was, and it failed by that.
            msg = "what a subscriber waited for was cancelled"
            raise PlanError(msg) from error

    async def _tell(self, news: News) -> None:
        told = [self._feed.tell(each, news) for each in self._feed.behind(news.after)]
        if told and _running_loop() is None:
            for steps in told:
                await self._await(steps)
        elif told:
            # Waiting for tasks does not cancel them with the one who waits.
            await asyncio.wait([self._start(self._await(steps)) for steps in told])

    async def _ask(self, name: str, arguments: tuple[Any, ...]) -> Any:
        method = getattr(self._store, name)
        loop = _running_loop()
        if loop is None or not self._in_thread:
            value = method(*arguments)
        else:
            # Given back when the thread ends, not the call: a cancelled read still holds one.
            lane = self._lane_in(loop)
            await lane.acquire()
            work = partial(method, *arguments)
            value = await self._to_its_end(name, _threaded(work, loop, lane.release))
        if loop is None or not isawaitable(value):
            return await value if isawaitable(value) else value
        return await self._to_its_end(name, value)

    async def _to_its_end(self, name: str, work: Awaitable[T]) -> T:
        # A read that is cancelled leaves nothing undone.
        if name != "append":
            return await work
        answer = self._start(_result_of(work))
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            self._start(self._tell_after(answer))
            raise

    async def _tell_after(self, answer: asyncio.Task[Any]) -> None:
        await asyncio.gather(answer, return_exceptions=True)
        await self._tell(News(Plan(), (), None))

    def _start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    def _lane_in(self, loop: _Loop) -> asyncio.Semaphore:
        # A semaphore belongs to one loop, and each `asyncio.run` makes another. A place that was
        # not given back when its loop ended would be missing for ever.
        if self._lane is None or self._lane[0] is not loop:
            self._lane = loop, asyncio.Semaphore(_AT_ONCE)
        return self._lane[1]


def _running_loop() -> _Loop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def _result_of(work: Awaitable[T]) -> T:
    return await work


def _threaded(work: Callable[[], T], loop: _Loop, ended: Callable[[], None]) -> asyncio.Future[T]:
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
