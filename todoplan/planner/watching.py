"""
Watching a plan: every entry of its journal is yielded once, in order, and then the next is awaited.

A watch is a position in the journal, and reads the journal from there, so nothing is missed or
yielded twice. A wake-up only triggers the next read: a notification from the store if it has
`wait_for_change`, otherwise a timer. A read that finds nothing is cheap if the store can return the
end of a journal (`entries_since`), so such a store is read up to ten times a second, and any other
store once a second.

If a store is unavailable for a while (a server restarts, a database is busy), the watch waits, and
logs this once. Any other error of the store ends the watch.
"""

import logging
import time
from bisect import bisect_right
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Lock

from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.planner.steps import News, Steps, unfit
from todoplan.stores.base import AnyStore, behind_known, gone_back, plan_after

PASSING = {"busy", "lost", "unreachable"}
"""The problems of a store that may be over at a later attempt."""

_FIRST_PAUSE = 0.01  # seconds; each pause is 1.5 times the one before, up to one of these:
_PAUSE, _LONG_PAUSE = 0.1, 1.0
_WAIT = 5.0  # seconds; how long a thread may go on waiting after its task was cancelled

_logger = logging.getLogger("todoplan")

Journal = tuple[Entry, ...]


def next_entries(  # noqa: PLR0913, PLR0917 - the position of the watch, and how to wait
    store: AnyStore,
    plan_id: str,
    known: int,
    last: Entry | None,
    timeout: float | None,
    sleep: Callable[[float], object],
    wait: Callable[..., object] | None,
) -> Steps[Journal]:
    """
    Return the next entries after revision `known`. If none comes for `timeout` seconds, return ().

    `last` is the entry of that revision, if the caller has it. `sleep` sleeps for some seconds, and
    `wait` calls the store's `wait_for_change`, if it has this method.

    Raises:
        StoreError: the plan has not reached the known revision, or the store fails permanently.
    """
    has_tails = callable(getattr(store, "entries_since", None))
    pause, longest = _FIRST_PAUSE, _PAUSE if has_tails else _LONG_PAUSE
    began, is_there = time.monotonic(), True
    while True:
        try:
            entries: Journal = yield from _entries_after(store, plan_id, known, last)
        except StoreError as error:
            if error.data.get("problem") not in PASSING:
                raise
            if is_there:
                _logger.warning("the watch waits for the journal of %r: %s", plan_id, error)
            is_there = False
        else:
            is_there = True
            if entries:
                return entries
        left = _WAIT if timeout is None else began + timeout - time.monotonic()
        if left <= 0:
            return ()
        # Not if the store is unavailable: the call would fail immediately, again and again.
        if is_there and wait is not None:
            with suppress(StoreError):  # then the next read shows whether the error is temporary
                yield partial(wait, plan_id, known, min(left, _WAIT))
                continue
        yield partial(sleep, min(left, pause))
        pause = min(pause * 1.5, longest)


def _entries_after(store: AnyStore, plan_id: str, known: int, last: Entry | None) -> Steps[Journal]:
    if callable(getattr(store, "entries_since", None)):
        first = known if last is None else known - 1
        tail: Journal = yield "entries_since", (plan_id, first)
        if last is not None:
            tail = behind_known(plan_id, known, last, tail)
        return tuple(entry for entry in tail if entry.revision > known)
    plan = yield "load", (plan_id,)
    if plan.revision == known:
        return ()
    if plan.revision < known:
        raise gone_back(plan_id, known, plan.revision)
    journal: Journal = yield "entries", (plan_id,)
    return tuple(entry for entry in journal if entry.revision > known)


def check_watch(known: object, timeout: object) -> None:
    """
    Check the arguments of `Planner.watch`.

    Raises:
        PlanError: `known` is not a revision, or `timeout` is not a number of seconds.
    """
    if not isinstance(known, int) or isinstance(known, bool) or known < 0:
        raise unfit(known, "give a revision: 0 for all entries, None for later ones")
    if timeout is not None and (not isinstance(timeout, int | float) or timeout < 0):
        raise unfit(timeout, "give a number of seconds, or None to watch forever")


# -------- telling --------
# Calling subscribers for accepted entries, with a cursor in the journal for each subscriber.
#
# The journal is the only list of what was accepted. A queue of pending notifications was tried
# before. Threads, cancelled calls and lost acknowledgements each lost entries of that queue. A
# subscription is a function and a cursor, and the function is called for each entry after the
# cursor, one after the other. A hint only triggers a look at the journal: a command was accepted, a
# command saw a newer plan, or an append raised but may have been saved. If a hint is lost, the
# function is called after the next hint; no entry is lost.
#
# - Once: the cursor moves before the function is called. So a function that raises or is cancelled
#   is not called again for the same entry.
# - In order: a subscriber's lock is held while its function is called. Another hint only sets a
#   flag (`behind`), which the lock's holder checks before and after releasing the lock.
# - Independent: each subscriber has its own cursor and lock, so no subscriber waits for another.
#
# The cursor is a plan: the one after the last entry for which the function was called. Its revision
# is the position in the journal. The plan that is passed with the next entry is computed from it.


