"""Bad weather has words: what was seen, whether anything was written, what to do."""

import importlib
import os
import runpy
import sys
import threading
import time
from datetime import UTC, datetime

import psycopg
import pytest
from psycopg.pq import TransactionStatus
from support.stored import DIG, LAY, refused, write

from todoplan.core.plan.plan import Plan
from todoplan.errors import MissingExtraError
from todoplan.stores.base import Key
from todoplan.stores.postgres import PostgresStore
from todoplan.stores.postgres import store as forks
from todoplan.stores.postgres.connections import checked_address
from todoplan.testing.stores.appends import adding


class TestAddress:
    """What is no address is told at once; a password is never shown."""

    @pytest.mark.parametrize(
        "given", [None, 7, {"password": "hidden"}, "hidden words", "sqlite:///hidden", "\ud800"]
    )
    def test_what_is_no_address(self, given):
        """The example says what one looks like; what was given may hold a password."""
        example = "postgresql://user@host/database"
        assert "hidden" not in refused("address", lambda: PostgresStore(given), example)

    @pytest.mark.parametrize(
        ("given", "shown"),
        [
            ("postgresql://ann:secret@db:6543/plans", "postgresql://ann@db:6543/plans"),
            ("host=db dbname=plans user=ann password=secret", "postgresql://ann@db/plans"),
            ("hostaddr=10.0.0.1", "postgresql://10.0.0.1/"),
        ],
    )
    def test_it_is_shown_without_its_password(self, given, shown):
        """In errors, in logs, in its own text."""
        address = checked_address(given)
        assert (str(address), "secret" in repr(address)) == (shown, False)

    def test_it_is_watchful_unless_told_otherwise(self):
        """A network that was cut is noticed within half a minute, by both ends."""
        mine = checked_address("host=db connect_timeout=3 application_name=mine").conninfo
        parts = psycopg.conninfo.conninfo_to_dict(mine)
        names = ("tcp_user_timeout", "connect_timeout", "application_name")
        assert [parts[name] for name in names] == ["30000", "3", "mine"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        *[({"most_connections": most}, "from 1 on") for most in (0, -1, 1.5, True, "4")],
        *[({"patience": patience}, "number of seconds") for patience in (-1, None, True, "10")],
    ],
)
def test_what_is_no_limit_is_refused(opened, options, words):
    """When the store is made, not when it is first waited for."""
    refused("argument", lambda: opened("host=db", **options), words)


class TestNoServer:
    """A server that is not there, or does not let us in."""

    @pytest.mark.parametrize(
        "address", ["host=/nonexistent", "host=127.0.0.1 port=1", "host=no.such.host.invalid"]
    )
    def test_a_server_that_was_never_there_is_told_at_once(self, opened, address):
        """Without waiting: it is likelier a typing error than a restart."""
        store = opened(address, patience=1_000)
        for ask in (lambda: store.load("a"), lambda: store.wait_for_change("a", 0, 1.0)):
            refused("unreachable", ask, "check the address")

    @pytest.mark.parametrize(
        ("role", "database", "told"),
        [
            ("postgres", "nowhere", ("no_database", "createdb")),
            ("nobody:secret", "postgres", ("refused", 'role "nobody" does not exist')),
            ("postgres", "latin", ("encoding", "LATIN1")),
            ("few", "postgres", ("busy", "no connection left")),
        ],
    )
    def test_a_server_that_does_not_serve_says_why(self, opened, postgres, role, database, told):
        """No such database or user, one that cannot hold every text, one connection too many."""
        with psycopg.connect(postgres.address, autocommit=True) as db:
            for statement in (
                "drop database if exists latin",
                "create database latin encoding 'LATIN1' template template0",
                "drop role if exists few",
                "create role few login connection limit 0",
            ):
                db.execute(statement)
        address = postgres.address.replace("postgres@", f"{role}@")
        store = opened(address.replace("/postgres?", f"/{database}?"))
        for _ in range(2):
            assert "secret" not in refused(told[0], lambda: store.load("a"), told[1])

    def test_a_wrong_password(self, opened, postgres):
        """As of a user who is not let in."""
        rules = postgres.data / "pg_hba.conf"
        before = rules.read_text()
        with psycopg.connect(postgres.address, autocommit=True) as db:
            db.execute("drop role if exists ann")
            db.execute("create role ann login password 'right'")
        try:
            rules.write_text("local all ann scram-sha-256\n" + before)
            postgres.reload()
            address = postgres.address.replace("postgres@", "ann:wrong@")
            refused("refused", lambda: opened(address).load("a"), "password authentication failed")
            right = opened(postgres.address.replace("postgres@", "ann:right@"))
            # Let in, but `public` is not its own.
            refused("forbidden", lambda: right.load("a"))
        finally:
            rules.write_text(before)
            postgres.reload()


