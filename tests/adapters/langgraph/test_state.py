"""The plan and the list `todos` in a graph's state, in branches, subgraphs and checkpoints."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
import asyncio
import os
import shutil
import subprocess
import sys
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents.middleware import HumanInTheLoopMiddleware, TodoListMiddleware
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime
from langgraph.types import Command
from support.langgraph_threads import (
    HELLO,
    THREAD,
    agent,
    answers,
    ask,
    by_hand,
    contents,
    create,
    entries,
    lines,
    subjects,
    thread,
)
from support.law_15 import TOLD
from support.scripted import Scripted, calls, says, wrote

from todoplan import TASKS as TASK_TOOLS
from todoplan import FileStore, Plan, Policy, Task, Toolbox, commands, decide, plan_of
from todoplan.adapters.langgraph import (
    PlanChannel,
    PlanState,
    aedit_plan,
    aseed_plan,
    command_update,
    edit_plan,
    history_of,
    make_tools,
    merge_plans,
    messages_in,
    plan_of_state,
    plan_of_todos,
    plan_update,
    seed_plan,
    todos_of,
    undo_plan,
)
from todoplan.core.decide import plan_problems
from todoplan.core.plan.model import Waiting
from todoplan.dialogue import Settings, lean, tasks
from todoplan.errors import CodecError, PlanError

# -------- state --------


TASKS = make_tools(Toolbox(tasks()))
WRITES = make_tools()
THREE = wrote(("a", "completed"), ("b", "in_progress"), ("c", "pending"))


def created(*names, turn=""):
    return create(*names, ids=[f"{turn}{n}" for n in range(len(names))], id=f"turn-{turn}")


def tasks_in(state):
    return [(task.id, task.subject, task.status.value) for task in plan_of_state(state)]


def graph(*branches, tools=TASKS, first=None):
    """A graph whose branches run in one superstep, each with a turn of its own."""
    builder = StateGraph(PlanState)
    builder.add_node("first", lambda state: first or {})
    builder.add_edge(START, "first")
    for number, turn in enumerate(branches):
        node = ToolNode(tools)

        def branch(state, config, runtime, node=node, turn=turn):
            return node.invoke({**state, "messages": [turn]}, config, runtime=runtime)

        builder.add_node(f"b{number}", branch)
        builder.add_edge("first", f"b{number}")
        builder.add_edge(f"b{number}", END)
    return builder.compile()


OTHERS = [None, {}, [], "7", {"configurable": {"thread_id": "1"}}, {"messages": []}, {"todos": "x"}]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("read", [plan_of_state, history_of])
def test_what_is_no_state_with_a_plan_is_refused(other, read):
    """An empty plan would be an invention; the error says what to give."""
    with pytest.raises(PlanError, match="get_state"):
        read(other)
    with pytest.raises(PlanError, match="get_state"):
        read(StateGraph(PlanState))


def test_an_empty_state_holds_the_empty_plan():
    """An empty value is no plan yet, and so is a thread that nothing was written to."""
    assert plan_of_state({"todoplan": {}}) == Plan()
    assert history_of({"todoplan": {}}) == ()
    assert messages_in({}) == ()
    assert messages_in([1]) == [1]


def test_a_call_of_the_last_turn_that_has_an_answer_is_not_carried_out():
    """A guard has refused it; an answer of an earlier turn with its id does not matter."""
    before, refused = (ToolMessage("x", tool_call_id=n) for n in "10")
    turn = created("a", "b", "c")
    state = {"messages": [before, turn, HumanMessage("x"), refused]}
    given = {"context": None, "config": {}, "stream_writer": None, "store": None}
    runtime = ToolRuntime(state=state, tool_call_id="2", **given)
    call = {**turn.tool_calls[2], "type": "tool_call"}
    tool = next(each for each in TASKS if each.name == "TaskCreate")
    update = tool.invoke({**call, "args": {**call["args"], "runtime": runtime}}).update
    assert subjects(update) == ["b", "c"]


def test_what_is_no_plan_is_an_error():
    """A corrupt value is never taken for an empty plan."""
    for wrong in ({"head": "", "plan": {"tasks": []}}, {"tasks": []}, {"plan": None}):
        with pytest.raises(CodecError):
            plan_of_state({"todoplan": wrong})
        with pytest.raises(CodecError):
            merge_plans(_value(Plan())["todoplan"], wrong)


def test_two_branches_lose_nothing():
    """Both create tasks upon one plan in one superstep: all are there, each with its id."""
    done = graph(created("a", "b", turn="x"), created("c", "d", turn="y")).invoke({"messages": []})
    assert tasks_in(done) == [*zip("1234", "abcd", ["pending"] * 4, strict=True)]


def test_two_branches_that_write_whole_lists_lose_nothing():
    """The lists of both are in the plan, and what was there before once."""
    base = plan_update(plan_of([Task("1", "base")]))
    one = wrote(("base", "completed"), ("a", "pending"), call_id="x")
    two = wrote(("base", "pending"), ("b", "in_progress"), call_id="y")
    done = graph(one, two, tools=WRITES, first=base).invoke({"messages": []})
    expected = [("1", "base", "completed"), ("2", "a", "pending"), ("3", "b", "in_progress")]
    assert tasks_in(done) == expected


def test_a_branch_that_changes_its_own_new_task_changes_that_one():
    """Where its task moved to another id, the later calls of the same turn follow."""
    made = ("TaskCreate", {"subject": "c"}, "y0")
    turn = calls(made, ("TaskUpdate", {"taskId": "1", "status": "completed"}, "y1"), id="turn-y")
    done = graph(created("a", turn="x"), turn).invoke({"messages": []})
    assert tasks_in(done) == [("1", "a", "pending"), ("2", "c", "completed")]


def test_parallel_subgraphs_lose_nothing():
    """Subgraphs hand back the whole plan; both their additions stay."""
    builder = StateGraph(PlanState)
    for name in "xy":
        turn = created(f"from {name}", f"more {name}", turn=name)
        builder.add_node(name, graph(turn))
        builder.add_edge(START, name)
        builder.add_edge(name, END)
    done = builder.compile().invoke({"messages": [], **_value(plan_of([Task("1", "base")]))})
    assert sorted(subjects(done)) == ["base", "from x", "from y", "more x", "more y"]


def test_a_subgraph_that_runs_alone_hands_back_its_plan_exactly():
    """What followed from the parent's plan is taken as it is, also when it did nothing."""
    deletes = calls(("TaskUpdate", {"taskId": "1", "status": "deleted"}, "z"))
    turns = (created("a", turn="x"),), (deletes,), (), (created("b", turn="y"),)
    nodes = [(f"n{number}", graph(*each)) for number, each in enumerate(turns)]
    builder = StateGraph(PlanState).add_sequence(nodes).add_edge(START, "n0")
    assert tasks_in(builder.compile().invoke({"messages": []})) == [("2", "b", "pending")]


