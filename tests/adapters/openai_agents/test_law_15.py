"""Law 15 through runs of the SDK, and over what 0.2.0 has saved."""

import asyncio
import json
from pathlib import Path

import pytest
from agents.testing import function_call
from support.law_15 import TOLD, Situations, listing, subjects
from support.openai_agents_runs import agent_of, edit, outputs, plan_of, run, scripted, tails

from todoplan import TODOS
from todoplan.adapters.openai_agents import (
    Planning,
    attach,
    history_of,
    make_tools,
    plan_of_state,
    seed_plan,
)
from todoplan.core import commands
from todoplan.errors import CodecError
from todoplan.stores import FileStore

STATES = Path(__file__).parent / "states"


class Talk:
    """
    Runs of an agent, with guidance or the tools alone; each begins without the messages before.
    """

    def __init__(self, saved=None, *, guided=True, **options):
        self.options, self.guided = options, guided
        self.planning = Planning(saved=saved, **options)

    def again(self):
        saved = json.loads(json.dumps(self.saved()))
        return Talk(saved, guided=self.guided, **self.options)

    def saved(self):
        return self.planning.to_data()

    def plan(self):
        return plan_of(self.planning)

    def edit(self, command, actor):
        asyncio.run(self.planning.planner.apply(command, actor=actor)).unwrap()

    def seed(self, plan):
        asyncio.run(seed_plan(self.planning, plan))

    def _run(self, *turns):
        model = scripted(*turns)
        bare = agent_of(model)
        tools = make_tools(self.planning)
        agent = attach(bare, self.planning) if self.guided else bare.clone(tools=tools)
        return model, run(agent)

    def turn(self, *calls):
        sent = [function_call(*call, call_id=str(n)) for n, call in enumerate(calls)]
        return [*outputs(self._run(sent, "Ok.")[1]).values()]

    def tail(self):
        return tails(self._run("Ok.")[0])[0]


class TestGuided(Situations):
    def begin(self, **options):
        return Talk(**options)


class TestToolsAlone(Situations):
    test_what_a_reminder_told_of_stays = None  # there are none

    def begin(self, **options):
        return Talk(guided=False, **options)


def state(name):
    """
    Return what 0.2.0 saved of a session that wrote "Fix" and "Release".
    """
    return json.loads((STATES / f"{name}.json").read_text("utf-8"))


ALONE = listing(TODOS, ("Fix", "in_progress"), "Release")


def test_a_session_of_0_2_goes_on():
    """
    With its plan, its journal and all that it had seen as listed; it is saved in the new form.
    """
    talk = Talk(state("alone"), settings=TOLD)
    assert talk.turn(ALONE) == ["no change, 0/2 completed"]
    saved = talk.saved()
    assert sorted(saved) == ["calls", "journal", "plan", "session"]
    assert "listed" not in saved["session"]
    talk = talk.again()
    talk.turn(listing(TODOS, "Release"))
    assert subjects(talk) == ["Release"]


def test_a_session_of_0_2_is_told_what_it_had_not_seen():
    """
    What a person did stays, and is told once.
    """
    talk = Talk(state("unseen"), settings=TOLD)
    (text,) = talk.turn(ALONE)
    assert "#1 Fix on main" in text
    assert "#3 Changelog created by ann" in text
    for _ in range(2):
        talk = talk.again()
        assert "ann" not in talk.turn(ALONE)[0]
        assert subjects(talk) == ["Fix on main", "Release", "Changelog"]


def test_calls_that_0_2_saved_belong_together():
    """
    Two whole-list writes that waited for approval: none of them is carried out.
    """
    planning = Planning(saved=state("waiting"))
    assert planning.to_data()["calls"] == state("waiting")["calls"]
    assert len(planning.to_data()["calls"]) == 1


def test_a_session_of_0_2_goes_on_in_its_store(tmp_path):
    """
    It knows the plan at the revision that guidance remembers; a person's task stays.
    """
    file = tmp_path / "plans.json"
    file.write_bytes((STATES / "stored_plans.json").read_bytes())
    talk = Talk(state("stored"), settings=TOLD, store=FileStore(file), plan_id="7")
    assert "#3 Changelog created by ann" in talk.turn(ALONE)[0]
    assert "ann" not in talk.again().turn(ALONE)[0]
    assert subjects(talk) == ["Fix", "Release", "Changelog"]


def test_what_0_2_saved_can_be_read_as_it_is():
    """
    Plan and journal stand where they stood.
    """
    saved = state("unseen")
    assert [task.subject for task in plan_of_state(saved)] == [
        "Fix on main",
        "Release",
        "Changelog",
    ]
    assert [entry.actor for entry in history_of(saved)] == [None, "ann", "ann"]


@pytest.mark.parametrize(
    "damage",
    [{"memory": 7}, {"base": 7}, {"base": {"plan": {}}}, {"id": 7}, {"plan": 7}, {"calls": 7}],
    ids=str,
)
def test_a_damaged_session_of_0_2_is_an_error(damage):
    """
    It is never taken for nothing.
    """
    with pytest.raises(CodecError):
        Planning(saved={**state("unseen"), **damage})


def test_both_forms_in_one_are_an_error():
    """
    Which of them is true cannot be known.
    """
    saved = Planning(saved=state("unseen")).to_data()
    with pytest.raises(CodecError):
        Planning(saved={**saved, "base": state("unseen")["base"]})


def test_what_was_saved_is_left_as_it_is():
    """
    The caller's own value is not written to.
    """
    kept = state("unseen")
    edit(Planning(saved=kept), commands.ClearPlan())
    assert kept == state("unseen")
