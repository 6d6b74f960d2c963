"""Plans as rows: what SQLite and PostgreSQL, at once and awaited, promise alike."""

import os
import sqlite3
import warnings
from contextlib import closing
from datetime import UTC, datetime, timedelta

import attrs
import psycopg
import pytest
from support.blocking import BlockingStore
from support.stored import DIG, FILL, LAY, append, refused, write

from todoplan.core.commands import CreateTask
from todoplan.core.events.apply import Entry
from todoplan.core.plan.model import FrozenDict
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, PlanError, StoreError
from todoplan.planner import Planner
from todoplan.stores import rows
from todoplan.stores.base import Key, Receipt, cut_at, follow, is_beginning
from todoplan.stores.memory import MemoryStore
from todoplan.stores.postgres import PostgresStore
from todoplan.stores.sqlite import SqliteStore
from todoplan.testing.stores.appends import adding

LARGE = adding(DIG.plan, ("x" * 40_000,))
KEY = Key("call-1", '{"subject": "Dig"}')
UNKEPT = adding(DIG.plan, ("Lay",), metadata=FrozenDict({"holes": frozenset({1})}))


class Database:
    """An empty database, its stores, and statements carried out beside them."""

    def __init__(self, kind, place):
        self.kind, self.place, self.stores = kind, place, []

    def open(self, **options):
        """Open a store, which is closed at the end."""
        self.stores.append(self.kind(self.place, **options))
        return self.stores[-1]

    def sql(self, statement):
        """Carry out a statement with PostgreSQL's names of tables, and return its rows."""
        if self.kind is SqliteStore:
            with closing(sqlite3.connect(self.place)) as db, db:
                return db.execute(statement.replace("todoplan_", "")).fetchall()
        with psycopg.connect(self.place, autocommit=True) as db:
            cursor = db.execute(statement)
            return cursor.fetchall() if cursor.description else None


KINDS = {"sqlite": SqliteStore, "called": PostgresStore, "awaited": BlockingStore}


@pytest.fixture
def databases(request, tmp_path):
    """A function that makes an empty database of a kind."""
    made = []

    def empty(kind):
        is_file = kind == "sqlite"
        place = tmp_path / "a.db" if is_file else request.getfixturevalue("postgres").fresh()
        made.append(Database(KINDS[kind], place))
        return made[-1]

    yield empty
    for store in [store for database in made for store in database.stores]:
        store.close()


@pytest.fixture(params=KINDS)
def database(request, databases):
    return databases(request.param)


@pytest.fixture
def store(database):
    return database.open()


@pytest.fixture(params=["memory", "sqlite", "called"])
def any_store(request, databases):
    """A store that can lock plans, in the thread of whoever calls it."""
    return MemoryStore() if request.param == "memory" else databases(request.param).open()


def test_who_holds_a_plan_does_not_wait_for_itself(any_store):
    """A second hold in the same thread is refused at once, and the first goes on."""
    with any_store.hold("a") as held:
        assert any_store.load("a") == Plan()
        for again in (lambda: any_store.hold("a").__enter__(), lambda: write(any_store, DIG)):
            refused("nested", again, "already holds a plan of it, and would")
        append(held, DIG)
    assert any_store.entries("a") == DIG.entries


def test_what_is_held_is_of_its_with_alone(any_store):
    """Afterwards it takes and gives nothing: somebody else may hold the plan by now."""
    with any_store.hold("a") as held:
        """Nothing is appended."""
    for use in (
        lambda: held.entries_since(0),
        lambda: held.receipt(Key("k")),
        lambda: append(held, DIG),
    ):
        refused("not_held", use, "'a' is not held any more")
    assert any_store.plan_ids() == ()


def test_an_append_that_cannot_be_kept_leaves_the_others(store, monkeypatch):
    """What no document can hold, or nobody could read again, is refused before it is written."""
    write(store, DIG)
    with store.hold("a") as held:
        with pytest.raises(CodecError):
            append(held, UNKEPT)
        with monkeypatch.context() as patch:
            patch.setattr(rows, "LIMIT", 400)
            large = adding(DIG.plan, ("\xe9" * 200,))
            refused("too_large", lambda: append(held, large), "would have more than 400 bytes")
        append(held, LAY)
    assert store.load("a") == LAY.plan