class TestSettings:
    """What a server, a role, the address or the environment sets, our connections set back."""

    @pytest.mark.parametrize("setting", ["datestyle", "timezone", "client_encoding", "environment"])
    @pytest.mark.parametrize("number", range(3))
    def test_times_and_texts_are_read_in_any_style(
        self, opened, address, monkeypatch, setting, number
    ):
        """Leases are told by the server's clock; any text comes back, and others see it too."""
        encodings = ["LATIN1", "SQL_ASCII", "EUC_JP"]
        values = {"datestyle": ["German", "SQL,DMY", "Postgres"], "timezone": ["Japan"] * 3}
        value, name = values.get(setting, encodings)[number], "Grün \N{SNOWMAN}"
        made = adding(Plan(), (f"{name} \ud83d",))
        if setting == "environment":
            monkeypatch.setenv("PGCLIENTENCODING", value)
            store = opened(address)
        else:
            store = opened(f"{address}%20-c{setting}%3D{value}")
        with store.hold(name) as held:
            now = held.now()
            held.append(0, made.entries, made.plan)
        monkeypatch.undo()
        assert abs((now - datetime.now(UTC)).total_seconds()) < 60
        assert opened(address).load(name) == store.load(name) == made.plan

    def test_a_watcher_is_woken_in_any_encoding(self, opened, address):
        """The announcement bears the plan's id, which may be any text."""
        store = opened(f"{address}%20-cclient_encoding%3DLATIN1")
        done = []

        def wait():
            done.append(store.wait_for_change("Grün \N{SNOWMAN}", 0, 20))

        waiting = threading.Thread(target=wait)
        waiting.start()
        time.sleep(0.3)
        write(PostgresStore(address), DIG, plan_id="Grün \N{SNOWMAN}")
        waiting.join()
        assert done == [True]


class TestServerRestarts:
    """A handle outlives the server's restarts, as long as they are shorter than its patience."""

    def test_a_server_that_is_away_is_waited_for(self, opened, postgres, address):
        """No longer than `patience`; afterwards it is told, and the handle goes on being good."""
        store, hasty = opened(address), opened(address, patience=0.05)
        write(store, DIG)
        assert hasty.load("a") == DIG.plan
        postgres.stop("fast")
        starting = threading.Timer(0.3, postgres.start)
        try:
            refused("unreachable", lambda: hasty.load("a"))
        finally:
            starting.start()
        write(store, LAY)
        starting.join()
        assert hasty.load("a") == LAY.plan

    def test_a_look_that_loses_its_connection_at_the_end(self, opened, postgres, address):
        """Nobody appended anything; what is idle later is found dead, and opened again."""
        store = opened(address)
        write(store, DIG)
        with store.hold("a") as held:
            assert held.entries_since(0) == DIG.entries
            postgres.restart_killed()
        write(store, LAY)
        assert store.load("a") == LAY.plan

    def test_a_server_that_dies_under_a_held_plan(self, opened, postgres, address):
        """Nothing was appended, and that is said; who held it may hold it again."""
        store = opened(address)
        write(store, DIG)

        def hold():
            with store.hold("a") as held:
                postgres.restart_killed()
                held.append(LAY.expected, LAY.entries, LAY.plan)

        refused("lost", hold, "nothing was appended")
        write(store, LAY)


