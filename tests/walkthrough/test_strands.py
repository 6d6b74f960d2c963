"""The adapter that the guide for writers of adapters points to, under the conformance suite."""

from itertools import pairwise

from strands import Agent
from support import strands_host
from support.docs import ROOT
from support.strands_by_hand import Planning
from support.strands_host import FILTERED, Scripted

from todoplan.dialogue.calls import Call
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks
from todoplan.testing.adapters import ModelTurn, Script

TASKS = Toolbox(tasks())
TestStrands = strands_host.TestStrands


def requests_of(runs, *turns):
    """
    Return how many requests each of some runs took, with one state of the caller's, and that state.
    """
    script = Script(ModelTurn((Call("TaskCreate", {"subject": "Dig"}, "c1"),)), *turns)
    agent = Agent(Scripted(script), plugins=[Planning(TASKS)], callback_handler=None)
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
    """It takes at most 140 lines, and so does its host."""
    for name in ("strands_by_hand", "strands_host"):
        text = (ROOT / "tests" / "support" / f"{name}.py").read_text("utf-8")
        assert 60 < len(text.splitlines()) <= 140
