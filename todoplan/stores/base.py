"""
The protocols of stores, `Store` and `HoldingStore`, and functions that all stores share.

A `Store` has three methods. A `HoldingStore` can also lock plans. The caller of `append` says which
revision of the plan it has read.
"""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any, Protocol, Self, TypeGuard, TypeVar

import attrs

from todoplan.core.decide import plan_of
from todoplan.core.events.apply import Entry, replay
from todoplan.core.events.types import Event, PlanRestored
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, PlanError, StoreError

T = TypeVar("T")


def checked_id(plan_id: object) -> str:
    """
    Return a plan's id if it is a string. The empty string is valid.

    Raises:
        PlanError: the id is not a string, for example a number.
    """
    # In memory, 7 and "7" would be different keys; in a JSON file, a number cannot be a key.
    if isinstance(plan_id, str):
        return plan_id
    msg = f"a plan id must be a string, not {plan_id!r}: pass str(...) of it"
    raise PlanError(msg, plan_id=plan_id)


class Store(Protocol):
    """
    Plans by id, each with its journal. A plan that was never written is empty.

    Any string is a valid plan id, and distinct strings are distinct plans. Threads may call the
    methods concurrently: an `AsyncPlanner` makes each call in a worker thread. Processes may do so
    if they share the data. A call that cannot be carried out at the moment raises a StoreError,
    whose `data["problem"]` is "busy" if a retry may help. `todoplan.testing.stores` has a
    conformance suite for stores.
    """

    def load(self, plan_id: str) -> Plan:
        """Return the plan as its last entry left it."""
        ...

    def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """Return the plan's journal, oldest entry first. Replaying the journal gives the plan."""
        ...

    # Compare and append: LangGraph's `BaseStore.put` has no version, so the last writer wins.
    # `plan` is passed, so that a store can save it without knowing any event type.
    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Add entries, and save `plan`, which is the plan after these entries.

        If the stored plan is not at revision `expected`, because another writer was faster, change
        nothing and return False. Either all entries are saved or none, even if the call raises.
        """
        ...


class AsyncStore(Protocol):
    """A `Store` whose methods are awaited."""

    def load(self, plan_id: str) -> Awaitable[Plan]:
        """Return the plan as its last entry left it."""
        ...

    def entries(self, plan_id: str) -> Awaitable[tuple[Entry, ...]]:
        """Return the plan's journal, oldest entry first."""
        ...

    def append(
        self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan
    ) -> Awaitable[bool]:
        """Add entries if the plan is at revision `expected`; return whether they were added."""
        ...


AnyStore = Store | AsyncStore
"""A store that `AsyncPlanner` accepts."""


# -------- journals --------
# Functions on journals that all stores share, in particular for journals that were cut.
#
# A journal grows without limit, so it can be cut. A snapshot entry, which contains the whole plan,
# then replaces the removed entries. It has the revision and the time of the last removed entry.
# (With the time of the cut, a later cut by age would remove nothing until that age had passed.) Its
# `undoes` is 0, which names no change. So an undo reverts neither the snapshot entry nor anything
# before it.


CUT = "compact"
"""The cause of the entry that replaces the removed entries."""

_UNDOES_NOTHING = 0


def beginning(plan: Plan, cause: str, at: datetime | None = None) -> Entry:
    """
    Return a snapshot entry, which contains a whole plan.

    A journal begins with such an entry if its earlier entries are missing.
    """
    # Law 6: with `next_id`, so that the ids of deleted tasks are not assigned again.
    whole = PlanRestored(tuple(plan), plan.next_id, at, plan.approved)
    return Entry(plan.revision, (whole,), at, cause=cause, undoes=_UNDOES_NOTHING)


def is_beginning(entry: Entry) -> bool:
    """Return whether an entry is a snapshot entry, as `beginning` makes them."""
    return entry.undoes == _UNDOES_NOTHING


def plan_after(plan: Plan, entry: Entry) -> Plan:
    """Return the plan after one more entry. A snapshot entry replaces the plan."""
    if not is_beginning(entry):
        return replay(plan, entry.events)
    whole = [event for event in entry.events if isinstance(event, PlanRestored)]
    if not whole:
        what = "it is a snapshot entry without a plan"
        raise _damaged(what, entry)
    held = whole[0]
    return plan_of(
        held.tasks, next_id=held.next_id, revision=entry.revision, approved=held.approved
    )