def test_a_failure_that_is_caught_does_not_lose_the_rest_silently(store):
    """Half of it would be kept with the rest, or none of all: whoever catches it is told again."""
    write(store, DIG)
    twice = attrs.evolve(LAY, expected=2, entries=DIG.entries)  # revision 1 is there already

    def make_light_of_it():
        with store.hold("a") as held:
            append(held, LAY)
            with pytest.raises(StoreError, match=r"duplicate key|UNIQUE constraint"):
                append(held, twice)

    refused("broken", make_light_of_it, "nothing was appended|its exception was caught")
    assert store.load("a") == DIG.plan


@pytest.mark.parametrize(
    "name", ["a\0b", "half \ud83c of a pair", "'; drop table x; --", "\\", '"', ""]
)
def test_any_text_is_an_id_a_key_a_payload_and_an_answer(store, name):
    """NUL and half characters too, which no database holds as they are."""
    key = Key(name, name)
    with store.hold(name) as held:
        append(held, DIG, key=key, answer=name)
    with store.hold(name) as held:
        assert held.receipt(key) == Receipt(DIG.entries, name)
    assert (store.plan_ids(), store.load(name)) == ((name,), DIG.plan)


def test_names_stay_apart_and_readable():
    """A stored name is text that every database takes, and no two names have the same."""
    names = ("a", "a\0b", "\ud800", "a\\u0000b", '"', "\u2028", "\ufdd0", "", "\x7f", "é")
    stored = [rows.stored_name(name) for name in names]
    assert [rows.text_of_name(each) for each in stored] == [*names]
    assert len(set(stored)) == len(names)
    assert not any("\0" in each or "\ud800" in each for each in stored)
    plain = "".join(map(chr, range(32, 127)))
    assert rows.stored_name(plain) == plain.replace("\\", "\\\\").replace('"', '\\"')


def test_an_id_that_is_no_text_is_refused(store):
    """A developer's mistake, told at once."""
    for act in (store.load, store.entries, lambda plan_id: store.hold(plan_id).__enter__()):
        with pytest.raises(PlanError, match="not 7: pass str"):
            act(7)


def test_a_receipt_has_all_that_came_under_its_key(store):
    """Nothing that came before or after; a refusal, which changed nothing, has a receipt too."""
    several = adding(DIG.plan, ("Lay",), ("Fill", "Plant"))
    write(store, DIG)
    with store.hold("a") as held:
        append(held, several, key=KEY)
        assert held.append(4, (), several.plan, key=Key("none"), answer="no") == ()
    write(store, adding(several.plan, ("Rest",)))
    with store.hold("a") as held:
        assert held.receipt(KEY).entries == several.entries
        assert held.receipt(Key("none")) == Receipt((), "no")


