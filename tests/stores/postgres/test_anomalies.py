"""
The anomaly loop: each statement in turn fails, before or after the server has carried it out.

Whatever fails, and however: no transaction stays open, no batch is torn, and the same call made
again under its key happens once. SQLite's own tests do so with memory and disk.
"""

import asyncio
import time
from contextlib import suppress

import attrs
import psycopg
import pytest
from support.blocking import BlockingStore

from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.base import Key, follow
from todoplan.stores.postgres import PostgresStore, connections
from todoplan.testing.stores.appends import adding

FIRST = adding(Plan(), ("Dig",))
# Two entries, so that a torn batch would show; so large that a snapshot is due, one statement more.
BATCH = adding(FIRST.plan, ("x" * 40_000,), ("Lay", "Fill"))
KEY = Key("call-1", "Lay")
DROP = "drop table if exists todoplan_plan, todoplan_entry, todoplan_snapshot, todoplan_receipt"
IN_TRANSACTION = "select count(*) from pg_stat_activity where state like 'idle in transaction%'"


@attrs.define
class Fault:
    """
    What befalls the statement of a number, counted from 1 over all connections; 0: nothing. The
    server is away "for good" where it befalls all later ones too.
    """

    kind: str
    at: int
    interrupt: type
    count: int = 0

    def befalls(self, when):
        later = self.kind.startswith("away") and 0 < self.at < self.count
        return later or (self.count == self.at and self.kind.endswith(when))

    def strike(self, db):
        if self.kind.startswith("interrupted"):
            raise self.interrupt
        db.pgconn.finish()
        msg = "server closed the connection unexpectedly"
        raise psycopg.OperationalError(msg)


@pytest.fixture(params=[PostgresStore, BlockingStore], ids=["called", "awaited"])
def kind(request):
    return request.param


@pytest.fixture
def struck(monkeypatch, kind):
    """A function that has a fault befall what the stores of this kind ask of the server."""
    monkeypatch.setattr(connections, "PAUSE", 0.001)
    connection = psycopg.AsyncConnection if kind is BlockingStore else psycopg.Connection
    execute = connection.execute
    faults = []

    def counted(when, db):
        for fault in faults:
            fault.count += when == "before"
            if fault.befalls(when):
                fault.strike(db)

    def called(db, *given, **named):
        counted("before", db)
        cursor = execute(db, *given, **named)
        counted("after", db)
        return cursor

    async def awaited(db, *given, **named):
        counted("before", db)
        cursor = await execute(db, *given, **named)
        counted("after", db)
        return cursor

    monkeypatch.setattr(connection, "execute", awaited if kind is BlockingStore else called)

    def strike(kind_of_fault, at):
        interrupt = asyncio.CancelledError if kind is BlockingStore else KeyboardInterrupt
        faults[:] = [Fault(kind_of_fault, at, interrupt)]
        return faults[0]

    return strike


def commit(store, plan_id, key):
    with store.hold(plan_id) as held:
        held.entries_since(FIRST.plan.revision)
        if key is None:
            return held.append(BATCH.expected, BATCH.entries, BATCH.plan)
        return held.append(BATCH.expected, BATCH.entries, BATCH.plan, key=key, answer="done")


def outcome(store, plan_id, key):
    """Commit, and return the word for what came of it."""
    try:
        return "kept" if commit(store, plan_id, key) == BATCH.entries else "other"
    except StoreError as error:
        return error.data["problem"]
    except (KeyboardInterrupt, asyncio.CancelledError):
        return "interrupted"


def settled(watcher, plan_id):
    """Say whether the batch was kept, once nothing is open any more."""
    with psycopg.connect(watcher.address.conninfo, autocommit=True) as db:
        end = time.monotonic() + 10
        while db.execute(IN_TRANSACTION).fetchone() != (0,):
            assert time.monotonic() < end, "a transaction stayed open"
    entries = watcher.entries(plan_id)
    assert watcher.load(plan_id) == follow(Plan(), entries)
    assert entries in (FIRST.entries, FIRST.entries + BATCH.entries)
    return len(entries) > 1


# Look for the tables, begin, lock; read the tail, the key; append, keep a snapshot; commit.
WANTED = {
    ("interrupted_before", True): ["interrupted"] * 8,
    ("interrupted_after", True): ["interrupted"] * 8,
    ("lost_before", True): [*["kept"] * 3, *["lost"] * 5],
    ("lost_after", True): [*["kept"] * 3, *["lost"] * 4, "kept"],
    ("lost_before", False): [*["kept"] * 3, *["lost"] * 3, "unknown"],
    ("lost_after", False): [*["kept"] * 3, *["lost"] * 3, "unknown"],
}


@pytest.mark.parametrize(("fault", "has_key"), WANTED)
def test_every_statement_may_fail(kind, struck, address, fault, has_key):
    """Before and after the n-th statement, for every n: it is told, and nothing is left open."""
    outcomes, key = [], KEY if has_key else None
    with PostgresStore(address) as watcher:
        for number in range(1, len(WANTED[fault, has_key]) + 2):
            plan_id = str(number)
            watcher.append(plan_id, 0, FIRST.entries, FIRST.plan)
            store = kind(address)
            struck(fault, number)
            outcomes.append(outcome(store, plan_id, key))
            struck("none", 0)
            # Nobody is told that it was kept, or was not, and it is otherwise.
            is_kept = settled(watcher, plan_id)
            assert is_kept or outcomes[-1] != "kept"
            assert not is_kept or outcomes[-1] in {"kept", "unknown", "interrupted"}
            if has_key:
                assert outcome(store, plan_id, key) == "kept"
                assert settled(watcher, plan_id)
            store.close()
    assert outcomes == [*WANTED[fault, has_key], "kept"]


@pytest.mark.parametrize("fault", ["interrupted_after", "lost_before"])
def test_every_statement_of_the_first_use_may_fail(kind, struck, address, fault):
    """Tables are made all or none, and whoever comes next finds, or makes, them."""
    for number in range(1, 20):
        with psycopg.connect(address) as db:
            db.execute(DROP)
        store = kind(address)
        struck_now = struck(fault, number)
        with suppress(KeyboardInterrupt, asyncio.CancelledError):
            assert store.load("a") == Plan()
        struck("none", 0)
        with PostgresStore(address) as other:
            assert other.append("a", 0, FIRST.entries, FIRST.plan)
        assert store.load("a") == FIRST.plan
        store.close()
        if struck_now.count < number:
            break
    # A look for the tables, all that makes them; the plan; and no fault at all.
    assert number == 4


def test_a_server_that_does_not_come_back_leaves_it_open(kind, struck, address):
    """Nobody can look whether the commit came about: that is said, with what to do."""
    with PostgresStore(address) as watcher:
        watcher.append("a", 0, FIRST.entries, FIRST.plan)
        store = kind(address, patience=0.1)
        struck("away_after", 8)
        with pytest.raises(StoreError, match="Check with entries_since") as caught:
            commit(store, "a", KEY)
        struck("none", 0)
        assert (caught.value.data["problem"], caught.value.data["revision"]) == ("unknown", 1)
        assert settled(watcher, "a")
        store.close()
