"""What an accepted call answers: every event has its words, and the length does not grow."""

import typing

import pytest
from hypothesis import given
from support.policies import strict_for
from support.strategies import commands, full_plans
from support.talk import PYTHON, planned, toolbox, write

from todoplan.core.commands import ClearPlan, RestorePlan, UpdateTask
from todoplan.core.decide.decide import Accepted, decide
from todoplan.core.events.types import (
    EdgeAdded,
    EdgeRemoved,
    Event,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
    TasksReordered,
)
from todoplan.core.plan.frozen import EMPTY
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules.change import Change
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.replies.phrasing import (
    change_text,
    counts_text,
    not_in_reply,
    whole_list_text,
)
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools.tasks import TASKS
from todoplan.dialogue.tools.todos import TODOS

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
}


def test_every_event_has_its_words():
    """Each member of the union is put into words."""
    assert set(map(type, WORDS)) == set(typing.get_args(Event))
    for event, words in WORDS.items():
        change = Change(Plan(), Plan(), None, (event,))
        assert change_text(change) == f"0/0: {words}"


@pytest.mark.parametrize(
    ("status", "words"),
    [("pending", "pending again"), ("completed", "completed"), ("cancelled", "cancelled")],
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
    assert "and 995 more like these" in again.text
    assert len(again.text) < 800
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
    assert "leaves out open tasks (#1-#1000)" in strict.text
    assert len(strict.text) < 900


def test_what_became_ready_is_named_once():
    """Of several tasks that something unblocks, those that can start now, in order."""
    plan = planned("a", "b", "c", "d")
    for blocked, blockers in (("2", ("1",)), ("3", ("1",)), ("4", ("1", "2"))):
        plan = decide(plan, UpdateTask(blocked, add_blocked_by=blockers)).plan
    reply = toolbox("tasks").call(plan, "TaskUpdate", {"taskId": 1, "status": "completed"})
    assert reply.text == "1/4: #1 completed; now ready: #2-#3"


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
    assert [warning.code for warning in not_in_reply(map(Problem, codes))] == ["single_in_progress"]


def test_a_task_freed_by_an_edge_that_goes_is_said_to_be_ready():
    """As one whose blocker was resolved is; an edge to a resolved blocker frees nobody."""
    box, plan = Toolbox(TASKS), Plan()
    two = {"tasks": [{"subject": "a"}, {"subject": "b", "blockedBy": ["#0"]}]}
    plan = box.call(plan, "TaskCreate", two).plan
    removal = {"taskId": "2", "removeBlockedBy": ["1"]}
    assert box.call(plan, "TaskUpdate", removal).text == "0/2: #2 updated; now ready: #2"
    done = box.call(plan, "TaskUpdate", {"taskId": "1", "status": "completed"}).plan
    assert box.call(done, "TaskUpdate", removal).text == "1/2: #2 updated"
