"""Plans in a SQLite database: what is kept, how it is loaded, how a journal is cut."""

import shutil
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace

import attrs
import pytest
from support.stored import create, refused

from todoplan.core.commands import CreateTask
from todoplan.core.decide import Rejected
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, StoreError
from todoplan.planner import Planner
from todoplan.stores.base import beginning, follow
from todoplan.stores.copying import copy_plan
from todoplan.stores.file import FileStore
from todoplan.stores.sqlite import SqliteStore, is_ours, set_up
from todoplan.testing.stores import StoreSuite


@pytest.fixture
def path(tmp_path):
    return tmp_path / "plans.db"


def test_a_look_makes_no_file(path):
    """Who misspells a name, and reads, leaves nothing behind; what is made is its owner's alone."""
    with SqliteStore(path) as store:
        assert (store.load("a"), store.entries("a"), store.plan_ids()) == (Plan(), (), ())
        assert store.entries_since("a", 0) == ()
    assert [*path.parent.iterdir()] == []
    create(store, "Dig")
    assert {stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()} == {0o600}
    empty = path.with_name("empty.db")
    empty.touch()
    assert SqliteStore(empty).load("a") == Plan()
    assert empty.stat().st_size == 0
    assert len(create(SqliteStore(empty), "Dig").plan) == 1


@pytest.mark.parametrize(
    "wrong", ["a\0b", 7, None, "", ":memory:", "sqlite:///plans.db", b"plans.db"]
)
def test_a_store_is_named_by_a_path(path, wrong):
    """A link to a file is the same store, with one lock; what is no path is refused at once."""
    path.symlink_to("real.db")
    assert SqliteStore(path).path == path.with_name("real.db")
    with pytest.raises(StoreError, match="is no path; give the name of a file"):
        SqliteStore(wrong)


def test_a_planner_goes_on_behind_a_cut(path, tmp_path):
    """Ids go on as if nothing had been cut; undo says where it ends; a file keeps the rest too."""
    store, file = SqliteStore(path), FileStore(tmp_path / "plans.json")
    away = create(store, "Dig")
    planner = create(store, "Lay", "Fill")
    store.compact("a", keep=1)
    assert copy_plan(store, file, "a")
    assert [task.subject for task in planner.undo().unwrap()] == ["Dig", "Lay"]
    refused = planner.undo()
    assert isinstance(refused, Rejected)
    assert [(each.code, each.seen) for each in refused.problems] == [("journal_cut", "2")]
    away.apply(CreateTask("Plant"))
    assert [task.id for task in away.plan] == ["1", "2", "4"]
    assert away.plan == SqliteStore(path).load("a")


def test_a_beginning_without_a_plan_is_damage():
    """There is nothing to go on from."""
    broken = attrs.evolve(beginning(Plan(), "compact"), events=())
    with pytest.raises(CodecError, match="it is a snapshot entry without a plan"):
        follow(Plan(), (broken,))


def test_a_used_store_keeps_few_connections(path):
    """However many threads have read at once; all are given back when it is closed."""
    store = SqliteStore(path)
    create(store, "Dig")
    idle = store._connections.idle
    for _ in range(12):
        taken, kept = [], [*idle]
        idle.clear()
        assert store._connections.take(taken, 1e18, create=False)
        idle.extend([*kept, *taken])
    for _ in range(6):
        create(store, "Lay")
    assert len(idle) <= 8 + 1
    before = len([*Path("/dev/fd").iterdir()])
    store.close()
    assert len(idle) == 0
    assert len([*Path("/dev/fd").iterdir()]) < before


def test_no_thread_gets_a_connection_that_is_being_closed(path, monkeypatch):
    """A connection leaves the idle ones before it is closed, and the store stays usable."""
    store, seen = SqliteStore(path), []
    create(store, "Dig")
    idle = store._connections.idle
    ((kind, close),) = [(type(each), type(each).close) for each in idle]

    def watched(self):
        seen.append(self in idle)
        close(self)

    monkeypatch.setattr(kind, "close", watched, raising=False)
    store.close()
    assert (seen, len(store.load("a"))) == ([False], 1)


def restored(path, copy):
    """Put an older copy back under the same inode, as a restore in place does."""
    before = path.stat().st_ino
    shutil.copyfile(copy, path)
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    assert path.stat().st_ino == before


