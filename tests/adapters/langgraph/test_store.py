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
from langchain.agents.middleware import TodoListMiddleware as LangChains
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from support.langgraph_threads import (
    EDIT,
    HELLO,
    QUIET,
    ROADS,
    SILENT,
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
from todoplan.dialogue import lean, tasks
from todoplan.errors import PlanError, StoreError
from todoplan.planner import parallel_calls
from todoplan.planner.session import Record

BOX = Toolbox(TASKS)


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
def test_who_did_it_is_told_to_the_others_and_no_agent_hears_of_itself(is_async):
    """Two agents have names, on one plan; a check that failed for one is no news to it."""
    store, savers = MemoryStore(), {"one": InMemorySaver(), "two": InMemorySaver()}
    given = {"store": store, "plan_id": "all", "settings": SILENT}

    def asked(actor, *script):
        planner = PlanMiddleware(ASKING, verify=lambda *_: (False, "red"), actor=actor, **given)
        made = agent(*script, says("ok"), planner=planner, checkpointer=savers[actor])
        return answers(drive(made, HELLO, thread(actor), is_async=is_async))[-1]

    board = Planner(store, "all")
    board.apply(CreateTask("Dig", check="deep", status="in_progress"))
    look = calls(("TaskList", {}, "x"))
    asked("one", look)
    asked("two", look)
    board.apply(EDIT, actor="ann")
    told = asked("one", completes("1"), calls(("TaskList", {}, "y")))
    assert told.startswith("since you last looked: #2 Tell Ann created by ann\n")
    assert "#1 Dig updated by one" in asked("two", calls(("TaskList", {}, "z")))


@ROADS
def test_a_plan_can_be_seeded_and_needs_no_checkpointer(is_async):
    """With an id given, there need be no thread; other agents work on the same plan."""
    store = MemoryStore()
    planner = claude_like(store=store, plan_id="release", settings=SILENT)
    made = agent(says("hi"), planner=planner, checkpointer=None)
    change("seed", made, TWO, config={}, is_async=is_async, actor="cron")
    assert contents(drive(made, HELLO, {}, is_async=is_async)) == ["a", "b"]
    assert [(each.actor, each.cause) for each in store.entries("release")] == [("cron", "restore")]


@pytest.mark.parametrize(("plan_id", "found"), [(None, ["outer"]), ("all", ["outer", "inner"])])
def test_an_agent_within_an_agent_has_a_plan_of_its_own_or_shares_the_given_one(plan_id, found):
    """Its thread is its caller's, and its plan is not, unless an id says so."""
    store = MemoryStore()
    planner = PlanMiddleware(BOX, settings=SILENT, store=store, plan_id=plan_id)
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
    made = agent(create("a"), says("done"), toolbox=BOX, store=Awaited(store))
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
    Planner(FileStore(path), "1").apply(CreateTask("before"))
    with subprocess.Popen([sys.executable, "-c", PERSON, str(path), str(edits)]) as person:

        def rewrite(_):
            known = contents({"todos": [], **made.get_state(THREAD).values})
            listed = dict.fromkeys([*known, "before", f"mine {next(number)}"])
            return wrote(*((content, "pending") for content in listed), call_id=f"w{next(number)}")

        script = *([rewrite] * 10), says("done")
        made = agent(*script, settings=QUIET, store=FileStore(path))
        made.invoke(HELLO, THREAD, durability="sync")  # or `rewrite` reads what was
        assert person.wait(60) == 0
    found = subjects(FileStore(path))
    assert {f"edit {n}" for n in range(edits)} <= {*found}
    assert {f"mine {n}" for n in range(0, 20, 2)} <= {*found}
    assert len(found) == len({*found}) == edits + 11
    assert json.loads(Path(path).read_text("utf-8"))


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
    """Also where its threads have names of their own."""
    store = shared()
    for name, actor in (("ann", "digger"), ("bob", None)):
        member(store, calls((*NEXT, "a")), says("x"), actor=actor).invoke(HELLO, thread(name))
    assert owners(store)[:2] == ["digger", "bob"]
    assert [entry.actor for entry in store.entries("shared")][1:] == ["digger", "bob"]


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
        given = {"settings": attrs.evolve(SILENT, unfinished=1), "checkpointer": saver}
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
    planner = PlanMiddleware(ASKING, store=store, verify=verify, settings=SILENT)
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
