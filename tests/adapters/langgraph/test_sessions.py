"""What a session has listed and seen (law 15): no list undoes what others did."""

import pytest
from deepagents import create_deep_agent
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    TodoListMiddleware,
    wrap_model_call,
)
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command
from support.langgraph_threads import (
    EDIT,
    HELLO,
    QUIET,
    SILENT,
    THREAD,
    agent,
    by_hand,
    contents,
    entries,
    subjects,
)
from support.scripted import Scripted, calls, says, wrote

from todoplan import LEAN, TODOS, MemoryStore, Planner, Task, Todo, Toolbox, commands, plan_of
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    PlanState,
    base_of,
    command_update,
    deep_planning,
    edit_plan,
    look_update,
    make_tools,
    merge_plans,
    plan_of_state,
    plan_update,
    seed_plan,
)
from todoplan.core.commands import CreateTask, DeleteTask, UpdateTask
from todoplan.core.events.base import Base, Note
from todoplan.dialogue import WRITE_TODOS, Call, tasks
from todoplan.dialogue.guidance import is_reminder
from todoplan.errors import CodecError
from todoplan.planner.session import opened


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


@PLACES
def test_a_task_that_a_person_deleted_is_not_made_again_by_old_words(stored):
    """Nor by a later list; once a list has left it out, the same words mean a new task."""
    thread = Thread(WRITE_TODOS, stored)
    thread.writes(A, B)
    thread.edit(DeleteTask("2"))
    for _ in range(2):
        thread.writes(A, B)
        assert thread.subjects == ["a"]
    thread.writes(A)
    thread.writes(A, B)
    assert thread.lines == [A, B]


def test_another_agent_of_the_same_name_keeps_the_open_tasks_of_the_first():
    """Of two threads on one plan, neither list deletes what the other wrote."""
    thread = Thread(WRITE_TODOS, stored=True, actor="writer", plan_id="all")
    other = {"configurable": {"thread_id": "2"}}
    thread.writes(A, B)
    thread.runs(wrote(("x", "in_progress"), ("y", "pending")), config=other)
    thread.writes(("a", "completed"), B)
    thread.runs(wrote(("x", "completed")), config=other)
    assert sorted(subjects(thread.store, "all")) == ["a", "b", "x"]


def test_deep_agents_on_one_plan_keep_each_others_open_tasks():
    """A subagent may leave out what it listed itself, and not what the others listed."""
    store = MemoryStore()

    def make():
        return PlanMiddleware(store=store, plan_id="release", settings=SILENT)

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
    assert "child one" in answers(done)["3"]


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
def test_tasks_that_were_created_or_named_by_id_are_listed(stored):
    """Item by item as by a list: the session may leave them out afterwards."""
    thread = Thread(LEAN, stored)
    thread.edit(CreateTask("Ann's"))
    thread.edit(CreateTask("Bob's"))
    thread.runs(calls(("plan", {"add": ["own"]}, "1")), calls(("plan", {"start": [1]}, "2")))
    thread.toolset = WRITE_TODOS
    thread.writes(("new", "pending"))
    assert sorted(thread.subjects) == ["Bob's", "new"]


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


@PLACES
def test_a_plan_that_a_program_put_in_place_anew_is_kept(stored):
    """What the session listed before was in another plan."""
    thread = Thread(WRITE_TODOS, stored)
    thread.writes(A, B)
    seed_plan(thread.graph, THREAD, plan_of([Task("1", "new one"), Task("2", "b")]), actor="cron")
    said = thread.writes(A, B)
    assert "cron" in said
    assert {"new one", "b"} <= {*thread.subjects}


FIRST = wrote(("a", "in_progress"), ("b", "pending"), call_id="1")
SECOND = wrote(("a", "completed"), ("b", "in_progress"), call_id="2")


def edit(made, command):
    edit_plan(made, THREAD, command, actor="ann")


def answers(done):
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
    made = agent(model, settings=QUIET, checkpointer=saver, tools=[search])
    edit(made, EDIT)
    made.invoke(HELLO, THREAD)
    assert all("#3 Tell Ann created by ann" in each[-1].text for each in model.requests)


def test_a_request_without_planning_tools_is_no_look():
    """No reminder was given with it, so that the next list still undoes nothing unseen."""

    @wrap_model_call
    def without_tools(request, handler):
        return handler(request.override(tools=[]))

    saver = InMemorySaver()
    made = agent(FIRST, says("x"), settings=QUIET, checkpointer=saver)
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
    assert "#1 Tell Ann created by ann" in answers(done)["1"]


def test_parallel_calls_share_what_was_seen():
    """The first answer that is no error tells of it, whichever call that is."""
    turn = calls(
        ("TaskUpdate", {"taskId": "9", "status": "completed"}, "1"),
        ("TaskCreate", {"subject": "c"}, "2"),
        ("TaskList", {}, "3"),
    )
    made = agent(turn, says("x"), toolbox=Toolbox(tasks()))
    edit(made, EDIT)
    done = answers(made.invoke(HELLO, THREAD))
    assert ["since you last looked" in done[one] for one in "123"] == [False, True, False]
    base = base_in(made)
    assert not base.has_news(plan_of_state(made.get_state(THREAD)))
    assert base.listed == {"2"}


def test_what_a_look_has_shown_is_not_told_again():
    """A person edits while a read waits for approval: the read shows it, no reminder repeats it."""
    makes, reads = calls(("TaskCreate", {"subject": "c"}, "1")), calls(("TaskList", {}, "2"))
    model = Scripted(script=[makes, reads, says("y")])
    made = agent(model, settings=QUIET, toolbox=Toolbox(tasks()), more=[gate("TaskList")])
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
    said = answers(done)["2"]
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
    assert "#1 old created by cron" in answers(done)["1"]
    made = agent(FIRST, says("x"), SECOND, says("y"))
    done = made.invoke({**HELLO, "todos": entries(("old", "pending"))}, THREAD)
    assert sorted(subjects(done)) == ["a", "b", "old"]
    assert "not on your list, kept: #1 old" in answers(done)["1"]
    assert "old" not in answers(made.invoke(HELLO, THREAD))["2"]


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
    assert "cron's" in answers(done)["5"]


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


BOX = Toolbox(TODOS)
TOOLS = {tool.name: tool for tool in make_tools(BOX)}
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
    value, session = {}, opened({}, toolbox=BOX)
    first = [("write_todos", {"todos": entries(*((each, "pending") for each in "abc"))})]
    for number, step in enumerate([first, *steps]):
        if isinstance(step, list):
            value, told = state_after(value, step, number)
            turn = [Call(name, arguments, str(at)) for at, (name, arguments) in enumerate(step)]
            assert told == [reply.text for reply in session.answer(turn).replies]
        else:
            command, state = step(number), {"todoplan": value}
            update = command_update(state, command, actor="ann", policy=BOX.policy)[1]
            value = merge_plans(value, update.get("todoplan", {}))
            session.edit(command, actor="ann")
        lines = [(task.id, task.subject, task.status) for task in session.plan]
        plan = plan_of_state({"todoplan": value})
        assert [(task.id, task.subject, task.status) for task in plan] == lines
