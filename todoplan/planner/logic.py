"""
What a planner does: load, decide, append, and again if somebody else was faster.

Written once, as generators that yield store operations; `todoplan.planner.handles` runs or awaits
them.
"""

import logging
from bisect import insort
from collections.abc import Callable, Generator, Sequence
from datetime import datetime
from functools import partial
from itertools import accumulate
from threading import Lock
from typing import Any, TypeVar

import attrs

from todoplan.core.commands import Command, RestorePlan
from todoplan.core.decide.decide import Decision, Rejected, decide
from todoplan.core.events.apply import replay
from todoplan.core.events.journal import Entry
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import in_utc, short_repr
from todoplan.core.problems import Problem
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.toolbox import Call, Reply, Toolbox, Turn
from todoplan.errors import PlanError, StoreError
from todoplan.stores.base import AnyStore, checked_id
from todoplan.stores.memory import MemoryStore

__all__ = ["Logic", "Steps", "Subscriber"]

T = TypeVar("T")

Subscriber = Callable[[Entry, Plan], object]
"""
Told of each accepted command: its journal entry and the plan after it. What is accepted meanwhile,
by a subscriber too, is told when all have been told of this. Commands that run at once may be told
in another order: the plan of the highest revision is the newest.
"""

_Step = Callable[[Any], Any]
Steps = Generator[_Step, Any, T]
_History = tuple[Entry, ...]
_Named = tuple[str, tuple[Event, ...]]
_TRIES = 1_000  # more than a crowd of writers needs, and not for ever
_ANYTHING_GOES = Policy()
logger = logging.getLogger("todoplan")


@attrs.frozen
class _Outcome:
    """
    What an attempt came to: the caller's result, and what is to be appended.
    """

    result: Any
    plan: Plan
    entries: tuple[Entry, ...] = ()


_Attempt = Callable[[Plan, _History], _Outcome]


