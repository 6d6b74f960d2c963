"""Drop-ins for AgentScope's tools, without its bugs; how an application seeds, edits and undoes."""

import asyncio

import agentscope.tool as native
import pytest
from agentscope.exception import DeveloperOrientedException
from agentscope.permission import PermissionBehavior, PermissionContext, PermissionMode
from agentscope.state import AgentState
from agentscope.tool import TaskList as Theirs
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
    results,
    subjects,
    theirs,
    use,
)
from support.editing import Editing

import todoplan.adapters.agentscope as ours
from todoplan import (
    AGENTSCOPE,
    LEAN,
    STRICT,
    TODOS,
    Accepted,
    MemoryStore,
    Plan,
    Priority,
    Task,
    TodoplanError,
    Toolbox,
    plan_of,
    replay,
)
from todoplan.adapters.agentscope import (
    PlanMiddleware,
    TaskCreate,
    attach,
    edit_plan,
    history_of,
    make_tools,
    plan_of_state,
    repair,
    seed_plan,
    undo_plan,
)
from todoplan.codec import entry_from_data
from todoplan.core.commands import CreateTask, UpdateTask
from todoplan.dialogue import tasks
from todoplan.errors import CodecError, PlanError

# -------- tools --------


NAMES = ["TaskCreate", "TaskGet", "TaskList", "TaskUpdate"]
DROP_INS = [getattr(ours, name) for name in NAMES]


def schemas(tools):
    """Return what the model is shown, by name."""
    shown = asyncio.run(Toolkit(tools=tools).get_tool_schemas())
    return {schema["function"]["name"]: schema["function"] for schema in shown}


@pytest.mark.parametrize("name", NAMES)
def test_names_and_arguments_are_agentscopes(name):
    """Whatever AgentScope's own tool takes, ours takes under the same name."""
    mine, own = schemas([getattr(ours, name)()]), schemas([getattr(native, name)()])
    assert list(mine) == list(own) == [name]
    wanted = set(own[name]["parameters"]["properties"])
    assert wanted <= set(mine[name]["parameters"]["properties"])
    assert set(mine[name]["parameters"].get("required", ())) <= wanted


@pytest.mark.parametrize("mode", [PermissionMode.DEFAULT, PermissionMode.DONT_ASK])
def test_every_call_is_allowed(mode):
    """As AgentScope's own: nobody is asked."""
    context = PermissionContext(mode=mode)
    for tool in (make() for make in DROP_INS):
        decision = asyncio.run(tool.check_permissions({}, context))
        assert decision.behavior is PermissionBehavior.ALLOW


def test_reads_are_flagged_read_only():
    """AgentScope flags its reads as writes; ours may run side by side and while exploring."""
    flags = {tool.name: (tool.is_read_only, tool.is_concurrency_safe) for tool in make_tools()}
    assert flags == {name: (name in {"TaskGet", "TaskList"},) * 2 for name in NAMES}
    agent = agent_of(use("TaskList"), use("TaskCreate", subject="a"), "done", **ours.attach())
    agent.state.permission_context.mode = PermissionMode.EXPLORE
    reply(agent)
    assert [ok for ok, _ in results(agent)] == [True, False]


def test_without_a_state_the_developer_hears_of_it():
    """A state that is none is the application's mistake, and escapes the toolkit."""
    with pytest.raises(DeveloperOrientedException, match="TaskList needs the AgentState"):
        asyncio.run(ours.TaskList().call(_agent_state=None))


def test_tool_middlewares_wrap_our_tools():
    """What wraps AgentScope's own tools wraps ours."""
    seen = []

    class Watch(native.ToolMiddlewareBase):
        async def on_tool_call(self, tool, input_kwargs, next_handler):
            seen.append(tool.name)
            async for chunk in next_handler(**input_kwargs):
                yield chunk

    desk = Desk(tools=[ours.TaskCreate([Watch()])])
    desk.do("TaskCreate", subject="a", description="b")
    assert (seen, desk.tasks[0].description) == (["TaskCreate"], "b")


def test_edges_are_advice_by_default_and_rules_on_request():
    """AgentScope's preset warns of a blocked start; a policy can refuse it."""
    for policy, state in (
        (AGENTSCOPE, "in_progress"),
        (AGENTSCOPE.but(blocked_start="error"), "pending"),
    ):
        desk = Desk(tools=[make(policy=policy) for make in DROP_INS])
        desk.do("TaskCreate", subject="a")
        desk.do("TaskCreate", subject="b", blocked_by=["1"])
        text = desk.call("TaskUpdate", task_id="2", status="in_progress")
        assert "waits for" in text
        assert desk.tasks[1].state == state
    assert Desk(toolbox=Toolbox(tasks("snake"), STRICT)).fail("TaskCreate", subject="a")


