"""A plan that is held: nobody else changes it, and what is appended is kept as a whole or not."""

import asyncio
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta

import psycopg
import pytest
from support.stored import DIG, append, refused, write

from todoplan.core.plan.model import FrozenDict
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.base import Key, follow
from todoplan.stores.postgres import AsyncPostgresStore, PostgresStore
from todoplan.stores.sqlite import SqliteStore
from todoplan.testing.stores.appends import adding

OPEN = (
    "select count(*) from pg_stat_activity where state like 'idle in transaction%%' and pid <> %s"
)


def test_the_time_is_the_servers(store, sql, monkeypatch):
    """Of one clock for all who share a plan, read behind the wait for it, and going on."""
    write(store, DIG)
    for read_first in (True, False):
        with store.hold("a") as held:
            if read_first:
                held.entries_since(0)
            before = sql("select clock_timestamp()")[0][0]
            times = [held.now(), held.now()]
        assert times == sorted(times)
        assert abs(times[0] - before) < timedelta(seconds=5)


def test_its_texts_are_those_of_sqlite(store, sql, tmp_path):
    """Byte by byte: entries, snapshots, ids, keys."""
    odd = "half \ud83c of a pair, \0, \u2028"
    made = adding(Plan(), (odd, "x" * 40_000), (odd,), metadata=FrozenDict({odd: [odd]}))
    tables = (
        ("plan", "id, revision, since, size"),
        ("entry", "plan_id, revision, version, line"),
        ("snapshot", "plan_id, revision, version, document"),
        ("receipt", "plan_id, key, before, after"),
    )
    with SqliteStore(tmp_path / "plans.db") as other:
        for each in (store, other):
            with each.hold(odd) as held:
                append(held, made, key=Key(odd))
    with closing(sqlite3.connect(tmp_path / "plans.db")) as db:
        for table, columns in tables:
            query = f"select {columns} from {{}}{table} order by 1, 2"  # noqa: S608 - our own
            assert sql(query.format("todoplan_")) == db.execute(query.format("")).fetchall()


@pytest.mark.parametrize("reads", [False, True])
def test_the_time_is_not_from_before_the_wait(address, sql, reads):
    """Who waited for a plan decides after whoever it waited for."""
    with PostgresStore(address) as one, PostgresStore(address) as other:
        times = []

        def wait():
            with other.hold("a") as held:
                if reads:
                    held.entries_since(0)
                times.append(held.now())

        with one.hold("a"):
            waiting = threading.Thread(target=wait)
            waiting.start()
            while not sql("select 1 from pg_locks where not granted"):
                pass
            before = sql("select clock_timestamp()")[0][0]
        waiting.join()
        assert times[0] > before


def test_a_server_that_is_stricter_by_default_changes_nothing(address):
    """We say how transactions are kept apart: under SERIALIZABLE waiting would end in errors."""
    strict = f"{address}%20-cdefault_transaction_isolation%3Dserializable"
    with PostgresStore(strict) as store:

        def add(number):
            with store.hold("a") as held:
                plan = follow(Plan(), held.entries_since(0))
                append(held, adding(plan, (f"Task {number}",)))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(add, range(12)))
        assert len(store.load("a")) == 12


def test_a_plan_that_is_stuck_takes_nothing_from_others(address):
    """Many threads want a plan that somebody else holds; one of them has a connection meanwhile."""
    with (
        PostgresStore(address) as other,
        PostgresStore(address, most_connections=2) as store,
        ThreadPoolExecutor(6) as pool,
    ):
        with other.hold("a"):
            wanting = [pool.submit(store.append, "a", 0, DIG.entries, DIG.plan) for _ in range(6)]
            for _ in range(10):
                assert store.load("b") == Plan()
            assert store.append("b", 0, DIG.entries, DIG.plan)
        assert sorted(each.result() for each in wanting) == [False] * 5 + [True]


def test_tasks_that_want_a_plan_that_is_stuck_take_nothing_from_others(address):
    """The same of tasks; who waits for too long is told."""

    async def run():
        async with (
            AsyncPostgresStore(address) as other,
            AsyncPostgresStore(address, most_connections=2) as store,
            AsyncPostgresStore(address, patience=0.05) as hasty,
        ):
            async with other.hold("a"), hasty.hold("c"):
                append = ("a", 0, DIG.entries, DIG.plan)
                wanting = [asyncio.create_task(store.append(*append)) for _ in range(6)]
                for _ in range(10):
                    assert await store.load("b") == Plan()
                waiting = asyncio.create_task(hasty.append("c", 0, DIG.entries, DIG.plan))
                with pytest.raises(
                    StoreError, match="another task of this process has held"
                ) as caught:
                    await waiting
                assert caught.value.data["problem"] == "busy"
            return await asyncio.gather(*wanting)

    assert sorted(asyncio.run(run())) == [False] * 5 + [True]


def test_a_task_that_holds_a_plan_does_not_wait_for_itself(address):
    """Another task may wait for it."""

    async def run():
        async with AsyncPostgresStore(address) as store:
            async with store.hold("a") as held:
                with pytest.raises(StoreError, match="already holds a plan of it, and would wait"):
                    await store.append("a", 0, DIG.entries, DIG.plan)
                append = store.append("a", 0, DIG.entries, DIG.plan)
                waiting = asyncio.create_task(append)
                await held.append(0, DIG.entries, DIG.plan)
            return await waiting

    assert asyncio.run(run()) is False


def test_a_name_that_no_index_takes_is_refused_at_once(store):
    """A plan's id and a key of the most bytes fit into an index together; longer ones do not."""
    name = "".join(chr(0x4E00 + number) for number in range(333))  # such as no page compresses
    with store.hold(name) as held:
        append(held, DIG, key=Key(name[::-1]))
        for each in ("x" * 1001, "\N{SEEDLING}" * 251):
            for use in (lambda: store.load(each), lambda: held.receipt(Key(each))):  # noqa: B023
                refused("too_large", use, "use a shorter one")
    assert store.load(name) == DIG.plan


def test_a_snapshot_that_could_not_be_read_again_is_not_kept(store, sql, monkeypatch):
    """The journal gives the plan then."""
    monkeypatch.setattr("todoplan.stores.postgres.store.LIMIT", 10)
    large = adding(Plan(), ("x" * 40_000,))
    write(store, large)
    assert sql("select * from todoplan_snapshot") == []
    assert store.load("a") == large.plan


def test_a_store_is_used_again_after_it_was_closed(store):
    """Closing gives back what it holds, and is no end."""
    write(store, DIG)
    close = getattr(store, "awaited", store).connections.close
    close()
    close()
    assert store.load("a") == DIG.plan


def test_a_connection_that_rested_for_long_is_not_trusted(store, monkeypatch):
    """Firewalls forget it, and a statement upon it would wait for minutes."""
    for trusted in (300.0, -1.0):
        monkeypatch.setattr("todoplan.stores.postgres.connections._TRUSTED", trusted)
        store.load("a")
        ((_, kept),) = store.connections._kept
        store.load("a")
        assert kept.closed is (trusted < 0)


def test_connections_are_closed_with_the_program(address):
    """No session stays behind a store that nobody closed."""
    store = PostgresStore(address)
    assert store.load("a") == Plan()
    ((_, db),) = store.connections._kept
    del store
    assert db.closed
    with psycopg.connect(address) as other:
        assert other.execute("select 1").fetchone() == (1,)
