"""What a person does is not undone by a model that has not seen it (law 15)."""

import asyncio
import json

import pytest
from agents import Agent
from agents.testing import function_call
from support.openai_agents_runs import agent_of, outputs, run, scripted, tails, write

from todoplan.adapters.openai_agents import Planning, attach, edit_plan, make_tools, seed_plan
from todoplan.core import commands
from todoplan.core.decide import plan_of as new_plan
from todoplan.core.plan.model import Task
from todoplan.dialogue.guidance import TAG, Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS
from todoplan.planner import Planner
from todoplan.stores.memory import MemoryStore

SILENT = Settings(plan_lost=False, unfinished=0, changed=False)
DIG = ("Dig", "in_progress")


def go(planning, *turns, guided=True):
    """
    Return the model and the result of one run, with guidance or with the tools alone.
    """
    model = scripted(*turns)
    bare = agent_of(model)
    agent = attach(bare, planning) if guided else bare.clone(tools=make_tools(planning))
    assert isinstance(agent, Agent)
    return model, run(agent)


def by_ann(planning):
    """
    Add and edit, as persons.
    """
    for command, actor in (
        (commands.CreateTask("Tell Ann"), "ann"),
        (commands.UpdateTask("1", owner="bo"), "bo"),
    ):
        asyncio.run(edit_plan(planning, command, actor=actor))


def again(planning):
    """
    Return the session as another process goes on with it.
    """
    saved = json.loads(json.dumps(planning.to_data()))
    return Planning(planning.toolbox, settings=planning.settings, saved=saved)


def subjects(planning):
    return [task.subject for task in asyncio.run(planning.plan())]


def begun(settings=SILENT, **options):
    """
    Return a session whose model has written a list.
    """
    planning = Planning(Toolbox(TODOS), settings=settings, **options)
    go(planning, write(DIG), "Ok.")
    return planning


@pytest.mark.parametrize("guided", [True, False])
def test_what_a_person_added_stays_and_is_told_once(guided):
    """
    A list that does not name it keeps it and says so once, with the actor, also over restarts; so
    does every further list.
    """
    planning = begun()
    by_ann(planning)
    planning = again(again(planning))
    _, result = go(planning, write(DIG, call_id="v"), "Ok.", guided=guided)
    assert "#2 Tell Ann created by ann" in outputs(result)["v"]
    assert "#1 Dig updated by bo" in outputs(result)["v"]
    assert subjects(planning) == ["Dig", "Tell Ann"]
    assert "behind" not in planning.to_data()["session"]
    planning = again(planning)
    _, result = go(planning, write(DIG, call_id="u"), "Ok.", guided=guided)
    assert "by ann" not in outputs(result)["u"]
    assert subjects(planning) == ["Dig", "Tell Ann"]


def test_a_read_is_a_look_and_a_refused_call_is_none():
    """
    A refused call has told nothing. What was read is told no more, and stays: it was not listed.
    """
    planning = begun()
    by_ann(planning)
    go(planning, function_call("write_todos", {"todos": 7}, call_id="x"), "Ok.")
    assert "behind" in planning.to_data()["session"]
    _, result = go(planning, function_call("read_todos", {}, call_id="y"), "Ok.")
    assert outputs(result)["y"].startswith("since you last looked: ")
    _, result = go(planning, write(DIG, call_id="u"), "Ok.")
    assert "by ann" not in outputs(result)["u"]
    assert subjects(planning) == ["Dig", "Tell Ann"]


def test_calls_of_one_turn_share_what_the_model_had_seen():
    """
    A list that was written beside a read is upon what was seen before it, and it is told once.
    """
    planning = begun()
    by_ann(planning)
    turn = [function_call("read_todos", {}, call_id="a"), write(DIG, call_id="b")]
    _, result = go(planning, turn, "Ok.")
    assert ["by ann" in outputs(result)[call] for call in "ab"] == [True, False]
    assert subjects(planning) == ["Dig", "Tell Ann"]


def test_the_reminder_says_who_did_what_and_is_kept_nowhere():
    """
    `changed` is on by default, and at the tail. It comes again until an answer has told, also after
    a restart.
    """
    planning = begun(Settings(unfinished=0, plan_lost=False))
    by_ann(planning)
    model, result = go(planning, "Ok.")
    assert "#1 Dig updated by bo, #2 Tell Ann created by ann" in tails(model)[0]
    assert TAG not in json.dumps([result.to_input_list(), planning.to_data()])
    model, result = go(again(planning), write(DIG, call_id="v"), "Ok.")
    assert [TAG in tail for tail in tails(model)] == [True, False]
    assert "by ann" in outputs(result)["v"]
    assert subjects(planning) == ["Dig", "Tell Ann"]


def test_what_is_done_while_the_model_answers_a_reminder_is_unseen():
    """
    The reminder showed the plan as it was when the request was sent.
    """
    planning = begun(Settings(unfinished=0, plan_lost=False))
    by_ann(planning)
    model = scripted("Ok.", "Ok.")
    answer = model.get_response

    async def slowly(*args, **options):
        if not model.calls:
            await edit_plan(planning, commands.CreateTask("Tell Bob"), actor="bob")
        return await answer(*args, **options)

    model.get_response = slowly
    for _ in range(2):
        run(attach(agent_of(model), planning))
    assert "Tell Bob" not in tails(model)[0]
    assert "Tell Bob created by bob" in tails(model)[1]
    assert "Tell Ann created" in tails(model)[1]


def test_a_seeded_plan_is_not_removed_unseen():
    """
    The first list of a model that was shown nothing keeps what was seeded.
    """
    planning = Planning(Toolbox(TODOS), settings=SILENT)
    asyncio.run(seed_plan(planning, new_plan([Task("1", "Tell Ann")]), actor="cron"))
    _, result = go(planning, write(DIG, call_id="v"), "Ok.")
    assert "kept: #1 Tell Ann" in outputs(result)["v"]
    assert subjects(planning) == ["Dig", "Tell Ann"]


def test_with_a_store_the_reminder_names_who_did_what():
    """
    The journal knows it.
    """
    options = {"store": MemoryStore(), "plan_id": "one"}
    planning = begun(Settings(unfinished=0, plan_lost=False), **options)
    by_ann(planning)
    model, _ = go(planning, "Ok.")
    assert "#1 Dig updated by bo, #2 Tell Ann created by ann" in tails(model)[0]
    model, _ = go(planning, write(DIG, call_id="v"), "Ok.")
    assert [TAG in tail for tail in tails(model)] == [True, False]


def test_another_agent_on_the_plan_of_a_store_is_another_session():
    """
    Its calls have no name either, as the model's own have none: what it did after this session's
    model has looked is not undone, also by another process that goes on with the session.
    """
    store = MemoryStore()
    planning = begun(store=store, plan_id="1")
    other = Planner(store, "1", toolbox=Toolbox(TODOS))
    listed = [{"content": name, "status": "pending"} for name in ("Dig", "Lay")]
    other.call("write_todos", {"todos": listed})
    saved = json.loads(json.dumps(planning.to_data()))
    kept = {"store": store, "plan_id": "1", "saved": saved}
    planning = Planning(Toolbox(TODOS), settings=SILENT, **kept)
    _, result = go(planning, write(DIG, call_id="v"), "Ok.")
    assert "#2 Lay created" in outputs(result)["v"]
    assert subjects(planning) == ["Dig", "Lay"]