def test_a_change_is_news_in_the_results_metadata():
    """Replaying what the stream's metadata bring gives the plan; reads and errors bring nothing."""
    agent = agent_of(
        [use("TaskCreate", subject="a"), use("TaskCreate", subject="b", blocked_by=["1"])],
        [
            use("TaskList"),
            use("TaskGet", task_id="7"),
            use("TaskUpdate", task_id="1", status="completed"),
        ],
        [use("TaskUpdate", task_id="2", status="deleted")],
        "ok",
        toolkit=Toolkit(make_tools()),
    )
    news = [e.metadata for e in reply(agent) if getattr(e, "type", "") == "TOOL_RESULT_END"]
    assert [bool(each) for each in news] == [True, True, False, False, True, True]
    entries = [entry_from_data(each["todoplan"]) for each in news if each]
    assert entries[0].cause == "TaskCreate"
    plan = replay(Plan(), (event for entry in entries for event in entry.events))
    assert plan == plan_of_state(agent.state)
    assert entries[-1].revision == plan.revision


def test_a_copy_of_a_state_goes_its_own_way():
    """Two states that began as copies do not disturb each other."""
    desk = desk_of("a")
    other = Desk(state=desk.state.model_copy(deep=True))
    dumped = Desk(state=AgentState.model_validate(desk.state.model_dump()))
    desk.do("TaskCreate", subject="b")
    other.do("TaskUpdate", task_id="1", status="deleted")
    other.do("TaskCreate", subject="c")
    dumped.do("TaskCreate", subject="d")
    found = [[(task.id, task.subject) for task in each.tasks] for each in (desk, other, dumped)]
    assert found == [[("1", "a"), ("2", "b")], [("2", "c")], [("1", "a"), ("2", "d")]]


def desk_of(*subjects):
    """Return a desk with these tasks."""
    desk = Desk()
    for subject in subjects:
        desk.do("TaskCreate", subject=subject, description="")
    return desk


def test_arguments_that_were_cut_off_make_no_half_plan():
    """AgentScope completes them; ours are refused, and what is mended is told."""
    cut = '{"subject": "b", "description": "cut'
    agent = agent_of(
        [use("TaskCreate", subject="a"), use("TaskCreate", raw=cut)],
        *(use("TaskCreate", raw=raw) for raw in ('{"subject": "c",}', "")),
        "ok",
        toolkit=Toolkit(tools=make_tools()),
    )
    reply(agent)
    assert [ok for ok, _ in results(agent)] == [True, False, True, False]
    assert "end in the middle" in answers(agent)[1]
    assert "trailing commas" in answers(agent)[2]
    assert listed(agent) == ["a", "c"]


# -------- editing --------


SNAKE = Toolbox(tasks("snake"), AGENTSCOPE)
PLAN = plan_of(
    [Task("3", "a", priority=Priority.LOW, blocks=("5",)), Task("5", "b", blocked_by=("3",))]
)


def test_seeding_replaces_also_what_is_broken():
    """
    A list that no call accepts goes; the ids that were given do not come back. A list is kept if
    what is seeded is no plan.
    """
    desk = Desk()
    for subject in "abcdefgh":
        desk.do("TaskCreate", subject=subject)
    desk.tasks[:] = [theirs("a", id="1", blocks=["2"]), theirs("b", id="2", blocks=["1"])]
    desk.fail("TaskList")
    with pytest.raises(PlanError):
        seed_plan(desk.state, ["b"])
    assert len(desk.tasks) == 2
    seed_plan(desk.state, PLAN)
    assert tuple(plan_of_state(desk.state)) == tuple(PLAN)
    assert "#9" in desk.do("TaskCreate", subject="c")
    assert all(task.created_at for task in desk.tasks)


def test_an_edit_of_a_state_or_of_another_agent_is_judged_by_agentscopes_policy():
    """A state by itself knows of none."""
    agent = helper(toolbox=Toolbox(tasks(), STRICT))
    assert isinstance(edit_plan(agent.state, CreateTask("a")), Accepted)
    other = agent_of("ok", toolkit=Toolkit(tools=[Theirs()]))
    assert isinstance(edit_plan(other, CreateTask("a")), Accepted)


class Session:
    """An agent, whose plan is in its state or in a store; each run is that of a new agent."""

    def __init__(self, toolbox, state=None, **given):
        self.given = {"toolbox": toolbox, **given}
        self.agent = helper(state=state, **self.given)

    def again(self):
        return Session(state=loaded(self.agent), **self.given)

    def create(self, subject):
        call = use("TaskCreate", subject=subject)
        reply(helper(call, "ok", state=self.agent.state, **self.given))

    def seed(self, plan, **how):
        seed_plan(self.agent, plan, **how)

    def edit(self, command, **how):
        return edit_plan(self.agent, command, **how)

    def undo(self, **how):
        decision = undo_plan(self.agent, **how)
        assert listed(self.agent) == subjects(self.agent)
        return decision

    def plan(self):
        return plan_of_state(self.agent)

    def history(self):
        return history_of(self.agent)


class TestEditing(Editing):
    def begin(self, toolbox):
        return Session(toolbox)


class TestEditingStored(Editing):
    def begin(self, toolbox):
        return Session(toolbox, store=MemoryStore(), plan_id="1")


def test_a_damaged_journal_is_an_error():
    """It is never an empty one."""
    state = AgentState()
    edit_plan(state, CreateTask("a"))
    state = loaded(state)
    state.middle_context["todoplan"]["journal"] = "text"
    with pytest.raises(CodecError, match="journal"):
        history_of(state)


