"""`Planner`: transactions carried out at once, in the thread that asks for them."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from inspect import iscoroutinefunction
from typing import Any, TypeVar

from todoplan.core.commands import Command
from todoplan.core.decide.decide import Decision
from todoplan.core.events.base import Base
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.toolbox import Call, Reply, Toolbox, Turn
from todoplan.errors import PlanError
from todoplan.planner.telling import News, Step, Steps
from todoplan.planner.transactions import Transactions
from todoplan.stores.base import Store

__all__ = ["Planner"]

T = TypeVar("T")
_AWAITED = "a Planner awaits nothing: use AsyncPlanner with this store or subscriber"


class Planner(Transactions):
    """
    One plan, kept in a store: this process's memory unless told otherwise. Safe between threads.

    `Planner(store, "thread-7", toolbox=Toolbox(LEAN))`. `actor` is who acts, as the caller
    knows it; it is never read from a model's arguments. Subscribers are told one after the other,
    in the thread whose command was accepted.
    """

    def __init__(
        self,
        store: Store | None = None,
        plan_id: str | None = None,
        *,
        toolbox: Toolbox | None = None,
        clock: Clock = utc_now,
    ) -> None:
        super().__init__(store, plan_id, toolbox=toolbox, clock=clock)
        if iscoroutinefunction(self._store.load):
            raise PlanError(_AWAITED)

    @property
    def plan(self) -> Plan:
        """
        The plan as it stands; a value, so it serves as a snapshot as well.
        """
        return self._run(self._plan())

    def apply(
        self, command: Command, *, actor: str | None = None, policy: Policy | None = None
    ) -> Decision:
        """
        Carry a command out, or say why not; under the toolbox's policy unless another is given.
        """
        return self._run(self._apply(command, actor, policy))

    def call(self, name: str, arguments: object = None, *, actor: str | None = None) -> Reply:
        """
        Answer one tool call. What others did since this hand's last call stays, and the answer
        tells of it.
        """
        return self._run(self._call(name, arguments, actor))

    def turn(self, calls: Sequence[Call], *, actor: str | None = None) -> Turn:
        """
        Answer all planning calls of one model turn, in order as one.
        """
        return self._run(self._turn(calls, actor))

    def base_of(self, actor: str | None = None) -> Base | None:
        """
        Return the plan as a hand last saw it, and who has changed it since; `None` if it has seen
        all. For guidance in a loop of one's own:

            base = planner.base_of("bot")
            advice = guidance.before_model(plan, messages, memory, base=base)
            if advice.shows_plan:
                planner.mark_seen(plan, actor="bot")
        """
        return self._run(self._base_of(actor))

    def undo(self, *, actor: str | None = None) -> Decision:
        """
        Take the last accepted command back that still stands; again, the one before it.
        """
        return self._run(self._undo(actor))

    def restore(self, earlier: Plan, *, actor: str | None = None) -> Decision:
        """
        Make the tasks those of an earlier plan, or seed them. Ids and revision go on.
        """
        return self._run(self._restore(earlier, actor))

    def history(self) -> tuple[Entry, ...]:
        """
        Return what happened, oldest first, with time and actor.
        """
        return self._run(self._history())

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
