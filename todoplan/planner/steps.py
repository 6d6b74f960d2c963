"""
What transactions ask for: generators yield steps, and are sent what came of each.

So they are written once, and `Planner` carries the steps out at once while `AsyncPlanner` awaits.
"""

from collections.abc import Awaitable, Callable, Generator
from typing import Any, NamedTuple, TypeVar

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.stores.locks import Hold as Locked

T = TypeVar("T")


class News(NamedTuple):
    """
    A hint that there is something to tell. Without `after` nobody knows what was kept.
    """

    before: Plan
    entries: tuple[Entry, ...]
    after: Plan | None


StoreCall = tuple[str, tuple[Any, ...]]
"""A method of the store and its arguments; a plain tuple, for every command makes two of them."""


class Hold(NamedTuple):
    """
    Hold a plan, and meanwhile do what a function asks for of what is held: calls, one by one.
    """

    plan_id: str
    decide: Callable[[Any], Generator[Any, Any, Any]]


Step = StoreCall | News | Hold | Callable[[], object]
Steps = Generator[Step, Any, T]
"""What is to be done, step by step; the result of each is sent back, or what it raised thrown."""


class CallerGoneError(Exception):
    """
    What is thrown at `nothing_to_do` where the caller was cancelled: nobody gets the answer.
    """


def nothing_to_do() -> None:
    """
    Do nothing: a step between what is noted in any case and what only the caller gets to see.
    """


def done_at_once(calls: Generator[Callable[[], Any], Any, T]) -> T:
    """
    Make the calls that a generator asks for, one by one, and return what it came to.
    """
    value: Any = None
    while True:
        try:
            call = calls.send(value)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # a generator's value is Any
        value = call()


async def done_awaited(calls: Generator[Callable[[], Awaitable[Any]], Any, T]) -> T:
    """
    Do the same, awaiting what each of them returns.
    """
    value: Any = None
    while True:
        try:
            call = calls.send(value)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # same
        value = await call()


def done_held(store: Any, step: Hold) -> Any:
    """
    Hold a plan and decide: all of it in this thread, or in a coroutine that is returned.
    """
    holds = store.hold(step.plan_id)
    if hasattr(type(holds), "__aenter__"):
        return _held_awaited(holds, step)
    try:
        with holds as held:
            return done_at_once(step.decide(held))
    finally:
        # Once more: an interrupt (Ctrl-C) may come as `__exit__` begins. Stores of ours know this.
        if isinstance(holds, Locked):
            holds.let_go()


async def _held_awaited(holds: Any, step: Hold) -> Any:
    async with holds as held:
        return await done_awaited(step.decide(held))
