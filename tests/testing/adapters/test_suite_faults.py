"""Every check of the conformance suite catches the adapter that does just that wrongly."""

import pytest
from hypothesis import Phase, settings
from support import faults_of_adapters
from support.conformance_sound import Sound

from todoplan.testing.adapters import AdapterSuite

DRAWN = {"test_drawn_conversations_are_the_same", "test_the_catalogue_is_read_alike"}
FAULTS = [host for host in vars(faults_of_adapters).values() if hasattr(host, "meant")]
CHECKS = [name for name in dir(AdapterSuite) if name.startswith("test_")]


def suite_of(make_host, examples=8):
    """Return the suite over a host, with everything declared."""

    class Suite(AdapterSuite):
        drawing = settings(
            max_examples=examples,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
        )

        def host(self, setup):
            return make_host(setup)

    return Suite()


def fails(suite, name, most=None):
    """Say whether a check fails, with any of its parameters, or of the first few."""
    check = getattr(suite, name)
    marks = [mark for mark in getattr(check, "pytestmark", []) if mark.name == "parametrize"]
    given = [(value,) for value in marks[0].args[1]] if marks else [()]
    for values in given[:most]:
        faults_of_adapters.SharesBetweenAgents.kept_by_all.clear()
        try:
            check(*values)
        except Exception:  # noqa: BLE001 - however a check fails, the fault is caught
            return True
    return False


def test_a_sound_adapter_passes():
    """No check fails for a host that does everything right."""
    suite = suite_of(Sound)
    assert [name for name in CHECKS if fails(suite, name)] == []


def test_every_check_has_its_fault():
    """There is at least one seeded fault for each check."""
    assert sorted({host.meant for host in FAULTS}) == CHECKS


@pytest.mark.parametrize("host", FAULTS, ids=lambda host: host.__name__)
def test_a_fault_is_caught(host):
    """The check that is meant for a fault catches it."""
    assert fails(suite_of(host, examples=30 if host.meant in DRAWN else 1), host.meant)


@pytest.mark.slow
@pytest.mark.parametrize("host", FAULTS, ids=lambda host: host.__name__)
def test_a_fault_is_caught_by_few_checks(host):
    """Of the checks that are not meant for a fault, those fail that the fault names."""
    suite = suite_of(host, examples=1)
    rest = [name for name in CHECKS if name not in {host.meant, *DRAWN}]
    assert {name for name in rest if fails(suite, name, most=2)} == host.others
