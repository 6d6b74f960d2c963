"""Taking back the last change of a thread: from the journal, the checkpoints, or a store."""

import asyncio

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from support.scripted import Scripted, says, wrote

from todoplan import MemoryStore, plan_of
from todoplan.adapters.langgraph import (
    PlanMiddleware,
    aundo_plan,
    edit_plan,
    history_of,
    plan_of_state,
    seed_plan,
    undo_plan,
)
from todoplan.codec.documents import RECENT
from todoplan.core import commands
from todoplan.core.decide import Accepted, Rejected
from todoplan.core.plan.model import Task
from todoplan.dialogue.guidance import Settings
from todoplan.errors import PlanError

HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}
QUIET = Settings(plan_lost=False, unfinished=0, changed=False)
EDIT = commands.CreateTask("Tell Ann")


def agent(*script, store=None, saver=None):
    planner = PlanMiddleware(settings=QUIET, store=store)
    model, saver = Scripted(script=[*script]), saver or InMemorySaver()
    return create_agent(model, middleware=[planner], checkpointer=saver)


def subjects(made):
    return [task.subject for task in plan_of_state(made.get_state(THREAD))]


def undo(made, is_async, **how):
    if is_async:
        return asyncio.run(aundo_plan(made, THREAD, **how))
    return undo_plan(made, THREAD, **how)


ROADS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@ROADS
def test_the_last_change_is_taken_back_whoever_made_it(is_async):
    """
    A person's edit, and then the model's list; behind that there is nothing. The model's next list,
    which has not seen it, does not bring the edit back.
    """
    again = wrote(("a", "completed"), ("b", "pending"), call_id="2")
    made = agent(wrote(("a", "pending"), ("b", "pending")), says("ok"), again, says("ok"))
    made.invoke(HELLO, THREAD)
    edit_plan(made, THREAD, commands.DeleteTask("2"), actor="ann")
    assert isinstance(undo(made, is_async, actor="bo"), Accepted)
    assert subjects(made) == ["a", "b"]
    history = history_of(made.get_state(THREAD))
    assert [(entry.cause, entry.actor) for entry in history[1:]] == [
        ("DeleteTask", "ann"),
        ("undo", "bo"),
    ]
    made.invoke(HELLO, THREAD)
    assert [todo["status"] for todo in made.get_state(THREAD).values["todos"]] == [
        "completed",
        "pending",
    ]
    for left in ([("a", "pending"), ("b", "pending")], []):
        assert isinstance(undo(made, is_async), Accepted)
        plan = plan_of_state(made.get_state(THREAD))
        assert [(task.subject, task.status.value) for task in plan] == left
    assert isinstance(undo(made, is_async), Rejected)


@ROADS
def test_what_the_journal_has_dropped_is_found_in_a_checkpoint(is_async):
    """
    It holds 50 entries, and a thread may have lived for longer.
    """
    made = agent()
    for n in range(RECENT + 3):
        edit_plan(made, THREAD, commands.CreateTask(f"task {n}"))
    for n in range(2):
        undo(made, is_async)
        assert subjects(made)[-1] == f"task {RECENT + 1 - n}"


@ROADS
def test_without_either_it_is_refused(is_async):
    """
    A thread that another one's state was copied to has none of its earlier checkpoints.
    """
    made, other = agent(), agent(says("ok"))
    other.invoke(HELLO, THREAD)
    for n in range(RECENT + 3):
        edit_plan(made, THREAD, commands.CreateTask(f"task {n}"))
    other.update_state(THREAD, made.get_state(THREAD).values, as_node="model")
    with pytest.raises(PlanError, match="with store="):
        undo(other, is_async)


def test_a_plan_that_was_set_is_taken_back_too():
    """
    As any other change.
    """
    made = agent()
    edit_plan(made, THREAD, EDIT)
    seed_plan(made, THREAD, plan_of([Task("7", "seeded")]))
    undo_plan(made, THREAD)
    assert subjects(made) == ["Tell Ann"]


@ROADS
def test_a_thread_without_a_plan_has_nothing_to_undo(is_async):
    """
    Also a new one, and one that has a list of others.
    """
    made = agent(says("ok"))
    assert isinstance(undo(made, is_async), Rejected)
    made.invoke(HELLO, THREAD)
    assert isinstance(undo(made, is_async), Rejected)


@ROADS
def test_a_store_takes_back_at_any_time(is_async):
    """
    From its whole journal.
    """
    store = MemoryStore()
    made = agent(wrote(("a", "pending")), says("ok"), store=store)
    made.invoke(HELLO, THREAD)
    edit_plan(made, THREAD, EDIT)
    assert isinstance(undo(made, is_async, actor="bo"), Accepted)
    assert [task.subject for task in store.load("1")] == ["a"]
    assert store.entries("1")[-1].actor == "bo"


def test_while_a_run_goes_on_it_is_refused():
    """
    As an edit is.
    """
    made = agent(wrote(("a", "pending")), says("ok"))
    for _ in made.stream(HELLO, THREAD, stream_mode="updates"):
        if made.get_state(THREAD).tasks:
            with pytest.raises(PlanError, match="stopped=True"):
                undo_plan(made, THREAD)
            break
