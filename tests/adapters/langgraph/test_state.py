"""The plan in a graph's state: one reducer for steps in order, branches and subgraphs."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime
from support.scripted import calls, wrote

from todoplan import Plan, Todo, decide, plan_of
from todoplan.adapters.langgraph import (
    PlanState,
    command_update,
    history_of,
    make_tools,
    merge_plans,
    messages_in,
    plan_of_state,
    plan_update,
    todos_of,
)
from todoplan.core import commands
from todoplan.core.plan.model import Task
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks
from todoplan.errors import CodecError, PlanError

TASKS = make_tools(Toolbox(tasks()))
WRITES = make_tools()


def created(*subjects, turn=""):
    made = [("TaskCreate", {"subject": s}, f"{turn}{n}") for n, s in enumerate(subjects)]
    return calls(*made, id=f"turn-{turn}")


def graph(*branches, tools=TASKS, first=None):
    """
    A graph whose branches run in one superstep, each with a turn of its own.
    """
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


def subjects(state):
    return [task.subject for task in plan_of_state(state)]


OTHERS = [None, {}, [], "7", {"configurable": {"thread_id": "1"}}, {"messages": []}, {"todos": "x"}]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("read", [plan_of_state, history_of])
def test_what_is_no_state_with_a_plan_is_refused(other, read):
    """
    A config, an agent, nothing at all, or the state of a graph that keeps no plan: an empty plan
    would be an invention. The error says what to give.
    """
    with pytest.raises(PlanError, match="get_state"):
        read(other)
    with pytest.raises(PlanError, match="get_state"):
        read(StateGraph(PlanState))


def test_an_empty_state_holds_the_empty_plan():
    """
    An empty value is no plan yet, and so is a thread that nothing was written to.
    """
    assert plan_of_state({"todoplan": {}}) == Plan()
    assert history_of({"todoplan": {}}) == ()
    assert messages_in({}) == ()
    assert messages_in([1]) == [1]


def test_a_call_of_the_last_turn_that_has_an_answer_is_not_carried_out():
    """
    A guard has refused it. An answer from before the turn, under the same id, does not matter.
    """
    before, refused = (ToolMessage("x", tool_call_id=n) for n in "10")
    turn = created("a", "b", "c")
    messages = [before, turn, HumanMessage("x"), refused]
    runtime = ToolRuntime(
        state={"messages": messages},
        context=None,
        config={},
        stream_writer=None,
        tool_call_id="2",
        store=None,
    )
    create = next(each for each in TASKS if each.name == "TaskCreate")
    call = {**turn.tool_calls[2], "type": "tool_call"}
    update = create.invoke({**call, "args": {**call["args"], "runtime": runtime}}).update
    assert subjects(update) == ["b", "c"]


def test_what_is_no_plan_is_an_error():
    """
    A corrupt value is never taken for an empty plan.
    """
    for wrong in ({"head": "", "plan": {"tasks": []}}, {"tasks": []}, {"plan": None}):
        with pytest.raises(CodecError):
            plan_of_state({"todoplan": wrong})
        with pytest.raises(CodecError):
            merge_plans(_value(Plan())["todoplan"], wrong)


def test_two_branches_lose_nothing():
    """
    Both create tasks upon the same plan in the same superstep: all are there, each with its id.
    """
    done = graph(created("a", "b", turn="x"), created("c", "d", turn="y")).invoke({"messages": []})
    assert subjects(done) == ["a", "b", "c", "d"]
    assert [task.id for task in plan_of_state(done)] == ["1", "2", "3", "4"]


def test_two_branches_that_write_whole_lists_lose_nothing():
    """
    The lists of both are in the plan, and what was there before once.
    """
    base = plan_update(plan_of([Task("1", "base")]))
    one = wrote(("base", "completed"), ("a", "pending"), call_id="x")
    two = wrote(("base", "pending"), ("b", "in_progress"), call_id="y")
    done = graph(one, two, tools=WRITES, first=base).invoke({"messages": []})
    assert [(t.subject, t.status.value) for t in plan_of_state(done)] == [
        ("base", "completed"),
        ("a", "pending"),
        ("b", "in_progress"),
    ]


def test_a_branch_that_changes_its_own_new_task_changes_that_one():
    """
    Where its task moved to another id, the later calls of the same turn follow.
    """
    made = ("TaskCreate", {"subject": "c"}, "y0")
    turn = calls(made, ("TaskUpdate", {"taskId": "1", "status": "completed"}, "y1"), id="turn-y")
    done = graph(created("a", turn="x"), turn).invoke({"messages": []})
    assert [(t.subject, t.status.value) for t in plan_of_state(done)] == [
        ("a", "pending"),
        ("c", "completed"),
    ]


def test_parallel_subgraphs_lose_nothing():
    """
    Subgraphs hand back the whole plan; both their additions stay.
    """
    builder = StateGraph(PlanState)
    for name in "xy":
        turn = created(f"from {name}", f"more {name}", turn=name)
        builder.add_node(name, graph(turn))
        builder.add_edge(START, name)
        builder.add_edge(name, END)
    done = builder.compile().invoke({"messages": [], **_value(plan_of([Task("1", "base")]))})
    assert sorted(subjects(done)) == ["base", "from x", "from y", "more x", "more y"]


def test_a_subgraph_that_runs_alone_hands_back_its_plan_exactly():
    """
    What followed from the parent's plan is taken as it is, also when it did nothing.
    """
    builder = StateGraph(PlanState)
    builder.add_node("one", graph(created("a", turn="x")))
    builder.add_node("two", graph(calls(("TaskUpdate", {"taskId": "1", "status": "deleted"}, "z"))))
    builder.add_node("idle", graph())
    builder.add_sequence([("three", graph(created("b", turn="y")))])
    for edge in [(START, "one"), ("one", "two"), ("two", "idle"), ("idle", "three")]:
        builder.add_edge(*edge)
    done = builder.compile().invoke({"messages": []})
    assert [(t.id, t.subject) for t in plan_of_state(done)] == [("2", "b")]


def _value(plan):
    return {"todoplan": plan_update(plan)["todoplan"]}


def test_the_reducer_in_a_state_of_your_own():
    """
    `merge_plans` takes an empty side for nothing, and the same plan twice for once.
    """
    value = _value(plan_of([Task("1", "a")]))["todoplan"]
    assert merge_plans({}, {}) == {}
    settled = merge_plans({}, value)
    assert sorted(settled) == ["head", "journal", "plan", "session"]
    assert merge_plans(settled, {}) == settled
    assert merge_plans(settled, dict(settled)) is settled


def test_an_update_by_the_application_replaces_the_plan():
    """
    `plan_update` is for nodes and commands: whatever was there, this is the plan now.
    """
    update = plan_update(plan_of([Task("7", "seven", status="cancelled"), Task("9", "nine")]))
    assert update["todos"] == [{"content": "nine", "status": "pending"}]
    done = graph(created("next", turn="x"), first=update).invoke(
        {"messages": [], **_value(plan_of([Task("1", "old")]))}
    )
    assert [(t.id, t.subject) for t in plan_of_state(done)] == [
        ("7", "seven"),
        ("9", "nine"),
        ("10", "next"),
    ]


def test_a_replacement_beside_a_step_loses_neither():
    """
    A node sets the plan while tools write: what the tools made is in the plan that was set.
    """
    builder = StateGraph(PlanState)
    builder.add_node("a", lambda _: plan_update(plan_of([Task("5", "set")])))
    builder.add_node("b", graph(created("made", turn="x")).nodes["b0"].bound)
    builder.add_edge(START, "a")
    builder.add_edge(START, "b")
    done = builder.compile().invoke({"messages": []})
    assert [(t.id, t.subject) for t in plan_of_state(done)] == [("5", "set"), ("6", "made")]


def test_a_node_of_your_own_carries_out_commands():
    """
    `command_update` decides upon the state and merges like any step; a refusal updates nothing.
    """
    seen = []

    def node(subject):
        def run(state):
            decision, update = command_update(state, commands.CreateTask(subject))
            seen.append(decision)
            return update

        return run

    builder = StateGraph(PlanState)
    for name in "ab":
        builder.add_node(name, node(name))
        builder.add_edge(START, name)
        builder.add_edge(name, "none")
    builder.add_node("none", node(" "))
    done = builder.compile().invoke({"messages": []})
    assert sorted(subjects(done)) == ["a", "b"]
    assert [type(decision).__name__ for decision in seen] == ["Accepted", "Accepted", "Rejected"]


def test_the_published_list_has_what_interfaces_read():
    """
    `content` and `status`, and the rest where it is given.
    """
    todos = (Todo("a", "in_progress", "Doing a", "high"), Todo("b"))
    plan = decide(Plan(), commands.WriteTodos(todos)).plan
    assert todos_of(plan) == [
        {"content": "a", "status": "in_progress", "activeForm": "Doing a", "priority": "high"},
        {"content": "b", "status": "pending"},
    ]


def test_what_is_written_is_plain_for_every_checkpointer():
    """
    Values come back from LangGraph's serializer as plain dicts, and hold the same plan.
    """
    step = command_update(_value(plan_of([Task("1", "a")])), commands.CreateTask("b"))[1]
    for update in (plan_update(plan_of([Task("1", "a")])), step):
        loaded = JsonPlusSerializer().loads_typed(JsonPlusSerializer().dumps_typed(update))
        assert loaded == update
        assert type(loaded["todoplan"]["plan"]) is dict
        assert plan_of_state(loaded) == plan_of_state(update)


def test_a_published_list_is_the_readers_own():
    """
    Whoever changes it in a run changes neither the plan nor the list that is published next.
    """
    state = {**plan_update(plan_of([Task("1", "a")])), "todoplan_run": True}
    state["todos"][0]["content"] = "changed"
    assert todos_of(plan_of_state(state)) == [{"content": "a", "status": "pending"}]
    _, update = command_update(state, commands.UpdateTask("1", status="completed"))
    assert update["todos"] == [{"content": "a", "status": "completed"}]
