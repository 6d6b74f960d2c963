"""The SQL statements, the locked plan, and both stores."""

import asyncio
import operator
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import wraps
from threading import Event
from typing import Any, Concatenate, ParamSpec, Self, TypeVar
from weakref import WeakSet

import psycopg
from psycopg.pq import TransactionStatus

from todoplan.codec.documents import VERSION, dump_plan
from todoplan.codec.engine import LIMIT
from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores import rows as queries
from todoplan.stores.base import ALL, Hold, Key, Receipt, cut_off, not_held, overtaken
from todoplan.stores.postgres.connections import (
    CHANNEL,
    OF_PARENTS,
    AsyncPool,
    Connection,
    Lent,
    Listener,
    Pool,
    called,
    checked_address,
    failure,
    is_passing,
)
from todoplan.stores.rows import Row, RowStore, line_of_entry, stored_name, text_of_name

T = TypeVar("T")
P = ParamSpec("P")

# -------- writing --------
# The statements, for both stores. They write to a locked plan.
#
# A plan is locked by locking its row, in a statement of its own under READ COMMITTED. A statement
# sees the data as of its start, and the locking statement starts before it waits. So everything is
# read by later statements.


# The server's time in microseconds: a number, which no setting of the server makes less exact.
_CLOCK = "(extract(epoch from clock_timestamp()) * 1000000)::bigint"


def _ours(query: str) -> bytes:
    return query.format(format="format", clock=f", {_CLOCK}").encode()


_LOADED, TAIL, _RECEIPT = map(_ours, (queries.LOADED, queries.TAIL, queries.RECEIPT))
_PLAN_IDS = b'select id from todoplan_plan where revision > 0 order by id collate "C"'
_REVISION = b"select revision from todoplan_plan where id = %s"

LONGEST = 1_000
"""The maximum size of a plan's id or a key in bytes of UTF-8. An index entry contains both."""

_LONGEST_HOLD = "60s"
"""
The server ends a transaction that is idle for so long, because its process was probably stopped or
disconnected. Running a command takes milliseconds.
"""