def _value(plan):
    return {"todoplan": plan_update(plan)["todoplan"]}


def test_the_reducer_in_a_state_of_your_own():
    """`merge_plans` takes an empty side for nothing, and the same plan twice for once."""
    update = plan_update(plan_of([Task("1", "a")]))
    value = update["todoplan"]
    assert merge_plans({}, {}) == {}
    settled = merge_plans({}, value)
    assert sorted(settled) == ["head", "journal", "plan", "session"]
    assert merge_plans(settled, {}) == settled
    assert merge_plans(settled, dict(settled)) is settled
    # Values come back from LangGraph's serializer as plain dicts, and hold the same plan.
    for each in (update, command_update({"todoplan": value}, commands.CreateTask("b"))[1]):
        loaded = JsonPlusSerializer().loads_typed(JsonPlusSerializer().dumps_typed(each))
        assert loaded == each
        assert type(loaded["todoplan"]["plan"]) is dict
        assert plan_of_state(loaded) == plan_of_state(each)


def test_an_update_by_the_application_replaces_the_plan():
    """`plan_update` is for nodes and commands: whatever was there, this is the plan now."""
    update = plan_update(plan_of([Task("7", "seven", status="cancelled"), Task("9", "nine")]))
    assert update["todos"] == entries(("nine", "pending"))
    given = {"messages": [], **_value(plan_of([Task("1", "old")]))}
    done = graph(created("next", turn="x"), first=update).invoke(given)
    assert [(t.id, t.subject) for t in plan_of_state(done)] == [
        *(("7", "seven"), ("9", "nine"), ("10", "next"))
    ]


