"""`PostgresStore`: executes the steps in the calling thread."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event
from types import TracebackType
from typing import Any, LiteralString, NamedTuple, Self, TypeVar

import attrs
import psycopg
from psycopg.pq import TransactionStatus

from todoplan.codec.documents import VERSION
from todoplan.codec.engine import LIMIT
from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.base import (
    ALL,
    CUT,
    Key,
    Receipt,
    beginning,
    checked_id,
    checked_receipt,
    cut_at,
    entry_of_line,
    follow,
    gone_back,
    is_beginning,
    is_snapshot_due,
    line_of_entry,
    not_held,
    overtaken,
    plan_of_snapshot,
    snapshot_of_plan,
    stored_name,
    text_of_name,
)
from todoplan.stores.locks import Hold
from todoplan.stores.postgres.connections import (
    CHANNEL,
    FORMAT,
    LONGEST,
    Address,
    AsyncConnection,
    AsyncConnections,
    AsyncTurns,
    Connection,
    Connections,
    Lent,
    Listener,
    Row,
    Steps,
    Turns,
    carry_out,
    carry_out_awaited,
    checked_address,
    failure,
    is_passing,
)

# -------- reading --------
# The queries, once for both stores. Each is one statement, so that it reads a consistent state.


# The clock is selected here, after the lock was taken; in the locking statement it would be read
# before the wait. Not `now()`, which is the time at which the transaction began.
TAIL: LiteralString = """
select p.revision, p.format, clock_timestamp(), e.revision, e.version, e.line
from todoplan_plan p left join todoplan_entry e on e.plan_id = p.id and e.revision > %s
where p.id = %s order by e.revision
"""
_LOADED: LiteralString = """
select 0, revision, format, '' from todoplan_plan where id = %s
union all
select 1, revision, version, document from todoplan_snapshot where plan_id = %s
union all
select 2, revision, version, line from todoplan_entry where plan_id = %s and revision > coalesce(
    (select revision from todoplan_snapshot where plan_id = %s), 0)
order by 1, 2
"""
_RECEIPT: LiteralString = """
select r.payload, r.answer, e.revision, e.version, e.line
from todoplan_receipt r left join todoplan_entry e
on e.plan_id = r.plan_id and e.revision > r.before and e.revision <= r.after
where r.plan_id = %s and r.key = %s order by e.revision
"""
_PLAN_IDS: LiteralString = """
select id from todoplan_plan where revision > 0 order by id collate "C"
"""


@attrs.frozen
class Tail:
    """The entries after a revision, with the plan's revision and the server's time of the query."""

    revision: int = 0
    clock: datetime | None = None
    entries: tuple[Entry, ...] = ()


def name_in_row(name: str) -> str:
    """
    Return a plan id or key name as it is stored in the tables.

    Raises:
        PlanError: the name is not a string.
        StoreError: the name is too long for an index.
    """
    stored = stored_name(name)
    if len(stored) * 4 > LONGEST and (size := len(stored.encode())) > LONGEST:
        msg = (
            f"the name {name[:50]!r}... has {size} bytes, and PostgreSQL's indexes take {LONGEST}; "
            "take a shorter one, such as a hash of it"
        )
        raise StoreError(msg, problem="too_large", seen=name)
    return stored


def checked_format(plan_id: str, found: int) -> None:
    """
    Return if this version can read the plan's rows.

    Raises:
        StoreError: the rows have a newer format ("newer_format").
    """
    if found > FORMAT:
        msg = (
            f"the plan {plan_id!r} is kept in format {found}, by a newer todoplan; this one knows "
            f"formats up to {FORMAT} and changed nothing: upgrade it"
        )
        raise StoreError(msg, plan_id=plan_id, problem="newer_format", format=found)


def loaded(plan_id: str) -> Steps[Plan]:
    """Return the plan: its snapshot with the later entries applied."""
    rows: list[Row] = yield _LOADED, (name_in_row(plan_id),) * 4
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
            f"{plan.revision}: rows are missing; bring back a copy of the database"
        )
        raise StoreError(msg, plan_id=plan_id, problem="gap", revision=plan.revision)
    return plan


def tail_read(plan_id: str, revision: int) -> Steps[Tail]:
    """
    Return the entries after a revision.

    Raises:
        StoreError: the plan has not reached that revision.
    """
    rows: list[Row] = yield TAIL, (revision, name_in_row(plan_id))
    found = Tail()
    if rows:
        at, version, time = rows[0][:3]
        checked_format(plan_id, version)
        lines = (row[3:] for row in rows if row[3] is not None)
        entries = tuple(entry_of_line(plan_id, *line) for line in lines)
        found = Tail(at, time.astimezone(UTC), entries)
    if found.revision < revision:
        raise gone_back(plan_id, revision, found.revision)
    return found


def revision_of(plan_id: str) -> Steps[int]:
    """Return a plan's revision; 0 if the plan was never written."""
    rows = yield "select revision from todoplan_plan where id = %s", (name_in_row(plan_id),)
    return rows[0][0] if rows else 0