Subscriber = Callable[[Entry, Plan], object]
"""
A function that is called for each accepted command, with its journal entry and the plan after it.

A subscriber is called for every entry that is accepted after it subscribed, once and in order,
whichever planner on the same store wrote the entry. If another planner wrote the entry, the
subscriber is called when the planner to which it subscribed next carries out a command, or at once
while that planner runs `follow`.

When a command returns, the subscriber has been called for the command's entry. There is one
exception: another call of the same subscriber may be in progress, in another thread or task, or
because the subscriber itself made the command. Then the subscriber is called for the new entry
after that call. An exception of a subscriber is logged and affects nobody else, because the command
has already happened.
"""


_NOT_TOLD = "the journal of %r cannot be read: subscribers are called after the next command"


class Subscription:
    """
    A subscriber and its cursor in the journal, `heard`: the plan after the last entry that the
    subscriber was called for.

    `placed` is false as long as the planner has read no plan, because the cursor is unknown until
    then. `behind` is true if there was a hint of new entries since the journal was last looked at.
    `stopped` is true once the subscription was ended.
    """

    def __init__(self, subscriber: Subscriber, heard: Plan | None) -> None:
        self.subscriber = subscriber
        self.placed = heard is not None
        self.heard = Plan() if heard is None else heard
        self.behind = False
        self.stopped = False
        # Never waited for, and not an RLock, because a subscriber may itself carry out a command.
        # If it waited for the lock, it would deadlock. With an RLock it would be called for that
        # command in the middle of another call.
        self.telling = Lock()


class Feed:
    """The subscriptions to one plan."""

    def __init__(self, plan_id: str, *, has_tails: bool = False) -> None:
        self._plan_id = plan_id
        self._has_tails = has_tails
        # Replaced and never changed in place, so that it can be iterated without the lock.
        self.subscriptions: tuple[Subscription, ...] = ()
        # The newest plan that was read, and the entry that led to it if that was read as well. If
        # `has_read` is false, no plan was read yet.
        self.newest: tuple[Plan, Entry | None] = Plan(), None
        self.has_read = False
        self._lock = Lock()

    def add(self, subscriber: Subscriber) -> Callable[[], None]:
        """Subscribe a function; return a function that ends the subscription."""
        with self._lock:
            # The cursor begins at the newest plan so far, because a transaction on it may be in
            # progress.
            added = Subscription(subscriber, self.newest[0] if self.has_read else None)
            self.subscriptions = (*self.subscriptions, added)

        def stop() -> None:
            # Done first: if a call of the function is in progress (perhaps it calls `stop`), no
            # other follows.
            added.stopped = True
            with self._lock:
                self.subscriptions = tuple(one for one in self.subscriptions if one is not added)

        return stop

    def saw(self, plan: Plan, last: Entry | None = None) -> None:
        """
        Record a plan that was read, and the last entry of its journal.

        Every transaction does this before it appends. So if a cursor is set here, all entries that
        are accepted later come after it.
        """
        with self._lock:
            known, entry = self.newest
            is_same = plan.revision == known.revision and entry is None and last is not None
            if self.has_read and plan.revision <= known.revision and not is_same:
                return
            self.newest, self.has_read = (plan, last), True
            for subscription in self.subscriptions:
                if not subscription.placed:
                    subscription.heard, subscription.placed = plan, True

    def behind(self, plan: Plan | None) -> list[Subscription]:
        """Return the subscriptions whose cursor is before a plan; all, if the plan is `None`."""
        return [
            subscription
            for subscription in self.subscriptions
            if subscription.placed and (plan is None or subscription.heard.revision < plan.revision)
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

    def _after(self, to: Subscription, hint: News | None) -> Steps[Journal]:
        """
        Return the entries after a cursor.

        Usually the hint has these entries, and the store, which may be remote, is not asked.
        """
        heard = to.heard.revision
        if hint is not None and hint.after is not None and hint.before.revision == heard:
            return hint.entries
        try:
            if self._has_tails:
                tail: Journal = yield "entries_since", (self._plan_id, heard)
                return tail
            journal: Journal = yield "entries", (self._plan_id,)
        except Exception:
            _logger.exception(_NOT_TOLD, self._plan_id)
            return ()
        return journal[bisect_right(journal, heard, key=lambda entry: entry.revision) :]
