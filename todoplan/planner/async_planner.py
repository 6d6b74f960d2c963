"""
`AsyncPlanner`: the transactions of `Planner`, awaited, on an `AsyncStore` or a `Store`.

It is not in the module of `Planner`, because asyncio takes longer to import than all that `Planner`
needs. `AsyncClaimed`, a task that was claimed through it, is at the end of this module.

In an event loop, a slow store must not block everything else, and a cancelled call must not leave
its work half done.

- Each call of a `Store` runs in a thread of its own. Starting a thread costs little compared with
  using a file or a database, and a thread of an executor would keep the process from exiting
  while the store is stuck. A planner makes only a few such calls at a time, and further calls wait
  in the loop. So a plan whose store is stuck takes no threads from other plans. `MemoryStore` is
  called directly: it never waits for more than a few instructions of another thread.
- If the caller is cancelled after an append has begun, or while the plan is locked, the work is
  continued to its end, and then subscribers are called for the result. Each subscriber runs in a
  task of its own.

Without an asyncio event loop (in Trio, or in a store's test suite), stores and subscribers are
called directly. If a call is cancelled there before subscribers were called, they are called
after the next command.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from typing import TYPE_CHECKING, Any, Self, TypeVar

from todoplan.core.commands import ClaimTask
from todoplan.core.events.apply import Entry
from todoplan.dialogue.guidance import Settings
from todoplan.errors import PlanError, StoreError
from todoplan.planner.claiming.claims import BEATS, HeldClaim, claim_of, claiming
from todoplan.planner.loops import GRACE, Background, Limiter, result_of, running_loop, threaded
from todoplan.planner.planner import Transactions
from todoplan.planner.steps import (
    CallerGoneError,
    Hold,
    News,
    Step,
    Steps,
    awaited,
    done_held,
    nothing_to_do,
)
from todoplan.planner.watching import check_watch, next_entries
from todoplan.stores.base import AnyStore, follow

if TYPE_CHECKING:
    from todoplan.planner.session import AsyncSession

T = TypeVar("T")
_PLAIN = Settings()
_AT_ONCE = 4  # reads can pass a slow append, and a stuck store blocks only this many threads


class _StillWritingError(BaseException):
    """The caller was cancelled and its append still runs; `answer` is the task of the append."""

    def __init__(self, answer: asyncio.Task[Any], cancelled: asyncio.CancelledError) -> None:
        super().__init__()
        self.answer, self.cancelled = answer, cancelled


class AsyncPlanner(Transactions[AnyStore]):
    """
    A `Planner` whose methods are awaited. Subscribers and `verify` may be coroutine functions.

    A cancelled call may have been carried out; if so, subscribers are called for it.
    """

    _awaits = True

    def _prepare(self) -> None:
        # Only the class's own attribute counts: a subclass may override any method.
        never_waits = vars(type(self._store)).get("never_waits", False)
        self._never_waits = never_waits
        self._in_thread = not never_waits and not iscoroutinefunction(self._store.load)
        self._limiter = Limiter(_AT_ONCE)
        self._background = Background()

    plan = awaited(Transactions._plan)
    apply = awaited(Transactions._apply)
    call = awaited(Transactions._call)
    turn = awaited(Transactions._turn)
    base_of = awaited(Transactions._base_of)
    look = awaited(Transactions._look)
    begin = awaited(Transactions._begin)
    undo = awaited(Transactions._undo)
    restore = awaited(Transactions._restore)
    history = awaited(Transactions._history)

    def session(
        self,
        record: dict[str, Any] | None = None,
        *,
        actor: str | None = None,
        settings: Settings = _PLAIN,
    ) -> AsyncSession:
        """Return a session with this plan. See `Planner.session`."""
        # As in `Planner.session`.
        from todoplan.planner.session import AsyncSession, record_from_data  # noqa: PLC0415

        kept = None if record is None else record_from_data(record)
        return AsyncSession(self, kept, actor=actor, settings=settings)

    async def claim(self, owner: str | ClaimTask) -> AsyncClaimed | None:
        """
        Claim a task, so that nobody else works on it for now. Return `None` if none is available.

        Use the result with `async with held:` in an asyncio event loop. For the owner, the lease
        and the errors, see `Planner.claim`. If the call is cancelled, a task that the call has
        claimed is released.
        """
        command = claim_of(owner)
        claimed = await self._await(claiming(self, command), grace=GRACE)
        return None if claimed is None else AsyncClaimed(self, command, *claimed)

    async def watch(
        self,
        since: int | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - not a time limit: each entry restarts it
    ) -> AsyncGenerator[Entry, None]:
        """
        Yield every journal entry after revision `since`, and wait for new ones, in an asyncio event
        loop. See `Planner.watch`. Without `since`, the watch begins when the first entry is asked
        for.
        """
        known = (await self.plan()).revision if since is None else since
        check_watch(known, timeout)
        method: Any = getattr(self._store, "wait_for_change", None)

        async def wait(*arguments: Any) -> Any:
            if iscoroutinefunction(method):
                return await method(*arguments)
            # Without the limiter: with it, a few waiting watchers would block other store calls.
            return await threaded(partial(method, *arguments), asyncio.get_running_loop())

        last, where = None, (self._store, self._plan_id)
        while entries := await self._await(
            next_entries(*where, known, last, timeout, asyncio.sleep, method and wait)
        ):
            for entry in entries:
                yield entry
            last = entries[-1]
            known = last.revision

    async def follow(
        self,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - as above
    ) -> None:
        """
        Call subscribers also for the entries that other planners write. Run it in a task of its
        own, and cancel the task at the end: `asyncio.create_task(planner.follow())`. See
        `Planner.follow`.
        """
        plan = await self.plan()
        async with aclosing(self.watch(plan.revision, timeout=timeout)) as entries:
            async for entry in entries:
                before, plan = plan, follow(plan, (entry,))
                self._feed.saw(plan, entry)
                await self._tell(News(before, (entry,), plan))

    async def _await(self, steps: Steps[T], *, grace: float = 0) -> T:
        resume: Callable[[Any], Step] = steps.send
        value: Any = None
        goes_on = False
        try:
            while True:
                step = resume(value)
                resume = steps.send
                try:
                    # A store that never waits is called here: a coroutine for each step would take
                    # as long as the step itself.
                    value = self._perform(step)
                    if hasattr(type(value), "__await__"):
                        value = await value
                except _StillWritingError as writing:
                    goes_on = True
                    await self._background.leave(self._finish(steps, writing.answer), grace)
                    raise writing.cancelled from None
                except asyncio.CancelledError:
                    if isinstance(step, News) and running_loop() is not None:
                        goes_on = True
                        await self._background.leave(self._finish(steps, None), grace)
                    raise
                except Exception as raised:  # noqa: BLE001 - thrown into the steps
                    resume, value = steps.throw, raised
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # a generator's value is Any
        finally:
            if not goes_on:
                steps.close()

    async def _finish(self, steps: Steps[Any], answer: asyncio.Task[Any] | None) -> None:
        """
        Carry out the remaining steps of a cancelled call whose append had begun.

        Subscribers are called, and the fencing tokens of new claims are kept. A claim that only the
        caller could use is released (`CallerGoneError`). A failed append is not tried again.
        """
        resume: Callable[[Any], Step] = steps.send
        value: Any = None
        is_gone = False
        try:
            if answer is not None:
                (value,) = await asyncio.gather(answer, return_exceptions=True)
                resume = steps.throw if isinstance(value, Exception) else steps.send
            while True:
                step = resume(value)
                resume = steps.send
                if step is nothing_to_do:
                    is_gone, resume, value = True, steps.throw, CallerGoneError()
                elif is_gone or isinstance(step, News):
                    try:
                        value = self._perform(step)
                        value = await value if hasattr(type(value), "__await__") else value
                    except Exception as raised:  # noqa: BLE001 - thrown into the steps
                        resume, value = steps.throw, raised
                else:
                    return
        except (StopIteration, CallerGoneError, StoreError, _StillWritingError):
            pass  # the caller is gone, so nobody gets the result or the error
        finally:
            steps.close()

    def _perform(self, step: Step) -> Any:
        """Return the result of a step, or an awaitable that performs it."""
        if step is nothing_to_do:
            return None
        if isinstance(step, News):
            return self._tell(step)
        if isinstance(step, Hold):
            if self._never_waits:
                return done_held(self._store, step)
            return self._ask("hold", partial(done_held, self._store), (step,))
        if isinstance(step, tuple):
            name, arguments = step
            method = getattr(self._store, name)
            return method(*arguments) if self._never_waits else self._ask(name, method, arguments)
        value = step()
        return self._heard(value) if isawaitable(value) else value

    async def _heard(self, work: Awaitable[Any]) -> Any:
        """
        Await what a subscriber returned.

        A subscriber may await a task that is cancelled, although the caller is not. This counts as
        an error of the subscriber.
        """
        try:
            return await work
        except asyncio.CancelledError as error:
            task = asyncio.current_task() if running_loop() else None
            if task is None or task.cancelling():
                raise
            # The caller was not cancelled; something that the subscriber awaited was, so the
            # subscriber has failed.
            msg = "what a subscriber waited for was cancelled"
            raise PlanError(msg) from error

    async def _tell(self, news: News) -> None:
        steps_of_all = [self._feed.tell(to, news) for to in self._feed.behind(news.after)]
        if steps_of_all and running_loop() is None:
            for steps in steps_of_all:
                await self._await(steps)
        elif steps_of_all:
            # `asyncio.wait` does not cancel the tasks when the caller is cancelled.
            await asyncio.wait(
                [self._background.start(self._await(steps)) for steps in steps_of_all]
            )

    async def _ask(self, name: str, method: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        loop = running_loop()
        if loop is None or not self._in_thread:
            value = method(*arguments)
        else:
            # Released when the thread ends, not when the call ends: a cancelled read still occupies
            # its thread.
            semaphore = self._limiter.semaphore(loop)
            await semaphore.acquire()
            work = partial(method, *arguments)
            value = await self._to_its_end(name, threaded(work, loop, semaphore.release))
        if not isawaitable(value):
            return value
        return await value if loop is None else await self._to_its_end(name, value)

    async def _to_its_end(self, name: str, work: Awaitable[T]) -> T:
        # A cancelled read leaves nothing half done.
        if name not in {"append", "hold"}:
            return await work
        answer = self._background.start(result_of(work))
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError as cancelled:
            raise _StillWritingError(answer, cancelled) from None


class AsyncClaimed(HeldClaim):
    """A `Claimed` whose methods are awaited, for `async with`. `AsyncPlanner.claim` returns it."""

    planner: AsyncPlanner
    _sleep = staticmethod(asyncio.sleep)

    complete = awaited(HeldClaim._complete, "planner._await")
    fail = awaited(HeldClaim._fail, "planner._await")
    release = awaited(HeldClaim._release, "planner._await")
    renew = awaited(HeldClaim._renew, "planner._await")

    async def __aenter__(self) -> Self:
        await self.planner._await(self._starting())
        self._beating = asyncio.create_task(self._beat())
        return self

    async def _beat(self) -> None:
        # The flag `_stop` is checked too, because a subscriber may suppress a cancellation.
        while not self._stop.is_set() and not self._lost:
            await asyncio.sleep(self.lease / BEATS)
            await self.renew()

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        async def end() -> None:
            self._stop.set()
            if self._beating is not None:
                self._beating.cancel()
                await asyncio.wait([self._beating])
            await self.planner._await(self._ending(error))

        # If this were cancelled halfway, the task would stay claimed without a heartbeat.
        await self.planner._background.to_its_end(end())