def follow(plan: Plan, entries: Iterable[Entry]) -> Plan:
    """
    Apply entries to a plan, and return the resulting plan.

    The first entry must continue from the plan's revision, or be a snapshot entry.

    Raises:
        CodecError: an entry is missing or duplicated.
    """
    events: list[Event] = []
    for entry in without_gaps(entries, plan.revision):
        if is_beginning(entry):
            plan, events = plan_after(plan, entry), []
        else:
            events += entry.events
    # In one call, because each call of `replay` copies what it changes.
    return replay(plan, events) if events else plan


_replayed: tuple[Entry, Entry, Plan] | None = None


def plan_at(journal: Sequence[Entry], length: int) -> Plan:
    """
    Return the plan after the first `length` entries of a complete journal.

    The last result is cached, because a caller may ask for the same plan before it takes the lock
    and again under the lock.

    Raises:
        CodecError: the same errors as `follow`.
    """
    global _replayed  # noqa: PLW0603 - a cache of one immutable plan
    if not length:
        return Plan()
    known = _replayed
    first, last = journal[0], journal[length - 1]
    if known is not None and known[0] is first and known[1] is last:
        return known[2]
    plan = follow(Plan(), journal[:length])
    _replayed = first, last, plan
    return plan


def without_gaps(entries: Iterable[Entry], revision: int = 0) -> Iterator[Entry]:
    """
    Yield entries, and check that each one continues from the revision before it.

    Raises:
        CodecError: an entry is missing or duplicated. `replay` would not notice this, and would
            return a plan that never existed.
    """
    for entry in entries:
        revision = entry.revision if is_beginning(entry) else revision + len(entry.events)
        if revision != entry.revision:
            what = f"the events up to it lead to {revision}"
            raise _damaged(what, entry)
        yield entry


def _damaged(what: str, entry: Entry) -> CodecError:
    msg = (
        f"the journal is damaged at the entry of revision {entry.revision}: {what}; restore a "
        "backup"
    )
    return CodecError(msg, problem="wrong_shape", path="revision", revision=entry.revision)


def cut_at(journal: Sequence[Entry], keep: int | timedelta, now: datetime) -> int:
    """
    Return how many of its oldest entries a journal loses when it is cut at the time `now`.

    If `keep` is a number, all entries except the last `keep` are removed. If `keep` is an age, the
    entries that are older than this age are removed.

    Raises:
        PlanError: `keep` is neither a number of entries nor an age.
    """
    if isinstance(keep, timedelta) and keep >= timedelta():
        # Only up to the first entry that is not older. An entry after it may have an earlier time,
        # if a clock was wrong, but must stay: a journal has no gaps.
        oldest = now - keep
        removed = takewhile(lambda entry: entry.at is None or entry.at < oldest, journal)
        return sum(1 for _ in removed)
    if isinstance(keep, int) and not isinstance(keep, bool) and keep >= 0:
        return max(0, len(journal) - keep)
    msg = f"keep={keep!r} is invalid: give a number of entries (keep=1000), or a timedelta"
    raise PlanError(msg, seen=keep)


def cut_off(
    journal: Sequence[Entry], keep: int | timedelta, now: datetime
) -> tuple[int, Entry, Plan] | None:
    """
    Return the result of cutting a journal, or `None` if there is nothing to remove.

    The result is the number of removed entries, the entry that replaces them, and the plan after
    the whole journal.

    Raises:
        PlanError: `keep` is neither a number of entries nor an age.
    """
    removed = journal[: cut_at(journal, keep, now)]
    # A snapshot entry is not a change. If only this entry were cut, an equal one would replace it.
    if all(map(is_beginning, removed)):
        return None
    then = follow(Plan(), removed)
    first = beginning(then, CUT, removed[-1].at)
    count = sum(not is_beginning(entry) for entry in removed)
    return count, first, follow(then, journal[len(removed) :])


