"""
Watching a plan: yields every entry of its journal once, in order, whoever wrote it, and then waits
for the next.

A watcher is a position in the journal, and reads the journal from there, so nothing is missed or
yielded twice. A wake-up only triggers the next read: a notification from the store if it has
`wait_for_change`, otherwise a timer. A read that finds nothing is cheap if the store can return the
end of a journal (`entries_since`), so such a store is read up to ten times a second, and any other
store once a second.

If a store is unavailable for a while (a server restarts, a database is busy), the watch waits and
logs that once. Any other error of the store ends the watch.
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
_FIRST_PAUSE = 0.01  # seconds; each pause is 1.5 times the one before, up to one of the following
_PAUSE, _LONG_PAUSE = 0.1, 1.0
_WAIT = 5.0  # seconds; how long a thread may go on waiting after its task was cancelled

_logger = logging.getLogger("todoplan")


class Found(NamedTuple):
    """The watch yields the next entry."""

    entry: Entry


class Pause(NamedTuple):
    """Sleep for this number of seconds."""

    seconds: float


class Wait(NamedTuple):
    """Make a store call that blocks until something changes."""

    call: StoreCall


WatchStep = StoreCall | Found | Pause | Wait


def watching(
    store: AnyStore, plan_id: str, known: int, timeout: float | None
) -> Generator[WatchStep, Any, None]:
    """
    Read and wait in turn, until nothing new has come for `timeout` seconds; with `None`, forever.

    `known` is the revision after which the watch begins.

    Raises:
        PlanError: `known` is not a revision, or `timeout` is not a number of seconds.
        StoreError: the plan has not reached the known revision, or the store fails permanently.
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
        # An unavailable store would fail immediately, again and again.
        if was_there and callable(getattr(store, "wait_for_change", None)):
            try:
                yield Wait(("wait_for_change", (plan_id, known, min(left, _WAIT))))
            except StoreError:
                yield Pause(next(pauses))  # the next read shows whether it passes
        else:
            yield Pause(min(left, next(pauses)))


def _behind(
    store: AnyStore, plan_id: str, known: int, last: Entry | None
) -> Generator[WatchStep, Any, tuple[Entry, ...]]:
    """
    Return the entries after a revision. `last` is the entry of that revision, if the caller has it.
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
    """Execute the steps of a watch in this thread."""
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
                except Exception as raised:  # noqa: BLE001 - thrown into the steps
                    failure = raised
    except StopIteration:
        return
    finally:
        steps.close()


async def watched_awaited(
    steps: Generator[WatchStep, Any, None], perform: Callable[[StoreCall | Wait], Awaitable[Any]]
) -> AsyncGenerator[Entry, None]:
    """Execute the steps of a watch, awaited."""
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
                except Exception as raised:  # noqa: BLE001 - as in `watched`
                    failure = raised
    except StopIteration:
        return
    finally:
        steps.close()
