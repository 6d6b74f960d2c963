"""
A pool of connections to one database. Each is lent to one user at a time, the last used one first.

`psycopg_pool` was tried and rejected for three reasons. It only logs why a connection cannot be
made (a wrong password), while the caller waits until the timeout. It runs threads, which a forked
child does not have. And a thread that is interrupted while it waits for a connection (Ctrl-C)
leaves its place in the queue, and the connection that is assigned to that place is lost for good.

- A connection whose use ended in the middle of a transaction is closed and not lent again. The
  server rolls back the transaction, wherever it was interrupted.
- The first steps on a connection write nothing. If they fail because the server was away, as after
  a restart, they are retried on a new connection until `patience` is over.
- A forked child starts with an empty pool and leaves its parent's connections alone (`forks`).
"""

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import repeat
from queue import Empty, SimpleQueue
from random import uniform
from threading import Event, Lock, Thread
from typing import Any, Generic, LiteralString, Protocol, TypeVar
from weakref import WeakSet, WeakValueDictionary, finalize

import attrs
import psycopg
from psycopg import ConnectionInfo, Error, ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus

from todoplan.errors import StoreError
from todoplan.stores.locks import Turn, moved

# -------- address --------
# The address of a database: validated, completed with time limits, and displayed without its
# password.


# Without these settings, a client whose network was cut waits for 15 minutes, and a server keeps
# the plan of a disconnected client locked for two hours. In seconds; the timeout `tcp_user_timeout`
# in milliseconds.
_WATCHFUL = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "application_name": "todoplan",
}


@attrs.frozen
class Address:
    """
    The address of a database: `conninfo` for libpq, and `shown` for people, without the password.
    """

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
        conninfo = make_conninfo(**{**_WATCHFUL, **parts})
    except (ProgrammingError, UnicodeEncodeError):
        # Neither the text nor libpq's message, which quotes it, is shown: there may be a password
        # in it.
        msg = f"this text of {len(dsn)} characters is no address of a database; {example}"
        raise StoreError(msg, problem="address") from None
    user = f"{parts['user']}@" if "user" in parts else ""
    port = f":{parts['port']}" if "port" in parts else ""
    host = parts.get("host", parts.get("hostaddr", ""))
    return Address(conninfo, f"postgresql://{user}{host}{port}/{parts.get('dbname', '')}")


# -------- schema --------
# The tables, and the types of statements.
#
# Every key begins with the plan's id, and no statement spans plans, so that tables can be sharded
# and a plan can be moved with all its rows. The columns are the same as in SQLite
# (`todoplan.stores.sqlite`), and so are the texts in them, byte by byte (`todoplan.stores.base`).
#
# The row of a plan states the format of all the plan's rows. A todoplan that reads a newer format
# refuses that plan. So two versions can run side by side while plans are migrated one by one.


T = TypeVar("T")

Row = tuple[Any, ...]

Statement = tuple[LiteralString | bytes, Sequence[Any] | Mapping[str, Any] | None]
"""SQL and its parameters. With `None` as parameters, the SQL may contain several statements."""

Steps = Generator[Statement, Any, T]
"""
A generator of statements; the rows of each statement are sent back to it. The steps are written
once: `PostgresStore` executes them and `AsyncPostgresStore` awaits them.
"""

FORMAT = 1
"""The format that this version writes, and the highest one that it reads."""

CHANNEL = "todoplan"
"""
The channel on which commits are announced, as "<plan's id>:<revision>". All schemas of a database
share it.
"""

LONGEST = 1_000
"""
The maximum length of a plan's id or a key in bytes of UTF-8: an index entry has to hold two of
them.
"""