def hosted():
    first = theirs("a", id="abc", metadata={"ticket": 7})
    return first, theirs("b", id="x-1", blocked_by=["abc"]), theirs("c", id="7")


def test_a_tasks_old_id_stays_readable_and_usable():
    """In the task, in TaskGet and in every argument that is an id, also after a restart."""
    desk = Desk(*hosted())
    repair(desk.state)
    assert [task.metadata.get("original_id") for task in desk.tasks] == ["abc", "x-1", None]
    assert desk.tasks[0].metadata["ticket"] == 7
    desk = desk.saved()
    assert "abc" in desk.do("TaskGet", task_id="abc")
    desk.do("TaskUpdate", task_id="abc", status="completed")
    desk.do("TaskUpdate", taskId="7", add_blocked_by=["x-1"])
    plan = plan_of_state(desk.state)
    assert plan["8"].status == "completed"
    assert (plan["9"].blocked_by, plan["7"].blocked_by) == (("8",), ("9",))
    assert "nowhere" in desk.fail("TaskUpdate", task_id="nowhere", status="completed")
    edit_plan(desk.state, UpdateTask("8", subject="A"))
    assert "A" in desk.do("TaskGet", task_id="abc")


def updated(tasks_of_host, raw):
    """Return a real agent, whose arguments are a text, that has updated a task of a host."""
    agent = helper(use("TaskUpdate", raw=raw), "ok", toolbox=SNAKE)
    agent.state.tasks_context.tasks.extend(tasks_of_host)
    reply(agent)
    return agent, [ok for ok, _ in results(agent)]


@pytest.mark.parametrize(
    "raw",
    [
        '{"task_id": "abc", "status": "completed"}',
        '{"task_id": "abc", "status": "completed", "unknown": ["abc"]}',
        '{"task_id": "8", "task_id": "abc", "status": "completed"}',
    ],
)
def test_old_ids_are_read_as_the_model_sends_them(raw):
    """Through a real agent, whose arguments are a text."""
    agent, ok = updated(hosted(), raw)
    assert ok == [True]
    assert plan_of_state(agent)["8"].status == "completed"


@pytest.mark.parametrize("raw", ["[1]", "{'task_id': '8', 'status': 'completed'}", '"8"'])
def test_arguments_that_are_no_json_object_are_left_to_intake(raw):
    """They are read, or refused, as in any other list."""
    assert updated(hosted(), raw)[1] == updated([theirs("a", id="8")], raw)[1]


def test_old_ids_in_the_items_of_a_list_are_read_too():
    """Whole-list tools name their items by id; an item that is only a text stays one."""
    desk = Desk(*hosted(), toolbox=Toolbox(TODOS))
    ids = {"abc": "A", "x-1": "b", "7": "c"}
    desk.call("write_todos", todos=[{"id": one, "content": text} for one, text in ids.items()])
    assert plan_of_state(desk.state)["8"].subject == "A"
    desk = Desk(*hosted(), toolbox=Toolbox(LEAN))
    desk.call("plan", write=["z", {"text": "y"}])
    assert "z" in subjects(desk.state)


WRONG = [
    lambda: attach(tasks()),
    lambda: attach(plan_id="1"),
    lambda: attach(actor=""),
    lambda: make_tools(actor=7),
    lambda: make_tools(plan_id="1"),
    lambda: PlanMiddleware(store="plans.json"),
    lambda: edit_plan(helper(store=MemoryStore()), EDIT, policy="strict"),
    lambda: seed_plan(helper(store=MemoryStore()), []),
    lambda: attach(settings=0),
    lambda: attach(clock=7),
    lambda: attach(verify=7),
    lambda: make_tools(verify=7),
    lambda: PlanMiddleware(settings="loud"),
    lambda: PlanMiddleware(tasks()),
    lambda: make_tools(tasks()),
    lambda: make_tools(clock="now"),
    lambda: TaskCreate(policy="strict"),
    lambda: seed_plan(AgentState(), []),
    lambda: seed_plan(None, TWO),
    lambda: edit_plan({}, CreateTask("a")),
    lambda: edit_plan(AgentState(), CreateTask("a"), policy="strict"),
    *(
        lambda read=read, other=other: read(other)
        for read in (plan_of_state, history_of, repair)
        for other in (None, {}, [], "7", {"configurable": {}})
    ),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_developers_mistake_is_an_error_at_once(wrong):
    """It says what was seen and what to write; nothing is changed."""
    with pytest.raises(TodoplanError, match=r"give|write"):
        wrong()


def test_what_others_did_to_the_list_itself_is_taken_back_too():
    """As any other change."""
    state = AgentState()
    assert history_of(state) == ()
    edit_plan(state, CreateTask("a"))
    state.tasks_context.tasks.append(theirs("theirs"))
    assert isinstance(undo_plan(state), Accepted)
    assert [task.subject for task in state.tasks_context.tasks] == ["a"]
    assert [entry.cause for entry in history_of(state)[-2:]] == ["tasks_context", "undo"]
