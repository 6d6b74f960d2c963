"""The adapter that the guide walks through, under the conformance suite."""

from itertools import pairwise
from tempfile import mkdtemp

import pytest
from strands import Agent
from support.strands_host import ADAPTER, FILTERED, Scripted, Strands, shown

from todoplan.dialogue.toolbox import Call, Toolbox
from todoplan.dialogue.tools.tasks import tasks
from todoplan.testing.adapters import ALL, AdapterSuite, Capability, ModelTurn, Script

TASKS = Toolbox(tasks())


class TestStrands(AdapterSuite):
    """Strands parses arguments itself, tells of messages, not of events, and keeps UTF-8 files."""

    capabilities = ALL - {
        Capability.RAW_ARGUMENTS,
        Capability.TEXT_ARGUMENTS,
        Capability.BROKEN_TEXTS,
        Capability.EVENTS,
        Capability.EDITS,
        Capability.LIVE_EDITS,
        Capability.RETURNS,
    }

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _sessions(cls, tmp_path_factory):
        cls.folder = tmp_path_factory.mktemp("sessions")

    def host(self, setup):
        return Strands(setup, mkdtemp(dir=self.folder))


def requests_of(runs, *turns):
    """
    Return how many requests each of some runs took, with one state of the caller's, and that state.
    """
    script = Script(ModelTurn((Call("TaskCreate", {"subject": "Dig"}, "c1"),)), *turns)
    agent = Agent(Scripted(script), plugins=[ADAPTER.Planning(TASKS)], callback_handler=None)
    counts, kept = [0], {"mine": 1}
    for _ in range(runs):
        agent("go", invocation_state=kept)
        counts.append(len(script.requests))
    return [later - earlier for earlier, later in pairwise(counts)], kept


def test_each_run_has_its_own_cap_whatever_state_it_is_given():
    """The caller may hand the same state to every run; nothing of the adapter's is left in it."""
    counts, kept = requests_of(2)
    assert counts == [4, 3]
    assert not [key for key in kept if "todoplan" in key]


def test_a_filtered_answer_is_let_go():
    """What the provider will not let through is no early answer."""
    counts, _ = requests_of(1, FILTERED)
    assert counts == [2]


def test_the_adapter_is_an_afternoon_long():
    """It takes at most 120 lines."""
    assert 60 < len(ADAPTER.code.splitlines()) <= 120


def test_the_suite_is_subclassed_as_shown():
    """The guide leaves out what this file leaves out, in at most ten lines."""
    example = shown("strands suite")
    assert example.TestStrands.capabilities == TestStrands.capabilities
    assert len(example.code.splitlines()) <= 10