LOCK = b"""
select revision, format, since, size from todoplan_plan where id = %s for update
"""
_NEW = b"""
insert into todoplan_plan (id, revision, format) values (%s, 0, %s) on conflict do nothing
"""
ADD = b"""
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
_SNAPSHOT = f"""
with snapshot as ({queries.SNAPSHOT}) update todoplan_plan set since = 0, size = %s where id = %s
""".encode()  # noqa: S608 - our own
_CUT = b"""
with entry as (
    delete from todoplan_entry where plan_id = %(plan)s and revision < %(revision)s
), receipt as (
    delete from todoplan_receipt where plan_id = %(plan)s and before < %(revision)s
)
update todoplan_entry set version = %(version)s, line = %(line)s
where plan_id = %(plan)s and revision = %(revision)s
"""


def name_in_row(name: object) -> str:
    """
    Return a plan id or key name as it is stored in the tables.

    Raises:
        PlanError: the name is not a string.
        StoreError: the name is too long for an index.
    """
    stored = stored_name(name)
    if len(stored) * 4 > LONGEST and (size := len(stored.encode())) > LONGEST:
        msg = (
            f"the name {str(name)[:50]!r}... has {size} bytes, and PostgreSQL's indexes take "
            f"{LONGEST}; use a shorter one, such as a hash of it"
        )
        raise StoreError(msg, problem="too_large", seen=name)
    return stored


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
    steps: Callable[Concatenate["PostgresHold", P], Coroutine[Any, Any, object]],
) -> Any:
    """
    Return a method of a locked plan. It calls the asynchronous function `steps`, and returns the
    result in a `PostgresStore`, and an awaitable in an `AsyncPostgresStore`.
    """

    @wraps(steps)
    def method(self: "PostgresHold", /, *args: P.args, **kwargs: P.kwargs) -> Any:
        return self._store.carry_out(steps, self, *args, **kwargs)

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
        self._turn, self._turns = store.connections.turn(plan_id), list[bool]()
        self._lent = Lent(store.connections)
        # `_before` is the revision at the lock. `_since` and `_size` are bytes: of the entries
        # since the last snapshot, and of that snapshot.
        self._before = self._since = self._size = 0
        self._has_written = self._is_locked = False
        self._key: Key | None = None
        self._ahead: float | None = None  # seconds from our `time.monotonic` to the server's time

    async def _rows(self, query: bytes, values: Any = None) -> list[Row]:
        self._check_held()
        try:
            return await self._lent.db.rows(query, values)
        except psycopg.Error as error:
            if is_passing(error):
                raise self._lost() from error
            doing = f"go on with the plan {self._plan_id!r}: nothing was appended"
            raise failure(error, self._store.address, doing) from error

    # A private method is awaited by other methods. The public one of the same name is for callers.

    async def _now(self) -> datetime:
        """Return the time of the server's clock, in UTC."""
        self._check_held()
        ahead = self._ahead
        if ahead is None:
            ((theirs,),) = await self._rows(f"select {_CLOCK}".encode())
            ahead = self._ahead = theirs / 1e6 - time.monotonic()
        return datetime.fromtimestamp(ahead + time.monotonic(), UTC)

    now: Any = _carried_out(_now)

    async def _entries_since(self, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries after a revision.

        Raises:
            StoreError: the plan has not reached that revision ("rolled_back").
        """
        rows = await self._rows(TAIL, (revision, self._name))
        self._ahead = rows[0][-1] / 1e6 - time.monotonic()
        return queries.tail_of_rows(self._plan_id, revision, rows)

    entries_since: Any = _carried_out(_entries_since)

    async def _receipt(self, key: Key) -> Receipt | None:
        """
        Return the result of the append that had this key, or `None` if there was none.

        Raises:
            StoreError: the key was used with another payload ("key_reused").
        """
        rows = await self._rows(_RECEIPT, (self._name, name_in_row(key.name)))
        texts = [(*row[:3], *map(text_of_name, row[3:])) for row in rows]
        receipt = queries.receipt_of_rows(self._plan_id, key, texts)
        if receipt is None:
            self._unused_keys.add(key.name)
        return receipt

    receipt: Any = _carried_out(_receipt)

    @_carried_out
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
        Add entries and return them, or return the entries of the earlier append with this key.

        `plan` is the plan after these entries. `answer` is stored with the key, for `receipt`.

        The entries are committed at the end of the `with` block.

        Raises:
            StoreError: the plan is at another revision ("overtaken"), the key was used with another
                payload ("key_reused"), or an entry is too large.
            CodecError: an entry contains a value that JSON cannot represent.
        """
        self._check_held()
        if (
            key is not None
            and key.name not in self._unused_keys
            and (known := await self._receipt(key))
        ):
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
        await self._rows(ADD, values)
        self._since = since
        if queries.is_snapshot_due(since, self._size):
            await self._write_snapshot(plan)
        self.revision, self._has_written = plan.revision, True
        if key is not None:
            self._key = key
            self._unused_keys.discard(key.name)
        return added

    @_carried_out
    async def compact(self, keep: int | timedelta) -> int:
        """Cut the plan's journal and return the number of removed entries: see `RowStore`."""
        cut = cut_off(await self._entries_since(ALL), keep, await self._now())
        if cut is None:
            return 0
        removed, first, plan = cut
        values = {
            "plan": self._name,
            "revision": first.revision,
            "version": VERSION,
            "line": line_of_entry(self._plan_id, first),
        }
        await self._rows(_CUT, values)
        await self._write_snapshot(plan)
        self._has_written = True
        return removed

    def begin(self) -> None:
        """Lock the plan."""
        called(self.lock)

    def keep(self) -> None:
        """Commit the appended entries."""
        called(self.commit)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if isinstance(error, Exception):
                called(self.roll_back)
        finally:
            super().__exit__(kind, error, trace)

    # For both stores.

    async def lock(self) -> None:
        """Lock the plan."""
        store, doing = self._store, f"hold the plan {self._plan_id!r}"
        await self._turn.take(self._turns, store.patience)
        await store.connections.lend(self._lent, self._locked, doing)
        self._before, self._is_locked = self.revision, True

    async def commit(self) -> None:
        """
        Commit the appended entries. If the response is lost, find out if the commit succeeded.

        Raises:
            StoreError: an earlier statement failed, and the whole transaction with it ("broken");
                the server refused the commit; or the connection was lost: nothing was appended
                ("lost"), or it is unknown whether something was ("unknown").
        """
        self._check_held()
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
            await db.rows(b"commit" if self._has_written else b"rollback")
        except psycopg.Error as error:
            self._is_locked = False
            self._lent.drop()
            self._lent.give_back()
            if not self._has_written:
                return
            if error.sqlstate and not is_passing(error):
                doing = f"commit to the plan {self._plan_id!r}"
                raise failure(error, self._store.address, doing) from error
            if not await self._was_committed(error):
                raise self._lost() from error
        self._is_locked = False

    async def roll_back(self) -> None:
        """
        Roll back after an exception, so that the connection can be used again.

        After an interrupt or a cancellation, the connection is closed without a rollback statement.
        """
        with suppress(psycopg.Error, StoreError):
            self._check_held()
            await self._lent.db.rows(b"rollback")

    def release(self) -> None:
        """Release the connection and the lock. What is not committed is rolled back."""
        self._is_locked = False
        try:
            self._lent.give_back()
        finally:
            self._turn.give_back(self._turns)

    def _check_held(self) -> None:
        """Raise an error if the plan is not locked any more, or by the parent of this process."""
        if not (self._is_locked and self._lent.is_here):
            raise not_held(self._plan_id)

    def _lost(self) -> StoreError:
        address = self._store.address
        msg = (
            f"the connection to {address} was lost before the commit: nothing was appended to the "
            f"plan {self._plan_id!r}; try again"
        )
        return StoreError(msg, plan_id=self._plan_id, problem="lost", store=str(address))

    async def _locked(self, db: Connection) -> None:
        """
        Begin a transaction and lock the plan's row.

        A plan that was never written gets a row, which is rolled back if nothing is appended.
        """
        await db.rows(begin(self._store.patience))
        rows = await db.rows(LOCK, (self._name,))
        if not rows:
            await db.rows(_NEW, (self._name, queries.FORMAT))
            rows = await db.rows(LOCK, (self._name,))
        self.revision, version, self._since, self._size = rows[0]
        queries.checked_format(self._plan_id, version)

    async def _write_snapshot(self, plan: Plan) -> None:
        document = dump_plan(plan, check=True)
        self._since, self._size = 0, len(document.encode())
        # A larger snapshot could not be read again. Without one, the journal is replayed.
        if self._size <= LIMIT:
            row = self._name, plan.revision, VERSION, document
            await self._rows(_SNAPSHOT, (*row, self._size, self._name))

    async def _was_committed(self, error: psycopg.Error) -> bool:
        """
        Return whether the commit succeeded, after its response was lost.

        Raises:
            StoreError: this cannot be found out ("unknown"). Its cause is `error`.
        """
        doing = f"find out if the append to the plan {self._plan_id!r} was committed"
        if key := self._key:

            async def is_kept(db: Connection) -> bool:
                # The lost transaction had locked the plan. So once the plan can be locked again,
                # that transaction has been committed or rolled back.
                await self._locked(db)
                return bool(await db.rows(_RECEIPT, (self._name, name_in_row(key.name))))

            with suppress(StoreError, psycopg.Error):
                was = await self._store.connections.lend(self._lent, is_kept, doing)
                await self._lent.db.rows(b"rollback")
                return was
        store = str(self._store.address)
        msg = (
            f"the connection to {store} was lost during the commit: the entries appended to the "
            f"plan {self._plan_id!r} after revision {self._before} may or may not be saved. Check "
            "with entries_since before you try again; an append with a key does this by itself"
        )
        data = {"plan_id": self._plan_id, "store": store, "revision": self._before}
        raise StoreError(msg, problem="unknown", **data) from error


_stores: "WeakSet[_Postgres]" = WeakSet()


def _begin_anew() -> None:
    # Another thread of the parent may have had a lock at the time of the fork: in the child, the
    # lock would stay locked forever.
    for store in _stores:
        OF_PARENTS.append(store.connections)
        store.begin_anew()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_begin_anew)


