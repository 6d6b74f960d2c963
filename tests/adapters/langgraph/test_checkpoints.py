"""The plan in checkpoints: memory, SQLite, PostgreSQL, those of 0.2.0; resume, edits, subgraphs."""

import asyncio
import os
import shutil
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt
from support.scripted import Scripted, calls, says, wrote

from todoplan import FileStore, Plan, Policy, Toolbox, commands, decide
from todoplan.adapters.langgraph import (
    PlanChannel,
    PlanMiddleware,
    PlanState,
    aedit_plan,
    aseed_plan,
    edit_plan,
    history_of,
    make_tools,
    merge_plans,
    plan_of_state,
    plan_update,
    seed_plan,
    undo_plan,
)
from todoplan.dialogue import Settings, lean, tasks
from todoplan.errors import CodecError

HELLO = {"messages": [("user", "hello")]}
FULL = {
    "subject": "a",
    "description": "long\ntext",
    "owner": "ann",
    "priority": "high",
    "activeForm": "doing a",
    "estimate": 30,
    "metadata": {"k": [1, {"x": None}]},
}
TURN = calls(
    ("TaskCreate", FULL, "1"),
    ("TaskCreate", {"subject": "b", "blockedBy": ["1"]}, "2"),
    ("TaskUpdate", {"taskId": "1", "status": "in_progress"}, "3"),
)
TURN_WITHOUT_UPDATE = calls(
    ("TaskCreate", FULL, "1"), ("TaskCreate", {"subject": "b", "blockedBy": ["1"]}, "2")
)
FINISH = calls(("TaskUpdate", {"taskId": "1", "status": "completed"}, "4"))


def thread(name="t"):
    return {"configurable": {"thread_id": name}}


def agent(script, saver):
    planner = PlanMiddleware(Toolbox(tasks()), settings=Settings(unfinished=0))
    return create_agent(Scripted(script=script), middleware=[planner], checkpointer=saver)


@contextmanager
def memory(where):
    yield InMemorySaver()


@contextmanager
def sqlite(where):
    with SqliteSaver.from_conn_string(str(where)) as saver:
        yield saver


@contextmanager
def postgresql(where):
    with PostgresSaver.from_conn_string(where) as saver:
        saver.setup()
        yield saver


@asynccontextmanager
async def asqlite(where):
    async with AsyncSqliteSaver.from_conn_string(str(where)) as saver:
        yield saver


@asynccontextmanager
async def apostgresql(where):
    async with AsyncPostgresSaver.from_conn_string(where) as saver:
        await saver.setup()
        yield saver


def place(kind, request, tmp_path):
    if "postgres" not in kind:
        return tmp_path / "db.sqlite"
    return request.getfixturevalue("postgres").fresh()


def details(plan):
    return [
        (t.id, t.subject, t.description, t.owner, t.blocks, t.blocked_by, t.metadata, t.created_at)
        for t in plan
    ]


@pytest.mark.parametrize("kind", [memory, sqlite, postgresql], ids=lambda kind: kind.__name__)
def test_everything_survives(kind, request, tmp_path):
    """Edges, ids, owner, metadata and times come back from the checkpoint, and the plan goes on."""
    with kind(place(kind.__name__, request, tmp_path)) as saver:
        agent([TURN, says("so far")], saver).invoke(HELLO, thread())
        before = plan_of_state(agent([], saver).get_state(thread()))
        assert [(t.id, t.blocked_by) for t in before] == [("1", ()), ("2", ("1",))]
        assert before["1"].created_at.utcoffset().total_seconds() == 0
        resumed = agent([FINISH, says("done")], saver)
        resumed.invoke(HELLO, thread())
        after = plan_of_state(resumed.get_state(thread()))
        assert details(after) == details(before)
        assert after["1"].status == "completed"
        assert resumed.get_state(thread()).values["todos"][0]["status"] == "completed"


