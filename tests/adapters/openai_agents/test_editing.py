"""How an application seeds and changes a plan; the model is told of what it did not do itself."""

import asyncio

from support.openai_agents_runs import agent_of, create, edit, plan_of, run, scripted, tails

from todoplan import Plan
from todoplan.adapters.openai_agents import Planning, attach, plan_of_state, seed_plan
from todoplan.codec import plan_to_data
from todoplan.core import commands
from todoplan.core.decide import Rejected, decide
from todoplan.core.rules import STRICT
from todoplan.dialogue.guidance import TAG, Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks

TASKS = Toolbox(tasks())
TWO = decide(Plan(), commands.WriteTodos((commands.Todo("A"), commands.Todo("B")))).plan


def test_a_plan_is_seeded():
    """By a function or as something saved, and the model is shown it; ids in use go on."""
    first, second = Planning(TASKS), Planning(TASKS, saved={"plan": plan_to_data(TWO)})
    asyncio.run(seed_plan(first, TWO))
    for planning in (first, second):
        model = scripted(create("C"), "Ok.")
        run(attach(agent_of(model), planning, settings=Settings(unfinished=0)))
        assert "#2 [pending] B" in tails(model)[0]
        assert [task.id for task in plan_of_state(planning.to_data())] == ["1", "2", "3"]
    asyncio.run(seed_plan(first, Plan()))
    assert (len(plan_of(first)), plan_of(first).next_id) == (0, 4)


def test_an_edit_is_decided_and_told():
    """
    Subscribers hear of it, the model is told until an answer has, and what is refused does nothing.
    """
    planning, told = Planning(TASKS), []
    planning.subscribe(lambda entry, plan: told.append(entry.cause))
    settings = Settings(plan_lost=False, unfinished=0, changed=True)
    run(attach(agent_of(scripted(create("A"), "Ok.")), planning, settings=settings))
    assert edit(planning, commands.UpdateTask("1", subject="Z")).events
    assert isinstance(edit(planning, commands.DeleteTask("9")), Rejected)
    model = scripted("Ok.", "Ok.")
    for _ in range(2):
        run(attach(agent_of(model), planning, settings=settings))
    assert [TAG in tail for tail in tails(model)] == [True, True]
    assert told == ["TaskCreate", "UpdateTask"]


def test_an_edit_is_under_the_policy_of_the_toolbox():
    """What that refuses, the application cannot do either."""
    planning = Planning(Toolbox(tasks(), STRICT), saved={"plan": plan_to_data(TWO)})
    assert isinstance(edit(planning, commands.CreateTask("A")), Rejected)
