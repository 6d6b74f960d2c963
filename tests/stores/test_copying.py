"""Plans from one store to another."""

from itertools import permutations

import pytest
from support.stored import create, refused
from support.stores_sound import Sound

from todoplan.core.commands import CreateTask
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, StoreError
from todoplan.planner import Planner
from todoplan.stores import FileStore, MemoryStore, SqliteStore
from todoplan.stores.copying import copy_plan
from todoplan.stores.postgres import PostgresStore


@pytest.fixture
def stores(request, tmp_path):
    """A function that opens an empty store of a kind."""
    return {
        "memory": MemoryStore,
        "file": lambda: FileStore(tmp_path / "plans.json"),
        "sqlite": lambda: SqliteStore(tmp_path / "plans.db"),
        "postgres": lambda: PostgresStore(request.getfixturevalue("postgres").fresh()),
    }


KINDS = ["memory", "file", "sqlite", "postgres"]


@pytest.mark.parametrize(("source", "target"), [*permutations(KINDS, 2)])
def test_a_plan_moves_with_its_journal(stores, source, target):
    """Ids, times, undos: its planner goes on where it was; a copy is not written over another."""
    here, there = stores[source](), stores[target]()
    create(here, "Dig", "Lay").undo()
    assert copy_plan(here, there, "a") is True
    assert (there.load("a"), there.entries("a")) == (here.load("a"), here.entries("a"))
    assert copy_plan(here, there, "a") is False
    planner = Planner(there, "a")
    planner.undo()
    assert len(planner.plan) == 0
    planner.apply(CreateTask("Fill"))
    assert planner.plan["3"].subject == "Fill"
    before = there.entries("a")
    told = "the target already has another plan 'a'"
    refused("taken", lambda: copy_plan(here, there, "a"), told)
    assert there.entries("a") == before


class Slow(Sound):
    def append(self, *given):
        return False


class Forgetful(Sound):
    def load(self, plan_id):
        return Plan()


class Holed(Sound):
    def entries(self, plan_id):
        return super().entries(plan_id)[1:]


@pytest.mark.parametrize(
    ("source", "target", "error", "told"),
    [
        (Sound, Slow, StoreError, "already has another plan"),
        (Sound, Forgetful, StoreError, "but the copy is different; keep the source"),
        (Holed, Sound, CodecError, "the journal is damaged"),
    ],
)
def test_a_copy_that_fails_is_told(source, target, error, told):
    """Somebody else was faster, the copy is not what it was, or the journal is damaged."""
    here, there = source(), target()
    create(here.kept, "Dig", "Lay").undo()
    with pytest.raises(error, match=told):
        copy_plan(here, there, "a")
    assert target is Forgetful or there.kept.plan_ids() == ()