def test_a_replacement_beside_a_step_loses_neither():
    """A node sets the plan while tools write: what the tools made is in the plan that was set."""
    builder = StateGraph(PlanState).add_edge(START, "a").add_edge(START, "b")
    builder.add_node("a", lambda _: plan_update(plan_of([Task("5", "set")])))
    builder.add_node("b", graph(created("made", turn="x")).nodes["b0"].bound)
    done = builder.compile().invoke({"messages": []})
    assert tasks_in(done) == [("5", "set", "pending"), ("6", "made", "pending")]


def test_a_node_of_your_own_carries_out_commands():
    """`command_update` merges like any step; a refusal updates nothing."""
    seen = []

    def node(subject):
        def run(state):
            decision, update = command_update(state, commands.CreateTask(subject))
            seen.append(type(decision).__name__)
            return update

        return run

    builder = StateGraph(PlanState).add_node("none", node(" "))
    for name in "ab":
        builder.add_node(name, node(name)).add_edge(START, name).add_edge(name, "none")
    assert sorted(subjects(builder.compile().invoke({"messages": []}))) == ["a", "b"]
    assert seen == ["Accepted", "Accepted", "Rejected"]


def test_a_published_list_is_the_readers_own():
    """Whoever changes it in a run changes neither the plan nor the list that is published next."""
    state = {**plan_update(plan_of([Task("1", "a")])), "todoplan_run": True}
    state["todos"][0]["content"] = "changed"
    assert todos_of(plan_of_state(state)) == entries(("a", "pending"))
    _, update = command_update(state, commands.UpdateTask("1", status="completed"))
    assert update["todos"] == entries(("a", "completed"))


TAKEN = [("1", "a", "completed"), ("2", "b", "in_progress"), ("3", "c", "pending")]


@pytest.fixture
def saver():
    """Return a checkpointer in which LangChain's planner has written a list, and the list."""
    made = InMemorySaver()
    run(made, THREE, says("so far"), planner=TodoListMiddleware())
    return made


def run(saver, *script, **options):
    """Return the agent and the state after one run on the thread."""
    made = ours(*script, checkpointer=saver, **options)
    return made, made.invoke(HELLO, THREAD)


def ours(*script, **options):
    return agent(*script, **{"toolbox": Toolbox(TASK_TOOLS), "settings": TOLD, **options})


def test_a_thread_of_langchains_own_goes_on(saver):
    """Its list is the plan, and stays in the state; the model goes on with it, and is asked to."""
    turn = calls(("TaskUpdate", {"taskId": "2", "status": "completed"}, "u"))
    model = Scripted(script=[says("early"), turn, *map(says, "12")])
    made = ours(model, settings=Settings(unfinished=1), checkpointer=saver)
    assert lines(made) == TAKEN
    assert contents(made.invoke(HELLO, THREAD)) == ["a", "b", "c"]
    assert "[in_progress] b" in model.requests[1][-1].text
    assert lines(made) == [TAKEN[0], ("2", "b", "completed"), TAKEN[2]]


def test_nothing_happens_to_a_list_that_nobody_changes(saver):
    """A run without a planning call leaves it as it was, and keeps the plan that it is."""
    for _ in range(2):
        made, done = run(saver, says("hello"))
        assert (done["todos"], lines(made)) == (entries(*(line[1:] for line in TAKEN)), TAKEN)
    assert done["todoplan"]["plan"]["next_id"] == 4


def test_the_application_may_be_first(saver):
    """`edit_plan` before any run of ours goes on with the list."""
    made = ours(checkpointer=saver)
    edit_plan(made, THREAD, commands.UpdateTask("3", owner="ann"))
    assert lines(made) == TAKEN
    assert plan_of_state(made.get_state(THREAD))["3"].owner == "ann"


def test_a_write_that_waits_for_a_person_survives_the_change():
    """The thread was stopped under LangChain's own; its call is carried out upon its list."""
    given = {
        "more": [HumanInTheLoopMiddleware({"write_todos": True})],
        "checkpointer": InMemorySaver(),
    }
    again = wrote(("a", "completed"), ("b", "completed"), call_id="2")
    first = agent(THREE, again, planner=TodoListMiddleware(), **given)
    approve = Command(resume={"decisions": [{"type": "approve"}]})
    first.invoke(HELLO, THREAD)
    first.invoke(approve, THREAD)
    second = agent(says("done"), **given)
    done = second.invoke(approve, THREAD)
    assert done["todos"] == entries(("a", "completed"), ("b", "completed"))
    assert lines(second) == [("1", "a", "completed"), ("2", "b", "completed")]


