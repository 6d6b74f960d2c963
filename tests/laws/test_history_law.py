"""Law 21: one history. The same journal folds to the same plan, wherever it is kept."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

import attrs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from support.stores_sound import Sound

from todoplan.codec import dump_journal, load_journal
from todoplan.core.events.apply import replay
from todoplan.core.events.types import StatusChanged, TaskClaimed, TaskEdited
from todoplan.core.plan.plan import Plan
from todoplan.stores import FileStore, MemoryStore, SqliteStore
from todoplan.testing.stores.appends import appends

FEW = settings(suppress_health_check=list(HealthCheck))
FOUND = settings(FEW, max_examples=400, database=None, derandomize=True, phases=[Phase.generate])


@contextmanager
def memory():
    """A store in memory."""
    yield MemoryStore()


@contextmanager
def file():
    """A store in one file."""
    with tempfile.TemporaryDirectory() as folder:
        yield FileStore(Path(folder) / "plans.json")


@contextmanager
def sqlite():
    """A store in a database of SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "plans.db")
        try:
            yield store
        finally:
            store.close()


def folds_alike(store, made, plan_id="a"):
    """Append what was drawn, and assert that what the store gives back is one history."""
    for each in made:
        assert store.append(plan_id, each.expected, each.entries, each.plan)
    last = made[-1].plan
    entries = tuple(store.entries(plan_id))
    assert entries == tuple(entry for each in made for entry in each.entries)
    folded = replay(Plan(), (event for entry in entries for event in entry.events))
    assert folded == last == store.load(plan_id)
    # By way of a text as well: what another process or another version reads.
    again = load_journal(dump_journal(entries))
    assert replay(Plan(), (event for entry in again for event in entry.events)) == last


@pytest.mark.parametrize("opened", [memory, file, sqlite], ids=lambda each: each.__name__)
@given(made=appends())
@FEW
def test_a_journal_folds_to_one_plan(opened, made):
    """Commands, calls, claims, undo, restore: entries come back as they were, and give the plan."""
    with opened() as store:
        folds_alike(store, made)


def test_a_journal_folds_to_one_plan_in_postgres(postgres):
    """The same in a database of PostgreSQL, each history under an id of its own."""
    from todoplan.stores.postgres import PostgresStore  # noqa: PLC0415 - an extra

    store, number = PostgresStore(postgres.fresh()), iter(range(10_000))

    @given(appends())
    @settings(FEW, max_examples=settings().max_examples // 2)
    def law(made):
        folds_alike(store, made, str(next(number)))

    try:
        law()
    finally:
        store.close()


def changing(kind, change):
    """Return a store that keeps events of one kind as something else."""

    class Spoilt(Sound):
        def append(self, plan_id, expected, entries, plan):
            kept = (
                attrs.evolve(
                    entry, events=[change(e) if type(e) is kind else e for e in entry.events]
                )
                for entry in entries
            )
            return super().append(plan_id, expected, tuple(kept), plan)

    return Spoilt


def _first_fence(event):
    return attrs.evolve(event, claim=attrs.evolve(event.claim, owner="?"))


FAULTS = {
    "forgets who has a claim": changing(TaskClaimed, _first_fence),
    "forgets when": changing(StatusChanged, lambda event: attrs.evolve(event, at=None)),
    "forgets what was edited": changing(TaskEdited, lambda event: attrs.evolve(event, changes={})),
}


@pytest.mark.parametrize("made_by", FAULTS.values(), ids=FAULTS)
def test_a_seeded_fault_breaks_the_law(made_by):
    """A store that keeps another history is found by what the law is tested with."""

    @given(appends())
    @FOUND
    def law(made):
        folds_alike(made_by(), made)

    with pytest.raises(AssertionError):
        law()
