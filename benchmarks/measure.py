"""
Timing: CPU time of the process, contenders taking turns, medians of the ratios in each round.

pyperf measures wall time in separate processes for each benchmark; pytest-benchmark runs one case
after the other. Neither can alternate between contenders, which keeps ratios stable on a shared
machine.
"""

import asyncio
import gc
from collections.abc import Callable, Iterable, Mapping
from itertools import repeat
from time import process_time_ns as clock
from typing import Any

import attrs

__all__ = ["Call", "Effort", "Taken", "measure", "once"]

_LEAST, _MOST = 1, 20_000


@attrs.frozen(eq=False)
class Call:
    """
    One operation of one contender.

    `holds` checks from the result that the operation was done. With `fresh`, each call gets its own
    input, which is made outside the timed part, at most `most` at once. `tidy` runs after each
    block, untimed.
    """

    run: Callable[..., Any]
    holds: Callable[[Any], bool]
    awaited: bool = False
    fresh: Callable[[], Any] | None = None
    most: int = _MOST
    tidy: Callable[[], object] = attrs.field(default=lambda: None)


@attrs.frozen
class Effort:
    """
    How long to measure: rounds, nanoseconds in a block, and the longest call that is repeated.
    """

    rounds: int = 11
    least_rounds: int = 3
    block: int = 3_000_000
    budget: int = 3_000_000_000
    longest: int = 2_000_000_000


@attrs.frozen
class Taken:
    """
    Nanoseconds for one call in each round. `note` explains why there is only one round, or none.
    """

    rounds: tuple[float, ...] = ()
    note: str = ""


def measure(calls: Mapping[str, Call], effort: Effort) -> dict[str, Taken]:
    """
    Time the calls in alternation. Every call is made once before, and its result is checked.

    The garbage collector is on, but objects from before the first round are frozen: otherwise the
    contender that triggers a collection would pay for scanning all plans.
    """
    gc.collect()
    gc.freeze()
    try:
        return _raced(calls, effort)
    finally:
        gc.unfreeze()


def _raced(calls: Mapping[str, Call], effort: Effort) -> dict[str, Taken]:
    with asyncio.Runner() as runner:
        firsts = {name: _first(call, runner, effort) for name, call in calls.items()}
        going = {name: call for name, call in calls.items() if not firsts[name].note}
        counts = {name: _count(call, runner, effort) for name, call in going.items()}
        spent = sum(_block(going[name], runner, count) for name, count in counts.items())
        rounds = max(effort.least_rounds, min(effort.rounds, effort.budget // max(spent, 1)))
        times: dict[str, list[float]] = {name: [] for name in going}
        for _ in range(rounds):
            for name, count in counts.items():
                times[name].append(_block(going[name], runner, count) / count)
    return firsts | {name: Taken(tuple(each)) for name, each in times.items()}


def _first(call: Call, runner: asyncio.Runner, effort: Effort) -> Taken:
    try:
        taken, result = once(call, runner)
    except RecursionError as error:
        return Taken((), type(error).__name__)
    call.tidy()
    if not call.holds(result):
        msg = f"the call does not do what it is named for: {result!r:.300}"
        raise AssertionError(msg)
    return Taken((taken,), "one call only") if taken > effort.longest else Taken((taken,))


def once(call: Call, runner: asyncio.Runner) -> tuple[int, Any]:
    """Make one call; return its nanoseconds and its result."""
    given = (call.fresh(),) if call.fresh else ()
    if call.awaited:
        return runner.run(_awaited_once(call, *given))
    begin = clock()
    result = call.run(*given)
    return clock() - begin, result


async def _awaited_once(call: Call, *given: Any) -> tuple[int, Any]:
    begin = clock()
    result = await call.run(*given)
    return clock() - begin, result


def _count(call: Call, runner: asyncio.Runner, effort: Effort) -> int:
    """
    Return how many calls fill a block. The estimate is repeated, since the first calls are slower.
    """
    count = 1
    for _ in range(3):
        taken = _block(call, runner, count) / count
        wanted = int(effort.block / max(taken, 50)) + 1
        if wanted <= 2 * count:
            break
        count = max(_LEAST, min(call.most, wanted))
    return count


def _block(call: Call, runner: asyncio.Runner, count: int) -> int:
    gc.collect()
    if call.awaited:
        inputs = [(call.fresh(),) for _ in range(count)] if call.fresh else repeat((), count)
        taken = runner.run(_awaited(call.run, inputs))
    elif call.fresh:
        taken = _each(call.run, [call.fresh() for _ in range(count)])
    else:
        taken = _same(call.run, count)
    call.tidy()
    return taken


def _same(run: Callable[[], Any], count: int) -> int:
    begin = clock()
    for _ in repeat(None, count):
        run()
    return clock() - begin


def _each(run: Callable[[Any], Any], inputs: list[Any]) -> int:
    begin = clock()
    for given in inputs:
        run(given)
    return clock() - begin


async def _awaited(run: Callable[..., Any], inputs: Iterable[tuple[Any, ...]]) -> int:
    begin = clock()
    for given in inputs:
        await run(*given)
    return clock() - begin