class _Postgres:
    """The base class of both PostgreSQL stores."""

    _loaded, _tail, _plan_ids = _LOADED, TAIL, _PLAN_IDS
    _name = staticmethod(name_in_row)
    _pool: type[Pool]
    # Calls an asynchronous function with arguments, and returns its result or an awaitable.
    carry_out: Callable[..., Any]

    def __init__(
        self, dsn: str, *, patience: float = 10.0, most_connections: int = 4, notify: bool = True
    ) -> None:
        self.address = checked_address(dsn)
        self.patience = patience
        self.notify = notify
        self._most = most_connections
        self.begin_anew()
        _stores.add(self)

    def begin_anew(self) -> None:
        """Begin without connections, locks and waiters: in a new store, or in a forked child."""
        self.connections = self._pool(self.address, self._most, self.patience)
        self._listener = Listener(self.address, notify=self.notify)

    async def _read(
        self, query: bytes, values: Row, read: Callable[[list[Row]], T], doing: str
    ) -> T:
        async def act(db: Connection) -> T:
            return read(await db.rows(query, values))

        lent = Lent(self.connections)
        try:
            return await self.connections.lend(lent, act, doing)
        finally:
            try:
                lent.give_back()
            finally:
                lent.give_back()

    def _ask(self, *arguments: Any) -> Any:
        return self.carry_out(self._read, *arguments)

    async def _changed(
        self,
        plan_id: str,
        revision: int,
        seconds: float,
        changed: Event | asyncio.Event,
        pause: Callable[[float], Awaitable[object]],
    ) -> bool:
        values, end = (name_in_row(plan_id),), time.monotonic() + seconds

        def is_changed(rows: list[Row]) -> bool:
            return revision != (rows[0][0] if rows else 0)

        doing = f"look for changes of the plan {plan_id!r}"
        while True:
            changed.clear()  # before the query, so that no later change is missed
            if await self._read(_REVISION, values, is_changed, doing):
                return True
            left = end - time.monotonic()
            if left <= 0:
                return False
            await pause(min(left, self._listener.pause))


