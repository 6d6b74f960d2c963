"""A plan in a store: everyone changes it at any time, by claims or without."""

import asyncio
import json
import subprocess
import sys
from itertools import count

import pytest
from agentscope.state import AgentState
from support.agentscope_agent import Desk, ScriptedModel, agent_of, reply, results, theirs, use

from todoplan import (
    STRICT,
    TODOS,
    Accepted,
    FileStore,
    MemoryStore,
    Planner,
    Rejected,
    Task,
    Toolbox,
    plan_of,
)
from todoplan.adapters.agentscope import (
    PlanMiddleware,
    attach,
    edit_plan,
    history_of,
    make_tools,
    plan_of_state,
    repair,
    seed_plan,
)
from todoplan.core.commands import ClearPlan, CreateTask, UpdateTask
from todoplan.dialogue import Settings, lean, tasks
from todoplan.errors import PlanError

QUIET = Settings(plan_lost=False, unfinished=0, changed=False)
TOLD = Settings(plan_lost=False, unfinished=0)
EDIT = CreateTask("Tell Ann")
TWO = plan_of([Task("1", "a"), Task("2", "b")])


def write(*subjects, status="pending"):
    todos = [{"content": subject, "status": status} for subject in subjects]
    return use("write_todos", todos=todos)


def helper(store, *script, state=None, settings=QUIET, toolbox=None, **options):
    kept = attach(toolbox or Toolbox(TODOS), settings=settings, store=store, **options)
    return agent_of(*script, state=state or AgentState(session_id="1"), **kept)


def subjects(store, plan_id="1"):
    return [task.subject for task in store.load(plan_id)]


def listed(agent):
    return [task.subject for task in agent.state.tasks_context.tasks]


def saved(agent):
    return AgentState.model_validate_json(agent.state.model_dump_json())


class Meddled(ScriptedModel):
    """Somebody does something while the model answers a request."""

    def __init__(self, *turns, meddle):
        super().__init__(*turns)
        self.meddle = meddle

    async def _call_api(self, *args, **kwargs):
        self.meddle(len(self.requests))
        return await super()._call_api(*args, **kwargs)


def test_the_plan_is_in_the_store_and_its_list_in_the_state(tmp_path):
    """Under the session's id; AgentScope's interfaces read the list, the application the agent."""
    store = FileStore(tmp_path / "plans.json")
    agent = helper(store, write("a", "b"), "ok")
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
    one = helper(store, use("TaskCreate", subject="a"), "ok", actor="one", **given)
    two = helper(store, use("TaskList"), "ok", use("TaskList"), "ok", actor="two", **given)
    reply(two)
    reply(one)
    reply(two)
    assert "#1 a created by one" in two.model.sent(2)
    assert "#1 a created by one" in results(two)[1][1]
    assert [entry.actor for entry in history_of(one)] == ["one"]
    alone = agent_of(use("TaskCreate", subject="a"), "ok", **attach(box, actor="three"))
    reply(alone)
    assert [entry.actor for entry in history_of(alone)] == ["three"]


def test_a_list_that_the_session_had_is_handed_over_once():
    """With what its model had not seen, and what was repaired, which the next answer tells."""
    store = MemoryStore()
    before = agent_of(write("a", "b"), "ok", **attach(Toolbox(TODOS), settings=QUIET))
    before.state.session_id = "1"
    reply(before)
    edit_plan(before, EDIT, actor="ann")
    before.state.tasks_context.tasks.append(theirs("theirs", id="abc"))
    agent = helper(store, write("a", "b"), "ok", state=saved(before))
    reply(agent)
    told = results(agent)[-1][1]
    assert "#3 Tell Ann" in told
    assert '"abc" is now #4' in told
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
    agent = helper(store, "ok", state=state)
    edit_plan(agent, EDIT)
    reply(agent)
    assert subjects(store) == listed(agent) == ["a", "b", "Tell Ann"]


def test_a_list_and_another_plan_in_the_store_are_not_mixed():
    """Neither is lost: the developer is told."""
    store, state = MemoryStore(), AgentState(session_id="1")
    seed_plan(state, TWO)
    Planner(store, "1").apply(EDIT)
    agent = helper(store, "ok", state=state)
    with pytest.raises(PlanError, match="another plan under '1'"):
        reply(agent)
    assert (subjects(store), listed(agent)) == (["Tell Ann"], ["a", "b"])


def clear_list(agent):
    agent.state.tasks_context.tasks.clear()


def replace_list(agent):
    agent.state.tasks_context.tasks = []


def clear_plan(agent):
    edit_plan(agent.state, ClearPlan())


@pytest.mark.parametrize("give_up", [clear_list, replace_list, clear_plan])
def test_a_session_gives_its_list_up_by_clearing_it(give_up, caplog):
    """As the error says; what the model does from then on is upon the plan of the store."""
    store, state = MemoryStore(), AgentState(session_id="1")
    seed_plan(state, TWO)
    Planner(store, "1").apply(EDIT, actor="ann")
    agent = helper(store, write("Tell Ann", "c"), "ok", state=state)
    with pytest.raises(PlanError, match=r"tasks_context\.tasks\.clear\(\)"):
        plan_of_state(agent)
    give_up(agent)
    assert [task.subject for task in plan_of_state(agent)] == ["Tell Ann"]
    reply(agent)
    assert subjects(store) == listed(agent) == ["Tell Ann", "c"]
    assert not caplog.records