_PREFIX = "todoplan_"
TABLES: Mapping[str, LiteralString] = {
    f"{_PREFIX}plan": """
    create table if not exists todoplan_plan (
        id text primary key,
        revision bigint not null,
        format integer not null,
        since bigint not null default 0, -- bytes of entries since the last snapshot
        size bigint not null default 0   -- bytes of the last snapshot
    )
    """,
    f"{_PREFIX}entry": """
    create table if not exists todoplan_entry (
        plan_id text not null,
        revision bigint not null,
        version integer not null,
        line text not null,
        primary key (plan_id, revision)
    )
    """,
    f"{_PREFIX}snapshot": """
    create table if not exists todoplan_snapshot (
        plan_id text primary key,
        revision bigint not null,
        version integer not null,
        document text not null
    )
    """,
    f"{_PREFIX}receipt": """
    create table if not exists todoplan_receipt (
        plan_id text not null,
        key text not null,
        payload text not null,
        before bigint not null, -- the revision before its entries, and after them
        after bigint not null,
        answer text not null,
        primary key (plan_id, key)
    )
    """,
}

_LOCK = 7_030_226_001  # our number among the database's advisory locks
_MISSING: LiteralString = """
select name from unnest(%s::text[]) as needed (name) where to_regclass(name) is null
"""


def settled(info: ConnectionInfo) -> Steps[None]:
    """
    Set the session parameters that psycopg needs for reading times and writing texts.

    A server, a role, the address or the environment may have set them differently. Usually they are
    right already, and no statement is executed.
    """
    if not (info.parameter_status("DateStyle") or "").startswith("ISO"):
        yield "set datestyle to 'ISO'", None
    if info.parameter_status("client_encoding") != "UTF8":
        yield "set client_encoding to 'UTF8'", None


def prepared() -> Steps[None]:
    """
    Create the tables that are missing.

    If all tables exist, only one query is executed. So a user without the right to create tables,
    or a read-only server, is sufficient then.
    """
    missing = yield _MISSING, (list(TABLES),)
    if not missing:
        return
    yield "begin", None
    # `if not exists` is not race-free: of 80 concurrent set-ups 75 failed without this lock, and
    # none with it.
    yield "select pg_advisory_xact_lock(%s)", (_LOCK,)
    for table in TABLES.values():
        yield table, None
    yield "commit", None


# -------- failures --------
# Errors of PostgreSQL and the network, turned into a StoreError.
#
# The message says what happened, whether anything was written, and what to do.
#
# The server identifies an error by a code of five characters (SQLSTATE). But if the server refuses
# a connection, libpq passes on only the message text. Such messages are recognized in English; in
# other languages they are quoted, with "unreachable" as `data["problem"]`.


_BY_CODE = (
    # PostgreSQL's code or a prefix of it; our name of the problem; the meaning and the remedy.
    ("55P03", "busy", "somebody else holds the plan; try again, or give the store more patience="),
    (
        "57014",
        "timeout",
        "the statement took too long, or was cancelled; look what the server does",
    ),
    ("25P03", "lost", "the plan was held for too long without a statement; decide, then append"),
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
    for code, problem, advice in _BY_CODE if error.sqlstate else ():
        if (error.sqlstate or "").startswith(code):
            return problem, advice
    if error.sqlstate:
        return _UNEXPECTED
    for pattern, problem, advice in _BY_WORDS:
        if re.search(pattern, str(error)):
            return problem, advice
    return _UNREACHABLE


# -------- forks --------
# Handling of a parent's connections in a forked child: the child never uses or closes them.
#
# Closing a connection in the child, or letting it be garbage-collected, would end the session that
# the parent still uses. And a lock that another thread of the parent held at the fork would stay
# locked in the child forever.


class Forked(Protocol):
    """An object that has connections, threads or locks."""

    def forked(self) -> object:
        """
        Reset the object in a child process, and return what the child must neither close nor
        collect.
        """
        ...


_every: "WeakSet[Forked]" = WeakSet()
_of_parents: list[object] = []


def begins_anew(thing: Forked) -> None:
    """Register an object to be reset in each forked child process."""
    _every.add(thing)


def left_alone(of_parent: object) -> None:
    """
    Keep a reference to an object of the parent, so that it is never collected in this process.
    """
    _of_parents.append(of_parent)


def _forked() -> None:
    _of_parents.extend(thing.forked() for thing in _every)


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_forked)


