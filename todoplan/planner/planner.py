"""`Planner`: transactions carried out at once, in the thread that asks for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Coroutine, Iterator
from contextlib import aclosing
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeVar

from todoplan.core.commands import ClaimTask
from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Clock, utc_now
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.errors import PlanError, StoreError
from todoplan.planner.claiming.claims import AsyncClaimed, Claimed, claim_of, claiming
from todoplan.planner.steps import (
    GRACE,
    Background,
    CallerGoneError,
    Hold,
    Lane,
    News,
    Step,
    Steps,
    StoreCall,
    aside,
    at_once,
    awaited,
    done_held,
    nothing_to_do,
    result_of,
    running_loop,
    threaded,
)
from todoplan.planner.transactions import Transactions
from todoplan.planner.verifying import Verify
from todoplan.planner.watching import Wait, watched, watched_awaited, watching
from todoplan.stores.base import AnyStore, Store, follow

if TYPE_CHECKING:
    from todoplan.planner.session import AsyncSession, Session


T = TypeVar("T")
_PLAIN = Settings()
_AWAITED = "a Planner awaits nothing: use AsyncPlanner with this store or subscriber"


class Planner(Transactions):
    """
    One plan, kept in a store: this process's memory unless told otherwise. Safe between threads.

    `Planner(store, "thread-7", toolbox=Toolbox(LEAN))`. `actor` is who acts, as the caller
    knows it; it is never read from a model's arguments. Subscribers are told one after the other,
    in the thread whose command was accepted. `verify` looks whether a task with a check is done
    before a model's call completes it: a function of the task and the plan that returns
    (passed, summary), or a `Verifier`.
    """

    def __init__(
        self,
        store: Store | None = None,
        plan_id: str | None = None,
        *,
        toolbox: Toolbox | None = None,
        clock: Clock = utc_now,
        verify: Verify | None = None,
    ) -> None:
        super().__init__(store, plan_id, toolbox=toolbox, clock=clock, verify=verify)
        if self._verifying is not None:
            self._verifying.verifier.refuse_awaited("AsyncPlanner")
        if iscoroutinefunction(self._store.load):
            raise PlanError(_AWAITED)

    @property
    def plan(self) -> Plan:
        """The plan as it stands; a value, so it serves as a snapshot as well."""
        return self._run(self._plan())

    apply = at_once(Transactions._apply)
    call = at_once(Transactions._call)
    turn = at_once(Transactions._turn)
    base_of = at_once(Transactions._base_of)
    look = at_once(Transactions._look)
    begin = at_once(Transactions._begin)
    undo = at_once(Transactions._undo)
    restore = at_once(Transactions._restore)
    history = at_once(Transactions._history)

    def session(
        self,
        record: dict[str, Any] | None = None,
        *,
        actor: str | None = None,
        settings: Settings = _PLAIN,
    ) -> Session:
        """
        Return a session with this plan: a conversation of its own, whatever its actor's name. It
        goes on from a `record`, which is `session.record` of the same conversation; without one it
        has listed nothing.
        """
        # Imported here: the session needs this module, and most planners need no session.
        from todoplan.planner.session import Session, record_from_data  # noqa: PLC0415

        kept = None if record is None else record_from_data(record)
        return Session(self, kept, actor=actor, settings=settings)

    def claim(self, owner: str | ClaimTask) -> Claimed | None:
        """
        Get a task that nobody else may work on for now; `None` if there is none to get now.

            while (held := planner.claim("worker-1")) is not None:
                with held:
                    do(held.task)

        `None` does not say that all is done: while others hold a task, it may free another one, or
        be had once their lease has run out. `work` waits for both. A loop of one's own asks again
        as long as `any(task.claim for task in planner.plan)`.

        A `ClaimTask` in place of the name says which task, and for how long a claim lasts that is
        not renewed (300 seconds): `ClaimTask("worker-1", lease=60, tag="docs", attempts=3)`.

        Raises:
            PlanError: the task that was named cannot be had; `data["problems"]` says why.
        """
        command = claim_of(owner)
        found = self._run(claiming(self._apply, command))
        return None if found is None else Claimed(self, command, *found)

    def watch(self, since: int | None = None, *, timeout: float | None = None) -> Iterator[Entry]:
        """
        Yield every entry behind a revision, once and in order, by whichever process it came, and
        wait for the next: until nothing has come for `timeout` seconds, or for ever.

            for entry in planner.watch(since=0):
                print(entry.revision, entry.actor, entry.cause)

        Without `since` these are the entries that come from now on. Where the journal was cut
        behind that revision, the first one is the plan as it was then. A store that is away for a
        while is waited for.

        Raises:
            PlanError: `since` is no revision, or `timeout` no time.
            StoreError: the plan is not as far as `since` ("rolled_back"), or the store fails.
        """
        known = self.plan.revision if since is None else since
        return watched(watching(self._store, self._plan_id, known, timeout), self._perform)

    def follow(self, *, timeout: float | None = None) -> None:
        """
        Tell subscribers what others do as well, as it comes: until nothing has come for `timeout`
        seconds, or for ever. For a thread of its own:

            Thread(target=planner.follow, daemon=True).start()

        Raises:
            PlanError, StoreError: as of `watch`.
        """
        plan = self.plan
        for entry in self.watch(plan.revision, timeout=timeout):
            before, plan = plan, follow(plan, (entry,))
            self._feed.saw(plan, entry)
            self._perform(News(before, (entry,), plan))

    def _run(self, steps: Steps[T]) -> T:
        value: Any = None
        failure: Exception | None = None
        try:
            while True:
                step = steps.send(value) if failure is None else steps.throw(failure)
                value, failure = None, None
                try:
                    value = self._perform(step)
                except Exception as raised:  # noqa: BLE001 - the transaction knows what follows
                    failure = raised
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # a generator's value is Any
        finally:
            # Also where a subscriber ended the program: its lock is let go, others are told later.
            steps.close()

    def _perform(self, step: Step) -> Any:
        if isinstance(step, News):
            for subscription in self._feed.behind(step.after):
                self._run(self._feed.tell(subscription, step))
            return None
        if isinstance(step, Hold):
            return done_held(self._store, step)
        if isinstance(step, tuple):
            method, arguments = step
            value = getattr(self._store, method)(*arguments)
        else:
            value = step()
        # Of its type, which is where `await` looks: an instance may claim to have any attribute.
        if hasattr(type(value), "__await__"):
            if isinstance(value, Coroutine):
                # Or Python would warn that it was never awaited.
                value.close()
            raise PlanError(_AWAITED)
        return value


# -------- async_planner --------
# `AsyncPlanner`: the same transactions, awaited, over an `AsyncStore` or a `Store`.
#
# Two things must not happen in an event loop: that a store stands still and everything else with
# it, and that a call which is cancelled leaves something undone that was begun.
#
# - A `Store` is called in a thread of its own: to start one costs little beside a file or a
#   database, and a thread of an executor would keep the process from ending while the store is
#   stuck. A planner has a few such calls at once, the others wait in the loop; so a plan whose
#   store is stuck takes nothing from other plans. `MemoryStore` is called where we are: it never
#   waits for more than a few instructions of another thread.
# - An append that has begun, or a plan that is held, is waited for to its end, also when its
#   caller was cancelled, and then subscribers are told what it came to. Each is told in a task of
#   its own.
#
# Where no loop of asyncio runs (Trio, or a store's test suite), stores are called and subscribers
# told where we are; what a cancelled call leaves untold there is told after the next command.


_AT_ONCE = 4  # reads pass by an append that takes long, and a stuck store holds so many threads


class _StillWritingError(BaseException):
    """A caller was cancelled while its append goes on, which gives the `answer`."""

    def __init__(self, answer: asyncio.Task[Any], cancelled: asyncio.CancelledError) -> None:
        super().__init__()
        self.answer, self.cancelled = answer, cancelled


class AsyncPlanner(Transactions):
    """
    One plan, as a `Planner` has it, awaited. A subscriber and `verify` may be coroutine functions.

    A call that is cancelled may have been carried out; if so, subscribers are told of it.
    """

    _awaits = True

    def __init__(
        self,
        store: AnyStore | None = None,
        plan_id: str | None = None,
        *,
        toolbox: Toolbox | None = None,
        clock: Clock = utc_now,
        verify: Verify | None = None,
    ) -> None:
        super().__init__(store, plan_id, toolbox=toolbox, clock=clock, verify=verify)
        # Said by the class itself: a subclass may do anything.
        never_waits = vars(type(self._store)).get("never_waits", False)
        self._never_waits = never_waits
        self._in_thread = not never_waits and not iscoroutinefunction(self._store.load)
        self._lane = Lane(_AT_ONCE)
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
        Get a task that nobody else may work on for now, `None` if there is none to get now: for
        `async with held:` in a loop of asyncio. Its owner, lease and errors are `Planner.claim`'s.
        A task that a cancelled call has claimed is given back.
        """
        command = claim_of(owner)
        found = await self._await(claiming(self._apply, command), grace=GRACE)
        return None if found is None else AsyncClaimed(self, command, *found)

    async def watch(
        self,
        since: int | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - it is no limit: every entry begins it anew
    ) -> AsyncGenerator[Entry, None]:
        """
        Yield every entry behind a revision, and wait for the next, in a loop of asyncio. See
        `Planner.watch`; without `since` from the first one that is asked for.
        """
        known = (await self.plan()).revision if since is None else since
        steps = watching(self._store, self._plan_id, known, timeout)
        # Closed with us: Python would close it whenever the loop comes to it.
        async with aclosing(watched_awaited(steps, self._find)) as entries:
            async for entry in entries:
                yield entry

    async def follow(
        self,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - as above
    ) -> None:
        """
        Tell subscribers what others do as well, as it comes. For a task of its own, which is
        cancelled at the end: `asyncio.create_task(planner.follow())`. See `Planner.follow`.
        """
        plan = await self.plan()
        async with aclosing(self.watch(plan.revision, timeout=timeout)) as entries:
            async for entry in entries:
                before, plan = plan, follow(plan, (entry,))
                self._feed.saw(plan, entry)
                await self._tell(News(before, (entry,), plan))

    async def _find(self, step: StoreCall | Wait) -> Any:
        if not isinstance(step, Wait):
            return await self._perform(step)
        name, arguments = step.call
        # Not in a lane: there a few watchers would keep all others from the store.
        return await aside(getattr(self._store, name), *arguments)

    async def _await(self, steps: Steps[T], *, grace: float = 0) -> T:
        value: Any = None
        failure: Exception | None = None
        goes_on = False
        try:
            while True:
                step = steps.send(value) if failure is None else steps.throw(failure)
                value, failure = None, None
                try:
                    # At once where nothing waits: a coroutine for each step takes as long as it.
                    if step is nothing_to_do:
                        continue
                    if not self._never_waits or not isinstance(step, tuple):
                        value = await self._perform(step)
                    elif isinstance(step, News):
                        await self._tell(step)
                    elif isinstance(step, Hold):
                        value = done_held(self._store, step)
                    else:
                        value = getattr(self._store, step[0])(*step[1])
                except _StillWritingError as writing:
                    goes_on = True
                    await self._background.leave(self._finish(steps, writing.answer), grace)
                    raise writing.cancelled from None
                except asyncio.CancelledError:
                    if isinstance(step, News) and running_loop() is not None:
                        goes_on = True
                        await self._background.leave(self._finish(steps, None), grace)
                    raise
                except Exception as raised:  # noqa: BLE001 - the transaction knows what follows
                    failure = raised
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # a generator's value is Any
        finally:
            if not goes_on:
                steps.close()

    async def _finish(self, steps: Steps[Any], answer: asyncio.Task[Any] | None) -> None:
        """
        Carry out the steps of a cancelled call whose append had begun: subscribers are told of it,
        its claims are noted, and what its caller alone could use is given back (`CallerGoneError`).
        It is not tried again.
        """
        value: Any = None
        failure: Exception | None = None
        is_gone = False
        try:
            if answer is not None:
                (value,) = await asyncio.gather(answer, return_exceptions=True)
                value, failure = (None, value) if isinstance(value, Exception) else (value, None)
            while True:
                step = steps.send(value) if failure is None else steps.throw(failure)
                value, failure = None, None
                if step is nothing_to_do:
                    is_gone, failure = True, CallerGoneError()
                elif is_gone or isinstance(step, News):
                    try:
                        value = await self._perform(step)
                    except Exception as raised:  # noqa: BLE001 - the transaction knows what follows
                        failure = raised
                else:
                    return
        except (StopIteration, CallerGoneError, StoreError, _StillWritingError):
            pass  # there is nobody to whom this could be said
        finally:
            steps.close()

    async def _perform(self, step: Step) -> Any:
        if isinstance(step, News):
            return await self._tell(step)
        if isinstance(step, Hold):
            return await self._ask("hold", (step,))
        if isinstance(step, tuple):
            name, arguments = step
            return await self._ask(name, arguments)
        value = step()
        if not isawaitable(value):
            return value
        try:
            return await value
        except asyncio.CancelledError as error:
            task = asyncio.current_task() if running_loop() else None
            if task is None or task.cancelling():
                raise
            # Not we were cancelled: what the subscriber waited for was, and it failed by that.
            msg = "what a subscriber waited for was cancelled"
            raise PlanError(msg) from error

    async def _tell(self, news: News) -> None:
        told = [self._feed.tell(each, news) for each in self._feed.behind(news.after)]
        if told and running_loop() is None:
            for steps in told:
                await self._await(steps)
        elif told:
            # Waiting for tasks does not cancel them with the one who waits.
            await asyncio.wait([self._background.start(self._await(steps)) for steps in told])

    async def _ask(self, name: str, arguments: tuple[Any, ...]) -> Any:
        method = partial(done_held, self._store) if name == "hold" else getattr(self._store, name)
        loop = running_loop()
        if loop is None or not self._in_thread:
            value = method(*arguments)
        else:
            # Given back when the thread ends, not the call: a cancelled read still holds one.
            lane = self._lane.within(loop)
            await lane.acquire()
            work = partial(method, *arguments)
            value = await self._to_its_end(name, threaded(work, loop, lane.release))
        if loop is None or not isawaitable(value):
            return await value if isawaitable(value) else value
        return await self._to_its_end(name, value)

    async def _to_its_end(self, name: str, work: Awaitable[T]) -> T:
        # A read that is cancelled leaves nothing undone.
        if name not in {"append", "hold"}:
            return await work
        answer = self._background.start(result_of(work))
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError as cancelled:
            raise _StillWritingError(answer, cancelled) from None
