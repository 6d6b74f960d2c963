"""The guide agent-framework.md keeps its word: its code runs and prints what it shows."""

import asyncio

from support.conformance_agent_framework import SCRIPT, Scripted
from support.docs import defined
from support.letter import LETTER, SHOWN

from todoplan.testing.adapters import Script


def test_a_run_prints_what_is_shown_and_is_edited(capsys):
    """An early answer goes back; a person's edit stands in the plan that the run has left."""
    names = defined("agent-framework", "agent-framework")

    async def play():
        SCRIPT.set(Script(*LETTER))
        session = await names["work"](Scripted(), "Draft and send the letter.")
        edited = defined("agent-framework", "agent-framework edit", **names)
        return await edited["tell"](session)

    assert asyncio.run(play()) == [None, None, None, "ann"]
    assert capsys.readouterr().out == SHOWN