def plan_ids() -> Steps[tuple[str, ...]]:
    """Return the ids of all written plans, in byte order."""
    rows = yield _PLAN_IDS, None
    return tuple(text_of_name(row[0]) for row in rows)


def clock() -> Steps[datetime]:
    """Return the server's time."""
    rows = yield "select clock_timestamp()", None
    time: datetime = rows[0][0]
    return time.astimezone(UTC)


def receipt(plan_id: str, key: Key) -> Steps[Receipt | None]:
    """
    Return the result of the append that carried a key.

    Raises:
        StoreError: the key was used with another payload.
    """
    rows: list[Row] = yield _RECEIPT, (name_in_row(plan_id), name_in_row(key.name))
    if not rows:
        return None
    payload, answer = rows[0][:2]
    lines = (row[2:] for row in rows if row[2] is not None)
    entries = tuple(entry_of_line(plan_id, *line) for line in lines)
    found = Receipt(entries, text_of_name(answer))
    return checked_receipt(plan_id, key, text_of_name(payload), found)


# -------- writing --------
# The writing statements, once for both stores, on a locked plan. No statement decides anything.
#
# A plan is locked by locking its row, in a statement of its own under READ COMMITTED: a statement
# sees the data as of its start, which is before it waited for the lock. All reads come after this
# statement.


_LONGEST_HOLD = "60s"
"""
The idle time after which the server rolls back a lock holder that was stopped or disconnected, so
that others can continue. Deciding takes milliseconds.
"""

LOCK: LiteralString = """
select revision, format, since, size from todoplan_plan where id = %s for update
"""
_NEW: LiteralString = """
insert into todoplan_plan (id, revision, format) values (%s, 0, %s) on conflict do nothing
"""
ADD: LiteralString = """
with entry as (
    insert into todoplan_entry (plan_id, revision, version, line)
    select %(plan)s, new.revision, %(version)s, new.line
    from unnest(%(revisions)s::bigint[], %(lines)s::text[]) as new (revision, line)
), receipt as (
    insert into todoplan_receipt (plan_id, key, payload, before, after, answer)
    select %(plan)s, new.key, %(payload)s, %(before)s, %(after)s, %(answer)s
    from unnest(%(keys)s::text[]) as new (key)
)
update todoplan_plan set revision = %(after)s, since = %(since)s where id = %(plan)s
returning case when %(announced)s then pg_notify(%(channel)s, %(news)s) end
"""
_SNAPSHOT: LiteralString = """
with snapshot as (
    insert into todoplan_snapshot (plan_id, revision, version, document)
    values (%(plan)s, %(revision)s, %(version)s, %(document)s)
    on conflict (plan_id) do update set
    revision = excluded.revision, version = excluded.version, document = excluded.document
)
update todoplan_plan set since = 0, size = %(size)s where id = %(plan)s
"""
_CUT: LiteralString = """
with entry as (
    delete from todoplan_entry where plan_id = %(plan)s and revision < %(revision)s
), receipt as (
    delete from todoplan_receipt where plan_id = %(plan)s and before < %(revision)s
)
update todoplan_entry set version = %(version)s, line = %(line)s
where plan_id = %(plan)s and revision = %(revision)s
"""


@attrs.frozen
class Locked:
    """The row of a locked plan."""

    plan_id: str
    revision: int
    since: int
    size: int