def test_tools_and_nodes_of_a_graph_by_hand_take_the_list_over():
    """The first planning call, or command, goes on with it."""

    class Listed(PlanState):
        """A graph by hand that had a list before it had a plan."""

        todos: list

    state = {"todos": entries(("a", "completed"), ("b", "pending"))}
    turn = wrote(("a", "completed"), ("b", "completed"), ("c", "pending"))
    done = by_hand(turn, says("done"), state=Listed).invoke({**state, **HELLO}, THREAD)
    assert [line[:2] for line in tasks_in(done)] == [("1", "a"), ("2", "b"), ("3", "c")]
    assert done["todos"] == todos_of(plan_of_state(done))
    _, update = command_update(state, commands.CreateTask("c"))
    assert subjects(update) == ["a", "b", "c"]


DAMAGED = [
    "buy milk",
    {"content": "done", "status": "done"},
    {"content": "odd", "status": "purple"},
    {"title": "titled", "id": "7", "colour": "red"},
    {"status": "pending", "when": {1, 2}},
    {"content": "größe", "status": 3},
    None,
    {},
    17,
]


def test_a_damaged_list_is_taken_over_entry_by_entry():
    """What can be read is, what cannot becomes a task with its own text; the agent goes on."""
    made = ours(says("hello"))
    made.update_state(THREAD, {"todos": DAMAGED}, as_node="model")
    done = made.invoke(HELLO, THREAD)
    assert [line[1:] for line in lines(made)] == [
        ("buy milk", "pending"),
        ("done", "completed"),
        ('{"content": "odd", "status": "purple"}', "pending"),
        ("titled", "pending"),
        ('{"status": "pending", "when": "{1, 2}"}', "pending"),
        ('{"content": "größe", "status": 3}', "pending"),
        ("17", "pending"),
    ]
    assert done["todos"] == todos_of(plan_of_state(made.get_state(THREAD)))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["content", "status", "id", "x"]) | st.text(), inner)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("other", ["text", {"content": "a"}, 7])
def test_what_is_no_list_is_left_alone(other):
    """It makes no plan, changes none, and stays until there is something to publish."""
    made = ours(says("1"), create("a"), says("2"))
    made.update_state(THREAD, {"todos": other}, as_node="model")
    assert lines(made) == []
    assert made.invoke(HELLO, THREAD)["todos"] == other
    assert made.invoke(HELLO, THREAD)["todos"] == entries(("a", "pending"))
    made.update_state(THREAD, {"todos": other})
    assert lines(made) == [("1", "a", "pending")]


@settings(max_examples=60, deadline=None)
@given(st.lists(JUNK, max_size=3))
def test_any_list_makes_a_plan(junk):
    """Whatever stands there, nothing is raised, and what comes out can be kept and published."""
    plan = plan_of_todos(junk)
    assert not [*plan_problems(tuple(plan))]
    assert plan_of_state(plan_update(plan)) == plan


STEPS = st.sampled_from(
    [
        ("TaskCreate", {"subject": "a"}),
        ("TaskCreate", {"subject": "b", "blockedBy": ["1"]}),
        ("TaskUpdate", {"taskId": "1", "status": "cancelled"}),
        ("TaskUpdate", {"taskId": "2", "status": "in_progress"}),
        ("TaskUpdate", {"taskId": "1", "status": "deleted"}),
        ("TaskList", {}),
    ]
)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.lists(STEPS, min_size=1, max_size=3), min_size=1, max_size=3), st.booleans())
def test_the_plan_is_what_was_written_whatever_becomes_of_the_list(turns, crash):
    """At every checkpoint of any run, stopped or not, the plan is the one that was written."""
    made_turns = [
        calls(*((*step, f"{n}-{m}") for m, step in enumerate(turn))) for n, turn in enumerate(turns)
    ]
    made = ours(*made_turns, ConnectionError("down") if crash else says("done"))
    with pytest.raises(ConnectionError) if crash else nullcontext():
        made.invoke(HELLO, THREAD)
    for state in made.get_state_history(THREAD):
        value = state.values.get("todoplan")
        written = plan_of_state({"todoplan": value})
        assert plan_of_state({**state.values, "todos": ["other"]}) == written or not value


