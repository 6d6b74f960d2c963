"""Histories that 0.2.0 saved are read: each goes on as it did, and from then on has a record."""

import shutil
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelMessagesTypeAdapter
from support.pydantic_ai_agent import Script, planner, record_of, returns, run, saved, use, wrote

from todoplan.adapters.pydantic_ai import KEY, Planning, history_of, plan_of_state, undo_plan
from todoplan.dialogue.guidance import Settings
from todoplan.errors import CodecError
from todoplan.stores.file import FileStore

SAVED = Path(__file__).with_name("saved_by_0_2")
QUIET = Settings(plan_lost=False, unfinished=0)
DIG = ("Dig", "in_progress")
PLANT = ("Plant", "pending")


def messages(name):
    """Return a history as code of 0.2.0 saved it, by Pydantic AI's own adapter."""
    return ModelMessagesTypeAdapter.validate_json((SAVED / f"{name}.json").read_bytes())


def go(kept, *steps, store=None):
    """Return what the tools answer in a run that goes on from it, and the messages after it."""
    agent = planner(Script(*steps, "ok"), Planning(settings=QUIET, store=store))
    result = run(agent, message_history=kept, conversation_id="1")
    return [part.content for part in returns(result.new_messages())], saved(result)


@pytest.mark.parametrize("name", ["written", "tools_alone"])
def test_its_own_list_is_still_listed(name):
    """With and without the capability, whose memory tells of the session."""
    assert [task.subject for task in plan_of_state(messages(name))] == ["Dig", "Plant"]
    (text,), after = go(messages(name), wrote(DIG, call_id="v"))
    assert [task.subject for task in plan_of_state(after)] == ["Dig"]
    assert "since" not in text
    assert after[-1].metadata[KEY].keys() == {"session"}


def test_what_guidance_remembered_goes_on():
    """Two turns were answered; the run that goes on counts from there."""
    before = record_of(messages("written")).memory
    assert before.turn == 2
    _, after = go(messages("written"))
    assert record_of(after).memory.turn == 3


@pytest.mark.parametrize("name", ["edited", "cut"])
def test_what_a_person_did_unseen_is_still_news(name):
    """The base stood in the edited message, or in the response of a run that had lost the plan."""
    assert [task.subject for task in plan_of_state(messages(name))] == [
        "Dig",
        "Plant bulbs",
        "Tell Ann",
    ]
    (text,), after = go(messages(name), wrote(DIG, PLANT, call_id="v"))
    assert "Tell Ann created by ann" in text
    assert "Plant" in text
    assert "by bo" in text
    assert [task.subject for task in plan_of_state(after)] == ["Dig", "Plant bulbs", "Tell Ann"]


def test_a_seeded_plan_is_kept():
    """The model had seen nothing of it."""
    _, after = go(messages("seeded"), wrote(DIG, call_id="v"))
    assert sorted(task.subject for task in plan_of_state(after)) == ["Dig", "Tell Ann"]


def test_with_a_store_the_messages_tell_what_was_seen(tmp_path):
    """The plan is in the store's file; what came since is told, and kept."""
    shutil.copy(SAVED / "plans.json", tmp_path)
    store = FileStore(tmp_path / "plans.json")
    (text,), after = go(messages("stored"), wrote(DIG, call_id="v"), store=store)
    assert "#3 Tell Ann created by ann" in text
    assert [task.subject for task in store.load("1")] == ["Dig", "Tell Ann"]
    assert after[-1].metadata[KEY].keys() == {"session", "stored"}
    go(after, use("read_todos", {}, "r"), store=store)


def test_its_journal_is_read_and_taken_back():
    """Who did what, and what was before."""
    causes = [(entry.cause, entry.actor) for entry in history_of(messages("edited"))]
    assert causes == [("write_todos", None), ("CreateTask", "ann"), ("UpdateTask", "bo")]
    _, undone = undo_plan(Planning(), messages("edited"))
    assert [task.subject for task in plan_of_state(undone)] == ["Dig", "Plant", "Tell Ann"]


@pytest.mark.parametrize("damage", [{"memory": 7}, {"memory": {"turn": "x"}}, {"base": 7}])
def test_what_is_damaged_is_an_error(damage):
    """It is never taken for nothing."""
    kept = messages("edited")
    kept[-1].metadata[KEY].update(damage)
    with pytest.raises(CodecError):
        go(kept)
