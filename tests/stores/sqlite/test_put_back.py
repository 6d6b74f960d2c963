"""A planner that outlives a restore goes on from what is there, or says that it cannot."""

import shutil

import pytest

from todoplan.core.commands import CreateTask
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.planner import Planner
from todoplan.stores.base import follow
from todoplan.stores.sqlite import SqliteStore


@pytest.fixture
def path(tmp_path):
    return tmp_path / "plans.db"


def created(store, *subjects):
    planner = Planner(store, "a")
    for subject in subjects:
        planner.apply(CreateTask(subject))
    return planner


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
    planner = created(store, "Dig")
    store.close()
    copy = path.with_name("copy.db")
    if anew:
        created(SqliteStore(copy)).apply(CreateTask("Sow")).unwrap()
    else:
        shutil.copyfile(path, copy)
    planner.apply(CreateTask("Lay"))
    store.close()
    restored(path, copy)
    with SqliteStore(path) as other:
        created(other, "Weed", *(["x" * 40_000] if anew else []))
    for act in (lambda: planner.plan, lambda: planner.apply(CreateTask("Fill" * 20_000)))[look:]:
        with pytest.raises(StoreError, match="not the one that was read") as caught:
            act()
        assert caught.value.data["problem"] == "rolled_back"
    fresh = SqliteStore(path)
    assert fresh.load("a") == follow(Plan(), fresh.entries("a"))
    assert [task.subject[:4] for task in fresh.load("a")][:2] == (
        ["Sow", "Weed"] if anew else ["Dig", "Weed"]
    )


def test_a_planner_that_only_loaded_knows_the_entry_as_well(path):
    """Also the first look at a plan is a look at its last entry."""
    store = SqliteStore(path)
    created(store, "Dig", "Lay")
    store.close()
    copy = path.with_name("copy.db")
    with SqliteStore(copy) as other:
        created(other, "Sow", "Weed")
    planner = Planner(store, "a")
    assert len(planner.plan) == 2
    store.close()
    restored(path, copy)
    with pytest.raises(StoreError, match="was restored from older data while in use"):
        planner.apply(CreateTask("Fill"))
    assert [task.subject for task in Planner(SqliteStore(path), "a").plan] == ["Sow", "Weed"]


def test_a_watch_does_not_go_on_in_another_journal(path):
    """What it would tell next came upon entries that nobody was told of."""
    store = SqliteStore(path)
    planner = created(store, "Dig")
    watch = planner.watch(since=0, timeout=0)
    assert next(watch).revision == 1
    store.close()
    copy = path.with_name("copy.db")
    with SqliteStore(copy) as other:
        created(other, "Sow", "Weed")
    restored(path, copy)
    with pytest.raises(StoreError, match="was restored from older data while in use"):
        next(watch)


@pytest.mark.parametrize("keep", [0, 1])
def test_a_journal_that_was_cut_is_no_other_one(path, keep):
    """Where the known entry was cut, at its revision or behind it, the cut says how to go on."""
    store = SqliteStore(path)
    planner, other = created(store, "Dig", "Lay"), Planner(store, "a")
    assert len(other.plan) == 2
    watch = other.watch(since=2, timeout=0)
    planner.apply(CreateTask("Fill"))
    assert next(watch).revision == 3
    store.compact("a", keep=keep)
    for each in (planner, other):
        each.apply(CreateTask("Plant")).unwrap()
    assert [entry.revision for entry in watch] == [4, 5]
    assert [task.id for task in other.plan] == ["1", "2", "3", "4", "5"]


def test_a_plan_of_which_less_is_there_than_was_seen(path):
    """One revision less, or the first one missing."""
    store = SqliteStore(path)
    planner = created(store, "Dig", "Lay")
    store.close()
    copy = path.with_name("copy.db")
    with SqliteStore(copy) as other:
        created(other, "Dig")
    restored(path, copy)
    for act in (lambda: planner.plan, lambda: planner.apply(CreateTask("Fill"))):
        with pytest.raises(StoreError, match="revision 2 was already read"):
            act()
