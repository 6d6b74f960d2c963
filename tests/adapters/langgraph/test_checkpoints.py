"""The plan in checkpoints: memory, SQLite, PostgreSQL, those of 0.2.0; resume, edits, subgraphs."""

import asyncio
import os
import shutil
import subprocess
import sys
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from support.langgraph_threads import (
    HELLO,
    THREAD,
    agent,
    answers,
    ask,
    contents,
    create,
    lines,
    subjects,
    thread,
)
from support.scripted import calls, says, wrote

from todoplan import FileStore, Plan, Policy, Toolbox, commands, decide
from todoplan.adapters.langgraph import (
    PlanChannel,
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
from todoplan.dialogue import lean, tasks
from todoplan.errors import CodecError

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
FINISH = calls(("TaskUpdate", {"taskId": "1", "status": "completed"}, "4"))


def working(*script, **options):
    return agent(*script, toolbox=Toolbox(tasks()), **options)


@asynccontextmanager
async def opened(kind, request, tmp_path):
    """Open the checkpointer of a kind; `postgresql` ones are set up in a fresh database."""
    is_here = kind in {SqliteSaver, AsyncSqliteSaver}
    where = str(tmp_path / "db") if is_here else request.getfixturevalue("postgres").fresh()
    async with AsyncExitStack() as stack:
        made = kind.from_conn_string(where)
        if hasattr(made, "__aenter__"):
            saver = await stack.enter_async_context(made)
        else:
            saver = stack.enter_context(made)
        if not is_here and (done := saver.setup()):
            await done
        yield saver


def details(plan):
    return [
        (t.id, t.subject, t.description, t.owner, t.blocks, t.blocked_by, t.metadata, t.created_at)
        for t in plan
    ]


@pytest.mark.parametrize("kind", [SqliteSaver, PostgresSaver])
def test_everything_survives(kind, request, tmp_path):
    """Edges, ids, owner, metadata and times come back from the checkpoint, and the plan goes on."""

    async def story():
        async with opened(kind, request, tmp_path) as saver:
            working(TURN, says("so far"), checkpointer=saver).invoke(HELLO, THREAD)
            before = plan_of_state(working(checkpointer=saver).get_state(THREAD))
            done = working(FINISH, says("done"), checkpointer=saver).invoke(HELLO, THREAD)
            return before, done

    before, done = asyncio.run(story())
    after = plan_of_state(done)
    assert [(t.id, t.blocked_by) for t in before] == [("1", ()), ("2", ("1",))]
    assert before["1"].created_at.utcoffset().total_seconds() == 0
    assert details(after) == details(before)
    assert after["1"].status == done["todos"][0]["status"] == "completed"


@pytest.mark.parametrize("kind", [AsyncSqliteSaver, AsyncPostgresSaver])
def test_everything_survives_asynchronously(kind, request, tmp_path):
    """The same with the asynchronous checkpointers, edits included."""

    async def story():
        async with opened(kind, request, tmp_path) as saver:
            await working(TURN, says("so far"), checkpointer=saver).ainvoke(HELLO, THREAD)
            made = working(FINISH, says("done"), checkpointer=saver)
            await aedit_plan(made, THREAD, commands.UpdateTask("2", owner="bob"))
            refused = await aedit_plan(made, THREAD, commands.DeleteTask("9"))
            await made.ainvoke(HELLO, THREAD)
            await aseed_plan(made, thread("new"), Plan())
            return refused, plan_of_state(await made.aget_state(THREAD))

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


@pytest.mark.slow
@pytest.mark.parametrize("how", ["crash", "pause"])
def test_a_fresh_process_goes_on(how, tmp_path):
    """Another process finds the plan, after a crash or a finished run, as plain JSON."""
    file = tmp_path / "db.sqlite"
    with SqliteSaver.from_conn_string(str(file)) as saver:
        last = RuntimeError("the model is down") if how == "crash" else says("so far")
        expects = pytest.raises(RuntimeError) if how == "crash" else nullcontext()
        with expects:
            working(TURN, last, checkpointer=saver).invoke(HELLO, thread("t"))
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
    made = working(TURN, FINISH, says("done"), says("again"))
    made.invoke(HELLO, THREAD)
    history = [(state, plan_of_state(state)) for state in made.get_state_history(THREAD)]
    revisions = [plan.revision for _, plan in reversed(history)]
    assert revisions == sorted(revisions)
    started = (state for state, plan in history if plan.counts.in_progress)
    made.invoke(None, next(state for state in started if state.next == ("model",)).config)
    assert plan_of_state(made.get_state(THREAD))["1"].status == "in_progress"


def test_an_application_seeds_edits_and_clears():
    """On a new thread and on a used one, under any policy; ids go on, refusals change nothing."""
    plan = decide(Plan(), commands.CreateTask("seeded")).plan
    made = working(TURN, says("done"))
    seed_plan(made, THREAD, plan)
    seed_plan(made, THREAD, plan)
    made.invoke(HELLO, THREAD)
    assert subjects(made) == ["seeded", "a", "b"]
    decision = edit_plan(made, THREAD, commands.UpdateTask("1", status="completed"))
    assert decision.plan == plan_of_state(made.get_state(THREAD))
    strict = Policy().but(completed_is_final="error")
    assert edit_plan(made, THREAD, commands.DeleteTask("1"), policy=strict).problems
    assert edit_plan(made, THREAD, commands.UpdateTask("1", status="completed")).events == ()
    edit_plan(made, THREAD, commands.ClearPlan())
    state = made.get_state(THREAD)
    assert (list(plan_of_state(state)), state.values["todos"]) == ([], [])
    assert plan_of_state(state).next_id == 4


TOOLS = ("tools", ToolNode(make_tools(Toolbox(tasks()))))


def raw(*nodes, saver=None, state=PlanState):
    """Return a graph of nodes in a row."""
    graph = StateGraph(state).add_sequence([*nodes]).add_edge(START, nodes[0][0])
    return graph.compile(checkpointer=saver)


def test_seeding_a_graph_written_by_hand():
    """The same calls serve any graph with the key; the node may be named."""
    turn = ("turn", lambda state: {"messages": [TURN]})
    made = raw(turn, TOOLS, saver=InMemorySaver())
    plan = decide(Plan(), commands.CreateTask("seeded")).plan
    seed_plan(made, THREAD, plan)
    edit_plan(made, THREAD, commands.UpdateTask("1", owner="me"))
    made.invoke(HELLO, THREAD)
    assert [t.owner for t in plan_of_state(made.get_state(THREAD))] == ["me", "ann", None]
    seed_plan(made, THREAD, plan, as_node="tools")
    assert plan_of_state(made.get_state(THREAD)) == plan


def test_an_agent_in_a_graph_keeps_its_plan_from_turn_to_turn():
    """With a checkpoint of its own (`checkpointer=True`), the plan stays in its own state."""
    made = working(TURN, says("so far"), FINISH, says("done"), checkpointer=True)
    outer = raw(("agent", made), saver=InMemorySaver())
    for statuses in (["in_progress", "pending"], ["completed", "pending"]):
        told = [u for _, u in outer.stream(HELLO, THREAD, subgraphs=True) if "tools" in u]
        assert statuses in [[t["status"] for t in u["tools"]["todos"]] for u in told]
    assert plan_of_state(outer.get_state(THREAD)) == Plan()


def test_an_agent_in_a_graph_survives_an_interruption():
    """A person is asked inside the subgraph; the plan that was there before is there after."""
    asking = HumanInTheLoopMiddleware(interrupt_on={"TaskUpdate": True})
    made = working(create("a", "b"), FINISH, says("done"), more=[asking], checkpointer=None)
    outer = raw(("agent", made), saver=InMemorySaver())
    outer.invoke(HELLO, THREAD)
    assert subjects(outer.get_state(THREAD, subgraphs=True).tasks[0].state) == ["a", "b"]
    resume = Command(resume={"decisions": [{"type": "approve"}]})
    told = [c for _, c in outer.stream(resume, THREAD, subgraphs=True) if "tools" in c]
    assert [t["status"] for t in told[-1]["tools"]["todos"]] == ["completed", "pending"]


def test_a_subgraph_written_by_hand_shares_the_plan_across_checkpoints():
    """State that is shared by name goes in and comes back, and is there after a resume."""
    inner = raw(("turn", lambda state: {"messages": [TURN]}), TOOLS)
    after = ("after", lambda state: {"messages": [FINISH]})
    outer = raw(("inner", inner), after, TOOLS, saver=InMemorySaver())
    outer.invoke(HELLO, THREAD, interrupt_before=["after"])
    assert [line[2] for line in lines(outer)] == ["in_progress", "pending"]
    outer.invoke(None, THREAD)
    assert [line[2] for line in lines(outer)] == ["completed", "pending"]


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

    saver = InMemorySaver()
    raw(TOOLS, saver=saver).invoke({"messages": [TURN]}, THREAD)
    assert isinstance(saver.get(THREAD)["channel_values"]["todoplan"], bytes)
    graph = raw(TOOLS, saver=saver, state=Own)
    assert len(plan_of_state(graph.get_state(THREAD).values)) == 2
    graph.invoke({"messages": [FINISH]}, THREAD)
    assert plan_of_state(graph.get_state(THREAD))["1"].status == "completed"


def test_a_damaged_checkpoint_is_an_error():
    """And never an empty plan."""
    with pytest.raises(CodecError, match="damaged"):
        PlanChannel(dict, merge_plans).from_checkpoint(b"half")


SAVED = Path(__file__).parent / "saved_by_0_2"
FIRST = wrote(("a", "in_progress"), ("b", "pending"), call_id="2")
ONLY = wrote(("a", "completed"), call_id="2")


@pytest.fixture
def saved(tmp_path):
    """Return a copy of what was saved: the checkpointer, and the store."""
    folder = shutil.copytree(SAVED, tmp_path / "saved")
    with SqliteSaver.from_conn_string(str(folder / "checkpoints.sqlite")) as saver:
        yield saver, FileStore(folder / "plans.json")


def run(saver, name, *script, **options):
    """Run an agent once on a thread that was saved; return the agent, and what came of it."""
    made = agent(*script, says("ok"), checkpointer=saver, **options)
    return made, made.invoke(HELLO, thread(name))


def pairs(plan):
    return [(task.subject, task.status.value) for task in plan]


def answer(done):
    return answers(done)[-1]


def test_an_agent_alone_goes_on(saved):
    """It had seen all of its plan, and so has listed it: what a list leaves out goes."""
    made, done = run(saved[0], "alone", ONLY)
    assert pairs(plan_of_state(done)) == [("a", "completed")]
    assert "since" not in answer(done)
    assert len(history_of(done)) == 2
    undo_plan(made, thread("alone"))
    assert len(plan_of_state(made.get_state(thread("alone")))) == 2


@pytest.mark.parametrize(("name", "status"), [("edited", "completed"), ("reminded", "pending")])
def test_what_was_unseen_is_told_and_kept(saved, name, status):
    """Also what a reminder had shown. The next list, and the one after that, drop nothing of it."""
    _, done = run(saved[0], name, FIRST)
    assert "#3 Tell Ann created by ann" in answer(done)
    expected = [("a", "in_progress"), ("b", status), ("Tell Ann", "pending")]
    for _ in "12":
        assert pairs(plan_of_state(done)) == expected
        _, done = run(saved[0], name, FIRST)
    value = done["todoplan"]
    assert set(value) == {"head", "plan", "journal", "session"}
    assert value["session"]["listed"] == [[1, 2]]


def test_a_read_settles_what_was_unseen(saved):
    """An answer that changes nothing writes the record anew as well."""
    look = calls(("plan", {"show": "all"}, "r"))
    _, done = run(saved[0], "edited", look, toolbox=Toolbox(lean()))
    assert "Tell Ann created by ann" in answer(done)
    assert "base" not in done["todoplan"]
    assert subjects(run(saved[0], "edited", ONLY)[1]) == ["a", "Tell Ann"]


def test_a_seeded_plan_was_listed_by_nobody(saved):
    """The model's first list keeps it, and is told of it."""
    _, done = run(saved[0], "seeded", FIRST)
    assert sorted(subjects(done)) == ["a", "b", "old"]
    assert "#1 old created by cron" in answer(done)


def test_a_mark_that_says_seen_means_all_of_that_revision(saved):
    """A person's later task stays, and a list may leave out what the thread had seen."""
    saver, store = saved
    _, done = run(saver, "stored", ONLY, store=store)
    assert pairs(store.load("stored")) == [("a", "completed"), ("Tell Ann", "pending")]
    assert "Tell Ann created by ann" in answer(done)
    assert set(done["todoplan"]) == {"stored", "session"}


def test_a_claim_goes_on(saved):
    """The fencing token of a claim is in the mark: without it the task would be somebody else's."""
    saver, store = saved
    options = {"toolbox": Toolbox(lean(team=True)), "store": store, "plan_id": "team"}
    _, done = run(saver, "digger", calls(("plan", {"done": [1]}, "d")), **options)
    assert pairs(store.load("team"))[0] == ("Dig", "completed")
    assert "fences" not in done["todoplan"]["session"]


@pytest.mark.parametrize("name", ["paused", "paused beside a store"])
def test_a_step_that_was_left_half_done_is_finished(saved, name):
    """One call's answer waits in the checkpoint, while the call beside it asks a person."""
    saver, store = saved
    options = {"store": store if "store" in name else None, "checkpointer": saver}
    made = working(says("ok"), tools=[ask], **options)
    done = made.invoke(Command(resume="yes"), thread(name))
    assert contents(done) == ["a", "b"]
    assert set(done["todoplan"]) <= {"head", "plan", "journal", "stored", "session"}


def test_looks_of_a_step_that_was_left_half_done(saved):
    """A look without a note was one at the whole plan; a reminder was none."""
    value = saved[0].get(thread("edited"))["channel_values"]["todoplan"]
    assert merge_plans(value, {"shown": value["head"]}) is value
    looked = merge_plans(value, {"seen": value["head"]})
    assert looked["session"]["listed"] == [[1, 2]]
    assert "base" not in looked
