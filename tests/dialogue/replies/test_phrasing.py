"""What an accepted call answers: every event has its words, and the length does not grow."""

import typing
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from support.policies import strict_for
from support.strategies import commands, full_plans
from support.talk import PYTHON, planned, toolbox, write

from todoplan.core.commands import (
    Batch,
    ClaimTask,
    ClearPlan,
    CreateTask,
    RestorePlan,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import Accepted, decide, decide_with_change, plan_of
from todoplan.core.events.types import (
    ClaimRenewed,
    EdgeAdded,
    EdgeRemoved,
    Event,
    ParentChanged,
    PlanApproved,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskClaimed,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
    TasksReordered,
)
from todoplan.core.plan.model import EMPTY, Status, Task, Todo, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules import Change, Policy
from todoplan.dialogue.replies import change_text, counts_text, warnings_text, whole_list_text
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS

WORDS = {
    TaskCreated(Task("1", "a")): "#1 created",
    StatusChanged("1", Status.PENDING, Status.IN_PROGRESS): "#1 started",
    TaskEdited("1", EMPTY): "#1 updated",
    EdgeAdded("1", "2"): "#2 updated",
    EdgeRemoved("1", "2"): "#2 updated",
    TaskDeleted("1"): "#1 deleted",
    TasksReordered(("2", "1")): "order changed",
    PlanCleared(("1",)): "all tasks deleted",
    PlanRestored(()): "earlier plan restored",
    ParentChanged("1", None): "#1 moved",
    PlanApproved("ann"): "plan approved",
    ClaimRenewed("1", None): "claim of #1 extended",
}


def test_every_event_has_its_words():
    """Each member of the union is put into words."""
    assert {*map(type, WORDS), TaskClaimed} == set(typing.get_args(Event))
    for event, words in WORDS.items():
        change = Change(Plan(), Plan(), None, (event,))
        assert change_text(change) == f"0/0: {words}"


def test_a_claim_is_said_with_its_fence_and_its_text():
    """Who gets a task may never have seen it; a task that is gone again has no words."""
    plan = plan_of([Task("1", "Dig"), Task("2", "Lay")])
    decision, change = decide_with_change(plan, ClaimTask("ann"), Policy(), None)
    assert change_text(change) == "0/2: #1 claimed (fence 1): Dig"
    later = datetime(2026, 1, 1, tzinfo=UTC)
    ended = decide(plan, ClaimTask("ann", lease=1), at=later).unwrap()
    hour = later + timedelta(hours=1)
    _, change = decide_with_change(ended, ClaimTask("bob"), Policy(), hour)
    assert [type(event) for event in change.events] == [TaskClaimed]
    assert change_text(change) == "0/2: #1 claimed (fence 2): Dig"
    gone = Change(Plan(), Plan(), None, (*decision.events, TaskDeleted("1")))
    assert change_text(gone) == "0/0: #1 deleted"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("pending", "pending again"),
        ("completed", "completed"),
        ("cancelled", "cancelled"),
        ("failed", "failed"),
    ],
)
def test_every_status_has_its_words(status, words):
    """So does each status that a task can get."""
    event = StatusChanged("1", Status.IN_PROGRESS, Status(status))
    assert change_text(Change(Plan(), Plan(), None, (event,))) == f"0/0: #1 {words}"


@given(full_plans, commands)
def test_replies_hold_no_repr_and_are_short(plan, command):
    """Whatever was done: words and ids only, and a length that does not grow with the plan."""
    decision = decide(plan, command, Policy())
    if isinstance(decision, Accepted):
        change = Change(plan, decision.plan, command, decision.events)
        for text in (change_text(change), whole_list_text(change), counts_text(decision.plan)):
            assert text
            assert len(text) < 1_500
        assert not PYTHON.search(change_text(change))