@pytest.mark.parametrize("look", [False, True])
@pytest.mark.parametrize("anew", [False, True])
def test_a_plan_that_went_on_differently_is_not_written_over(path, look, anew):
    """With as many revisions as were seen, it would be taken for the plan that is known."""
    store = SqliteStore(path)
    planner = create(store, "Dig")
    store.close()
    copy = path.with_name("copy.db")
    if anew:
        create(SqliteStore(copy)).apply(CreateTask("Sow")).unwrap()
    else:
        shutil.copyfile(path, copy)
    planner.apply(CreateTask("Lay"))
    store.close()
    restored(path, copy)
    with SqliteStore(path) as other:
        create(other, "Weed", *(["x" * 40_000] if anew else []))
    for act in (lambda: planner.plan, lambda: planner.apply(CreateTask("Fill" * 20_000)))[look:]:
        refused("rolled_back", act, "not the one that was read")
    fresh = SqliteStore(path)
    assert fresh.load("a") == follow(Plan(), fresh.entries("a"))
    assert [task.subject[:4] for task in fresh.load("a")][:2] == (
        ["Sow", "Weed"] if anew else ["Dig", "Weed"]
    )


@pytest.mark.parametrize(
    ("copied", "words"), [(("Sow", "Weed"), "from older data while"), (("Dig",), "2 was already")]
)
@pytest.mark.parametrize("act", ["look", "edit", "watch"])
def test_a_plan_that_was_only_read_is_known_as_well(path, copied, words, act):
    """Also a first look or a watch knows the last entry; less than was seen is told too."""
    store = SqliteStore(path)
    create(store, "Dig", "Lay")
    planner = Planner(store, "a")
    watch = planner.watch(since=1, timeout=0)
    assert (next(watch).revision, len(planner.plan)) == (2, 2)
    store.close()
    with SqliteStore(path.with_name("copy.db")) as other:
        create(other, *copied)
    restored(path, path.with_name("copy.db"))
    acts = {"look": lambda: planner.plan, "watch": lambda: next(watch)}
    with pytest.raises(StoreError, match=words):
        acts.get(act, lambda: planner.apply(CreateTask("Fill")))()
    assert [task.subject for task in Planner(SqliteStore(path), "a").plan] == [*copied]


@pytest.mark.parametrize("keep", [0, 1])
def test_a_journal_that_was_cut_is_no_other_one(path, keep):
    """Where the known entry was cut, at its revision or behind it, the cut says how to go on."""
    store = SqliteStore(path)
    planner, other = create(store, "Dig", "Lay"), Planner(store, "a")
    assert len(other.plan) == 2
    watch = other.watch(since=2, timeout=0)
    planner.apply(CreateTask("Fill"))
    assert next(watch).revision == 3
    store.compact("a", keep=keep)
    for each in (planner, other):
        each.apply(CreateTask("Plant")).unwrap()
    assert [entry.revision for entry in watch] == [4, 5]
    assert [task.id for task in other.plan] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_database_that_is_just_being_made_is_nobody_elses(path, after):
    """Whenever its tables come, it is empty or ours; one of 320 openings called it foreign."""
    left = [after]

    class Beaten(sqlite3.Connection):
        def execute(self, statement):
            row = super().execute(statement).fetchone()
            left[0] -= 1
            if left[0] == 0:
                with closing(sqlite3.connect(path, isolation_level=None)) as other:
                    set_up(other, path, time.monotonic() + 10)
            return SimpleNamespace(fetchone=lambda: row)

    with closing(sqlite3.connect(path, isolation_level=None, factory=Beaten)) as seen:
        assert is_ours(seen, path) in {True, False}
        assert is_ours(seen, path)


class TestSqliteStore(StoreSuite):
    """Plans in a database, read and written by two handles."""

    def store(self):
        return SqliteStore(f"{mkdtemp(dir=self.folder)}/plans.db")

    def reopened(self, store):
        return SqliteStore(store.path)

    def in_another_process(self, store):
        opened = f"SqliteStore({str(store.path)!r}, patience=60)"
        return f"from todoplan.stores import SqliteStore; opened = lambda: {opened}"

    def close(self, store):
        store.close()
