"""Laws of the tools: drop-ins for AgentScope's own, one road from a call to the state."""

import asyncio

import agentscope.tool as native
import pytest
from agentscope.exception import DeveloperOrientedException
from agentscope.permission import PermissionBehavior, PermissionContext, PermissionMode
from agentscope.state import AgentState, Task
from agentscope.tool import Toolkit
from support.agentscope_agent import Desk, agent_of, board, reply, results, use

import todoplan.adapters.agentscope as ours
from todoplan.adapters.agentscope import make_tools, plan_of_state
from todoplan.codec import entry_from_data
from todoplan.core.events.apply import replay
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import AGENTSCOPE, STRICT
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, tasks

NAMES = ["TaskCreate", "TaskGet", "TaskList", "TaskUpdate"]
DROP_INS = [getattr(ours, name) for name in NAMES]


def schemas(tools):
    """
    Return what the model is shown, by name.
    """
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


def test_the_model_is_shown_the_whole_schema():
    """What AgentScope checks lets all pass; what it publishes is the tool set's own schema."""
    for definition in tasks("snake").definitions():
        shown = schemas(make_tools())[definition.name]
        assert shown["parameters"] == definition.schema
        assert shown["description"] == definition.description


def test_make_tools_gives_agentscopes_four():
    """By default the tools are the drop-ins."""
    assert [tool.name for tool in make_tools()] == NAMES


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


def test_a_scripted_agent_works_through_a_plan():
    """Creating, linking, starting and completing through a real agent changes its state."""
    agent = agent_of(
        [use("TaskCreate", subject="a", description="x"), use("TaskCreate", subject="b")],
        use("TaskUpdate", task_id="2", add_blocked_by=["1"], owner="ann", metadata={"k": [1]}),
        use("TaskUpdate", task_id="1", status="in_progress"),
        [use("TaskUpdate", task_id="1", status="completed"), use("TaskList")],
        [use("TaskGet", task_id="2"), use("TaskUpdate", task_id="2", status="completed")],
        "All done.",
        toolkit=Toolkit(tools=[make() for make in DROP_INS]),
    )
    *_, final = reply(agent)
    assert final.get_text_content() == "All done."
    assert all(ok for ok, _ in results(agent)), results(agent)
    listed = agent.state.tasks_context.tasks
    assert all(type(task) is Task for task in listed)
    shown = [(t.id, t.subject, t.state, t.blocks, t.blocked_by, t.owner) for t in listed]
    assert shown == [
        ("1", "a", "completed", ["2"], [], None),
        ("2", "b", "completed", [], ["1"], "ann"),
    ]
    assert listed[1].metadata["k"] == [1]


def test_parallel_calls_give_the_plan_of_the_same_calls_in_order():
    """Twelve creations, an edge and a read of one turn are answered one after the other."""
    calls = [use("TaskCreate", subject=f"t{n}") for n in range(1, 13)]
    calls.insert(6, use("TaskList"))
    agent = agent_of(
        [*calls, use("TaskUpdate", task_id="12", add_blocked_by=["1"])], "ok", **ours.attach()
    )
    agent.model.turns += ["ok"] * 3
    reply(agent)
    desk = Desk()
    for number in range(1, 13):
        desk.do("TaskCreate", subject=f"t{number}")
    desk.do("TaskUpdate", task_id="12", add_blocked_by=["1"])
    assert [task.subject for task in agent.state.tasks_context.tasks] == [
        f"t{n}" for n in range(1, 13)
    ]
    kept = {"created_at", "metadata"}
    assert [task.model_dump(exclude=kept) for task in agent.state.tasks_context.tasks] == [
        task.model_dump(exclude=kept) for task in desk.tasks
    ]
    assert "6" in results(agent)[6][1]
    assert "t7" not in results(agent)[6][1]


def test_two_whole_list_writes_of_one_turn_are_refused():
    """They contradict each other: none is carried out; the next turn's single one is."""
    toolbox = Toolbox(TODOS, AGENTSCOPE)
    one, two, three = (
        use("write_todos", todos=[{"content": text, "status": "pending"}]) for text in "abc"
    )
    agent = agent_of(
        [one, use("read_todos"), two], three, "ok", toolkit=Toolkit(make_tools(toolbox))
    )
    reply(agent)
    assert [ok for ok, _ in results(agent)] == [False, True, False, True]
    assert [task.subject for task in agent.state.tasks_context.tasks] == ["c"]


@pytest.mark.parametrize(
    ("toolset", "name", "arguments"),
    [
        (TODOS, "write_todos", {"todos": [{"content": "a", "status": "in_progress"}]}),
        (LEAN, "plan", {"write": ["a"]}),
        (
            tasks("camel").renamed(TaskCreate="add"),
            "add",
            {"subject": "a", "status": "in_progress"},
        ),
    ],
)
def test_any_tool_set_works_through_the_adapter(toolset, name, arguments):
    """`todos`, `lean` and renamed sets write AgentScope's own tasks as well."""
    desk = Desk(toolbox=Toolbox(toolset, AGENTSCOPE))
    desk.do(name, **arguments)
    assert [(task.id, task.subject, task.state) for task in desk.tasks] == [
        ("1", "a", "in_progress")
    ]


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


def test_what_the_model_gets_wrong_is_mended_and_told():
    """AgentScope neither refuses nor changes an argument on the way: intake reads it."""
    desk = Desk()
    desk.do("TaskCreate", title="a", description=None, metadata=None)
    assert 'read status "done" as completed' in desk.do("TaskUpdate", taskId=1, status="done")
    assert desk.tasks[0].state == "completed"
    assert "unknown" not in desk.fail("TaskUpdate", task_id="1", status="bogus")
    agent = agent_of(
        use("TaskUpdate", taskId=1, state="doing"), "ok", state=desk.state, **ours.attach()
    )
    agent.model.turns += ["ok"] * 3
    reply(agent)
    assert results(agent)[0][0]
    assert desk.tasks[0].state == "in_progress"


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
    desk = Desk()
    desk.do("TaskCreate", subject="a")
    other = Desk(state=desk.state.model_copy(deep=True))
    dumped = Desk(state=AgentState.model_validate(desk.state.model_dump()))
    desk.do("TaskCreate", subject="b")
    other.do("TaskUpdate", task_id="1", status="deleted")
    other.do("TaskCreate", subject="c")
    dumped.do("TaskCreate", subject="d")
    assert [task.subject for task in desk.tasks] == ["a", "b"]
    assert [(task.id, task.subject) for task in other.tasks] == [("2", "c")]
    assert [(task.id, task.subject) for task in dumped.tasks] == [("1", "a"), ("2", "d")]


def test_empty_board_is_shown():
    """A plan without tasks is listed as such."""
    desk = Desk()
    assert "empty" in desk.do("TaskList")
    assert board(desk) == []
