"""The guide agent-framework.md keeps its word: its code runs and prints what it shows."""

from support.conformance_agent_framework import Scripted
from support.letter import SHOWN, played


def test_a_run_prints_what_is_shown_and_is_edited(capsys):
    """An early answer goes back; a person's edit stands in the plan that the run has left."""
    assert played("agent-framework", Scripted()) == [None, None, None, "ann"]
    assert capsys.readouterr().out == SHOWN
