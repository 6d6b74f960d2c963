"""What a session has listed and seen (law 15), with a plan in a state; plans in a store."""

import asyncio
from operator import add
from threading import Lock
from typing import Annotated, Any, TypedDict

import attrs
import pytest
from deepagents import create_deep_agent
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    TodoListMiddleware,
    wrap_model_call,
    wrap_tool_call,
)
from langchain.agents.middleware import TodoListMiddleware as LangChains
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime
from langgraph.types import Command
from support.langgraph_threads import (
    EDIT,
    HELLO,
    ROADS,
    THREAD,
    TWO,
    agent,
    answers,
    ask,
    by_hand,
    change,
    contents,
    create,
    drive,
    entries,
    subjects,
    thread,
)
from support.law_15 import TOLD
from support.scripted import Scripted, calls, says, wrote
from support.stores_sound import AsyncSound

from todoplan import (
    DEFAULT,
    TASKS,
    TODOS,
    Accepted,
    FileStore,
    MemoryStore,
    Plan,
    Planner,
    Policy,
    Task,
    Todo,
    Toolbox,
    commands,
    decide,
    plan_of,
)
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    PlanState,
    base_of,
    claude_like,
    command_update,
    deep_planning,
    edit_plan,
    history_of,
    look_update,
    make_tools,
    merge_plans,
    plan_of_state,
    plan_update,
    seed_plan,
    stored_record,
    stored_update,
)
from todoplan.core.commands import CreateTask, CreateTasks, DeleteTask, UpdateTask
from todoplan.core.events.base import Base, Note
from todoplan.dialogue import WRITE_TODOS, Call, lean, tasks
from todoplan.dialogue.guidance import is_reminder
from todoplan.errors import CodecError, PlanError, StoreError
from todoplan.planner import parallel_calls
from todoplan.planner.session import Record, opened
from todoplan.testing.adapters.host import QUIET

# -------- sessions --------


class Thread:
    """One thread with a plan, in its state or in a store, whose model writes a list in each run."""

    def __init__(self, toolset, stored, **options):
        self.toolset, self.saver = toolset, InMemorySaver()
        self.store = MemoryStore() if stored else None
        self.options = {"store": self.store, "checkpointer": self.saver, **options}
        self.graph = self.agent()

    def agent(self, *script):
        return agent(*script, toolbox=Toolbox(self.toolset), **self.options)

    def runs(self, *messages, config=THREAD):
        """Run the agent once; return the answer of the last planning call."""
        done = self.agent(*messages, says("ok")).invoke(HELLO, config)
        return [each.text for each in done["messages"] if each.type == "tool"][-1]

    def writes(self, *lines):
        return self.runs(wrote(*lines))

    def edit(self, command):
        edit(self.graph, command)

    @property
    def plan(self):
        if self.store is not None:
            return self.store.load("1")
        return plan_of_state(self.graph.get_state(THREAD))

    @property
    def lines(self):
        return [(task.subject, task.status.value) for task in self.plan]

    @property
    def subjects(self):
        return [task.subject for task in self.plan]


A, B = ("a", "in_progress"), ("b", "pending")
PLACES = pytest.mark.parametrize("stored", [False, True], ids=["state", "store"])


@PLACES
def test_a_newcomers_first_list_reopens_nothing(stored):
    """A request shows it open tasks at most: it does not know who has closed what."""
    thread = Thread(WRITE_TODOS, stored)
    thread.edit(CreateTask("Dig"))
    thread.edit(UpdateTask("1", status="completed"))
    thread.writes(("Dig", "pending"), A)
    assert thread.lines == [("Dig", "completed"), A]


def test_deep_agents_on_one_plan_keep_each_others_open_tasks():
    """A subagent may leave out what it listed itself, and not what the others listed."""
    store = MemoryStore()

    def make():
        return PlanMiddleware(store=store, plan_id="release", settings=QUIET)

    script = [
        wrote(("main one", "in_progress"), ("main two", "pending"), call_id="1"),
        calls(("task", {"description": "find", "subagent_type": "general-purpose"}, "t")),
        wrote(("child one", "in_progress"), ("child two", "pending"), call_id="1"),
        wrote(("child one", "completed"), call_id="2"),
        says("found it"),
        wrote(("main one", "completed"), ("main two", "in_progress"), call_id="3"),
        says("done"),
    ]
    given = deep_planning(make=make)
    model = Scripted(script=script)
    done = create_deep_agent(model=model, checkpointer=InMemorySaver(), **given).invoke(
        HELLO, THREAD
    )
    expected = {"main one": "completed", "main two": "in_progress", "child one": "completed"}
    assert {task.subject: task.status.value for task in store.load("release")} == expected
    assert "child one" in answers_by_id(done)["3"]


@PLACES
def test_calls_that_come_one_by_one_are_upon_what_their_turn_was_written_upon(stored):
    """A list beside a read was written before it: old words mean no change."""
    thread = Thread(TODOS, stored)
    thread.writes(A, B)
    thread.edit(UpdateTask("2", status="completed"))
    thread.edit(CreateTask("Ann's"))
    old = {"todos": entries(A, B)}
    turn = calls(("read_todos", {}, "r"), ("write_todos", old, "w"))
    said = thread.runs(turn, config={**THREAD, "max_concurrency": 1})
    assert thread.lines == [A, ("b", "completed"), ("Ann's", "pending")]
    assert "since you last looked" not in said
    # The read has shown it, so that the next list means what it says.
    assert thread.writes(A, ("b", "pending"))
    assert thread.lines[1] == ("b", "pending")


