"""
A pool of connections to one database. Each connection is lent to one user at a time.

`psycopg_pool` was tried and rejected for three reasons. It only logs why a connection cannot be
made (a wrong password), while the caller waits until the timeout. It runs threads, which a forked
child does not have. And if a thread is interrupted while it waits for a connection (Ctrl-C), its
place in the queue stays, and the connection that is assigned to this place is lost for good.

- A connection that is returned in the middle of a transaction is closed and not lent again. The
  server rolls back the transaction.
- The first steps on a connection write nothing. If they fail because the server is not reachable,
  as during a restart, they are retried on a new connection until `patience` is over.
- A forked child starts with an empty pool, and neither uses nor closes its parent's connections.
"""

import asyncio
import os
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import repeat, starmap
from queue import Empty, SimpleQueue
from random import uniform
from threading import Event, Lock, Thread
from typing import Any, Self, TypeVar
from weakref import WeakValueDictionary, finalize

import attrs
import psycopg
from psycopg import Error, ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus

from todoplan.errors import StoreError
from todoplan.stores.locks import Turn, moved
from todoplan.stores.rows import COLUMNS, Row

# -------- address --------
# The address of a database: it is validated, gets time limits, and is shown without its password.


# Without these settings, a client whose network was cut waits for 15 minutes, and a server keeps
# the plan of a disconnected client locked for two hours. The values are in seconds, except
# `tcp_user_timeout`, which is in milliseconds.
_WATCHFUL = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "application_name": "todoplan",
}
# Names and notifications may have any character, whatever the server, the role, the address or the
# environment say.
_UNICODE = {"client_encoding": "UTF8"}


@attrs.frozen
class Address:
    """The address of a database. `conninfo` is for libpq; `shown`, for people, has no password."""

    conninfo: str = attrs.field(repr=False)
    shown: str

    def __str__(self) -> str:
        return self.shown


def checked_address(dsn: object) -> Address:
    """
    Return the address in a text: a URL, or libpq's "host=... dbname=...".

    Raises:
        StoreError: the text is neither of them.
    """
    example = "give a URL such as postgresql://user@host/database"
    if not isinstance(dsn, str):
        # Only the type is shown: a dict of the parts would contain the password.
        msg = f"a {type(dsn).__name__} is no address of a database; {example}"
        raise StoreError(msg, problem="address")
    try:
        parts: dict[str, Any] = conninfo_to_dict(dsn)
        conninfo = make_conninfo(**{**_WATCHFUL, **parts, **_UNICODE})
    except (ProgrammingError, UnicodeEncodeError):
        # Neither the text nor libpq's message, which quotes it, is shown: it may have a password.
        msg = f"this text of {len(dsn)} characters is no address of a database; {example}"
        raise StoreError(msg, problem="address") from None
    user = f"{parts['user']}@" if "user" in parts else ""
    port = f":{parts['port']}" if "port" in parts else ""
    host = parts.get("host", parts.get("hostaddr", ""))
    return Address(conninfo, f"postgresql://{user}{host}{port}/{parts.get('dbname', '')}")


# -------- schema --------
# The tables, and how statements are executed: by asynchronous functions, which both stores share.
#
# The row of a plan states the format of all the plan's rows. An older todoplan refuses a plan of a
# newer format. So an old and a new todoplan can run side by side, while plans are migrated one by
# one.


T = TypeVar("T")


class CalledConnection(psycopg.Connection[Row]):
    """A connection of a `PostgresStore`. Its asynchronous methods never suspend."""

    @classmethod
    async def opened(cls, conninfo: str) -> Self:
        """Open a connection."""
        return cls.connect(conninfo, autocommit=True)

    async def rows(self, query: bytes, values: Any = None) -> list[Row]:
        """
        Execute a query, and return its rows. Without `values`, it may have several statements.
        """
        cursor = self.execute(query, values)
        return cursor.fetchall() if cursor.description else []


class AwaitedConnection(psycopg.AsyncConnection[Row]):
    """A connection of an `AsyncPostgresStore`."""

    @classmethod
    async def opened(cls, conninfo: str) -> Self:
        """Open a connection."""
        return await cls.connect(conninfo, autocommit=True)

    async def rows(self, query: bytes, values: Any = None) -> list[Row]:
        """
        Execute a query, and return its rows. Without `values`, it may have several statements.
        """
        cursor = await self.execute(query, values)
        return await cursor.fetchall() if cursor.description else []


