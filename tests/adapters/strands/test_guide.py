"""The guide strands.md keeps its word: its code runs and prints what it shows."""

from support.conformance_strands import Scripted
from support.docs import fenced
from support.letter import LETTER, played

from todoplan.testing.adapters import Script


def test_a_run_prints_what_is_shown_and_is_edited(capsys):
    """An early answer goes back; a person's edit stands in the plan that the run has left."""
    assert played("strands", Scripted(Script(*LETTER)), program="strands program") == [
        None,
        None,
        None,
        "ann",
    ]
    printed = [row for row in capsys.readouterr().out.splitlines() if not row.startswith("Tool #")]
    shown = fenced("strands", "output: strands", "text")
    assert "".join(printed) == shown.replace("\n", "")
