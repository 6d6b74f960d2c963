"""A plan in a store: everyone changes it at any time, also in a run, and nothing is lost."""

import asyncio
import json
import subprocess
import sys
from itertools import count
from operator import add
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware as LangChains
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, interrupt
from support.scripted import Scripted, calls, says, wrote

from todoplan import FileStore, MemoryStore, Planner, plan_of
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    PlanState,
    aedit_plan,
    aseed_plan,
    claude_like,
    command_update,
    edit_plan,
    history_of,
    make_tools,
    merge_plans,
    plan_of_state,
    plan_update,
    seed_plan,
)
from todoplan.core import commands
from todoplan.core.decide import Accepted
from todoplan.core.plan.model import Task
from todoplan.core.rules import DEFAULT
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS, tasks
from todoplan.errors import PlanError, StoreError
from todoplan.planner import parallel_calls

HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}
QUIET = Settings(plan_lost=False, unfinished=0, changed=False)
TOLD = Settings(plan_lost=False, unfinished=0)
EDIT = commands.CreateTask("Tell Ann")
TWO = plan_of([Task("1", "a"), Task("2", "b")])


class Awaited:
    """
    A store whose methods are coroutines.
    """

    def __init__(self, store):
        self.store = store

    async def load(self, plan_id):
        return self.store.load(plan_id)

    async def entries(self, plan_id):
        return self.store.entries(plan_id)

    async def append(self, *given):
        return self.store.append(*given)


def agent(store, *script, toolbox=None, settings=QUIET, planner=None, **options):
    planner = planner or PlanMiddleware(toolbox, settings=settings, store=store)
    options = {"middleware": [planner], "checkpointer": InMemorySaver(), **options}
    return create_agent(Scripted(script=[*script]), **options)


def create(*names):
    return calls(*(("TaskCreate", {"subject": name}, name) for name in names))


def subjects(store, plan_id="1"):
    return [task.subject for task in store.load(plan_id)]


def answers(result):
    return [message.text for message in result["messages"] if message.type == "tool"]


def drive(made, given, config=THREAD, *, is_async=False, **how):
    """
    Return what a run comes to, on either road.
    """
    if is_async:
        return asyncio.run(made.ainvoke(given, config, **how))
    return made.invoke(given, config, **how)


ROADS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@ROADS
def test_the_plan_is_in_the_store_and_its_list_in_the_state(is_async, tmp_path):
    """
    Under the thread's id; what interfaces of LangChain read is in what a run returns.
    """
    store = FileStore(tmp_path / "plans.json")
    made = agent(store, wrote(("a", "in_progress"), ("b", "pending")), says("done"))
    result = drive(made, HELLO, is_async=is_async)
    assert subjects(store) == ["a", "b"]
    assert result["todos"] == [
        {"content": "a", "status": "in_progress"},
        {"content": "b", "status": "pending"},
    ]
    assert [entry.cause for entry in store.entries("1")] == ["write_todos"]


@ROADS
def test_an_edit_while_a_run_goes_on_is_in_the_plan_and_told(is_async, tmp_path):
    """
    A person edits while the model writes its list: the list, which has not seen it, does not undo
    it, and its answer tells of it. Nor does the next one, and it is told no more.
    """
    store = FileStore(tmp_path / "plans.json")
    first = wrote(("a", "pending"), ("b", "pending"), call_id="1")

    def meanwhile(_):
        assert isinstance(edit_plan(made, THREAD, EDIT, actor="ann"), Accepted)
        return wrote(("a", "completed"), ("b", "pending"), call_id="2")

    last = wrote(("a", "completed"), ("b", "completed"), call_id="3")
    made = agent(store, first, meanwhile, says("so far"), last, says("done"))
    told = answers(drive(made, HELLO, is_async=is_async))
    assert subjects(store) == ["a", "b", "Tell Ann"]
    assert "#3 Tell Ann created by ann" in told[1]
    told = answers(drive(made, HELLO, is_async=is_async))
    assert "ann" not in told[2].lower()
    assert subjects(store) == ["a", "b", "Tell Ann"]


