"""Every check of the adapter suite catches an adapter with the fault that the check is about."""

from datetime import UTC, datetime

import attrs
import pytest
from hypothesis import Phase, settings
from support import faults_of_adapters
from support.conformance_sound import Sound
from support.faults import faults_in, pairs_of

from todoplan.testing.adapters import AdapterSuite
from todoplan.testing.adapters.host import is_utf8

LATER = datetime(2030, 1, 1, tzinfo=UTC)
DRAWN = {"test_drawn_conversations_are_the_same", "test_the_catalogue_is_read_alike"}
FAULTS = faults_in(faults_of_adapters)
PAIRS = pairs_of(FAULTS)
CHECKS = [name for name in dir(AdapterSuite) if name.startswith("test_")]


def suite_of(make_host, examples=4):
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
    """Return whether a check fails with any of its parameters, or with any of the first `most`."""
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
    """A framework that serves tools and has no capability."""

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


def test_an_object_in_memory_is_no_saved_data():
    """A host that saves a live object fails: the object would survive a restart in any case."""
    with pytest.raises(AssertionError) as caught:
        suite_of(faults_of_adapters.RestartsInMemory).test_a_plan_is_resumed()
    wanted = "a text or bytes: what the framework has saved, or the path of its file"
    assert str(caught.value) == f"host.saved() returned a dict, wanted {wanted}"


def test_every_check_has_its_fault():
    """There is at least one seeded fault for each check."""
    assert sorted({check for _, check in PAIRS.values()}) == CHECKS


@pytest.mark.parametrize(("host", "check"), PAIRS.values(), ids=PAIRS)
def test_a_fault_is_caught(host, check):
    """Each check that is meant to catch a fault fails for it."""
    assert fails(suite_of(host, examples=30 if check in DRAWN else 1), check)


@pytest.mark.parametrize(
    "name", ["TakesTheLastOfMany", "KeepsAFlatList", "ForgetsWhatWasUnseen", "StoresReminders"]
)
def test_one_fault_has_few_findings(name):
    """An adapter with one fault fails one to three checks, and not dozens."""
    fault = FAULTS[name]
    suite = suite_of(fault, examples=1)
    found = {check for check in CHECKS if check not in DRAWN and fails(suite, check, most=1)}
    assert {*fault.meant} <= found
    assert len(found) <= 3
