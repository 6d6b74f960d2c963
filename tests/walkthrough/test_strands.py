"""The adapter that the guide walks through, under the conformance suite."""

from itertools import pairwise

from strands import Agent
from support.docs import fenced
from support.strands_host import ADAPTER, FILTERED, HOST

from todoplan.dialogue.calls import Call
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks
from todoplan.testing.adapters import ModelTurn, Script

TASKS = Toolbox(tasks())
TestStrands = HOST.TestStrands


def requests_of(runs, *turns):
    """
    Return how many requests each of some runs took, with one state of the caller's, and that state.
    """
    script = Script(ModelTurn((Call("TaskCreate", {"subject": "Dig"}, "c1"),)), *turns)
    agent = Agent(HOST.Scripted(script), plugins=[ADAPTER.Planning(TASKS)], callback_handler=None)
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
    """It takes at most 120 lines; model, host and test class beside it 110."""
    lines = [
        len(fenced("write-an-adapter", f"code: {each}", "python").splitlines())
        for each in ("strands", "strands host")
    ]
    assert 60 < lines[0] <= 120
    assert 60 < lines[1] <= 110
