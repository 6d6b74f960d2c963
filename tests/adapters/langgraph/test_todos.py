"""The list `todos`: without a plan it is the plan, damaged or not; later it is only published."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, TodoListMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from support.langgraph_threads import HELLO, QUIET, THREAD, THREE, agent, entries, lines, ours, run
from support.scripted import Scripted, calls, says, wrote

from todoplan import Plan, plan_of
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    PlanState,
    command_update,
    edit_plan,
    make_tools,
    plan_of_state,
    plan_of_todos,
    plan_update,
    seed_plan,
    todos_of,
)
from todoplan.core import commands
from todoplan.core.decide import decide, plan_problems
from todoplan.core.plan.model import Task, Waiting
from todoplan.dialogue.guidance import Settings

TAKEN = [("1", "a", "completed"), ("2", "b", "in_progress"), ("3", "c", "pending")]


def test_a_thread_of_langchains_own_goes_on():
    """
    Its list is the plan, and stays in the state; the model goes on with it, and is asked to.
    """
    saver = InMemorySaver()
    _, _, before = run(saver, TodoListMiddleware(), THREE, says("so far"))
    turn = calls(("TaskUpdate", {"taskId": "2", "status": "completed"}, "u"))
    model, made = agent(saver, ours(Settings(unfinished=1)), says("early"), turn, *map(says, "12"))
    assert lines(made) == TAKEN
    done = made.invoke(HELLO, THREAD)
    assert "[in_progress] b" in model.requests[1][-1].text
    assert lines(made) == [TAKEN[0], ("2", "b", "completed"), TAKEN[2]]
    assert [t["content"] for t in done["todos"]] == [t["content"] for t in before["todos"]]


def test_nothing_happens_to_a_list_that_nobody_changes():
    """
    A run without a planning call leaves it as it was, and keeps the plan that it is.
    """
    saver = InMemorySaver()
    _, _, before = run(saver, TodoListMiddleware(), THREE, says("so far"))
    for _ in range(2):
        _, made, done = run(saver, ours(), says("hello"))
        assert (done["todos"], lines(made)) == (before["todos"], TAKEN)
    assert made.get_state(THREAD).values["todoplan"]["plan"]["next_id"] == 4


def test_the_application_may_be_first():
    """
    `edit_plan` before any run of ours goes on with the list.
    """
    saver = InMemorySaver()
    run(saver, TodoListMiddleware(), THREE, says("so far"))
    _, made = agent(saver, ours())
    edit_plan(made, THREAD, commands.UpdateTask("3", owner="ann"))
    assert lines(made) == TAKEN
    assert plan_of_state(made.get_state(THREAD))["3"].owner == "ann"


def test_a_write_that_waits_for_a_person_survives_the_change():
    """
    The thread was stopped under LangChain's own; its call is carried out upon its list.
    """
    saver, gate = InMemorySaver(), HumanInTheLoopMiddleware({"write_todos": True})
    again = wrote(("a", "completed"), ("b", "completed"), call_id="2")
    script = [THREE, again, says("done")]
    first = create_agent(
        Scripted(script=script), middleware=[TodoListMiddleware(), gate], checkpointer=saver
    )
    approve = Command(resume={"decisions": [{"type": "approve"}]})
    first.invoke(HELLO, THREAD)
    first.invoke(approve, THREAD)
    second = create_agent(
        Scripted(script=script[2:]),
        middleware=[PlanMiddleware(settings=QUIET), gate],
        checkpointer=saver,
    )
    done = second.invoke(approve, THREAD)
    assert done["todos"] == entries(("a", "completed"), ("b", "completed"))
    assert lines(second) == [("1", "a", "completed"), ("2", "b", "completed")]


class Listed(PlanState):
    """
    A graph by hand that had a list before it had a plan.
    """

    todos: list


def test_tools_and_nodes_of_a_graph_by_hand_take_the_list_over():
    """
    The first planning call, or command, goes on with it.
    """
    builder = StateGraph(Listed)
    builder.add_node("tools", ToolNode(make_tools()))
    builder.add_edge(START, "tools")
    builder.add_edge("tools", END)
    state = {"todos": entries(("a", "completed"), ("b", "pending"))}
    turn = wrote(("a", "completed"), ("b", "completed"), ("c", "pending"))
    done = builder.compile().invoke({**state, "messages": [turn]})
    assert [(t.id, t.subject) for t in plan_of_state(done)] == [("1", "a"), ("2", "b"), ("3", "c")]
    assert done["todos"] == todos_of(plan_of_state(done))
    _, update = command_update(state, commands.CreateTask("c"))
    assert [t.subject for t in plan_of_state(update)] == ["a", "b", "c"]


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
    """
    What can be read is, what cannot becomes a task with its own text; the agent goes on.
    """
    saver = InMemorySaver()
    _, made = agent(saver, TodoListMiddleware())
    made.update_state(THREAD, {"todos": DAMAGED}, as_node="model")
    _, made, done = run(saver, ours(), says("hello"))
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
    """
    It makes no plan, changes none, and stays until there is something to publish.
    """
    saver = InMemorySaver()
    _, made = agent(
        saver, ours(), says("1"), calls(("TaskCreate", {"subject": "a"}, "c")), says("2")
    )
    made.update_state(THREAD, {"todos": other}, as_node="model")
    assert lines(made) == []
    assert made.invoke(HELLO, THREAD)["todos"] == other
    assert made.invoke(HELLO, THREAD)["todos"] == entries(("a", "pending"))
    made.update_state(THREAD, {"todos": other})
    assert lines(made) == [("1", "a", "pending")]


@settings(max_examples=60, deadline=None)
@given(st.lists(JUNK, max_size=3))
def test_any_list_makes_a_plan(junk):
    """
    Whatever stands there, nothing is raised, and what comes out can be kept and published.
    """
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


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(STEPS, min_size=1, max_size=3), min_size=1, max_size=3), st.booleans())
def test_the_plan_is_what_was_written_whatever_becomes_of_the_list(turns, crash):
    """
    At every checkpoint of any run, stopped or not, the plan is the one that was written.
    """
    made_turns = [
        calls(*((*step, f"{n}-{m}") for m, step in enumerate(turn))) for n, turn in enumerate(turns)
    ]
    last = ConnectionError("down") if crash else says("done")
    _, made = agent(InMemorySaver(), ours(), *made_turns, last)
    try:
        made.invoke(HELLO, THREAD)
    except ConnectionError:
        assert crash
    for state in made.get_state_history(THREAD):
        value = state.values.get("todoplan")
        written = plan_of_state({"todoplan": value})
        assert plan_of_state({**state.values, "todos": ["other"]}) == written or not value


def test_a_list_that_others_write_later_is_written_over():
    """
    LangChain's own, the application, or a consumer that changes what it was streamed: none of it
    can take a task, an edge or a cancelled line from the plan.
    """
    saver = InMemorySaver()
    plan = plan_of([Task("1", "a", owner="ann"), Task("4", "dropped", status="cancelled")])
    _, made = agent(saver, ours(), says("1"), says("2"), says("3"))
    seed_plan(made, THREAD, plan)
    for chunk in made.stream(HELLO, THREAD, stream_mode="values"):
        chunk.get("todos", []).clear()
    run(saver, TodoListMiddleware(), THREE, says("2"))
    made.update_state(THREAD, {"todos": entries(("z", "pending"))})
    done = made.invoke(HELLO, THREAD)
    assert tuple(plan_of_state(made.get_state(THREAD))) == tuple(plan)
    assert done["todos"] == [{"content": "a", "status": "pending", "owner": "ann"}]


def test_a_checkpoint_of_an_earlier_version_stays_the_plan():
    """
    Its heads name a call without a sum of it: the plan is what was written.
    """
    saver = InMemorySaver()
    plan = decide(Plan(), commands.CreateTask("a")).plan
    value = {**plan_update(plan)["todoplan"], "head": "1:call"}
    _, made = agent(saver, ours(), says("1"))
    made.update_state(THREAD, {"todoplan": value, "todos": entries(("b", "pending"))}, "model")
    assert [line[1] for line in lines(made)] == ["a"]
    assert made.invoke(HELLO, THREAD)["todos"] == entries(("a", "pending"))


def test_what_else_is_so_stands_beside_only_where_there_is_any():
    """An interface that knows two keys goes on reading these; one that knows more can draw it."""
    items = (
        commands.CreateTask("Garden"),
        commands.CreateTask("Sow", parent="#0", owner="ann"),
        commands.CreateTask("Dream", status="cancelled"),
        commands.CreateTask("Reap", blocked_by=("#1", "#2")),
        commands.CreateTask("Rest", blocked_by=("#2",), waiting=Waiting("rain")),
        commands.CreateTask("Tell"),
    )
    plan = decide(Plan(), commands.CreateTasks(items)).unwrap()
    assert todos_of(plan) == [
        {"content": "Garden", "status": "pending", "id": "1"},
        {"content": "Sow", "status": "pending", "owner": "ann", "id": "2", "parent": "1"},
        {"content": "Reap", "status": "pending", "id": "4", "blockedBy": ["2"]},
        {"content": "Rest", "status": "pending", "waiting": {"reason": "rain"}, "id": "5"},
        {"content": "Tell", "status": "pending"},
    ]
    assert [task.subject for task in plan_of_todos(todos_of(plan))] == [
        "Garden",
        "Sow",
        "Reap",
        "Rest",
        "Tell",
    ]
