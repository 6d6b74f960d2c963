"""The SQL statements, the locked plan, and both stores."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import wraps
from threading import Event
from typing import Any, Concatenate, LiteralString, ParamSpec, Self, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from todoplan.codec.documents import VERSION, dump_plan
from todoplan.codec.engine import LIMIT
from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.base import (
    ALL,
    Hold,
    Key,
    Receipt,
    check_payload,
    cut_off,
    entry_of_line,
    follow,
    gone_back,
    is_snapshot_due,
    line_of_entry,
    not_held,
    overtaken,
    plan_of_snapshot,
    stored_name,
    text_of_name,
)
from todoplan.stores.locks import Turn
from todoplan.stores.postgres.connections import (
    CHANNEL,
    FORMAT,
    LONGEST,
    Address,
    AsyncPool,
    Connection,
    Lent,
    Listener,
    Pool,
    Row,
    Steps,
    TaskTurn,
    Turns,
    awaited,
    called,
    checked_address,
    failure,
    is_passing,
    rows_of,
)

T = TypeVar("T")
P = ParamSpec("P")

# -------- reading --------
# The queries, for both stores. Each is a single statement, so that it reads a consistent state.


# The clock is read here, after the plan was locked: the locking statement would read it before it
# waits. `now()` would be the time at which the transaction began.
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
            "use a shorter one, such as a hash of it"
        )
        raise StoreError(msg, problem="too_large", seen=name)
    return stored


def checked_format(plan_id: str, found: int) -> None:
    """
    Check that this version can read the plan's rows.

    Raises:
        StoreError: the rows have a newer format ("newer_format").
    """
    if found > FORMAT:
        msg = (
            f"the plan {plan_id!r} has format {found}, of a newer todoplan; this one reads formats "
            f"up to {FORMAT}, and changed nothing: upgrade it"
        )
        raise StoreError(msg, plan_id=plan_id, problem="newer_format", format=found)


def loaded(db: Connection, plan_id: str) -> Steps[Plan]:
    """Return the plan: its snapshot, with the later entries applied."""
    rows = yield from rows_of(db, _LOADED, (name_in_row(plan_id),) * 4)
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


def tail_read(
    db: Connection, plan_id: str, revision: int
) -> Steps[tuple[tuple[Entry, ...], datetime | None]]:
    """
    Return the entries after a revision, and the server's time if the plan was ever written.

    Raises:
        StoreError: the plan has not reached that revision.
    """
    rows = yield from rows_of(db, TAIL, (revision, name_in_row(plan_id)))
    at, version, time = rows[0][:3] if rows else (0, FORMAT, None)
    checked_format(plan_id, version)
    if at < revision:
        raise gone_back(plan_id, revision, at)
    return _entries(plan_id, [row[3:] for row in rows]), time and time.astimezone(UTC)


def _entries(plan_id: str, rows: list[Row]) -> tuple[Entry, ...]:
    # An outer join gives one row of nulls if there is no entry.
    return tuple(entry_of_line(plan_id, *row) for row in rows if row[0] is not None)


def is_changed(db: Connection, plan_id: str, revision: int) -> Steps[bool]:
    """Return whether the plan is at another revision. A plan that was never written is at 0."""
    query: LiteralString = "select revision from todoplan_plan where id = %s"
    rows = yield from rows_of(db, query, (name_in_row(plan_id),))
    return revision != (rows[0][0] if rows else 0)


def plan_ids(db: Connection) -> Steps[tuple[str, ...]]:
    """Return the ids of all written plans, in byte order."""
    rows = yield from rows_of(db, _PLAN_IDS)
    return tuple(text_of_name(row[0]) for row in rows)


# -------- writing --------
# The writing statements, for both stores. They write to a locked plan.
#
# A plan is locked by locking its row, in a statement of its own under READ COMMITTED. A statement
# sees the data as of its start, and the locking statement starts before it waits. So everything is
# read by later statements.


_LONGEST_HOLD = "60s"
"""
The server ends a transaction that is idle for so long, because its process was probably stopped or
disconnected. Running a command takes milliseconds.
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


def begin(patience: float) -> bytes:
    """Return the statements that begin a transaction with a lock timeout of `patience` seconds."""
    # The limits are set for this transaction only, and sent together with `begin`. Session settings
    # would need another round trip, and with a connection pooler they would apply to other clients.
    return (
        "begin isolation level read committed;"
        f"set local lock_timeout = '{max(1, round(patience * 1000))}ms';"
        f"set local idle_in_transaction_session_timeout = '{_LONGEST_HOLD}'"
    ).encode()


