"""How an application seeds, edits and undoes; who did what is known."""

import asyncio
import json

import pytest
from agents import Agent
from support.openai_agents_runs import agent_of, create, edit, plan_of, run, scripted, stream, tails
from support.policies import strict_for

from todoplan import (
    LEAN,
    STRICT,
    Accepted,
    MemoryStore,
    Plan,
    Rejected,
    Task,
    TodoplanError,
    Toolbox,
    commands,
    decide,
    replay,
)
from todoplan import plan_of as new_plan
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
from todoplan.errors import CodecError

TASKS = Toolbox(tasks())
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


QUIET = Settings(plan_lost=False, unfinished=0)
TWO = new_plan([Task("1", "a"), Task("2", "b")])


async def story(planning):
    """Seed, run, edit, and be refused."""
    await seed_plan(planning, TWO, actor="cron")
    await stream(attach(agent_of(scripted(create("c"), "Ok.")), planning))
    await edit_plan(planning, commands.UpdateTask("1", owner="ann"), actor="bob")
    await edit_plan(planning, commands.DeleteTask("9"), actor="eve")
    return await planning.history()


def test_the_journal_says_who_did_what_and_when():
    """In a store, in memory and in what was saved; replayed, it is the plan."""
    done = [("restore", "cron"), ("TaskCreate", None), ("UpdateTask", "bob")]
    kept = Planning(TASKS, settings=QUIET, store=MemoryStore(), plan_id="one")
    own = Planning(TASKS, settings=QUIET)
    for planning in (kept, own):
        history = asyncio.run(story(planning))
        assert [(entry.cause, entry.actor) for entry in history] == done
        assert all(entry.at is not None for entry in history)
        folded = replay(Plan(), [event for entry in history for event in entry.events])
        assert tuple(folded) == tuple(plan_of(planning))
    saved = json.loads(json.dumps(own.to_data()))
    assert history_of(saved) == history
    again = Planning(TASKS, saved=saved)
    asyncio.run(edit_plan(again, commands.CreateTask("d"), actor="ann"))
    assert [entry.actor for entry in history_of(again.to_data())] == ["cron", None, "bob", "ann"]
    assert history_of({"plan": saved["plan"]}) == ()


def test_an_edit_is_judged_by_the_sessions_policy_unless_another_is_given():
    """What the model may not do, the application does only if it says so."""
    planning = Planning(Toolbox(tasks(), STRICT))
    bare = commands.CreateTask("a")
    lenient = strict_for(LEAN)
    assert isinstance(asyncio.run(edit_plan(planning, bare)), Rejected)
    assert isinstance(asyncio.run(edit_plan(planning, bare, policy=lenient)), Accepted)


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


def test_the_last_change_is_taken_back_whoever_made_it():
    """In a store, and in memory, also what was done before the plan was saved."""

    async def undoing(planning):
        await edit_plan(planning, commands.CreateTask("a"), actor="ann")
        planning = planning if planning.to_data().get("plan") is None else loaded(planning)
        await edit_plan(planning, commands.CreateTask("b"), actor="ann")
        done = [await undo_plan(planning, actor="bo") for _ in range(2)]
        last = (await planning.history())[-1]
        return done, await planning.plan(), (last.cause, last.actor)

    def loaded(planning):
        return Planning(TASKS, saved=json.loads(json.dumps(planning.to_data())))

    for planning in (Planning(TASKS, store=MemoryStore(), plan_id="1"), Planning(TASKS)):
        done, plan, last = asyncio.run(undoing(planning))
        assert [type(decision) for decision in done] == [Accepted, Accepted]
        assert ([*plan], last) == ([], ("undo", "bo"))
