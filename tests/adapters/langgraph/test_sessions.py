"""A list drops only what its session has listed (law 15): real agents, by state and by store."""

import asyncio

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from support.scripted import Scripted, calls, says, wrote

from todoplan import LEAN, MemoryStore, Planner, plan_of
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    aedit_plan,
    deep_planning,
    edit_plan,
    plan_of_state,
    seed_plan,
)
from todoplan.core import commands
from todoplan.core.plan.model import Task
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS, WRITE_TODOS, tasks
from todoplan.stores import SqliteStore

HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}
SILENT = Settings(plan_lost=False, unfinished=0, changed=False)


def written(toolset, *lines):
    """
    Return a message that writes a list of (content, status) with the tool of a set.
    """
    if toolset is LEAN:
        return calls(("plan", {"write": [content for content, _ in lines]}, "w"))
    return wrote(*lines, call_id="w")


class Thread:
    """
    One thread with a plan, in its state or in a store, whose model writes a list in each run.
    """

    def __init__(self, toolset, stored, *, is_async=False, **options):
        self.toolset, self.is_async, self.saver = toolset, is_async, InMemorySaver()
        self.store = MemoryStore() if stored else None
        self.options = {"settings": SILENT, "store": self.store, **options}
        self.graph = self.agent()

    def agent(self, *script):
        planner = PlanMiddleware(Toolbox(self.toolset), **self.options)
        model = Scripted(script=[*script])
        return create_agent(model, middleware=[planner], checkpointer=self.saver)

    def runs(self, *messages, config=THREAD):
        """
        Run the agent once; return the answer of the last planning call.
        """
        graph = self.agent(*messages, says("ok"))
        if self.is_async:
            done = asyncio.run(graph.ainvoke(HELLO, config))
        else:
            done = graph.invoke(HELLO, config)
        return next(each for each in reversed(done["messages"]) if each.type == "tool").text

    def writes(self, *lines):
        return self.runs(written(self.toolset, *lines))

    def edit(self, command, actor="ann"):
        if self.is_async:
            asyncio.run(aedit_plan(self.graph, THREAD, command, actor=actor))
        else:
            edit_plan(self.graph, THREAD, command, actor=actor)

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
FORMS = pytest.mark.parametrize(
    "toolset", [WRITE_TODOS, TODOS, LEAN], ids=["write", "todos", "lean"]
)
PLACES = pytest.mark.parametrize("stored", [False, True], ids=["state", "store"])
ROADS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@PLACES
@FORMS
@ROADS
def test_a_newcomers_first_list_removes_nothing(toolset, stored, is_async):
    """
    A person has a task in the plan before the model writes its first list.
    """
    thread = Thread(toolset, stored, is_async=is_async)
    thread.edit(commands.CreateTask("Ann's task"))
    said = thread.writes(A, B)
    assert sorted(thread.subjects) == ["Ann's task", "a", "b"]
    assert "Ann's task" in said
    assert "removed" not in said


@PLACES
def test_a_newcomers_first_list_reopens_nothing(stored):
    """
    A request shows it open tasks at most: it does not know who has closed what.
    """
    thread = Thread(WRITE_TODOS, stored)
    thread.edit(commands.CreateTask("Dig"))
    thread.edit(commands.UpdateTask("1", status="completed"))
    thread.writes(("Dig", "pending"), A)
    assert thread.lines == [("Dig", "completed"), A]


@PLACES
@FORMS
def test_a_persons_task_stays_however_often_a_list_leaves_it_out(toolset, stored):
    """
    The answer says so once, and not again.
    """
    thread = Thread(toolset, stored)
    thread.writes(A, B)
    thread.edit(commands.CreateTask("Changelog"))
    said = [thread.writes(A, B), thread.writes(("a", "completed"), B)]
    if toolset is LEAN:  # its lists have no statuses, and leave out no open task
        thread.runs(calls(("plan", {"done": [1]}, "d")))
    said.append(thread.writes(B))
    assert ["Changelog" in text for text in said] == [True, False, False]
    # What the session did list is its own to leave out.
    assert sorted(thread.subjects) == ["Changelog", "b"]