Connection = CalledConnection | AwaitedConnection


def called(function: Callable[..., Coroutine[Any, Any, T]], *args: Any, **kwargs: Any) -> T:
    """
    Call an asynchronous function for a `PostgresStore`, and return its result.

    The function must not wait for an event loop. With a `Pool`, whose connections are
    `CalledConnection`s, it never suspends, so it is done at the first `send`.
    """
    # The C call that makes the coroutine also stores it. Otherwise an interrupt (Ctrl-C) could lose
    # it before it is started, and Python would print a warning.
    made: list[Coroutine[Any, Any, T]] = []
    try:
        made.extend(starmap(partial(function, **kwargs), (args,)))
        while True:
            made[0].send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # a coroutine's value is Any
    finally:
        for coroutine in made:
            coroutine.close()


CHANNEL = "todoplan"
"""The channel for notifications of commits, as "<plan's id>:<revision>". All schemas share it."""

# `since` and `size` are bytes: of the entries since the last snapshot, and of this snapshot.
TABLES = {
    "plan": """
        id text primary key,
        revision bigint not null,
        format integer not null,
        since bigint not null default 0,
        size bigint not null default 0
    """,
    **COLUMNS,
}

# `if not exists` is not race-free: of 80 concurrent set-ups 75 failed without the advisory lock,
# whose number is ours, and none with it.
_SET_UP = "begin; select pg_advisory_xact_lock(7030226001); {}commit".format(
    "".join(
        f"create table if not exists todoplan_{name} ({columns}); "
        for name, columns in TABLES.items()
    )
).encode()
_MISSING = b"""
select name from unnest(%s::text[]) name where to_regclass('todoplan_' || name) is null
"""


# -------- failures --------
# Errors of PostgreSQL and the network, turned into a StoreError. Its message says what happened,
# whether anything was written, and what to do.
#
# The server identifies an error by a code of five characters (SQLSTATE). But if the server refuses
# a connection, libpq passes on only the message text. Such messages are recognized in English; in
# other languages they are quoted, with "unreachable" as `data["problem"]`.


_BY_CODE = (
    # PostgreSQL's code or a prefix of it; our name of the problem; the meaning and the remedy.
    ("55P03", "busy", "somebody else holds the plan; try again, or give the store more patience="),
    ("57014", "timeout", "the statement took too long, or was cancelled; see what the server does"),
    ("25P03", "lost", "the plan was held for too long without a statement; try again"),
    ("25P04", "lost", "the transaction took too long for this server; try again"),
    ("40", "busy", "the server ended this transaction in favour of another one; try again"),
    ("25006", "read_only", "this server only reads (a standby?); give the address of the primary"),
    ("42501", "forbidden", "this user may not do that; grant it select, insert, update, delete"),
    ("42P01", "deleted", "the tables were dropped while in use; bring them back from a backup"),
    ("53100", "disk_full", "the server's disk is full; make room there"),
    ("53300", "busy", "the server has no connection left; try again, or let it have more"),
    ("57P", "unreachable", "the server ended the connection or is starting; try again"),
    ("08", "unreachable", "the connection was lost; try again"),
)
_BY_WORDS = (
    (
        "password|authentication failed|pg_hba.conf|role .* does not exist|permission denied",
        "refused",
        "the server does not let this user in; check the user and the password",
    ),
    (
        "database .* does not exist",
        "no_database",
        "create the database (createdb NAME), or correct the address",
    ),
    (
        "too many (clients|connections)|connection slots",
        "busy",
        "the server has no connection left; try again, or let it have more",
    ),
)
_UNREACHABLE = ("unreachable", "check the address, and that the server runs; then try again")
_UNEXPECTED = ("failed", "the server refuses this")


def failure(error: Error, address: Address, doing: str) -> StoreError:
    """Return the StoreError for a psycopg error that was raised while `doing` something."""
    problem, advice = _explained(error)
    # Only the first line: the following lines are hints for SQL authors, and the statement.
    reason = (str(error).splitlines() or [type(error).__name__])[0].strip()
    msg = f"{address} cannot {doing}: {advice} ({reason})"
    return StoreError(msg, store=str(address), problem=problem, code=error.sqlstate)


def is_passing(error: Error) -> bool:
    """Return whether the server is unreachable, perhaps only for a moment, as during a restart."""
    return _explained(error)[0] == "unreachable"


