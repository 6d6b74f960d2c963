"""Watching plans in PostgreSQL: announcements only wake up, and may be lost."""

import asyncio
import threading
import time
from itertools import islice

import psycopg
import pytest
from support.blocking import BlockingStore

from todoplan.core.commands import CreateTask
from todoplan.planner import Planner
from todoplan.stores.postgres import AsyncPostgresStore, PostgresStore
from todoplan.stores.postgres import connections as listening

LISTENING = "select pid from pg_stat_activity where query like 'listen%'"
KILL = "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%'"


def add(address, count, **options):
    """Add so many tasks by a store of one's own."""
    with PostgresStore(address, **options) as store:
        planner = Planner(store, "a")
        for number in range(count):
            planner.apply(CreateTask(f"Task {number}"))


def later(seconds, act, *given, **named):
    timer = threading.Timer(seconds, act, given, named)
    timer.start()
    return timer


@pytest.fixture
def patient(monkeypatch):
    """Who waits does not look by itself: it is woken up, or waits for ever."""
    monkeypatch.setattr(listening, "_LOOK", 1_000.0)
    monkeypatch.setattr(listening, "_LOOK_ALONE", 1_000.0)


@pytest.fixture
def quick(monkeypatch):
    """Nothing lingers."""
    monkeypatch.setattr(listening, "_TURN", 0.01)
    monkeypatch.setattr(listening, "_LINGER", 0.0)


def test_a_commit_wakes_up_who_waits(store, address, patient):
    """Another's, by whichever process; of another plan it does not."""
    waking = later(0.2, add, address, 1)
    assert store.wait_for_change("a", 0, 30.0)
    waking.join()
    assert store.wait_for_change("a", 0, 30.0)
    assert store.wait_for_change("a", 7, 30.0)  # it went back: who waits on would wait for ever
    assert not store.wait_for_change("a", 1, 0.0)
    assert not store.wait_for_change("b", 0, 0.01)


@pytest.mark.parametrize("listens", [False, True])
def test_an_announcement_that_was_lost_is_made_up_for_by_a_look(
    opened, address, sql, monkeypatch, listens
):
    """Somebody writes who announces nothing, or a store with `notify=False` does not listen."""
    monkeypatch.setattr(listening, "_LOOK", 0.05)
    store = opened(address, notify=listens)
    writing = later(0.1, add, address, 1, notify=not listens)
    assert store.wait_for_change("a", 0, 30.0)
    writing.join()
    assert listens or sql(LISTENING) == []


def test_a_listener_that_was_killed_listens_again(store, address, sql, patient, quick):
    """And has everybody look, for it has not heard what was announced meanwhile."""
    waited = []
    wait = lambda: waited.append(store.wait_for_change("a", 0, 1_000.0))  # noqa: E731
    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    while sql(LISTENING) == []:
        time.sleep(0.005)
    add(address, 1, notify=False)
    sql(KILL)
    waiting.join(30)
    assert waited == [True]


def test_nobody_listens_when_nobody_waits(store, sql, quick):
    """One connection for all who wait, and none when they have gone; then again one."""
    for _ in range(2):
        waiting = [
            threading.Thread(target=store.wait_for_change, args=(name, 0, 0.3)) for name in "abc"
        ]
        if isinstance(store, BlockingStore):  # one loop, one call at a time
            del waiting[1:]
        for each in waiting:
            each.start()
        while sql(LISTENING) == []:
            time.sleep(0.005)
        assert len(sql(LISTENING)) == 1
        for each in waiting:
            each.join()
        while sql(LISTENING):
            time.sleep(0.005)


def test_closing_ends_the_listener(address, sql):
    """At once, and whoever waits goes on by looking."""
    store = PostgresStore(address)
    waited = []
    waiting = threading.Thread(target=lambda: waited.append(store.wait_for_change("a", 0, 30.0)))
    waiting.start()
    while sql(LISTENING) == []:
        time.sleep(0.005)
    store.close()
    add(address, 1)
    waiting.join()
    assert waited == [True]
    store.close()


def test_a_planner_sees_every_entry_once(address, sql, postgres):
    """Across stores, a killed listener, a killed server and writers who announce nothing."""
    with PostgresStore(address) as store:
        add(address, 1)
        watcher = Planner(store, "a")

        def write():
            add(address, 5)
            sql(KILL)
            add(address, 5, notify=False)
            postgres.restart_killed()
            add(address, 5)

        writing = later(0.1, write)
        seen = list(islice(watcher.watch(since=0), 16))
        writing.join()
        assert tuple(seen) == watcher.history()
        assert [entry.revision for entry in seen] == list(range(1, 17))


def test_a_loop_that_has_ended_is_woken_up_no_more(address):
    """An announcement that comes after it harms nobody."""
    store = AsyncPostgresStore(address)

    async def run():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await store.wait_for_change("a", 0, 30.0)

    asyncio.run(run())
    woken = threading.Event()
    with store._listener.waking("a", woken.set):
        add(address, 1)
        assert woken.wait(30.0)
    asyncio.run(store.close())
    with psycopg.connect(address) as db:
        assert db.execute("select count(*) from todoplan_entry").fetchone() == (1,)