@PLACES
@FORMS
@ROADS
def test_old_words_of_a_task_still_mean_it(toolset, stored, is_async):
    """
    A person rewords a task, another one is closed: the list that repeats the old words makes no
    second task, undoes neither, and does so the third time as well.
    """
    thread = Thread(toolset, stored, is_async=is_async)
    thread.writes(A, ("Fix", "pending"), ("Go", "pending"))
    thread.edit(commands.UpdateTask("2", subject="Fix on main"))
    thread.edit(commands.UpdateTask("3", status="cancelled"))
    for _ in range(3):
        thread.writes(A, ("Fix", "pending"), ("Go", "pending"))
        assert thread.lines == [A, ("Fix on main", "pending"), ("Go", "cancelled")]
    if toolset is not LEAN:  # its lines have no status
        thread.writes(A, ("Fix", "completed"))
        assert thread.lines[1] == ("Fix on main", "completed")


@PLACES
def test_a_task_that_a_person_deleted_is_not_made_again_by_old_words(stored):
    """
    Nor by a later list; once a list has left it out, the same words mean a new task.
    """
    thread = Thread(WRITE_TODOS, stored)
    thread.writes(A, B)
    thread.edit(commands.DeleteTask("2"))
    for _ in range(2):
        thread.writes(A, B)
        assert thread.subjects == ["a"]
    thread.writes(A)
    thread.writes(A, B)
    assert thread.lines == [A, B]


@PLACES
def test_another_agent_of_the_same_name_keeps_the_open_tasks_of_the_first(stored):
    """
    Two threads, one plan: neither list deletes what the other one wrote. In the state each thread
    has a plan of its own.
    """
    thread = Thread(WRITE_TODOS, stored, actor="writer", **({"plan_id": "all"} if stored else {}))
    other = {"configurable": {"thread_id": "2"}}
    thread.writes(A, B)
    thread.runs(wrote(("x", "in_progress"), ("y", "pending")), config=other)
    thread.writes(("a", "completed"), B)
    thread.runs(wrote(("x", "completed")), config=other)
    if stored:
        found = [task.subject for task in thread.store.load("all")]
        assert sorted(found) == ["a", "b", "x"]
    else:
        assert thread.subjects == ["a", "b"]


def shared_script(name):
    """
    The main agent writes, delegates, and writes again; the subagent writes twice.
    """
    return [
        wrote(("main one", "in_progress"), ("main two", "pending"), call_id="1"),
        calls(("task", {"description": "find out", "subagent_type": name}, "t")),
        wrote(("child one", "in_progress"), ("child two", "pending"), call_id="1"),
        wrote(("child one", "completed"), call_id="2"),
        says("found it"),
        wrote(("main one", "completed"), ("main two", "in_progress"), call_id="3"),
        says("done"),
    ]


@pytest.mark.parametrize("actor", [None, "lead"])
def test_deep_agents_on_one_plan_keep_each_others_open_tasks(actor):
    """
    With `write_todos` and one `plan_id`, named or not. What a subagent itself listed it may leave
    out; what the others listed it may not.
    """
    store = MemoryStore()

    def make(actor=None):
        return PlanMiddleware(store=store, plan_id="release", settings=SILENT, actor=actor)

    model = Scripted(script=shared_script("general-purpose"))
    given = deep_planning(make=make, actor=actor)
    agent = create_deep_agent(model=model, checkpointer=InMemorySaver(), **given)
    done = agent.invoke(HELLO, THREAD)
    expected = {"main one": "completed", "main two": "in_progress", "child one": "completed"}
    assert {task.subject: task.status.value for task in store.load("release")} == expected
    last = [each for each in done["messages"] if each.type == "tool"][-1].text
    assert "child one" in last


@PLACES
def test_calls_that_come_one_by_one_are_upon_what_their_turn_was_written_upon(stored):
    """
    Where there is room for one call at a time, a list beside a read is still written before it: its
    old words mean no change, and what it left out stays.
    """
    thread = Thread(TODOS, stored)
    thread.writes(A, B)
    thread.edit(commands.UpdateTask("2", status="completed"))
    thread.edit(commands.CreateTask("Ann's"))
    old = {"todos": [{"content": c, "status": s} for c, s in (A, B)]}
    turn = calls(("read_todos", {}, "r"), ("write_todos", old, "w"))
    said = thread.runs(turn, config={**THREAD, "max_concurrency": 1})
    assert thread.lines == [A, ("b", "completed"), ("Ann's", "pending")]
    assert "since you last looked" not in said
    # The read has shown it, so that the next list means what it says.
    assert thread.writes(A, ("b", "pending"))
    assert thread.lines[1] == ("b", "pending")