# -------- holding --------
# A locked plan, and the stores.


def _carried_out(
    steps: Callable[Concatenate["PostgresHold", P], Steps[T]],
) -> Callable[Concatenate["PostgresHold", P], Any]:
    """Return a method that carries out steps on a locked plan."""

    def checked(self: "PostgresHold", /, *args: P.args, **kwargs: P.kwargs) -> Steps[T]:
        self._check()
        try:
            return (yield from steps(self, *args, **kwargs))
        except psycopg.Error as error:
            if is_passing(error):
                raise self._lost() from error
            doing = f"go on with the plan {self._plan_id!r}: nothing was appended"
            raise failure(error, self._store.address, doing) from error

    @wraps(steps)
    def method(self: "PostgresHold", /, *args: P.args, **kwargs: P.kwargs) -> Any:
        return self._store.carry_out(checked(self, *args, **kwargs))

    return method


class PostgresHold(Hold):
    """
    A plan that nobody else can change until the `with` ends: see `todoplan.stores.base.Held`.

    In an `AsyncPostgresStore`, the methods return awaitables, and only the task that locked the
    plan may call them.
    """

    def __init__(self, store: "_Postgres", plan_id: str) -> None:
        super().__init__(plan_id)
        self._store, self._name = store, name_in_row(plan_id)
        self._turn, self._turns = store.turns.of(plan_id), list[bool]()
        self._lent = Lent(store.connections)
        # `_before` is the revision at the lock. `_since` and `_size` are bytes: of the entries
        # since the last snapshot, and of that snapshot.
        self._before = self._since = self._size = 0
        self._has_written = self._is_locked = False
        self._key: Key | None = None
        self._clock: tuple[datetime, float] | None = None  # the server's time, and ours

    @_carried_out
    def now(self) -> Steps[datetime]:
        """Return the time of the server's clock, in UTC."""
        # The time when the plan was read, plus the time elapsed since.
        if self._clock is None:
            rows = yield from rows_of(self._lent.db, "select clock_timestamp()")
            self._clock = rows[0][0].astimezone(UTC), time.monotonic()
        theirs, ours = self._clock
        return theirs + timedelta(seconds=time.monotonic() - ours)

    @_carried_out
    def entries_since(self, revision: int) -> Steps[tuple[Entry, ...]]:
        """
        Return the entries after a revision.

        Raises:
            StoreError: the plan has not reached that revision ("rolled_back").
        """
        entries, clock = yield from tail_read(self._lent.db, self._plan_id, revision)
        self._clock = (clock, time.monotonic()) if clock else None
        return entries

    @_carried_out
    def receipt(self, key: Key) -> Steps[Receipt | None]:
        """
        Return the result of the append that had this key.

        Raises:
            StoreError: the key was used with another payload ("key_reused").
        """
        return (yield from self._receipt(self._lent.db, key))

    @_carried_out
    def append(
        self,
        expected: int,
        entries: Sequence[Entry],
        plan: Plan,
        *,
        key: Key | None = None,
        answer: str = "",
    ) -> Steps[tuple[Entry, ...]]:
        """
        Add entries, or return the entries of the earlier append with the same key.

        They are committed at the end of the `with` block.

        Raises:
            StoreError: the plan is at another revision ("overtaken"), the key was used with another
                payload ("key_reused"), or an entry is too large.
            CodecError: an entry contains a value that JSON cannot represent.
        """
        db = self._lent.db
        if key is not None and (known := (yield from self._receipt(db, key))) is not None:
            return known.entries
        if expected != self.revision:
            raise overtaken(self._plan_id, expected, self.revision)
        added = tuple(entries)
        lines = [line_of_entry(self._plan_id, entry) for entry in added]
        since = self._since + sum(len(line.encode()) for line in lines)
        values = {
            "plan": self._name,
            "version": VERSION,
            "revisions": [entry.revision for entry in added],
            "lines": lines,
            "keys": [name_in_row(key.name)] if key else [],
            # A payload or an answer may contain any character, but PostgreSQL's texts cannot
            # contain NUL.
            "payload": stored_name(key.payload if key else ""),
            "answer": stored_name(answer),
            "before": self.revision,
            "after": plan.revision,
            "since": since,
            "announced": self._store.notify,
            "channel": CHANNEL,
            "news": f"{self._name}:{plan.revision}",
        }
        yield db.execute(ADD, values)
        self._since = since
        if is_snapshot_due(since, self._size):
            yield from self._write_snapshot(db, plan)
        self.revision, self._has_written, self._key = plan.revision, True, key or self._key
        return added

    @_carried_out
    def compact(self, keep: int | timedelta) -> Steps[int]:
        """Cut the plan's journal, as `PostgresStore.compact` does."""
        db = self._lent.db
        journal, clock = yield from tail_read(db, self._plan_id, ALL)
        cut = cut_off(journal, keep, clock or datetime.now(UTC))
        if cut is None:
            return 0
        removed, first, plan = cut
        values = {
            "plan": self._name,
            "revision": first.revision,
            "version": VERSION,
            "line": line_of_entry(self._plan_id, first),
        }
        yield db.execute(_CUT, values)
        yield from self._write_snapshot(db, plan)
        self._has_written = True
        return removed

    def begin(self) -> None:
        """Lock the plan."""
        called(self.lock())

    def keep(self) -> None:
        """Commit the appended entries."""
        called(self.commit())

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if isinstance(error, Exception):
                called(self.roll_back())
        finally:
            super().__exit__(kind, error, trace)

    # Steps for both stores.

    def lock(self) -> Steps[None]:
        """Lock the plan."""
        store = self._store
        yield self._turn.take(self._turns, store.patience)
        doing = f"hold the plan {self._plan_id!r}"
        yield from store.connections.lend(self._lent, self._locked, doing)
        self._before, self._is_locked = self.revision, True

    def commit(self) -> Steps[None]:
        """
        Commit the appended entries. If the response is lost, find out if the commit succeeded.

        Raises:
            StoreError: an earlier statement failed, and the whole transaction with it ("broken");
                the server refused the commit; or the connection was lost: nothing was appended
                ("lost"), or it is unknown whether something was ("unknown").
        """
        self._check()
        db = self._lent.db
        # After a failed statement, PostgreSQL answers COMMIT with ROLLBACK, which is not an error:
        # entries that an earlier append returned would be lost silently.
        if self._has_written and db.info.transaction_status is not TransactionStatus.INTRANS:
            msg = (
                f"nothing was appended to the plan {self._plan_id!r}: a statement failed within "
                "the `with` block, so PostgreSQL rolled back all of them; let that error pass, and "
                "try again"
            )
            raise StoreError(msg, plan_id=self._plan_id, problem="broken")
        try:
            yield db.execute("commit" if self._has_written else "rollback")
        except psycopg.Error as error:
            self._is_locked = False
            self._lent.drop()
            self._lent.give_back()
            if not self._has_written:
                return
            if error.sqlstate and not is_passing(error):
                doing = f"commit to the plan {self._plan_id!r}"
                raise failure(error, self._store.address, doing) from error
            if not (yield from self._was_committed(error)):
                raise self._lost() from error
        self._is_locked = False

    def roll_back(self) -> Steps[None]:
        """
        Roll back after an exception, so that the connection can be used again.

        After an interrupt or a cancellation, the connection is closed without a rollback statement.
        """
        if self._is_here:
            with suppress(psycopg.Error):
                yield self._lent.db.execute("rollback")

    def release(self) -> None:
        """Release the connection and the lock. What is not committed is rolled back."""
        self._is_locked = False
        try:
            self._lent.give_back()
        finally:
            self._turn.give_back(self._turns)

    @property
    def _is_here(self) -> bool:
        """Whether this process still has the plan locked. It is false in a forked child."""
        return self._is_locked and self._lent.is_here

    def _check(self) -> None:
        if not self._is_here:
            raise not_held(self._plan_id)

    def _lost(self) -> StoreError:
        address = self._store.address
        msg = (
            f"the connection to {address} was lost before the commit: nothing was appended to the "
            f"plan {self._plan_id!r}; try again"
        )
        return StoreError(msg, plan_id=self._plan_id, problem="lost", store=str(address))

    def _locked(self, db: Connection) -> Steps[None]:
        """
        Begin a transaction and lock the plan's row.

        A plan that was never written gets a row, which is rolled back if nothing is appended.
        """
        yield db.execute(begin(self._store.patience))
        rows = yield from rows_of(db, LOCK, (self._name,))
        if not rows:
            yield db.execute(_NEW, (self._name, FORMAT))
            rows = yield from rows_of(db, LOCK, (self._name,))
        self.revision, version, self._since, self._size = rows[0]
        checked_format(self._plan_id, version)

    def _receipt(self, db: Connection, key: Key) -> Steps[Receipt | None]:
        rows = yield from rows_of(db, _RECEIPT, (self._name, name_in_row(key.name)))
        if not rows:
            return None
        payload, answer = map(text_of_name, rows[0][:2])
        check_payload(self._plan_id, key, payload)
        return Receipt(_entries(self._plan_id, [row[2:] for row in rows]), answer)

    def _write_snapshot(self, db: Connection, plan: Plan) -> Steps[None]:
        document = dump_plan(plan, check=True)
        self._since, self._size = 0, len(document.encode())
        # A larger snapshot could not be read again. Without one, the journal is replayed.
        if self._size <= LIMIT:
            values = {
                "plan": self._name,
                "revision": plan.revision,
                "version": VERSION,
                "document": document,
                "size": self._size,
            }
            yield db.execute(_SNAPSHOT, values)

    def _was_committed(self, error: psycopg.Error) -> Steps[bool]:
        """Return whether the commit succeeded, after its response was lost."""
        doing, key = (
            f"find out if the append to the plan {self._plan_id!r} was committed",
            self._key,
        )

        def is_kept(db: Connection) -> Steps[bool]:
            # The lost transaction had locked the plan. So once the plan can be locked again, that
            # transaction has been committed or rolled back.
            yield from self._locked(db)
            return key is not None and (yield from self._receipt(db, key)) is not None

        with suppress(StoreError, psycopg.Error):
            if key is not None:
                was = yield from self._store.connections.lend(self._lent, is_kept, doing)
                yield self._lent.db.execute("rollback")
                return was
        store = str(self._store.address)
        msg = (
            f"the connection to {store} was lost during the commit: the entries appended to the "
            f"plan {self._plan_id!r} after revision {self._before} may or may not be saved. Check "
            "with entries_since before you try again; an append with a key does this by itself"
        )
        data = {"plan_id": self._plan_id, "store": store, "revision": self._before}
        raise StoreError(msg, problem="unknown", **data) from error