@ROADS
def test_an_edit_while_the_model_writes_its_first_list_stays(is_async):
    """
    The thread is new, and so is the plan: what came after the request was sent is not undone.
    """
    store = MemoryStore()

    def meanwhile(_):
        Planner(store, "1").apply(EDIT, actor="ann")
        return wrote(("a", "pending"))

    told = answers(drive(agent(store, meanwhile, says("done")), HELLO, is_async=is_async))
    assert subjects(store) == ["a", "Tell Ann"]
    assert "#1 Tell Ann created by ann" in told[0]


@ROADS
def test_a_reminder_tells_what_others_did_once(is_async):
    """
    It stands in the requests before, and removes nothing: a list that leaves the task out keeps it.
    """
    store = MemoryStore()
    script = wrote(("a", "pending")), says("1"), says("2"), says("3"), wrote(("a", "completed"))
    made = agent(store, *script, says("4"), settings=TOLD)
    drive(made, HELLO, is_async=is_async)
    edit_plan(made, THREAD, EDIT, actor="ann")
    for _ in range(3):
        drive(made, HELLO, is_async=is_async)
    assert subjects(store) == ["a", "Tell Ann"]
    state = made.get_state(THREAD).values
    assert [todo["status"] for todo in state["todos"]] == ["completed", "pending"]


@ROADS
def test_the_list_in_the_state_follows_with_the_next_request(is_async):
    """
    What a person did between two runs is in `todos` once the model was asked again.
    """
    store = MemoryStore()
    made = agent(store, wrote(("a", "pending")), says("1"), says("2"))
    drive(made, HELLO, is_async=is_async)
    edit_plan(made, THREAD, EDIT)
    assert [todo["content"] for todo in drive(made, HELLO, is_async=is_async)["todos"]] == [
        "a",
        "Tell Ann",
    ]


@ROADS
def test_the_calls_of_a_turn_are_one_append_in_their_order(is_async, tmp_path):
    """
    LangGraph starts them all at once: ids, journal and answers are those of the calls in order.
    """
    store = FileStore(tmp_path / "plans.json")
    names = [f"task {n}" for n in range(1, 9)]
    made = agent(store, create(*names), says("done"), toolbox=Toolbox(tasks()))
    told = answers(drive(made, HELLO, is_async=is_async))
    assert [(task.id, task.subject) for task in store.load("1")] == [
        (str(n), f"task {n}") for n in range(1, 9)
    ]
    assert [f"#{n} created" in text for n, text in enumerate(told, 1)] == [True] * 8


@ROADS
def test_two_whole_lists_in_a_turn_are_refused(is_async):
    """
    And the call beside them is answered.
    """
    store = MemoryStore()
    both = [("write_todos", {"todos": [{"content": n, "status": "pending"}]}, n) for n in "ab"]
    both.append(("read_todos", {}, "r"))
    made = agent(store, calls(*both), says("done"), toolbox=Toolbox(TODOS))
    *refused, read = answers(drive(made, HELLO, is_async=is_async))
    assert all("2 calls" in text for text in refused)
    assert "is empty" in read
    assert subjects(store) == []


