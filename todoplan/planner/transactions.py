"""
What a planner does with a plan in a store: load, decide, append, and again if somebody was faster.

A plan may have many writers, none of which this process knows of. So a transaction holds nothing
while it decides: it reads the plan, decides in memory, and appends for the revision that it read. A
store that has moved on refuses that, and the attempt is made anew upon the plan as it is now. An
attempt therefore has no effect of its own: it is a function of the plan that may run many times.

Transactions are generators that yield what is to be done with the store and with subscribers, and
are sent what came of it. So this file says once what `Planner` does at once and `AsyncPlanner`
awaits, and neither waits for a lock of ours while the store is at work.
"""

from collections.abc import Callable, Sequence
from copy import copy
from datetime import datetime
from functools import partial
from itertools import accumulate
from typing import Any, Self

import attrs

from todoplan.core.commands import Command, RestorePlan
from todoplan.core.decide.decide import Decision, Rejected, decide
from todoplan.core.events.apply import replay
from todoplan.core.events.base import Base
from todoplan.core.events.journal import Entry
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import in_utc
from todoplan.core.problems import Problem
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.application import require
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.toolbox import Call, Reply, Toolbox, Turn
from todoplan.errors import PlanError, StoreError
from todoplan.planner.arguments import checked_store, unfit
from todoplan.planner.hands import Hands
from todoplan.planner.telling import Feed, News, Steps, Subscriber
from todoplan.stores.base import AnyStore, checked_id
from todoplan.stores.memory import MemoryStore

__all__ = ["Transactions"]

_Journal = tuple[Entry, ...]
_MOST_ATTEMPTS = 1_000  # more than a crowd of writers needs, and not for ever
_ANYTHING_GOES = Policy()


@attrs.frozen
class _Outcome:
    """
    What an attempt came to: the caller's result, and what is to be appended.
    """

    result: Any
    plan: Plan
    entries: tuple[Entry, ...] = ()


_Attempt = Callable[[Plan, _Journal], _Outcome]


