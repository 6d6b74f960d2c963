"""Plans from one store to another."""

import pytest
from support.stores_sound import Sound

from todoplan.core.commands import CreateTask
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, StoreError
from todoplan.planner import Planner
from todoplan.stores import FileStore, MemoryStore, SqliteStore
from todoplan.stores.copying import copy_plan


@pytest.fixture
def stores(tmp_path):
    return {
        "memory": MemoryStore(),
        "file": FileStore(tmp_path / "plans.json"),
        "sqlite": SqliteStore(tmp_path / "plans.db"),
    }


def create(store, *subjects):
    planner = Planner(store, "a")
    for subject in subjects:
        planner.apply(CreateTask(subject))
    planner.undo()
    return planner


@pytest.mark.parametrize("source", ["memory", "file", "sqlite"])
@pytest.mark.parametrize("target", ["memory", "file", "sqlite"])
def test_a_plan_moves_with_its_journal(stores, source, target):
    """Ids, times, undos: its planner goes on where it was; once more is no change."""
    if source == target:
        return
    here, there = stores[source], stores[target]
    create(here, "Dig", "Lay")
    assert copy_plan(here, there, "a") is True
    assert (there.load("a"), there.entries("a")) == (here.load("a"), here.entries("a"))
    assert copy_plan(here, there, "a") is False
    planner = Planner(there, "a")
    planner.undo()
    assert len(planner.plan) == 0
    planner.apply(CreateTask("Fill"))
    assert planner.plan["3"].subject == "Fill"


def test_a_plan_that_is_there_is_not_written_over(stores):
    """Another one under the same id, or one that has gone on."""
    here, there = stores["memory"], stores["sqlite"]
    create(here, "Dig")
    copy_plan(here, there, "a")
    Planner(there, "a").apply(CreateTask("Lay"))
    before = there.entries("a")
    with pytest.raises(StoreError, match="the target already has another plan 'a'") as caught:
        copy_plan(here, there, "a")
    assert caught.value.data["problem"] == "taken"
    assert there.entries("a") == before


def test_who_comes_first_while_a_plan_is_copied_stays():
    """Its append is what counts."""

    class Slow(Sound):
        def append(self, *given):
            return False

    here = MemoryStore()
    create(here, "Dig")
    with pytest.raises(StoreError, match="already has another plan"):
        copy_plan(here, Slow(), "a")


def test_a_copy_that_does_not_come_back_as_it_was_is_told():
    """The source is still there."""

    class Forgetful(Sound):
        def load(self, plan_id):
            return Plan()

    here = MemoryStore()
    create(here, "Dig")
    with pytest.raises(StoreError, match="but the copy is different; keep the source"):
        copy_plan(here, Forgetful(), "a")


def test_a_damaged_journal_is_not_copied(stores):
    """It would be damaged there too."""

    class Holed(Sound):
        def entries(self, plan_id):
            return super().entries(plan_id)[1:]

    source = Holed()
    create(source.kept, "Dig", "Lay")
    with pytest.raises(CodecError, match="the journal is damaged"):
        copy_plan(source, stores["sqlite"], "a")
    assert stores["sqlite"].plan_ids() == ()
