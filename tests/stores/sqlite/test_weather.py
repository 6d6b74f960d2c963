"""Bad weather has words: each an error that says what was seen and what to do, nothing lost."""

import errno
import fcntl
import shutil
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from todoplan.core.commands import CreateTask
from todoplan.errors import CodecError, StoreError
from todoplan.planner import Planner
from todoplan.stores.sqlite import SqliteStore, connections, opening, weather
from todoplan.testing.stores.appends import adding


@pytest.fixture
def path(tmp_path):
    return tmp_path / "plans.db"


def create(store, subject, plan_id="a"):
    planner = Planner(store, plan_id)
    planner.apply(CreateTask(subject))
    return planner


def refused(problem, use):
    """Return what was said when something was refused, for this reason."""
    with pytest.raises(StoreError) as caught:
        use()
    assert caught.value.data["problem"] == problem
    return str(caught.value)


def test_a_full_disk_keeps_what_was_there(path):
    """The append is refused, and taken once there is room."""
    store = SqliteStore(path)
    create(store, "Dig")
    (connection,) = store._connections._idle
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own way to be full
    large = adding(store.load("a"), ("x" * 90_000,))
    said = refused("disk_full", lambda: store.append("a", 1, large.entries, large.plan))
    assert "plans.db: the disk, or a quota of it, is full" in said
    assert "Nothing was written; make room and try again" in said
    assert len(store.load("a")) == 1
    assert store.append("a", 1, large.entries, large.plan)


def test_a_file_that_can_only_be_read_is_read(path, monkeypatch):
    """Its plans are given; an append is refused with what is missing."""
    create(SqliteStore(path), "Dig")
    real = opening.connect

    def read_only(path, *, create):
        connection = real(path, create=create)
        connection.execute("PRAGMA query_only = 1")
        return connection

    monkeypatch.setattr(connections, "connect", read_only)
    store = SqliteStore(path)
    assert len(store.load("a")) == 1
    assert "may write the file and its folder" in refused("read_only", lambda: create(store, "x"))


def test_who_waits_too_long_is_told(path):
    """Another program holds the file for longer than our patience; then it goes on."""
    store = SqliteStore(path, patience=0.05)
    create(store, "Dig")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        said = refused("busy", lambda: create(store, "Lay"))
        assert "somebody else has held it for too long" in said
        assert len(store.load("a")) == 1
        other.execute("ROLLBACK")
    assert len(create(store, "Lay").plan) == 2


def test_another_handle_that_holds_for_too_long_is_told(path):
    """The same of one that has our lock, in this process or another; of a thread of the handle."""
    store, other = SqliteStore(path, patience=0.05), SqliteStore(path)
    create(store, "Dig")
    with other.hold("b"):
        began = time.monotonic()
        assert "is busy" in refused("busy", lambda: create(store, "Lay"))
        assert time.monotonic() - began < 5
    store._connections._turn._lock.acquire()
    assert "another thread has held a plan" in refused("busy", lambda: create(store, "Lay"))
    store._connections._turn._lock.release()
    assert len(create(store, "Lay").plan) == 2


def test_a_newer_form_is_refused(path):
    """Its plans are neither read nor written over."""
    create(SqliteStore(path), "Dig")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 2")
    before = path.read_bytes()
    for use in (lambda: SqliteStore(path).load("a"), lambda: create(SqliteStore(path), "Lay")):
        said = refused("newer_format", use)
        assert "have the form 2, and this todoplan knows 1" in said
        assert "upgrade todoplan" in said
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused(path):
    """A JSON file of plans, say: it stays as it is."""
    path.write_text('{"format": "todoplan/plans"}' * 100)
    before = path.read_bytes()
    for use in (lambda: SqliteStore(path).load("a"), lambda: create(SqliteStore(path), "Lay")):
        assert "it is no SQLite database" in refused("no_database", use)
    assert path.read_bytes() == before


@pytest.mark.parametrize("statement", ["CREATE TABLE mine (x)", "PRAGMA application_id = 7"])
def test_another_programs_database_is_refused(path, statement):
    """We make no tables in it."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
    before = path.read_bytes()
    for use in (lambda: SqliteStore(path).load("a"), lambda: create(SqliteStore(path), "Lay")):
        assert "it is a database, but none of plans" in refused("foreign", use)
    assert path.read_bytes() == before


def test_a_damaged_database_is_told(path):
    """SQLite's own pages, of which our checksums know nothing."""
    with SqliteStore(path) as store:
        for number in range(40):
            create(store, f"{number}" * 300)
    document = bytearray(path.read_bytes())
    for place in range(4096, len(document), 4096):
        document[place : place + 100] = b"\xff" * 100
    path.write_bytes(document)
    for use in (lambda: SqliteStore(path).entries("a"), lambda: create(SqliteStore(path), "Lay")):
        assert "the database is damaged" in refused("corrupt", use)