class TestLoad:
    """A load reads a snapshot and what came since, and never another plan than the one written."""

    def test_a_first_load_costs_in_step_with_the_plan(self, database):
        """Not with its history: what the snapshot has is not read; the journal stays whole."""
        store = database.open()
        write(store, DIG, LARGE)
        ((revision, document),) = database.sql("select revision, document from todoplan_snapshot")
        found = database.sql("select since, size from todoplan_plan")
        assert (revision, found) == (2, [(0, len(document))])
        database.sql("update todoplan_entry set line = 'never read' where revision <= 2")
        later = adding(LARGE.plan, ("Lay",))
        write(store, later)
        assert store.load("a") == later.plan
        with pytest.raises(CodecError):
            store.entries("a")

    def test_snapshots_come_in_step_with_the_size_of_the_plan(self):
        """Of a large plan they are rare, so that writing them costs no more than its entries do."""
        due = [(32 * 1024, 0), (32 * 1024 + 1, 0), (100_000, 100_000), (100_001, 100_000)]
        assert [rows.is_snapshot_due(*each) for each in due] == [False, True, False, True]

    @pytest.mark.parametrize(
        ("damage", "words"),
        [
            ("update todoplan_entry set line = replace(line, 'Lay', 'Lie')", "entry of revision 2"),
            ("update todoplan_entry set line = substr(line, 1, 20)", "truncated"),
            ("update todoplan_entry set revision = 7 where revision = 2", "is under 7"),
            ("delete from todoplan_entry where revision = 2", "the events up to it lead to 2"),
            ("delete from todoplan_entry where revision = 1", "the events up to it lead to 1"),
            ("update todoplan_entry set version = 999", "written by a newer todoplan"),
        ],
    )
    def test_damage_is_an_error(self, database, damage, words):
        """A changed letter, a missing entry, a newer form: never an empty plan, nor another one."""
        store = database.open()
        write(store, DIG, LAY, FILL)
        database.sql(damage)
        for read in (store.load, store.entries):
            with pytest.raises(CodecError, match=words):
                read("a")

    def test_an_entry_that_is_missing_at_the_end_is_missed(self, database):
        """The journal leads to another revision than the plan's row says."""
        store = database.open()
        write(store, DIG, LAY)
        database.sql("delete from todoplan_entry where revision = 2")
        refused("gap", lambda: store.load("a"), "is at revision 2, and its journal leads to 1")

    def test_a_damaged_snapshot_is_an_error(self, database):
        """It carries a checksum as entries do; the journal is still there."""
        store = database.open()
        write(store, DIG, LARGE)
        database.sql("update todoplan_snapshot set document = replace(document, 'xxx', 'xyx')")
        with pytest.raises(CodecError, match="the plan 'a', its snapshot"):
            store.load("a")
        assert len(store.entries("a")) == 2

    def test_an_old_version_beside_a_new_one_writes_upon_nothing_that_it_cannot_read(
        self, database
    ):
        """What the newer one has done is neither lost nor passed; other plans go on."""
        # Beads#6064: an old program beside a new one lost three and a half days of writes.
        old, new = Planner(database.open(), "a"), Planner(database.open(), "a")
        old.apply(CreateTask("Dig"))
        new.apply(CreateTask("Lay"))
        database.sql("update todoplan_entry set version = 999 where revision = 2")
        for act in (lambda: old.apply(CreateTask("Fill")), lambda: old.call("read_todos")):
            with pytest.raises(CodecError, match="newer todoplan"):
                act()
        found = database.sql("select revision, version > 900 from todoplan_entry order by 1")
        assert found == [(1, 0), (2, 1)]
        Planner(database.open(), "b").apply(CreateTask("Other plans go on"))


