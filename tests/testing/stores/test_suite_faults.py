"""Every check of the store suite catches a store with the fault that the check is about."""

import re
from typing import get_args

import attrs
import pytest
from hypothesis import Phase, settings
from support import faults_of_stores
from support.faults import faults_in, pairs_of
from support.faults_of_stores import AsyncWaking, Lasting, Waking
from support.stores_sound import AsyncHolding, AsyncSound, Sound
from support.stores_sound import Holding as HoldingStore

from todoplan.core.events.types import Event
from todoplan.testing.stores import AsyncStoreSuite, StoreSuite
from todoplan.testing.stores.checks import Holding, Watching

PAIRS = pairs_of(faults_in(faults_of_stores))
CHECKS = [name for name in dir(StoreSuite) if name.startswith("test_")]
OF_HOLDING = [name for name in dir(Holding) if name.startswith("test_")]
OF_WATCHING = [name for name in dir(Watching) if name.startswith("test_")]
QUICK = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, phases=[Phase.generate]
)


def suite_of(make_store):
    """Return the suite for a store of this kind."""
    base = AsyncStoreSuite if issubclass(make_store, AsyncSound) else StoreSuite

    class Suite(base):
        drawing = QUICK
        quiet = 1.0

        def store(self):
            return make_store()

        def reopened(self, store):
            return store.again()

        def in_another_process(self, store):
            return store.opened() if isinstance(store, Lasting) else None

    return Suite()


SOUND = [
    *((store, check) for store in (Sound, AsyncSound, AsyncHolding) for check in CHECKS),
    *((HoldingStore, check) for check in OF_HOLDING),
    *((store, check) for store in (Waking, AsyncWaking) for check in OF_WATCHING),
]
NEVER_SKIPPED = {
    **dict.fromkeys((HoldingStore, AsyncHolding), OF_HOLDING),
    **dict.fromkeys((Waking, AsyncWaking), OF_WATCHING),
}


@pytest.mark.parametrize(("store", "check"), SOUND)
def test_a_sound_store_passes(store, check):
    """For a store that does everything right no check fails, and none is skipped needlessly."""
    try:
        getattr(suite_of(store), check)()
    except pytest.skip.Exception:
        assert check not in NEVER_SKIPPED.get(store, ())


def test_what_a_store_cannot_do_is_skipped_with_the_reason():
    """The reason of the skip names what the store lacks."""
    with pytest.raises(pytest.skip.Exception, match="Sound cannot lock plans: it has no hold"):
        suite_of(Sound).test_plans_are_listed()
    with pytest.raises(pytest.skip.Exception, match="no wait_for_change"):
        suite_of(Sound).test_a_wait_ends_with_a_change()
    with pytest.raises(pytest.skip.Exception, match="has no code with which another process opens"):
        suite_of(Sound).test_many_open_a_fresh_store_at_once()


def test_every_check_has_its_fault():
    """There is at least one seeded fault for each check."""
    assert sorted({check for _, check in PAIRS.values()}) == CHECKS


@pytest.mark.parametrize(("store", "name"), PAIRS.values(), ids=PAIRS)
def test_a_fault_is_caught(store, name):
    """The check that is meant for a fault catches it, and names its law."""
    check = getattr(suite_of(store), name)
    try:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - a store may raise what it likes
            check()
    except pytest.skip.Exception as skipped:
        pytest.fail(f"the check is skipped: {skipped}")
    assert not isinstance(caught.value, AttributeError), "the fault itself is out of date"
    law = " ".join(check.__doc__.split())
    assert f"check: {name}\nlaw: {law}" in caught.value.__notes__


def test_a_torn_append_is_told_by_its_revision():
    """The failure says what was read, at which revision, and at which revisions appends end."""
    with pytest.raises(AssertionError) as caught:
        suite_of(faults_of_stores.WritesTheJournalFirst).test_no_reader_sees_half_an_append()
    found = r"during appends of 3 entries, the replay of entries\('a'\) is at revision \d+"
    wanted = r"wanted one of the revisions \[0, 3, 6, 9, 12, 15, 18, 21, 24, 27\]"
    assert re.fullmatch(f"{found}, {wanted}", str(caught.value))


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
def test_a_store_that_drops_one_kind_of_event_is_caught(kind):
    """Every kind of event is drawn, so a store that loses one kind is caught."""

    class Drops(Sound):
        def append(self, plan_id, expected, entries, plan):
            kept = (
                attrs.evolve(entry, events=[e for e in entry.events if type(e) is not kind])
                for entry in entries
            )
            return super().append(plan_id, expected, tuple(kept), plan)

    suite = suite_of(Drops)
    type(suite).drawing = settings(QUICK, max_examples=400)
    with pytest.raises(AssertionError):
        suite.test_what_is_appended_is_kept()
