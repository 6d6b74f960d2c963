"""A list drops only what its session has listed (law 15); plans in a store."""

import asyncio
import json
from itertools import chain

import pytest
from agentscope.message import AssistantMsg, ToolResultBlock, ToolResultState
from agentscope.state import AgentState
from agentscope.tool import TaskCreate as TheirCreate
from agentscope.tool import Toolkit
from support.agentscope_agent import (
    EDIT,
    TWO,
    Desk,
    agent_of,
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
from support.cut_off import Cut, CutMemory
from support.law_15 import TOLD
from support.stores_sound import AsyncSound

from todoplan import (
    TODOS,
    FileStore,
    MemoryStore,
    Planner,
    Task,
    Toolbox,
    commands,
    plan_of,
)
from todoplan.adapters.agentscope import (
    attach,
    edit_plan,
    history_of,
    make_tools,
    plan_of_state,
    repair,
    seed_plan,
    undo_plan,
)
from todoplan.core.commands import ClearPlan, CreateTask, DeleteTask, UpdateTask
from todoplan.dialogue import Settings, lean, tasks
from todoplan.errors import CodecError, PlanError
from todoplan.testing.adapters.host import QUIET

# -------- session --------


@pytest.fixture(params=["state", "store"])
def place(request):
    """Where the plan lives: the same in the state and in a store."""
    return {"store": MemoryStore(), "plan_id": "all"} if request.param == "store" else {}


def session_of(agent):
    return loaded(agent).middle_context["todoplan"]["session"]


def times(count, *subjects):
    """Return a script in which the model writes the same list so many times."""
    return [turn for _ in range(count) for turn in (write(*subjects), "ok")]


def tasks_of(agent):
    return [(task.subject, task.status.value) for task in plan_of_state(agent)]


def test_old_words_stay_old_when_the_state_is_loaded(place):
    """What others changed since is saved with the record, also what nobody has been told yet."""
    agent = helper(write("Fix", "Ship"), "ok", **place)
    reply(agent)
    edit_plan(agent, UpdateTask("1", subject="Fix on main"), actor="bob")
    for told in (True, False, False):
        agent = helper(write("Fix", "Ship"), "ok", state=loaded(agent), **place)
        reply(agent)
        wanted = "#1 Fix on main (was: Fix) updated by bob"
        assert (wanted in answers(agent)[-1]) is told
        if told:
            edit_plan(agent, DeleteTask("2"), actor="bob")
    assert tasks_of(agent) == [("Fix on main", "pending")]


def test_calls_of_one_turn_are_upon_what_the_model_knew_before_it(place):
    """Also where the reply waited for a person between two of them, and the state was saved."""
    agent = helper(write("Fix", "Ship"), "ok", **place)
    reply(agent)
    edit_plan(agent, UpdateTask("1", status="completed"), actor="bob")
    turn = use("read_todos"), write("Fix", "Ship", "Log"), use("read_todos")
    state = loaded(agent)
    state.context.append(AssistantMsg(name="helper", content=list(turn)))
    texts, good = [], ToolResultState.SUCCESS
    for call in turn:
        texts.append(Desk(state=state, tools=make_tools(Toolbox(TODOS), **place)).asked(call))
        done = ToolResultBlock(id=call.id, name=call.name, output="x", state=good)
        state.context[-1].content.append(done)
        state = loaded(state)
    assert ["by bob" in text for text in texts] == [True, False, False]
    agent = helper("ok", state=state, **place)
    assert tasks_of(agent) == [("Fix", "completed"), ("Ship", "pending"), ("Log", "pending")]
    reply(agent)
    assert "turn" not in session_of(agent)


def test_a_list_that_the_model_wrote_with_agentscopes_own_tools_is_its_own(place):
    """It may drop that; not what a program has put beside it."""
    calls = [
        use("TaskCreate", subject="a", description=""),
        use("TaskCreate", raw="[1]"),
        use("Other", subject="seeded"),
    ]
    own = agent_of(calls, "ok", toolkit=Toolkit(tools=[TheirCreate()]))
    reply(own)
    own.state.tasks_context.tasks.append(theirs("seeded"))
    agent = helper(write("b"), "ok", state=loaded(own), **place)
    reply(agent)
    assert subjects(agent) == ["b", "seeded"]


def test_a_list_that_a_program_seeded_was_not_listed(place):
    """By whichever way it came."""
    agent, other = helper(write("b"), "ok", **place), helper(write("b"), "ok")
    seed_plan(agent, plan_of([Task("1", "a")]), actor="cron")
    other.state.tasks_context.tasks.append(theirs("a", id="1"))
    for each in (agent, other):
        reply(each)
        assert subjects(each) == ["b", "a"]


def test_one_agent_alone_notices_nothing(place):
    """Its record is small, and its replies are those of the toolbox."""
    lists = [write("a", "b"), write("a"), write("a", "c", a="completed")]
    agent = helper(*(part for each in lists for part in (each, "ok")), **place)
    planner = Planner(toolbox=Toolbox(TODOS))
    for each in lists:
        reply(agent)
        assert answers(agent)[-1] == planner.call("write_todos", each.input).text
    assert session_of(agent).keys() == {"version", "id", "revision", "guidance", "answered"}


def test_the_record_is_linear_in_what_others_changed():
    """It does not grow with the plan or its life, and forgets once the model has read the plan."""
    many = [str(n) for n in range(300)]
    agent = helper(write(*many), "ok", use("read_todos"), "ok")
    reply(agent)
    alone = len(json.dumps(session_of(agent)))
    for task_id in ("1", "2"):
        edit_plan(agent, UpdateTask(task_id, subject=f"other {task_id}"), actor="bob")
    behind = len(json.dumps(session_of(agent)))
    assert behind < alone + 800
    reply(agent)
    assert len(json.dumps(session_of(agent))) < alone + 50


def test_what_others_do_to_the_list_is_an_entry_without_an_actor():
    """It says what was done, as far as the tasks show it, and is saved with the others."""
    agent = helper(write("a", "b", "c"), "ok")
    reply(agent)
    first, second, third = agent.state.tasks_context.tasks
    first.subject, first.state, first.owner = "A", "completed", "ann"
    second.blocked_by.append(third.id)
    third.blocks.append(second.id)
    agent.state.tasks_context.tasks[:] = [third, second, first, theirs("d", id="x", blocks=["1"])]
    entry = history_of(loaded(agent))[-1]
    assert (entry.actor, entry.cause, entry.at is not None) == (None, "tasks_context", True)
    assert [type(event).__name__ for event in entry.events] == [
        "StatusChanged",
        "TaskEdited",
        "TaskCreated",
        "EdgeAdded",
        "EdgeAdded",
        "TasksReordered",
    ]
    assert [task.id for task in plan_of_state(loaded(agent))] == ["3", "2", "1", "4"]


def long_life(rounds=70):
    """Return the state of an agent whose journal has lost its beginning."""
    statuses = (("in_progress", "pending")[n % 2] for n in range(rounds))
    calls = [use("TaskUpdate", task_id="1", status=status) for status in statuses]
    script = [use("TaskCreate", subject=each) for each in "ab"], calls, "ok"
    agent = agent_of(*script, **attach(settings=TOLD))
    reply(agent)
    assert history_of(loaded(agent))[0].revision > 10
    return agent.state


def test_of_a_long_life_the_record_says_what_the_journal_does_not():
    """What others change is news, also where the journal begins behind it."""
    state = long_life()
    state.tasks_context.tasks[0].subject = "A"
    plan_of_state(state)
    agent = helper(write("a", "b"), "ok", state=loaded(state))
    reply(agent)
    assert "#1 A (was: a) updated" in answers(agent)[-1]
    assert subjects(agent) == ["A", "b"]


def test_an_edit_of_which_nobody_knows_what_it_was_loses_nothing():
    """The saved list was edited, and its journal begins later: nothing counts as listed."""
    data = json.loads(long_life().model_dump_json())
    data["tasks_context"]["tasks"][0]["subject"] = "A"
    agent = helper(write("x"), "ok", state=AgentState.model_validate(data))
    reply(agent)
    assert subjects(agent) == ["x", "A", "b"]


def test_of_a_long_life_a_journal_that_has_the_whole_plan_once_says_the_rest():
    """Undo goes back to there, and an edit of the saved list is known as what it was."""
    state = long_life()
    seed_plan(state, plan_of([Task("1", "a"), Task("2", "b")]), actor="cron")
    edit_plan(state, UpdateTask("2", subject="B"), actor="bob")
    state = loaded(state)
    state.tasks_context.tasks[0].owner = "ann"
    state = loaded(state)
    causes = [entry.cause for entry in history_of(state)[-3:]]
    assert causes == ["restore", "UpdateTask", "tasks_context"]
    for wanted in (("a", "B", None), ("a", "b", None)):
        undo_plan(state)
        first, second = plan_of_state(state)
        assert (first.subject, second.subject, first.owner) == wanted


LIST = [{"content": "Dig", "status": "in_progress"}]


def dig():
    return use("write_todos", todos=LIST)


def begun():
    """Return the saved state of an agent whose model has written a list."""
    agent = helper(dig(), "ok", settings=QUIET)
    reply(agent)
    return loaded(agent)


def by_ann(state):
    edit_plan(state, CreateTask("Tell Ann"), actor="ann")
    edit_plan(state, UpdateTask("1", owner="bo"), actor="bo")


def in_place(agent):
    agent.state.tasks_context.tasks.append(theirs("Tell Ann", id="2"))


def through_their_tool(agent):
    desk = Desk(state=agent.state, tools=[TheirCreate()])
    desk.do("TaskCreate", subject="Tell Ann", description="")


@pytest.mark.parametrize("change", [in_place, through_their_tool])
def test_a_change_of_the_list_itself_is_another_hand_too(change):
    """Nobody says who it was; the difference is unseen, also after a restart."""
    agent = helper(state=begun())
    change(agent)
    assert len(plan_of_state(agent)) == 2
    agent = helper(dig(), "ok", dig(), "ok", state=loaded(agent), settings=QUIET)
    for told in (True, False):
        reply(agent)
        assert ("Tell Ann created" in answers(agent)[-1]) is told
    assert subjects(agent) == ["Dig", "Tell Ann"]


def meddled(agent, *, before=-1, after=-1, change):
    """Have a change made before or after the model answers its request of that number."""
    answer = agent.model._call_api

    async def slowly(*args, **options):
        number = len(agent.model.requests)
        if number == before:
            change()
        done = await answer(*args, **options)
        if number == after:
            change()
        return done

    agent.model._call_api = slowly


def test_what_is_done_while_the_model_answers_a_reminder_is_unseen():
    """The reminder showed the plan as it was when the request was sent."""
    state = begun()
    by_ann(state)
    agent = helper("ok", dig(), "ok", state=state)
    edit = CreateTask("Tell Bob")
    meddled(agent, before=0, change=lambda: edit_plan(agent, edit, actor="bob"))
    reply(agent)
    assert "Tell Bob" not in agent.model.sent(0)
    reply(agent)
    assert "Tell Bob created by bob" in agent.model.sent(1)
    assert "Tell Ann created" in agent.model.sent(1)


def test_what_is_due_beside_a_further_turn_comes_in_the_next_request():
    """One reminder has the tail of a request; what the other has not shown is still unseen."""
    script = "early", "ok", "early", "ok"
    agent = helper(*script, settings=Settings(unfinished=1), state=begun())
    meddled(agent, after=0, change=lambda: by_ann(agent.state))
    reply(agent)
    assert len(agent.model.requests) == 2
    assert "by ann" not in agent.model.sent(1)
    reply(agent)
    assert "by ann" in agent.model.sent(2)


def test_a_damaged_record_is_an_error():
    """It is never a new session."""
    state = begun()
    by_ann(state)
    broken = state.model_dump()
    broken["middle_context"]["todoplan"]["session"]["behind"] = 7
    with pytest.raises(CodecError):
        plan_of_state(AgentState.model_validate(broken))


def asked(*subjects):
    """Return a session, as it was saved, in which the model has just made calls."""
    calls = [use("TaskCreate", subject=each, description=each) for each in subjects]
    state = AgentState(session_id="1")
    state.context.append(AssistantMsg(name="helper", content=calls))
    return calls, state.model_dump_json()


def answered(store, saved, calls):
    """Answer calls in a process that has just loaded the session."""
    state = AgentState.model_validate_json(saved)
    kit = Toolkit(tools=make_tools(Toolbox(tasks()), store=store))

    async def go():
        return [[part async for part in kit.call_tool(call, state)][-1] for call in calls]

    texts = [part.content[0].text for part in asyncio.run(go())]
    return texts, [task.subject for task in state.tasks_context.tasks]


def test_a_call_whose_answer_was_lost_is_answered_again_and_not_done_again():
    """The list of the session is that of the plan; what others did meanwhile is told."""
    store = CutMemory()
    calls, saved = asked("a")
    with pytest.raises(Cut):
        answered(store, saved, calls)
    Planner(store, "1").apply(commands.CreateTask("b"), actor="ann")
    texts, listed = answered(store, saved, calls)
    assert texts[0].endswith("0/1: #1 created")
    assert listed == ["a", "b"]
    assert len(store.entries("1")) == 2


def test_the_same_call_in_another_message_is_another_one():
    """Some providers number the calls of each response anew."""
    store = MemoryStore()
    for _ in range(2):
        calls, saved = asked("a")
        answered(store, saved, calls)
    assert subjects(store) == ["a", "a"]


# -------- store --------


def stored(store, *script, state=None, settings=QUIET, **options):
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
    before = helper(write("a", "b"), "ok", state=AgentState(session_id="1"), settings=QUIET)
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
        told = r"^this session has a list.*another plan under '1'.*tasks_context\.tasks\.clear"
        with pytest.raises(PlanError, match=told):
            read(agent)
    assert (subjects(store), listed(agent)) == (["Tell Ann"], ["a", "b"])
    give_up(agent)
    assert subjects(agent) == ["Tell Ann"]
    reply(agent)
    assert subjects(store) == listed(agent) == ["Tell Ann", "c"]
    assert not caplog.records


def test_a_session_that_gave_its_list_up_has_listed_nothing():
    """What another session has put into the store is kept, and told."""
    store, state = MemoryStore(), AgentState(session_id="1")
    reply(stored(None, write("a", "b"), write("b"), "ok", state=state))
    state.tasks_context.tasks.clear()
    seed_plan(stored(store), plan_of([Task("1", "Tell Ann"), Task("2", "Lay")]))
    reply(stored(store, write("c"), "ok", state=state))
    assert subjects(store) == ["c", "Tell Ann", "Lay"]


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


def test_an_asynchronous_store_serves_replies_and_its_planner_edits():
    """What is not awaited says what to do."""
    store = MemoryStore()
    agent = stored(AsyncSound(store), write("a"), "ok")
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
