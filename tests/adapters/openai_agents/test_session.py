"""The plan of a session: saved, edited, listed and seen (law 15); what 0.2.0 saved."""

import asyncio
import json
from pathlib import Path

import pytest
from agents import Agent, Runner, RunState, SQLiteSession
from agents.testing import function_call
from support.cut_off import Cut, CutMemory
from support.editing import TWO, Editing
from support.law_15 import TOLD, Situations, listing, subjects
from support.openai_agents_runs import (
    agent_of,
    create,
    done,
    edit,
    outputs,
    plan_of,
    remembered,
    run,
    scripted,
    stream,
    tails,
    turns,
    write,
)
from support.stores_sound import AsyncSound

from todoplan import (
    TODOS,
    FileStore,
    MemoryStore,
    Plan,
    Planner,
    Rejected,
    TodoplanError,
    Toolbox,
    commands,
    decide,
)
from todoplan.adapters.openai_agents import (
    Planning,
    attach,
    edit_plan,
    guided_model,
    history_of,
    make_tools,
    plan_of_state,
    seed_plan,
    undo_plan,
)
from todoplan.codec import plan_to_data
from todoplan.dialogue import Settings, tasks
from todoplan.dialogue.guidance import TAG
from todoplan.errors import CodecError, PlanError

# -------- planning --------


QUIET = Settings(plan_lost=False, unfinished=0)
TASKS = Toolbox(tasks())


def saved(planning):
    """Return what is saved, after a way through text."""
    return json.loads(json.dumps(planning.to_data()))


def created(planning, *subjects):
    """Return the planning after a run that creates tasks."""
    run(attach(agent_of(scripted(create(*subjects), "Ok.")), planning, settings=QUIET))
    return planning


def test_what_is_saved_is_restored():
    """Plan, ids, times and memory are the same; a new session starts with nothing."""
    first = created(Planning(TASKS), "A", "B")
    second = Planning(TASKS, saved=saved(first))
    assert plan_of(second) == plan_of(first) == plan_of_state(saved(first))
    assert remembered(second) == remembered(first)
    assert turns(second) == 2
    assert [t.id for t in plan_of(created(second, "C"))] == ["1", "2", "3"]
    assert plan_of_state(Planning().to_data()) == Plan()


def test_a_broken_document_is_an_error():
    """What is no plan is never an empty one."""
    with pytest.raises(CodecError):
        Planning(saved={"plan": {"format": "else"}})
    with pytest.raises(PlanError, match="store="):
        Planning(saved={"memory": {}})
    good = Planning().to_data()
    session = good["session"]
    for damaged in (
        {"session": {**session, "guidance": {"turn": "x"}}},
        {"session": {**session, "guidance": "x"}},
        {"session": {**session, "listed": [[2, 1]]}},
        {"session": {**session, "unknown": 1}},
        {"session": {**session, "version": 2}},
        {"session": None},
        {"calls": [[{"x": 1}]]},
    ):
        with pytest.raises(CodecError):
            Planning(saved={**good, **damaged})


def test_a_plan_has_one_owner():
    """It is in a store or in what was saved, not in both; an id names one of a store's plans."""
    own = created(Planning(TASKS), "A").to_data()
    stored = created(Planning(TASKS, store=MemoryStore(), plan_id="one"), "A").to_data()
    for given, remedy in (
        ({"store": MemoryStore(), "plan_id": "one", "saved": own}, "leave out one of them"),
        ({"plan_id": "one"}, "give store= too"),
        ({"store": MemoryStore()}, "plan_id="),
        # The record says that there is one: an empty plan in its place would be a lie.
        ({"saved": stored}, "give store="),
    ):
        with pytest.raises(PlanError, match=remedy):
            Planning(**given)