class _Postgres:
    """What both stores share."""

    _pool: type[Pool]
    _turn: type[Turn]
    carry_out: Callable[[Steps[Any]], Any]

    def __init__(
        self, dsn: str, *, patience: float = 10.0, most_connections: int = 4, notify: bool = True
    ) -> None:
        self.address: Address = checked_address(dsn)
        self.connections = self._pool(self.address, most_connections, patience)
        self.turns = Turns(self.address, self._turn)
        self.patience = patience
        self.notify = notify
        self._listener = Listener(self.address, notify=notify)

    def _read(self, act: Callable[[Connection], Steps[T]], doing: str) -> Steps[T]:
        lent = Lent(self.connections)
        try:
            return (yield from self.connections.lend(lent, act, doing))
        finally:
            try:
                lent.give_back()
            finally:
                lent.give_back()

    def _changed(
        self,
        plan_id: str,
        revision: int,
        timeout: float,
        changed: Event | asyncio.Event,
        pause: Callable[[float], Any],
    ) -> Steps[bool]:
        end, doing = time.monotonic() + timeout, f"look for changes of the plan {plan_id!r}"
        while True:
            changed.clear()  # before the query, so that no later change is missed
            if (yield from self._read(lambda db: is_changed(db, plan_id, revision), doing)):
                return True
            left = end - time.monotonic()
            if left <= 0:
                return False
            yield pause(min(left, self._listener.pause))