@PLACES
def test_an_agent_alone_leaves_no_record_of_what_it_listed(stored):
    """In the state there is nothing; in a store the revision. Nor does it hear of anything."""
    thread = Thread(WRITE_TODOS, stored)
    said = [thread.writes(A, B), thread.writes(("a", "completed"), ("c", "pending"))]
    value = thread.graph.get_state(THREAD).values["todoplan"]
    if stored:
        session = {"version": 1, "revision": thread.plan.revision}
        assert value == {"stored": "1", "session": session}
        assert {entry.actor for entry in Planner(thread.store, "1").history()} == {None}
    else:
        assert set(value) == {"head", "plan", "journal"}
    assert not any("kept" in text or "since" in text for text in said)


def test_a_fork_from_before_has_the_session_of_that_time():
    """The record lies in the plan's own key, and goes back with it."""
    thread = Thread(WRITE_TODOS, stored=False)
    thread.edit(CreateTask("Ann's"))
    thread.writes(A, B)
    before = thread.graph.get_state(THREAD).config
    thread.writes(("Ann's", "pending"), A, B)
    thread.writes(A, B)
    assert thread.subjects == ["a", "b"]
    forked = thread.agent(wrote(A, B), says("ok")).invoke(HELLO, before)
    assert sorted(task.subject for task in plan_of_state(forked)) == ["Ann's", "a", "b"]


FIRST = wrote(("a", "in_progress"), ("b", "pending"), call_id="1")
SECOND = wrote(("a", "completed"), ("b", "in_progress"), call_id="2")


def edit(made, command):
    edit_plan(made, THREAD, command, actor="ann")


def answers_by_id(done):
    return {m.tool_call_id: m.text for m in done["messages"] if m.type == "tool"}


def moved(saver):
    """Return the model's thread under LangChain's planner, which has written the first list."""
    planner = TodoListMiddleware()
    theirs = agent(FIRST, says("x"), planner=planner, checkpointer=saver)
    theirs.invoke(HELLO, THREAD)
    return theirs


def gate(name):
    """Return the middleware that has a person approve the calls of a tool."""
    return HumanInTheLoopMiddleware(interrupt_on={name: {"allowed_decisions": ["approve"]}})


APPROVED = Command(resume={"decisions": [{"type": "approve"}]})


def base_in(made):
    return base_of(made.get_state(THREAD).values.get("todoplan"))


def test_an_edit_of_the_list_of_langchains_planner_is_told():
    """The model has seen LangChain's list, so each request of the run tells of the edit."""

    @tool
    def search(what: str) -> str:
        """Search."""
        return f"nothing about {what}"

    saver = InMemorySaver()
    moved(saver)
    model = Scripted(script=[calls(("search", {"what": "x"}, "s")), says("y")])
    made = agent(model, settings=TOLD, checkpointer=saver, tools=[search])
    edit(made, EDIT)
    made.invoke(HELLO, THREAD)
    assert all("#3 Tell Ann created by ann" in each[-1].text for each in model.requests)


def test_a_request_without_planning_tools_is_no_look():
    """No reminder was given with it, so that the next list still undoes nothing unseen."""

    @wrap_model_call
    def without_tools(request, handler):
        return handler(request.override(tools=[]))

    saver = InMemorySaver()
    made = agent(FIRST, says("x"), settings=TOLD, checkpointer=saver)
    made.invoke(HELLO, THREAD)
    edit(made, EDIT)
    model = Scripted(script=[says("y")])
    bare = create_agent(model, middleware=[without_tools, PlanMiddleware()], checkpointer=saver)
    bare.invoke(HELLO, THREAD)
    assert len(base_in(bare).plan) == 2


def test_an_edit_while_a_call_waits_for_approval_is_kept():
    """The call was written before the edit, and carried out after it."""
    made = agent(FIRST, says("x"), more=[gate("write_todos")])
    made.invoke(HELLO, THREAD)
    edit(made, EDIT)
    done = made.invoke(APPROVED, THREAD)
    assert subjects(done) == ["a", "b", "Tell Ann"]
    assert "#1 Tell Ann created by ann" in answers_by_id(done)["1"]


def test_parallel_calls_share_what_was_seen():
    """The first answer that is no error tells of it, whichever call that is."""
    turn = calls(
        ("TaskUpdate", {"taskId": "9", "status": "completed"}, "1"),
        ("TaskCreate", {"subject": "c"}, "2"),
        ("TaskList", {}, "3"),
    )
    made = agent(turn, says("x"), toolbox=Toolbox(tasks()))
    edit(made, EDIT)
    done = answers_by_id(made.invoke(HELLO, THREAD))
    assert ["since you last looked" in done[one] for one in "123"] == [False, True, False]
    base = base_in(made)
    assert not base.has_news(plan_of_state(made.get_state(THREAD)))
    assert base.listed == {"2"}