def _explained(error: Error) -> tuple[str, str]:
    if code := error.sqlstate:
        return next((row[1:] for row in _BY_CODE if code.startswith(row[0])), _UNEXPECTED)
    return next((row[1:] for row in _BY_WORDS if re.search(row[0], str(error))), _UNREACHABLE)


# -------- turns --------
# A lock for each plan within a process. It is taken before a connection, so that for each plan only
# one caller waits with a connection.
#
# Another process may lock a plan for long, for example if it was stopped or disconnected. If all
# threads that want this plan waited with connections of their own, the pool would soon be empty,
# and nobody could use the other plans.


class ThreadTurn(Turn):
    """A lock between threads, whose `take` waits in the calling thread."""

    async def take(self, taken: list[bool], patience: float) -> None:
        """Do the same as `Turn.take`."""
        super().take(taken, patience)


class TaskTurn(Turn):
    """A lock between the tasks of an event loop. Its `take` is awaited."""

    _who = "task"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._semaphore = asyncio.Semaphore()

    async def take(self, taken: list[bool], patience: float) -> None:
        """
        Take the lock, waiting at most `patience` seconds, and add an item to the list `taken`.

        Raises:
            StoreError: another task holds the lock for longer ("busy"), or this task already holds
                it ("nested").
        """
        me = asyncio.current_task()
        if self._holder == me:
            raise self._nested()
        try:
            async with asyncio.timeout(patience):
                await self._semaphore.acquire()
                taken.append(True)
        except TimeoutError:
            raise self._busy(patience) from None
        self._holder = me

    def give_back(self, taken: list[bool]) -> None:
        """Release the lock if it was taken."""
        if taken:
            self._holder = None
            moved(taken, lambda _: self._semaphore.release())


# -------- pools --------
# The connections of an `AsyncPostgresStore` belong to no event loop: a store may be used in one
# loop after another, because each `asyncio.run` creates a new loop.


_WAITING = True
PAUSE = 0.1
"""The approximate time in seconds between two attempts to reach an unavailable server."""

_TRUSTED = 300.0  # seconds; firewalls drop connections that are idle for long

# A parent's connections in a forked child. The child neither uses nor closes them: that would end
# the session that the parent still uses. In this list, they are not freed either.
OF_PARENTS: list[object] = []