def by_hand(store, *script, saver=None, others=(), **options):
    """
    Return a graph over PlanState whose one node runs all calls of a turn.
    """
    ours, model = make_tools(Toolbox(tasks()), store=store, **options), Scripted(script=[*script])
    graph = StateGraph(PlanState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([*ours, *others]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(checkpointer=saver or InMemorySaver())


@tool
def ask(question: str) -> str:
    """Ask a person."""
    return interrupt(question)


@ROADS
def test_a_node_that_is_run_again_writes_once(is_async):
    """
    A call beside ours asks a person, and the whole node is run again with the answer: ours is
    answered as it was, and not carried out twice.
    """
    store = MemoryStore()
    both = calls(("TaskCreate", {"subject": "a"}, "1"), ("ask", {"question": "?"}, "2"))
    made = by_hand(store, both, says("done"), others=[ask])
    drive(made, HELLO, is_async=is_async)
    assert subjects(store) == ["a"]
    result = drive(made, Command(resume="yes"), is_async=is_async)
    assert subjects(store) == ["a"]
    assert answers(result) == ["0/1: #1 created", "yes"]


@wrap_tool_call
async def refusing(request, handler):
    """
    Refuse one call at the last moment, as a person does who approves calls one by one.
    """
    call = request.tool_call
    if call["id"] == "b":
        return ToolMessage("Not that one.", tool_call_id="b", status="error")
    return await handler(request)


def test_a_call_that_is_refused_at_the_last_moment_is_not_carried_out_by_another(monkeypatch):
    """
    The calls beside it are, in their order, once it is clear that it does not come.
    """
    monkeypatch.setattr(parallel_calls, "_PATIENCE_SECONDS", 0.05)
    store = MemoryStore()
    planner = PlanMiddleware(Toolbox(tasks()), settings=QUIET, store=store)
    script = create("a", "b", "c"), says("done")
    made = agent(store, *script, planner=planner, middleware=[planner, refusing])
    told = answers(drive(made, HELLO, is_async=True))
    assert subjects(store) == ["a", "c"]
    assert told == ["0/1: #1 created", "Not that one.", "0/2: #2 created"]


def test_where_calls_cannot_run_at_once_none_waits_for_another(monkeypatch):
    """
    They come in order then, one after the other.
    """
    monkeypatch.setattr(parallel_calls, "_PATIENCE_SECONDS", 3600)
    store = MemoryStore()
    made = agent(store, create("a", "b", "c"), says("done"), toolbox=Toolbox(tasks()))
    made.invoke(HELLO, {**THREAD, "max_concurrency": 1})
    assert subjects(store) == ["a", "b", "c"]


def test_a_newcomers_calls_that_come_one_by_one_list_what_they_made():
    """
    Without a middleware the first call is also the first look: what stood there before is not
    listed, what the calls of the turn made is.
    """
    store = MemoryStore()
    Planner(store, "1").apply(EDIT, actor="ann")
    made = by_hand(store, create("a", "b"), says("done"))
    done = made.invoke(HELLO, {**THREAD, "max_concurrency": 1})
    assert done["todoplan"]["session"]["listed"] == [[2, 3]]
    empty = by_hand(MemoryStore(), create("a", "b"), says("done"))
    done = empty.invoke(HELLO, {**THREAD, "max_concurrency": 1})
    assert "listed" not in done["todoplan"]["session"]


def test_the_same_call_in_another_message_is_another_one():
    """
    Some models number the calls of every turn anew.
    """
    store = MemoryStore()
    made = by_hand(store, create("a"), create("a"), says("done"))
    made.invoke(HELLO, THREAD)
    assert subjects(store) == ["a", "a"]


def test_the_same_call_in_a_message_without_an_id_is_another_one():
    """
    In a state that gives messages no ids nothing says whether a call was made before: each counts.
    """

    class Plain(TypedDict):
        messages: Annotated[list[Any], add]
        todoplan: Annotated[dict[str, Any], merge_plans]

    store = MemoryStore()
    ours = ToolNode(make_tools(Toolbox(tasks()), store=store))
    turn = [AIMessage("", tool_calls=create("a").tool_calls)]
    graph = StateGraph(Plain).add_node("model", lambda _: {"messages": turn})
    graph = graph.add_node("tools", ours).add_edge(START, "model").add_edge("model", "tools")
    made = graph.compile(checkpointer=InMemorySaver())
    for _ in "12":
        made.invoke({"messages": []}, THREAD)
    assert subjects(store) == ["a", "a"]


def test_tools_alone_keep_what_their_model_has_seen():
    """
    In a graph by hand, without guidance, the mark in the state says it: what another hand did since
    the last call is kept and told.
    """
    store = MemoryStore()
    lists = [wrote(("a", "pending"), call_id=name) for name in "12"]
    ours, model = make_tools(store=store, plan_id="shared"), Scripted(script=[*lists, says("done")])

    def ask_model(state):
        if len(model.requests) == 1:
            Planner(store, "shared").apply(EDIT, actor="ann")
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(PlanState).add_node("model", ask_model).add_node("tools", ToolNode(ours))
    graph = graph.add_edge(START, "model").add_edge("tools", "model")
    made = graph.add_conditional_edges("model", tools_condition).compile()
    told = answers(made.invoke(HELLO))
    assert "#2 Tell Ann created by ann" in told[1]
    assert subjects(store, "shared") == ["a", "Tell Ann"]


@ROADS
def test_a_thread_that_has_a_plan_hands_it_over_once(is_async):
    """
    With what its model has not seen of it: the next list keeps that. The state holds no plan from
    then on, and an agent without the store is told where it is.
    """
    saver, store = InMemorySaver(), MemoryStore()
    before = agent(None, wrote(("a", "pending"), ("b", "pending")), says("ok"), checkpointer=saver)
    drive(before, HELLO, is_async=is_async)
    edit_plan(before, THREAD, EDIT, actor="ann")
    script = wrote(("a", "completed"), ("b", "pending"), call_id="2"), says("done")
    made = agent(store, *script, checkpointer=saver)
    told = answers(drive(made, HELLO, is_async=is_async))
    assert "#3 Tell Ann" in told[-1]
    assert subjects(store) == ["a", "b", "Tell Ann"]
    for wrong in (
        lambda: plan_of_state(made.get_state(THREAD)),
        lambda: history_of(made.get_state(THREAD)),
        lambda: drive(before, HELLO, is_async=is_async),
        lambda: edit_plan(before, THREAD, EDIT),
        lambda: command_update(made.get_state(THREAD).values, EDIT),
        lambda: before.update_state(THREAD, plan_update(TWO), as_node="model"),
    ):
        with pytest.raises(PlanError, match="a store keeps the plan"):
            wrong()
    assert isinstance(Planner(store, "1").undo(), Accepted)
    assert store.load("1")["1"].status.value == "pending"


@ROADS
def test_an_edit_before_the_first_run_with_a_store_finds_the_plan_of_the_thread(is_async):
    """
    What stands in its state is the plan's beginning, not lost behind the edit.
    """
    saver, store = InMemorySaver(), MemoryStore()
    before = agent(None, checkpointer=saver)
    seed_plan(before, THREAD, TWO)
    made = agent(store, says("done"), checkpointer=saver)
    if is_async:
        asyncio.run(aedit_plan(made, THREAD, EDIT, actor="ann"))
    else:
        edit_plan(made, THREAD, EDIT, actor="ann")
    drive(made, HELLO, is_async=is_async)
    assert subjects(store) == ["a", "b", "Tell Ann"]


@ROADS
def test_a_plan_in_the_state_and_another_in_the_store_are_not_mixed(is_async):
    """
    Neither is lost: the developer is told, and may give up that of the thread by clearing it.
    """
    saver, store = InMemorySaver(), MemoryStore()
    before = agent(None, checkpointer=saver)
    seed_plan(before, THREAD, TWO)
    Planner(store, "1").apply(EDIT)
    made = agent(store, says("done"), checkpointer=saver)
    with pytest.raises(PlanError, match=r"another plan under '1'.*ClearPlan\(\)"):
        drive(made, HELLO, is_async=is_async)
    assert subjects(store) == ["Tell Ann"]
    edit_plan(before, THREAD, commands.ClearPlan())
    result = drive(made, HELLO, is_async=is_async)
    assert [todo["content"] for todo in result["todos"]] == ["Tell Ann"]
    assert subjects(store) == ["Tell Ann"]


@ROADS
@pytest.mark.parametrize("kept", [None, MemoryStore])
def test_the_calls_of_an_agent_stand_under_its_name(kept, is_async):
    """
    In the journal of a store, and of the state, whatever the agent is made of.
    """
    saver, store = InMemorySaver(), kept and kept()
    planner = PlanMiddleware(settings=QUIET, store=store, actor="writer")
    script = wrote(("a", "pending")), says("ok")
    made = create_agent(Scripted(script=[*script]), middleware=[planner], checkpointer=saver)
    result = drive(made, HELLO, is_async=is_async)
    journal = store.entries("1") if store else history_of(result)
    assert [entry.actor for entry in journal] == ["writer"]


@ROADS
def test_who_did_it_is_told_to_the_others_and_no_agent_hears_of_itself(is_async):
    """
    Two agents have names, on one plan; a check that failed for one is no news to it.
    """
    store, box = MemoryStore(), Toolbox(tasks(), DEFAULT.but(evidence_required="error"))

    def ask(thread, actor, *script):
        given = {"store": store, "plan_id": "all", "settings": QUIET, "actor": actor}
        planner = PlanMiddleware(box, verify=lambda *_: (False, "red"), **given)
        model = Scripted(script=[*script, says("ok")])
        made = create_agent(model, middleware=[planner], checkpointer=savers[thread])
        config = {"configurable": {"thread_id": thread}}
        return answers(drive(made, HELLO, config, is_async=is_async))

    savers = {"1": InMemorySaver(), "2": InMemorySaver()}
    board = Planner(store, "all")
    board.apply(commands.CreateTask("Dig", check="deep", status="in_progress"))
    look = calls(("TaskList", {}, "x"))
    ask("1", "one", look)
    ask("2", "two", look)
    board.apply(EDIT, actor="ann")
    fails = calls(("TaskUpdate", {"taskId": "1", "status": "completed"}, "f"))
    told = ask("1", "one", fails, calls(("TaskList", {}, "y")))[-1]
    assert told.startswith("since you last looked: #2 Tell Ann created by ann\n")
    assert "#1 Dig updated by one" in ask("2", "two", calls(("TaskList", {}, "z")))[-1]


@ROADS
def test_a_list_that_is_passed_in_begins_the_plan(is_async):
    """
    Where there is another plan already it would be lost, and is an error until it is given up.
    """
    store, listed = MemoryStore(), {"todos": [{"content": "a", "status": "pending"}]}
    made = agent(store, says("1"), says("2"))
    assert drive(made, {**HELLO, **listed}, is_async=is_async)["todos"] == listed["todos"]
    assert subjects(store) == ["a"]
    Planner(store, "2").apply(EDIT)
    second = {"configurable": {"thread_id": 2}}
    with pytest.raises(PlanError, match="list of todos in its state"):
        drive(made, {**HELLO, **listed}, second, is_async=is_async)
    result = drive(made, {**HELLO, "todos": []}, second, is_async=is_async)
    assert [todo["content"] for todo in result["todos"]] == ["Tell Ann"]


@ROADS
def test_the_list_of_langchains_planner_is_not_lost_when_a_store_is_added(is_async):
    """
    The board was edited before the thread was first run with the store: nothing is written over,
    neither by the run nor by an edit, and the error says what to do.
    """
    saver, store = InMemorySaver(), MemoryStore()
    script = [wrote(("a", "pending")), says("x")]
    planner = LangChains()
    theirs = create_agent(Scripted(script=script), middleware=[planner], checkpointer=saver)
    theirs.invoke(HELLO, THREAD)
    Planner(store, "1").apply(EDIT, actor="ann")
    made = agent(store, says("y"), checkpointer=saver)
    with pytest.raises(PlanError, match="give the plan_id= of a new plan"):
        drive(made, HELLO, is_async=is_async)
    with pytest.raises(PlanError, match="give the plan_id= of a new plan"):
        edit_plan(made, THREAD, EDIT)
    assert [todo["content"] for todo in made.get_state(THREAD).values["todos"]] == ["a"]
    assert subjects(store) == ["Tell Ann"]


@ROADS
def test_a_plan_can_be_seeded_and_needs_no_checkpointer(is_async):
    """
    With an id given, there need be no thread; other agents work on the same plan.
    """
    store = MemoryStore()
    planner = claude_like(store=store, plan_id="release", settings=QUIET)
    made = agent(store, says("hi"), planner=planner, checkpointer=None)
    if is_async:
        asyncio.run(aseed_plan(made, {}, TWO, actor="cron"))
    else:
        seed_plan(made, {}, TWO, actor="cron")
    result = drive(made, HELLO, {}, is_async=is_async)
    assert [todo["content"] for todo in result["todos"]] == ["a", "b"]
    assert [(entry.actor, entry.cause) for entry in store.entries("release")] == [
        ("cron", "restore")
    ]


def test_an_agent_within_an_agent_has_a_plan_of_its_own_or_shares_the_given_one():
    """
    Its thread is its caller's, and its plan is not, unless an id says so.
    """
    for plan_id, found in ((None, ["outer"]), ("all", ["outer", "inner"])):
        store = MemoryStore()
        planner = PlanMiddleware(Toolbox(tasks()), settings=QUIET, store=store, plan_id=plan_id)
        inner = agent(store, create("inner"), says("done"), planner=planner, checkpointer=None)

        @tool
        def delegate(inner=inner) -> str:
            """Delegate."""
            return inner.invoke(HELLO)["messages"][-1].text

        script = create("outer"), calls(("delegate", {}, "d")), says("done")
        made = agent(store, *script, planner=planner, tools=[delegate])
        made.invoke(HELLO, THREAD)
        assert subjects(store, plan_id or "1") == found
        assert len(store._plans) == (1 if plan_id else 2)


def test_an_agent_as_a_node_leaves_its_callers_mark_alone():
    """
    What it hands back is its own plan's, which is in the store under another id.
    """
    store = MemoryStore()
    planner = PlanMiddleware(Toolbox(tasks()), settings=QUIET, store=store)
    inner = agent(store, create("inner"), says("done"), planner=planner, checkpointer=None)
    model = Scripted(script=[create("own")])
    graph = StateGraph(PlanState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(make_tools(Toolbox(tasks()), store=store)))
    graph.add_node("inner", inner)
    graph.add_edge(START, "model").add_edge("model", "tools").add_edge("tools", "inner")
    made = graph.compile(checkpointer=InMemorySaver())
    result = made.invoke(HELLO, THREAD)
    assert subjects(store) == ["own"]
    assert result["todoplan"]["stored"] == "1"


def test_the_list_of_a_graph_around_is_none_of_the_agents_plan(caplog):
    """
    An agent that is a node finds its caller's `todos` in its state: its own plan is in the store.
    """

    class Around(MessagesState):
        todos: list[Any]

    store = MemoryStore()
    Planner(store, "inner's").apply(commands.CreateTask("kept"))
    planner = PlanMiddleware(Toolbox(tasks()), settings=QUIET, store=store, plan_id="inner's")
    inner = agent(store, create("own"), says("done"), planner=planner, checkpointer=None)
    graph = StateGraph(Around).add_node("inner", inner).add_edge(START, "inner")
    listed = [{"content": "theirs", "status": "pending"}]
    graph.compile().invoke({**HELLO, "todos": listed})
    assert subjects(store, "inner's") == ["kept", "own"]
    assert "todos of the outer graph are ignored" in caplog.text


def test_an_asynchronous_store_serves_the_asynchronous_road():
    """
    The other one says what to do.
    """
    store = MemoryStore()
    made = agent(Awaited(store), create("a"), says("done"), toolbox=Toolbox(tasks()))
    drive(made, HELLO, is_async=True)
    asyncio.run(aedit_plan(made, THREAD, EDIT))
    assert subjects(store) == ["a", "Tell Ann"]
    with pytest.raises(PlanError, match="aedit_plan"):
        edit_plan(made, THREAD, EDIT)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: PlanMiddleware(plan_id="1"),
        lambda: make_tools(plan_id="1"),
        lambda: PlanMiddleware(store="plans.json", plan_id="1"),
        lambda: agent(MemoryStore(), says("hi"), checkpointer=None).invoke(HELLO),
        lambda: edit_plan(agent(MemoryStore()), {}, EDIT),
        lambda: edit_plan(agent(MemoryStore()), "1", EDIT),
        lambda: edit_plan(agent(MemoryStore()), THREAD, EDIT, policy="strict"),
        lambda: seed_plan(agent(MemoryStore()), THREAD, []),
    ],
)
def test_a_developers_mistake_is_an_error(wrong):
    """
    It says what was seen and what to do.
    """
    with pytest.raises(PlanError, match=r"give|write"):
        wrong()