class PostgresStore(_Postgres):
    """
    A `HoldingStore` in a PostgreSQL database, for any number of machines.

    Example: `PostgresStore("postgresql://planner@db.example/plans")`. A call waits at most
    `patience` seconds for a plan, for a connection, or for a server that restarts. A store uses at
    most `most_connections` at a time. Notifications of commits are expensive on a server with many
    writers. With `notify=False` there are none, and watchers poll instead.
    """

    _pool, _turn = Pool, Turn
    carry_out = staticmethod(called)

    def close(self) -> None:
        """Close the connections that are not in use. A later call opens new ones."""
        self._listener.close()
        self.connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def load(self, plan_id: str) -> Plan:
        """
        Return the plan as its last entry left it.

        Raises:
            StoreError: the database cannot be reached, or refuses a statement; `data["problem"]`
                says why.
            CodecError: a row is damaged, or of a newer version.
        """
        return called(self._read(lambda db: loaded(db, plan_id), f"load the plan {plan_id!r}"))

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
        return called(self._read(lambda db: tail_read(db, plan_id, revision), doing))[0]

    def plan_ids(self) -> tuple[str, ...]:
        """
        Return the ids of all written plans, in byte order.

        Raises:
            StoreError: the same errors as `load`.
        """
        return called(self._read(plan_ids, "list its plans"))

    def wait_for_change(self, plan_id: str, revision: int, timeout: float) -> bool:
        """
        Wait at most `timeout` seconds until the plan's revision differs from `revision`; return
        whether it does.

        Raises:
            StoreError: the same errors as `load`.
        """
        changed = Event()
        with self._listener.waking(name_in_row(plan_id), changed.set):
            return called(self._changed(plan_id, revision, timeout, changed, changed.wait))

    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Add entries if the plan is at revision `expected`; return whether they were added.

        Raises:
            TodoplanError: the same errors as `hold`.
        """
        return self.hold(plan_id).append_if_at(expected, entries, plan)

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
        removed: int = PostgresHold(self, plan_id).done(lambda held: held.compact(keep))
        return removed

    def hold(self, plan_id: str) -> Hold:
        """
        Wait until the plan is free, and lock it for the duration of a `with` block.

        Raises:
            StoreError: the same errors as `load`. Also, somebody else holds the lock for too long
                ("busy"), or this thread already holds it ("nested"). Or the connection was lost:
                nothing was appended ("lost"), or it is unknown whether something was ("unknown").
        """
        return PostgresHold(self, plan_id)


class AsyncPostgresStore(_Postgres):
    """
    A `PostgresStore` whose methods are awaited. The arguments and guarantees are the same.

    Use it in many tasks of one event loop, or in one event loop after another.
    """

    _pool, _turn = AsyncPool, TaskTurn
    carry_out = staticmethod(awaited)

    async def close(self) -> None:
        """Close the connections that are not in use. A later call opens new ones."""
        await asyncio.to_thread(self._listener.close)
        self.connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def load(self, plan_id: str) -> Plan:
        """
        Return the plan as its last entry left it.

        Raises:
            TodoplanError: the same errors as `PostgresStore.load`.
        """
        doing = f"load the plan {plan_id!r}"
        return await awaited(self._read(lambda db: loaded(db, plan_id), doing))

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
        steps = self._read(lambda db: tail_read(db, plan_id, revision), doing)
        return (await awaited(steps))[0]

    async def plan_ids(self) -> tuple[str, ...]:
        """
        Return the ids of all written plans, in byte order.

        Raises:
            StoreError: the same errors as `load`.
        """
        return await awaited(self._read(plan_ids, "list its plans"))

    async def wait_for_change(self, plan_id: str, revision: int, timeout: float) -> bool:  # noqa: ASYNC109 - as in `PostgresStore`
        """
        Wait at most `timeout` seconds until the plan's revision differs from `revision`; return
        whether it does.

        Raises:
            StoreError: the same errors as `load`.
        """
        changed, loop = asyncio.Event(), asyncio.get_running_loop()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop has ended, so nobody waits any more
                loop.call_soon_threadsafe(changed.set)

        async def pause(seconds: float) -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await changed.wait()

        with self._listener.waking(name_in_row(plan_id), wake):
            return await awaited(self._changed(plan_id, revision, timeout, changed, pause))

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
            removed: int = await held.compact(keep)
        return removed

    @asynccontextmanager
    async def hold(self, plan_id: str) -> AsyncIterator[PostgresHold]:
        """
        Wait until the plan is free, and lock it for the duration of an `async with` block.

        Raises:
            StoreError: the same errors as `PostgresStore.hold`.
        """
        held = PostgresHold(self, plan_id)
        try:
            await awaited(held.lock())
            yield held
            await awaited(held.commit())
        except Exception:
            await awaited(held.roll_back())
            raise
        finally:
            held.release()