@pytest.mark.parametrize("kind", [asqlite, apostgresql], ids=lambda kind: kind.__name__)
def test_everything_survives_asynchronously(kind, request, tmp_path):
    """The same with the asynchronous checkpointers, edits included."""
    where = place(kind.__name__, request, tmp_path)

    async def story():
        async with kind(where) as saver:
            await agent([TURN, says("so far")], saver).ainvoke(HELLO, thread("async"))
        async with kind(where) as saver:
            made = agent([FINISH, says("done")], saver)
            await aedit_plan(made, thread("async"), commands.UpdateTask("2", owner="bob"))
            refused = await aedit_plan(made, thread("async"), commands.DeleteTask("9"))
            await made.ainvoke(HELLO, thread("async"))
            await aseed_plan(made, thread("new"), Plan())
            return refused, plan_of_state(await made.aget_state(thread("async")))

    refused, plan = asyncio.run(story())
    assert refused.problems[0].code == "unknown_task"
    assert [(t.status.value, t.owner) for t in plan] == [("completed", "ann"), ("pending", "bob")]


RESUME = """
import sys
sys.path.insert(0, sys.argv[1])
from langchain.agents import create_agent
from langgraph.checkpoint.sqlite import SqliteSaver
from support.scripted import Scripted, calls, says
from todoplan.adapters.langgraph import PlanMiddleware, plan_of_state
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks

finish = [calls(("TaskUpdate", {"taskId": n, "status": "completed"}, f"c{n}")) for n in "12"]
with SqliteSaver.from_conn_string(sys.argv[2]) as saver:
    model = Scripted(script=[*finish, says("done")])
    made = create_agent(model, middleware=[PlanMiddleware(Toolbox(tasks()))], checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    made.invoke(None if sys.argv[3] == "crash" else {"messages": [("user", "go on")]}, config)
    print([(t.id, t.status.value, t.owner) for t in plan_of_state(made.get_state(config))])
"""


@pytest.mark.parametrize("how", ["crash", "pause"])
def test_a_fresh_process_goes_on(how, tmp_path):
    """Another process finds the plan, after a crash or a finished run, as plain JSON."""
    file = tmp_path / "db.sqlite"
    with SqliteSaver.from_conn_string(str(file)) as saver:
        last = RuntimeError("the model is down") if how == "crash" else says("so far")
        made = agent([TURN, last], saver)
        if how == "crash":
            with pytest.raises(RuntimeError):
                made.invoke(HELLO, thread())
        else:
            made.invoke(HELLO, thread())
    tests = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120 - an argument
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RESUME, tests, str(file), how],
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    expected = "[('1', 'completed', 'ann'), ('2', 'completed', None)]\n"
    assert (done.stdout, done.stderr, done.returncode) == (expected, "", 0)


def test_time_travel():
    """An earlier checkpoint has the plan as it was, and a run from there goes on from it."""
    made = agent([TURN, FINISH, says("done"), says("again")], InMemorySaver())
    made.invoke(HELLO, thread())
    seen = [plan_of_state(state) for state in made.get_state_history(thread())]
    assert [plan.revision for plan in reversed(seen)] == sorted(plan.revision for plan in seen)
    started = next(
        state
        for state in made.get_state_history(thread())
        if state.next == ("model",) and plan_of_state(state).counts.in_progress
    )
    made.invoke(None, started.config)
    assert plan_of_state(made.get_state(thread()))["1"].status == "in_progress"


def test_an_application_seeds_edits_and_clears():
    """On a new thread and on a used one, under any policy; ids go on, refusals change nothing."""
    plan = decide(Plan(), commands.CreateTask("seeded")).plan
    made = agent([TURN, says("done")], InMemorySaver())
    seed_plan(made, thread(), plan)
    seed_plan(made, thread(), plan)
    made.invoke(HELLO, thread())
    assert [t.subject for t in plan_of_state(made.get_state(thread()))] == ["seeded", "a", "b"]
    decision = edit_plan(made, thread(), commands.UpdateTask("1", status="completed"))
    assert decision.plan == plan_of_state(made.get_state(thread()))
    strict = Policy().but(completed_is_final="error")
    assert edit_plan(made, thread(), commands.DeleteTask("1"), policy=strict).problems
    assert edit_plan(made, thread(), commands.UpdateTask("1", status="completed")).events == ()
    edit_plan(made, thread(), commands.ClearPlan())
    state = made.get_state(thread())
    assert (list(plan_of_state(state)), state.values["todos"]) == ([], [])
    assert plan_of_state(state).next_id == 4


