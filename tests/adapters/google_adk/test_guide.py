"""The guide google-adk.md keeps its word: its code runs and prints what it shows."""

import asyncio

from support.conformance_google_adk import SCRIPT, Scripted
from support.docs import defined, fenced

from todoplan.dialogue import Call
from todoplan.testing.adapters import Script
from todoplan.testing.adapters.host import ModelTurn, says, write


def test_a_run_prints_what_is_shown_and_is_edited(capsys):
    """An early answer goes back; a person's edit stands in the plan that the run has left."""
    lists = [
        write(("Draft", "in_progress"), ("Send", "pending")),
        write(("Draft", "completed"), ("Send", "in_progress")),
        write(("Draft", "completed"), ("Send", "completed")),
    ]
    first, second, third = (
        ModelTurn((Call("write_todos", todos, f"t{n}"),)) for n, todos in enumerate(lists)
    )
    names = defined("google-adk", "google-adk")

    async def play():
        script = (first, second, says("Drafted."), third, says("Drafted and sent."))
        SCRIPT.set(Script(*script))
        session = await names["work"](Scripted(model="scripted"), "Draft and send the letter.")
        edited = defined("google-adk", "google-adk edit", **names)
        return await edited["tell"](session)

    assert asyncio.run(play()) == [None, None, None, "ann"]
    assert capsys.readouterr().out == fenced("google-adk", "output: google-adk", "text")
