"""The plan of a session: one owner, nothing shared by accident, and all of it can be saved."""

import asyncio
import json

import pytest
from agents import Runner, RunState, SQLiteSession
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

from todoplan import MemoryStore, Plan, Toolbox, commands
from todoplan.adapters.openai_agents import Planning, attach, plan_of_state
from todoplan.dialogue import Settings, tasks
from todoplan.dialogue.guidance import TAG
from todoplan.errors import CodecError, PlanError

QUIET = Settings(plan_lost=False, unfinished=0)
TASKS = Toolbox(tasks())


class AwaitedStore:
    """A store that lets other tasks run before it answers."""

    def __init__(self):
        self.kept = MemoryStore()

    async def load(self, plan_id):
        await asyncio.sleep(0)
        return self.kept.load(plan_id)

    async def entries(self, plan_id):
        return self.kept.entries(plan_id)

    async def append(self, plan_id, expected, entries, plan):
        await asyncio.sleep(0)
        return self.kept.append(plan_id, expected, entries, plan)


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


@pytest.mark.parametrize("kind", [MemoryStore, AwaitedStore])
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


@pytest.mark.parametrize("store", [None, MemoryStore, AwaitedStore])
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
    result = asyncio.run(_approved(worker(restored, "Ok."), state))
    told = outputs(result)
    assert told["1"] == told["2"]
    assert told["1"].startswith("Nothing was changed.")
    assert len(plan_of(restored)) == 0
    assert saved(restored)["calls"] == []


async def _approved(agent, document):
    state = await RunState.from_json(agent, document)
    for waiting in state.get_interruptions():
        state.approve(waiting)
    return await Runner.run(agent, state)