def test_a_list_that_others_write_later_is_written_over():
    """Whoever changes `todos` takes no task, edge or cancelled line from the plan."""
    saver = InMemorySaver()
    plan = plan_of([Task("1", "a", owner="ann"), Task("4", "dropped", status="cancelled")])
    made = ours(*map(says, "123"), checkpointer=saver)
    seed_plan(made, THREAD, plan)
    for chunk in made.stream(HELLO, THREAD, stream_mode="values"):
        chunk.get("todos", []).clear()
    run(saver, THREE, says("2"), planner=TodoListMiddleware())
    made.update_state(THREAD, {"todos": entries(("z", "pending"))})
    done = made.invoke(HELLO, THREAD)
    assert tuple(plan_of_state(made.get_state(THREAD))) == tuple(plan)
    assert done["todos"] == [{"content": "a", "status": "pending", "owner": "ann"}]


def test_a_checkpoint_of_an_earlier_version_stays_the_plan():
    """Its heads name a call without a sum of it: the plan is what was written."""
    plan = decide(Plan(), commands.CreateTask("a")).plan
    value = {**plan_update(plan)["todoplan"], "head": "1:call"}
    made = ours(says("1"))
    made.update_state(THREAD, {"todoplan": value, "todos": entries(("b", "pending"))}, "model")
    assert subjects(made) == ["a"]
    assert made.invoke(HELLO, THREAD)["todos"] == entries(("a", "pending"))


def test_what_else_is_so_stands_beside_only_where_there_is_any():
    """An interface that knows two keys goes on reading these; one that knows more can draw it."""
    items = (
        commands.CreateTask("Garden"),
        commands.CreateTask("Sow", parent="#0", owner="ann"),
        commands.CreateTask("Dream", status="cancelled"),
        commands.CreateTask("Reap", blocked_by=("#1", "#2")),
        commands.CreateTask("Rest", blocked_by=("#2",), waiting=Waiting("rain")),
        commands.CreateTask("Tell", active_form="Telling", priority="high"),
        commands.CreateTask("Go"),
    )
    plan = decide(Plan(), commands.CreateTasks(items)).unwrap()
    telling = {"activeForm": "Telling", "priority": "high"}
    assert todos_of(plan) == [
        {"content": "Garden", "status": "pending", "id": "1"},
        {"content": "Sow", "status": "pending", "owner": "ann", "id": "2", "parent": "1"},
        {"content": "Reap", "status": "pending", "id": "4", "blockedBy": ["2"]},
        {"content": "Rest", "status": "pending", "waiting": {"reason": "rain"}, "id": "5"},
        {"content": "Tell", "status": "pending", **telling},
        {"content": "Go", "status": "pending"},
    ]
    taken = plan_of_todos(todos_of(plan))
    assert [task.subject for task in taken] == ["Garden", "Sow", "Reap", "Rest", "Tell", "Go"]


# -------- checkpoints --------


FULL = {
    "subject": "a",
    "description": "long\ntext",
    "owner": "ann",
    "priority": "high",
    "activeForm": "doing a",
    "estimate": 30,
    "metadata": {"k": [1, {"x": None}]},
}
TURN = calls(
    ("TaskCreate", FULL, "1"),
    ("TaskCreate", {"subject": "b", "blockedBy": ["1"]}, "2"),
    ("TaskUpdate", {"taskId": "1", "status": "in_progress"}, "3"),
)
FINISH = calls(("TaskUpdate", {"taskId": "1", "status": "completed"}, "4"))


def working(*script, **options):
    return agent(*script, toolbox=Toolbox(tasks()), **options)


SLOW = partial(pytest.param, marks=pytest.mark.slow)


@asynccontextmanager
async def opened(kind, request, tmp_path):
    """Open the checkpointer of a kind; `postgresql` ones are set up in a fresh database."""
    is_here = kind in {SqliteSaver, AsyncSqliteSaver}
    where = str(tmp_path / "db") if is_here else request.getfixturevalue("postgres").fresh()
    async with AsyncExitStack() as stack:
        made = kind.from_conn_string(where)
        if hasattr(made, "__aenter__"):
            saver = await stack.enter_async_context(made)
        else:
            saver = stack.enter_context(made)
        if not is_here and (done := saver.setup()):
            await done
        yield saver


