"""A plan in a store: everyone changes it at any time, by claims or without."""

import asyncio
from itertools import chain

import pytest
from agentscope.state import AgentState
from support.agentscope_agent import (
    EDIT,
    SILENT,
    TOLD,
    TWO,
    Desk,
    answers,
    helper,
    listed,
    loaded,
    reply,
    subjects,
    theirs,
    use,
    write,
)

from todoplan import (
    STRICT,
    Accepted,
    FileStore,
    MemoryStore,
    Planner,
    Rejected,
    Toolbox,
)
from todoplan.adapters.agentscope import (
    edit_plan,
    history_of,
    make_tools,
    plan_of_state,
    repair,
    seed_plan,
)
from todoplan.core.commands import ClearPlan, CreateTask, UpdateTask
from todoplan.dialogue import lean, tasks
from todoplan.errors import PlanError


def stored(store, *script, state=None, settings=SILENT, **options):
    state = state or AgentState(session_id="1")
    return helper(*script, state=state, settings=settings, store=store, **options)


def test_the_plan_is_in_the_store_and_its_list_in_the_state(tmp_path):
    """Under the session's id; AgentScope's interfaces read the list, the application the agent."""
    store = FileStore(tmp_path / "plans.json")
    agent = stored(store, write("a", "b"), "ok")
    reply(agent)
    assert subjects(store) == listed(agent) == ["a", "b"]
    assert plan_of_state(agent) == store.load("1")
    assert [entry.cause for entry in history_of(agent)] == ["write_todos"]
    for wrong in (plan_of_state, history_of, repair, lambda state: seed_plan(state, TWO)):
        with pytest.raises(PlanError, match="a store keeps the plan"):
            wrong(agent.state)
    assert listed(agent) == ["a", "b"]


def test_the_calls_of_an_agent_stand_under_its_name():
    """In a store, where the others are told who it was, and in the state."""
    store, box = MemoryStore(), Toolbox(tasks())
    given = {"plan_id": "all", "toolbox": box, "settings": TOLD}
    one = stored(store, use("TaskCreate", subject="a"), "ok", actor="one", **given)
    two = stored(store, use("TaskList"), "ok", use("TaskList"), "ok", actor="two", **given)
    for each in (two, one, two):
        reply(each)
    assert "#1 a created by one" in two.model.sent(2)
    assert "#1 a created by one" in answers(two)[1]
    alone = helper(use("TaskCreate", subject="a"), "ok", toolbox=box, actor="three")
    reply(alone)
    actors = [[entry.actor for entry in history_of(each)] for each in (one, alone)]
    assert actors == [["one"], ["three"]]


def test_a_list_that_the_session_had_is_handed_over_once():
    """With what its model had not seen, and what was repaired, which the next answer tells."""
    store = MemoryStore()
    before = helper(write("a", "b"), "ok", state=AgentState(session_id="1"), settings=SILENT)
    reply(before)
    edit_plan(before, EDIT, actor="ann")
    before.state.tasks_context.tasks.append(theirs("theirs", id="abc"))
    agent = stored(store, write("a", "b"), "ok", state=loaded(before))
    reply(agent)
    assert "#3 Tell Ann" in answers(agent)[-1]
    assert '"abc" is now #4' in answers(agent)[-1]
    assert subjects(store) == ["a", "b", "Tell Ann", "theirs"]
    assert "note" not in Desk(state=agent.state, tools=make_tools(store=store)).do("TaskList")


def test_old_ids_go_on_in_a_store():
    """They stand in the task, and the model goes on using them."""
    store = MemoryStore()
    desk = Desk(theirs("a", id="abc"), tools=make_tools(store=store, plan_id="7"))
    assert "a" in desk.do("TaskGet", task_id="abc")
    desk.do("TaskUpdate", task_id="abc", status="completed")
    assert [task.status.value for task in store.load("7")] == ["completed"]
    assert [task.state for task in desk.tasks] == ["completed"]


def test_an_edit_before_the_first_reply_finds_the_list_of_the_session():
    """It is the plan's beginning, not lost behind the edit."""
    store, state = MemoryStore(), AgentState(session_id="1")
    seed_plan(state, TWO)
    agent = stored(store, "ok", state=state)
    edit_plan(agent, EDIT)
    reply(agent)
    assert subjects(store) == listed(agent) == ["a", "b", "Tell Ann"]


GIVE_UP = [
    lambda agent: agent.state.tasks_context.tasks.clear(),
    lambda agent: setattr(agent.state.tasks_context, "tasks", []),
    lambda agent: edit_plan(agent.state, ClearPlan()),
]


@pytest.mark.parametrize("give_up", GIVE_UP)
def test_a_list_and_another_plan_in_the_store_are_not_mixed(give_up, caplog):
    """Neither is lost: the error says how a session gives its list up; then the store's counts."""
    store, state = MemoryStore(), AgentState(session_id="1")
    seed_plan(state, TWO)
    Planner(store, "1").apply(EDIT, actor="ann")
    agent = stored(store, write("Tell Ann", "c"), "ok", state=state)
    for read in (plan_of_state, reply):
        with pytest.raises(PlanError, match=r"another plan under '1'.*tasks_context\.tasks\.clear"):
            read(agent)
    assert (subjects(store), listed(agent)) == (["Tell Ann"], ["a", "b"])
    give_up(agent)
    assert subjects(agent) == ["Tell Ann"]
    reply(agent)
    assert subjects(store) == listed(agent) == ["Tell Ann", "c"]
    assert not caplog.records


