"""What comes from outside the plan: answers, times, evidence, approval."""

from datetime import UTC, datetime, timedelta

import pytest

from todoplan.core.commands import (
    AnswerTask,
    ApprovePlan,
    CreateTask,
    RecordEvidence,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import decide, plan_of
from todoplan.core.events.types import PlanApproved
from todoplan.core.plan.model import Approval, Evidence, Status, Task, Todo, Waiting

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ASKING = plan_of(
    [
        Task("1", "a", waiting=Waiting("ann", question="Which database?")),
        Task("2", "b", waiting=Waiting("the night", until=NOON)),
        Task("3", "c"),
    ]
)


def test_an_answer_ends_the_wait_and_is_kept():
    """The task can be started, and says what was answered."""
    answer = decide(ASKING, AnswerTask("1", "PostgreSQL"))
    task = answer.plan["1"]
    assert (task.waiting, task.answer, task.status) == (None, "PostgreSQL", Status.PENDING)
    assert [task.id for task in answer.plan.ready()] == ["1", "3"]


def test_only_what_waits_is_answered():
    """Whose question it is is said, and an unknown task is one."""
    (problem,) = decide(ASKING, AnswerTask("3", "x")).problems
    assert (problem.code, problem.seen, problem.legal) == ("not_waiting", "3", "1, 2")
    (problem,) = decide(ASKING, AnswerTask("9", "x")).problems
    assert problem.code == "unknown_task"


@pytest.mark.parametrize(("minutes", "ended"), [(-1, False), (0, True), (5, True)])
def test_a_wait_ends_when_its_time_has_come(minutes, ended):
    """With whatever command comes then; the event stands before those of the command."""
    answer = decide(ASKING, UpdateTask("3", subject="d"), at=NOON + timedelta(minutes=minutes))
    assert (answer.plan["2"].waiting is None) is ended
    assert [event.task_id for event in answer.events] == (["2", "3"] if ended else ["3"])
    assert answer.plan["1"].waiting is not None


def test_a_wait_that_ends_makes_its_task_the_next_one():
    """Time comes with the command, before it is carried out."""
    busy = decide(ASKING, UpdateTask("3", status="completed")).plan
    assert decide(busy, StartNext()).events == ()
    started = decide(busy, StartNext(), at=NOON).plan
    assert [task.id for task in started.active()] == ["2"]


def test_evidence_is_kept_with_who_looked_and_when():
    """Named, or whoever gives the command; the same finding again is no event."""
    command = RecordEvidence("3", passed=True, summary="40 passed")
    plan = decide(ASKING, command, at=NOON, actor="ci").plan
    assert plan["3"].evidence == Evidence(True, "40 passed", "ci", NOON)  # noqa: FBT003
    named = RecordEvidence("3", passed=True, by="ann")
    assert decide(ASKING, named, actor="ci").plan["3"].evidence.by == "ann"
    again = decide(plan, command, at=NOON, actor="ci")
    assert [event for event in again.events if event.task_id == "3"] == []
    (problem,) = decide(ASKING, RecordEvidence("9", passed=True)).problems
    assert problem.code == "unknown_task"


def test_an_approval_names_its_revision():
    """That of the plan which somebody agreed to, with who it was and when."""
    answer = decide(ASKING, ApprovePlan(), at=NOON - timedelta(days=1), actor="ann")
    assert answer.events == (PlanApproved("ann", NOON - timedelta(days=1)),)
    revision = ASKING.revision + 1
    assert answer.plan.approved == Approval(revision, "ann", NOON - timedelta(days=1))
    assert answer.plan != ASKING
    later = decide(answer.plan, CreateTask("d")).plan
    assert later.approved.revision < later.revision
    assert decide(ASKING, ApprovePlan("bob"), actor="ann").plan.approved.by == "bob"


def test_a_plan_is_brought_back_with_its_approval():
    """Undoing an approval takes it away; what was approved comes back approved."""
    approved = decide(ASKING, ApprovePlan("ann")).plan
    back = decide(approved, RestorePlan(tuple(ASKING), 4)).plan
    assert back.approved is None
    again = decide(back, RestorePlan(tuple(approved), 4, approved.approved)).plan
    assert again.approved == approved.approved


def test_evidence_is_of_the_check_as_it_was():
    """Another check takes it away; the same one leaves it (law 20)."""
    checked = decide(ASKING, UpdateTask("3", check="tests pass")).plan
    found = decide(checked, RecordEvidence("3", passed=True)).plan
    assert decide(found, UpdateTask("3", check="tests pass")).events == ()
    assert decide(found, UpdateTask("3", subject="d")).plan["3"].evidence is not None
    assert decide(found, UpdateTask("3", check="it is deployed")).plan["3"].evidence is None


@pytest.mark.parametrize(
    ("command", "seen"),
    [
        (UpdateTask("3", waiting=Waiting("x" * 20_000)), "waiting.reason of 20000 characters"),
        (CreateTask("d", waiting=Waiting("", None, "x" * 20_000)), "waiting.question of 20000"),
        (RecordEvidence("3", passed=True, summary="x" * 20_000), "evidence.summary of 20000"),
        (AnswerTask("1", "x" * 20_000), "answer of 20000 characters"),
        (UpdateTask("3", check="x" * 20_000), "check of 20000 characters"),
    ],
)
def test_no_text_is_without_a_limit(command, seen):
    """Also one that stands in a value of its own."""
    (problem,) = decide(ASKING, command).problems
    assert problem.code == "max_text"
    assert problem.seen.startswith(seen)


@pytest.mark.parametrize("until", [NOON, NOON - timedelta(days=1)])
def test_a_wait_whose_time_has_come_is_none(until):
    """However it is given: else the next command would end it, and the same list begin it again."""
    wait = Waiting("the night", until=until)
    answer = decide(ASKING, UpdateTask("3", waiting=wait), at=NOON)
    assert (answer.plan["3"].waiting, [event.task_id for event in answer.events]) == (None, ["2"])
    assert decide(ASKING, CreateTask("d", waiting=wait), at=NOON).plan["4"].waiting is None
    written = WriteTodos((*(Todo(task.subject) for task in ASKING), Todo("d", waiting=wait)))
    once = decide(ASKING, written, at=NOON).plan
    assert once["4"].waiting is None
    assert decide(once, written, at=NOON).events == ()
    assert decide(ASKING, UpdateTask("3", waiting=wait)).plan["3"].waiting is wait