C = TypeVar("C", psycopg.Connection[Row], psycopg.AsyncConnection[Row])
Connection = psycopg.Connection[Row]

_WAITING = True
PAUSE = 0.1
"""The approximate time in seconds between two attempts to reach an unavailable server."""

_TRUSTED = 300.0  # seconds; firewalls drop connections that are idle for long


class Free(Generic[C]):
    """Base class of both pools: the idle connections, and the limit on connections in use."""

    def __init__(self, address: Address, most: int, patience: float) -> None:
        _check(most, patience)
        self.address = address
        self.patience = patience
        self.most = most
        self._begin()
        begins_anew(self)

    def _begin(self) -> None:
        self._kept: list[tuple[float, C]] = []
        self._lane: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None
        self.is_prepared = self._was_there = False
        # Also at interpreter exit: Python would warn about each connection that is still open.
        self._finalizer: finalize[..., Any] = finalize(self, _close, self._kept)

    def forked(self) -> object:
        """Reset the pool in a child process, and return the parent's connections."""
        self._finalizer.detach()
        of_parent = self._kept
        self._begin()
        return of_parent

    def close(self) -> None:
        """Close the idle connections."""
        _close(self._kept)

    def take(self) -> C | None:
        """Return an idle connection, `None` if there is none."""
        # Not checked first: between a check and `pop`, another thread may take the last one.
        with suppress(IndexError):
            while True:
                used, db = self._kept.pop()
                if time.monotonic() - used < _TRUSTED:
                    return db
                db.pgconn.finish()
        return None

    def take_into(self, taken: list[tuple[float, C]]) -> bool:
        """Move an idle connection into a list; return False if there is none."""
        with suppress(IndexError):
            while True:
                taken.extend(map(list.pop, (self._kept,)))
                used, db = taken[0]
                if time.monotonic() - used < _TRUSTED:
                    return True
                db.pgconn.finish()
                taken.clear()
        return False

    def keep(self, taken: list[tuple[float, C]]) -> None:
        """Return a connection to the idle ones."""
        self._kept.extend(map(list.pop, repeat(taken, len(taken))))

    def put(self, db: C, process: int) -> None:
        """
        Return a lent connection to the idle ones if it has no open transaction; otherwise close it.
        """
        if process != os.getpid():
            left_alone(db)  # a `with` of the parent ends in its child
        elif db.info.transaction_status is TransactionStatus.IDLE:
            self._kept.append((time.monotonic(), db))
        else:
            db.pgconn.finish()

    def places_in(self, loop: asyncio.AbstractEventLoop) -> asyncio.Semaphore:
        """Return the semaphore for an event loop. A semaphore belongs to a single loop."""
        if self._lane is None or self._lane[0] is not loop:
            self._lane = loop, asyncio.Semaphore(self.most)
        return self._lane[1]

    def check(self, error: psycopg.Error, end: float, doing: str) -> None:
        """
        Return if the operation that raised this error may be retried before `end`.

        Raises:
            StoreError: it may not be retried.
        """
        # Only if the server was reached before: a misspelled address is reported immediately, and a
        # server that is restarting is waited for.
        if self._was_there and is_passing(error) and time.monotonic() < end:
            return
        raise failure(error, self.address, doing) from error

    def checked(self, db: C) -> C:
        """
        Return a new connection if its database can store any text.

        Raises:
            StoreError: the database is not encoded in UTF-8 ("encoding").
        """
        if (encoding := db.info.parameter_status("server_encoding")) != "UTF8":
            db.pgconn.finish()
            msg = (
                f"{self.address} keeps texts as {encoding}, which cannot hold all of them; make "
                "a database for todoplan: createdb --encoding=UTF8 --template=template0 NAME"
            )
            raise StoreError(msg, store=str(self.address), problem="encoding")
        self._was_there = True
        return db

    def all_taken(self) -> StoreError:
        """Return the error for a caller that got no connection in time."""
        msg = (
            f"{self.address} was not asked: all {self.most} connections of this store were in use "
            f"for {self.patience:g} seconds; try again, or let it have more: most_connections="
        )
        return StoreError(msg, store=str(self.address), problem="busy")