# -------- hold --------
# The protocol of stores that can lock a plan, in addition to the three methods of `Store`.
#
# `Store.append` compares revisions: if many callers run a command concurrently, all but one have to
# run it again. A store that can lock a plan needs one pass: *lock the plan, read the entries since
# the last read, run the command, append, commit*. The planner caches the plan and reads only the
# newest entries. So a call costs the same after ten thousand entries as after ten.
# Such a store also supports idempotency keys: a call that is made twice with the same key is
# carried out once.
#
# After `compact`, the first entry of a journal is a snapshot entry. So apply entries to a plan with
# `follow`, never with `replay` alone.


_PUT_BACK = (
    "Nothing was written; restore the newer data, or make a new planner to continue from this "
    "revision"
)

ALL = -1
"""A revision below that of every entry, even of a snapshot entry with the revision 0."""


@attrs.frozen
class Key:
    """
    An idempotency key: the name of one request on a plan, for example the id of a tool call.

    Requests with the same name are one request, which is carried out once. `payload` is the content
    of the request. If two keys have the same name but different payloads, the second is refused.
    """

    name: str
    payload: str = ""


@attrs.frozen
class Receipt:
    """The stored result of an append with a key: the entries, and a text from the caller."""

    entries: tuple[Entry, ...]
    answer: str = ""


class Held(Protocol):
    """A locked plan: nobody else can change it. Use it only in the thread that locked it."""

    @property
    def revision(self) -> int:
        """The plan's revision after the appends to this object; 0 for a plan never written."""
        ...

    def now(self) -> datetime:
        """Return the time in UTC, by the store's clock, which all users of the store share."""
        ...

    def entries_since(self, revision: int) -> tuple[Entry, ...]:
        """Return the entries after a revision, like `HoldingStore.entries_since`."""
        ...

    def receipt(self, key: Key) -> Receipt | None:
        """
        Return the result of the append that had this key, or `None` if there was none.

        Raises:
            StoreError: the key was used with another payload ("key_reused").
        """
        ...

    def append(
        self,
        expected: int,
        entries: Sequence[Entry],
        plan: Plan,
        *,
        key: Key | None = None,
        answer: str = "",
    ) -> tuple[Entry, ...]:
        """
        Add entries, save `plan`, which is the plan after these entries, and return the entries.

        The entries are committed at the end of the `with` block.

        If the key was already used with the same payload, add nothing and return the entries of
        that first append. `answer` is stored with the key, for `receipt`.

        Raises:
            StoreError: the plan is not at revision `expected` ("overtaken"), or the key was used
                with another payload ("key_reused").
        """
        ...


