"""What the model has not seen, its next list does not undo (law 15), through real agents."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    TodoListMiddleware,
    wrap_model_call,
)
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command
from support.scripted import Scripted, calls, says, wrote

from todoplan import MemoryStore, Plan, commands, plan_of
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    PlanState,
    aedit_plan,
    command_update,
    edit_plan,
    merge_plans,
    plan_of_state,
    plan_update,
    seed_plan,
)
from todoplan.adapters.langgraph.seen import base_of
from todoplan.core.plan.model import Task
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.guidance.reminders import is_reminder
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools.tasks import tasks
from todoplan.errors import CodecError

HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}
SILENT = Settings(plan_lost=False, unfinished=0, changed=False)
ANN = commands.CreateTask("Tell Ann")
FIRST = wrote(("a", "in_progress"), ("b", "pending"), call_id="1")
SECOND = wrote(("a", "completed"), ("b", "in_progress"), call_id="2")
FIRST_AGAIN = wrote(("a", "in_progress"), ("b", "pending"), call_id="4")
THIRD = wrote(("a", "completed"), ("b", "completed"), call_id="3")


def agent(*script, settings=None, saver=None, toolbox=None, more=(), **options):
    model = Scripted(script=[*script])
    planner = PlanMiddleware(toolbox, settings=settings)
    saver = saver or InMemorySaver()
    made = create_agent(model, middleware=[planner, *more], checkpointer=saver, **options)
    return model, made


def run(made, given, *, asynchronous):
    return asyncio.run(made.ainvoke(given, THREAD)) if asynchronous else made.invoke(given, THREAD)


def edit(made, command, *, asynchronous=False):
    if asynchronous:
        asyncio.run(aedit_plan(made, THREAD, command, actor="ann"))
    else:
        edit_plan(made, THREAD, command, actor="ann")


def subjects(state):
    return [task.subject for task in plan_of_state(state)]


def answers(done):
    return {m.tool_call_id: m.text for m in done["messages"] if m.type == "tool"}


def base_in(made):
    return base_of(made.get_state(THREAD).values.get("todoplan"))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_list_that_leaves_out_what_a_person_added_keeps_it_once(asynchronous):
    """
    A person adds and edits between two runs: the next list, which knows of neither, undoes neither,
    and its answer says who did what. A list after that leaves the task out in sight of it.
    """
    script = [FIRST, says("x"), SECOND, says("y"), THIRD, says("z")]
    _, made = agent(*script, settings=SILENT)
    run(made, HELLO, asynchronous=asynchronous)
    edit(made, ANN, asynchronous=asynchronous)
    edit(made, commands.UpdateTask("2", owner="ann"), asynchronous=asynchronous)
    done = run(made, HELLO, asynchronous=asynchronous)
    assert subjects(done) == ["a", "b", "Tell Ann"]
    assert plan_of_state(done).get("2").owner == "ann"
    assert "since you last looked" in answers(done)["2"]
    assert "#3 Tell Ann created by ann" in answers(done)["2"]
    assert base_in(made) is None
    done = run(made, HELLO, asynchronous=asynchronous)
    assert subjects(done) == ["a", "b"]
    assert "since you last looked" not in answers(done)["3"]


def test_a_reminder_that_shows_the_plan_is_a_look():
    """
    With the settings of a drop-in the request itself says what was done, with the name; the list
    that leaves the task out was then written in sight of it. The answer says it where it is saved.
    """
    model, made = agent(FIRST, says("x"), THIRD, says("y"))
    made.invoke(HELLO, THREAD)
    edit(made, ANN)
    done = made.invoke(HELLO, THREAD)
    told = [[m.text for m in r if is_reminder(m.text)] for r in model.requests]
    assert [len(one) for one in told] == [0, 0, 1, 0]
    assert "#3 Tell Ann created by ann" in told[2][0]
    assert subjects(done) == ["a", "b"]
    assert "since you last looked: #3 Tell Ann created by ann" in answers(done)["3"]
    assert base_in(made) is None


@tool
def search(what: str) -> str:
    """Search."""
    return f"nothing about {what}"


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_reminder_is_in_sight_until_an_answer_has_told_of_it(asynchronous, stored):
    """
    It is in one request and saved nowhere. The model works on with other tools first: each of its
    requests says what was done, until an answer in the conversation does.
    """
    seek = calls(("search", {"what": "x"}, "s"))
    model = Scripted(script=[FIRST, says("x"), seek, SECOND, says("y")])
    planner = PlanMiddleware(store=MemoryStore() if stored else None)
    made = create_agent(model, [search], middleware=[planner], checkpointer=InMemorySaver())
    run(made, HELLO, asynchronous=asynchronous)
    edit(made, ANN, asynchronous=asynchronous)
    run(made, HELLO, asynchronous=asynchronous)
    told = [[m.text for m in request if is_reminder(m.text)] for request in model.requests]
    assert ["Tell Ann created by ann" in "".join(one) for one in told] == [0, 0, 1, 1, 0]
    assert "Tell Ann created by ann" in model.requests[-1][-1].text.partition("\n")[0]


@pytest.mark.parametrize("stored", [False, True])
def test_what_a_reminder_showed_counts_for_no_later_request(stored):
    """
    A person closes what was left, and one request says so. The next shows nothing of it, and the
    list that is written there from memory opens nothing again.
    """
    script = [FIRST, says("x"), says("well"), FIRST_AGAIN, says("y")]
    model = Scripted(script=script)
    planner = PlanMiddleware(store=MemoryStore() if stored else None)
    made = create_agent(model, middleware=[planner], checkpointer=InMemorySaver())
    made.invoke(HELLO, THREAD)
    for task_id in "12":
        edit(made, commands.UpdateTask(task_id, status="completed"))
    made.invoke(HELLO, THREAD)
    done = made.invoke(HELLO, THREAD)
    told = ["somebody else" in request[-1].text for request in model.requests]
    assert told == [False, False, True, False, False]
    assert [todo["status"] for todo in done["todos"]] == ["completed", "completed"]
    assert "#1 a completed by ann" in answers(done)["4"]


@pytest.mark.parametrize("stored", [False, True])
def test_a_refused_call_is_no_look(stored):
    """
    The model saw the reminder, and nothing came of its call: the next list undoes nothing, even if
    the reminders are switched off meanwhile, and its answer tells.
    """
    saver, store = InMemorySaver(), MemoryStore() if stored else None
    refused = calls(("write_todos", {"todos": [{"status": "done"}]}, "r"))
    for settings, script in (
        (None, [FIRST, says("x")]),
        (None, [refused, says("y")]),
        (SILENT, [SECOND, says("z")]),
    ):
        planner = PlanMiddleware(settings=settings, store=store)
        model = Scripted(script=script)
        made = create_agent(model, middleware=[planner], checkpointer=saver)
        done = made.invoke(HELLO, THREAD)
        if script[0] is FIRST:
            edit(made, ANN)
    assert [todo["content"] for todo in done["todos"]] == ["a", "b", "Tell Ann"]
    assert "Tell Ann created by ann" in answers(done)["2"]


@pytest.mark.parametrize("tools", [(), ("search",)])
def test_an_edit_of_the_list_of_langchains_planner_is_told(tools):
    """
    A thread that was moved here is edited before its first run: the model has seen that list, and
    is told by the first request.
    """
    saver = InMemorySaver()
    theirs = TodoListMiddleware()
    moved = create_agent(
        Scripted(script=[FIRST, says("x")]), middleware=[theirs], checkpointer=saver
    )
    moved.invoke(HELLO, THREAD)
    script = [calls(("search", {"what": "x"}, "s")), says("y")] if tools else [says("y")]
    model, made = agent(*script, saver=saver, tools=[search])
    edit(made, ANN)
    made.invoke(HELLO, THREAD)
    assert all("#3 Tell Ann created by ann" in each[-1].text for each in model.requests)


def test_a_request_without_planning_tools_is_no_look():
    """
    No reminder was given with it, so that the next list still undoes nothing unseen.
    """

    @wrap_model_call
    def without_tools(request, handler):
        return handler(request.override(tools=[]))

    saver = InMemorySaver()
    _, made = agent(FIRST, says("x"), saver=saver)
    made.invoke(HELLO, THREAD)
    edit(made, ANN)
    model = Scripted(script=[says("y")])
    bare = create_agent(model, middleware=[without_tools, PlanMiddleware()], checkpointer=saver)
    bare.invoke(HELLO, THREAD)
    assert len(base_in(bare).plan) == 2


def test_it_survives_a_restart_and_a_fork(tmp_path):
    """
    What was not seen is saved with the plan, in another process's database; a fork from before the
    edit knows nothing of it.
    """
    file = str(tmp_path / "threads.sqlite")
    with SqliteSaver.from_conn_string(file) as saver:
        _, made = agent(FIRST, says("x"), settings=SILENT, saver=saver)
        made.invoke(HELLO, THREAD)
        before = made.get_state(THREAD).config
        edit(made, ANN)
    with SqliteSaver.from_conn_string(file) as saver:
        _, made = agent(SECOND, says("y"), settings=SILENT, saver=saver)
        done = made.invoke(HELLO, THREAD)
        assert subjects(done) == ["a", "b", "Tell Ann"]
        _, made = agent(SECOND, says("y"), settings=SILENT, saver=saver)
        forked = made.invoke(HELLO, before)
    assert subjects(forked) == ["a", "b"]
    assert "since you last looked" not in answers(forked)["2"]


def test_an_edit_while_a_call_waits_for_approval_is_kept():
    """
    The call was written before the edit, and carried out after it.
    """
    gate = HumanInTheLoopMiddleware(
        interrupt_on={"write_todos": {"allowed_decisions": ["approve"]}}
    )
    _, made = agent(FIRST, says("x"), more=[gate])
    made.invoke(HELLO, THREAD)
    edit(made, ANN)
    done = made.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    assert subjects(done) == ["a", "b", "Tell Ann"]
    assert "#1 Tell Ann created by ann" in answers(done)["1"]


def test_parallel_calls_share_what_was_seen():
    """
    The first answer that is no error tells of it, whichever that is; one alone is not seen as such.
    """
    turn = calls(
        ("TaskUpdate", {"taskId": "9", "status": "completed"}, "1"),
        ("TaskCreate", {"subject": "c"}, "2"),
        ("TaskList", {}, "3"),
    )
    _, made = agent(turn, says("x"), settings=SILENT, toolbox=Toolbox(tasks()))
    edit(made, ANN)
    done = answers(made.invoke(HELLO, THREAD))
    assert ["since you last looked" in done[one] for one in "123"] == [False, True, False]
    assert base_in(made) is None


def test_reading_is_a_look_and_a_refused_call_is_none():
    """
    A call that was refused has shown nothing; the list that is read afterwards shows everything.
    """
    bad = calls(("TaskUpdate", {"taskId": "9", "status": "completed"}, "1"))
    reads = calls(("TaskList", {}, "2"))
    script = [bad, says("x"), reads, says("y"), says("z")]
    _, made = agent(*script, toolbox=Toolbox(tasks()), settings=SILENT)
    edit(made, ANN)
    made.invoke(HELLO, THREAD)
    assert base_in(made) is not None
    done = made.invoke(HELLO, THREAD)
    assert "#1 Tell Ann created by ann" in answers(done)["2"]
    assert base_in(made) is None


def test_what_a_look_has_shown_is_not_told_again():
    """
    A person edits while a read waits for approval: the read shows it, no reminder repeats it.
    """
    gate = HumanInTheLoopMiddleware(interrupt_on={"TaskList": {"allowed_decisions": ["approve"]}})
    makes = calls(("TaskCreate", {"subject": "c"}, "1"))
    reads = calls(("TaskList", {}, "2"))
    model, made = agent(makes, reads, says("y"), toolbox=Toolbox(tasks()), more=[gate])
    made.invoke(HELLO, THREAD)
    edit(made, ANN)
    made.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    assert not any(is_reminder(m.text) for request in model.requests for m in request)


@pytest.mark.parametrize("order", [("edit", "write"), ("write", "edit")])
def test_a_tool_of_the_applications_beside_the_models_call(order):
    """
    An edit by a tool of the same turn, in either order, was not seen by that turn's list, nor by
    the next one; the model's own new task is no news to it.
    """

    @tool
    def meddle(runtime: ToolRuntime) -> Command:
        """Meddle."""
        _, update = command_update(runtime.state, ANN, actor="ann")
        said = ToolMessage("done", tool_call_id=runtime.tool_call_id)
        return Command(update={**update, "messages": [said]})

    made_calls = {
        "edit": ("meddle", {}, "m"),
        "write": ("write_todos", FIRST.tool_calls[0]["args"], "1"),
    }
    turn = calls(*(made_calls[one] for one in order))
    _, made = agent(turn, SECOND, says("x"), settings=SILENT, tools=[meddle])
    done = made.invoke(HELLO, THREAD)
    assert sorted(subjects(done)) == ["Tell Ann", "a", "b"]
    said = answers(done)["2"]
    assert "Tell Ann created by ann" in said.split("\n")[0]
    assert " a " not in said.split("\n")[0]


def updated(value, command, actor):
    return command_update({"todoplan": value}, command, actor=actor)[1]["todoplan"]


def test_a_graph_of_ones_own_keeps_it_over_branches_and_subgraphs():
    """
    Two branches edit at once, a third is a graph within: what each did is unseen, with its actor.
    """

    def editing(actor):
        create = commands.CreateTask(f"by {actor}")
        return lambda state: command_update(state, create, actor=actor)[1]

    inner = StateGraph(PlanState).add_node("cy", editing("cy")).add_edge(START, "cy").compile()
    graph = StateGraph(PlanState)
    for name, node in (("ann", editing("ann")), ("bob", editing("bob")), ("cy", inner)):
        graph.add_node(name, node).add_edge(START, name)
    value = graph.compile().invoke({"messages": []})["todoplan"]
    base, plan = base_of(value), plan_of_state({"todoplan": value})
    assert len(base.plan) == 0
    said = {one.task.subject: one.actor for one in base.unseen(plan)}
    assert said == {"by ann": "ann", "by bob": "bob", "by cy": "cy"}


def test_a_graph_within_that_looked_has_looked():
    """
    It hands back the plan without a base; whether it did anything else does not matter. Beside an
    edit elsewhere that edit stays unseen.
    """
    value = merge_plans({}, updated({}, ANN, "ann"))
    looked = merge_plans(value, {"seen": value["head"]})
    assert base_of(looked) is None
    assert base_of(merge_plans(value, looked)) is None
    assert merge_plans(looked, looked) is looked
    assert base_of(merge_plans(looked, value)) is None
    worked = merge_plans(looked, updated(looked, commands.CreateTask("b"), "bob"))
    assert base_of(merge_plans(value, worked)).plan == plan_of_state({"todoplan": looked})
    elsewhere = merge_plans(value, updated(value, commands.CreateTask("c"), "cy"))
    joined = merge_plans(elsewhere, {key: worked[key] for key in ("head", "plan")})
    assert base_of(joined).plan == Plan()
    assert base_of(joined).actors == {"1": "ann", "3": "cy"}
    gone = merge_plans(elsewhere, updated(elsewhere, commands.DeleteTask("1"), "di"))
    joined = merge_plans(gone, {key: worked[key] for key in ("head", "plan")})
    assert base_of(joined).actors == {"1": "di", "3": "cy"}


def test_a_look_at_an_older_version_shows_nothing_new():
    """
    A branch read the list while another one changed it.
    """
    value = merge_plans({}, updated({}, ANN, "ann"))
    newer = merge_plans(value, updated(value, commands.CreateTask("b"), "bob"))
    assert merge_plans(newer, {"seen": value["head"]}) is newer
    assert merge_plans(newer, {}) is newer


def test_a_seeded_plan_is_unseen_and_a_list_that_is_taken_over_is_not():
    """
    The application's plan is told of. Of a list that was in the state nobody knows what the model
    has seen: the base is the plan as it is, so that the next list means what it says.
    """
    seeded = plan_of([Task("1", "old")])
    _, made = agent(FIRST, says("x"), settings=SILENT)
    seed_plan(made, THREAD, seeded, actor="cron")
    done = made.invoke(HELLO, THREAD)
    assert subjects(done) == ["a", "b", "old"]
    assert "#1 old created by cron" in answers(done)["1"]
    _, made = agent(FIRST, says("x"), settings=SILENT)
    listed = [{"content": "old", "status": "pending"}]
    assert subjects(made.invoke({**HELLO, "todos": listed}, THREAD)) == ["a", "b"]


def test_an_edit_of_a_list_that_is_not_a_plan_yet():
    """
    The list is what was seen: only the edit is told of.
    """
    state = {"todos": [{"content": "old", "status": "pending"}]}
    _, update = command_update(state, ANN, actor="ann")
    value = merge_plans({}, update["todoplan"])
    assert [task.subject for task in base_of(value).plan] == ["old"]


def test_a_damaged_base_is_an_error():
    """
    It is never taken for none: work would be undone.
    """
    value = merge_plans({}, plan_update(plan_of([Task("1", "a")]))["todoplan"])
    with pytest.raises(CodecError):
        base_of({**value, "base": "x"})