def raw(*nodes, saver=None):
    builder = StateGraph(PlanState)
    builder.add_sequence(list(nodes))
    builder.add_edge(START, nodes[0][0])
    builder.add_edge(nodes[-1][0], END)
    return builder.compile(checkpointer=saver)


def test_seeding_a_graph_written_by_hand():
    """The same calls serve any graph with the key; the node may be named."""
    turn = ("turn", lambda state: {"messages": [TURN]})
    made = raw(turn, ("tools", ToolNode(make_tools(Toolbox(tasks())))), saver=InMemorySaver())
    plan = decide(Plan(), commands.CreateTask("seeded")).plan
    seed_plan(made, thread(), plan)
    edit_plan(made, thread(), commands.UpdateTask("1", owner="me"))
    made.invoke(HELLO, thread())
    assert [t.owner for t in plan_of_state(made.get_state(thread()))] == ["me", "ann", None]
    seed_plan(made, thread(), plan, as_node="tools")
    assert plan_of_state(made.get_state(thread())) == plan


def test_an_agent_in_a_graph_keeps_its_plan_from_turn_to_turn():
    """With a checkpoint of its own (`checkpointer=True`), the plan stays in its own state."""
    made = agent([TURN, says("so far"), FINISH, says("done")], saver=True)
    outer = raw(("agent", made), saver=InMemorySaver())
    for statuses in (["in_progress", "pending"], ["completed", "pending"]):
        told = [u for _, u in outer.stream(HELLO, thread(), subgraphs=True) if "tools" in u]
        assert statuses in [[t["status"] for t in u["tools"]["todos"]] for u in told]
    assert plan_of_state(outer.get_state(thread())) == Plan()


def test_an_agent_in_a_graph_survives_an_interruption():
    """A person is asked inside the subgraph; the plan that was there before is there after."""
    planner = PlanMiddleware(Toolbox(tasks()), settings=Settings(unfinished=0))
    asking = HumanInTheLoopMiddleware(interrupt_on={"TaskUpdate": True})
    script = [TURN_WITHOUT_UPDATE, FINISH, says("done")]
    made = create_agent(Scripted(script=script), middleware=[planner, asking])
    outer = raw(("agent", made), saver=InMemorySaver())
    outer.invoke(HELLO, thread())
    inner = outer.get_state(thread(), subgraphs=True).tasks[0].state
    assert [t.subject for t in plan_of_state(inner)] == ["a", "b"]
    resume = Command(resume={"decisions": [{"type": "approve"}]})
    told = [c for _, c in outer.stream(resume, thread(), subgraphs=True) if "tools" in c]
    assert [t["status"] for t in told[-1]["tools"]["todos"]] == ["completed", "pending"]


def test_a_subgraph_written_by_hand_shares_the_plan_across_checkpoints():
    """State that is shared by name goes in and comes back, and is there after a resume."""
    inner = raw(
        ("turn", lambda state: {"messages": [TURN]}),
        ("tools", ToolNode(make_tools(Toolbox(tasks())))),
    )
    after = ("after", lambda state: {"messages": [FINISH]})
    tools = ("tools", ToolNode(make_tools(Toolbox(tasks()))))
    outer = raw(("inner", inner), after, tools, saver=InMemorySaver())
    outer.invoke(HELLO, thread(), interrupt_before=["after"])
    assert [t.status.value for t in plan_of_state(outer.get_state(thread()))] == [
        "in_progress",
        "pending",
    ]
    outer.invoke(None, thread())
    assert plan_of_state(outer.get_state(thread()))["1"].status == "completed"