def test_what_a_look_has_shown_is_not_told_again():
    """A person edits while a read waits for approval: the read shows it, no reminder repeats it."""
    makes, reads = calls(("TaskCreate", {"subject": "c"}, "1")), calls(("TaskList", {}, "2"))
    model = Scripted(script=[makes, reads, says("y")])
    made = agent(model, settings=TOLD, toolbox=Toolbox(tasks()), more=[gate("TaskList")])
    made.invoke(HELLO, THREAD)
    edit(made, EDIT)
    made.invoke(APPROVED, THREAD)
    assert not any(is_reminder(m.text) for request in model.requests for m in request)


@pytest.mark.parametrize("order", [("edit", "write"), ("write", "edit")])
def test_a_tool_of_the_applications_beside_the_models_call(order):
    """An edit by a tool of the same turn was not seen by that turn's list, nor by the next."""

    @tool
    def meddle(runtime: ToolRuntime) -> Command:
        """Meddle."""
        _, update = command_update(runtime.state, EDIT, actor="ann")
        said = ToolMessage("done", tool_call_id=runtime.tool_call_id)
        return Command(update={**update, "messages": [said]})

    made_calls = {
        "edit": ("meddle", {}, "m"),
        "write": ("write_todos", FIRST.tool_calls[0]["args"], "1"),
    }
    turn = calls(*(made_calls[one] for one in order))
    made = agent(turn, SECOND, says("x"), tools=[meddle])
    done = made.invoke(HELLO, THREAD)
    assert sorted(subjects(done)) == ["Tell Ann", "a", "b"]
    said = answers_by_id(done)["2"]
    assert "Tell Ann created by ann" in said.split("\n")[0]
    assert " a " not in said.split("\n")[0]


def updated(value, command, actor):
    return command_update({"todoplan": value}, command, actor=actor)[1]["todoplan"]


def test_a_graph_of_ones_own_keeps_it_over_branches_and_subgraphs():
    """What each of two branches and a subgraph did is unseen, with its actor."""

    def editing(actor):
        command = CreateTask(f"by {actor}")
        return lambda state: command_update(state, command, actor=actor)[1]

    inner = StateGraph(PlanState).add_node("cy", editing("cy")).add_edge(START, "cy").compile()
    graph = StateGraph(PlanState)
    for name, node in (("ann", editing("ann")), ("bob", editing("bob")), ("cy", inner)):
        graph.add_node(name, node).add_edge(START, name)
    state = graph.compile().invoke({"messages": []})
    base = base_of(state["todoplan"])
    assert len(base.plan) == 0
    said = {one.task.subject: one.actor for one in base.unseen(plan_of_state(state))}
    assert said == {"by ann": "ann", "by bob": "bob", "by cy": "cy"}


def answered(value, note=None):
    """Return a value once the model was answered upon it by a call that changed nothing."""
    return merge_plans(value, look_update(value["head"], note or Note(read=""))["todoplan"])


def test_a_graph_within_that_looked_has_looked():
    """It returns what its session knows; an edit elsewhere stays unseen, with its actor."""
    value = merge_plans({}, updated({}, EDIT, "ann"))
    looked = answered(value)
    plan = plan_of_state({"todoplan": looked})
    assert base_of(looked) == Base(plan, listed=frozenset())
    assert base_of(merge_plans(value, looked)) == base_of(looked)
    assert merge_plans(looked, {}) is looked
    alone = merge_plans({}, step(wrote_todos("a")))
    assert "session" not in alone
    assert merge_plans(alone, dict(alone)) is alone
    worked = merge_plans(looked, updated(looked, CreateTask("b"), "bob"))
    assert tuple(base_of(merge_plans(value, worked)).plan) == tuple(plan)
    elsewhere = merge_plans(value, updated(value, CreateTask("c"), "cy"))
    joined = merge_plans(elsewhere, {key: worked[key] for key in ("head", "plan")})
    assert not len(base_of(joined).plan)
    assert base_of(joined).actors == {"1": "ann", "3": "cy"}
    gone = merge_plans(elsewhere, updated(elsewhere, DeleteTask("1"), "di"))
    joined = merge_plans(gone, {key: worked[key] for key in ("head", "plan")})
    assert base_of(joined).actors == {"1": "di", "3": "cy"}


def test_a_join_keeps_what_both_sides_have_listed():
    """Under the ids that the tasks have after the join; a person's task is not listed."""
    value = answered(merge_plans({}, updated({}, EDIT, "ann")))
    here = merge_plans(value, step(wrote_todos("here"), value))
    within = merge_plans(value, step(wrote_todos("within", call_id="w"), value))
    joined = merge_plans(here, dict(within))
    plan, base = plan_of_state({"todoplan": joined}), base_of(joined)
    assert sorted(task.subject for task in plan) == ["Tell Ann", "here", "within"]
    assert base.listed == {task.id for task in plan if task.subject != "Tell Ann"}


def invoked(tool, state, call_id, arguments):
    """Return the update by a call of a model that is in the last message of a state."""
    given = {"context": None, "config": {}, "stream_writer": None, "store": None}
    runtime = ToolRuntime(state=state, tool_call_id=call_id, **given)
    call = {"name": tool.name, "args": {**arguments, "runtime": runtime}, "id": call_id}
    return tool.invoke({**call, "type": "tool_call"}).update


def step(message, value=None):
    """Return the update by a list of a model upon a value."""
    (call,) = message.tool_calls
    state = {"todoplan": value or {}, "messages": [message]}
    return invoked(make_tools()[0], state, call["id"], call["args"])["todoplan"]


def wrote_todos(*contents, call_id="h"):
    """Return a message that writes a list."""
    return wrote(*((content, "pending") for content in contents), call_id=call_id)