class Connections(Free[psycopg.Connection[Row]]):
    """
    A pool of at most `most` connections. A caller waits for a free one for at most `patience`
    seconds.
    """

    def _begin(self) -> None:
        super()._begin()
        self.places: SimpleQueue[None] = SimpleQueue()
        for _ in range(self.most):
            self.places.put(None)

    def lend(self, lent: "Lent", first: Callable[[], Steps[T]], doing: str) -> T:
        """
        Lend a connection, after executing the `first` steps on it. These steps must not write.

        Raises:
            StoreError: the database cannot be reached, or refuses a statement.
        """
        end = time.monotonic() + self.patience
        try:
            lent.places.extend(map(self.places.get, (_WAITING,), (self.patience,)))
        except Empty:
            raise self.all_taken() from None
        while True:
            is_new = not self.take_into(lent.connections)
            try:
                if is_new:
                    new = psycopg.connect(self.address.conninfo, autocommit=True)
                    lent.connections.append((0.0, new))
                    carry_out(self.checked(new), settled(new.info))
                db = lent.db
                if not self.is_prepared:
                    carry_out(db, prepared())
                    self.is_prepared = True
                return carry_out(db, first())
            except psycopg.Error as error:
                lent.drop()
                self.check(error, end, doing)
            if is_new:
                time.sleep(uniform(0.5, 1.5) * PAUSE)  # noqa: S311 - no secret


class Lent:
    """A lent connection, and its place in the pool."""

    def __init__(self, of: Connections) -> None:
        self._of = of
        self._free, self._process = of.places, os.getpid()
        self.places: list[None] = []
        self.connections: list[tuple[float, Connection]] = []

    @property
    def db(self) -> Connection:
        """The connection."""
        return self.connections[0][1]

    def drop(self) -> None:
        """Close the connection. The server rolls back its transaction."""
        for _, db in self.connections:
            db.pgconn.finish()
        self.connections.clear()

    def give_back(self) -> None:
        """Return the connection and its place to the pool. May be called twice."""
        if self._process != os.getpid():
            for _, db in self.connections:
                left_alone(db)  # a `with` of the parent ends in its child
            self.connections.clear()
            return
        try:
            if self.connections:
                db = self.db
                if db.info.transaction_status is TransactionStatus.IDLE:
                    self.connections[:] = [(time.monotonic(), db)]
                    self._of.keep(self.connections)
                else:
                    # After any exception, also an interrupt: the same as if this process had died.
                    self.drop()
        finally:
            moved(self.places, self._free.put)


def carry_out(db: Connection, steps: Steps[T]) -> T:
    """Execute steps on a connection and return their result."""
    rows: list[Row] | None = None
    try:
        while True:
            query, values = steps.send(rows)
            cursor = db.execute(query, values)
            rows = cursor.fetchall() if cursor.description else []
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # a generator's value is Any
    finally:
        steps.close()


def _check(most: object, patience: object) -> None:
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        msg = f"most_connections={most!r}: give a number of connections from 1 on, such as 4"
        raise StoreError(msg, problem="argument", seen=most)
    if not isinstance(patience, int | float) or isinstance(patience, bool) or patience < 0:
        msg = f"patience={patience!r}: give a number of seconds, such as 10"
        raise StoreError(msg, problem="argument", seen=patience)


def _close(kept: list[tuple[float, Any]]) -> None:
    with suppress(IndexError):  # a check first could race, see `take`
        while True:
            _, db = kept.pop()
            db.pgconn.finish()


# -------- async_connections --------
# Async connections: the pool of `AsyncPostgresStore`. The rules are those of `connections`.
#
# The connections belong to no event loop: a store may be used in one loop after another, because
# each `asyncio.run` creates a new loop.


AsyncConnection = psycopg.AsyncConnection[Row]


