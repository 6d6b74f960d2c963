"""
How a planner reads its plan, and commits what it has decided.

A plan may have many writers, none of which this process knows of. There are two ways to decide upon
it, and both may run an attempt more than once, or in vain: an attempt is a function of the plan
that has no effect of its own.

- A store that can hold a plan (`todoplan.stores.hold`): the planner keeps the newest plan that it
  knows, with the last entry of its journal. It holds the plan, sees whether that entry is still
  there, reads what came since, decides, appends. Nobody is faster.
- Any other store: it reads the plan, decides, and appends for the revision that it read. A store
  that has moved on refuses that, and the attempt is made anew upon the plan as it is now.

Who only looks holds nothing: readers neither wait for writers nor keep them waiting. And who would
have to read much of a journal reads it before: meanwhile others write, also to other plans.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import attrs

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import in_utc
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.errors import StoreError
from todoplan.planner.steps import Hold, News, Step, Steps
from todoplan.planner.telling import Feed
from todoplan.stores.base import AnyStore
from todoplan.stores.hold import ALL, Key, behind_known, gone_back, is_holding
from todoplan.stores.journals import follow

__all__ = ["Attempt", "Commits", "Journal", "Outcome", "Signed", "Since", "nothing"]

Journal = tuple[Entry, ...]

_MOST_ATTEMPTS = 1_000  # more than a crowd of writers needs, and not for ever
_MANY = 500  # events: more are not read while the plan is held, as long as that can be avoided
_MOST_READS = 3


@attrs.frozen
class Outcome:
    """
    What an attempt came to: the caller's result, and what is to be appended.
    """

    result: Any
    plan: Plan
    entries: Journal = ()
    signed: "tuple[Signed, ...]" = ()

    def appends(self) -> "tuple[Signed, ...]":
        """
        Return what is to be appended, piece by piece: one for each key.
        """
        return self.signed or ((Signed(self.entries, self.plan),) if self.entries else ())


@attrs.frozen
class Signed:
    """
    Entries, the plan that they lead to, and what is kept with them: their key and an answer.
    """

    entries: Journal
    plan: Plan
    key: Key | None = None
    answer: str = ""


Attempt = Callable[..., Outcome]
"""
Decides upon a plan, what it asked to see of its journal, and the time; where there are keys, also
upon what was kept under each of them, `None` for nothing.
"""

Since = Callable[[Plan, Entry | None], int | None]
"""
Says behind which revision an attempt has to see the journal; `None` for nothing of it.

