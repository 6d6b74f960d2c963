"""The handles for embedders: `Planner` runs what `Logic` asks for, `AsyncPlanner` awaits it."""

from collections.abc import Coroutine, Sequence
from inspect import isawaitable
from typing import Any, TypeVar

from todoplan.core.commands import Command
from todoplan.core.decide.decide import Decision
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.toolbox import Call, Reply, Turn
from todoplan.errors import PlanError
from todoplan.planner.logic import Logic, Steps

__all__ = ["AsyncPlanner", "Planner"]

T = TypeVar("T")


def _run(steps: Steps[T], store: Any) -> T:
    value: Any = None
    failure: Exception | None = None
    try:
        while True:
            step = steps.throw(failure) if failure else steps.send(value)
            value, failure = None, None
            try:
                value = _at_once(step(store))
            except Exception as raised:  # noqa: BLE001 - handed to the logic, which decides
                failure = raised
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # a generator's value is Any to typeshed
    finally:
        steps.close()  # also where a call is cancelled: others are to be told


def _at_once(value: Any) -> Any:
    if not hasattr(type(value), "__await__"):
        return value
    if isinstance(value, Coroutine):
        value.close()
    msg = "a Planner awaits nothing: use AsyncPlanner with this store or subscriber"
    raise PlanError(msg)


async def _await(steps: Steps[T], store: Any) -> T:
    value: Any = None
    failure: Exception | None = None
    try:
        while True:
            step = steps.throw(failure) if failure else steps.send(value)
            value, failure = None, None
            try:
                found = step(store)
                value = await found if isawaitable(found) else found
            except Exception as raised:  # noqa: BLE001 - handed to the logic, which decides
                failure = raised
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # a generator's value is Any to typeshed
    finally:
        steps.close()  # also where a call is cancelled: others are to be told


class Planner(Logic):
    """
    One plan, kept in a store: this process's memory unless told otherwise. Safe between threads.

    `Planner(store, "thread-7", toolbox=Toolbox(LEAN))`. `actor` is who acts, as the caller
    knows it; it is never read from a model's arguments.
    """

    @property
    def plan(self) -> Plan:
        """
        The plan as it stands; a value, so it serves as a snapshot as well.
        """
        return _run(self._plan(), self._store)

    def apply(
        self, command: Command, *, actor: str | None = None, policy: Policy | None = None
    ) -> Decision:
        """
        Carry a command out, or say why not; under the toolbox's policy unless another is given.
        """
        return _run(self._apply(command, actor, policy), self._store)

    def call(self, name: str, arguments: object = None, *, actor: str | None = None) -> Reply:
        """
        Answer one tool call.
        """
        return _run(self._call(name, arguments, actor), self._store)

    def turn(self, calls: Sequence[Call], *, actor: str | None = None) -> Turn:
        """
        Answer all planning calls of one model turn, in order as one.
        """
        return _run(self._turn(calls, actor), self._store)

    def undo(self, *, actor: str | None = None) -> Decision:
        """
        Take the last accepted command back that still stands; again, the one before it.
        """
        return _run(self._undo(actor), self._store)

    def restore(self, earlier: Plan, *, actor: str | None = None) -> Decision:
        """
        Make the tasks those of an earlier plan, or seed them. Ids and revision go on.
        """
        return _run(self._restore(earlier, actor), self._store)

    def history(self) -> tuple[Entry, ...]:
        """
        Return what happened, oldest first, with time and actor.
        """
        return _run(self._history(), self._store)


class AsyncPlanner(Logic):
    """
    The same, awaited, over an `AsyncStore` or a `Store`. A subscriber may be a coroutine function.
    """

    async def plan(self) -> Plan:
        """
        Return the plan as it stands.
        """
        return await _await(self._plan(), self._store)

    async def apply(
        self, command: Command, *, actor: str | None = None, policy: Policy | None = None
    ) -> Decision:
        """
        Carry a command out, or say why not; under the toolbox's policy unless another is given.
        """
        return await _await(self._apply(command, actor, policy), self._store)

    async def call(self, name: str, arguments: object = None, *, actor: str | None = None) -> Reply:
        """
        Answer one tool call.
        """
        return await _await(self._call(name, arguments, actor), self._store)

    async def turn(self, calls: Sequence[Call], *, actor: str | None = None) -> Turn:
        """
        Answer all planning calls of one model turn, in order as one.
        """
        return await _await(self._turn(calls, actor), self._store)

    async def undo(self, *, actor: str | None = None) -> Decision:
        """
        Take the last accepted command back that still stands; again, the one before it.
        """
        return await _await(self._undo(actor), self._store)

    async def restore(self, earlier: Plan, *, actor: str | None = None) -> Decision:
        """
        Make the tasks those of an earlier plan, or seed them.
        """
        return await _await(self._restore(earlier, actor), self._store)

    async def history(self) -> tuple[Entry, ...]:
        """
        Return what happened, oldest first, with time and actor.
        """
        return await _await(self._history(), self._store)
