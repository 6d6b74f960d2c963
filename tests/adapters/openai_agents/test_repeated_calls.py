"""A run that starts over from what was saved, since its process ended, changes nothing twice."""

import asyncio
import json

import pytest
from agents import Runner, RunState
from support.cut_off import Cut, CutMemory
from support.openai_agents_runs import agent_of, create, outputs, run, scripted

from todoplan import Planner
from todoplan.adapters.openai_agents import Planning, attach
from todoplan.core import commands
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks

QUIET = Settings(plan_lost=False, unfinished=0)


def worker(planning, *turns):
    """Return an agent whose planning tools a person has to approve."""
    agent = attach(agent_of(scripted(*turns)), planning, settings=QUIET)
    for tool in agent.tools:
        tool.needs_approval = True
    return agent


def planning(store, kept=None):
    """Return a session on the plan that both share."""
    return Planning(Toolbox(tasks()), settings=QUIET, store=store, plan_id="1", saved=kept)


async def approved(agent, document):
    """Go on with a run that was saved while it waited for approval."""
    state = await RunState.from_json(agent, document)
    for waiting in state.get_interruptions():
        state.approve(waiting)
    return await Runner.run(agent, state)


def go(session, *turns):
    """Run to the end."""
    run(attach(agent_of(scripted(*turns)), session, settings=QUIET))


def test_calls_whose_answers_were_lost_are_answered_again_and_not_done_again():
    """From the same saved state of the run; what others did meanwhile is told."""
    store = CutMemory()
    first = planning(store)
    waiting = run(worker(first, create("a", "b")))
    text = json.dumps([waiting.to_state().to_json(), first.to_data()])
    state, kept = json.loads(text)
    with pytest.raises(Cut):
        asyncio.run(approved(worker(planning(store, kept)), state))
    before = len(store.entries("1"))
    Planner(store, "1").apply(commands.CreateTask("c"), actor="ann")
    state, kept = json.loads(text)
    told = outputs(asyncio.run(approved(worker(planning(store, kept), "ok"), state)))
    found = [task.subject for task in store.load("1")]
    assert sorted(found) == ["a", "b", "c"], (before, found)
    assert all("created" in text for text in told.values())


def test_another_session_with_the_same_ids_makes_calls_of_its_own():
    """Some providers number the calls of each response anew: neither is taken for the other."""
    store = CutMemory()
    store.is_cut = False
    go(planning(store), create("a"), "ok")
    go(planning(store), create("a"), "ok")
    assert [task.subject for task in store.load("1")] == ["a", "a"]