def test_a_cleared_list_begins_a_plan_of_its_own_where_the_store_has_none():
    """Its ids go on: none is used twice in the life of a plan."""
    store, state = MemoryStore(), AgentState(session_id="1")
    seed_plan(state, TWO)
    state.tasks_context.tasks.clear()
    reply(helper(store, write("c"), "ok", state=state))
    assert [task.id for task in store.load("1")] == ["3"]


def test_a_change_to_the_published_list_is_written_over_and_logged(caplog):
    """The plan is in the store; the same objects stay where a task stays."""
    store = MemoryStore()
    agent = helper(store, write("a", "b"), "ok", "ok", "ok")
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
    agent = helper(store, toolbox=Toolbox(tasks(), STRICT), plan_id="all")
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
    agent = helper(Awaited(store), write("a"), "ok")
    reply(agent)
    assert subjects(store) == ["a"]
    with pytest.raises(PlanError, match="AsyncPlanner"):
        edit_plan(agent, EDIT)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: attach(plan_id="1"),
        lambda: attach(actor=""),
        lambda: make_tools(actor=7),
        lambda: make_tools(plan_id="1"),
        lambda: PlanMiddleware(store="plans.json"),
        lambda: edit_plan(helper(MemoryStore()), EDIT, policy="strict"),
        lambda: seed_plan(helper(MemoryStore()), []),
    ],
)
def test_a_developers_mistake_is_an_error(wrong):
    """It says what was seen and what to do."""
    with pytest.raises(PlanError, match=r"give|write"):
        wrong()


PERSON = """
import sys
from todoplan import FileStore, Planner, commands
planner = Planner(FileStore(sys.argv[1]), "1")
for number in range(int(sys.argv[2])):
    planner.apply(commands.CreateTask(f"edit {number}"), actor="ann").unwrap()
"""


def test_a_person_in_another_process_loses_nothing_and_undoes_nothing(tmp_path):
    """Every edit of the same file is in the plan, and so is what the model writes meanwhile."""
    path, edits, number = tmp_path / "plans.json", 20, count()
    known = [f"mine {next(number)}" for _ in range(10)]
    script = [write(*known[: n + 1]) for n in range(10)]
    agent = helper(FileStore(path))

    def rewritten(_):
        turn = agent.model.turns[0]
        if not isinstance(turn, str):
            # What it was told, it writes again: what it was not told, it does not know.
            sent = json.loads(turn.input)["todos"]
            names = dict.fromkeys([*listed(agent), *(todo["content"] for todo in sent)])
            agent.model.turns[0] = write(*names)

    agent.model = Meddled(*script, "ok", meddle=rewritten)
    with subprocess.Popen([sys.executable, "-c", PERSON, str(path), str(edits)]) as person:
        reply(agent)
        assert person.wait(60) == 0
    found = subjects(FileStore(path))
    assert {*known, *(f"edit {n}" for n in range(edits))} == {*found}
    assert len(found) == edits + 10


def test_replies_of_two_sessions_on_one_plan_see_each_other(tmp_path):
    """Two agents at once on one plan: each has its own ids, and who comes later is told."""
    store, box = FileStore(tmp_path / "plans.json"), Toolbox(tasks())
    agents = []
    for name in ("one", "two"):
        script = [use("TaskCreate", subject=f"{name} {n}") for n in range(3)]
        agents.append(helper(store, *script, "ok", plan_id="all", toolbox=box))

    async def both():
        await asyncio.gather(*(agent.reply(None) for agent in agents))

    asyncio.run(both())
    assert sorted(task.id for task in store.load("all")) == [*"123456"]
    assert {*subjects(store, "all")} == {f"{name} {n}" for name in ("one", "two") for n in range(3)}
    told = [text for agent in agents for _, text in results(agent)]
    assert any("since you last looked" in text for text in told)


DIG_AND_LAY = plan_of([Task("1", "Dig"), Task("2", "Lay")])


def answers(store, state, *script, actor=None):
    """Return what an agent of the team is answered, in a session."""
    toolbox = Toolbox(lean(team=True))
    kept = attach(toolbox, settings=QUIET, store=store, plan_id="shared", actor=actor)
    agent = agent_of(*script, "ok", state=state, **kept)
    reply(agent)
    return "\n".join(text for _, text in results(agent)), agent.state


def test_two_sessions_share_a_plan_and_one_is_resumed():
    """The fence is kept with the session, also where that is saved and read again."""
    store = MemoryStore()
    Planner(store, "shared").restore(DIG_AND_LAY)
    ann, bob = (AgentState(session_id=name) for name in ("ann", "bob"))
    first, ann = answers(store, ann, use("plan", next=True))
    assert "#1 claimed (fence 1): Dig" in first
    second, bob = answers(store, bob, use("plan", next=True), use("plan", done=[1]))
    assert "#2 claimed (fence 1): Lay" in second
    assert "Task 1 is claimed by ann" in second
    ann = AgentState.model_validate_json(ann.model_dump_json())
    last, ann = answers(store, ann, use("plan", done=[1]))
    assert "1/2: #1 completed" in last
    assert [task.status.value for task in store.load("shared")] == ["completed", "in_progress"]


def test_an_agent_that_has_a_name_claims_in_that():
    """Also where its sessions have names of their own."""
    store = MemoryStore()
    Planner(store, "shared").restore(DIG_AND_LAY)
    answers(store, AgentState(session_id="ann"), use("plan", next=True), actor="digger")
    assert store.load("shared")["1"].claim.owner == "digger"
    answers(store, AgentState(session_id="bob"), use("plan", next=True))
    assert store.load("shared")["2"].claim.owner == "bob"