def test_a_cleared_list_begins_a_plan_of_its_own_where_the_store_has_none():
    """Its ids go on: none is used twice in the life of a plan."""
    store, state = MemoryStore(), AgentState(session_id="1")
    seed_plan(state, TWO)
    state.tasks_context.tasks.clear()
    reply(stored(store, write("c"), "ok", state=state))
    assert [task.id for task in store.load("1")] == ["3"]


def test_a_change_to_the_published_list_is_written_over_and_logged(caplog):
    """The plan is in the store; the same objects stay where a task stays."""
    store = MemoryStore()
    agent = stored(store, write("a", "b"), "ok", "ok", "ok")
    reply(agent)
    kept = agent.state.tasks_context.tasks[0]
    reply(agent)
    assert not caplog.records
    agent.state.tasks_context.tasks.pop()
    kept.subject = "A"
    reply(agent)
    assert "overwritten" in caplog.text
    assert listed(agent) == ["a", "b"]
    assert agent.state.tasks_context.tasks[0] is kept


def test_an_edit_is_judged_by_the_agents_policy_and_a_seed_is_not():
    """As where the state keeps the plan; a plan of several sessions has an id of its own."""
    store = MemoryStore()
    agent = stored(store, toolbox=Toolbox(tasks(), STRICT), plan_id="all")
    seed_plan(agent, TWO, actor="cron")
    assert isinstance(edit_plan(agent, CreateTask("c")), Rejected)
    assert isinstance(edit_plan(agent, UpdateTask("1", owner="ann"), actor="bob"), Accepted)
    assert [entry.actor for entry in history_of(agent)] == ["cron", "bob"]
    assert listed(agent) == subjects(store, "all") == ["a", "b"]


class Awaited:
    """A store whose methods are coroutines."""

    def __init__(self, store):
        self.store = store

    async def load(self, plan_id):
        return self.store.load(plan_id)

    async def entries(self, plan_id):
        return self.store.entries(plan_id)

    async def append(self, *given):
        return self.store.append(*given)


def test_an_asynchronous_store_serves_replies_and_its_planner_edits():
    """What is not awaited says what to do."""
    store = MemoryStore()
    agent = stored(Awaited(store), write("a"), "ok")
    reply(agent)
    assert subjects(store) == ["a"]
    with pytest.raises(PlanError, match="AsyncPlanner"):
        edit_plan(agent, EDIT)


def test_replies_of_two_sessions_on_one_plan_see_each_other(tmp_path):
    """Two agents at once on one plan: each has its own ids, and who comes later is told."""
    store, box = FileStore(tmp_path / "plans.json"), Toolbox(tasks())
    names = [[f"{name} {n}" for n in range(3)] for name in ("one", "two")]
    scripts = [[*(use("TaskCreate", subject=each) for each in own), "ok"] for own in names]
    agents = [stored(store, *script, plan_id="all", toolbox=box) for script in scripts]

    async def both():
        await asyncio.gather(*(agent.reply(None) for agent in agents))

    asyncio.run(both())
    assert sorted(task.id for task in store.load("all")) == [*"123456"]
    assert sorted(subjects(store, "all")) == sorted(chain(*names))
    told = [text for agent in agents for text in answers(agent)]
    assert any("since you last looked" in text for text in told)


def team(store, state, *script, actor=None):
    """Return what an agent of the team is answered, in a session."""
    given = {"plan_id": "shared", "toolbox": Toolbox(lean(team=True)), "actor": actor}
    agent = stored(store, *script, "ok", state=state, **given)
    reply(agent)
    return "\n".join(answers(agent))


def test_two_sessions_share_a_plan_and_one_is_resumed():
    """The fence is kept with the session, also where that is saved and read again."""
    store = MemoryStore()
    Planner(store, "shared").restore(TWO)
    ann, bob = (AgentState(session_id=name) for name in ("ann", "bob"))
    assert "#1 claimed (fence 1): a" in team(store, ann, use("plan", next=True))
    second = team(store, bob, use("plan", next=True), use("plan", done=[1]))
    assert "#2 claimed (fence 1): b" in second
    assert "Task 1 is claimed by ann" in second
    assert "1/2: #1 completed" in team(store, loaded(ann), use("plan", done=[1]))
    assert [task.status.value for task in store.load("shared")] == ["completed", "in_progress"]


def test_an_agent_that_has_a_name_claims_in_that():
    """Also where its sessions have names of their own."""
    store = MemoryStore()
    Planner(store, "shared").restore(TWO)
    for name, actor in (("ann", "digger"), ("bob", None)):
        team(store, AgentState(session_id=name), use("plan", next=True), actor=actor)
    assert [task.claim.owner for task in store.load("shared")] == ["digger", "bob"]
