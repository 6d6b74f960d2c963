"""Every check of the store suite catches the store that does just that wrongly."""

import pytest
from hypothesis import Phase, settings
from support import faults_of_stores, faults_of_stores_at_once
from support.stores_sound import AsyncSound, Sound

from todoplan.testing.stores import AsyncStoreSuite, StoreSuite

MODULES = (faults_of_stores, faults_of_stores_at_once)
FOUND = [each for module in MODULES for each in vars(module).values() if hasattr(each, "meant")]
FAULTS = list(dict.fromkeys(FOUND))
CHECKS = [name for name in dir(StoreSuite) if name.startswith("test_")]
QUICK = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, phases=[Phase.generate]
)


def suite_of(make_store):
    """
    Return the suite that asks a store of this kind.
    """
    base = AsyncStoreSuite if issubclass(make_store, AsyncSound) else StoreSuite

    class Suite(base):
        drawing = QUICK

        def store(self):
            return make_store()

        def reopened(self, store):
            return store.again()

    return Suite()


@pytest.mark.parametrize("store", [Sound, AsyncSound])
@pytest.mark.parametrize("check", CHECKS)
def test_a_sound_store_passes(store, check):
    """No check fails for a store that does everything right."""
    getattr(suite_of(store), check)()


def test_every_check_has_its_fault():
    """There is at least one seeded fault for each check."""
    assert sorted({store.meant for store in FAULTS}) == CHECKS


@pytest.mark.parametrize("store", FAULTS, ids=lambda store: store.__name__)
def test_a_fault_is_caught(store):
    """The check that is meant for a fault catches it, and names its law."""
    check = getattr(suite_of(store), store.meant)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - a store may raise what it likes
        check()
    assert f"the law: {check.__doc__}" in caught.value.__notes__