class HoldingStore(Store, Protocol):
    """A `Store` that can lock a plan."""

    def plan_ids(self) -> tuple[str, ...]:
        """Return the ids of all written plans, in a stable order."""
        ...

    def entries_since(self, plan_id: str, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries whose revision is larger than the given one, oldest first.

        `ALL` (-1) returns all entries. If the journal was cut after the given revision, the first
        returned entry is the snapshot entry of the cut.

        Raises:
            StoreError: the plan has not reached that revision ("rolled_back"): an older copy was
                restored.
        """
        ...

    def hold(self, plan_id: str) -> AbstractContextManager[Held]:
        """
        Wait until the plan is free, and lock it for the duration of a `with` block.

        If the block ends without an exception, the appended entries are committed. After any
        exception (also `KeyboardInterrupt` or a cancellation) they are discarded.

        Raises:
            StoreError: somebody else held the lock for too long ("busy"), or this thread already
                holds it ("nested").
        """
        ...


class AsyncHeld(Protocol):
    """A `Held` whose methods are awaited."""

    @property
    def revision(self) -> int:
        """The plan's current revision. It needs no await, because the plan is locked."""
        ...

    def now(self) -> Awaitable[datetime]:
        """Return the time of the store's clock."""
        ...

    def entries_since(self, revision: int) -> Awaitable[tuple[Entry, ...]]:
        """Return the entries after a revision."""
        ...

    def receipt(self, key: Key) -> Awaitable[Receipt | None]:
        """Return the result of the append that had this key, or `None` if there was none."""
        ...

    def append(
        self,
        expected: int,
        entries: Sequence[Entry],
        plan: Plan,
        *,
        key: Key | None = None,
        answer: str = "",
    ) -> Awaitable[tuple[Entry, ...]]:
        """Add entries and return them, or return those of the earlier append with this key."""
        ...


class AsyncHoldingStore(AsyncStore, Protocol):
    """An `AsyncStore` that can lock a plan. The lock belongs to the task that took it."""

    def plan_ids(self) -> Awaitable[tuple[str, ...]]:
        """Return the ids of all written plans."""
        ...

    def entries_since(self, plan_id: str, revision: int) -> Awaitable[tuple[Entry, ...]]:
        """Return the entries after a revision."""
        ...

    def hold(self, plan_id: str) -> AbstractAsyncContextManager[AsyncHeld]:
        """Lock the plan for the duration of an `async with` block."""
        ...


def is_holding(store: Any) -> TypeGuard[HoldingStore | AsyncHoldingStore]:
    """
    Return whether a store can lock plans.

    A subclass may override `load`, `entries` or `append` but not `hold`, for example to log every
    call. `hold` would bypass the overridden method, so the result is False for such a store.
    """
    if not all(callable(getattr(store, name, None)) for name in ("hold", "entries_since")):
        return False
    for ancestor in type(store).__mro__:
        if "hold" in vars(ancestor):
            return True
        if {"load", "entries", "append"} & {*vars(ancestor)}:
            return False
    return True  # a wrapper around another store, which answers with `__getattr__`


def not_held(plan_id: str) -> StoreError:
    """Return the error for using a plan after its lock was released."""
    msg = f"the plan {plan_id!r} is not held any more: use the result of `hold` only in its `with`"
    return StoreError(msg, plan_id=plan_id, problem="not_held")


def check_payload(plan_id: str, key: Key, payload: str) -> None:
    """
    Check that a key is not used again for another request.

    `payload` was stored when the key was first used.

    Raises:
        StoreError: the payload of `key` is another one ("key_reused").
    """
    if payload != key.payload:
        msg = (
            f"the key {key.name!r} was already used for another request to the plan {plan_id!r}, "
            "so this request was not carried out: use a new key for each request, and the same key "
            "only to repeat a request"
        )
        raise StoreError(msg, plan_id=plan_id, problem="key_reused", key=key.name)


def overtaken(plan_id: str, expected: int, revision: int) -> StoreError:
    """Return the error for an append to a locked plan that is not at the expected revision."""
    msg = (
        f"the plan {plan_id!r} is at revision {revision}, and this append is for {expected}: "
        "nothing was appended; read the newer entries with entries_since, and decide again"
    )
    return StoreError(msg, plan_id=plan_id, problem="overtaken", revision=revision)


def behind_known(
    plan_id: str, revision: int, last: Entry | None, tail: tuple[Entry, ...]
) -> tuple[Entry, ...]:
    """
    Return the entries after a revision that the caller has read.

    `tail` has the stored entries from this revision on. `last` is the entry of this revision as the
    caller has read it, or `None`. If the stored entry differs from `last`, an older copy was
    restored, and then changed up to the same revision.

    Raises:
        StoreError: the entry of this revision is missing, or is another one ("rolled_back").
    """
    if not revision:
        return tail
    if not tail:
        raise gone_back(plan_id, revision, revision - 1)
    # A journal that was cut since then begins with a snapshot entry instead of the known entry.
    if is_beginning(tail[0]) and tail[0] != last:
        return tail
    if tail[0].revision != revision or (last is not None and last != tail[0]):
        msg = (
            f"the plan {plan_id!r} was restored from older data while in use, and was changed "
            f"since: its entry of revision {revision} is not the one that was read. {_PUT_BACK}"
        )
        raise StoreError(msg, plan_id=plan_id, problem="rolled_back", revision=revision)
    return tail[1:]


def gone_back(plan_id: str, known: int, revision: int) -> StoreError:
    """Return the error for a plan that is at an earlier revision than one already seen."""
    msg = (
        f"the plan {plan_id!r} was restored from older data while in use: it is at revision "
        f"{revision}, but revision {known} was already read. {_PUT_BACK}"
    )
    return StoreError(msg, plan_id=plan_id, problem="rolled_back", revision=revision)


# -------- locked plans --------
# What the locked plans of our own stores have in common.


class Hold(Held):
    """
    Base class of locked plans. It is a context manager, so a `with` block locks the plan.

    `begin` takes the lock. `keep` saves the appended entries; it is called if the block raised
    nothing. `release` releases the lock, and may be called twice.
    """

    # A plain attribute is enough for the protocol's read-only property.
    revision: int = 0  # pyright: ignore[reportIncompatibleMethodOverride]
    _is_over = True

    def __init__(self, plan_id: str) -> None:
        self._plan_id = plan_id
        # The names of keys for which `receipt` has found nothing since the plan was locked. So an
        # append with such a key need not look for it again.
        self._unused_keys: set[str] = set()

    @abstractmethod
    def begin(self) -> None:
        """Lock the plan."""

    @abstractmethod
    def keep(self) -> None:
        """Save the appended entries."""

    @abstractmethod
    def release(self) -> None:
        """Release the lock and all other resources. Entries that were not saved are discarded."""

    def __enter__(self) -> Self:
        self._is_over = False
        try:
            self.begin()
            return self  # noqa: TRY300 - an interrupt may still come before it
        except BaseException:
            self.let_go()
            raise

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        try:
            if error is None:
                self.keep()
        finally:
            self.let_go()

    def let_go(self) -> None:
        """
        Release the lock, unless it was released before.

        This is also called without `__exit__`, which an interrupt may skip.
        """
        if self._is_over:
            return
        try:
            self.release()
        except BaseException:  # an interrupt (Ctrl-C), perhaps before everything was released
            self.release()
            raise
        self._is_over = True

    __del__ = let_go

    def done(self, act: Callable[[Self], T]) -> T:
        """Lock the plan, call `act` with the locked plan, and return the result of `act`."""
        try:
            with self:
                return act(self)
        except BaseException:  # an interrupt may come when `__exit__` begins
            self.let_go()
            raise

    def append_if_at(self, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Lock the plan. If it is at revision `expected`, add entries; return whether they were added.
        """

        def append(held: Self) -> bool:
            is_there = held.revision == expected
            if is_there:
                held.append(expected, entries, plan)
            return is_there

        return self.done(append)


class LocalHold(Hold):
    """A locked plan of a store whose users all share one machine."""

    def now(self) -> datetime:
        """Return the time of this machine's clock, in UTC."""
        return datetime.now(UTC)

    def entries_since(self, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries after a revision.

        Raises:
            StoreError: the plan has not reached that revision ("rolled_back").
        """
        if self._is_over:
            raise not_held(self._plan_id)
        if revision > self.revision:
            raise gone_back(self._plan_id, revision, self.revision)
        return self._tail(revision)

    def append(
        self,
        expected: int,
        entries: Sequence[Entry],
        plan: Plan,
        *,
        key: Key | None = None,
        answer: str = "",
    ) -> tuple[Entry, ...]:
        """
        Add entries and return them, or return the entries of the earlier append with this key.

        `plan` is the plan after these entries. `answer` is stored with the key, for `receipt`.

        Raises:
            StoreError: the plan is at another revision ("overtaken"), the key was used with another
                payload ("key_reused"), or an entry is too large.
            CodecError: an entry contains a value that the store cannot save.
        """
        if self._is_over:
            raise not_held(self._plan_id)
        if key is not None and key.name not in self._unused_keys and (known := self.receipt(key)):
            return known.entries
        if expected != self.revision:
            raise overtaken(self._plan_id, expected, self.revision)
        # Iterate before anything is written, because this may raise.
        added = tuple(entries)
        self._write(added, plan, key, answer)
        if key is not None:
            self._unused_keys.discard(key.name)
        return added

    def receipt(self, key: Key) -> Receipt | None:
        """
        Return the result of the append that had this key, or `None` if there was none.

        Raises:
            StoreError: the key was used with another payload ("key_reused").
        """
        if self._is_over:
            raise not_held(self._plan_id)
        receipt = self._receipt(key)
        if receipt is None:
            self._unused_keys.add(key.name)
        return receipt

    @abstractmethod
    def _receipt(self, key: Key) -> Receipt | None:
        """Look up the result of the append that had this key, for `receipt`."""

    @abstractmethod
    def _tail(self, revision: int) -> tuple[Entry, ...]:
        """Return the entries after a revision, which the plan has reached."""

    @abstractmethod
    def _write(self, entries: tuple[Entry, ...], plan: Plan, key: Key | None, answer: str) -> None:
        """Write entries that `append` has checked, and set `self.revision` to the plan's."""
