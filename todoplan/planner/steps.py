"""
The steps of transactions: a generator yields each step, and receives its result.

So a transaction is written once: `Planner` executes the steps, and `AsyncPlanner` awaits them.
"""

import operator
from collections.abc import Awaitable, Callable, Coroutine, Generator
from inspect import signature
from operator import attrgetter
from os import PathLike, fspath
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from todoplan.core.events.apply import Entry
from todoplan.core.plan.model import short_repr
from todoplan.core.plan.plan import Plan
from todoplan.errors import PlanError
from todoplan.stores.base import AnyStore
from todoplan.stores.base import Hold as Locked

T = TypeVar("T")
P = ParamSpec("P")


class News(NamedTuple):
    """
    A hint that there may be new entries for subscribers. `before` and `after` are the plans before
    and after the entries. `after` is `None` if an append raised: its entries may be saved anyway.
    """

    before: Plan
    entries: tuple[Entry, ...]
    after: Plan | None


StoreCall = tuple[str, tuple[Any, ...]]
"""The name of a store method and its arguments. A plain tuple, because every command makes two."""


class Hold(NamedTuple):
    """Lock the plan, pass it to `decide`, and carry out the steps that `decide` yields."""

    plan_id: str
    decide: Callable[[Any], Generator[Any, Any, Any]]


Step = StoreCall | News | Hold | Callable[[], object]
Steps = Generator[Step, Any, T]
"""A generator of steps. It is sent each step's result; a step's exception is thrown into it."""


class CallerGoneError(Exception):
    """
    Thrown into the steps at `nothing_to_do` if the caller was cancelled, so that the steps can undo
    what only the caller could use, such as a claim.
    """


def nothing_to_do() -> None:
    """
    Do nothing. This step separates an operation from what follows only for its caller.

    If the caller is cancelled during an append, the operation goes on up to this step, where
    `CallerGoneError` is thrown into the steps.
    """


def at_once(
    steps: Callable[Concatenate[Any, P], Steps[T]], runner: str = "_run"
) -> Callable[Concatenate[Any, P], T]:
    """
    Return a method that carries out the steps of the method `steps` in the calling thread.

    `runner` is the path of the method that carries out steps, such as "planner._run". `call =
    at_once(Transactions._call)` has the parameters and the docstring of `_call`.
    """
    runner_of = attrgetter(runner)

    def method(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        result: T = runner_of(self)(steps(self, *args, **kwargs))
        return result

    described(method, steps)
    return method


def awaited(
    steps: Callable[Concatenate[Any, P], Steps[T]], runner: str = "_await"
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """
    Return an asynchronous method that awaits the steps of the method `steps`. `runner` is the path
    of the method that awaits steps, such as "planner._await".
    """
    runner_of = attrgetter(runner)

    async def method(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        result: T = await runner_of(self)(steps(self, *args, **kwargs))
        return result

    described(method, steps)
    return method


def described(
    function: Any, steps: Callable[..., Any], *, prefix: str = "", without: int = 0
) -> None:
    """
    Copy the docstring, the signature and (after `prefix`) the name of `steps` to a function.
    The signature leaves out the first `without` parameters.
    """
    function.__name__ = function.__qualname__ = prefix + steps.__name__.removeprefix("_")
    original, function.__doc__ = signature(steps), steps.__doc__
    returned = original.return_annotation.removeprefix("Steps[").removesuffix("]")
    parameters = [*original.parameters.values()][without:]
    function.__signature__ = original.replace(parameters=parameters, return_annotation=returned)


def done_at_once(steps: Generator[Any, Any, T], perform: Callable[[Any], Any] = operator.call) -> T:
    """
    Perform the steps of a generator one by one, and return the generator's result. By default, each
    step is a function, which is called.

    The generator is sent each step's result; a step's exception is thrown into it.
    """
    resume: Callable[[Any], Any] = steps.send
    value: Any = None
    try:
        while True:
            step = resume(value)
            try:
                resume, value = steps.send, perform(step)
            except BaseException as raised:  # noqa: BLE001 - thrown into the steps
                resume, value = steps.throw, raised
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # a generator's value is Any
    finally:
        steps.close()  # needed if an interrupt (Ctrl-C) came between two steps


async def done_awaited(
    steps: Generator[Any, Any, T], perform: Callable[[Any], Awaitable[Any]] = operator.call
) -> T:
    """Do the same as `done_at_once`, but await what `perform` returns for each step."""
    resume: Callable[[Any], Any] = steps.send
    value: Any = None
    try:
        while True:
            step = resume(value)
            try:
                resume, value = steps.send, await perform(step)
            except BaseException as raised:  # noqa: BLE001 - thrown into the steps
                resume, value = steps.throw, raised
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # same
    finally:
        steps.close()


def done_held(store: Any, step: Hold) -> Any:
    """Execute a `Hold` in this thread. For an async store, return a coroutine that executes it."""
    holds = store.hold(step.plan_id)
    if hasattr(type(holds), "__aenter__"):

        async def awaited() -> Any:
            async with holds as held:
                return await done_awaited(step.decide(held))

        return awaited()
    try:
        with holds as held:
            return done_at_once(step.decide(held))
    except BaseException:
        # An interrupt (Ctrl-C) may come when `__exit__` begins, and then nothing was released.
        if isinstance(holds, Locked):
            holds.let_go()
        raise


MOST_REMEMBERED = 1_000


def remember(kept: dict[Any, T], key: object, value: T, most: int | None = None) -> None:
    """
    Put a value, such as the session of a run, at the end of the mapping `kept`. If the mapping then
    has more than `most` values (default: 1,000), remove the first one, which is the oldest.
    """
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > (MOST_REMEMBERED if most is None else most):
        del kept[next(iter(kept))]


# -------- arguments --------
# The arguments of a planner are checked when they are passed, not when they are first needed.


def checked_store(store: Any) -> AnyStore:
    """
    Return the argument if it is a store.

    Raises:
        PlanError: the argument is not a store, but for example a class or a path.
    """
    lacking = [
        method
        for method in ("load", "entries", "append")
        if not callable(getattr(store, method, None))
    ]
    # A class has the three methods too, so `lacking` would let it pass.
    if isinstance(store, type):
        raise unfit(store, f"a class is no store yet; make one: {store.__name__}(...)")
    if isinstance(store, str | PathLike):
        path = fspath(store)
        example = f"SqliteStore({path!r}), or FileStore({path!r}) for a file of JSON, of"
        raise unfit(store, f"a path is no store; write {example} todoplan.stores")
    if lacking:
        raise unfit(store, f"a store has load, entries and append; this lacks {lacking}")
    return store  # type: ignore[no-any-return]  # it has the methods of a store


def store_of_plans(store: Any, plan_id: str | None) -> AnyStore | None:
    """
    Return the store that an adapter was given, or `None` if it was given none.

    Raises:
        PlanError: the argument is not a store; or a plan id is given without a store.
    """
    if store is None and plan_id is not None:
        msg = f"plan_id={plan_id!r} names a plan in a store: give store= too, or leave it out"
        raise PlanError(msg, plan_id=plan_id)
    return None if store is None else checked_store(store)


def unfit(value: object, remedy: str) -> PlanError:
    """Return the error for an argument that does not fit; `remedy` says what to give instead."""
    return PlanError(f"{short_repr(value)} was given; {remedy}", seen=value)
