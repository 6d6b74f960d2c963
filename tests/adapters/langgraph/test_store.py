"""A plan in a store: changed by anyone at any time, by teams, and checked by a verifier."""

import asyncio
import json
import subprocess
import sys
from itertools import count
from operator import add
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, TypedDict

import attrs
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

from todoplan import (
    DEFAULT,
    TASKS,
    Accepted,
    FileStore,
    MemoryStore,
    Plan,
    Planner,
    Policy,
    Task,
    Toolbox,
    commands,
    decide,
    plan_of,
)
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
    stored_record,
    stored_update,
)
from todoplan.core.commands import CreateTask, CreateTasks
from todoplan.dialogue import Settings, lean, tasks
from todoplan.errors import PlanError, StoreError
from todoplan.planner import parallel_calls
from todoplan.planner.session import Record

HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}
QUIET = Settings(plan_lost=False, unfinished=0, changed=False)
TOLD = Settings(plan_lost=False, unfinished=0)
EDIT = commands.CreateTask("Tell Ann")
TWO = plan_of([Task("1", "a"), Task("2", "b")])


class Awaited:
    """A store whose methods are coroutines."""

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
    """Return what a run comes to, on either road."""
    if is_async:
        return asyncio.run(made.ainvoke(given, config, **how))
    return made.invoke(given, config, **how)


ROADS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@ROADS
def test_the_plan_is_in_the_store_and_its_list_in_the_state(is_async, tmp_path):
    """Under the thread's id; what interfaces of LangChain read is in what a run returns."""
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
def test_the_list_in_the_state_follows_with_the_next_request(is_async):
    """What a person did between two runs is in `todos` once the model was asked again."""
    store = MemoryStore()
    made = agent(store, wrote(("a", "pending")), says("1"), says("2"))
    drive(made, HELLO, is_async=is_async)
    edit_plan(made, THREAD, EDIT)
    assert [todo["content"] for todo in drive(made, HELLO, is_async=is_async)["todos"]] == [
        "a",
        "Tell Ann",
    ]