def test_a_checkpoint_has_the_plan_compressed():
    """A small value stays as it is, and so does one that an earlier version saved."""
    plan = decide(Plan(), commands.CreateTask("Dig " * 400), Policy()).unwrap()
    channel = PlanChannel(dict, merge_plans)
    channel.update([plan_update(plan)["todoplan"]])
    kept = channel.checkpoint()
    assert isinstance(kept, bytes)
    assert len(kept) < 500
    assert channel.checkpoint() is kept
    again = channel.from_checkpoint(kept)
    assert plan_of_state({"todoplan": again.get()}) == plan
    assert again.checkpoint() is kept
    assert channel.from_checkpoint(channel.get()).get() is channel.get()
    small = channel.from_checkpoint({"stored": "garden"})
    assert small.checkpoint() == {"stored": "garden"}


def test_a_graph_with_a_reducer_of_its_own_goes_on_with_a_compressed_plan():
    """The thread was begun by a graph over `PlanState`."""

    class Own(MessagesState):
        todoplan: Annotated[dict[str, Any], merge_plans]

    saver, config = InMemorySaver(), {"configurable": {"thread_id": "1"}}
    for state, call in ((PlanState, TURN), (Own, FINISH)):
        builder = StateGraph(state)
        builder.add_node("tools", ToolNode(make_tools(Toolbox(tasks(), Policy()))))
        builder.add_edge(START, "tools")
        builder.add_edge("tools", END)
        graph = builder.compile(checkpointer=saver)
        begun = graph.get_state(config).values
        assert not begun or len(plan_of_state(begun)) == 2
        graph.invoke({"messages": [call]}, config)
        if state is PlanState:
            assert isinstance(saver.get(config)["channel_values"]["todoplan"], bytes)
    assert plan_of_state(graph.get_state(config))["1"].status == "completed"


def test_a_damaged_checkpoint_is_an_error():
    """And never an empty plan."""
    with pytest.raises(CodecError, match="damaged"):
        PlanChannel(dict, merge_plans).from_checkpoint(b"half")


SILENT = Settings(plan_lost=False, unfinished=0, changed=False)
SAVED = Path(__file__).parent / "saved_by_0_2"
FIRST = wrote(("a", "in_progress"), ("b", "pending"), call_id="2")
ONLY = wrote(("a", "completed"), call_id="2")


@pytest.fixture
def saved(tmp_path):
    """Return a copy of what was saved: the checkpointer, and the store."""
    folder = shutil.copytree(SAVED, tmp_path / "saved")
    with SqliteSaver.from_conn_string(str(folder / "checkpoints.sqlite")) as saver:
        yield saver, FileStore(folder / "plans.json")


def run(saver, thread, *script, **options):
    """Run an agent once on a thread that was saved; return it, its model, and what came of it."""
    options = {"settings": SILENT, **options}
    model = Scripted(script=[*script, says("ok")])
    made = create_agent(model, middleware=[PlanMiddleware(**options)], checkpointer=saver)
    config = {"configurable": {"thread_id": thread}}
    return made, model, made.invoke(HELLO, config), config


def lines(plan):
    return [(task.subject, task.status.value) for task in plan]


def answer(done):
    return [each for each in done["messages"] if each.type == "tool"][-1].text


def test_an_agent_alone_goes_on(saved):
    """It had seen all of its plan, and so has listed it: what a list leaves out goes."""
    saver, _ = saved
    made, _, done, config = run(saver, "alone", ONLY)
    assert lines(plan_of_state(done)) == [("a", "completed")]
    assert "since" not in answer(done)
    assert len(history_of(done)) == 2
    undo_plan(made, config)
    assert len(plan_of_state(made.get_state(config))) == 2