@PLACES
def test_tasks_that_were_created_or_named_by_id_are_listed(stored):
    """
    Item by item as by a list: the session may leave them out afterwards.
    """
    thread = Thread(LEAN, stored)
    thread.edit(commands.CreateTask("Ann's"))
    thread.edit(commands.CreateTask("Bob's"))
    thread.runs(calls(("plan", {"add": ["own"]}, "1")), calls(("plan", {"start": [1]}, "2")))
    thread.toolset = WRITE_TODOS
    thread.writes(("new", "pending"))
    assert sorted(thread.subjects) == ["Bob's", "new"]


@PLACES
def test_an_agent_alone_leaves_no_record_of_what_it_listed(stored):
    """
    In the state there is nothing; in a store the revision. Nor does it hear of anything.
    """
    thread = Thread(WRITE_TODOS, stored)
    said = [thread.writes(A, B), thread.writes(("a", "completed"), ("c", "pending"))]
    value = thread.graph.get_state(THREAD).values["todoplan"]
    if stored:
        revision = thread.plan.revision
        told = {"told": value["session"]["told"]} if "told" in value["session"] else {}
        assert value["session"] == {"version": 1, "revision": revision, **told}
    else:
        assert set(value) == {"head", "plan", "journal"}
    assert not any("kept" in text or "since" in text for text in said)


def test_a_fork_from_before_has_the_session_of_that_time():
    """
    The record lies in the plan's own key, and goes back with it.
    """
    thread = Thread(WRITE_TODOS, stored=False)
    thread.edit(commands.CreateTask("Ann's"))
    thread.writes(A, B)
    before = thread.graph.get_state(THREAD).config
    thread.writes(("Ann's", "pending"), A, B)
    thread.writes(A, B)
    assert thread.subjects == ["a", "b"]
    forked = thread.agent(wrote(A, B), says("ok")).invoke(HELLO, before)
    assert sorted(task.subject for task in plan_of_state(forked)) == ["Ann's", "a", "b"]


def test_a_journal_that_was_cut_behind_the_record_drops_nothing(tmp_path):
    """
    Who has changed what since is then unknown: a list removes nothing and reopens nothing.
    """
    store, saver = SqliteStore(tmp_path / "plans.db"), InMemorySaver()

    def run(*lines):
        planner = PlanMiddleware(store=store, settings=SILENT)
        script = [wrote(*lines), says("ok")]
        made = create_agent(Scripted(script=script), middleware=[planner], checkpointer=saver)
        return made.invoke(HELLO, THREAD)

    run(A, B)
    person = Planner(store, "1")
    person.apply(commands.CreateTask("Ann's"), actor="ann")
    person.apply(commands.UpdateTask("2", status="completed"), actor="ann")
    store.compact("1", keep=1)
    run(A, B)
    assert [(task.subject, task.status.value) for task in store.load("1")] == [
        A,
        ("b", "completed"),
        ("Ann's", "pending"),
    ]
    store.close()


@PLACES
def test_a_plan_that_a_program_put_in_place_anew_is_kept(stored):
    """
    What the session listed before was in another plan.
    """
    thread = Thread(WRITE_TODOS, stored)
    thread.writes(A, B)
    seed_plan(thread.graph, THREAD, plan_of([Task("1", "new one"), Task("2", "b")]), actor="cron")
    said = thread.writes(A, B)
    assert "cron" in said
    assert {"new one", "b"} <= {*thread.subjects}


@PLACES
def test_task_tools_and_lists_of_others_meet_in_one_plan(stored):
    """
    A record is written by whatever tool the session has, and read by another set of tools.
    """
    thread = Thread(WRITE_TODOS, stored)
    thread.writes(A, B)
    thread.edit(commands.CreateTask("Ann's"))
    thread.toolset = tasks()
    thread.runs(calls(("TaskUpdate", {"taskId": "3", "status": "in_progress"}, "u")))
    thread.toolset = WRITE_TODOS
    thread.writes(A, B)
    # Named by id, it is listed: the session may leave it out.
    assert thread.subjects == ["a", "b"]
