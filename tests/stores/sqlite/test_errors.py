"""Bad weather has words: each an error that says what was seen and what to do, nothing lost."""

import errno
import fcntl
import gc
import os
import shutil
import sqlite3
import time
import warnings
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from support.nobody import as_nobody, folder_for_all
from support.processes import started
from support.stored import create, refused

from todoplan.core.commands import CreateTask
from todoplan.planner import Planner
from todoplan.stores import locks, sqlite
from todoplan.stores.sqlite import SqliteStore
from todoplan.testing.stores.appends import adding


@pytest.fixture
def path(tmp_path):
    return tmp_path / "plans.db"


def test_a_full_disk_keeps_what_was_there(path):
    """The append is refused, and taken once there is room."""
    store = SqliteStore(path)
    create(store, "Dig")
    (connection,) = store._connections.idle
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
    real = sqlite.connect

    def read_only(path, *, create):
        connection = real(path, create=create)
        connection.execute("PRAGMA query_only = 1")
        return connection

    monkeypatch.setattr(sqlite, "connect", read_only)
    store = SqliteStore(path)
    assert len(store.load("a")) == 1
    assert "may write the file and its folder" in refused("read_only", lambda: create(store, "x"))


@pytest.mark.parametrize("who", ["a program", "a handle", "a thread"])
def test_who_waits_too_long_is_told(path, who):
    """Somebody holds the file for longer than our patience; reading is free, later it goes on."""
    store, taken = SqliteStore(path, patience=0.05), []
    create(store, "Dig")
    turn, said = store._connections.turn, "somebody else has "
    with ExitStack() as stack:
        if who == "a program":
            other = stack.enter_context(closing(sqlite3.connect(path, isolation_level=None)))
            other.execute("BEGIN IMMEDIATE")
        elif who == "a handle":
            stack.enter_context(SqliteStore(path).hold("b"))
        else:
            turn.take(taken, 1)
            turn._holder, said = None, "another thread of this process has held a plan"
        began = time.monotonic()
        assert said in refused("busy", lambda: create(store, "Lay"))
        assert time.monotonic() - began < 5
        assert len(store.load("a")) == 1
    turn.give_back(taken)
    assert len(create(store, "Lay").plan) == 2


FORMAT_2 = "its tables have format 2, and this todoplan reads format 1"
NOT_OURS = [
    ("newer_format", "PRAGMA user_version = 2", FORMAT_2),
    ("foreign", "PRAGMA application_id = 7", "it is a database of another program"),
    ("foreign", "CREATE TABLE mine (x)", "it is a database of another program"),
    ("no_database", "", "it is no SQLite database (file is not a database)"),
    ("refused", "ALTER TABLE entry RENAME TO gone", "SQLite refuses (no such table: entry)"),
    ("corrupt", "", "the database is damaged (database disk image is malformed)"),
]


@pytest.mark.parametrize(("problem", "statement", "told"), NOT_OURS)
def test_a_file_that_is_not_ours_is_refused(path, problem, statement, told):
    """A newer one, another program's, a JSON file, a damaged one: it is not written over."""
    if problem not in {"foreign", "no_database"}:
        with SqliteStore(path) as store:
            for number in range(40 if problem == "corrupt" else 1):
                create(store, f"{number}" * 300)
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
    if problem == "no_database":
        path.write_text('{"format": "todoplan/plans"}' * 100)
    if problem == "corrupt":  # SQLite's own pages, of which our checksums know nothing
        document = bytearray(path.read_bytes())
        for place in range(4096, len(document), 4096):
            document[place : place + 100] = b"\xff" * 100
        path.write_bytes(document)
    before = path.read_bytes()
    for use in (lambda: SqliteStore(path).entries("a"), lambda: create(SqliteStore(path), "Lay")):
        assert f"{path}: {told}. Nothing was written; " in refused(problem, use)
    assert path.read_bytes() == before


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


def test_a_file_that_is_created_during_a_read_was_not_deleted(path, monkeypatch):
    """Another thread creates it after the reader has looked: the reader sees no plan yet."""
    store = SqliteStore(path)
    look = sqlite._identity

    def late(file):
        identity = look(file)
        monkeypatch.setattr(sqlite, "_identity", look)
        create(store, "Dig")
        return identity

    monkeypatch.setattr(sqlite, "_identity", late)
    assert len(store.load("a")) == 0
    assert len(store.load("a")) == 1


MOUNTS = "a / ext4 rw\nb {0}/net nfs4 rw\nc {0}/my\\040disk 9p rw\nd {0}/my\\040disk/x xfs rw\n"


@pytest.mark.parametrize(
    ("folder", "kind"),
    [("", "none"), ("net", "network"), ("my disk", "shared"), ("my disk/x", "none"), ("y", "")],
)
def test_only_a_disk_of_this_machine_is_safe(tmp_path, monkeypatch, folder, kind):
    """By the nearest mount: a network is refused, a shared folder is warned of once."""
    path, real = tmp_path / folder / "plans.db", Path.read_text
    path.parent.mkdir(parents=True, exist_ok=True)

    def read(self, *given):
        if str(self) != "/proc/self/mounts":
            return real(self, *given)
        if not kind:
            raise FileNotFoundError
        return MOUNTS.format(tmp_path)

    monkeypatch.setattr(Path, "read_text", read)
    if kind == "network":
        said = refused("network", lambda: create(SqliteStore(path), "Dig"))
        assert "a network file system (nfs4)" in said
        assert "for several machines use a PostgresStore" in said
        assert not path.exists()
    else:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            create(SqliteStore(path), "Dig")
            assert len(create(SqliteStore(path), "Lay").plan) == 2
        found = ["is on a shared file system (9p)" in str(each.message) for each in told]
        assert found == ([True] if kind == "shared" else [])


