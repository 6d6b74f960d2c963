"""The guide strands.md keeps its word: its code runs and prints what it shows."""

import asyncio

from support.conformance_strands import Scripted
from support.docs import defined, fenced
from support.letter import LETTER

from todoplan.testing.adapters import Script


def test_a_run_prints_what_is_shown_and_is_edited(capsys):
    """An early answer goes back; a person's edit stands in the plan that the run has left."""
    script = Script(*LETTER)
    names = defined("strands", "strands program")
    agent = names["work"](Scripted(script), "Draft and send the letter.")
    printed = [row for row in capsys.readouterr().out.splitlines() if not row.startswith("Tool #")]
    shown = fenced("strands", "output: strands", "text")
    assert "".join(printed) == shown.replace("\n", "")
    edited = defined("strands", "strands edit", **names)
    assert asyncio.run(edited["tell"](agent)) == [None, None, None, "ann"]