def details(plan):
    return [
        (t.id, t.subject, t.description, t.owner, t.blocks, t.blocked_by, t.metadata, t.created_at)
        for t in plan
    ]


@pytest.mark.parametrize("kind", [SqliteSaver, SLOW(PostgresSaver)])
def test_everything_survives(kind, request, tmp_path):
    """Edges, ids, owner, metadata and times come back from the checkpoint, and the plan goes on."""

    async def story():
        async with opened(kind, request, tmp_path) as saver:
            working(TURN, says("so far"), checkpointer=saver).invoke(HELLO, THREAD)
            before = plan_of_state(working(checkpointer=saver).get_state(THREAD))
            done = working(FINISH, says("done"), checkpointer=saver).invoke(HELLO, THREAD)
            return before, done

    before, done = asyncio.run(story())
    after = plan_of_state(done)
    assert [(t.id, t.blocked_by) for t in before] == [("1", ()), ("2", ("1",))]
    assert before["1"].created_at.utcoffset().total_seconds() == 0
    assert details(after) == details(before)
    assert after["1"].status == done["todos"][0]["status"] == "completed"


@pytest.mark.parametrize("kind", [AsyncSqliteSaver, SLOW(AsyncPostgresSaver)])
def test_everything_survives_asynchronously(kind, request, tmp_path):
    """The same with the asynchronous checkpointers, edits included."""

    async def story():
        async with opened(kind, request, tmp_path) as saver:
            await working(TURN, says("so far"), checkpointer=saver).ainvoke(HELLO, THREAD)
            made = working(FINISH, says("done"), checkpointer=saver)
            await aedit_plan(made, THREAD, commands.UpdateTask("2", owner="bob"))
            refused = await aedit_plan(made, THREAD, commands.DeleteTask("9"))
            await made.ainvoke(HELLO, THREAD)
            await aseed_plan(made, thread("new"), Plan())
            return refused, plan_of_state(await made.aget_state(THREAD))

    refused, plan = asyncio.run(story())
    assert refused.problems[0].code == "unknown_task"
    assert [(t.status.value, t.owner) for t in plan] == [("completed", "ann"), ("pending", "bob")]


