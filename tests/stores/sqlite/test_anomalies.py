"""Failing before and after the n-th statement, for every n: nothing is half done, nothing stays."""

import sqlite3
from functools import partial
from itertools import count

import pytest
from support.stored import create

from todoplan.core.commands import CreateTask
from todoplan.errors import TodoplanError
from todoplan.planner import Planner
from todoplan.stores import rows
from todoplan.stores import sqlite as opening
from todoplan.stores.base import Key
from todoplan.stores.sqlite import SqliteStore
from todoplan.testing.stores.appends import adding


class Failing(opening.Connection):
    """Raises before or after the n-th statement from now on."""

    left = None
    after = False
    raised = None

    def execute(self, *given):
        return self.counted(super().execute, given)

    def executemany(self, *given):
        return self.counted(super().executemany, given)

    def counted(self, method, given):
        cls = type(self)
        if cls.left is None:
            return method(*given)
        cls.left -= 1
        if cls.left == 0 and not cls.after:
            raise cls.raised
        done = method(*given)
        if cls.left == 0:
            del done  # or the traceback would hold the cursor, and that its lock
            raise cls.raised
        return done


@pytest.fixture
def fails(monkeypatch):
    """
    A function that has the n-th statement of a call raise an error, before it or after it. It
    returns False if the call has fewer statements.
    """
    monkeypatch.setattr(opening, "Connection", Failing)
    monkeypatch.setattr(rows, "_SNAPSHOT_FROM", 0)

    def fails(number, after, raised, act):
        Failing.left, Failing.after, Failing.raised = number, after, raised
        try:
            act()
        except (TodoplanError, KeyboardInterrupt):
            return True
        else:
            assert Failing.left > 0
            return False
        finally:
            Failing.left = None

    return fails


def appended(store):
    """Append two entries with a key, as a planner does."""
    made = adding(store.load("a"), ("Lay",), ("Fill",))
    with store.hold("a") as held:
        held.append(made.expected, made.entries, made.plan, key=Key("k"), answer="done")


def compacted(store):
    store.compact("a", keep=1)


DISK = sqlite3.OperationalError("disk I/O error")
DISK.sqlite_errorcode = sqlite3.SQLITE_IOERR


@pytest.mark.parametrize("raised", [DISK, KeyboardInterrupt()], ids=["disk", "interrupt"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("act", [appended, compacted])
def test_every_statement_may_fail(tmp_path, fails, act, after, raised):
    """What was there is there, or all of it is done (COMMIT itself); the next one is served."""
    for number in count(1):
        store = SqliteStore(tmp_path / f"{number}.db", patience=0.05)
        create(store, "Dig", "Water")
        before = store.load("a"), store.entries("a")
        if not fails(number, after, raised, partial(act, store)):
            break
        other = SqliteStore(store.path, patience=0.05)
        found = other.load("a"), other.entries("a")
        done = _done(before, act)
        assert tuple(found[0]) in (tuple(before[0]), done[0])
        assert len(found[1]) in (len(before[1]), done[1])
        # Nothing is left open or locked: by this handle, nor by any other.
        for handle in (store, other):
            create(handle, "Cook", plan_id="b")
        act(store)
        assert tuple(store.load("a")) == done[0]
        assert len(store.entries("a")) == done[1]
    assert number > 4


def _done(before, act):
    plan, journal = before
    if act is compacted:
        return tuple(plan), 2
    made = adding(plan, ("Lay",), ("Fill",))
    return tuple(made.plan), len(journal) + 2


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_every_statement_of_the_first_opening_may_fail(tmp_path, fails, after):
    """A database is set up as a whole or not at all; who comes next sets it up."""
    for number in count(1):
        store = SqliteStore(tmp_path / f"{number}.db", patience=0.05)
        if not fails(number, after, KeyboardInterrupt(), partial(create, store, "Dig")):
            break
        left = SqliteStore(store.path, patience=0.05)
        assert len(left.load("a")) in (0, 1)
        assert len(left.entries("a")) == len(left.load("a"))
        for handle in (store, left):
            create(handle, "Cook", plan_id="b")
        assert len(left.load("b")) == 2
    assert number > 10


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_every_statement_of_a_look_may_fail(tmp_path, fails, after):
    """It is told, and writers are not kept waiting."""
    writer = SqliteStore(tmp_path / "plans.db", patience=0.05)
    planner = Planner(writer, "a")
    for number in count(1):
        planner.apply(CreateTask("Dig"))
        store = SqliteStore(writer.path)

        def look(store=store):
            store.load("a")
            store.entries_since("a", 0)

        if not fails(number, after, DISK, look):
            break
        assert store.load("a") == planner.plan
    assert number > 4
