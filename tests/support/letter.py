"""The conversation of the guides' first programs: draft a letter and send it."""

import asyncio
from inspect import iscoroutine

from support.conformance import SCRIPT
from support.docs import defined

from todoplan.dialogue import Call
from todoplan.testing.adapters import Script
from todoplan.testing.adapters.host import ModelTurn, says, write

STARTED = write(("Draft", "in_progress"), ("Send", "pending"))
HALFWAY = write(("Draft", "completed"), ("Send", "in_progress"))
DONE = write(("Draft", "completed"), ("Send", "completed"))
BEGUN, DRAFTED, SENT = (
    ModelTurn((Call("write_todos", todos, f"t{n}"),))
    for n, todos in enumerate((STARTED, HALFWAY, DONE))
)
LETTER = (BEGUN, DRAFTED, says("Drafted."), SENT, says("Drafted and sent."))
"""The model's turns. The first final answer comes too early: a task is still open."""

SHOWN = """Drafted and sent.
2/2 completed
[x] 1 Draft
[x] 2 Send
"""
"""What the programs print: the answer and the plan."""


def played(page, model, program=None):
    """
    Run the program of a guide with a model that follows the script, then the guide's edit of the
    plan. Return what the edit returns: who changed the plan.
    """
    SCRIPT.set(Script(*LETTER))
    names = defined(page, program or page)
    place = names["work"](model, "Draft and send the letter.")
    place = asyncio.run(place) if iscoroutine(place) else place
    return asyncio.run(defined(page, f"{page} edit", **names)["tell"](place))
