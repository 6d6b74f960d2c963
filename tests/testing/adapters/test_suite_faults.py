"""Every check of the conformance suite catches the adapter that does just that wrongly."""

from datetime import UTC, datetime

import attrs
import pytest
from hypothesis import Phase, settings
from support import faults_of_adapters
from support.conformance_sound import Sound

from todoplan.testing.adapters import AdapterSuite
from todoplan.testing.adapters.host import is_utf8

LATER = datetime(2030, 1, 1, tzinfo=UTC)
DRAWN = {"test_drawn_conversations_are_the_same", "test_the_catalogue_is_read_alike"}
FAULTS = {n: fault for n, fault in vars(faults_of_adapters).items() if hasattr(fault, "meant")}
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
        except pytest.skip.Exception:
            continue
        except Exception:  # noqa: BLE001 - however a check fails, the fault is caught
            return True
    return False


def test_a_sound_adapter_passes():
    """No check fails for a host that does everything right."""
    suite = suite_of(Sound)
    assert [name for name in CHECKS if fails(suite, name)] == []


class Bare(Sound):
    """A framework that serves tools, and can do nothing that a capability stands for."""

    def __init__(self, setup):
        super().__init__(attrs.evolve(setup, verify=None, clock=lambda: LATER))

    async def carry_on(self, record, script, events):
        for turn in script.turns:
            self.heard(record, turn)
            self.answered(record, turn)

    def answer_from(self, base, plan, turn):
        for call in turn.calls:
            assert isinstance(call.arguments, dict)
            assert is_utf8(call.arguments)
        return super().answer_from(None, plan, turn)

    def missing(self, plan, call):
        raise KeyError(call.name)

    def stored(self, record):
        return [attrs.evolve(seen, is_error=False) for seen in super().stored(record)]

    async def run(self, session, script):
        return attrs.evolve(await super().run(session, script), events=(), plan=None)

    edit = saved = resume = None


def test_an_adapter_that_declares_nothing_passes():
    """No check asks for a capability that is not declared: it passes, or is skipped."""
    suite = suite_of(Bare)
    type(suite).capabilities = frozenset()
    assert [name for name in CHECKS if fails(suite, name)] == []


def test_every_check_has_its_fault():
    """There is at least one seeded fault for each check."""
    assert sorted({host.meant for host in FAULTS.values()}) == CHECKS


@pytest.mark.parametrize("host", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_caught(host):
    """The check that is meant for a fault catches it."""
    assert fails(suite_of(host, examples=30 if host.meant in DRAWN else 1), host.meant)


@pytest.mark.slow
@pytest.mark.parametrize("host", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_caught_by_few_checks(host):
    """Of the checks that are not meant for a fault, those fail that the fault names."""
    suite = suite_of(host, examples=1)
    rest = [name for name in CHECKS if name not in {host.meant, *DRAWN}]
    assert {name for name in rest if fails(suite, name, most=2)} == host.others