def test_an_answer_upon_an_older_version_shows_nothing_new():
    """What another branch did meanwhile is unseen; a line that was written is listed."""
    value = answered(merge_plans({}, updated({}, EDIT, "ann")))
    newer = merge_plans(value, updated(value, CreateTask("b"), "bob"))
    late = look_update(value["head"], Note((("1", Todo("Tell Ann")),)))["todoplan"]
    base = base_of(merge_plans(newer, late))
    assert [one.task.subject for one in base.unseen(plan_of_state({"todoplan": newer}))] == ["b"]
    assert base.listed == {"1"}
    assert merge_plans(newer, {}) is newer


def test_what_is_gone_is_told_in_the_order_that_it_had():
    """Also where it went one by one, and each edit wrote the record anew."""
    value = merge_plans({}, step(wrote_todos("a", "b", "c")))
    for task_id in "12":
        value = merge_plans(value, updated(value, DeleteTask(task_id), "ann"))
    assert [task.subject for task in base_of(value).plan] == ["a", "b", "c"]
    value = merge_plans({}, step(wrote_todos("a", "b", "c")))
    value = merge_plans(value, updated(value, commands.MoveTask("3", before="1"), "ann"))
    assert [task.subject for task in base_of(value).plan] == ["a", "b", "c"]


def test_a_plan_that_is_replaced_is_unseen_also_at_the_same_revision():
    """`plan_update` takes a plan as it is, with its revision."""
    value = merge_plans({}, step(wrote_todos("a")))
    other = plan_of([Task("1", "b")], revision=plan_of_state({"todoplan": value}).revision)
    base = base_of(merge_plans(value, plan_update(other, actor="cron")["todoplan"]))
    assert [task.subject for task in base.plan] == ["a"]
    assert base.actors == {"1": "cron"}


def test_a_seeded_plan_and_a_list_that_a_program_passed_in_are_not_listed():
    """A list without their tasks keeps them, and the answer says so."""
    seeded = plan_of([Task("1", "old")])
    made = agent(FIRST, says("x"))
    seed_plan(made, THREAD, seeded, actor="cron")
    done = made.invoke(HELLO, THREAD)
    assert subjects(done) == ["a", "b", "old"]
    assert "#1 old created by cron" in answers_by_id(done)["1"]
    made = agent(FIRST, says("x"), SECOND, says("y"))
    done = made.invoke({**HELLO, "todos": entries(("old", "pending"))}, THREAD)
    assert sorted(subjects(done)) == ["a", "b", "old"]
    assert "not on your list, kept: #1 old" in answers_by_id(done)["1"]
    assert "old" not in answers_by_id(made.invoke(HELLO, THREAD))["2"]


@PLACES
def test_what_langchains_planner_wrote_in_the_thread_counts_as_listed(stored):
    """A list may leave out what the conversation wrote, not what a program put beside it."""
    saver = InMemorySaver()
    theirs = moved(saver)
    beside = [*theirs.get_state(THREAD).values["todos"], *entries(("cron's", "pending"))]
    theirs.update_state(THREAD, {"todos": beside})
    script = wrote(("a", "completed"), call_id="5"), says("y")
    made = agent(*script, store=MemoryStore() if stored else None, checkpointer=saver)
    done = made.invoke(HELLO, THREAD)
    assert sorted(contents(done)) == ["a", "cron's"]
    assert "cron's" in answers_by_id(done)["5"]


def test_a_hand_written_graph_takes_over_a_list_with_its_first_call():
    """A line that a program seeded stays, and what the session knows is kept from then on."""

    class Listed(PlanState):
        todos: list

    made = by_hand(SECOND, says("y"), state=Listed)
    listed = entries(("old", "pending"), ("a", "pending"))
    done = made.invoke({**HELLO, "todos": listed}, THREAD)
    assert sorted(subjects(done)) == ["a", "b", "old"]
    assert base_of(done["todoplan"]).listed == {"2", "3"}


def test_an_edit_of_a_list_that_is_not_a_plan_yet():
    """The list is what was there: only the edit is told of."""
    _, update = command_update({"todos": entries(("old", "pending"))}, EDIT, actor="ann")
    value = merge_plans({}, update["todoplan"])
    assert [task.subject for task in base_of(value).plan] == ["old"]


@pytest.mark.parametrize("damaged", [{"session": "x"}, {"session": {"version": 9}}, {"base": "x"}])
def test_a_damaged_record_is_an_error(damaged):
    """It is never taken for none: work would be undone."""
    value = merge_plans({}, step(wrote_todos("a")))
    with pytest.raises(CodecError):
        base_of({**value, **damaged})
    with pytest.raises(CodecError):
        merge_plans({"stored": "p", "session": damaged}, {"stored": "p", "session": {}})


LISTS = Toolbox(TODOS)
TOOLS = {tool.name: tool for tool in make_tools(LISTS)}
# No two tasks of one text: where equal lines stand for equal tasks, the place of one that is gone
# would count, and a record does not keep it.
WORDS = st.sampled_from(["a", "b", "c", "d", "Ann's 2", "Ann's 3", "renamed 2", "renamed 3"])
STATUSES = st.sampled_from(["pending", "in_progress", "completed", "cancelled"])
LINES = st.lists(st.tuples(WORDS, STATUSES), unique_by=lambda line: line[0], min_size=1, max_size=5)
IDS = st.integers(1, 6).map(str)


