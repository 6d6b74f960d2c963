"""
Telling subscribers what happened: a cursor over the journal for each of them.

The journal is the one list of what was accepted, so telling keeps no second one: a queue of what is
still to be told was tried, and threads, cancelled calls and lost acknowledgements each lost entries
of it. A subscription is a function and how far in the journal it has heard; it is told of the
entries behind that, one after the other. What makes somebody look is only a hint: a command that
was accepted, one that saw a newer plan, an append that raised and may have been kept all the same.
A hint that is lost delays the news until the next one; it can lose none of them.

- Once: the cursor moves before the function is called, so that one which raises, or is cancelled,
  is not called again for the same entry.
- In order: whoever tells a subscriber holds its lock; another hint only leaves a mark (`behind`),
  which the one who holds the lock sees before or after letting go.
- Nobody waits for another subscriber: each has its own cursor and its own lock.

The cursor is a plan, the one that the subscriber knows: its revision is the place in the journal,
and replaying the next entry upon it gives the plan that goes with the entry.
"""

import logging
from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from threading import Lock

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.planner.steps import News, Steps
from todoplan.stores.journals import plan_after

__all__ = ["Feed", "Subscriber", "Subscription"]

Subscriber = Callable[[Entry, Plan], object]
"""
Told of each accepted command: its journal entry, and the plan after it.

Every subscriber hears every entry that is accepted after it subscribed, once and in order, by
whichever planner on the same store it came; of another planner's when its own next carries out a
command, or at once while it is told to `follow`. When a command returns, its entry has been told,
unless somebody is telling this subscriber right now: a thread, a task, or the subscriber itself,
which made the command. They go on with it. What a subscriber raises is logged and stops nobody: the
command has happened.
"""


_logger = logging.getLogger("todoplan")
_NOT_TOLD = "the journal of %r cannot be read: subscribers hear what is new after the next command"


class Subscription:
    """
    One subscriber, and the plan as it knows it, once its planner has read one (`placed`).
    """

    def __init__(self, subscriber: Subscriber, heard: Plan | None) -> None:
        self.subscriber = subscriber
        self.placed = heard is not None
        self.heard = Plan() if heard is None else heard
        self.behind = False
        self.stopped = False
        # Never waited for, and no RLock: a subscriber may give a command itself. It would wait for
        # itself for ever, or be told of that command in the middle of another.
        self.telling = Lock()


class Feed:
    """
    The subscriptions to one plan.
    """

    def __init__(self, plan_id: str, *, has_tails: bool = False) -> None:
        self._plan_id = plan_id
        self._has_tails = has_tails
        # Replaced and never changed in place, so that it can be walked without the lock.
        self.subscriptions: tuple[Subscription, ...] = ()
        # The newest plan that was seen, and the entry that led to it, if that was seen as well.
        self.newest: tuple[Plan, Entry | None] | None = None
        self._lock = Lock()

    def add(self, subscriber: Subscriber) -> Callable[[], None]:
        """
        Tell a function from now on, until what is returned is called.
        """
        with self._lock:
            # From the newest plan seen so far: a transaction may be under way upon that one.
            mine = Subscription(subscriber, self.newest and self.newest[0])
            self.subscriptions = (*self.subscriptions, mine)

        def stop() -> None:
            # First: whoever is telling it right now, itself perhaps, stops at the next entry.
            mine.stopped = True
            with self._lock:
                others = (each for each in self.subscriptions if each is not mine)
                self.subscriptions = tuple(others)

        return stop

    def saw(self, plan: Plan, last: Entry | None = None) -> None:
        """
        Note a plan that was read, and the last entry of its journal. Every transaction does before
        it appends: so a cursor that is set here stands before whatever is accepted later.
        """
        # Without the lock: every command comes here twice. Under it the plans are compared again.
        if not self._is_news(plan, last):
            return
        with self._lock:
            if self._is_news(plan, last):
                self.newest = plan, last
            for each in self.subscriptions:
                if not each.placed:
                    each.heard, each.placed = plan, True

    def _is_news(self, plan: Plan, last: Entry | None) -> bool:
        if self.newest is None:
            return True
        known, entry = self.newest
        is_same = plan.revision == known.revision and entry is None and last is not None
        return plan.revision > known.revision or is_same

    def behind(self, plan: Plan | None) -> list[Subscription]:
        """
        Return the subscriptions that have not heard of all that led to a plan; of `None`, all.
        """
        return [
            each
            for each in self.subscriptions
            if each.placed and (plan is None or each.heard.revision < plan.revision)
        ]

    def tell(self, to: Subscription, news: News) -> Steps[None]:
        """
        Tell a subscriber all that it has not heard, unless somebody else is doing so.
        """
        hint: News | None = news
        to.behind = True
        # Asked again after letting go: a hint may have come between the last look and that.
        while to.behind and to.telling.acquire(blocking=False):
            try:
                while to.behind:
                    to.behind = False
                    for entry in (yield from self._after(to, hint)):
                        if to.stopped:
                            return
                        to.heard = plan = plan_after(to.heard, entry)
                        try:
                            yield partial(to.subscriber, entry, plan)
                        except Exception:
                            _logger.exception("a subscriber failed on revision %d", entry.revision)
                    hint = None
            finally:
                to.telling.release()

    def _after(self, to: Subscription, hint: News | None) -> Steps[tuple[Entry, ...]]:
        """
        Return the entries behind a cursor. Those of a command that came next need no look at the
        store, which may be far away: that is the usual case.
        """
        heard = to.heard.revision
        if hint is not None and hint.after is not None and hint.before.revision == heard:
            return hint.entries
        try:
            if self._has_tails:
                tail: tuple[Entry, ...] = yield "entries_since", (self._plan_id, heard)
                return tail
            journal: tuple[Entry, ...] = yield "entries", (self._plan_id,)
        except Exception:
            _logger.exception(_NOT_TOLD, self._plan_id)
            return ()
        return journal[bisect_right(journal, heard, key=lambda entry: entry.revision) :]
