"""Drop-ins for AgentScope's tools, without its bugs; one road from a call to the state."""

import asyncio

import agentscope.tool as native
import pytest
from agentscope.exception import DeveloperOrientedException
from agentscope.permission import PermissionBehavior, PermissionContext, PermissionMode
from agentscope.state import AgentState
from agentscope.tool import Toolkit
from support.agentscope_agent import Desk, agent_of, answers, board, listed, reply, results, use

import todoplan.adapters.agentscope as ours
from todoplan import AGENTSCOPE, STRICT, Plan, Toolbox, replay
from todoplan.adapters.agentscope import TaskUpdate, make_tools, plan_of_state
from todoplan.codec import entry_from_data
from todoplan.dialogue import tasks

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


DEPENDS = {"task_id": "2", "add_blocked_by": ["1"]}
STATUS = [{"task_id": str(n), "status": "completed"} for n in (1, 2)]
STARTS = {"task_id": "2", "status": "in_progress"}


@pytest.mark.parametrize(
    ("updates", "said", "wanted"),
    [
        # An edge from a task that was completed before leaves the dependent ready.
        (
            [STATUS[0], DEPENDS, STARTS],
            None,
            [("1", "completed", ["2"], []), ("2", "in_progress", [], ["1"])],
        ),
        # Completing keeps the edge at both tasks, so that reopening blocks again.
        (
            [DEPENDS, STATUS[0], {"task_id": "1", "status": "in_progress"}, STARTS],
            "waits for",
            [("1", "in_progress", ["2"], []), ("2", "in_progress", [], ["1"])],
        ),
        # Deleting takes the edges along: no task is left waiting for one that is gone.
        (
            [DEPENDS, {"task_id": "1", "status": "deleted"}, STARTS],
            None,
            [("2", "in_progress", [], [])],
        ),
    ],
)
def test_edges_are_those_of_the_plan(updates, said, wanted):
    """AgentScope's own tools lose them, or leave dependents blocked."""
    desk = desk_of("a", "b")
    for update in updates:
        text = desk.do("TaskUpdate", **update)
    assert said in text if said else "waits" not in text
    assert board(desk) == wanted


def test_a_deleted_id_is_not_used_again():
    """Create 1, 2, 3, delete 3, create: 4, also after the state was saved and after clearing."""
    desk = desk_of("a", "b", "c")
    desk.do("TaskUpdate", task_id="3", status="deleted")
    assert "#4" in desk.do("TaskCreate", subject="d", description="")
    for task_id in "124":
        desk.do("TaskUpdate", task_id=task_id, status="deleted")
    assert "#5" in desk.saved().do("TaskCreate", subject="e", description="")
    desk.tasks.clear()
    assert "#5" in desk.do("TaskCreate", subject="e", description="")


def test_empty_subjects_and_unknown_statuses_are_refused():
    """Also when `call` is used without the toolkit; metadata are shown as JSON, not as a repr."""
    desk = desk_of("a")
    assert "empty" in desk.fail("TaskCreate", subject=" ", description="")
    assert "empty" in desk.fail("TaskUpdate", task_id="1", subject="", owner="ann")
    direct = TaskUpdate().call(_agent_state=desk.state, task_id="1", status="bogus")
    assert "bogus" in asyncio.run(direct).content[0].text
    (task,) = desk.tasks
    assert (task.subject, task.state, task.owner) == ("a", "pending", None)
    desk.do("TaskUpdate", task_id="1", metadata={"ok": True, "none": [1]})
    assert '"ok": true' in desk.do("TaskGet", task_id="1")


def test_an_owner_is_not_overwritten_unsaid():
    """By default the model is told whose task it took; a policy refuses it."""
    desk = desk_of("a")
    assert "belonged" not in desk.do("TaskUpdate", task_id="1", owner="ann")
    assert "belonged" not in desk.do("TaskUpdate", task_id="1", owner="ann", description="x")
    assert "#1 belonged to ann" in desk.do("TaskUpdate", task_id="1", owner="bob")
    policy = AGENTSCOPE.but(owner_taken="error")
    strict = Desk(state=desk.state, tools=[TaskUpdate(policy=policy)])
    assert "#1 belonged to bob" in strict.fail("TaskUpdate", task_id="1", owner="eve")
    assert desk.tasks[0].owner == "bob"


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