WRITES = LINES.map(lambda lines: ("write_todos", {"todos": entries(*lines)}))
READS = st.just(("read_todos", {}))
TURNS = st.one_of(
    WRITES.map(lambda write: [write]),
    READS.map(lambda read: [read]),
    WRITES.map(lambda write: [("read_todos", {}), write]),
    WRITES.map(lambda write: [write, ("read_todos", {})]),
)
EDITS = st.one_of(
    st.just(lambda number: CreateTask(f"Ann's {number}")),
    IDS.map(lambda task: lambda number: UpdateTask(task, subject=f"renamed {number}")),
    st.builds(lambda task, status: lambda _: UpdateTask(task, status=status), IDS, STATUSES),
    IDS.map(lambda task: lambda _: DeleteTask(task)),
)


def state_after(value, turn, number):
    """Return the value after the calls of a turn, which all see the one before, and the answers."""
    made = [(name, arguments, f"{number}-{at}") for at, (name, arguments) in enumerate(turn)]
    state = {"todoplan": value, "messages": [calls(*made, id=f"m{number}")]}
    told, after = [], value
    for name, arguments, call_id in made:
        update = invoked(TOOLS[name], state, call_id, arguments)
        told.append(update["messages"][0].text)
        after = merge_plans(after, update.get("todoplan", {}))
    return after, told


@given(st.lists(st.one_of(TURNS, EDITS), max_size=8))
def test_a_session_in_a_state_is_that_of_a_slot(steps):
    """The same lists, reads and edits by a person: equal plans, equal replies."""
    value, session = {}, opened({}, toolbox=LISTS)
    first = [("write_todos", {"todos": entries(*((each, "pending") for each in "abc"))})]
    for number, step in enumerate([first, *steps]):
        if isinstance(step, list):
            value, told = state_after(value, step, number)
            turn = [Call(name, arguments, str(at)) for at, (name, arguments) in enumerate(step)]
            assert told == [reply.text for reply in session.answer(turn).replies]
        else:
            command, state = step(number), {"todoplan": value}
            update = command_update(state, command, actor="ann", policy=LISTS.policy)[1]
            value = merge_plans(value, update.get("todoplan", {}))
            session.edit(command, actor="ann")
        lines = [(task.id, task.subject, task.status) for task in session.plan]
        plan = plan_of_state({"todoplan": value})
        assert [(task.id, task.subject, task.status) for task in plan] == lines


# -------- store --------


BOX = Toolbox(TASKS)


def tools(store, toolbox=BOX, **given):
    return make_tools(toolbox, store=store, **given)


@ROADS
def test_the_plan_is_in_the_store_and_its_list_in_the_state(is_async, tmp_path):
    """What a person did between two runs is in `todos` once the model was asked again."""
    store = FileStore(tmp_path / "plans.json")
    listed = ("a", "in_progress"), ("b", "pending")
    made = agent(wrote(*listed), says("1"), says("2"), store=store)
    assert drive(made, is_async=is_async)["todos"] == entries(*listed)
    assert subjects(store) == ["a", "b"]
    assert [entry.cause for entry in store.entries("1")] == ["write_todos"]
    edit_plan(made, THREAD, EDIT)
    assert contents(drive(made, is_async=is_async)) == ["a", "b", "Tell Ann"]


@ROADS
def test_a_node_that_is_run_again_writes_once(is_async):
    """A call beside ours asks a person, and the node runs again: ours is not done twice."""
    store = MemoryStore()
    both = calls(("TaskCreate", {"subject": "a"}, "1"), ("ask", {"question": "?"}, "2"))
    made = by_hand(both, says("done"), tools=[*tools(store), ask])
    drive(made, is_async=is_async)
    assert subjects(store) == ["a"]
    result = drive(made, Command(resume="yes"), is_async=is_async)
    assert subjects(store) == ["a"]
    assert answers(result) == ["0/1: #1 created", "yes"]


@wrap_tool_call
async def refusing(request, handler):
    """Refuse one call at the last moment, as a person does who approves calls one by one."""
    if request.tool_call["id"] == "b":
        return ToolMessage("Not that one.", tool_call_id="b", status="error")
    return await handler(request)


def test_a_call_that_is_refused_at_the_last_moment_is_not_carried_out_by_another(monkeypatch):
    """The calls beside it are, in their order, once it is clear that it does not come."""
    monkeypatch.setattr(parallel_calls, "_PATIENCE_SECONDS", 0.05)
    store = MemoryStore()
    script = create("a", "b", "c"), says("done")
    told = answers(drive(agent(*script, toolbox=BOX, store=store, more=[refusing]), is_async=True))
    assert subjects(store) == ["a", "c"]
    assert told == ["0/1: #1 created", "Not that one.", "0/2: #2 created"]


def test_where_calls_cannot_run_at_once_none_waits_for_another(monkeypatch):
    """They come in order; a newcomer's list has what they made, and not what was there before."""
    monkeypatch.setattr(parallel_calls, "_PATIENCE_SECONDS", 3600)
    store, one_by_one = MemoryStore(), {**THREAD, "max_concurrency": 1}
    Planner(store, "1").apply(EDIT, actor="ann")
    done = by_hand(create("a", "b"), says("done"), tools=tools(store)).invoke(HELLO, one_by_one)
    assert subjects(store) == ["Tell Ann", "a", "b"]
    assert done["todoplan"]["session"]["listed"] == [[2, 3]]
    empty = by_hand(create("a", "b"), says("done"), tools=tools(MemoryStore()))
    assert "listed" not in empty.invoke(HELLO, one_by_one)["todoplan"]["session"]