class TestCompact:
    """A journal can be cut; what was cut is the plan as it was then, never nothing."""

    @pytest.mark.parametrize("keep", [3, timedelta(days=2, hours=12)])
    def test_a_journal_is_cut_by_length_or_age(self, database, keep):
        """In place of what was cut stands the plan as it was; the plan stays, at its revision."""
        store, plan = database.open(), Plan()
        begun = datetime.now(UTC) - timedelta(days=10)
        for day in range(10):
            made = adding(plan, (f"{day}",))
            at = begun + timedelta(days=day, hours=18)
            entries = tuple(attrs.evolve(entry, at=at) for entry in made.entries)
            write(store, attrs.evolve(made, entries=entries))
            plan = made.plan
        history = store.entries("a")
        assert store.compact("a", keep=keep) == 7
        first, *rest = journal = store.entries("a")
        assert (is_beginning(first), first.cause, first.revision) == (True, "compact", 7)
        assert (tuple(rest), first.at) == (history[7:], history[6].at)
        assert store.load("a") == follow(Plan(), journal) == plan
        assert store.entries_since("a", 2) == journal
        assert store.entries_since("a", 8) == history[8:]
        lost = [store.compact("a", keep=each) for each in (keep, 2, timedelta())]
        assert (lost, store.compact("nothing", keep=0)) == ([0, 1, 2], 0)
        assert [entry.revision for entry in store.entries("a")] == [10]
        assert database.open().load("a") == plan

    def test_a_journal_is_cut_by_age_again_and_again(self, store):
        """Once a day, say: what stands for the cut entries is as old as the last of them."""
        clock = [datetime.now(UTC) - timedelta(days=40)]
        planner = Planner(store, "a", clock=lambda: clock[0])
        for _ in range(30):
            planner.apply(CreateTask("Dig"))
            clock[0] += timedelta(days=1)
        lost = [store.compact("a", keep=timedelta(days=age, hours=12)) for age in (30, 25, 20, 20)]
        assert lost == [10, 5, 5, 0]
        first, *rest = store.entries("a")
        assert (first.revision, first.at) == (20, rest[0].at - timedelta(days=1))
        assert first.events[0].at == first.at

    def test_keys_go_with_their_entries(self, store):
        """A key whose entries are there in part would give back what was never appended."""
        one, other = (Key(name) for name in ("one", "other"))
        with store.hold("a") as held:
            append(held, adding(Plan(), ("Dig",), ("Lay",)), key=one)
            append(held, adding(adding(Plan(), ("Dig", "Lay")).plan, ("Fill",)), key=other)
        assert store.compact("a", keep=2) == 1
        with store.hold("a") as held:
            assert held.receipt(one) is None
            assert [entry.revision for entry in held.receipt(other).entries] == [3]
        assert [entry.revision for entry in store.entries("a")] == [1, 2, 3]

    @pytest.mark.parametrize("keep", [-1, True, "all", timedelta(-1)])
    def test_what_cannot_be_kept_is_refused(self, store, keep):
        """And nothing is cut."""
        write(store, DIG)
        with pytest.raises(PlanError, match="give a number of entries"):
            store.compact("a", keep=keep)
        assert len(store.entries("a")) == 1

    def test_entries_without_a_time_are_cut_by_age(self):
        """They are as old as any."""
        now = datetime(2026, 1, 31, tzinfo=UTC)
        journal = [Entry(1, ()), Entry(2, (), now), Entry(3, ())]
        assert [cut_at(journal[:count], timedelta(1), now) for count in (3, 1)] == [1, 1]


def in_child(job):
    """Run a job in a forked child, and return whether it ended well."""
    with warnings.catch_warnings():
        # From 3.12 on Python warns of a fork beside threads; here they only wait.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 1
        try:
            job()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("kind", ["sqlite", "called"])
class TestFork:
    """A child has connections of its own, and leaves its parent's alone."""

    def test_a_handle_may_be_used_after_a_fork(self, databases, kind):
        """The parent's connections go on, and nothing is lost."""
        store = databases(kind).open()
        planner = Planner(store, "a")
        planner.apply(CreateTask("Dig"))

        def act():
            for subject in ("Lay", "Fill"):
                planner.apply(CreateTask(subject))
            store.close()

        assert in_child(act)
        assert in_child(lambda: planner.apply(CreateTask("Plant")))
        planner.apply(CreateTask("Water"))
        assert [task.id for task in planner.plan] == ["1", "2", "3", "4", "5"]

    def test_a_plan_that_is_held_stays_the_parents(self, databases, kind):
        """A child that was forked meanwhile can neither commit nor let go: it is told so."""
        database = databases(kind)
        store = database.open(patience=0.05)
        write(store, DIG)
        holding = store.hold("a")

        with holding as held:
            append(held, LAY)
            leave = lambda: holding.__exit__(None, None, None)  # noqa: E731 - a name for one line
            assert in_child(lambda: refused("forked or not_held", leave))
            # Still ours: another process, and another handle, wait for us.
            assert not in_child(lambda: write(store, LAY))
            other = database.open(patience=0.05)
            refused("busy", lambda: write(other, LAY), "is busy|holds the plan")
        write(store, FILL)
        assert store.load("a") == FILL.plan