class TestLimits:
    """What a server, a user or a newer todoplan does not let us do."""

    @pytest.mark.parametrize(
        ("setting", "patience", "told"),
        [
            ("default_transaction_read_only%3Don", 1, ("read_only", "address of the primary")),
            ("statement_timeout%3D50", 30, ("timeout", "took too long")),
            ("statement_timeout%3D0", 0.05, ("busy", "somebody else holds the plan")),
        ],
    )
    def test_a_server_that_lets_us_read_only_or_not_for_long(
        self, opened, address, setting, patience, told
    ):
        """Plans can be read, also one that somebody else holds; an append says what is wrong."""
        other = opened(address)
        write(other, DIG)
        store = opened(f"{address}%20-c{setting}", patience=patience)
        with other.hold("a"):
            refused(told[0], lambda: write(store, LAY), told[1])
            assert store.load("a") == DIG.plan

    def test_all_connections_are_in_use(self, opened, address):
        """Of this store; somebody else's may be free, and this one's are later."""
        store = opened(address, most_connections=1, patience=0.05)
        with store.hold("a"):
            refused("busy", lambda: store.load("b"), "most_connections")
            assert opened(address).load("b") == Plan()
        assert store.load("b") == Plan()

    def test_a_holder_that_says_nothing_for_too_long(self, opened, address, monkeypatch):
        """It is rolled back, so that others go on: it may be stopped, or cut off."""
        monkeypatch.setattr("todoplan.stores.postgres.store._LONGEST_HOLD", "50ms")
        store = opened(address)

        def hold():
            with store.hold("a") as held:
                # With a key: psycopg may hear of the lost connection, and not why it was.
                held.append(0, DIG.entries, DIG.plan, key=Key("call-1"))
                time.sleep(0.2)

        refused("lost", hold)
        assert store.load("a") == Plan()

    def test_a_disk_that_is_full(self, store, sql):
        """Nothing was appended, what is there is read, and it goes on when there is room."""
        write(store, DIG)
        # By a trigger: the server says the same where its disk is full.
        sql(
            "create function no_room() returns trigger language plpgsql as $$ begin "
            "raise exception 'could not extend file: No space left on device' "
            "using errcode = '53100'; end $$"
        )
        sql("create trigger no_room before insert on todoplan_entry execute function no_room()")
        refused("disk_full", lambda: write(store, LAY), "make room there")
        assert len(store.load("a")) == 1
        sql("drop trigger no_room on todoplan_entry")
        write(store, LAY)
        assert len(store.load("a")) == 2

    def test_a_newer_format_is_refused_plan_by_plan(self, store, sql):
        """An older todoplan beside a newer one changes nothing that it cannot read."""
        write(store, DIG)
        write(store, DIG, plan_id="b")
        sql("update todoplan_plan set format = 2 where id = 'a'")
        for act in (lambda: store.load("a"), lambda: store.entries("a"), lambda: write(store, LAY)):
            refused("newer_format", act, "upgrade")
        write(store, LAY, plan_id="b")

    def test_tables_that_were_dropped(self, store, sql):
        """They are not made anew under a handle that has seen them full."""
        write(store, DIG)
        sql("drop table todoplan_entry")
        refused("deleted", lambda: store.entries("a"), "backup")


class TestFork:
    """A child has connections of its own, and leaves its parent's alone."""

    def test_what_a_child_begins_with(self, address, monkeypatch):
        """No connections, no lock that somebody holds, nobody who listens; nothing is closed."""
        here = os.getpid()
        with PostgresStore(address) as store:
            write(store, DIG)
            ((_, parents),) = store.connections._kept
            with store._listener.waking("a", lambda: None), store._listener._lock:
                forks._begin_anew()
                assert (store._listener._thread, store.connections._kept) == (None, [])
            write(store, LAY)
            with monkeypatch.context() as child:
                child.setattr(os, "getpid", lambda: here + 1)
                forks.OF_PARENTS.clear()
            assert not parents.closed
            parents.close()

    def test_a_system_without_forks_needs_nothing(self, monkeypatch):
        """Such as Windows."""
        monkeypatch.delattr(os, "register_at_fork")
        assert "PostgresStore" in runpy.run_path(forks.__file__)

    def test_the_end_of_a_parents_with_is_nothing_in_its_child(self, opened, address, monkeypatch):
        """Its transaction is neither committed nor rolled back there, its connection not closed."""
        store = opened(address)
        write(store, DIG)
        here = os.getpid()

        def hold():
            with store.hold("a") as held:
                held.append(LAY.expected, LAY.entries, LAY.plan)
                monkeypatch.setattr(os, "getpid", lambda: here + 1)

        refused("not_held", hold)
        monkeypatch.undo()
        parents = forks.OF_PARENTS.pop()
        assert parents.info.transaction_status is TransactionStatus.INTRANS
        parents.pgconn.finish()
        write(store, LAY)


def test_without_psycopg_it_says_what_to_install(monkeypatch):
    """The extra is asked for when a store is, not before."""
    for name in [name for name in sys.modules if name.startswith("todoplan.stores.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'todoplan\[postgres\]'"):
        importlib.import_module("todoplan.stores.postgres")