def test_the_same_call_in_a_message_without_an_id_is_another_one():
    """Without ids of messages nothing says whether a call was made before: each counts."""

    class Plain(TypedDict):
        messages: Annotated[list[Any], add]
        todoplan: Annotated[dict[str, Any], merge_plans]

    store = MemoryStore()
    turn = [AIMessage("", tool_calls=create("a").tool_calls)]
    graph = StateGraph(Plain).add_node("model", lambda _: {"messages": turn})
    graph.add_node("tools", ToolNode(tools(store))).add_edge(START, "model")
    made = graph.add_edge("model", "tools").compile(checkpointer=InMemorySaver())
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
    made = by_hand(*script, tools=tools(store, None, plan_id="shared"))
    assert "#2 Tell Ann created by ann" in answers(made.invoke(HELLO, THREAD))[1]
    assert subjects(store, "shared") == ["a", "Tell Ann"]


@ROADS
def test_a_thread_that_has_a_plan_hands_it_over_once(is_async):
    """With what is unseen; the state then has no plan, and an agent without the store is told."""
    saver, store = InMemorySaver(), MemoryStore()
    before = agent(wrote(("a", "pending"), ("b", "pending")), says("ok"), checkpointer=saver)
    drive(before, is_async=is_async)
    edit_plan(before, THREAD, EDIT, actor="ann")
    script = wrote(("a", "completed"), ("b", "pending"), call_id="2"), says("done")
    made = agent(*script, store=store, checkpointer=saver)
    assert "#3 Tell Ann" in answers(drive(made, is_async=is_async))[-1]
    assert subjects(store) == ["a", "b", "Tell Ann"]
    for wrong in (
        lambda: plan_of_state(made.get_state(THREAD)),
        lambda: history_of(made.get_state(THREAD)),
        lambda: drive(before, is_async=is_async),
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
    seed_plan(agent(checkpointer=saver), THREAD, TWO)
    made = agent(says("done"), store=store, checkpointer=saver)
    change("edit", made, EDIT, is_async=is_async)
    drive(made, is_async=is_async)
    assert subjects(store) == ["a", "b", "Tell Ann"]


@ROADS
@pytest.mark.parametrize("before", ["plan", "list", "LangChain's list"])
def test_what_a_thread_has_and_another_plan_in_the_store_are_not_mixed(before, is_async):
    """Neither is lost: the developer is told, and may give up what the thread has."""
    saver, store = InMemorySaver(), MemoryStore()
    theirs = agent(wrote(("a", "pending")), says("x"), planner=LangChains(), checkpointer=saver)
    given, dropped = HELLO, {**HELLO, "todos": []}
    if before == "plan":
        seed_plan(agent(checkpointer=saver), THREAD, TWO)
    elif before == "list":
        given = {**HELLO, "todos": entries(("a", "pending"))}
    else:
        theirs.invoke(HELLO, THREAD)
    Planner(store, "1").apply(EDIT)
    made = agent(says("done"), store=store, checkpointer=saver)
    kind = "plan" if before == "plan" else "list of todos"
    with pytest.raises(PlanError, match=rf"{kind} in its state.*another plan under '1'.*plan_id="):
        drive(made, given, is_async=is_async)
    assert subjects(store) == ["Tell Ann"]
    if before == "plan":
        edit_plan(agent(checkpointer=saver), THREAD, commands.ClearPlan())
        dropped = HELLO
    else:
        assert contents(made.get_state(THREAD).values) == ["a"]
        with pytest.raises(PlanError, match="give the plan_id= of a new plan"):
            edit_plan(made, THREAD, EDIT)
    assert contents(drive(made, dropped, is_async=is_async)) == ["Tell Ann"]
    assert subjects(store) == ["Tell Ann"]


@ROADS
def test_a_list_that_is_passed_in_begins_the_plan(is_async):
    """If the store has no plan yet; a thread's id may be a number."""
    store, listed = MemoryStore(), entries(("a", "pending"))
    made, given = agent(says("1"), store=store), {**HELLO, "todos": listed}
    assert drive(made, given, thread(2), is_async=is_async)["todos"] == listed
    assert subjects(store, "2") == ["a"]


@ROADS
@pytest.mark.parametrize("kept", [None, MemoryStore])
def test_the_calls_of_an_agent_stand_under_its_name(kept, is_async):
    """In the journal of a store, and of the state, whatever the agent is made of."""
    store = kept and kept()
    made = agent(wrote(("a", "pending")), says("ok"), store=store, actor="writer")
    result = drive(made, is_async=is_async)
    journal = store.entries("1") if store else history_of(result)
    assert [entry.actor for entry in journal] == ["writer"]


@ROADS
def test_a_plan_can_be_seeded_and_needs_no_checkpointer(is_async):
    """With an id given, there need be no thread; other agents work on the same plan."""
    store = MemoryStore()
    planner = claude_like(store=store, plan_id="release", settings=QUIET)
    made = agent(says("hi"), planner=planner, checkpointer=None)
    change("seed", made, TWO, config={}, is_async=is_async, actor="cron")
    assert contents(drive(made, HELLO, {}, is_async=is_async)) == ["a", "b"]
    assert [(each.actor, each.cause) for each in store.entries("release")] == [("cron", "restore")]


@pytest.mark.parametrize(("plan_id", "found"), [(None, ["outer"]), ("all", ["outer", "inner"])])
def test_an_agent_within_an_agent_has_a_plan_of_its_own_or_shares_the_given_one(plan_id, found):
    """Its thread is its caller's, and its plan is not, unless an id says so."""
    store = MemoryStore()
    planner = PlanMiddleware(BOX, settings=QUIET, store=store, plan_id=plan_id)
    inner = agent(create("inner"), says("done"), planner=planner, checkpointer=None)

    @tool
    def delegate() -> str:
        """Delegate."""
        return inner.invoke(HELLO)["messages"][-1].text

    script = create("outer"), calls(("delegate", {}, "d")), says("done")
    agent(*script, planner=planner, tools=[delegate]).invoke(HELLO, THREAD)
    assert subjects(store, plan_id or "1") == found
    assert len(store._plans) == (1 if plan_id else 2)


def test_an_agent_as_a_node_leaves_its_callers_mark_and_list_alone(caplog):
    """What it hands back is its own plan's; its caller's `todos` are none of that plan."""
    store = MemoryStore()
    model = Scripted(script=[create("own")])
    graph = StateGraph(PlanState).add_node("tools", ToolNode(tools(store)))
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    inner = agent(create("inner"), says("x"), toolbox=BOX, store=store, checkpointer=None)
    graph.add_node("inner", inner).add_edge(START, "model").add_edge("model", "tools")
    made = graph.add_edge("tools", "inner").compile(checkpointer=InMemorySaver())
    assert made.invoke(HELLO, THREAD)["todoplan"]["stored"] == "1"
    assert subjects(store) == ["own"]

    class Around(MessagesState):
        todos: list[Any]

    Planner(store, "inner's").apply(CreateTask("kept"))
    given = {"toolbox": BOX, "store": store, "plan_id": "inner's", "checkpointer": None}
    inner = agent(create("own"), says("done"), **given)
    around = StateGraph(Around).add_node("inner", inner).add_edge(START, "inner")
    around.compile().invoke({**HELLO, "todos": entries(("theirs", "pending"))})
    assert subjects(store, "inner's") == ["kept", "own"]
    assert "todos of the outer graph are ignored" in caplog.text


def test_an_asynchronous_store_serves_the_asynchronous_road():
    """The other one says what to do."""
    store = MemoryStore()
    made = agent(create("a"), says("done"), toolbox=BOX, store=AsyncSound(store))
    drive(made, is_async=True)
    change("edit", made, EDIT, is_async=True)
    assert subjects(store) == ["a", "Tell Ann"]
    with pytest.raises(PlanError, match="aedit_plan"):
        edit_plan(made, THREAD, EDIT)


class Failing(MemoryStore):
    """A store that fails the first append."""

    has_failed = False

    def append(self, *given):
        if not self.has_failed:
            self.has_failed = True
            msg = "no room"
            raise StoreError(msg)
        return super().append(*given)


@ROADS
def test_a_call_that_the_store_refused_is_carried_out_when_the_run_goes_on(is_async):
    """It was not answered, so it is not remembered either; calls beside it fail with it."""
    store = Failing()
    made = agent(create("a", "b"), says("done"), toolbox=BOX, store=store)
    with pytest.raises(StoreError, match="no room"):
        drive(made, is_async=is_async)
    assert drive(made, None, is_async=is_async)["messages"][-1].text == "done"
    assert subjects(store) == ["a", "b"]


# -------- teams --------

NEXT = ("plan", {"next": True})


def member(store, *script, toolset=None, **options):
    """Return an agent of the team, on the plan "shared"."""
    toolbox = Toolbox(toolset or lean(team=True))
    return agent(*script, toolbox=toolbox, store=store, plan_id="shared", **options)


def shared(*names):
    """Return a store with a plan of these tasks, by default of three."""
    store, named = MemoryStore(), enumerate(names or ("Dig", "Lay", "Sow"), 1)
    Planner(store, "shared").restore(plan_of([Task(str(n), name) for n, name in named]))
    return store


def owners(store):
    return [task.claim and task.claim.owner for task in store.load("shared")]


@ROADS
def test_two_agents_share_a_plan(is_async):
    """Each claims, works and completes; the fence is kept in the state of its thread."""
    store = shared()
    first = member(store, calls((*NEXT, "a")), says("wait"))
    claimed = answers(drive(first, config=thread("ann"), is_async=is_async))
    assert claimed == ["0/3: #1 claimed (fence 1): Dig"]
    work = [calls((*NEXT, "b")), calls(("plan", {"done": [2, 1]}, "c"))]
    work += [calls(("plan", {"done": [2], "next": True}, "d")), says("wait")]
    told = answers(drive(member(store, *work), config=thread("bob"), is_async=is_async))
    assert told[0] == "0/3: #2 claimed (fence 1): Lay"
    assert "Task 1 is claimed by ann" in told[1]
    assert told[2] == "1/3: #2 completed; #3 claimed (fence 1): Sow"
    assert owners(store) == ["ann", None, "bob"]


def test_an_agent_that_has_a_name_claims_in_that():
    """Also where its threads have names of their own; without a thread it needs a name."""
    store = shared()
    for config, actor in ((thread("ann"), "digger"), (thread("bob"), None), (None, "sower")):
        made = member(store, calls((*NEXT, "a")), says("x"), actor=actor, checkpointer=None)
        made.invoke(HELLO, config)
    assert owners(store) == ["digger", "bob", "sower"]
    assert [entry.actor for entry in store.entries("shared")][1:] == ["digger", "bob", "sower"]
    with pytest.raises(PlanError, match="no thread_id, which names the agent"):
        member(store, calls((*NEXT, "a")), says("x"), checkpointer=None).invoke(HELLO)


def test_a_thread_that_is_resumed_goes_on_with_its_task():
    """Another process has the checkpoint, and with it the fence; a thread of that name has not."""
    store, saver, ann = shared(), InMemorySaver(), thread("ann")
    first = member(store, calls((*NEXT, "a")), says("wait"), checkpointer=saver).invoke(HELLO, ann)
    assert first["todoplan"]["session"]["fences"] == {"1": 1}
    done = [calls(("plan", {"done": [1]}, "b")), says("done")]
    assert "claimed by ann" in answers(member(store, *done).invoke(HELLO, ann))[0]
    again = member(store, *done, checkpointer=saver).invoke(HELLO, ann)
    assert answers(again)[-1] == "1/3: #1 completed"
    assert "fences" not in again["todoplan"]["session"]


def test_calls_of_one_turn_claim_beside_each_other():
    """Two tasks in one turn, then one of them closed: what is held is what is left."""
    store = shared()
    both = calls(("TaskClaim", {"taskId": 1}, "a"), ("TaskClaim", {}, "b"))
    made = member(store, both, completes("1"), says("wait"), toolset=tasks(team=True))
    assert made.invoke(HELLO, THREAD)["todoplan"]["session"]["fences"] == {"2": 1}
    assert store.load("shared").counts.completed == 1


def test_an_answer_stands_over_a_task_that_another_agent_works_on():
    """Over a task of its own it is sent back: the claim is kept in the state of its thread."""
    store, saver, asked = shared("Dig"), InMemorySaver(), {}
    first = member(store, calls((*NEXT, "a")), says("wait"), checkpointer=saver)
    first.invoke(HELLO, thread("ann"))
    for name in ("bob", "ann"):
        model = Scripted(script=[says("ok"), says("ok")])
        given = {"settings": attrs.evolve(QUIET, unfinished=1), "checkpointer": saver}
        member(store, model, **given).invoke(HELLO, thread(name))
        asked[name] = len(model.requests)
    assert asked == {"bob": 1, "ann": 2}


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
    assert ended == {"stored": "p", "session": {"version": 1, "revision": 3, "fences": {"2": 5}}}
    assert stored_record(written(ended, 2), "p").revision == 3
    assert stored_record(ended, "q").revision is None
    assert not stored_update("p", Record(revision=3), Record(revision=3))


# -------- evidence --------

ASKING = Toolbox(TASKS, DEFAULT.but(evidence_required="error"))
SEED = decide(
    Plan(),
    CreateTasks(
        tuple(
            CreateTask(name, check="it holds", status="in_progress")
            for name in ("Dig", "Lay", "Mow")
        )
    ),
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


def verified(verify, *script, store=None):
    planner = PlanMiddleware(ASKING, store=store, verify=verify, settings=QUIET)
    made = agent(*script, says("done"), planner=planner)
    seed_plan(made, THREAD, SEED)
    return made


@pytest.mark.parametrize("room", [{}, {"max_concurrency": 1}])
@ROADS
def test_calls_that_run_apart_look_once_and_agree(is_async, room):
    """Each carries those before it out again; all go by the same findings."""
    look = Looker("2")
    made = verified(look.awaited if is_async else look, completes("1", "2", "3"))
    state = drive(made, HELLO, {**THREAD, **room}, is_async=is_async)
    assert sorted(look.asked) == ["1", "2", "3"]
    plan = plan_of_state(state)
    assert [task.status.value for task in plan] == ["completed", "in_progress", "completed"]
    assert [task.evidence.passed for task in plan] == [True, False, True]
    told = [one for one in state["messages"] if one.type == "tool"]
    assert [one.status for one in told] == ["success", "error", "success"]
    assert "did not pass (it holds): seen Lay" in told[1].text
    assert "verified: #3" in told[2].text
    assert len(history_of(state)) >= 3


@pytest.mark.parametrize("store", [None, MemoryStore()], ids=["state", "store"])
def test_an_awaited_verifier_is_refused_in_a_run_that_awaits_nothing(store):
    """It says how to run the graph."""
    with pytest.raises(PlanError, match="ainvoke"):
        verified(Looker().awaited, completes("1"), store=store).invoke(HELLO, THREAD)


@ROADS
def test_tools_of_a_graph_by_hand_look_too(is_async):
    """`make_tools(verify=...)`; a plain function serves both roads."""
    look = Looker()
    made = by_hand(completes("1"), says("ok"), tools=tools(None, ASKING, verify=look))
    seed_plan(made, THREAD, SEED)
    task = plan_of_state(drive(made, is_async=is_async))["1"]
    assert (task.status.value, task.evidence.summary) == ("completed", "seen Dig")
    assert look.asked == ["1"]