def test_a_path_without_a_folder_is_told(path):
    """A misspelled one: on reading, before work is lost."""
    store = SqliteStore(path.parent / "missing" / "plans.db")
    for use in (lambda: store.load("a"), lambda: create(store, "Lay")):
        assert "No such file or directory" in refused("cannot_open", use)
    path.mkdir()
    assert "it cannot be opened" in refused("cannot_open", lambda: SqliteStore(path).load("a"))


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_gone_or_replaced_is_told(path, replaced):
    """SQLite would write on into a file that nobody sees any more: acknowledged, and lost."""
    store = SqliteStore(path)
    planner = create(store, "Dig")
    store.close()
    older = path.with_name("older.db")
    shutil.copy(path, older)
    planner.apply(CreateTask("Lay"))
    store.close()
    path.unlink()
    if replaced:
        older.rename(path)
    for use in (lambda: planner.plan, lambda: planner.apply(CreateTask("Fill"))):
        said = refused("rolled_back" if replaced else "deleted", use)
        assert "make a new SqliteStore" in said
    assert len(SqliteStore(path).load("a")) == replaced


@pytest.mark.parametrize("kind", ["nfs4", "cifs"])
def test_a_networks_file_system_is_refused(path, monkeypatch, kind):
    """Two machines do not see each other's locks there: nothing is made."""
    monkeypatch.setattr(weather, "_file_system", lambda _: kind)
    said = refused("network", lambda: create(SqliteStore(path), "Dig"))
    assert f"a network's file system ({kind})" in said
    assert "for many machines take a PostgresStore" in said
    assert [each for each in path.parent.iterdir() if each.name == "plans.db"] == []


def test_a_shared_file_system_is_warned_of_once(path, monkeypatch):
    """A folder of the host's in a container: whether it is safe cannot be told from here."""
    monkeypatch.setattr(weather, "_file_system", lambda _: "9p")
    with pytest.warns(UserWarning, match=r"plans\.db is on a file system that is shared .*\(9p\)"):
        create(SqliteStore(path), "Dig")
    assert len(create(SqliteStore(path), "Lay").plan) == 2


def test_a_file_system_is_the_one_that_is_mounted_nearest(monkeypatch):
    """The longest mount point above the path; none where the system does not tell."""
    mounts = "a / ext4 rw\nb /mnt nfs rw\nc /mnt/my\\040disk xfs rw\n"
    monkeypatch.setattr(Path, "read_text", lambda *_: mounts)
    assert weather._file_system(Path("/home/x")) == "ext4"
    assert weather._file_system(Path("/mnt/x")) == "nfs"
    assert weather._file_system(Path("/mnt/my disk/x")) == "xfs"
    monkeypatch.setattr(Path, "read_text", lambda *_: "")
    assert weather._file_system(Path("/x")) == ""

    def missing(*_):
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", missing)
    assert weather._file_system(Path("/x")) == ""


@pytest.mark.parametrize("has_bug", [False, True])
@pytest.mark.parametrize("reason", ["no fcntl", errno.ENOLCK])
def test_without_locks_it_works_and_an_old_sqlite_is_warned_of(path, monkeypatch, has_bug, reason):
    """SQLite's own lock is enough for one that has not the bug; one warning, where it has."""
    if reason == "no fcntl":
        monkeypatch.setitem(sys.modules, "fcntl", None)
    else:

        def without(*_):
            raise OSError(reason, "No locks available")

        monkeypatch.setattr(fcntl, "flock", without)
    monkeypatch.setattr(weather, "WAL_RESET_BUG", has_bug)
    store = SqliteStore(path)
    if has_bug:
        with pytest.warns(UserWarning, match="take SQLite 3.51.3 or later"):
            create(store, "Dig")
    else:
        create(store, "Dig")
    assert len(create(store, "Lay").plan) == 2


def test_a_lock_that_fails_otherwise_is_told(path, monkeypatch):
    """No permission, say: nothing was written."""

    def without(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(fcntl, "flock", without)
    assert "Permission denied" in refused("cannot_open", lambda: create(SqliteStore(path), "x"))


def test_what_has_no_words_of_its_own_is_told_as_it_is(path):
    """SQLite's message, and that nothing was written."""
    store = SqliteStore(path)
    create(store, "Dig")
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE receipt")
        db.execute("DROP TABLE entry")
    assert "no such table: entry" in refused("refused", lambda: store.entries("a"))


def test_a_failed_append_that_is_made_light_of_keeps_nothing(path):
    """Half of it would be committed with the rest: whoever catches the error is told again."""
    store = SqliteStore(path)
    create(store, "Dig")
    (connection,) = store._connections._idle
    connection.execute(
        "CREATE TEMP TRIGGER t BEFORE UPDATE ON plan BEGIN SELECT raise(ABORT, 'x'); END"
    )
    planner = Planner(store, "a")
    plan = planner.plan

    def swallow():
        with store.hold("a") as held:
            try:
                held.append(1, planner.history(), plan)
            except StoreError:
                held.entries_since(0)

    assert "what it raised was caught" in refused("broken", swallow)
    assert (store.load("a"), len(store.entries("a"))) == (plan, 1)


def test_a_reader_that_fails_leaves_no_lock_behind(path):
    """A damaged row is told again and again, and writers go on."""
    store = SqliteStore(path)
    create(store, "Dig")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE entry SET line = '{'")
    for _ in range(3):
        with pytest.raises(CodecError):
            store.load("a")
    assert len(create(store, "Cook", plan_id="b").plan) == 1