def by_hand(store, *script, toolbox=None, others=(), **options):
    """Return a graph over PlanState whose one node runs all calls of a turn."""
    ours = make_tools(toolbox or Toolbox(tasks()), store=store, **options)
    model = Scripted(script=[*script])
    graph = StateGraph(PlanState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([*ours, *others]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(checkpointer=InMemorySaver())


@tool
def ask(question: str) -> str:
    """Ask a person."""
    return interrupt(question)


@ROADS
def test_a_node_that_is_run_again_writes_once(is_async):
    """A call beside ours asks a person, and the node runs again: ours is not done twice."""
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
    """Refuse one call at the last moment, as a person does who approves calls one by one."""
    call = request.tool_call
    if call["id"] == "b":
        return ToolMessage("Not that one.", tool_call_id="b", status="error")
    return await handler(request)


def test_a_call_that_is_refused_at_the_last_moment_is_not_carried_out_by_another(monkeypatch):
    """The calls beside it are, in their order, once it is clear that it does not come."""
    monkeypatch.setattr(parallel_calls, "_PATIENCE_SECONDS", 0.05)
    store = MemoryStore()
    planner = PlanMiddleware(Toolbox(tasks()), settings=QUIET, store=store)
    script = create("a", "b", "c"), says("done")
    made = agent(store, *script, planner=planner, middleware=[planner, refusing])
    told = answers(drive(made, HELLO, is_async=True))
    assert subjects(store) == ["a", "c"]
    assert told == ["0/1: #1 created", "Not that one.", "0/2: #2 created"]


def test_where_calls_cannot_run_at_once_none_waits_for_another(monkeypatch):
    """They come in order then, one after the other."""
    monkeypatch.setattr(parallel_calls, "_PATIENCE_SECONDS", 3600)
    store = MemoryStore()
    made = agent(store, create("a", "b", "c"), says("done"), toolbox=Toolbox(tasks()))
    made.invoke(HELLO, {**THREAD, "max_concurrency": 1})
    assert subjects(store) == ["a", "b", "c"]


def test_a_newcomers_calls_that_come_one_by_one_list_what_they_made():
    """What was there before is not listed; what the calls of the turn made is."""
    store = MemoryStore()
    Planner(store, "1").apply(EDIT, actor="ann")
    made = by_hand(store, create("a", "b"), says("done"))
    done = made.invoke(HELLO, {**THREAD, "max_concurrency": 1})
    assert done["todoplan"]["session"]["listed"] == [[2, 3]]
    empty = by_hand(MemoryStore(), create("a", "b"), says("done"))
    done = empty.invoke(HELLO, {**THREAD, "max_concurrency": 1})
    assert "listed" not in done["todoplan"]["session"]


def test_the_same_call_in_another_message_is_another_one():
    """Some models number the calls of every turn anew."""
    store = MemoryStore()
    made = by_hand(store, create("a"), create("a"), says("done"))
    made.invoke(HELLO, THREAD)
    assert subjects(store) == ["a", "a"]


def test_the_same_call_in_a_message_without_an_id_is_another_one():
    """Without ids of messages nothing says whether a call was made before: each counts."""

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
    """In a graph by hand, without guidance, the state's record says it."""
    store = MemoryStore()

    def meanwhile(_):
        Planner(store, "shared").apply(EDIT, actor="ann")
        return wrote(("a", "pending"), call_id="2")

    script = wrote(("a", "pending"), call_id="1"), meanwhile, says("done")
    made = by_hand(store, *script, toolbox=Toolbox(), plan_id="shared")
    told = answers(made.invoke(HELLO, THREAD))
    assert "#2 Tell Ann created by ann" in told[1]
    assert subjects(store, "shared") == ["a", "Tell Ann"]


@ROADS
def test_a_thread_that_has_a_plan_hands_it_over_once(is_async):
    """With what is unseen; the state then has no plan, and an agent without the store is told."""
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
    """What stands in its state is the plan's beginning, not lost behind the edit."""
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
    """Neither is lost: the developer is told, and may give up that of the thread by clearing it."""
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
    """In the journal of a store, and of the state, whatever the agent is made of."""
    saver, store = InMemorySaver(), kept and kept()
    planner = PlanMiddleware(settings=QUIET, store=store, actor="writer")
    script = wrote(("a", "pending")), says("ok")
    made = create_agent(Scripted(script=[*script]), middleware=[planner], checkpointer=saver)
    result = drive(made, HELLO, is_async=is_async)
    journal = store.entries("1") if store else history_of(result)
    assert [entry.actor for entry in journal] == ["writer"]


@ROADS
def test_who_did_it_is_told_to_the_others_and_no_agent_hears_of_itself(is_async):
    """Two agents have names, on one plan; a check that failed for one is no news to it."""
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
    """If the store has another plan, the list would be lost: that is an error."""
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
    """Neither a run nor an edit overwrites anything, and the error says what to do."""
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
    """With an id given, there need be no thread; other agents work on the same plan."""
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
    """Its thread is its caller's, and its plan is not, unless an id says so."""
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
    """What it hands back is its own plan's, which is in the store under another id."""
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
    """An agent that is a node finds its caller's `todos` in its state."""

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
    """The other one says what to do."""
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
    """It says what was seen and what to do."""
    with pytest.raises(PlanError, match=r"give|write"):
        wrong()


class Failing(MemoryStore):
    """A store that fails the first append."""

    def append(self, *given):
        if not self.entries(given[0]) and not hasattr(self, "failed"):
            self.failed = True
            msg = "no room"
            raise StoreError(msg)
        return super().append(*given)


@ROADS
def test_a_call_that_the_store_refused_is_carried_out_when_the_run_goes_on(is_async):
    """It was not answered, so it is not remembered either; calls beside it fail with it."""
    store = Failing()
    made = agent(store, create("a", "b"), says("done"), toolbox=Toolbox(tasks()))
    with pytest.raises(StoreError, match="no room"):
        drive(made, HELLO, is_async=is_async)
    result = drive(made, None, is_async=is_async)
    assert subjects(store) == ["a", "b"]
    assert result["messages"][-1].text == "done"


def test_accepted_calls_are_told_on_the_stream():
    """As they are where the state keeps the plan."""
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
    """Every edit of the same file is in the plan, and so is what the model writes meanwhile."""
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


NEXT = ("plan", {"next": True})
THREE = plan_of([Task("1", "Dig"), Task("2", "Lay"), Task("3", "Sow")])


def member(store, *script, toolset=None, saver=None, actor=None):
    """Return an agent of the team, on the plan "shared"."""
    toolbox = Toolbox(toolset or lean(team=True))
    given = {"settings": QUIET, "store": store, "plan_id": "shared", "actor": actor}
    planner = PlanMiddleware(toolbox, **given)
    model = Scripted(script=[*script])
    return create_agent(model, middleware=[planner], checkpointer=saver or InMemorySaver())


def run(graph, thread, *, is_async=False):
    """Run an agent in a thread."""
    said = {"messages": [("user", "go")]}
    config = {"configurable": {"thread_id": thread}}
    if is_async:
        return asyncio.run(graph.ainvoke(said, config))
    return graph.invoke(said, config)


def shared():
    """Return a store with a plan of three tasks."""
    store = MemoryStore()
    Planner(store, "shared").restore(THREE)
    return store


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_two_agents_share_a_plan(is_async):
    """Each claims, works and completes; the fence is kept in the state of its thread."""
    store = shared()
    first = member(store, calls((*NEXT, "a")), says("wait"))
    assert answers(run(first, "ann", is_async=is_async)) == ["0/3: #1 claimed (fence 1): Dig"]
    work = [calls((*NEXT, "b")), calls(("plan", {"done": [2, 1]}, "c"))]
    work += [calls(("plan", {"done": [2], "next": True}, "d")), says("wait")]
    told = answers(run(member(store, *work), "bob", is_async=is_async))
    assert told[0] == "0/3: #2 claimed (fence 1): Lay"
    assert "Task 1 is claimed by ann" in told[1]
    assert told[2] == "1/3: #2 completed; #3 claimed (fence 1): Sow"
    plan = Planner(store, "shared").plan
    assert [task.claim and task.claim.owner for task in plan] == ["ann", None, "bob"]


def test_a_thread_that_is_resumed_goes_on_with_its_task():
    """Another process has the checkpoint, and with it the fence; a thread of that name has not."""
    store, saver = shared(), InMemorySaver()
    first = run(member(store, calls((*NEXT, "a")), says("wait"), saver=saver), "ann")
    assert first["todoplan"]["session"]["fences"] == {"1": 1}
    done = [calls(("plan", {"done": [1]}, "b")), says("done")]
    assert "claimed by ann" in answers(run(member(store, *done), "ann"))[0]
    again = run(member(store, *done, saver=saver), "ann")
    assert answers(again)[-1] == "1/3: #1 completed"
    assert "fences" not in again["todoplan"]["session"]


def test_calls_of_one_turn_claim_beside_each_other():
    """Two tasks in one turn, then one of them closed: what is held is what is left."""
    store, saver = shared(), InMemorySaver()
    one, two = ("TaskClaim", {"taskId": 1}, "a"), ("TaskClaim", {}, "b")
    done = calls(("TaskUpdate", {"taskId": 1, "status": "completed"}, "c"))
    toolset = tasks(team=True)
    script = (calls(one, two), done, says("wait"))
    result = run(member(store, *script, toolset=toolset, saver=saver), "ann")
    assert result["todoplan"]["session"]["fences"] == {"2": 1}
    assert Planner(store, "shared").plan.counts.completed == 1


def test_an_answer_stands_over_a_task_that_another_agent_works_on():
    """Over a task of its own it is sent back: the claim is kept in the state of its thread."""
    store, saver = MemoryStore(), InMemorySaver()
    Planner(store, "shared").restore(plan_of([Task("1", "Dig")]))
    run(member(store, calls((*NEXT, "a")), says("wait"), saver=saver), "ann")
    asked = {}
    for thread in ("bob", "ann"):
        model = Scripted(script=[says("ok"), says("ok")])
        settings = attrs.evolve(QUIET, unfinished=1)
        given = {"settings": settings, "store": store, "plan_id": "shared"}
        planner = PlanMiddleware(Toolbox(lean(team=True)), **given)
        run(create_agent(model, middleware=[planner], checkpointer=saver), thread)
        asked[thread] = len(model.requests)
    assert asked == {"bob": 1, "ann": 2}


def test_without_a_team_the_state_is_as_it_was():
    """No name and no fences: an option that is off leaves nothing behind."""
    store = shared()
    create = calls(("TaskCreate", {"subject": "x"}, "a"))
    result = run(member(store, create, says("ok"), toolset=tasks()), "ann")
    assert set(result["todoplan"]) == {"stored", "session"}
    assert set(result["todoplan"]["session"]) == {"version", "revision", "listed", "overflow"}
    assert Planner(store, "shared").history()[-1].actor is None


def written(current, revision, held=(), now=()):
    """Return a state's value after a call that had the claims `held` before, and then `now`."""
    was, record = Record(fences=dict(held)), Record(revision=revision, fences=dict(now))
    return merge_plans(current, stored_update("p", was, record)["todoplan"])


def test_records_of_one_step_are_joined():
    """The later one counts, whole; of claims each says what its calls changed."""
    first = written({}, 1, {}, {"1": 1})
    assert stored_record(first, "p").fences == {"1": 1}
    assert stored_record(written(first, None, {}, {"2": 5}), "p").revision == 1
    both = written(first, 2, {}, {"2": 5})
    assert stored_record(both, "p").fences == {"1": 1, "2": 5}
    ended = written(both, 3, {"1": 1}, {})
    record = {"version": 1, "revision": 3, "fences": {"2": 5}}
    assert ended == {"stored": "p", "session": record}
    assert stored_record(written(ended, 2), "p").revision == 3
    assert stored_record(ended, "q").revision is None
    assert not stored_update("p", Record(revision=3), Record(revision=3))


def test_an_agent_that_has_a_name_claims_in_that():
    """Also where its threads have names of their own."""
    store = shared()
    run(member(store, calls((*NEXT, "a")), says("wait"), actor="digger"), "ann")
    run(member(store, calls((*NEXT, "b")), says("wait")), "bob")
    assert [task.claim and task.claim.owner for task in store.load("shared")][:2] == [
        "digger",
        "bob",
    ]
    assert [entry.actor for entry in store.entries("shared")][1:] == ["digger", "bob"]


ASKING = Toolbox(TASKS, DEFAULT.but(evidence_required="error"))
NAMES = ["Dig", "Lay", "Mow"]
SEED = decide(
    Plan(),
    CreateTasks(tuple(CreateTask(name, check="it holds", status="in_progress") for name in NAMES)),
    Policy(),
).unwrap()


def completes(*ids):
    return calls(*(("TaskUpdate", {"taskId": n, "status": "completed"}, f"c{n}") for n in ids))


class Looker:
    """A verifier that counts its looks, and says yes to all but some tasks."""

    def __init__(self, *but):
        self.but, self.asked, self.lock = but, [], Lock()

    def __call__(self, task, plan):
        with self.lock:
            self.asked.append(task.id)
        return task.id not in self.but, f"seen {task.subject}"

    async def awaited(self, task, plan):
        await asyncio.sleep(0)
        return self(task, plan)


def verified(verify, *script, store=None, settings=None):
    made = create_agent(
        Scripted(script=[*script]),
        middleware=[PlanMiddleware(ASKING, store=store, verify=verify, settings=settings)],
        checkpointer=InMemorySaver(),
    )
    seed_plan(made, THREAD, SEED)
    return made


def ran(made, awaited, config=None):
    """Return the state after a run."""
    config = {**THREAD, **(config or {})}
    return asyncio.run(made.ainvoke(HELLO, config)) if awaited else made.invoke(HELLO, config)


@pytest.mark.parametrize("room", [{}, {"max_concurrency": 1}])
@pytest.mark.parametrize("awaited", [False, True])
def test_calls_that_run_apart_look_once_and_agree(awaited, room):
    """Each carries those before it out again; all go by the same findings."""
    look = Looker("2")
    made = verified(look.awaited if awaited else look, completes("1", "2", "3"), says("done"))
    state = ran(made, awaited, room)
    assert sorted(look.asked) == ["1", "2", "3"]
    plan = plan_of_state(state)
    assert [task.status.value for task in plan] == ["completed", "in_progress", "completed"]
    assert [task.evidence.passed for task in plan] == [True, False, True]
    answers = [one for one in state["messages"] if one.type == "tool"]
    assert [one.status for one in answers] == ["success", "error", "success"]
    assert "did not pass (it holds): seen Lay" in answers[1].text
    assert "verified: #3" in answers[2].text
    assert len(history_of(state)) >= 3


@pytest.mark.parametrize("awaited", [False, True])
def test_a_plain_function_serves_both_ways(awaited):
    """Awaited it is called in a thread, and the loop goes on."""
    look = Looker()
    plan = plan_of_state(ran(verified(look, completes("1"), says("done")), awaited))
    assert (plan["1"].status.value, plan["1"].evidence.summary) == ("completed", "seen Dig")


@pytest.mark.parametrize("store", [None, MemoryStore()], ids=["state", "store"])
def test_an_awaited_verifier_is_refused_in_a_run_that_awaits_nothing(store):
    """It says how to run the graph."""
    made = verified(Looker().awaited, completes("1"), says("done"), store=store)
    with pytest.raises(PlanError, match="ainvoke"):
        ran(made, awaited=False)


def test_a_refusal_does_not_hide_what_a_person_did():
    """The evidence is in the plan, and what the person did is told by the next answer."""
    looks = calls(("TaskList", {}, "l"))
    silent = Settings(plan_lost=False, unfinished=0, changed=False)
    made = verified(Looker("1"), completes("1"), looks, says("done"), settings=silent)
    edit_plan(made, THREAD, CreateTask("Tell Ann"), actor="ann")
    state = ran(made, awaited=False)
    refused, listed = [one.text for one in state["messages"] if one.type == "tool"]
    assert "Tell Ann" not in refused
    assert "#4 Tell Ann created by ann" in listed
    assert plan_of_state(state)["1"].evidence.passed is False


@pytest.mark.parametrize("awaited", [False, True])
def test_tools_of_a_graph_by_hand_look_too(awaited):
    """`make_tools(verify=...)`."""
    look = Looker()
    made = by_hand(None, completes("1"), says("ok"), toolbox=ASKING, verify=look)
    seed_plan(made, THREAD, SEED)
    assert plan_of_state(ran(made, awaited))["1"].evidence.passed
    assert look.asked == ["1"]


def test_what_is_no_verifier_is_refused():
    """At once, as every other setting."""
    for make in (PlanMiddleware, make_tools):
        with pytest.raises(PlanError, match="give a function"):
            make(ASKING, verify="pytest")