RESUME = """
import sys
sys.path.insert(0, sys.argv[1])
from langchain.agents import create_agent
from langgraph.checkpoint.sqlite import SqliteSaver
from support.scripted import Scripted, calls, says
from todoplan.adapters.langgraph import PlanMiddleware, plan_of_state
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks

finish = [calls(("TaskUpdate", {"taskId": n, "status": "completed"}, f"c{n}")) for n in "12"]
with SqliteSaver.from_conn_string(sys.argv[2]) as saver:
    model = Scripted(script=[*finish, says("done")])
    made = create_agent(model, middleware=[PlanMiddleware(Toolbox(tasks()))], checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    made.invoke(None if sys.argv[3] == "crash" else {"messages": [("user", "go on")]}, config)
    print([(t.id, t.status.value, t.owner) for t in plan_of_state(made.get_state(config))])
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["crash", "pause"])
def test_a_fresh_process_goes_on(how, tmp_path):
    """Another process finds the plan, after a crash or a finished run, as plain JSON."""
    file = tmp_path / "db.sqlite"
    with SqliteSaver.from_conn_string(str(file)) as saver:
        last = RuntimeError("the model is down") if how == "crash" else says("so far")
        expects = pytest.raises(RuntimeError) if how == "crash" else nullcontext()
        with expects:
            working(TURN, last, checkpointer=saver).invoke(HELLO, thread("t"))
    tests = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120 - an argument
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RESUME, tests, str(file), how],
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    expected = "[('1', 'completed', 'ann'), ('2', 'completed', None)]\n"
    assert (done.stdout, done.stderr, done.returncode) == (expected, "", 0)


TOOLS = ("tools", ToolNode(make_tools(Toolbox(tasks()))))


def raw(*nodes, saver=None, state=PlanState):
    """Return a graph of nodes in a row."""
    graph = StateGraph(state).add_sequence([*nodes]).add_edge(START, nodes[0][0])
    return graph.compile(checkpointer=saver)


def test_an_agent_in_a_graph_keeps_its_plan_from_turn_to_turn():
    """With a checkpoint of its own (`checkpointer=True`), the plan stays in its own state."""
    made = working(TURN, says("so far"), FINISH, says("done"), checkpointer=True)
    outer = raw(("agent", made), saver=InMemorySaver())
    for statuses in (["in_progress", "pending"], ["completed", "pending"]):
        told = [u for _, u in outer.stream(HELLO, THREAD, subgraphs=True) if "tools" in u]
        assert statuses in [[t["status"] for t in u["tools"]["todos"]] for u in told]
    assert plan_of_state(outer.get_state(THREAD)) == Plan()


def test_an_agent_in_a_graph_survives_an_interruption():
    """A person is asked inside the subgraph; the plan that was there before is there after."""
    asking = HumanInTheLoopMiddleware(interrupt_on={"TaskUpdate": True})
    made = working(create("a", "b"), FINISH, says("done"), more=[asking], checkpointer=None)
    outer = raw(("agent", made), saver=InMemorySaver())
    outer.invoke(HELLO, THREAD)
    assert subjects(outer.get_state(THREAD, subgraphs=True).tasks[0].state) == ["a", "b"]
    resume = Command(resume={"decisions": [{"type": "approve"}]})
    told = [c for _, c in outer.stream(resume, THREAD, subgraphs=True) if "tools" in c]
    assert [t["status"] for t in told[-1]["tools"]["todos"]] == ["completed", "pending"]


def test_a_subgraph_written_by_hand_shares_the_plan_across_checkpoints():
    """State that is shared by name goes in and comes back, and is there after a resume."""
    inner = raw(("turn", lambda state: {"messages": [TURN]}), TOOLS)
    after = ("after", lambda state: {"messages": [FINISH]})
    outer = raw(("inner", inner), after, TOOLS, saver=InMemorySaver())
    outer.invoke(HELLO, THREAD, interrupt_before=["after"])
    assert [line[2] for line in lines(outer)] == ["in_progress", "pending"]
    outer.invoke(None, THREAD)
    assert [line[2] for line in lines(outer)] == ["completed", "pending"]


def test_a_checkpoint_has_the_plan_compressed():
    """A small value stays as it is, and so does one that an earlier version saved."""
    plan = decide(Plan(), commands.CreateTask("Dig " * 400), Policy()).unwrap()
    channel = PlanChannel(dict, merge_plans)
    channel.update([plan_update(plan)["todoplan"]])
    kept = channel.checkpoint()
    assert isinstance(kept, bytes)
    assert len(kept) < 500
    assert channel.checkpoint() is kept
    again = channel.from_checkpoint(kept)
    assert plan_of_state({"todoplan": again.get()}) == plan
    assert again.checkpoint() is kept
    assert channel.from_checkpoint(channel.get()).get() is channel.get()
    small = channel.from_checkpoint({"stored": "garden"})
    assert small.checkpoint() == {"stored": "garden"}


def test_a_graph_with_a_reducer_of_its_own_goes_on_with_a_compressed_plan():
    """The thread was begun by a graph over `PlanState`."""

    class Own(MessagesState):
        todoplan: Annotated[dict[str, Any], merge_plans]

    saver = InMemorySaver()
    raw(TOOLS, saver=saver).invoke({"messages": [TURN]}, THREAD)
    assert isinstance(saver.get(THREAD)["channel_values"]["todoplan"], bytes)
    graph = raw(TOOLS, saver=saver, state=Own)
    assert len(plan_of_state(graph.get_state(THREAD).values)) == 2
    graph.invoke({"messages": [FINISH]}, THREAD)
    assert plan_of_state(graph.get_state(THREAD))["1"].status == "completed"


def test_a_damaged_checkpoint_is_an_error():
    """And never an empty plan."""
    with pytest.raises(CodecError, match="damaged"):
        PlanChannel(dict, merge_plans).from_checkpoint(b"half")


SAVED = Path(__file__).parent / "saved_by_0_2"
FIRST = wrote(("a", "in_progress"), ("b", "pending"), call_id="2")
ONLY = wrote(("a", "completed"), call_id="2")


@pytest.fixture
def saved(tmp_path):
    """Return a copy of what was saved: the checkpointer, and the store."""
    folder = shutil.copytree(SAVED, tmp_path / "saved")
    with SqliteSaver.from_conn_string(str(folder / "checkpoints.sqlite")) as saver:
        yield saver, FileStore(folder / "plans.json")


def resumed(saver, name, *script, **options):
    """Run an agent once on a thread that was saved; return the agent, and what came of it."""
    made = agent(*script, says("ok"), checkpointer=saver, **options)
    return made, made.invoke(HELLO, thread(name))


def pairs(plan):
    return [(task.subject, task.status.value) for task in plan]


def answer(done):
    return answers(done)[-1]


def test_an_agent_alone_goes_on(saved):
    """It had seen all of its plan, and so has listed it: what a list leaves out goes."""
    made, done = resumed(saved[0], "alone", ONLY)
    assert pairs(plan_of_state(done)) == [("a", "completed")]
    assert "since" not in answer(done)
    assert len(history_of(done)) == 2
    undo_plan(made, thread("alone"))
    assert len(plan_of_state(made.get_state(thread("alone")))) == 2


@pytest.mark.parametrize(("name", "status"), [("edited", "completed"), ("reminded", "pending")])
def test_what_was_unseen_is_told_and_kept(saved, name, status):
    """Also what a reminder had shown. The next list, and the one after that, drop nothing of it."""
    _, done = resumed(saved[0], name, FIRST)
    assert "#3 Tell Ann created by ann" in answer(done)
    expected = [("a", "in_progress"), ("b", status), ("Tell Ann", "pending")]
    for _ in "12":
        assert pairs(plan_of_state(done)) == expected
        _, done = resumed(saved[0], name, FIRST)
    value = done["todoplan"]
    assert set(value) == {"head", "plan", "journal", "session"}
    assert value["session"]["listed"] == [[1, 2]]


def test_a_read_settles_what_was_unseen(saved):
    """An answer that changes nothing writes the record anew as well."""
    look = calls(("plan", {"show": "all"}, "r"))
    _, done = resumed(saved[0], "edited", look, toolbox=Toolbox(lean()))
    assert "Tell Ann created by ann" in answer(done)
    assert "base" not in done["todoplan"]
    assert subjects(resumed(saved[0], "edited", ONLY)[1]) == ["a", "Tell Ann"]


def test_a_seeded_plan_was_listed_by_nobody(saved):
    """The model's first list keeps it, and is told of it."""
    _, done = resumed(saved[0], "seeded", FIRST)
    assert sorted(subjects(done)) == ["a", "b", "old"]
    assert "#1 old created by cron" in answer(done)