class Failing(MemoryStore):
    """
    A store that fails the first append.
    """

    def append(self, *given):
        if not self.entries(given[0]) and not hasattr(self, "failed"):
            self.failed = True
            msg = "no room"
            raise StoreError(msg)
        return super().append(*given)


@ROADS
def test_a_call_that_the_store_refused_is_carried_out_when_the_run_goes_on(is_async):
    """
    It was not answered, so it is not remembered either; calls beside it fail with it.
    """
    store = Failing()
    made = agent(store, create("a", "b"), says("done"), toolbox=Toolbox(tasks()))
    with pytest.raises(StoreError, match="no room"):
        drive(made, HELLO, is_async=is_async)
    result = drive(made, None, is_async=is_async)
    assert subjects(store) == ["a", "b"]
    assert result["messages"][-1].text == "done"


def test_accepted_calls_are_told_on_the_stream():
    """
    As they are where the state keeps the plan.
    """
    planner = PlanMiddleware(
        Toolbox(tasks()), settings=QUIET, store=MemoryStore(), emit_events=True
    )
    made = agent(None, create("a", "b"), says("done"), planner=planner)
    told = [one["todoplan"] for one in made.stream(HELLO, THREAD, stream_mode="custom")]
    assert sorted((one["revision"], one["call_id"]) for one in told) == [(1, "a"), (2, "b")]
    assert {one["tool"] for one in told} == {"TaskCreate"}