class Logic:
    """
    What both handles do, and what they share.

    A step is a function of the store; its result may have to be awaited.
    """

    def __init__(
        self,
        store: AnyStore | None = None,
        plan_id: str | None = None,
        *,
        toolbox: Toolbox | None = None,
        clock: Clock = utc_now,
    ) -> None:
        if store is not None and plan_id is None:
            msg = "a store that is given may hold many plans; say which one with plan_id="
            raise PlanError(msg)
        self._store = MemoryStore() if store is None else store
        self._plan_id = "plan" if plan_id is None else checked_id(plan_id)
        self.toolbox = Toolbox() if toolbox is None else toolbox
        _require(isinstance(self.toolbox, Toolbox), toolbox, "a toolbox: Toolbox(toolset, policy)")
        self._clock = clock
        self._subscribers: list[Subscriber] = []
        self._untold: list[tuple[Entry, Plan]] = []
        self._telling = Lock()

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """
        Have every command that is accepted through this planner told to a function; call what is
        returned to stop that.

        What a subscriber raises is logged and stops nobody: the command has happened.
        """
        _require(callable(subscriber), subscriber, "a function of an entry and a plan")
        mine = partial(subscriber)
        self._subscribers.append(mine)

        def stop() -> None:
            self._subscribers = [each for each in self._subscribers if each is not mine]

        return stop

    def _plan(self) -> Steps[Plan]:
        plan: Plan = yield lambda store: store.load(self._plan_id)
        return plan

    def _history(self) -> Steps[tuple[Entry, ...]]:
        history: _History = yield lambda store: store.entries(self._plan_id)
        return history

    def _commit(self, attempt: _Attempt, *, with_history: bool = False) -> Steps[Any]:
        for _ in range(_TRIES):
            plan = yield from self._plan()
            history = (yield from self._history()) if with_history else ()
            if history and history[-1].revision != plan.revision:
                continue
            done = attempt(plan, history)
            if not done.entries or (yield self._append(plan, done)):
                yield from self._tell(plan, done)
                return done.result
        msg = f"the plan {self._plan_id!r} kept changing for {_TRIES} tries; try again later"
        raise StoreError(msg, plan_id=self._plan_id)

    def _append(self, plan: Plan, done: _Outcome) -> _Step:
        return lambda store: store.append(self._plan_id, plan.revision, done.entries, done.plan)

    def _tell(self, plan: Plan, done: _Outcome) -> Steps[None]:
        """
        Tell what happened, oldest first; if somebody is telling already, leave it to them.
        """
        for entry in done.entries if self._subscribers else ():
            plan = replay(plan, entry.events)
            insort(self._untold, (entry, plan), key=_revision)
        while self._untold and self._telling.acquire(blocking=False):
            try:
                while self._untold:
                    yield from self._tell_one(*self._untold.pop(0))
            finally:
                self._telling.release()

    def _tell_one(self, entry: Entry, plan: Plan) -> Steps[None]:
        for subscriber in tuple(self._subscribers):
            try:
                yield _telling(subscriber, entry, plan)
            except Exception:
                logger.exception("a subscriber failed on revision %d", entry.revision)

    def _apply(self, command: Command, actor: str | None, policy: Policy | None) -> Steps[Decision]:
        chosen = self.toolbox.policy if policy is None else policy

        def attempt(plan: Plan, _: _History) -> _Outcome:
            at = in_utc(self._clock())
            decision = decide(plan, command, chosen, at=at)
            if isinstance(decision, Rejected):
                return _Outcome(decision, plan)
            entries = _entries(plan, ((type(command).__name__, decision.events),), at, actor)
            return _Outcome(decision, decision.plan, entries)

        return self._commit(attempt)

    def _turn(self, calls: Sequence[Call], actor: str | None) -> Steps[Turn]:
        def attempt(plan: Plan, _: _History) -> _Outcome:
            at = in_utc(self._clock())
            turn = self.toolbox.turn(plan, calls, at=at)
            named = tuple((reply.name, reply.events) for reply in turn.replies)
            return _Outcome(turn, turn.plan, _entries(plan, named, at, actor))

        return self._commit(attempt)

    def _call(self, name: str, arguments: object, actor: str | None) -> Steps[Reply]:
        turn = yield from self._turn((Call(name, arguments),), actor)
        return turn.replies[0]

    def _restore(self, earlier: Plan, actor: str | None) -> Steps[Decision]:
        def attempt(plan: Plan, _: _History) -> _Outcome:
            return self._put_back(plan, earlier, Entry(0, (), cause="restore", actor=actor))

        return self._commit(attempt)

    def _undo(self, actor: str | None) -> Steps[Decision]:
        def attempt(plan: Plan, history: _History) -> _Outcome:
            target = _undoable(history)
            if target is None:
                return _Outcome(Rejected((Problem("nothing_to_undo"),)), plan)
            events = (event for entry in history[:target] for event in entry.events)
            undoes = history[target].revision
            blank = Entry(0, (), cause="undo", actor=actor, undoes=undoes)
            return self._put_back(plan, replay(Plan(), events), blank)

        return self._commit(attempt, with_history=True)

    def _put_back(self, plan: Plan, earlier: Plan, blank: Entry) -> _Outcome:
        at = in_utc(self._clock())
        command = RestorePlan(tuple(earlier), earlier.next_id)
        decision = decide(plan, command, _ANYTHING_GOES, at=at)
        if isinstance(decision, Rejected):
            return _Outcome(decision, plan)
        after = decision.plan
        entry = attrs.evolve(blank, revision=after.revision, events=decision.events, at=at)
        return _Outcome(decision, after, (entry,))


def _entries(
    plan: Plan, named: Sequence[_Named], at: datetime, actor: str | None
) -> tuple[Entry, ...]:
    revisions = accumulate((len(events) for _, events in named), initial=plan.revision)
    next(revisions)
    return tuple(
        Entry(revision, events, at, actor, cause)
        for revision, (cause, events) in zip(revisions, named, strict=True)
        if events
    )


def _undoable(history: _History) -> int | None:
    """
    Return the place of the last entry that is no undo and was not taken back.
    """
    undone = {entry.undoes for entry in history}
    places = reversed(range(len(history)))
    return next(
        (
            place
            for place in places
            if history[place].undoes is None and history[place].revision not in undone
        ),
        None,
    )


def _require(fits: bool, given: object, wanted: str) -> None:  # noqa: FBT001 - said by position
    if not fits:
        msg = f"{short_repr(given)} was given; give {wanted}"
        raise PlanError(msg, seen=given)


def _revision(untold: tuple[Entry, Plan]) -> int:
    return untold[0].revision


def _telling(subscriber: Subscriber, entry: Entry, plan: Plan) -> _Step:
    return lambda _: subscriber(entry, plan)