def begin(patience: float) -> bytes:
    """Return the statements that begin a transaction with a lock timeout of `patience` seconds."""
    # Sent together with `begin`, and for this transaction only: session settings would need a round
    # trip, and behind a connection pooler they would apply to another client.
    return (
        "begin isolation level read committed;"
        f"set local lock_timeout = '{max(1, round(patience * 1000))}ms';"
        f"set local idle_in_transaction_session_timeout = '{_LONGEST_HOLD}'"
    ).encode()


def locked(plan_id: str, begun: bytes) -> Steps[Locked]:
    """
    Begin a transaction and lock the plan's row.

    A plan that was never written gets a row, which is rolled back if nothing is appended.
    """
    stored = name_in_row(plan_id)
    yield begun, None
    rows = yield LOCK, (stored,)
    if not rows:
        yield _NEW, (stored, FORMAT)
        rows = yield LOCK, (stored,)
    revision, version, since, size = rows[0]
    checked_format(plan_id, version)
    return Locked(plan_id, revision, since, size)


def added(
    at: Locked,
    entries: Sequence[Entry],
    plan: Plan,
    *,
    key: tuple[Key, str] | None = None,
    announced: bool = True,
) -> Steps[Locked]:
    """
    Add entries to the locked plan, and return the plan's updated row.

    `key` is an idempotency key and the answer that is stored with it.

    Raises:
        StoreError: an entry is too large to be read again.
        CodecError: an entry contains a value that JSON cannot represent.
    """
    lines = [line_of_entry(at.plan_id, entry) for entry in entries]
    since = at.since + sum(len(line.encode()) for line in lines)
    named, answer = key or (Key(""), "")
    values = {
        "plan": name_in_row(at.plan_id),
        "version": VERSION,
        "revisions": [entry.revision for entry in entries],
        "lines": lines,
        "keys": [name_in_row(named.name)] if key else [],
        # A payload or an answer may contain any character, but PostgreSQL's texts cannot contain
        # NUL.
        "payload": stored_name(named.payload),
        "answer": stored_name(answer),
        "before": at.revision,
        "after": plan.revision,
        "since": since,
        "announced": announced,
        "channel": CHANNEL,
        "news": f"{name_in_row(at.plan_id)}:{plan.revision}",
    }
    yield ADD, values
    if not is_snapshot_due(since, at.size):
        return Locked(at.plan_id, plan.revision, since, at.size)
    return (yield from _snapshot(at.plan_id, plan))


def cut(plan_id: str, keep: int | timedelta) -> Steps[int]:
    """
    Replace the oldest entries of the locked plan by one snapshot entry; return the number removed.

    Raises:
        PlanError: `keep` is neither a number of entries nor an age.
    """
    found = yield from tail_read(plan_id, ALL)
    going = found.entries[: cut_at(found.entries, keep, found.clock or datetime.now(UTC))]
    # A snapshot entry is not a change, and cutting it alone would leave an equal one in its place.
    lost = [entry for entry in going if not is_beginning(entry)]
    if not lost:
        return 0
    then = follow(Plan(), going)
    values = {
        "plan": name_in_row(plan_id),
        "revision": then.revision,
        "version": VERSION,
        "line": line_of_entry(plan_id, beginning(then, CUT, going[-1].at)),
    }
    yield _CUT, values
    yield from _snapshot(plan_id, follow(then, found.entries[len(going) :]))
    return len(lost)


def _snapshot(plan_id: str, plan: Plan) -> Steps[Locked]:
    document = snapshot_of_plan(plan)
    size = len(document.encode())
    # A larger one could not be read again. Without a snapshot the journal gives the plan.
    if size <= LIMIT:
        values = {
            "plan": name_in_row(plan_id),
            "revision": plan.revision,
            "version": VERSION,
            "document": document,
            "size": size,
        }
        yield _SNAPSHOT, values
    return Locked(plan_id, plan.revision, 0, size)


# -------- holding --------
# The state of a locked plan and the steps of its operations, once for both stores.
#
# `Holding` executes nothing. The handles in `held` execute its steps, on the connection whose
# transaction has locked the plan.


class _Clock(NamedTuple):
    theirs: datetime
    ours: float


