"""
The calls of one model turn, in frameworks that start each call separately, all at once.

Law 13: the calls are carried out in order, in one append. But a call must not be carried out before
the framework starts it, because a person may refuse it at the last moment. So the first call waits
for the other calls, which usually start within a millisecond. If a call is delayed for too long,
the calls that have started form a group and are carried out without it. The delayed call is carried
out when it starts, in the next group.

A framework repeats a step after a failure. A call that was answered before is then not carried out
again, but gets the same answer, as long as this process runs and keeps the turn.
"""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Hashable, Sequence
from concurrent.futures import Future, wait
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar, cast

import attrs

from todoplan.dialogue.calls import Call, Reply
from todoplan.planner.steps import done_at_once, done_awaited, remember


class Answered(Protocol):
    """The result of a group of calls: a `Turn`, or an adapter's own object with the replies."""

    @property
    def replies(self) -> tuple[Reply, ...]:
        """The replies, in the order of the calls."""
        ...


R = TypeVar("R", bound=Answered)

# This time passes only if a call is delayed. With 0.1 seconds, threads on a machine under load came
# too late.
_PATIENCE_SECONDS = 1.0
_MOST_TURNS = 256

_Calls = tuple[Call, ...]
CarryOut = Callable[[_Calls, Sequence[R]], R]
"""Carries out calls together; the second argument has the results of the turn's earlier groups."""


def _settled_by_us() -> "Future[None]":
    # The future is marked as running, because such a future cannot be cancelled. Otherwise a
    # waiting task that is cancelled would cancel the future for all others that wait for it.
    future: Future[None] = Future()
    future.set_running_or_notify_cancel()
    return future


@attrs.define(eq=False)
class _Group(Generic[R]):
    """
    Calls that are carried out together. `earlier` are the groups of the same turn before this one.
    `complete` is set once all calls of the turn have started. `done` is set once this group was
    carried out or has failed.
    """

    earlier: "tuple[_Group[R], ...]" = ()
    is_open: bool = True
    failure: BaseException | None = None
    calls: dict[str, Call] = attrs.field(factory=dict)
    complete: "Future[None]" = attrs.field(factory=_settled_by_us)
    done: "Future[None]" = attrs.field(factory=_settled_by_us)
    result: R | None = None


_Wait = tuple["Future[None]", float | None]
"""A future, and the time in seconds after which it is no longer waited for."""


class ParallelCalls(Generic[R]):
    """The turns whose calls were started recently. Threads and asyncio tasks may share it."""

    def __init__(self) -> None:
        self._turns: dict[Hashable, list[_Group[R]]] = {}
        self._lock = Lock()

    def answer(
        self, key: Hashable, ids: Sequence[str], call: Call, carry_out: CarryOut[R]
    ) -> tuple[Reply, R]:
        """
        Answer a call of the turn `key`. Return the reply, and the result of the group of calls.
        `ids` are the ids of the turn's open calls, in order.

        Raises:
            Exception: what `carry_out` raised; the call may be started again.
        """

        def perform(step: "_Wait | _Group[R]") -> object:
            if isinstance(step, tuple):
                return wait([step[0]], step[1])
            return carry_out(*self._close(ids, step))

        return done_at_once(self._answering(key, ids, call), perform)

    async def aanswer(
        self,
        key: Hashable,
        ids: Sequence[str],
        call: Call,
        carry_out: Callable[[_Calls, Sequence[R]], Awaitable[R]],
    ) -> tuple[Reply, R]:
        """Do the same as `answer`, awaited in an event loop."""

        async def perform(step: "_Wait | _Group[R]") -> object:
            if isinstance(step, tuple):
                return await asyncio.wait([asyncio.wrap_future(step[0])], timeout=step[1])
            return await carry_out(*self._close(ids, step))

        return await done_awaited(self._answering(key, ids, call), perform)

    def _answering(
        self, key: Hashable, ids: Sequence[str], call: Call
    ) -> "Generator[_Wait | _Group[R], Any, tuple[Reply, R]]":
        """Answer a call. A step is a future to wait for, or a group of calls to carry out."""
        group, is_first = self._join(key, ids, call)
        if is_first:
            try:
                yield group.complete, _PATIENCE_SECONDS
                if group.earlier:
                    yield group.earlier[-1].done, None
                group.result = yield group
            except BaseException as error:
                with self._lock:
                    group.is_open, group.failure = False, error
                raise
            finally:
                # Not the error: asyncio logs an error of a future that nobody asks for its result.
                group.done.set_result(None)
        else:
            yield group.done, None
        if group.failure is not None:
            raise group.failure
        result = cast("R", group.result)
        return next(one for one in result.replies if one.call_id == call.call_id), result

    def _join(self, key: Hashable, ids: Sequence[str], call: Call) -> tuple[_Group[R], bool]:
        """
        Return the group of a call that has just started, and whether the call is the group's first.
        """
        with self._lock:
            groups = self._turns.get(key, [])
            remember(self._turns, key, groups, _MOST_TURNS)
            begun = {
                call_id: group
                for group in groups
                if group.failure is None
                for call_id in group.calls
            }
            known = begun.get(call.call_id)
            if known is not None and known.calls[call.call_id] == call:
                return known, False
            is_first = not groups or not groups[-1].is_open or known is not None
            if is_first:
                groups.append(_Group((*groups,)))
            group = groups[-1]
            group.calls[call.call_id] = call
            if not set(ids) - {*begun, *group.calls} and not group.complete.done():
                group.complete.set_result(None)
            return group, is_first

    def _close(self, ids: Sequence[str], group: _Group[R]) -> tuple[_Calls, Sequence[R]]:
        """Return the calls of a group, in order, and the results of the turn's earlier groups."""
        with self._lock:
            group.is_open = False
            order = {call_id: place for place, call_id in enumerate(ids)}
            calls = sorted(group.calls.values(), key=lambda one: order.get(one.call_id, 0))
        # A group that failed has no result.
        return (*calls,), [one.result for one in group.earlier if one.result is not None]
