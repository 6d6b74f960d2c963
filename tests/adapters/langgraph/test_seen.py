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
from langgraph.prebuilt import ToolNode, ToolRuntime, tools_condition
from langgraph.types import Command
from support.scripted import Scripted, calls, says, wrote

from todoplan import MemoryStore, Todo, plan_of
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    PlanState,
    aedit_plan,
    base_of,
    command_update,
    edit_plan,
    look_update,
    make_tools,
    merge_plans,
    plan_of_state,
    plan_update,
    seed_plan,
)
from todoplan.core import commands
from todoplan.core.events.base import Base, Note
from todoplan.core.plan.model import Task
from todoplan.dialogue.guidance import Settings, is_reminder
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks
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
def test_a_list_that_leaves_out_what_a_person_added_keeps_it(asynchronous):
    """
    A person adds and edits between two runs: the next list, which knows of neither, undoes neither,
    and its answer says who did what, and how to remove it. Told once, it stays all the same: what a
    session never listed no list of its own drops.
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
    assert "what your list leaves out of these stays" in answers(done)["2"]
    assert base_in(made).listed == {"1", "2"}
    done = run(made, HELLO, asynchronous=asynchronous)
    assert subjects(done) == ["a", "b", "Tell Ann"]
    assert "Tell Ann" not in answers(done)["3"]


def test_a_reminder_informs_and_moves_no_base():
    """
    With the settings of a drop-in the request itself says what was done, with the name; a list that
    leaves the task out keeps it all the same. The answer says it where it is saved.
    """
    model, made = agent(FIRST, says("x"), THIRD, says("y"))
    made.invoke(HELLO, THREAD)
    edit(made, ANN)
    done = made.invoke(HELLO, THREAD)
    told = [[m.text for m in r if is_reminder(m.text)] for r in model.requests]
    assert [len(one) for one in told] == [0, 0, 1, 0]
    assert "#3 Tell Ann created by ann" in told[2][0]
    assert subjects(done) == ["a", "b", "Tell Ann"]
    assert "since you last looked: #3 Tell Ann created by ann" in answers(done)["3"]
    assert base_in(made).listed == {"1", "2"}


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
    base = base_in(made)
    assert not base.has_news(plan_of_state(made.get_state(THREAD)))
    assert base.listed == {"2"}


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
    assert not base_in(made).has_news(plan_of_state(done))
    assert base_in(made).listed == set()


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


def answered(value, note=None):
    """
    Return a value once the model was answered upon it by a call that changed nothing.
    """
    return merge_plans(value, look_update(value["head"], note or Note(read=""))["todoplan"])


def test_a_graph_within_that_looked_has_looked():
    """
    It returns the plan with what its session knows; whether it did anything else does not matter.
    Beside an edit elsewhere that edit stays unseen, and who made it is known.
    """
    value = merge_plans({}, updated({}, ANN, "ann"))
    looked = answered(value)
    plan = plan_of_state({"todoplan": looked})
    assert base_of(looked) == Base(plan, listed=frozenset())
    assert base_of(merge_plans(value, looked)) == base_of(looked)
    assert merge_plans(looked, {}) is looked
    worked = merge_plans(looked, updated(looked, commands.CreateTask("b"), "bob"))
    assert tuple(base_of(merge_plans(value, worked)).plan) == tuple(plan)
    elsewhere = merge_plans(value, updated(value, commands.CreateTask("c"), "cy"))
    joined = merge_plans(elsewhere, {key: worked[key] for key in ("head", "plan")})
    assert not len(base_of(joined).plan)
    assert base_of(joined).actors == {"1": "ann", "3": "cy"}
    gone = merge_plans(elsewhere, updated(elsewhere, commands.DeleteTask("1"), "di"))
    joined = merge_plans(gone, {key: worked[key] for key in ("head", "plan")})
    assert base_of(joined).actors == {"1": "di", "3": "cy"}


def test_a_graph_within_that_returns_what_it_was_given_changes_nothing():
    """
    Neither the plan nor what the session knows.
    """
    alone = merge_plans({}, step(wrote_todos("a")))
    assert "session" not in alone
    assert merge_plans(alone, dict(alone)) is alone


def test_a_join_keeps_what_both_sides_have_listed():
    """
    A branch and a graph within write beside each other, upon a plan with a person's task: tasks
    that either has listed are listed, under the ids that they have then, and the person's is not.
    """
    value = answered(merge_plans({}, updated({}, ANN, "ann")))
    here = merge_plans(value, step(wrote_todos("here"), value))
    within = merge_plans(value, step(wrote_todos("within", call_id="w"), value))
    joined = merge_plans(here, dict(within))
    plan, base = plan_of_state({"todoplan": joined}), base_of(joined)
    assert sorted(task.subject for task in plan) == ["Tell Ann", "here", "within"]
    assert base.listed == {task.id for task in plan if task.subject != "Tell Ann"}


def step(call, value=None):
    """
    Return the update by a call of a model upon a value.
    """
    tool = next(each for each in make_tools() if each.name == call["name"])
    state = {"todoplan": value or {}, "messages": [calls((call["name"], call["args"], call["id"]))]}
    runtime = ToolRuntime(
        state=state,
        context=None,
        config={},
        stream_writer=None,
        tool_call_id=call["id"],
        store=None,
    )
    given = {**call, "type": "tool_call", "args": {**call["args"], "runtime": runtime}}
    return tool.invoke(given).update["todoplan"]


def wrote_todos(*contents, call_id="h"):
    """
    Return a call that writes a list.
    """
    return wrote(*((content, "pending") for content in contents), call_id=call_id).tool_calls[0]


def test_an_answer_upon_an_older_version_shows_nothing_new():
    """
    A branch read the list while another one changed it: what that did is unseen. A line that it
    wrote is listed all the same.
    """
    value = answered(merge_plans({}, updated({}, ANN, "ann")))
    newer = merge_plans(value, updated(value, commands.CreateTask("b"), "bob"))
    late = look_update(value["head"], Note((("1", Todo("Tell Ann")),)))["todoplan"]
    base = base_of(merge_plans(newer, late))
    assert [one.task.subject for one in base.unseen(plan_of_state({"todoplan": newer}))] == ["b"]
    assert base.listed == {"1"}
    assert merge_plans(newer, {}) is newer


def test_what_is_gone_is_told_in_the_order_that_it_had():
    """
    Also where it went one by one, and each edit wrote the record anew.
    """
    value = merge_plans({}, step(wrote_todos("a", "b", "c")))
    for task_id in "12":
        value = merge_plans(value, updated(value, commands.DeleteTask(task_id), "ann"))
    assert [task.subject for task in base_of(value).plan] == ["a", "b", "c"]
    value = merge_plans({}, step(wrote_todos("a", "b", "c")))
    value = merge_plans(value, updated(value, commands.MoveTask("3", before="1"), "ann"))
    assert [task.subject for task in base_of(value).plan] == ["a", "b", "c"]


def test_a_plan_that_is_replaced_is_unseen_also_at_the_same_revision():
    """
    `plan_update` takes a plan as it is, revision and all: what the session listed stands behind it.
    """
    value = merge_plans({}, step(wrote_todos("a")))
    other = plan_of([Task("1", "b")], revision=plan_of_state({"todoplan": value}).revision)
    base = base_of(merge_plans(value, plan_update(other, actor="cron")["todoplan"]))
    assert [task.subject for task in base.plan] == ["a"]
    assert base.actors == {"1": "cron"}


def test_a_seeded_plan_and_a_list_that_a_program_passed_in_are_not_listed():
    """
    The seeded plan is told of as news. Of a list in the input nobody knows what the model has seen;
    it has not listed it, so a list without it keeps it, and says how to remove it.
    """
    seeded = plan_of([Task("1", "old")])
    _, made = agent(FIRST, says("x"), settings=SILENT)
    seed_plan(made, THREAD, seeded, actor="cron")
    done = made.invoke(HELLO, THREAD)
    assert subjects(done) == ["a", "b", "old"]
    assert "#1 old created by cron" in answers(done)["1"]
    _, made = agent(FIRST, says("x"), SECOND, says("y"), settings=SILENT)
    listed = [{"content": "old", "status": "pending"}]
    done = made.invoke({**HELLO, "todos": listed}, THREAD)
    assert sorted(subjects(done)) == ["a", "b", "old"]
    assert "not on your list, kept: #1 old" in answers(done)["1"]
    assert "old" not in answers(made.invoke(HELLO, THREAD))["2"]


@pytest.mark.parametrize("stored", [False, True])
def test_what_langchains_planner_wrote_in_the_thread_counts_as_listed(stored):
    """
    The thread goes on here: a list may leave out what the same conversation wrote before, and what
    the program put beside it stays.
    """
    saver = InMemorySaver()
    model = Scripted(script=[FIRST, says("x")])
    planner = TodoListMiddleware()
    theirs = create_agent(model, middleware=[planner], checkpointer=saver)
    theirs.invoke(HELLO, THREAD)
    beside = [*theirs.get_state(THREAD).values["todos"], {"content": "cron's", "status": "pending"}]
    theirs.update_state(THREAD, {"todos": beside})
    only = wrote(("a", "completed"), call_id="5")
    planner = PlanMiddleware(settings=SILENT, store=MemoryStore() if stored else None)
    made = create_agent(
        Scripted(script=[only, says("y")]), middleware=[planner], checkpointer=saver
    )
    done = made.invoke(HELLO, THREAD)
    assert sorted(todo["content"] for todo in done["todos"]) == ["a", "cron's"]
    assert "cron's" in answers(done)["5"]


def test_a_hand_written_graph_takes_over_a_list_with_its_first_call():
    """
    Without a middleware the call itself makes the plan: a line that a program seeded stays, and
    what the session knows is kept from then on.
    """

    class Listed(PlanState):
        todos: list

    script = [SECOND, says("y")]
    model = Scripted(script=script)
    graph = StateGraph(Listed).add_node("tools", ToolNode(make_tools()))
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_edge(START, "model").add_edge("tools", "model")
    made = graph.add_conditional_edges("model", tools_condition).compile()
    listed = [{"content": each, "status": "pending"} for each in ("old", "a")]
    done = made.invoke({**HELLO, "todos": listed})
    assert sorted(subjects(done)) == ["a", "b", "old"]
    assert base_of(done["todoplan"]).listed == {"2", "3"}


def test_an_edit_of_a_list_that_is_not_a_plan_yet():
    """
    The list is what was there: only the edit is told of.
    """
    state = {"todos": [{"content": "old", "status": "pending"}]}
    _, update = command_update(state, ANN, actor="ann")
    value = merge_plans({}, update["todoplan"])
    assert [task.subject for task in base_of(value).plan] == ["old"]


@pytest.mark.parametrize("damaged", [{"session": "x"}, {"session": {"version": 9}}, {"base": "x"}])
def test_a_damaged_record_is_an_error(damaged):
    """
    It is never taken for none: work would be undone.
    """
    value = merge_plans({}, step(wrote_todos("a")))
    with pytest.raises(CodecError):
        base_of({**value, **damaged})
    with pytest.raises(CodecError):
        merge_plans({"stored": "p", "session": damaged}, {"stored": "p", "session": {}})
