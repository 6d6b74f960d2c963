"""What a session has listed and seen (law 15); calls that are repeated; what 0.2.0 saved."""

import asyncio
import json
from pathlib import Path

import pytest
from agents import Runner, RunState
from agents.testing import function_call
from support.cut_off import Cut, CutMemory
from support.law_15 import TOLD, Situations, listing, subjects
from support.openai_agents_runs import (
    agent_of,
    create,
    outputs,
    plan_of,
    run,
    scripted,
    tails,
    write,
)

from todoplan import TODOS, FileStore, MemoryStore, Planner, Toolbox, commands
from todoplan.adapters.openai_agents import (
    Planning,
    attach,
    edit_plan,
    history_of,
    make_tools,
    plan_of_state,
    seed_plan,
)
from todoplan.dialogue import Settings, tasks
from todoplan.errors import CodecError

SILENT = Settings(plan_lost=False, unfinished=0, changed=False)
DIG = ("Dig", "in_progress")


def by_ann(planning):
    """Add and edit, as persons."""
    for command, actor in (
        (commands.CreateTask("Tell Ann"), "ann"),
        (commands.UpdateTask("1", owner="bo"), "bo"),
    ):
        asyncio.run(edit_plan(planning, command, actor=actor))


def begun(settings=SILENT):
    """Return a session whose model has written a list."""
    planning = Planning(Toolbox(TODOS), settings=settings)
    run(attach(agent_of(scripted(write(DIG), "Ok.")), planning))
    return planning


def test_calls_of_one_turn_share_what_the_model_had_seen():
    """A list beside a read is compared with what was seen before both; it is told once."""
    planning = begun()
    by_ann(planning)
    turn = [function_call("read_todos", {}, call_id="a"), write(DIG, call_id="b")]
    told = outputs(run(attach(agent_of(scripted(turn, "Ok.")), planning)))
    assert ["by ann" in told[call] for call in "ab"] == [True, False]
    assert [task.subject for task in plan_of(planning)] == ["Dig", "Tell Ann"]


def test_what_is_done_while_the_model_answers_a_reminder_is_unseen():
    """The reminder showed the plan as it was when the request was sent."""
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


STATES = Path(__file__).parent / "states"


class Talk:
    """Runs of an agent, guided or not; each begins without the messages of the one before."""

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
    """Return what 0.2.0 saved of a session that wrote "Fix" and "Release"."""
    return json.loads((STATES / f"{name}.json").read_text("utf-8"))


ALONE = listing(TODOS, ("Fix", "in_progress"), "Release")


def test_a_session_of_0_2_goes_on():
    """With its plan and journal; all that it had seen is listed, and saved in the new form."""
    talk = Talk(state("alone"), settings=TOLD)
    assert talk.turn(ALONE) == ["no change, 0/2 completed"]
    saved = talk.saved()
    assert sorted(saved) == ["calls", "journal", "plan", "session"]
    assert "listed" not in saved["session"]
    talk = talk.again()
    talk.turn(listing(TODOS, "Release"))
    assert subjects(talk) == ["Release"]


def test_a_session_of_0_2_is_told_what_it_had_not_seen():
    """What a person did stays, and is told once; what was saved is left as it is."""
    saved = state("unseen")
    names = ["Fix on main", "Release", "Changelog"]
    assert [task.subject for task in plan_of_state(saved)] == names
    assert [entry.actor for entry in history_of(saved)] == [None, "ann", "ann"]
    talk = Talk(saved, settings=TOLD)
    (text,) = talk.turn(ALONE)
    assert "#1 Fix on main" in text
    assert "#3 Changelog created by ann" in text
    for _ in range(2):
        talk = talk.again()
        assert "ann" not in talk.turn(ALONE)[0]
        assert subjects(talk) == names
    assert saved == state("unseen")
    with pytest.raises(CodecError):  # both forms: which of them is true cannot be known
        Planning(saved={**talk.saved(), "base": saved["base"]})


def test_calls_that_0_2_saved_belong_together():
    """Two whole-list writes that waited for approval: none of them is carried out."""
    planning = Planning(saved=state("waiting"))
    assert planning.to_data()["calls"] == state("waiting")["calls"]
    assert len(planning.to_data()["calls"]) == 1


def test_a_session_of_0_2_goes_on_in_its_store(tmp_path):
    """It knows the plan at the revision that guidance remembers; a person's task stays."""
    file = tmp_path / "plans.json"
    file.write_bytes((STATES / "stored_plans.json").read_bytes())
    talk = Talk(state("stored"), settings=TOLD, store=FileStore(file), plan_id="7")
    assert "#3 Changelog created by ann" in talk.turn(ALONE)[0]
    assert "ann" not in talk.again().turn(ALONE)[0]
    assert subjects(talk) == ["Fix", "Release", "Changelog"]


@pytest.mark.parametrize(
    "damage",
    [{"memory": 7}, {"base": 7}, {"base": {"plan": {}}}, {"id": 7}, {"plan": 7}, {"calls": 7}],
    ids=str,
)
def test_a_damaged_session_of_0_2_is_an_error(damage):
    """It is never taken for nothing."""
    with pytest.raises(CodecError):
        Planning(saved={**state("unseen"), **damage})


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
    store = MemoryStore()
    for _ in range(2):
        run(attach(agent_of(scripted(create("a"), "ok")), planning(store), settings=QUIET))
    assert [task.subject for task in store.load("1")] == ["a", "a"]