PERSON = """
import sys
from todoplan import FileStore, Planner, commands
planner = Planner(FileStore(sys.argv[1]), "1")
for number in range(int(sys.argv[2])):
    planner.apply(commands.CreateTask(f"edit {number}"), actor="ann").unwrap()
"""


def test_a_person_in_another_process_loses_nothing_and_undoes_nothing(tmp_path):
    """
    It edits the same file all along, while the model rewrites its list ten times: every edit is in
    the plan, and so is what the model has written.
    """
    path, edits, number = tmp_path / "plans.json", 20, count()
    Planner(FileStore(path), "1").apply(commands.CreateTask("before"))
    with subprocess.Popen([sys.executable, "-c", PERSON, str(path), str(edits)]) as person:

        def rewrite(_):
            known = [todo["content"] for todo in made.get_state(THREAD).values.get("todos", [])]
            listed = dict.fromkeys([*known, "before", f"mine {next(number)}"])
            return wrote(*((content, "pending") for content in listed), call_id=f"w{next(number)}")

        made = agent(FileStore(path), *([rewrite] * 10), says("done"), settings=TOLD)
        made.invoke(HELLO, THREAD, durability="sync")  # or `rewrite` reads what was
        assert person.wait(60) == 0
    found = subjects(FileStore(path))
    assert {f"edit {n}" for n in range(edits)} <= {*found}
    assert {f"mine {n}" for n in range(0, 20, 2)} <= {*found}
    assert len(found) == len({*found}) == edits + 11
    assert json.loads(Path(path).read_text("utf-8"))
