"""Processes that are forked or stopped, and threads: nothing is lost, nobody waits for ever."""

import os
import signal
import sqlite3

import pytest
from support.processes import started
from support.stored import DIG, create, refused, write

from todoplan.errors import StoreError
from todoplan.stores import sqlite as connections
from todoplan.stores.sqlite import SqliteStore

PATIENCE = 60


@pytest.fixture
def path(tmp_path):
    return tmp_path / "plans.db"


STOPS = """
import os, signal, sys
from todoplan.stores import SqliteStore
with SqliteStore(sys.argv[1]).hold("a") as held:
    os.kill(os.getpid(), signal.SIGSTOP)
"""


def test_a_stopped_process_holds_up_nobody_for_ever(path):
    """Others are told that it is busy, and read; when it goes on, so do they."""
    create(SqliteStore(path), "Dig")
    with started(STOPS, path) as stopped:
        os.waitpid(stopped.pid, os.WUNTRACED)
        store = SqliteStore(path, patience=0.05)
        refused("busy", lambda: create(store, "Lay"), "is busy")
        assert len(store.load("a")) == 1
        stopped.send_signal(signal.SIGCONT)
        assert stopped.wait(PATIENCE) == 0
    create(store, "Lay")
    assert len(store.load("a")) == 2


FORKS = """
import os, sys
from todoplan import Plan
from todoplan.stores import SqliteStore
from todoplan.testing.stores.appends import adding
store = SqliteStore(sys.argv[1])
made = adding(Plan(), *[("Dig" * 100,)] * 60)
store.append("b", 0, made.entries, made.plan)
with store.hold("a") as held:
    held.append(0, made.entries, made.plan)
    child = os.fork()
    if not child:
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""


def test_a_child_that_ends_takes_nothing_back(path):
    """Python closes all connections at its end, and a child's are its parent's: these it leaves."""
    with started(FORKS, path) as process:
        assert process.wait(PATIENCE) == 0
    store = SqliteStore(path)
    assert len(store.load("a")) == len(store.load("b")) == 60
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    db.close()


def test_what_a_child_does_with_its_parents_connections_is_to_leave_them(path, monkeypatch):
    """It closes none, commits none and lets go of no lock: seen here by another process id."""
    store, other = SqliteStore(path), SqliteStore(path, patience=0.05)
    create(store, "Dig")
    idle = [*store._connections.idle]
    mine = os.getpid()
    with pytest.raises(StoreError, match="was forked"), store.hold("a"):
        monkeypatch.setattr(os, "getpid", lambda: mine + 1)
    assert connections._left_open[-1:] == idle
    assert idle[0].in_transaction
    monkeypatch.undo()
    with pytest.raises(StoreError, match="for too long"), other.hold("a"):
        """Nor does the transaction end."""
    idle[0].execute("ROLLBACK")
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: mine + 1)
        assert len(store.load("a")) == 1
        assert store._connections.process == mine + 1
    assert len(store.load("a")) == 1


def test_a_set_up_that_somebody_else_was_faster_with_is_left_as_it_is(path, monkeypatch):
    """Where files cannot be locked, the second one finds the tables and makes none."""
    create(SqliteStore(path), "Dig")
    looked, real = [], connections.is_ours

    def once_empty(connection, path):
        looked.append(path)
        return len(looked) > 1 and real(connection, path)

    monkeypatch.setattr(connections, "is_ours", once_empty)
    late = SqliteStore(path)
    write(late, DIG, plan_id="b")
    assert late.plan_ids() == ("a", "b")


def test_a_handle_that_is_dropped_gives_its_connections_back(path, monkeypatch):
    """Under the lock, since the last one copies the log into the file; else they are left open."""
    monkeypatch.setattr(connections, "_AT_THE_END", 0.01)
    store = SqliteStore(path)
    create(store, "Dig")
    assert path.with_name("plans.db-wal").exists()
    del store
    assert not path.with_name("plans.db-wal").exists()
    store, other = SqliteStore(path), SqliteStore(path)
    create(store, "Lay")
    with other.hold("a"):
        store.close()
    assert path.with_name("plans.db-wal").exists()
    assert len(store.load("a")) == 2