def test_replies_about_a_large_plan_are_as_short():
    """A thousand tasks written, changed and dropped: the replies fit a few lines."""
    titles = [f"task number {n}" for n in range(1_000)]
    reply = write([{"content": title, "status": "completed"} for title in titles])
    assert reply.text == "ok, 1000/1000 completed"
    again = write([{"content": title, "status": "pending"} for title in titles], reply.plan)
    assert "(#1-#1000 set to pending)" in again.text
    assert len(again.text) < 200
    assert len(write(["other"], again.plan).text) < 300
    lean = toolbox("lean")
    made = lean.call(Plan(), "plan", {"write": titles})
    odd = lean.call(made.plan, "plan", {"done": list(range(1, 1_000, 2))})
    assert odd.text.startswith(
        "500/1000: #1, #3, #5, #7, #9, #11, #13, #15, #17, #19 and 490 more completed"
    )
    assert len(odd.text) < 200


def test_errors_about_a_large_plan_are_as_short():
    """A cycle through a thousand tasks is told by its ends, dropped tasks by their ranges."""
    chain = [
        {"subject": "0"},
        *({"subject": str(n), "blockedBy": [f"#{n - 1}"]} for n in range(1, 1_000)),
    ]
    plan = toolbox("tasks").call(Plan(), "TaskCreate", {"tasks": chain}).plan
    reply = toolbox("tasks").call(plan, "TaskUpdate", {"taskId": 1, "addBlockedBy": [1_000]})
    assert "1 -> 2 -> 3" in reply.text
    assert "-> 1000 -> 1" in reply.text
    assert len(reply.text) < 500
    strict = Toolbox(TODOS, strict_for(TODOS)).call(plan, "write_todos", {"todos": ["x"]})
    assert 'leaves out open tasks (#1-#1000: "0", "1", "2", "3", "4", ...);' in strict.text
    assert len(strict.text) < 900


def test_clearing_and_restoring():
    """A cleared plan and a restored one say so."""
    plan = planned("a")
    cleared = decide(plan, ClearPlan())
    assert change_text(Change(plan, cleared.plan, None, cleared.events)) == "0/0: all tasks deleted"
    back = decide(cleared.plan, RestorePlan(tuple(plan)))
    told = change_text(Change(cleared.plan, back.plan, None, back.events))
    assert told == "0/1: earlier plan restored"


def test_warnings_that_a_receipt_tells_are_not_told_twice():
    """Dropped items and writes without effect have words of their own."""
    codes = ("dropped_open_items", "no_op_write", "single_in_progress")
    (only,) = warnings_text(map(Problem, codes))
    assert "keep one in progress" in only


NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)


def told(plan, *commands, at=None):
    """Return the answer to granular calls that make these commands."""
    decision, change = decide_with_change(plan, Batch(commands), Policy(), at)
    assert isinstance(decision, Accepted)
    return change_text(change)


@pytest.mark.parametrize("status", ["in_progress", "completed"])
def test_subtasks_are_ready_once_what_contains_them_no_longer_waits(status):
    """Starting or closing a task that waits ends its wait."""
    inner = CreateTask("b", parent="1")
    plan = decide(planned("a"), Batch((inner, UpdateTask("1", waiting=Waiting("ann"))))).unwrap()
    assert told(plan, UpdateTask("1", status=status)).endswith("; now ready: #2")


def test_a_wait_that_time_has_ended_is_told():
    """By whichever answer comes first; a whole list says it by the title."""
    waits = Waiting("the release", until=NOON)
    plan = decide(planned("a", "b"), UpdateTask("2", waiting=waits)).unwrap()
    edit = UpdateTask("1", owner="ann")
    assert told(plan, edit, at=LATER) == ("0/2: the wait of #2 is over; #1 updated; now ready: #2")
    assert told(plan, edit, at=NOON - timedelta(1)) == "0/2: #1 updated"
    same = WriteTodos((Todo("a"), Todo("b")))
    change = decide_with_change(plan, same, Policy(), LATER)[1]
    assert whole_list_text(change) == 'ok, 0/2 completed; the wait of "b" is over'
    before = decide_with_change(plan, same, Policy(), NOON - timedelta(1))[1]
    assert whole_list_text(before) == "no change, 0/2 completed"