def test_a_mark_that_says_seen_means_all_of_that_revision(saved):
    """A person's later task stays, and a list may leave out what the thread had seen."""
    saver, store = saved
    _, done = resumed(saver, "stored", ONLY, store=store)
    assert pairs(store.load("stored")) == [("a", "completed"), ("Tell Ann", "pending")]
    assert "Tell Ann created by ann" in answer(done)
    assert set(done["todoplan"]) == {"stored", "session"}


def test_a_claim_goes_on(saved):
    """The fencing token of a claim is in the mark: without it the task would be somebody else's."""
    saver, store = saved
    options = {"toolbox": Toolbox(lean(team=True)), "store": store, "plan_id": "team"}
    _, done = resumed(saver, "digger", calls(("plan", {"done": [1]}, "d")), **options)
    assert pairs(store.load("team"))[0] == ("Dig", "completed")
    assert "fences" not in done["todoplan"]["session"]


@pytest.mark.parametrize("name", ["paused", "paused beside a store"])
def test_a_step_that_was_left_half_done_is_finished(saved, name):
    """One call's answer waits in the checkpoint, while the call beside it asks a person."""
    saver, store = saved
    options = {"store": store if "store" in name else None, "checkpointer": saver}
    made = working(says("ok"), tools=[ask], **options)
    done = made.invoke(Command(resume="yes"), thread(name))
    assert contents(done) == ["a", "b"]
    assert set(done["todoplan"]) <= {"head", "plan", "journal", "stored", "session"}


def test_looks_of_a_step_that_was_left_half_done(saved):
    """A look without a note was one at the whole plan; a reminder was none."""
    value = saved[0].get(thread("edited"))["channel_values"]["todoplan"]
    assert merge_plans(value, {"shown": value["head"]}) is value
    looked = merge_plans(value, {"seen": value["head"]})
    assert looked["session"]["listed"] == [[1, 2]]
    assert "base" not in looked