class Pool:
    """
    The connections of a `PostgresStore`: at most `most` at a time. A caller waits for a free one
    for at most `patience` seconds.
    """

    _connection: type[Connection] = CalledConnection
    _turn: type[Turn] = ThreadTurn

    def __init__(self, address: Address, most: int, patience: float) -> None:
        if type(most) is not int or most < 1:
            msg = f"most_connections={most!r}: give a number of connections from 1 on, such as 4"
            raise StoreError(msg, problem="argument", seen=most)
        if type(patience) not in {int, float} or patience < 0:
            msg = f"patience={patience!r}: give a number of seconds, such as 10"
            raise StoreError(msg, problem="argument", seen=patience)
        self.address = address
        self.patience = patience
        self.most = most
        self._kept: list[tuple[float, Connection]] = []
        self._places: SimpleQueue[None] = SimpleQueue()
        for _ in range(self.most):
            self._places.put(None)
        self._turns: WeakValueDictionary[tuple[object, str], Turn] = WeakValueDictionary()
        self._lock = Lock()
        self._is_prepared = self._was_there = False
        # Close connections also at interpreter exit, because Python would warn about open ones.
        finalize(self, _close, self._kept, os.getpid())

    def close(self) -> None:
        """Close the idle connections."""
        _close(self._kept, os.getpid())

    async def lend(
        self, lent: "Lent", first: Callable[[Connection], Awaitable[T]], doing: str
    ) -> T:
        """
        Put a connection into `lent`, call `first` with it, and return the result.

        `first` must not write anything, because it may be called again with another connection.
        `doing` names the operation in error messages.

        Raises:
            StoreError: the database cannot be reached, or refuses a statement.
        """
        end = time.monotonic() + self.patience
        try:
            await self._take_place(lent)
        except (Empty, TimeoutError):
            msg = (
                f"{self.address} was not asked: all {self.most} connections of this store were in "
                f"use for {self.patience:g} seconds; try again, or give the store more with "
                "most_connections="
            )
            raise StoreError(msg, store=str(self.address), problem="busy") from None
        while True:
            is_new = not self._take_into(lent.connections)
            try:
                if is_new:
                    db = await self._connection.opened(self.address.conninfo)
                    lent.connections.append((0.0, db))
                    self._was_there = True
                if not self._is_prepared:
                    await self._prepare(lent.db)
                return await first(lent.db)
            except psycopg.Error as error:
                lent.drop()
                # Wait only for a server that was reached before, because it may be restarting. An
                # address that never worked is probably misspelled, and is reported immediately.
                if not (self._was_there and is_passing(error) and time.monotonic() < end):
                    raise failure(error, self.address, doing) from error
            if is_new:
                await self._sleep(uniform(0.5, 1.5) * PAUSE)  # noqa: S311 - no secret

    async def _prepare(self, db: Connection) -> None:
        """
        Refuse a database that cannot store every text, and create the tables that are missing.

        If all tables exist, this works without the right to create tables, and on a read-only
        server.
        """
        if (encoding := db.info.parameter_status("server_encoding")) != "UTF8":
            msg = (
                f"{self.address} stores texts as {encoding}, which lacks some characters; make a "
                "database for todoplan: createdb --encoding=UTF8 --template=template0 NAME"
            )
            raise StoreError(msg, store=str(self.address), problem="encoding")
        if await db.rows(_MISSING, (list(TABLES),)):
            await db.rows(_SET_UP)
        self._is_prepared = True

    def keep(self, taken: list[tuple[float, Connection]]) -> None:
        """Move the connection in `taken` back to the idle connections of the pool."""
        self._kept.extend(map(list.pop, repeat(taken, len(taken))))

    def _take_into(self, taken: list[tuple[float, Connection]]) -> bool:
        """Move an idle connection into a list; return False if there is none."""
        # No check before `pop`: another thread may take the last connection in between.
        with suppress(IndexError):
            while True:
                taken.extend(map(list.pop, (self._kept,)))
                used, db = taken[0]
                if time.monotonic() - used < _TRUSTED:
                    return True
                db.pgconn.finish()
                taken.clear()
        return False

    def turn(self, plan_id: str) -> Turn:
        """
        Return the lock of a plan, which this process's threads or an event loop's tasks share.

        A lock exists as long as somebody uses it.
        """
        with self._lock:
            turn = self._turns.get((self._lane(), plan_id))
            if turn is None:
                turn = self._turn(f"{self.address}, the plan {plan_id!r}")
                self._turns[self._lane(), plan_id] = turn
        return turn

    # `AsyncPool` overrides these methods.

    def _lane(self) -> object:
        """Return the number of the running event loop, which has its own locks; here, `None`."""

    async def _take_place(self, lent: "Lent") -> None:
        lent.give_place = self._places.put
        lent.places.extend(map(self._places.get, (_WAITING,), (self.patience,)))

    async def _sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - in a `PostgresStore`


class AsyncPool(Pool):
    """The connections of an `AsyncPostgresStore`."""

    _connection = AwaitedConnection
    _turn = TaskTurn
    _semaphore: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None

    def _lane(self) -> object:
        return id(asyncio.get_running_loop())

    async def _take_place(self, lent: "Lent") -> None:
        # A semaphore belongs to a single loop.
        loop = asyncio.get_running_loop()
        if self._semaphore is None or self._semaphore[0] is not loop:
            self._semaphore = loop, asyncio.Semaphore(self.most)
        places = self._semaphore[1]
        lent.give_place = lambda _: places.release()
        async with asyncio.timeout(self.patience):
            await places.acquire()
            lent.places.append(None)

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Lent:
    """A lent connection, and its place in the pool."""

    give_place: Callable[[None], None]

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._process = os.getpid()
        self.places: list[None] = []
        self.connections: list[tuple[float, Connection]] = []

    @property
    def db(self) -> Connection:
        """The connection."""
        return self.connections[0][1]

    @property
    def is_here(self) -> bool:
        """Whether this process took the connection; false in a child that was forked later."""
        return self._process == os.getpid()

    def drop(self) -> None:
        """Close the connection. The server rolls back its transaction."""
        for _, db in self.connections:
            db.pgconn.finish()
        self.connections.clear()

    def give_back(self) -> None:
        """Return the connection and its place to the pool. May be called twice."""
        if not self.is_here:
            # The parent was forked inside a `with`, which now ends in the child too.
            OF_PARENTS.extend(db for _, db in self.connections)
            self.connections.clear()
            return
        try:
            if self.connections:
                db = self.db
                if db.info.transaction_status is TransactionStatus.IDLE:
                    self.connections[:] = [(time.monotonic(), db)]
                    self._pool.keep(self.connections)
                else:
                    # After any exception, also an interrupt. The server rolls back.
                    self.drop()
        finally:
            if self.places:
                moved(self.places, self.give_place)


