"""The guide haystack.md keeps its word: its code runs and prints what it shows."""

import asyncio

from support.conformance_haystack import Scripted
from support.docs import defined
from support.letter import LETTER, SHOWN

from todoplan.testing.adapters import Script


def test_a_run_prints_what_is_shown_and_is_edited(capsys):
    """An early answer goes back; a person's edit stands in the plan that the run has left."""
    script = Script(*LETTER)
    names = defined("haystack", "haystack")
    result = names["work"](Scripted(script), "Draft and send the letter.")
    edited = defined("haystack", "haystack edit", **names)
    assert asyncio.run(edited["tell"](result)) == [None, None, None, "ann"]
    assert capsys.readouterr().out == SHOWN
