"""
The protocols of stores, `Store` and `HoldingStore`, and functions that all stores share.

A `Store` has three methods. A `HoldingStore` can also lock plans. The caller of `append` says which
revision of the plan it has read.
"""

import re
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import takewhile
from typing import Any, Protocol, Self, TypeGuard, TypeVar

import attrs

from todoplan.codec import VERSION, load_plan
from todoplan.codec.documents import entry_from_line, entry_to_line
from todoplan.codec.engine import LIMIT, parse, to_text
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
    Check that a key is for the same request as an earlier key with the same name.

    `payload` is the stored payload of the earlier key.

    Raises:
        StoreError: the two payloads differ ("key_reused").
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
        finally:
            self.release()
        self._is_over = True

    __del__ = let_go

    def done(self, act: Callable[[Self], T]) -> T:
        """Lock the plan, call `act` with the locked plan, and return the result of `act`."""
        try:
            with self:
                return act(self)
        finally:
            self.let_go()

    def append_if_at(self, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """Lock the plan. If it is at revision `expected`, add entries and return true."""

        def append(held: Self) -> bool:
            is_there = held.revision == expected
            if is_there:
                held.append(expected, entries, plan)
            return is_there

        return self.done(append)

    def _check(self) -> None:
        if self._is_over:
            raise not_held(self._plan_id)


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
        self._check()
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
        self._check()
        if key is not None and (found := self.receipt(key)):
            return found.entries
        if expected != self.revision:
            raise overtaken(self._plan_id, expected, self.revision)
        # Iterate before anything is written, because this may raise.
        added = tuple(entries)
        self._write(added, plan, key, answer)
        return added

    @abstractmethod
    def _tail(self, revision: int) -> tuple[Entry, ...]:
        """Return the entries after a revision, which the plan has reached."""

    @abstractmethod
    def _write(self, entries: tuple[Entry, ...], plan: Plan, key: Key | None, answer: str) -> None:
        """Write entries that `append` has checked, and set `self.revision` to the plan's."""


# -------- rows --------
# The rows of plans in a database, as text. All databases store the same bytes.
#
# A row is JSON text and never a JSON type of the database: PostgreSQL's `jsonb` accepts neither
# NUL nor half a surrogate pair, and it normalizes numbers and keys. Each row states the version of
# its format. So if an older todoplan runs beside a newer one, the older one refuses only the rows
# that it cannot read.


_SNAPSHOT_FROM = 32 * 1024
# A cache of the entries that were read or written last. Each call of a planner reads an entry
# again, the last one that the planner has seen, to check that this entry is still there.
_MOST_READ, _LONGEST_READ = 256, 4096
_read: dict[tuple[int, str], Entry] = {}


_PLAIN = re.compile(r"[ !#-\[\]-~]*").fullmatch  # ASCII without controls, quotes and backslashes


def stored_name(name: object) -> str:
    """
    Return a plan id or key name as text that every database can store.

    Raises:
        PlanError: the name is not a string.
    """
    # Escaped as in a JSON string: plain characters stay as they are, so a person can search for
    # them. A usual name has no others.
    if isinstance(name, str) and _PLAIN(name):
        return name
    return to_text(checked_id(name))[1:-1]


def text_of_name(stored: str) -> str:
    """Return the original name of a `stored_name`."""
    return str(parse(f'"{stored}"'))


def line_of_entry(plan_id: str, entry: Entry) -> str:
    """
    Return the text of an entry's row, in the format of `VERSION`.

    Raises:
        CodecError: the entry contains a value that JSON cannot represent.
        StoreError: the text is too large to be read again ("too_large").
    """
    line = entry_to_line(entry)
    if len(line.encode()) > LIMIT:
        msg = (
            f"an entry of the plan {plan_id!r} would have more than {LIMIT} bytes: nothing was "
            "appended; make the change in several commands"
        )
        raise StoreError(msg, plan_id=plan_id, problem="too_large")
    _remember(VERSION, line, entry)
    return line


def _remember(version: int, line: str, entry: Entry) -> None:
    if len(line) <= _LONGEST_READ:
        if len(_read) >= _MOST_READ:
            _read.clear()
        _read[version, line] = entry


def entry_of_line(plan_id: str, revision: int, version: int, line: str) -> Entry:
    """
    Return the entry of a row.

    Raises:
        CodecError: the row is damaged or of a newer version, or its entry has another revision.
    """
    entry = _read.get((version, line))
    if entry is None:
        try:
            entry = entry_from_line(line, version=version)
        except CodecError as error:
            msg = f"the plan {plan_id!r}, entry of revision {revision}: {error}"
            path = f"{plan_id}[revision {revision}]"
            raise CodecError(msg, **{**error.data, "path": path}) from error
        _remember(version, line, entry)
    if entry.revision != revision:
        msg = f"the plan {plan_id!r}: the entry of revision {entry.revision} is under {revision}"
        raise CodecError(msg, problem="wrong_shape", path=f"{plan_id}[revision {revision}]")
    return entry


def plan_of_snapshot(plan_id: str, document: str) -> Plan:
    """
    Return the plan of a snapshot.

    Raises:
        CodecError: the snapshot is damaged, or of a newer version.
    """
    try:
        return load_plan(document)
    except CodecError as error:
        msg = f"the plan {plan_id!r}, its snapshot: {error}"
        raise CodecError(msg, **error.data) from error


def is_snapshot_due(since: int, size: int) -> bool:
    """
    Return whether a new snapshot of the plan should be written.

    `since` is the number of bytes of entries since the last snapshot, and `size` the size of that
    snapshot in bytes.
    """
    # The interval grows with the plan's size. So a load reads at most twice the size of the plan,
    # and writing snapshots costs no more than writing the entries did.
    return since > max(_SNAPSHOT_FROM, size)


# -------- stores of rows --------
# What the stores in databases have in common: a query is one statement, so that it reads a
# consistent state, and a function that makes the result of the rows.
#
# Every key begins with the plan's id, and no statement reads several plans, so that a plan can be
# moved to another database with all its rows, and tables can be sharded.


Row = tuple[Any, ...]

FORMAT = 1
"""The version of the tables: the one that is written, and the highest one that can be read."""

COLUMNS = {
    "entry": """
        plan_id text not null,
        revision bigint not null,
        version integer not null,
        line text not null,
        primary key (plan_id, revision)
    """,
    "snapshot": """
        plan_id text primary key,
        revision bigint not null,
        version integer not null,
        document text not null
    """,
    "receipt": """
        plan_id text not null,
        key text not null,
        payload text not null,
        before bigint not null, -- the revision before its entries, and after them
        after bigint not null,
        answer text not null,
        primary key (plan_id, key)
    """,
}
"""The tables whose columns are the same in all databases."""

# With PostgreSQL's names of tables and marks of parameters. `{format}` is the format of a plan's
# rows; `{clock}` is one more column, if the database has a clock.
LOADED = """
    select 0, revision, {format}, '' from todoplan_plan where id = %s
    union all
    select 1, revision, version, document from todoplan_snapshot where plan_id = %s
    union all
    select 2, revision, version, line from todoplan_entry where plan_id = %s and revision >
        coalesce((select revision from todoplan_snapshot where plan_id = %s), 0)
    order by 1, 2
"""
# The clock is read here, after a plan was locked: the locking statement would read it before it
# waits. PostgreSQL's `now()` would be the time at which the transaction began.
TAIL = """
    select e.revision, e.version, e.line, p.revision, {format}{clock}
    from todoplan_plan p left join todoplan_entry e on e.plan_id = p.id and e.revision > %s
    where p.id = %s order by e.revision
"""
RECEIPT = """
    select e.revision, e.version, e.line, r.payload, r.answer
    from todoplan_receipt r left join todoplan_entry e
    on e.plan_id = r.plan_id and e.revision > r.before and e.revision <= r.after
    where r.plan_id = %s and r.key = %s order by e.revision
"""
SNAPSHOT = """
    insert into todoplan_snapshot (plan_id, revision, version, document) values (%s, %s, %s, %s)
    on conflict (plan_id) do update set
    revision = excluded.revision, version = excluded.version, document = excluded.document
"""


def checked_format(plan_id: str, found: int) -> None:
    """
    Check that this version of todoplan can read the plan's rows, whose format is `found`.

    Raises:
        StoreError: the rows have a newer format ("newer_format").
    """
    if found > FORMAT:
        msg = (
            f"the plan {plan_id!r} has format {found}, of a newer todoplan; this one reads formats "
            f"up to {FORMAT}, and changed nothing: upgrade it"
        )
        raise StoreError(msg, plan_id=plan_id, problem="newer_format", format=found)


def plan_of_rows(plan_id: str, rows: list[Row]) -> Plan:
    """Return the plan from the result of the query `LOADED`: its snapshot and the later entries."""
    revision, plan, entries = 0, Plan(), list[Entry]()
    for kind, at, version, text in rows:
        if kind == 0:
            revision = at
            checked_format(plan_id, version)
        elif kind == 1:
            plan = plan_of_snapshot(plan_id, text)
        else:
            entries.append(entry_of_line(plan_id, at, version, text))
    plan = follow(plan, entries)
    if plan.revision != revision:
        msg = (
            f"the plan {plan_id!r} is at revision {revision}, and its journal leads to "
            f"{plan.revision}: rows are missing; restore a backup of the database"
        )
        raise StoreError(msg, plan_id=plan_id, problem="gap", revision=plan.revision)
    return plan


def tail_of_rows(plan_id: str, revision: int, rows: list[Row]) -> tuple[Entry, ...]:
    """
    Return the entries after a revision, from the result of the query `TAIL`.

    Raises:
        StoreError: the plan has not reached that revision.
        CodecError: `revision` is `ALL`, and an entry is missing or duplicated.
    """
    at, version = rows[0][3:5] if rows else (0, FORMAT)
    checked_format(plan_id, version)
    if at < revision:
        raise gone_back(plan_id, revision, at)
    entries = _entries(plan_id, rows)
    return tuple(without_gaps(entries)) if revision == ALL else entries


def receipt_of_rows(plan_id: str, key: Key, rows: list[Row]) -> Receipt | None:
    """
    Return the receipt from the result of the query `RECEIPT`, or `None` if there are no rows.

    Raises:
        StoreError: the key was used with another payload ("key_reused").
    """
    if not rows:
        return None
    payload, answer = rows[0][3:]
    check_payload(plan_id, key, payload)
    return Receipt(_entries(plan_id, rows), answer)


def _entries(plan_id: str, rows: list[Row]) -> tuple[Entry, ...]:
    # An outer join gives one row of nulls if there is no entry.
    if rows and rows[0][0] is None:
        return ()
    return tuple([entry_of_line(plan_id, row[0], row[1], row[2]) for row in rows])


def _ids_of_rows(rows: list[Row]) -> tuple[str, ...]:
    return tuple(text_of_name(row[0]) for row in rows)


class RowStore:
    """A `HoldingStore` whose plans are rows in a database."""

    _loaded: Any
    _tail: Any
    _plan_ids: Any
    _name: Callable[[object], str] = staticmethod(stored_name)

    @abstractmethod
    def _ask(self, query: Any, values: Row, read: Callable[[list[Row]], T], doing: str, /) -> T:
        """
        Execute a query, pass its rows to `read`, and return the result of `read`.

        `doing` names the operation in error messages.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connections that are not in use. A later call opens new ones."""

    @abstractmethod
    def hold(self, plan_id: str) -> Any:
        """Lock a plan for the duration of a `with` block."""

    def load(self, plan_id: str) -> Plan:
        """
        Return the plan as its last entry left it.

        Raises:
            StoreError: the database cannot be read; `data["problem"]` says why.
            CodecError: a row of the plan is damaged, or of a newer version.
        """
        values, read = (self._name(plan_id),) * 4, partial(plan_of_rows, plan_id)
        return self._ask(self._loaded, values, read, f"load the plan {plan_id!r}")

    def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """
        Return the plan's journal, oldest entry first. A journal that was cut begins with a snapshot
        entry.

        Raises:
            TodoplanError: the same errors as `load`.
        """
        return self.entries_since(plan_id, ALL)

    def entries_since(self, plan_id: str, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries after a revision, oldest first.

        Raises:
            TodoplanError: the same errors as `load`; a StoreError ("rolled_back") if the plan has
                not reached that revision.
        """
        values, read = (revision, self._name(plan_id)), partial(tail_of_rows, plan_id, revision)
        return self._ask(self._tail, values, read, f"read the journal of the plan {plan_id!r}")

    def plan_ids(self) -> tuple[str, ...]:
        """
        Return the ids of all written plans: in SQLite in the order in which they were added, in
        PostgreSQL in byte order.

        Raises:
            StoreError: the same errors as `load`.
        """
        return self._ask(self._plan_ids, (), _ids_of_rows, "list its plans")

    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Add entries if the plan is at revision `expected`; return whether they were added.

        Raises:
            TodoplanError: the same errors as `hold`; a CodecError if an entry contains a value that
                JSON cannot represent.
        """
        added: bool = self.hold(plan_id).append_if_at(expected, entries, plan)
        return added

    def compact(self, plan_id: str, *, keep: int | timedelta) -> int:
        """
        Cut a plan's journal and return the number of removed entries.

        `keep` is the number of newest entries to keep, or the maximum age of the entries to keep. A
        snapshot entry, which contains the plan, replaces the removed entries. Undo cannot go back
        further than this entry. Idempotency keys of removed entries are deleted.

        Raises:
            PlanError: `keep` is neither a number of entries nor an age.
            TodoplanError: the same errors as `hold`.
        """
        removed: int = self.hold(plan_id).done(lambda held: held.compact(keep))
        return removed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