def _close(kept: list[tuple[float, Connection]], process: int) -> None:
    """Close the connections of a process, unless this is a forked child of it."""
    with suppress(IndexError):  # instead of a check before `pop`: see `_take_into`
        while process == os.getpid():
            _, db = kept.pop()
            db.pgconn.finish()


# -------- listening --------
# Notifications of commits by other clients, received with PostgreSQL's LISTEN.
#
# Notifications can be lost (a connection was cut, a pooler is in between, a writer uses
# `notify=False`). So a waiter does not rely on them: it checks the plan's revision at the start, as
# soon as the thread listens, and then every `_LOOK` seconds. A notification only makes the next
# check come sooner.
#
# A store with `notify=False` does not listen: a pooler that lends connections per transaction would
# execute LISTEN on a connection that others use.
#
# One thread with one connection listens for all waiters of a store, synchronous or async. The
# thread ends if there were no waiters for a while. While it is not listening, the waiters check
# more often.


_LOOK = 2.0  # seconds between two checks while the thread listens
_LOOK_ALONE = 0.1  # seconds between two checks while it does not listen
_LINGER = 5.0  # seconds that the thread stays alive without waiters
_TURN = 0.25  # seconds until the thread notices `close`


class Listener:
    """
    Calls a function of each caller that waits for a change of a plan, when the plan may have
    changed.
    """

    def __init__(self, address: Address, *, notify: bool) -> None:
        self._address = address
        self._notify = notify
        self._lock = Lock()
        self._waiting: dict[object, tuple[str, Callable[[], None]]] = {}
        self._last = time.monotonic()
        self._thread: Thread | None = None
        self._closing = Event()
        self._is_listening = False

    @property
    def pause(self) -> float:
        """The maximum time in seconds until a waiter checks the plan's revision again by itself."""
        return _LOOK if self._is_listening else _LOOK_ALONE

    @contextmanager
    def waking(self, name: str, wake: Callable[[], None]) -> Iterator[None]:
        """
        Within a `with` block, call `wake` whenever the plan with this stored name may have changed.

        The listener's thread makes the calls.
        """
        me = object()
        with self._lock:
            self._waiting[me] = (name, wake)
            if self._notify and self._thread is None:
                self._closing.clear()
                self._thread = Thread(target=self._run, name="todoplan-listen", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._waiting.pop(me, None)  # not there in a child that was forked meanwhile
                self._last = time.monotonic()

    def close(self) -> None:
        """Stop the thread and wait until it has ended. Waiters continue to check the revision."""
        self._closing.set()
        thread = self._thread
        if thread is not None:
            thread.join()
            self._wake(None)

    def _run(self) -> None:
        while self._goes_on():
            with (
                suppress(psycopg.Error, OSError),
                psycopg.connect(self._address.conninfo, autocommit=True) as db,
            ):
                db.execute(f"listen {CHANNEL}")
                self._is_listening = True
                self._wake(None)  # for changes from before the server listened
                while self._goes_on():
                    for news in db.notifies(timeout=_TURN):
                        self._wake(news.payload.rpartition(":")[0])
                return
            self._is_listening = False
            # Wait before trying again: when a server restarts, many clients reconnect.
            self._closing.wait(uniform(0.5, 1.5) * _TURN)  # noqa: S311 - no secret

    def _wake(self, name: str | None) -> None:
        with self._lock:
            wakes = [wake for wanted, wake in self._waiting.values() if name in (None, wanted)]
        for wake in wakes:
            wake()

    def _goes_on(self) -> bool:
        with self._lock:
            lingers = bool(self._waiting) or time.monotonic() - self._last < _LINGER
            if lingers and not self._closing.is_set():
                return True
            # Under the lock, so that the next waiter sees that there is no thread, and starts one.
            self._thread, self._is_listening = None, False
            return False
