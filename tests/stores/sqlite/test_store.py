"""Plans in a SQLite database: what is kept, how it is loaded, how a journal is cut."""

import shutil
import sqlite3
import stat
import time
from pathlib import Path
from tempfile import mkdtemp

import attrs
import pytest

from todoplan.core.commands import CreateTask
from todoplan.core.decide import Rejected
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, StoreError
from todoplan.planner import Planner
from todoplan.stores.base import beginning, follow
from todoplan.stores.file import FileStore
from todoplan.stores.sqlite import SqliteStore, is_ours, set_up
from todoplan.testing.stores import StoreSuite


@pytest.fixture
def path(tmp_path):
    return tmp_path / "plans.db"


def create(store, *subjects, plan_id="a"):
    planner = Planner(store, plan_id)
    for subject in subjects:
        planner.apply(CreateTask(subject))
    return planner


def test_a_look_makes_no_file(path):
    """Who misspells a name, and reads, leaves nothing behind."""
    store = SqliteStore(path)
    assert (store.load("a"), store.entries("a"), store.plan_ids()) == (Plan(), (), ())
    assert store.entries_since("a", 0) == ()
    store.close()
    assert [*path.parent.iterdir()] == []
    path.touch()
    assert store.load("a") == Plan()
    assert path.stat().st_size == 0
    assert len(create(store, "Dig").plan) == 1


def test_the_file_is_its_owners_alone(path):
    """What stands in a plan is nobody else's business; an existing file is left as it is."""
    create(SqliteStore(path), "Dig")
    assert {stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()} == {0o600}


def test_a_path_and_a_link_to_it_are_one_store(path):
    """Both wait for the same lock, also after the process has changed its folder."""
    create(SqliteStore(path), "Dig")
    link = path.with_name("link.db")
    link.symlink_to(path.name)
    assert SqliteStore(link).path == path
    assert len(SqliteStore(link).load("a")) == 1


@pytest.mark.parametrize(
    "wrong", ["a\0b", 7, None, "", ":memory:", "sqlite:///plans.db", b"plans.db"]
)
def test_what_is_no_path_is_refused(wrong):
    """At once, and with what was meant: a URL, a plan in memory."""
    with pytest.raises(StoreError, match="is no path; give the name of a file"):
        SqliteStore(wrong)


def test_a_hold_that_is_interrupted_before_it_took_anything_gives_nothing_back(path, monkeypatch):
    """The interrupt is what its caller sees, and whoever holds next does not wait."""
    store = SqliteStore(path)

    def interrupted():
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store._connections, "after_fork", interrupted)
        with pytest.raises(KeyboardInterrupt), store.hold("a"):
            """Never."""
    assert len(create(store, "Dig").plan) == 1


def test_undo_says_that_the_journal_was_cut(path):
    """What stands is taken back; what was cut is not, and the answer says why."""
    store = SqliteStore(path)
    planner = create(store, "Dig", "Lay", "Fill")
    store.compact("a", keep=1)
    assert [task.subject for task in planner.undo().unwrap()] == ["Dig", "Lay"]
    refused = planner.undo()
    assert isinstance(refused, Rejected)
    assert [(each.code, each.seen) for each in refused.problems] == [("journal_cut", "2")]
    assert len(create(store, "Plant").plan) == 3


def test_a_planner_that_was_away_during_a_cut_goes_on(path):
    """It is told from the cut on, and ids go on as if nothing had been cut."""
    store = SqliteStore(path)
    planner = create(store, "Dig")
    create(store, "Lay", "Fill")
    store.compact("a", keep=1)
    planner.apply(CreateTask("Plant"))
    assert [task.id for task in planner.plan] == ["1", "2", "3", "4"]
    assert planner.plan == SqliteStore(path).load("a")


def test_a_cut_journal_is_kept_by_a_file_as_well(path, tmp_path):
    """A plan that was cut can be moved to any store."""
    store, file = SqliteStore(path), FileStore(tmp_path / "plans.json")
    plan = create(store, "Dig", "Lay", "Fill").plan
    store.compact("a", keep=1)
    file.append("a", 0, store.entries("a"), plan)
    again = FileStore(file.path)
    assert (again.load("a"), again.entries("a")) == (plan, store.entries("a"))


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
    store = SqliteStore(path)
    create(store, "Dig")
    idle = store._connections.idle
    (connection,) = idle
    seen, close = [], type(connection).close

    def watched(self):
        seen.append(self in idle)
        close(self)

    monkeypatch.setattr(type(connection), "close", watched, raising=False)
    store.close()
    assert seen == [False]
    assert len(store.load("a")) == 1


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
        with pytest.raises(StoreError, match="not the one that was read") as caught:
            act()
        assert caught.value.data["problem"] == "rolled_back"
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


_LOOKS = 3


class Interrupted:
    """A connection whose file another one sets up right behind its first so many statements."""

    def __init__(self, path, after):
        self._path, self._after = path, after
        self._connection = sqlite3.connect(path, isolation_level=None)

    def execute(self, statement):
        """Execute a statement, and have its rows read, before the other one comes."""
        rows = self._connection.execute(statement).fetchall()
        self._after -= 1
        if self._after == 0:
            other = sqlite3.connect(self._path, isolation_level=None)
            set_up(other, self._path, time.monotonic() + 10)
            other.close()
        return Rows(rows)

    def close(self):
        """Close the connection."""
        self._connection.close()


class Rows(list):
    """Rows, given as a cursor gives them."""

    def fetchone(self):
        """Return the first row."""
        return self[0]


@pytest.mark.parametrize("after", range(1, _LOOKS + 1))
def test_a_database_that_is_just_being_made_is_nobody_elses(tmp_path, after):
    """Whenever its tables come, it is empty or ours; one of 320 openings called it foreign."""
    path = tmp_path / "plans.db"
    seen = Interrupted(path, after)
    assert is_ours(seen, path) in {True, False}
    assert is_ours(seen, path)
    seen.close()


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