class Holding:
    """The state of a plan that is locked on a connection."""

    def __init__(self, address: Address, at: Locked, *, announced: bool) -> None:
        self.address = address
        self.plan_id = at.plan_id
        self.has_written = False
        self.key: Key | None = None
        self._at, self._before = at, at.revision
        self._announced = announced
        self._clock: _Clock | None = None
        self._process = os.getpid()
        self._is_over = False

    @property
    def revision(self) -> int:
        """The plan's revision, including appends made here."""
        return self._at.revision

    def end(self) -> None:
        """Mark the lock as released: the connection belongs to somebody else from now on."""
        self._is_over = True

    @property
    def is_here(self) -> bool:
        """
        Whether the plan is still locked, and by this process, not by the parent that it was forked
        from.
        """
        return not self._is_over and self._process == os.getpid()

    def checked(self) -> None:
        """
        Return if this process still has the plan locked.

        Raises:
            StoreError: the `with` has ended, or this process is a child of the one that locked the
                plan.
        """
        if not self.is_here:
            raise not_held(self.plan_id)

    def now_steps(self) -> Steps[datetime]:
        """
        Return the server's time: the time when the plan was read, plus the time elapsed since.
        """
        if self._clock is None:
            self._clock = _Clock((yield from clock()), time.monotonic())
        return self._clock.theirs + timedelta(seconds=time.monotonic() - self._clock.ours)

    def since_steps(self, revision: int) -> Steps[tuple[Entry, ...]]:
        """Return the entries after a revision."""
        tail = yield from tail_read(self.plan_id, revision)
        self._clock = _Clock(tail.clock, time.monotonic()) if tail.clock else None
        return tail.entries

    def receipt_steps(self, key: Key) -> Steps[Receipt | None]:
        """Return the result of the append that carried a key."""
        return (yield from receipt(self.plan_id, key))

    def append_steps(
        self, expected: int, entries: Sequence[Entry], plan: Plan, key: Key | None, answer: str
    ) -> Steps[tuple[Entry, ...]]:
        """Add entries, or return the entries of the earlier append with the same key."""
        if key is not None and (known := (yield from self.receipt_steps(key))) is not None:
            return known.entries
        if expected != self.revision:
            raise overtaken(self.plan_id, expected, self.revision)
        entries = tuple(entries)
        named = None if key is None else (key, answer)
        self._at = yield from added(self._at, entries, plan, key=named, announced=self._announced)
        self.has_written, self.key = True, key or self.key
        return entries

    def cut_steps(self, keep: int | timedelta) -> Steps[int]:
        """
        Replace the oldest entries by one snapshot entry; return the number of removed entries.
        """
        lost = yield from cut(self.plan_id, keep)
        self.has_written = self.has_written or lost > 0
        return lost

    def settling_steps(self, begun: bytes) -> Steps[bool | None]:
        """
        Return whether a commit succeeded whose response was lost; `None` without a key to look it
        up.
        """
        if self.key is None:
            return None
        # Under the lock: the lost transaction held the lock, so it has been committed or rolled
        # back by now.
        yield from locked(self.plan_id, begun)
        return (yield from self.receipt_steps(self.key)) is not None

    def failed(self, error: psycopg.Error) -> StoreError:
        """Return the error for a statement that failed while the plan is locked."""
        if is_passing(error):
            return self.lost()
        doing = f"go on with the plan {self.plan_id!r}: nothing was appended"
        return failure(error, self.address, doing)

    def lost(self) -> StoreError:
        """Return the error for a connection that was lost before the commit."""
        msg = (
            f"{self.address} was lost before it had committed: nothing was appended to the plan "
            f"{self.plan_id!r}; try again"
        )
        return StoreError(msg, plan_id=self.plan_id, problem="lost", store=str(self.address))

    def may_commit(self, db: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
        """
        Return if everything that was written can be committed.

        Raises:
            StoreError: a statement failed, and the whole transaction with it ("broken"); or the
                plan is not locked here ("not_held").
        """
        self.checked()
        # PostgreSQL then answers COMMIT with ROLLBACK, which is not an error: entries acknowledged
        # by an earlier append would be lost silently.
        if self.has_written and db.info.transaction_status is not TransactionStatus.INTRANS:
            msg = (
                f"nothing was appended to the plan {self.plan_id!r}: a statement had failed before "
                "the `with` ended, and with it all of them; let that error pass, and try again"
            )
            raise StoreError(msg, plan_id=self.plan_id, problem="broken")

    @property
    def last_statement(self) -> LiteralString:
        """The statement that ends the transaction."""
        return "commit" if self.has_written else "rollback"

    def raised_at_the_end(self, error: psycopg.Error) -> psycopg.Error | None:
        """
        Return an error of the last statement if it leaves it unknown whether the commit succeeded;
        `None` if there was nothing to commit.

        Raises:
            StoreError: the server refused the commit.
        """
        if not self.has_written:
            return None
        if error.sqlstate and not is_passing(error):
            raise failure(error, self.address, f"commit to the plan {self.plan_id!r}") from error
        return error

    def settle(self, error: psycopg.Error, *, is_kept: bool | None) -> None:
        """
        Return if a commit whose response was lost is known to have succeeded.

        Raises:
            StoreError: it did not succeed ("lost"), or this is unknown ("unknown").
        """
        if is_kept is None:
            raise self.unknown() from error
        if not is_kept:
            raise self.lost() from error

    def unknown(self) -> StoreError:
        """Return the error for a commit of which it is unknown whether it succeeded."""
        msg = (
            f"{self.address} was lost while it committed: what was appended to the plan "
            f"{self.plan_id!r} behind revision {self._before} may be kept, or not. Look, by "
            "entries_since, before you try again; an append with a key is settled by itself"
        )
        data = {"plan_id": self.plan_id, "store": str(self.address)}
        return StoreError(msg, problem="unknown", revision=self._before, **data)


# -------- held --------
# Handles of a locked plan, which `hold` returns, for both stores. `holding` has the logic.


T = TypeVar("T")


class PostgresHeld:
    """
    A plan that nobody else can change until the `with` ends. Use it only in the locking thread.
    """

    def __init__(self, db: Connection, holding: Holding) -> None:
        self._db = db
        self.holding = holding

    @property
    def revision(self) -> int:
        """
        The plan's current revision, including appends made here; 0 if the plan was never written.
        """
        return self.holding.revision

    def now(self) -> datetime:
        """Return the time of the server's clock, in UTC."""
        return self._carry_out(self.holding.now_steps())

    def entries_since(self, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries after a revision.

        Raises:
            StoreError: the plan has not reached that revision ("rolled_back").
        """
        return self._carry_out(self.holding.since_steps(revision))

    def receipt(self, key: Key) -> Receipt | None:
        """
        Return the result of the append that carried this key.

        Raises:
            StoreError: the key was used with another payload ("key_reused").
        """
        return self._carry_out(self.holding.receipt_steps(key))

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
        Add entries, or return the entries of the earlier append with the same key. The end of the
        `with` commits them.

        Raises:
            StoreError: the plan is at another revision ("overtaken"), the key was used with another
                payload ("key_reused"), or an entry is too large.
            CodecError: an entry contains a value that JSON cannot represent.
        """
        steps = self.holding.append_steps(expected, entries, plan, key, answer)
        return self._carry_out(steps)

    def compact(self, keep: int | timedelta) -> int:
        """Cut the plan's journal, as `PostgresStore.compact` does."""
        return self._carry_out(self.holding.cut_steps(keep))

    def _carry_out(self, steps: Steps[T]) -> T:
        self.holding.checked()
        try:
            return carry_out(self._db, steps)
        except psycopg.Error as error:
            raise self.holding.failed(error) from error


class AsyncPostgresHeld:
    """A `PostgresHeld` whose methods are awaited. Use it only in the task that locked the plan."""

    def __init__(self, db: AsyncConnection, holding: Holding) -> None:
        self._db = db
        self._holding = holding

    @property
    def revision(self) -> int:
        """
        The plan's current revision, including appends made here; 0 if the plan was never written.
        """
        return self._holding.revision

    async def now(self) -> datetime:
        """Return the time of the server's clock, in UTC."""
        return await self._carry_out(self._holding.now_steps())

    async def entries_since(self, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries after a revision.

        Raises:
            StoreError: the plan has not reached that revision ("rolled_back").
        """
        return await self._carry_out(self._holding.since_steps(revision))

    async def receipt(self, key: Key) -> Receipt | None:
        """
        Return the result of the append that carried this key.

        Raises:
            StoreError: the key was used with another payload ("key_reused").
        """
        return await self._carry_out(self._holding.receipt_steps(key))

    async def append(
        self,
        expected: int,
        entries: Sequence[Entry],
        plan: Plan,
        *,
        key: Key | None = None,
        answer: str = "",
    ) -> tuple[Entry, ...]:
        """
        Add entries, or return the entries of the earlier append with the same key. The end of the
        `async with` commits them.

        Raises:
            TodoplanError: the same errors as `PostgresHeld.append`.
        """
        steps = self._holding.append_steps(expected, entries, plan, key, answer)
        return await self._carry_out(steps)

    async def compact(self, keep: int | timedelta) -> int:
        """Cut the plan's journal, as `PostgresStore.compact` does."""
        return await self._carry_out(self._holding.cut_steps(keep))

    async def _carry_out(self, steps: Steps[T]) -> T:
        self._holding.checked()
        try:
            return await carry_out_awaited(self._db, steps)
        except psycopg.Error as error:
            raise self._holding.failed(error) from error


def ended(db: Connection, holding: Holding) -> psycopg.Error | None:
    """End the transaction. Return an error that leaves it unknown whether the commit succeeded."""
    try:
        db.execute(holding.last_statement)
    except psycopg.Error as error:
        return holding.raised_at_the_end(error)
    return None


async def ended_awaited(db: AsyncConnection, holding: Holding) -> psycopg.Error | None:
    """End the transaction. Return an error that leaves it unknown whether the commit succeeded."""
    try:
        await db.execute(holding.last_statement)
    except psycopg.Error as error:
        return holding.raised_at_the_end(error)
    return None


class PostgresStore:
    """
    A `HoldingStore` in a PostgreSQL database, for any number of machines.

    `PostgresStore("postgresql://planner@db.example/plans")`. A call waits at most `patience`
    seconds for a plan, for a connection, or for a server that restarts. A store uses at most
    `most_connections` at a time. With `notify=False` commits are not announced, which is expensive
    on a server with many writers, and watchers poll instead.
    """

    def __init__(
        self,
        dsn: str,
        *,
        patience: float = 10.0,
        most_connections: int = 4,
        notify: bool = True,
    ) -> None:
        self.address: Address = checked_address(dsn)
        self.connections = Connections(self.address, most_connections, patience)
        self.begun = begin(patience)
        self.notify = notify
        self._listener = Listener(self.address, is_told=notify)
        self.turns = Turns(self.address)
        self.patience = patience

    def close(self) -> None:
        """Close the connections that are not in use. A later call opens new ones."""
        self._listener.close()
        self.connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def load(self, plan_id: str) -> Plan:
        """
        Return the plan as of its last entry.

        Raises:
            StoreError: the database cannot be reached, or refuses a statement; `data["problem"]`
                says why.
            CodecError: a row is damaged, or of a newer version.
        """
        return self._read(lambda: loaded(plan_id), f"load the plan {plan_id!r}")

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
        doing = f"read the journal of the plan {plan_id!r}"
        return self._read(lambda: tail_read(plan_id, revision), doing).entries

    def plan_ids(self) -> tuple[str, ...]:
        """
        Return the ids of all written plans, in byte order.

        Raises:
            StoreError: the same errors as `load`.
        """
        return self._read(plan_ids, "list its plans")

    def wait_for_change(self, plan_id: str, revision: int, timeout: float) -> bool:
        """
        Wait at most `timeout` seconds until the plan's revision differs from `revision`; return
        whether it does.

        Raises:
            StoreError: the same errors as `load`.
        """
        end, changed = time.monotonic() + timeout, Event()
        with self._listener.waking(name_in_row(plan_id), changed.set):
            while True:
                changed.clear()  # before the query, so that no later change is missed
                doing = f"look for changes of the plan {plan_id!r}"
                if self._read(lambda: revision_of(plan_id), doing) != revision:
                    return True
                left = end - time.monotonic()
                if left <= 0:
                    return False
                changed.wait(min(left, self._listener.pause))

    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Add entries if the plan is at revision `expected`; return whether they were added.

        Raises:
            TodoplanError: the same errors as `hold`.
        """

        def append(held: PostgresHeld) -> bool:
            is_there = held.revision == expected
            if is_there:
                held.append(expected, entries, plan)
            return is_there

        return self.hold(plan_id).done(append)

    def compact(self, plan_id: str, *, keep: int | timedelta) -> int:
        """
        Cut a plan's journal and return the number of removed entries.

        `keep` is the number of newest entries to keep, or the maximum age of the entries to keep.
        One entry replaces the removed ones. It has the plan as it was then, with that revision and
        time. Undo cannot go back further than this entry. Idempotency keys of removed entries are
        deleted.

        Raises:
            PlanError: `keep` is neither a number of entries nor an age.
            TodoplanError: the same errors as `hold`.
        """
        return self.hold(plan_id).done(lambda held: held.compact(keep))

    def hold(self, plan_id: str) -> "PostgresHold":
        """
        Wait until the plan is free, and lock it for the duration of a `with` block.

        Raises:
            StoreError: the same errors as `load`. Also if somebody else holds the lock for too long
                ("busy") or this thread already holds it ("nested"), and if the connection was lost:
                nothing was appended ("lost"), or it is unknown whether something was ("unknown").
        """
        return PostgresHold(self, checked_id(plan_id))

    def _read(self, steps: Callable[[], Steps[T]], doing: str) -> T:
        lent = Lent(self.connections)
        try:
            return self.connections.lend(lent, steps, doing)
        finally:
            try:
                lent.give_back()
            finally:
                lent.give_back()


class PostgresHold(Hold[PostgresHeld]):
    """A context manager that locks a plan's row."""

    def __init__(self, store: PostgresStore, plan_id: str) -> None:
        self._store, self._plan_id = store, plan_id
        self._turn = store.turns.of(plan_id)
        self._turns: list[bool] = []
        self._lent = Lent(store.connections)
        self._holding: Holding | None = None
        self._is_settled = False

    def begin(self) -> PostgresHeld:
        """Lock the plan."""
        store = self._store
        self._turn.take(self._turns, store.patience)
        steps = partial(locked, self._plan_id, store.begun)
        at = store.connections.lend(self._lent, steps, f"hold the plan {self._plan_id!r}")
        self._holding = Holding(store.address, at, announced=store.notify)
        return PostgresHeld(self._lent.db, self._holding)

    def keep(self, held: PostgresHeld) -> None:
        """
        Commit the appended entries. If the response is lost, find out whether the commit succeeded.
        """
        holding = held.holding
        holding.may_commit(self._lent.db)
        error = ended(self._lent.db, holding)
        holding.end()
        if error is not None:
            self._lent.drop()
            self._lent.give_back()
            self._settle(holding, error)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            # After other exceptions, such as an interrupt, the connection is closed without a
            # rollback.
            is_here = self._holding is not None and self._holding.is_here
            if isinstance(error, Exception) and is_here:
                with suppress(psycopg.Error):
                    self._lent.db.execute("rollback")
        finally:
            super().__exit__(kind, error, trace)

    def release(self, held: PostgresHeld | None) -> None:  # noqa: ARG002 - as of all stores
        """Release the connection and the lock. What is not committed is rolled back."""
        if self._holding is not None:
            self._holding.end()
        try:
            self._lent.give_back()
        finally:
            self._turn.give_back(self._turns)

    def _settle(self, holding: Holding, error: psycopg.Error) -> None:
        steps = partial(holding.settling_steps, self._store.begun)
        doing = f"look what became of an append to the plan {holding.plan_id!r}"
        try:
            is_kept = self._store.connections.lend(self._lent, steps, doing)
            self._lent.db.execute("rollback")
        except (StoreError, psycopg.Error):
            raise holding.unknown() from error
        holding.settle(error, is_kept=is_kept)


# -------- async_store --------
# `AsyncPostgresStore`: the steps of `PostgresStore`, awaited.


class AsyncPostgresStore:
    """
    A `PostgresStore` whose methods are awaited. The arguments and guarantees are the same.

    Use it in many tasks of one event loop, or in one event loop after another.
    """

    def __init__(
        self,
        dsn: str,
        *,
        patience: float = 10.0,
        most_connections: int = 4,
        notify: bool = True,
    ) -> None:
        self.address: Address = checked_address(dsn)
        self.connections = AsyncConnections(self.address, most_connections, patience)
        self._begun = begin(patience)
        self._notify = notify
        self._listener = Listener(self.address, is_told=notify)
        self._turns = AsyncTurns(self.address, patience)

    async def close(self) -> None:
        """Close the connections that are not in use. A later call opens new ones."""
        await asyncio.to_thread(self._listener.close)
        self.connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def load(self, plan_id: str) -> Plan:
        """
        Return the plan as of its last entry.

        Raises:
            TodoplanError: the same errors as `PostgresStore.load`.
        """
        return await self._read(lambda: loaded(plan_id), f"load the plan {plan_id!r}")

    async def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """
        Return the plan's journal, oldest entry first. A journal that was cut begins with a snapshot
        entry.

        Raises:
            TodoplanError: the same errors as `load`.
        """
        return await self.entries_since(plan_id, ALL)

    async def entries_since(self, plan_id: str, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries after a revision, oldest first.

        Raises:
            TodoplanError: the same errors as `load`; a StoreError ("rolled_back") if the plan has
                not reached that revision.
        """
        doing = f"read the journal of the plan {plan_id!r}"
        tail = await self._read(lambda: tail_read(plan_id, revision), doing)
        return tail.entries

    async def plan_ids(self) -> tuple[str, ...]:
        """
        Return the ids of all written plans, in byte order.

        Raises:
            StoreError: the same errors as `load`.
        """
        return await self._read(plan_ids, "list its plans")

    async def wait_for_change(self, plan_id: str, revision: int, timeout: float) -> bool:  # noqa: ASYNC109 - as in `PostgresStore`
        """
        Wait at most `timeout` seconds until the plan's revision differs from `revision`; return
        whether it does.

        Raises:
            StoreError: the same errors as `load`.
        """
        end, changed = time.monotonic() + timeout, asyncio.Event()
        loop = asyncio.get_running_loop()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                loop.call_soon_threadsafe(changed.set)

        with self._listener.waking(name_in_row(plan_id), wake):
            while True:
                changed.clear()
                doing = f"look for changes of the plan {plan_id!r}"
                if await self._read(lambda: revision_of(plan_id), doing) != revision:
                    return True
                left = end - time.monotonic()
                if left <= 0:
                    return False
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(left, self._listener.pause)):
                        await changed.wait()

    async def append(
        self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan
    ) -> bool:
        """
        Add entries if the plan is at revision `expected`; return whether they were added.

        Raises:
            TodoplanError: the same errors as `hold`.
        """
        async with self.hold(plan_id) as held:
            is_there = held.revision == expected
            if is_there:
                await held.append(expected, entries, plan)
        return is_there

    async def compact(self, plan_id: str, *, keep: int | timedelta) -> int:
        """
        Cut a plan's journal, as `PostgresStore.compact` does.

        Raises:
            TodoplanError: the same errors as `PostgresStore.compact`.
        """
        async with self.hold(plan_id) as held:
            return await held.compact(keep)

    @asynccontextmanager
    async def hold(self, plan_id: str) -> AsyncIterator[AsyncPostgresHeld]:
        """
        Wait until the plan is free, and lock it for the duration of an `async with` block.

        Raises:
            StoreError: the same errors as `PostgresStore.hold`.
        """
        async with self._turns.taken(checked_id(plan_id)):
            error: psycopg.Error | None = None
            doing = f"hold the plan {plan_id!r}"
            steps = partial(locked, plan_id, self._begun)
            async with self.connections.started(steps, doing) as (db, at):
                holding = Holding(self.address, at, announced=self._notify)
                try:
                    yield AsyncPostgresHeld(db, holding)
                    holding.may_commit(db)
                    error = await ended_awaited(db, holding)
                # After other exceptions, such as a cancellation, the connection is closed without a
                # rollback.
                except Exception:
                    if holding.is_here:
                        with suppress(psycopg.Error):
                            await db.execute("rollback")
                    raise
                finally:
                    holding.end()
            if error is not None:
                await self._settle(holding, error)

    async def _read(self, steps: Callable[[], Steps[T]], doing: str) -> T:
        async with self.connections.started(steps, doing) as (_, value):
            return value

    async def _settle(self, holding: Holding, error: psycopg.Error) -> None:
        """Find out whether a commit succeeded whose response was lost."""
        steps = partial(holding.settling_steps, self._begun)
        doing = f"look what became of an append to the plan {holding.plan_id!r}"
        try:
            async with self.connections.started(steps, doing) as (db, is_kept):
                await db.execute("rollback")
        except (StoreError, psycopg.Error):
            raise holding.unknown() from error
        holding.settle(error, is_kept=is_kept)
