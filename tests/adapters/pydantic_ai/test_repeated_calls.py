"""A run that goes on from messages without the answers does nothing twice."""

from datetime import UTC, datetime

import pytest
from pydantic_ai.messages import ModelRequest, UserPromptPart
from support.cut_off import Cut, CutMemory
from support.pydantic_ai_agent import Script, created, planner, response, returns, run

from todoplan import Planner
from todoplan.adapters.pydantic_ai import Planning
from todoplan.core import commands
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks
from todoplan.stores.memory import MemoryHold

QUIET = Settings(plan_lost=False, unfinished=0, changed=False)


def go(store, messages, *script, **options):
    """Run from messages whose last response has calls that nobody has answered."""
    planning = Planning(Toolbox(tasks()), settings=QUIET, store=store, **options)
    agent = planner(Script(*script), planning)
    return run(agent, None, message_history=messages, conversation_id="1")


def asked(*subjects):
    """Return a conversation in which the model has just made calls."""
    return [ModelRequest([UserPromptPart("go")]), response(created(*subjects))]


def test_calls_whose_answers_were_lost_are_answered_again_and_not_done_again():
    """The first was carried out, the second never came to it; what others did is told."""
    store, messages = CutMemory(), asked("a", "b")
    with pytest.raises(Cut):
        go(store, messages)
    assert len(store.load("1")) == 1
    Planner(store, "1").apply(commands.CreateTask("c"), actor="ann")
    result = go(store, messages, "ok")
    assert [task.subject for task in store.load("1")] == ["a", "c", "b"]
    first, second = (part.content for part in returns(result.all_messages()))
    assert first.endswith("0/1: #1 created")
    assert second.endswith("0/3: #3 created")


def test_the_same_calls_of_another_response_are_other_ones():
    """Some providers number the calls of each response anew."""
    store = CutMemory()
    store.is_cut = False
    go(store, asked("a"), "ok")
    go(store, asked("a"), "ok")
    assert [task.subject for task in store.load("1")] == ["a", "a"]


def test_the_clock_is_the_stores(monkeypatch):
    """Law 19: leases run by one clock for all; one that was given is meant."""
    times = [datetime(2026, 1, number, tzinfo=UTC) for number in (1, 2)]
    monkeypatch.setattr(MemoryHold, "now", lambda _: times[0])
    store = CutMemory()
    store.is_cut = False
    go(store, asked("a"), "ok")
    go(store, asked("b"), "ok", clock=lambda: times[1])
    assert [entry.at for entry in store.entries("1")] == times
