"""
Watching a plan: every entry of its journal once, in order, by whomever it came, and then the next.

A watcher is a place in the journal, and the journal is read from there: so nothing is missed or
seen twice, whatever happens in between. What makes it look again is only a wake-up: the store's,
where it has one (`wait_for_change`), else time. A look that finds nothing is cheap where a store
gives the tail of a journal, and so is made ten times a second there; elsewhere once a second.

A store that is away for a while (a server that is restarted, a database that is busy) is waited
for; that is logged once. Anything else it raises ends the watch.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from typing import Any, NamedTuple

from todoplan.core.events.journal import Entry
from todoplan.errors import StoreError
from todoplan.planner.arguments import unfit
from todoplan.planner.steps import StoreCall
from todoplan.stores.base import AnyStore
from todoplan.stores.hold import behind_known, gone_back

__all__ = ["Found", "Pause", "Wait", "WatchStep", "watched", "watched_awaited", "watching"]

_PASSING = {"busy", "lost", "unreachable"}
_FIRST_PAUSE = 0.01  # seconds; each is half as long again, up to one of the following
_PAUSE, _LONG_PAUSE = 0.1, 1.0
_WAIT = 5.0  # seconds: so long a thread goes on waiting for nobody, after its task was cancelled

_logger = logging.getLogger("todoplan")


class Found(NamedTuple):
    """
    The next entry.
    """

    entry: Entry


class Pause(NamedTuple):
    """
    Wait for so many seconds.
    """

    seconds: float


class Wait(NamedTuple):
    """
    Make a call that stands still until something changes.
    """

    call: StoreCall


WatchStep = StoreCall | Found | Pause | Wait


def watching(
    store: AnyStore, plan_id: str, known: int, timeout: float | None
) -> Generator[WatchStep, Any, None]:
    """
    Look and wait in turns, until nothing has come for `timeout` seconds; without it for ever.

    Raises:
        PlanError: what is known is no revision, or the time no number of seconds.
        StoreError: the plan is not as far as what is known, or the store fails for good.
    """
    _check(known, timeout)
    pauses, quiet_since, was_there = _pauses(store), time.monotonic(), True
    last: Entry | None = None
    while True:
        try:
            entries = yield from _behind(store, plan_id, known, last)
            was_there = True
        except StoreError as error:
            if error.data.get("problem") not in _PASSING:
                raise
            if was_there:
                _logger.warning("the journal of %r is waited for: %s", plan_id, error)
            entries, was_there = (), False
        for entry in entries:
            known, last = entry.revision, entry
            yield Found(entry)
        if entries:
            pauses, quiet_since = _pauses(store), time.monotonic()
            continue
        left = _WAIT if timeout is None else quiet_since + timeout - time.monotonic()
        if left <= 0:
            return
        # A store that is away would say so at once, again and again.
        if was_there and callable(getattr(store, "wait_for_change", None)):
            try:
                yield Wait(("wait_for_change", (plan_id, known, min(left, _WAIT))))
            except StoreError:
                yield Pause(next(pauses))  # the next look says what is wrong, and whether it passes
        else:
            yield Pause(min(left, next(pauses)))


def _behind(
    store: AnyStore, plan_id: str, known: int, last: Entry | None
) -> Generator[WatchStep, Any, tuple[Entry, ...]]:
    """
    Return the entries behind a revision; `last` is the one of that revision, if it is known.
    """
    if callable(getattr(store, "entries_since", None)):
        first = known if last is None else known - 1
        tail: tuple[Entry, ...] = yield "entries_since", (plan_id, first)
        if last is not None:
            tail = behind_known(plan_id, known, last, tail)
        return tuple(entry for entry in tail if entry.revision > known)
    plan = yield "load", (plan_id,)
    if plan.revision == known:
        return ()
    if plan.revision < known:
        raise gone_back(plan_id, known, plan.revision)
    journal: tuple[Entry, ...] = yield "entries", (plan_id,)
    return tuple(entry for entry in journal if entry.revision > known)


def _pauses(store: AnyStore) -> Iterator[float]:
    longest = _PAUSE if callable(getattr(store, "entries_since", None)) else _LONG_PAUSE
    pause = _FIRST_PAUSE
    while True:
        yield pause
        pause = min(pause * 1.5, longest)


def _check(known: object, timeout: object) -> None:
    if not isinstance(known, int) or isinstance(known, bool) or known < 0:
        raise unfit(known, "give the revision that is known: 0 for all, None for what comes")
    if timeout is not None and (not isinstance(timeout, int | float) or timeout < 0):
        raise unfit(timeout, "give a number of seconds, or None to watch for ever")


def watched(
    steps: Generator[WatchStep, Any, None], perform: Callable[[StoreCall], Any]
) -> Iterator[Entry]:
    """
    Carry the steps of a watch out, in this thread.
    """
    value: Any = None
    failure: Exception | None = None
    try:
        while True:
            step = steps.send(value) if failure is None else steps.throw(failure)
            value, failure = None, None
            if isinstance(step, Found):
                yield step.entry
            elif isinstance(step, Pause):
                time.sleep(step.seconds)
            else:
                try:
                    value = perform(step.call if isinstance(step, Wait) else step)
                except Exception as raised:  # noqa: BLE001 - the watch knows what follows
                    failure = raised
    except StopIteration:
        return
    finally:
        steps.close()


async def watched_awaited(
    steps: Generator[WatchStep, Any, None], perform: Callable[[StoreCall | Wait], Awaitable[Any]]
) -> AsyncGenerator[Entry, None]:
    """
    Await the steps of a watch.
    """
    value: Any = None
    failure: Exception | None = None
    try:
        while True:
            step = steps.send(value) if failure is None else steps.throw(failure)
            value, failure = None, None
            if isinstance(step, Found):
                yield step.entry
            elif isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
            else:
                try:
                    value = await perform(step)
                except Exception as raised:  # noqa: BLE001 - same
                    failure = raised
    except StopIteration:
        return
    finally:
        steps.close()