def _awaited(
    method: Callable[Concatenate[Any, P], T],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return a method of `RowStore` for a store whose `_ask` is awaited."""

    @wraps(method)
    async def awaited(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        result: Any = method(self, *args, **kwargs)
        return await result  # type: ignore[no-any-return]  # what the awaited `_ask` returns

    return awaited


class PostgresStore(_Postgres, RowStore):
    """
    A `HoldingStore` in a PostgreSQL database, for any number of machines.

    Example: `PostgresStore("postgresql://planner@db.example/plans")`. A call waits at most
    `patience` seconds for a plan, for a connection, or for a server that restarts. A store uses at
    most `most_connections` at a time. Notifications of commits are expensive on a server with many
    writers. With `notify=False`, the store sends none, and callers that wait for a change query the
    database repeatedly.
    """

    _pool = Pool
    carry_out = staticmethod(called)

    def close(self) -> None:
        """Close the connections that are not in use. A later call opens new ones."""
        self._listener.close()
        self.connections.close()

    def wait_for_change(self, plan_id: str, revision: int, timeout: float) -> bool:
        """
        Wait at most `timeout` seconds until the plan's revision differs from `revision`; return
        whether it does.

        Raises:
            StoreError: the same errors as `load`.
        """
        changed = Event()

        async def pause(seconds: float) -> None:
            changed.wait(seconds)

        with self._listener.waking(name_in_row(plan_id), changed.set):
            return called(self._changed, plan_id, revision, timeout, changed, pause)

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

    _pool = AsyncPool
    carry_out: Callable[..., Any] = operator.call

    async def close(self) -> None:
        """Close the connections that are not in use. A later call opens new ones."""
        await asyncio.to_thread(self._listener.close)
        self.connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    load = _awaited(RowStore.load)
    entries = _awaited(RowStore.entries)
    entries_since = _awaited(RowStore.entries_since)
    plan_ids = _awaited(RowStore.plan_ids)

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
            return await self._changed(plan_id, revision, timeout, changed, pause)

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
        Cut a plan's journal and return the number of removed entries: see `PostgresStore.compact`.

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
            await held.lock()
            yield held
            await held.commit()
        except Exception:
            await held.roll_back()
            raise
        finally:
            held.release()