@pytest.mark.parametrize("kind", [MemoryStore, AsyncSound])
def test_a_store_keeps_the_plan(kind):
    """What is saved beside it is what the session knows."""
    store = kind()
    planning = created(Planning(TASKS, store=store, plan_id="one"), "A", "B", "C")
    assert [t.subject for t in asyncio.run(planning.plan())] == ["A", "B", "C"]
    kept = saved(planning)
    assert "plan" not in kept
    again = Planning(TASKS, store=store, plan_id="one", saved=kept)
    assert remembered(again) == remembered(planning)
    assert len(asyncio.run(again.plan())) == 3


@pytest.mark.parametrize("store", [None, MemoryStore, AsyncSound])
def test_interfaces_are_told_while_it_streams(store):
    """
    Functions and coroutines are told of each accepted call, with its entry and the plan, whoever
    keeps the plan, and no longer once stopped.
    """
    kept = {"store": store(), "plan_id": "one"} if store else {}
    planning = Planning(TASKS, actor="bot", **kept)
    told, awaited = [], []

    async def tell(entry, plan):
        await asyncio.sleep(0)
        awaited.append((entry.cause, len(plan)))

    planning.subscribe(tell)
    stop = planning.subscribe(lambda entry, plan: told.append((entry.actor, len(plan))))
    agent = attach(agent_of(scripted(create("A", "B"), "Ok.")), planning, settings=QUIET)
    asyncio.run(stream(agent))
    assert awaited == [("TaskCreate", 1), ("TaskCreate", 2)]
    assert told == [("bot", 1), ("bot", 2)]
    stop()
    edit(planning, commands.ClearPlan())
    assert len(told) == 2


def test_a_session_of_the_sdk_goes_on(tmp_path):
    """Messages come from the SDK's file, the plan from ours; guidance sees that it is visible."""
    file = tmp_path / "session.db"

    def work(saved, *turns):
        planning, session = Planning(TASKS, saved=saved), SQLiteSession("ann", file)
        model = scripted(*turns)
        run(attach(agent_of(model), planning), session=session)
        session.close()
        return planning, tails(model)

    first, _ = work(None, create("A", "B"), done("1"), "Half.", "Still half.", "No more.")
    second, told = work(saved(first), "Half.", done("2"), "All.")
    assert [TAG in tail for tail in told] == [False, True, False]
    assert plan_of(second).counts.open == 0


def test_an_interrupted_run_goes_on_elsewhere():
    """Of two whole-list writes that wait for approval none is carried out, also after a restart."""
    calls = [write(("A", "pending"), call_id="1"), write(("B", "pending"), call_id="2")]

    def worker(planning, *turns):
        agent = attach(agent_of(scripted(*turns)), planning)
        agent.tools[0].needs_approval = True
        return agent

    planning = Planning()
    waiting = run(worker(planning, calls))
    text = json.dumps([waiting.to_state().to_json(), planning.to_data()])
    state, kept = json.loads(text)
    restored = Planning(saved=kept)
    result = asyncio.run(approved(worker(restored, "Ok."), state))
    told = outputs(result)
    assert told["1"] == told["2"]
    assert told["1"].startswith("Nothing was changed.")
    assert len(plan_of(restored)) == 0
    assert saved(restored)["calls"] == []


# -------- session --------


def test_what_is_done_while_the_model_answers_a_reminder_is_unseen():
    """The reminder showed the plan as it was when the request was sent."""
    planning = Planning(settings=Settings(unfinished=0, plan_lost=False))
    run(attach(agent_of(scripted(write(("Dig", "in_progress")), "Ok.")), planning))
    asyncio.run(edit_plan(planning, commands.CreateTask("Tell Ann"), actor="ann"))
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

    def history(self):
        found = asyncio.run(self.planning.history())
        assert self.planning.store or history_of(self.saved()) == found
        return found

    def edit(self, command, actor=None, **how):
        return asyncio.run(edit_plan(self.planning, command, actor=actor, **how))

    def undo(self, **how):
        return asyncio.run(undo_plan(self.planning, **how))

    def seed(self, plan, **how):
        asyncio.run(seed_plan(self.planning, plan, **how))

    def _run(self, *turns):
        model = scripted(*turns)
        bare = agent_of(model)
        tools = make_tools(self.planning)
        agent = attach(bare, self.planning) if self.guided else bare.clone(tools=tools)
        return model, run(agent)

    def create(self, subject):
        self._run(create(subject), "Ok.")

    def turn(self, *calls):
        sent = [function_call(*call, call_id=str(n)) for n, call in enumerate(calls)]
        return [*outputs(self._run(sent, "Ok.")[1]).values()]

    def tail(self):
        return tails(self._run("Ok.")[0])[0]


