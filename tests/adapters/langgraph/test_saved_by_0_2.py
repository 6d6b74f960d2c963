"""
Checkpoints that todoplan 0.2.0 wrote go on here.

`saved_by_0_2` holds what that version left: the SQLite checkpoints of real runs (the latest of each
thread), and the store beside them. In each of the first three threads a model has written "a" and
"b".
"""

import shutil
from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command, interrupt
from support.scripted import Scripted, calls, says, wrote

from todoplan import FileStore
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    history_of,
    merge_plans,
    plan_of_state,
    undo_plan,
)
from todoplan.dialogue import lean, tasks
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox

HELLO = {"messages": [("user", "hello")]}
SILENT = Settings(plan_lost=False, unfinished=0, changed=False)
SAVED = Path(__file__).parent / "saved_by_0_2"
FIRST = wrote(("a", "in_progress"), ("b", "pending"), call_id="2")
ONLY = wrote(("a", "completed"), call_id="2")


@pytest.fixture
def saved(tmp_path):
    """
    Return a copy of what was saved: the checkpointer, and the store.
    """
    folder = shutil.copytree(SAVED, tmp_path / "saved")
    with SqliteSaver.from_conn_string(str(folder / "checkpoints.sqlite")) as saver:
        yield saver, FileStore(folder / "plans.json")


def run(saver, thread, *script, **options):
    """
    Run an agent once on a thread that was saved; return it, its model, and what came of it.
    """
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
    """
    It had seen all of its plan, and so has listed it: what a list leaves out goes.
    """
    saver, _ = saved
    made, _, done, config = run(saver, "alone", ONLY)
    assert lines(plan_of_state(done)) == [("a", "completed")]
    assert "since" not in answer(done)
    assert len(history_of(done)) == 2
    undo_plan(made, config)
    assert len(plan_of_state(made.get_state(config))) == 2


@pytest.mark.parametrize("thread", ["edited", "reminded"])
def test_what_was_unseen_is_told_and_kept(saved, thread):
    """
    Also what a reminder had shown. The next list, and the one after that, drop nothing of it.
    """
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
    """
    An answer that changes nothing writes the record anew as well.
    """
    saver, _ = saved
    toolbox = Toolbox(lean())
    _, _, done, _ = run(saver, "edited", calls(("plan", {"show": "all"}, "r")), toolbox=toolbox)
    assert "Tell Ann created by ann" in answer(done)
    assert "base" not in done["todoplan"]
    _, _, done, _ = run(saver, "edited", ONLY)
    assert [task.subject for task in plan_of_state(done)] == ["a", "Tell Ann"]


def test_a_seeded_plan_was_listed_by_nobody(saved):
    """
    The model's first list keeps it, and is told of it.
    """
    saver, _ = saved
    _, _, done, _ = run(saver, "seeded", FIRST)
    assert sorted(task.subject for task in plan_of_state(done)) == ["a", "b", "old"]
    assert "#1 old created by cron" in answer(done)


def test_a_mark_that_says_seen_means_all_of_that_revision(saved):
    """
    The plan is in a store, and a person added a task behind it: that stays, and what the thread had
    seen it may leave out.
    """
    saver, store = saved
    _, _, done, _ = run(saver, "stored", ONLY, store=store)
    assert lines(store.load("stored")) == [("a", "completed"), ("Tell Ann", "pending")]
    assert "Tell Ann created by ann" in answer(done)
    assert set(done["todoplan"]) == {"stored", "session"}


def test_a_claim_goes_on(saved):
    """
    The fencing token of a claim is in the mark: without it the task would be somebody else's.
    """
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
    """
    A call was answered and waits in the checkpoint to be joined, while the one beside it asks a
    person.
    """
    saver, store = saved
    options = {"store": store} if "store" in thread else {}
    planner = PlanMiddleware(Toolbox(tasks()), settings=SILENT, **options)
    model = Scripted(script=[says("ok")])
    made = create_agent(model, tools=[ask], middleware=[planner], checkpointer=saver)
    done = made.invoke(Command(resume="yes"), {"configurable": {"thread_id": thread}})
    assert [todo["content"] for todo in done["todos"]] == ["a", "b"]
    assert set(done["todoplan"]) <= {"head", "plan", "journal", "stored", "session"}


def test_looks_of_a_step_that_was_left_half_done(saved):
    """
    A look without a note was one at the whole plan; a reminder was none.
    """
    saver, _ = saved
    value = saver.get({"configurable": {"thread_id": "edited"}})["channel_values"]["todoplan"]
    assert merge_plans(value, {"shown": value["head"]}) is value
    looked = merge_plans(value, {"seen": value["head"]})
    assert looked["session"]["listed"] == [[1, 2]]
    assert "base" not in looked
