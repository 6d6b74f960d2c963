"""The guide llama-index.md keeps its word: its code runs and prints what it shows."""

import asyncio

from llama_index.core.memory import ChatMemoryBuffer
from support.conformance_llama_index import SCRIPT, WARNINGS, Scripted
from support.docs import defined, fenced

from todoplan.dialogue import Call
from todoplan.testing.adapters import ModelTurn, Script
from todoplan.testing.adapters.host import says, write

pytestmark = WARNINGS
LISTS = [
    write(("Draft", "in_progress"), ("Send", "pending")),
    write(("Draft", "completed"), ("Send", "in_progress")),
    write(("Draft", "completed"), ("Send", "completed")),
]
TURNS = [ModelTurn((Call("write_todos", todos, f"t{n}"),)) for n, todos in enumerate(LISTS)]
NAMES = defined("llama-index", "llama-index")


def test_a_run_prints_what_is_shown_and_is_edited(capsys):
    """An early answer goes back; a person's edit stands in the plan that the run has left."""
    first, second, third = TURNS
    edited = defined("llama-index", "llama-index edit", **NAMES)

    async def play():
        SCRIPT.set(Script(first, second, says("Drafted."), third, says("Drafted and sent.")))
        return await edited["tell"](await NAMES["work"](Scripted(), "Draft and send the letter."))

    assert asyncio.run(play()) == [None, None, None, "ann"]
    assert capsys.readouterr().out == fenced("llama-index", "output: llama-index", "text")


def test_a_team_works_on_one_plan():
    """The second agent goes on where the first one stopped."""
    first, second, third = TURNS
    names = defined("llama-index", "llama-index team", **NAMES)
    handoff = Call("handoff", {"to_agent": "sender", "reason": "It is drafted."}, "h")

    async def play():
        SCRIPT.set(Script(first, second, ModelTurn((handoff,)), third, says("Sent.")))
        handler = names["team"](Scripted()).run("Go.", memory=ChatMemoryBuffer.from_defaults())
        return str(await handler), [*await names["plan_of_state"](handler.ctx)]

    said, tasks = asyncio.run(play())
    assert (said, [task.status.value for task in tasks]) == ("Sent.", ["completed", "completed"])