class Transactions:
    """
    What both planners do, and what they share.
    """

    def __init__(
        self,
        store: AnyStore | None = None,
        plan_id: str | None = None,
        *,
        toolbox: Toolbox | None = None,
        clock: Clock = utc_now,
    ) -> None:
        # Compared with None: a store may have a length, and an empty one would be false.
        self._store = MemoryStore() if store is None else checked_store(store)
        # No default key in a shared store: DeerFlow's gave one user's reminders to another.
        if store is not None and plan_id is None:
            msg = "a store that is given may hold many plans; say which one with plan_id="
            raise PlanError(msg)
        self._plan_id = "plan" if plan_id is None else checked_id(plan_id)
        self.toolbox = Toolbox() if toolbox is None else toolbox
        if not isinstance(self.toolbox, Toolbox):
            raise unfit(toolbox, "give a toolbox: Toolbox(toolset, policy)")
        if not callable(clock):
            raise unfit(clock, "give a function: clock=lambda: datetime.now(UTC)")
        self._clock = clock
        self._feed = Feed(self._plan_id)
        self._hands = Hands(self.toolbox.toolset)

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """
        Have every command that is accepted from now on told to a function; call what is returned to
        stop that.

        It is told by whoever carries out the command, and so should not take long: hand what takes
        long to a queue. What it raises is logged and stops nobody: the command has happened.
        """
        if not callable(subscriber):
            raise unfit(subscriber, "give a function of an entry and a plan")
        return self._feed.add(subscriber)

    def for_another_hand(self) -> Self:
        """
        Return this planner, subscribers and all, for a hand apart that may have the same name.
        """
        other = copy(self)
        other._hands = Hands(self.toolbox.toolset)  # noqa: SLF001 - it is one of us
        return other

    def mark_seen(self, plan: Plan, *, actor: str | None = None) -> None:
        """
        Note that a hand was shown this plan: by a reminder with `advice.shows_plan`, or a prompt.
        """
        self._hands.saw(actor, require(plan, Plan, "the plan that was shown, such as planner.plan"))

    def _plan(self) -> Steps[Plan]:
        plan: Plan = yield "load", (self._plan_id,)
        self._feed.saw(plan)
        return plan

    def _history(self) -> Steps[_Journal]:
        journal: _Journal = yield "entries", (self._plan_id,)
        return journal

    def _commit(
        self, attempt: _Attempt, needs_history: Callable[[Plan], bool] = lambda _: False
    ) -> Steps[Any]:
        # Retries are affordable: in a prototype on SQLite, 32 processes on one plan appended 2,656
        # times a second with 4.3 conflicts for each; an agent gives about one command a second.
        for _ in range(_MOST_ATTEMPTS):
            plan = yield from self._plan()
            journal = (yield from self._history()) if needs_history(plan) else ()
            # Two reads are no snapshot: somebody has written between them.
            if journal and journal[-1].revision != plan.revision:
                continue
            done = attempt(plan, journal)
            kept = True
            if done.entries:
                append = (self._plan_id, plan.revision, done.entries, done.plan)
                try:
                    kept = yield "append", append
                except Exception:
                    # What got lost may be the acknowledgement alone: the journal knows. A
                    # PostgreSQL server that was killed 20 times under load left 5 such commits.
                    yield News(plan, (), None)
                    raise
            if kept:
                self._feed.saw(done.plan)
                if self._feed.subscriptions:
                    yield News(plan, done.entries, done.plan)
                return done.result
        msg = f"the plan {self._plan_id!r} kept changing for {_MOST_ATTEMPTS} tries; try again"
        raise StoreError(msg, plan_id=self._plan_id, problem="busy")

    def _apply(self, command: Command, actor: str | None, policy: Policy | None) -> Steps[Decision]:
        chosen = self.toolbox.policy if policy is None else policy

        def attempt(plan: Plan, _: _Journal) -> _Outcome:
            # Asked by each attempt, so that an entry is not older than the one that came first.
            at = in_utc(self._clock())
            decision = decide(plan, command, chosen, at=at)
            if isinstance(decision, Rejected):
                return _Outcome(decision, plan)
            entries = _entries(plan, [(type(command).__name__, decision.events)], at, actor)
            return _Outcome(decision, decision.plan, entries)

        return self._commit(attempt)

    def _turn(
        self, calls: Sequence[Call], actor: str | None, base: Base | None = None
    ) -> Steps[Turn]:
        def attempt(plan: Plan, journal: _Journal) -> _Outcome:
            at = in_utc(self._clock())
            seen = self._hands.base(actor, journal) if base is None else base
            # One append for all calls of a turn (law 13): pydantic-ai-harness writes each change
            # of a batch by itself and without a version, and parallel calls come in between.
            turn = self.toolbox.turn(plan, calls, at=at, base=seen)
            named = [(reply.name, reply.events) for reply in turn.replies]
            return _Outcome(turn, turn.plan, _entries(plan, named, at, actor))

        turn: Turn = yield from self._commit(attempt, partial(self._hands.may_be_behind, actor))
        # Only now: an attempt that was not kept has shown nobody anything, nor has a refusal.
        if not all(reply.is_error for reply in turn.replies):
            self._hands.saw(actor, turn.plan)
        return turn

    def _base_of(self, actor: str | None) -> Steps[Base | None]:
        # Nothing is appended; `_commit` sees to it that plan and journal are of one moment.
        return self._commit(
            lambda plan, journal: _Outcome(self._hands.base(actor, journal), plan),
            partial(self._hands.may_be_behind, actor),
        )

    def _call(self, name: str, arguments: object, actor: str | None) -> Steps[Reply]:
        turn = yield from self._turn((Call(name, arguments),), actor)
        return turn.replies[0]

    def _restore(self, earlier: Plan, actor: str | None) -> Steps[Decision]:
        def attempt(plan: Plan, _: _Journal) -> _Outcome:
            return self._put_back(plan, earlier, Entry(0, (), cause="restore", actor=actor))

        return self._commit(attempt)

    def _undo(self, actor: str | None) -> Steps[Decision]:
        def attempt(plan: Plan, journal: _Journal) -> _Outcome:
            # From the journal: another planner, or this one after a restart, goes on undoing.
            undone = {entry.undoes for entry in journal}
            # The last entry that is no undo itself and has not been taken back.
            target = next(
                (
                    place
                    for place in reversed(range(len(journal)))
                    if journal[place].undoes is None and journal[place].revision not in undone
                ),
                None,
            )
            if target is None:
                return _Outcome(Rejected((Problem("nothing_to_undo"),)), plan)
            # Every later entry is an undo or was undone, so replaying the ones before is enough.
            earlier = (event for entry in journal[:target] for event in entry.events)
            undo = Entry(0, (), cause="undo", actor=actor, undoes=journal[target].revision)
            return self._put_back(plan, replay(Plan(), earlier), undo)

        return self._commit(attempt, lambda _: True)

    def _put_back(self, plan: Plan, earlier: Plan, blank: Entry) -> _Outcome:
        at = in_utc(self._clock())
        # Under no policy: yesterday's plan may break a rule of today's, and has to come back.
        decision = decide(plan, RestorePlan(tuple(earlier), earlier.next_id), _ANYTHING_GOES, at=at)
        if isinstance(decision, Rejected):
            return _Outcome(decision, plan)
        after = decision.plan
        entry = attrs.evolve(blank, revision=after.revision, events=decision.events, at=at)
        return _Outcome(decision, after, (entry,))


def _entries(
    plan: Plan, named: Sequence[tuple[str, tuple[Event, ...]]], at: datetime, actor: str | None
) -> tuple[Entry, ...]:
    """
    Return the journal entries of what was accepted, one for each name that has events.
    """
    revisions = accumulate((len(events) for _, events in named), initial=plan.revision)
    next(revisions)
    return tuple(
        Entry(revision, events, at, actor, cause)
        for revision, (cause, events) in zip(revisions, named, strict=True)
        if events
    )