class TestEditing(Editing):
    def begin(self, toolbox):
        return Talk(toolbox=toolbox, settings=QUIET)


class TestEditingStored(Editing):
    def begin(self, toolbox):
        return Talk(toolbox=toolbox, settings=QUIET, store=MemoryStore(), plan_id="1")


class TestGuided(Situations):
    def begin(self, **options):
        return Talk(**options)


class TestToolsAlone(Situations):
    test_what_a_reminder_told_of_stays = None  # there are none
    # Without a guided model, each call is a turn of its own.
    test_calls_of_one_turn_share_what_the_session_knew = None

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


# -------- editing --------


LISTED = decide(Plan(), commands.WriteTodos((commands.Todo("A"), commands.Todo("B")))).plan


def test_a_plan_is_seeded():
    """By a function or as something saved, and the model is shown it; ids in use go on."""
    first, second = Planning(TASKS), Planning(TASKS, saved={"plan": plan_to_data(LISTED)})
    asyncio.run(seed_plan(first, LISTED))
    for planning in (first, second):
        model = scripted(create("C"), "Ok.")
        run(attach(agent_of(model), planning, settings=Settings(unfinished=0)))
        assert "#2 [pending] B" in tails(model)[0]
        assert [task.id for task in plan_of_state(planning.to_data())] == ["1", "2", "3"]
    asyncio.run(seed_plan(first, Plan()))
    assert (len(plan_of(first)), plan_of(first).next_id) == (0, 4)


def test_an_edit_is_decided_and_told():
    """To subscribers, and to the model until an answer has; a refused one does nothing."""
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


def test_the_settings_are_the_plannings_unless_an_agent_has_others():
    """Two agents that share a plan may be guided differently."""
    planning = Planning(TASKS, settings=QUIET)
    model = scripted(create("a"), "Early.", "Ok.", "Ok.", "Ok.")
    assert run(attach(agent_of(model), planning)).final_output == "Early."
    guided = attach(agent_of(model), planning, settings=Settings(unfinished=2))
    assert run(guided).final_output == "Ok."
    assert len(model.calls) == 5


OTHERS = (None, {}, [], "7", {"memory": {}}, Planning(), Agent(name="x"))
WRONG = [
    lambda: Planning(tasks()),
    lambda: Planning(settings=0),
    lambda: Planning(clock=7),
    lambda: make_tools(TASKS),
    lambda: guided_model(TASKS),
    lambda: guided_model(Planning(), settings=0),
    lambda: attach(Planning(), Agent(name="x")),
    lambda: attach(Agent(name="x"), TASKS),
    lambda: asyncio.run(seed_plan(TWO, Planning())),
    lambda: asyncio.run(seed_plan(Planning(), [])),
    lambda: asyncio.run(edit_plan(Agent(name="x"), commands.ClearPlan())),
    lambda: asyncio.run(edit_plan(Planning(), commands.ClearPlan(), policy="strict")),
    *(lambda other=other: plan_of_state(other) for other in OTHERS),
    *(lambda other=other: history_of(other) for other in OTHERS),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_developers_mistake_is_an_error_at_once(wrong):
    """It says what was seen and what to write."""
    with pytest.raises(TodoplanError, match="give"):
        wrong()


@pytest.mark.parametrize("damaged", ["text", [1], ["{"]])
def test_a_damaged_journal_is_an_error(damaged):
    """It is never an empty one, and it is found before a run begins."""
    with pytest.raises(CodecError):
        Planning(saved={**Planning().to_data(), "journal": damaged})