class AsyncConnections(Free[psycopg.AsyncConnection[Row]]):
    """
    A pool of at most `most` connections. A caller waits for a free one for at most `patience`
    seconds.
    """

    @asynccontextmanager
    async def started(
        self, first: Callable[[], Steps[T]], doing: str
    ) -> AsyncIterator[tuple[AsyncConnection, T]]:
        """
        Lend a connection, after executing the `first` steps on it. These steps must not write.

        Raises:
            StoreError: the database cannot be reached, or refuses a statement.
        """
        end, process = time.monotonic() + self.patience, os.getpid()
        places = self.places_in(asyncio.get_running_loop())
        try:
            async with asyncio.timeout(self.patience):
                await places.acquire()
        except TimeoutError:
            raise self.all_taken() from None
        try:
            db, value = await self._start(first, end, doing)
            try:
                yield db, value
            finally:
                self.put(db, process)
        finally:
            places.release()

    async def _start(
        self, first: Callable[[], Steps[T]], end: float, doing: str
    ) -> tuple[AsyncConnection, T]:
        while True:
            db = self.take()
            is_new = db is None
            try:
                db = db or await self._connect()
                if not self.is_prepared:
                    await carry_out_awaited(db, prepared())
                    self.is_prepared = True
                return db, await carry_out_awaited(db, first())
            except BaseException as error:
                if db is not None:
                    db.pgconn.finish()
                if not isinstance(error, psycopg.Error):
                    raise
                self.check(error, end, doing)
            if is_new:
                await asyncio.sleep(uniform(0.5, 1.5) * PAUSE)  # noqa: S311 - no secret

    async def _connect(self) -> AsyncConnection:
        connect = psycopg.AsyncConnection.connect
        db = self.checked(await connect(self.address.conninfo, autocommit=True))
        await carry_out_awaited(db, settled(db.info))
        return db


async def carry_out_awaited(db: AsyncConnection, steps: Steps[T]) -> T:
    """Execute steps on a connection and return their result."""
    rows: list[Row] | None = None
    try:
        while True:
            query, values = steps.send(rows)
            cursor = await db.execute(query, values)
            rows = await cursor.fetchall() if cursor.description else []
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # a generator's value is Any
    finally:
        steps.close()


# -------- listening --------
# Notifications of commits by other clients, received with PostgreSQL's LISTEN.
#
# A notification only wakes a waiter; it does not carry the change. Notifications can be lost (a
# connection was cut, a pooler is in between, a writer uses `notify=False`). So a waiter checks the
# plan's revision at the start, again once the server listens, and every `_LOOK` seconds. A
# notification only makes the next check come sooner.
#
# A store with `notify=False` does not listen: behind a pooler that lends connections per
# transaction, LISTEN would take effect on somebody else's connection.
#
# One thread with one connection listens for all waiters of a store, synchronous or async. It ends
# when nobody has waited for a while. While it has no connection, the waiters check more often.


_LOOK = 2.0  # seconds between two checks while the thread listens
_LOOK_ALONE = 0.1  # while it does not
_LINGER = 5.0  # seconds that the thread stays alive without waiters
_TURN = 0.25  # seconds; `close` takes up to this long to be noticed