Who would need all of it is asked again with the newest entry, which may show that it need not.
"""


@attrs.frozen
class _Read:
    """
    Entries of a journal behind a revision; without entries, those that have to be read.
    """

    first: int
    entries: Journal = ()


def nothing(_: Plan, __: Entry | None) -> None:
    """
    Say that an attempt has to see nothing of the journal.
    """
    return


class Commits:
    """
    One plan in a store.
    """

    def __init__(self, store: AnyStore, plan_id: str, clock: Clock) -> None:
        self._store = store
        self._plan_id = plan_id
        self._clock = clock
        self.holds = is_holding(store)
        self.feed = Feed(plan_id, has_tails=self.holds)

    def now(self) -> datetime:
        """
        Return the time by the planner's clock, in UTC.
        """
        return in_utc(self._clock())

    def plan(self) -> Steps[Plan]:
        """
        Return the plan as it stands.
        """
        if self.holds and self.feed.newest is not None:
            return (yield from self._caught_up(self._since))
        plan: Plan = yield "load", (self._plan_id,)
        self.feed.saw(plan)
        # Once more, for the entry that led to it.
        return (yield from self._caught_up(self._since)) if self.holds and plan.revision else plan

    def _since(self, revision: int) -> Step:
        return "entries_since", (self._plan_id, revision)

    def _caught_up(self, ask: Callable[[int], Step]) -> Steps[Plan]:
        """
        Return the newest plan that is known and what came since, if it came upon that plan.
        """
        plan, last = self.feed.newest or (Plan(), None)
        tail: Journal = yield ask(plan.revision - 1)
        if len(tail) == 1 and tail[0] is last:  # nearly always, where the store is in memory
            return plan
        news = behind_known(self._plan_id, plan.revision, last, tail)
        plan = follow(plan, news)
        self.feed.saw(plan, tail[-1] if tail else None)
        return plan

    def history(self) -> Steps[Journal]:
        """
        Return the whole journal.
        """
        journal: Journal = yield "entries", (self._plan_id,)
        return journal

    def look(self, attempt: Attempt, since: Since = nothing) -> Steps[Any]:
        """
        Return what an attempt comes to that changes nothing.
        """
        if not self.holds:
            return (yield from self._compared(attempt, since))
        plan = yield from self.plan()
        tail: Any = yield from self._tail(since, plan, self._since)
        # Two reads are no snapshot: what came between them is not looked at.
        journal = tuple(entry for entry in tail if entry.revision <= plan.revision)
        return attempt(plan, journal, self.now()).result

    def commit(
        self,
        attempt: Attempt,
        since: Since = nothing,
        keys: Sequence[Key] = (),
        *,
        with_repeats: bool = False,
    ) -> Steps[Any]:
        """
        Carry an attempt out, append what it came to, tell subscribers, return its result.

        With keys, the attempt sees what was kept under them, and does not do it again. If all of it
        was kept, it sees nothing of the journal, unless `with_repeats`.

        Raises:
            StoreError: the store cannot do it; "no_keys" if it keeps none and there are some.
        """
        if self.holds:
            return (yield from self._held(attempt, since, keys, with_repeats=with_repeats))
        if keys:
            msg = (
                f"{type(self._store).__name__} keeps no keys, so a call that is made twice would "
                "happen twice; take a SqliteStore, or leave out key="
            )
            raise StoreError(msg, plan_id=self._plan_id, problem="no_keys")
        return (yield from self._compared(attempt, since))

    def _held(
        self, attempt: Attempt, since: Since, keys: Sequence[Key], *, with_repeats: bool
    ) -> Steps[Any]:
        if self.feed.newest is None:
            self.feed.saw((yield "load", (self._plan_id,)))
        appending: list[Plan] = []
        read: _Read | None = None
        for number in range(_MOST_READS + 1):
            many = _MANY if number < _MOST_READS else None
            bound = (attempt, since, keys, appending, read, many, with_repeats)
            decide = partial(self._decided, *bound)
            try:
                decided = yield Hold(self._plan_id, decide)
            except Exception:
                # What got lost may be the acknowledgement alone: the journal knows. A PostgreSQL
                # server that was killed 20 times under load left 5 such commits.
                if appending:
                    yield News(appending[0], (), None)
                raise
            if not isinstance(decided, _Read):
                break
            plan = yield from self.plan()
            tail: Journal = yield self._since(decided.first)
            read = _Read(decided.first, tuple(e for e in tail if e.revision <= plan.revision))
            # In vain: what takes long here, such as replaying years of entries, is remembered.
            attempt(
                plan, read.entries, in_utc(self._clock()), *([(None,) * len(keys)] if keys else [])
            )
        plan, done = decided
        yield from self._told(plan, done)
        return done.result

    def _decided(  # noqa: PLR0913, PLR0917 - bound before the plan is held
        self,
        attempt: Attempt,
        since: Since,
        keys: Sequence[Key],
        appending: list[Plan],
        read: _Read | None,
        many: int | None,
        with_repeats: bool,  # noqa: FBT001 - same
        held: Any,
    ) -> Steps[tuple[Plan, Outcome] | _Read]:
        """
        Decide upon a held plan and append. `held` is a `Held` or an `AsyncHeld`.

        What is returned instead has to be read first: it is more than so `many` entries.
        """
        known = 0 if self.feed.newest is None else self.feed.newest[0].revision
        if held.revision < known:
            raise gone_back(self._plan_id, known, held.revision)
        if many is not None and held.revision - known > many:
            return _Read(held.revision)
        ask = partial(partial, held.entries_since)
        plan = yield from self._caught_up(ask)
        kept = []
        for key in keys:
            receipt = yield partial(held.receipt, key)
            kept.append(receipt)
        is_repeat = bool(kept) and all(kept)
        # A session catches up with what it did itself: so it also sees the journal of a repeat.
        wanted = nothing if is_repeat and not with_repeats else since
        journal = yield from self._tail(wanted, plan, ask, read, many)
        if isinstance(journal, _Read):
            return journal
        # The store's clock, for it is the same for all who share the plan; a clock that was given
        # is meant.
        at = (yield held.now) if self._clock is utc_now else self._clock()
        done = attempt(plan, journal, in_utc(at), *([tuple(kept)] if keys else []))
        revision = plan.revision
        for each in done.appends():
            signing = {"key": each.key, "answer": each.answer} if each.key else {}
            appending.append(plan)
            yield partial(held.append, revision, each.entries, each.plan, **signing)
            revision = each.plan.revision
        return plan, done

    def _tail(
        self,
        since: Since,
        plan: Plan,
        ask: Callable[[int], Step],
        read: _Read | None = None,
        many: int | None = None,
    ) -> Steps[Journal | _Read]:
        first = since(plan, None)
        if first == ALL:
            # A process that begins anew, and whose model wrote last: it need not read all that came
            # before, which may be years of it.
            known, last = self.feed.newest or (plan, None)
            if last is None or known.revision != plan.revision:
                newest: Journal = yield ask(plan.revision - 1)
                last = newest[-1] if newest else None
            first = since(plan, last)
        if first is None:
            return ()
        if read is not None and read.first <= first and read.entries:
            end = read.entries[-1].revision
            more: Journal = () if end == plan.revision else (yield ask(max(first, end)))
            return tuple(e for e in read.entries if e.revision > first) + more
        if many is not None and plan.revision - max(first, 0) > many:
            return _Read(first)
        journal: Journal = yield ask(first)
        return journal

    def _compared(self, attempt: Attempt, since: Since) -> Steps[Any]:
        # Retries are affordable: in a prototype on SQLite, 32 processes on one plan appended 2,656
        # times a second with 4.3 conflicts for each; an agent gives about one command a second.
        for _ in range(_MOST_ATTEMPTS):
            plan = yield from self.plan()
            journal: Journal = ()
            if since(plan, None) is not None:
                journal = yield from self.history()
            # Two reads are no snapshot: somebody has written between them.
            if journal and journal[-1].revision != plan.revision:
                continue
            # Asked by each attempt, so that an entry is not older than the one that came first.
            done = attempt(plan, journal, self.now())
            kept = True
            if done.entries:
                append = (self._plan_id, plan.revision, done.entries, done.plan)
                try:
                    kept = yield "append", append
                except Exception:
                    yield News(plan, (), None)  # as above
                    raise
            if kept:
                yield from self._told(plan, done)
                return done.result
        msg = f"the plan {self._plan_id!r} kept changing for {_MOST_ATTEMPTS} tries; try again"
        raise StoreError(msg, plan_id=self._plan_id, problem="busy")

    def _told(self, plan: Plan, done: Outcome) -> Steps[None]:
        appended = done.appends()
        self.feed.saw(done.plan, appended[-1].entries[-1] if appended else None)
        if self.feed.subscriptions:
            yield News(plan, done.entries, done.plan)
