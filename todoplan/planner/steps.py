"""
The steps of transactions: generators yield steps and receive the result of each.

So a transaction is written once; `Planner` executes its steps, and `AsyncPlanner` awaits them.
"""

from collections.abc import Awaitable, Callable, Generator
from typing import Any, NamedTuple, TypeVar

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.stores.locks import Hold as Locked

T = TypeVar("T")


class News(NamedTuple):
    """
    A hint that there may be new entries for subscribers. With `after` as `None` it is unknown what
    was saved.
    """

    before: Plan
    entries: tuple[Entry, ...]
    after: Plan | None


StoreCall = tuple[str, tuple[Any, ...]]
"""The name of a store method and its arguments. A plain tuple, because every command makes two."""


class Hold(NamedTuple):
    """Lock the plan and run the store calls that `decide` asks for."""

    plan_id: str
    decide: Callable[[Any], Generator[Any, Any, Any]]


Step = StoreCall | News | Hold | Callable[[], object]
Steps = Generator[Step, Any, T]
"""
A generator of steps. The result of each step is sent back to it, or its exception is thrown into
it.
"""


class CallerGoneError(Exception):
    """
    Thrown into the steps at `nothing_to_do` if the caller was cancelled: nobody gets the answer.
    """


def nothing_to_do() -> None:
    """
    Do nothing. This step separates the work that is done in any case from what only the caller
    sees.
    """


def done_at_once(calls: Generator[Callable[[], Any], Any, T]) -> T:
    """Make the calls that a generator yields, one by one, and return the generator's result."""
    value: Any = None
    while True:
        try:
            call = calls.send(value)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # a generator's value is Any
        value = call()


async def done_awaited(calls: Generator[Callable[[], Awaitable[Any]], Any, T]) -> T:
    """
    Make the calls that a generator yields, await each result, and return the generator's result.
    """
    value: Any = None
    while True:
        try:
            call = calls.send(value)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # same
        value = await call()


def done_held(store: Any, step: Hold) -> Any:
    """Lock a plan and decide, in this thread or in a coroutine that is returned."""
    holds = store.hold(step.plan_id)
    if hasattr(type(holds), "__aenter__"):
        return _held_awaited(holds, step)
    try:
        with holds as held:
            return done_at_once(step.decide(held))
    finally:
        # Again: an interrupt (Ctrl-C) may come when `__exit__` begins. Our own stores support this.
        if isinstance(holds, Locked):
            holds.let_go()


async def _held_awaited(holds: Any, step: Hold) -> Any:
    async with holds as held:
        return await done_awaited(step.decide(held))
