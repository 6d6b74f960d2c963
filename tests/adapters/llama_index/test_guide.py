"""The guide llama-index.md keeps its word: its code runs and prints what it shows."""

import asyncio

from llama_index.core.memory import ChatMemoryBuffer
from support.conformance_llama_index import SCRIPT, WARNINGS, Scripted
from support.docs import defined
from support.letter import BEGUN, DRAFTED, SENT, SHOWN, played

from todoplan.dialogue import Call
from todoplan.testing.adapters import ModelTurn, Script
from todoplan.testing.adapters.host import says

pytestmark = WARNINGS


def test_a_run_prints_what_is_shown_and_is_edited(capsys):
    """An early answer goes back; a person's edit stands in the plan that the run has left."""
    assert played("llama-index", Scripted()) == [None, None, None, "ann"]
    assert capsys.readouterr().out == SHOWN


def test_a_team_works_on_one_plan():
    """The second agent goes on where the first one stopped."""
    above = defined("llama-index", "llama-index")
    names = defined("llama-index", "llama-index team", **above)
    handoff = Call("handoff", {"to_agent": "sender", "reason": "It is drafted."}, "h")

    async def play():
        SCRIPT.set(Script(BEGUN, DRAFTED, ModelTurn((handoff,)), SENT, says("Sent.")))
        handler = names["team"](Scripted()).run("Go.", memory=ChatMemoryBuffer.from_defaults())
        return str(await handler), [*await names["plan_of_state"](handler.ctx)]

    said, tasks = asyncio.run(play())
    assert (said, [task.status.value for task in tasks]) == ("Sent.", ["completed", "completed"])
