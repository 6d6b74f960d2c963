"""
Calling subscribers for accepted entries, with a cursor in the journal for each subscriber.

The journal is the only list of what was accepted. A second one, a queue of pending notifications,
was tried; threads, cancelled calls and lost acknowledgements each lost entries of it. A
subscription is a function and a cursor, and the function is called for each entry after the cursor,
one after the other. A hint only triggers a check: a command was accepted, a command saw a newer
plan, or an append raised but may have been saved. A lost hint delays the notification until the
next hint; no entry is lost.

- Once: the cursor moves before the function is called. So a function that raises or is cancelled is
  not called again for the same entry.
- In order: a subscriber's lock is held while its function is called. Another hint only sets a flag
  (`behind`), which the lock's holder checks before and after releasing the lock.
- Independent: each subscriber has its own cursor and lock, so no subscriber waits for another.

The cursor is a plan, the latest one that the subscriber knows. Its revision is the position in the
journal, and replaying the next entry on it gives the plan that is passed with that entry.
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
A function that is called for each accepted command, with its journal entry and the plan after it.

A subscriber is called for every entry that is accepted after it subscribed, once and in order,
whichever planner on the same store wrote the entry. For an entry of another planner, the call comes
when its own planner next carries out a command, or immediately while its planner is in `follow`.

When a command returns, the subscriber has been called for its entry, unless another call of the
same subscriber is in progress: in a thread, in a task, or in the subscriber itself if it made the
command. That call then continues with the new entry. An exception of a subscriber is logged and
affects nobody else, because the command has already happened.
"""


_logger = logging.getLogger("todoplan")
_NOT_TOLD = "the journal of %r cannot be read: subscribers hear what is new after the next command"


class Subscription:
    """
    A subscriber and its cursor, `heard`. The cursor is set once its planner has read a plan
    (`placed`).
    """

    def __init__(self, subscriber: Subscriber, heard: Plan | None) -> None:
        self.subscriber = subscriber
        self.placed = heard is not None
        self.heard = Plan() if heard is None else heard
        self.behind = False
        self.stopped = False
        # Never waited for, and not an RLock: a subscriber may give a command itself. With a plain
        # wait it would deadlock; with an RLock it would be called for that command in the middle of
        # another call.
        self.telling = Lock()


class Feed:
    """The subscriptions to one plan."""

    def __init__(self, plan_id: str, *, has_tails: bool = False) -> None:
        self._plan_id = plan_id
        self._has_tails = has_tails
        # Replaced and never changed in place, so that it can be iterated without the lock.
        self.subscriptions: tuple[Subscription, ...] = ()
        # The newest plan that was seen, and the entry that led to it if that was seen as well.
        self.newest: tuple[Plan, Entry | None] | None = None
        self._lock = Lock()

    def add(self, subscriber: Subscriber) -> Callable[[], None]:
        """Subscribe a function; return a function that ends the subscription."""
        with self._lock:
            # From the newest plan seen so far, because a transaction may be in progress on that
            # plan.
            mine = Subscription(subscriber, self.newest and self.newest[0])
            self.subscriptions = (*self.subscriptions, mine)

        def stop() -> None:
            # First: a call in progress, perhaps this subscriber's own, stops before the next entry.
            mine.stopped = True
            with self._lock:
                others = (each for each in self.subscriptions if each is not mine)
                self.subscriptions = tuple(others)

        return stop

    def saw(self, plan: Plan, last: Entry | None = None) -> None:
        """
        Record a plan that was read, and the last entry of its journal.

        Every transaction does this before it appends, so a cursor that is set here is before
        everything accepted later.
        """
        # Without the lock, because every command comes here twice. Compared again under the lock.
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
        Return the subscriptions that were not called for everything up to a plan; with `None`, all.
        """
        return [
            each
            for each in self.subscriptions
            if each.placed and (plan is None or each.heard.revision < plan.revision)
        ]

    def tell(self, to: Subscription, news: News) -> Steps[None]:
        """Call a subscriber for all new entries, unless a call is already in progress."""
        hint: News | None = news
        to.behind = True
        # Checked again after the release: a hint may have come between the last check and the
        # release.
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
        Return the entries after a cursor.

        Usually the hint has the entries that come next, and the store, which may be remote, is not
        asked.
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