class Listener:
    """Calls the waiters of a plan back whenever the plan may have changed."""

    def __init__(self, address: Address, *, is_told: bool) -> None:
        self._address = address
        self._is_told = is_told
        self._begin()
        begins_anew(self)

    def _begin(self) -> None:
        self._lock = Lock()
        self._waiting: dict[object, tuple[str, Callable[[], None]]] = {}
        self._last = time.monotonic()
        self._thread: Thread | None = None
        self._closing = Event()
        self._is_listening = False
        self._db: object = None

    @property
    def pause(self) -> float:
        """The maximum time in seconds between two checks of a waiter."""
        return _LOOK if self._is_listening else _LOOK_ALONE

    @contextmanager
    def waking(self, name: str, wake: Callable[[], None]) -> Iterator[None]:
        """
        Call `wake`, in the listening thread, whenever the plan with this stored name may have
        changed.
        """
        me = object()
        with self._lock:
            self._waiting[me] = (name, wake)
            if self._is_told and self._thread is None:
                self._closing.clear()
                self._thread = Thread(target=self._run, name="todoplan-listen", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._waiting.pop(me, None)  # absent in a child forked meanwhile
                self._last = time.monotonic()

    def close(self) -> None:
        """Stop the thread and wait until it has ended. Waiters continue by checking."""
        self._closing.set()
        thread = self._thread
        if thread is not None:
            thread.join()
            self._wake(None)

    def forked(self) -> object:
        """Reset in a child process, and return the parent's connection."""
        of_parent = self._db
        self._begin()
        return of_parent

    def _run(self) -> None:
        while self._goes_on():
            try:
                self._listen()
            except (psycopg.Error, OSError):
                self._is_listening = False
            else:
                return
            # Not immediately: when a server restarts, many clients may reconnect.
            self._closing.wait(uniform(0.5, 1.5) * _TURN)  # noqa: S311 - no secret

    def _listen(self) -> None:
        """Listen until there are no waiters any more."""
        with psycopg.connect(self._address.conninfo, autocommit=True) as db:
            self._db = db
            carry_out(db, settled(db.info))
            db.execute(f"listen {CHANNEL}")
            self._is_listening = True
            self._wake(None)  # for changes from before the server listened
            while self._goes_on():
                for news in db.notifies(timeout=_TURN):
                    self._wake(news.payload.rpartition(":")[0])

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
            # Under the lock: the next waiter then sees that there is no thread, and starts one.
            self._thread, self._is_listening = None, False
            return False


# -------- turns --------
# Locks within a process, taken before the server is asked: per plan, one caller uses a connection.
#
# Somebody else may lock a plan for long, for example a process that was stopped or disconnected.
# If all threads that want this plan waited on connections of their own, they would soon use up the
# pool, and plans that nobody has locked would be unreachable as well.


class Turns:
    """A lock for each plan, which exists as long as a thread uses it."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self.forked()
        begins_anew(self)

    def forked(self) -> None:
        """Reset in a child process: the threads that held locks do not exist there."""
        self._lock = Lock()
        self._turns: WeakValueDictionary[str, Turn] = WeakValueDictionary()

    def of(self, plan_id: str) -> Turn:
        """Return the lock of a plan between the threads of this process."""
        with self._lock:
            turn = self._turns.get(plan_id)
            if turn is None:
                turn = self._turns[plan_id] = Turn(f"{self._address}, the plan {plan_id!r}")
        return turn


class _TaskTurn:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.holder: asyncio.Task[Any] | None = None


class AsyncTurns:
    """A lock for each plan, which exists as long as a task of an event loop uses it."""

    def __init__(self, address: Address, patience: float) -> None:
        self._address = address
        self._patience = patience
        # By event loop too, because an asyncio lock belongs to one loop.
        self._turns: WeakValueDictionary[tuple[int, str], _TaskTurn] = WeakValueDictionary()

    @asynccontextmanager
    async def taken(self, plan_id: str) -> AsyncIterator[None]:
        """
        Lock a plan between the tasks of this event loop.

        Raises:
            StoreError: another task holds the lock for too long ("busy"), or this task already
                holds it ("nested").
        """
        name = id(asyncio.get_running_loop()), plan_id
        turn, me = self._turns.get(name), asyncio.current_task()
        if turn is None:
            turn = self._turns[name] = _TaskTurn()
        if turn.holder is not None and turn.holder is me:
            msg = (
                f"{self._address}: this task holds the plan {plan_id!r} already, and would wait "
                "for itself; let go of it first, or append by what `hold` gave"
            )
            raise StoreError(msg, plan_id=plan_id, problem="nested")
        try:
            async with asyncio.timeout(self._patience):
                await turn.lock.acquire()
        except TimeoutError:
            msg = (
                f"{self._address} is busy: another task has held the plan {plan_id!r} for "
                f"{self._patience:g} seconds, nothing was written; try again, or give the store "
                "more patience="
            )
            raise StoreError(msg, plan_id=plan_id, problem="busy") from None
        try:
            turn.holder = me
            yield
        finally:
            turn.holder = None
            turn.lock.release()
