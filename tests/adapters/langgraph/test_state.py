"""The plan and the list `todos` in a graph's state: steps, branches, subgraphs."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false

from contextlib import nullcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents.middleware import HumanInTheLoopMiddleware, TodoListMiddleware
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime
from langgraph.types import Command
from support.langgraph_threads import (
    HELLO,
    QUIET,
    THREAD,
    agent,
    by_hand,
    contents,
    create,
    entries,
    lines,
    subjects,
)
from support.scripted import Scripted, calls, says, wrote

from todoplan import TASKS as TASK_TOOLS
from todoplan import Plan, Task, Toolbox, commands, decide, plan_of
from todoplan.adapters.langgraph import (
    PlanState,
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
)
from todoplan.core.decide import plan_problems
from todoplan.core.plan.model import Waiting
from todoplan.dialogue import Settings, tasks
from todoplan.errors import CodecError, PlanError

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
    value = _value(plan_of([Task("1", "a")]))["todoplan"]
    assert merge_plans({}, {}) == {}
    settled = merge_plans({}, value)
    assert sorted(settled) == ["head", "journal", "plan", "session"]
    assert merge_plans(settled, {}) == settled
    assert merge_plans(settled, dict(settled)) is settled


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


def test_what_is_written_is_plain_for_every_checkpointer():
    """Values come back from LangGraph's serializer as plain dicts, and hold the same plan."""
    step = command_update(_value(plan_of([Task("1", "a")])), commands.CreateTask("b"))[1]
    for update in (plan_update(plan_of([Task("1", "a")])), step):
        loaded = JsonPlusSerializer().loads_typed(JsonPlusSerializer().dumps_typed(update))
        assert loaded == update
        assert type(loaded["todoplan"]["plan"]) is dict
        assert plan_of_state(loaded) == plan_of_state(update)


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
    return agent(*script, **{"toolbox": Toolbox(TASK_TOOLS), "settings": QUIET, **options})


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