@pytest.mark.parametrize("thread", ["edited", "reminded"])
def test_what_was_unseen_is_told_and_kept(saved, thread):
    """Also what a reminder had shown. The next list, and the one after that, drop nothing of it."""
    saver, _ = saved
    _, _, done, _ = run(saver, thread, FIRST)
    b = {"edited": ("b", "completed"), "reminded": ("b", "pending")}[thread]
    assert "#3 Tell Ann created by ann" in answer(done)
    for _ in "12":
        assert lines(plan_of_state(done)) == [("a", "in_progress"), b, ("Tell Ann", "pending")]
        _, _, done, _ = run(saver, thread, FIRST)
    value = done["todoplan"]
    assert set(value) == {"head", "plan", "journal", "session"}
    assert value["session"]["listed"] == [[1, 2]]


def test_a_read_settles_what_was_unseen(saved):
    """An answer that changes nothing writes the record anew as well."""
    saver, _ = saved
    toolbox = Toolbox(lean())
    _, _, done, _ = run(saver, "edited", calls(("plan", {"show": "all"}, "r")), toolbox=toolbox)
    assert "Tell Ann created by ann" in answer(done)
    assert "base" not in done["todoplan"]
    _, _, done, _ = run(saver, "edited", ONLY)
    assert [task.subject for task in plan_of_state(done)] == ["a", "Tell Ann"]


def test_a_seeded_plan_was_listed_by_nobody(saved):
    """The model's first list keeps it, and is told of it."""
    saver, _ = saved
    _, _, done, _ = run(saver, "seeded", FIRST)
    assert sorted(task.subject for task in plan_of_state(done)) == ["a", "b", "old"]
    assert "#1 old created by cron" in answer(done)


def test_a_mark_that_says_seen_means_all_of_that_revision(saved):
    """A person's later task stays, and a list may leave out what the thread had seen."""
    saver, store = saved
    _, _, done, _ = run(saver, "stored", ONLY, store=store)
    assert lines(store.load("stored")) == [("a", "completed"), ("Tell Ann", "pending")]
    assert "Tell Ann created by ann" in answer(done)
    assert set(done["todoplan"]) == {"stored", "session"}


def test_a_claim_goes_on(saved):
    """The fencing token of a claim is in the mark: without it the task would be somebody else's."""
    saver, store = saved
    options = {"toolbox": Toolbox(lean(team=True)), "store": store, "plan_id": "team"}
    _, _, done, _ = run(saver, "digger", calls(("plan", {"done": [1]}, "d")), **options)
    assert lines(store.load("team"))[0] == ("Dig", "completed")
    assert "fences" not in done["todoplan"]["session"]


@tool
def ask(question: str) -> str:
    """Ask a person."""
    return interrupt(question)


@pytest.mark.parametrize("thread", ["paused", "paused beside a store"])
def test_a_step_that_was_left_half_done_is_finished(saved, thread):
    """One call's answer waits in the checkpoint, while the call beside it asks a person."""
    saver, store = saved
    options = {"store": store} if "store" in thread else {}
    planner = PlanMiddleware(Toolbox(tasks()), settings=SILENT, **options)
    model = Scripted(script=[says("ok")])
    made = create_agent(model, tools=[ask], middleware=[planner], checkpointer=saver)
    done = made.invoke(Command(resume="yes"), {"configurable": {"thread_id": thread}})
    assert [todo["content"] for todo in done["todos"]] == ["a", "b"]
    assert set(done["todoplan"]) <= {"head", "plan", "journal", "stored", "session"}


def test_looks_of_a_step_that_was_left_half_done(saved):
    """A look without a note was one at the whole plan; a reminder was none."""
    saver, _ = saved
    value = saver.get({"configurable": {"thread_id": "edited"}})["channel_values"]["todoplan"]
    assert merge_plans(value, {"shown": value["head"]}) is value
    looked = merge_plans(value, {"seen": value["head"]})
    assert looked["session"]["listed"] == [[1, 2]]
    assert "base" not in looked