@pytest.mark.parametrize("has_bug", [False, True])
@pytest.mark.parametrize("reason", ["no fcntl", errno.ENOLCK, errno.EACCES])
def test_without_locks_it_works_and_an_old_sqlite_is_warned_of(path, monkeypatch, has_bug, reason):
    """SQLite's own lock is enough for one that has not the bug; without permission it is told."""

    def without(*_):
        raise OSError(reason, os.strerror(reason))

    if reason == "no fcntl":
        monkeypatch.setattr(locks, "fcntl", None)
    else:
        monkeypatch.setattr(fcntl, "flock", without)
    monkeypatch.setattr(sqlite, "WAL_RESET_BUG", has_bug)
    store = SqliteStore(path)
    if reason == errno.EACCES:
        assert "Permission denied" in refused("cannot_open", lambda: create(store, "Dig"))
        return
    if has_bug:
        with pytest.warns(UserWarning, match="use SQLite 3.51.3 or later"):
            create(store, "Dig")
    else:
        create(store, "Dig")
    assert len(create(store, "Lay").plan) == 2


class TestLog:
    """SQLite's log is a file beside the database, and is deleted by who takes it for rubbish."""

    @pytest.mark.parametrize("end", ["-wal", "-shm"])
    @pytest.mark.parametrize("replaced", [False, True])
    @pytest.mark.parametrize("look", [False, True])
    def test_an_append_goes_into_no_file_that_nobody_sees(self, path, look, end, replaced):
        """It is refused, as is a look; what was acknowledged is there, if nobody came between."""
        store = SqliteStore(path)
        planner = create(store, "Dig")
        log = path.with_name(path.name + end)
        log.unlink()
        if replaced:
            log.write_bytes(b"")
        use = (lambda: planner.plan) if look else lambda: planner.apply(CreateTask("x"))
        assert "was deleted or replaced" in refused("deleted", use)
        assert log.exists() is replaced  # the log that is there now stays
        if not replaced and end == "-wal":
            assert len(SqliteStore(path).load("a")) == 1
            assert len(planner.apply(CreateTask("Lay")).unwrap()) == 2

    def test_a_new_process_reads_what_was_acknowledged(self, path):
        """Not an empty plan, as it would after a crash of who went on writing."""
        with SqliteStore(path) as store:
            planner = create(store, "Dig")
        planner.apply(CreateTask("Lay"))
        path.with_name("plans.db-wal").unlink()
        refused("deleted", lambda: planner.apply(CreateTask("Fill")))
        script = (
            "import sys; from todoplan.stores import SqliteStore;"
            "print(len(SqliteStore(sys.argv[1]).load('a')))"
        )
        with started(script, path) as process:
            assert (process.stdout.read(), process.wait()) == ("2\n", 0)

    def test_a_database_without_a_log_has_none_to_lose(self, path):
        """Somebody has set another journal mode by hand: it is read and written all the same."""
        create(SqliteStore(path), "Dig")
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA journal_mode = DELETE")
        store = SqliteStore(path)
        assert len(create(store, "Lay").plan) == 2
        assert len(store.load("a")) == 2


class TestReadOnly:
    """A sound database is read where nothing can be written."""

    @pytest.fixture
    def path(self):
        with folder_for_all() as folder:
            yield folder / "plans.db"

    @pytest.mark.parametrize("mode", [0o444, 0o644])
    def test_a_folder_that_may_not_be_written(self, path, mode):
        """SQLite can make no log there; an append says what is missing."""
        with SqliteStore(path) as store:
            planner = create(store, "Dig")
        path.chmod(mode)
        lock = path.with_name("plans.db.lock")
        lock.chmod(0o644)
        with as_nobody():
            store = SqliteStore(path)
            assert [len(store.load("a")), len(store.entries("a"))] == [1, 1]
            assert store.plan_ids() == ("a",)
            assert Planner(store, "a").plan == planner.plan
            refused("read_only or cannot_open", lambda: create(store, "Lay"))
            lock.parent.stat()
        planner.apply(CreateTask("Lay"))
        assert len(SqliteStore(path).load("a")) == 2

    def test_a_log_that_was_not_brought_in_is_told(self, path):
        """Without it, acknowledged entries would be missing from what is read."""
        store = SqliteStore(path)
        create(store, "Dig")
        for end in ("", "-wal"):
            path.with_name(path.name + end).chmod(0o644)
        copy = path.with_name("copy")
        copy.mkdir()
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", copy / f"plans.db{end}")
            (copy / f"plans.db{end}").chmod(0o644)
        with as_nobody():
            said = refused("read_only", lambda: SqliteStore(copy / "plans.db").load("a"))
        assert "plans.db-wal" in said

    def test_a_file_that_may_not_be_read_is_told(self, path):
        """The words are those of a read."""
        with SqliteStore(path) as store:
            create(store, "Dig")
        with as_nobody():
            refused("cannot_open", lambda: SqliteStore(path).load("a"))


class TestThisThreadHolds:
    """A handle that is collected while its own thread holds the file is closed at once."""

    def test_it_costs_no_time_and_stays_not_open(self, path):
        """It has the lock: nobody else writes, or copies the log, meanwhile."""
        # One that waited would wait for a minute, and then stay open.
        holder, other = SqliteStore(path), SqliteStore(path, patience=60)
        create(holder, "Dig")
        assert len(other.load("a")) == 1
        left = len(sqlite._left_open)
        with holder.hold("a"):
            del other
            gc.collect()
            assert len(sqlite._left_open) == left
        assert len(create(holder, "Lay").plan) == 2
