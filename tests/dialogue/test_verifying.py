"""What a verifier's findings make of a call: the evidence, the completion, and what is answered."""

from functools import partial

import attrs
import pytest

from todoplan import DEFAULT, TASKS, TODOS, Plan, Toolbox, replay
from todoplan.core.commands import CreateTask, UpdateTask
from todoplan.core.decide import decide
from todoplan.core.events.base import Base
from todoplan.core.events.types import StatusChanged, TaskEdited
from todoplan.core.plan.model import Status
from todoplan.core.rules import Policy
from todoplan.dialogue import Call
from todoplan.dialogue.toolbox import CheckedToolbox, Finding, Findings

passed, failed = partial(Finding, True), partial(Finding, False)  # noqa: FBT003 - what was found
ASKING = DEFAULT.but(evidence_required="error")
COMPLETE = ("TaskUpdate", {"taskId": "1", "status": "completed"})


def plan_with(*tasks, status="in_progress"):
    """Return a plan of these tasks, each with the check "tests pass"."""
    plan = Plan()
    for title in tasks:
        plan = decide(plan, CreateTask(title, check="tests pass", status=status), Policy()).plan
    return plan


def box(policy=DEFAULT, toolset=TASKS, **found):
    """Return a checked toolbox, and what is known of tasks by id ("_1") once it is asked."""
    findings = Findings("ci")
    checked = CheckedToolbox.of(Toolbox(toolset, policy), findings)

    def answer(plan, *calls, base=None):
        for _ in range(3):
            turn = checked.turn(plan, [Call(*call) for call in calls], base=base)
            if not findings.missing:
                return turn
            for task, _ in findings.missing:
                findings.put(task.id, found[f"_{task.id}"])
        raise AssertionError

    return answer, findings, checked


def test_what_a_call_would_complete_is_missing():
    """The task as it stands before the call, with the plan as its call finds it."""
    _, findings, checked = box()
    plan = plan_with("Fix")
    reply = checked.call(plan, *COMPLETE)
    assert findings.missing == [(plan["1"], plan)]
    assert reply.plan["1"].status is Status.COMPLETED  # provisional: what comes after is seen too


@pytest.mark.parametrize("policy", [DEFAULT, ASKING])
def test_passed_evidence_goes_in_front_of_the_completion(policy):
    """Both are events of the call; what the program saw is no cost but a word."""
    plan = plan_with("Fix")
    turn = box(policy, _1=passed("40 passed"))[0](plan, COMPLETE)
    recorded, completed = turn.events
    assert isinstance(recorded, TaskEdited)
    assert isinstance(completed, StatusChanged)
    assert turn.plan["1"].evidence.passed
    assert (turn.plan["1"].evidence.summary, turn.plan["1"].evidence.by) == ("40 passed", "ci")
    assert turn.replies[0].text == "1/1: #1 completed\nverified: #1"
    assert replay(plan, turn.events) == turn.plan


def test_failed_evidence_keeps_the_task_open_under_the_rule():
    """The refusal says what was seen; the evidence is recorded for whoever looks at the plan."""
    reply = box(ASKING, _1=failed("2 failed\n\x1b[31mof 40"))[0](plan_with("Fix"), COMPLETE)
    reply = reply.replies[0]
    assert reply.is_error
    assert reply.text == (
        "Nothing was changed. #1 was checked and did not pass (tests pass): 2 failed of 40. Mend"
        " that, then complete it again."
    )
    assert [problem.code for problem in reply.problems] == ["check_failed"]
    task = reply.plan["1"]
    assert (task.status, task.evidence.passed) == (Status.IN_PROGRESS, False)
    assert [type(each) for each in reply.events] == [TaskEdited]


def test_failed_evidence_without_the_rule_lets_the_claim_stand():
    """The task is completed as the model says, and the answer says that it is only claimed."""
    reply = box(_1=failed())[0](plan_with("Fix"), COMPLETE).replies[0]
    assert not reply.is_error
    assert reply.plan["1"].status is Status.COMPLETED
    assert reply.text.endswith(
        "#1 stands as completed, but its check did not pass: nothing more is known"
    )


def test_a_long_finding_is_cut_in_the_reply():
    """A test run's whole output would fill the context."""
    reply = box(_1=failed("x" * 5_000))[0](plan_with("Fix"), COMPLETE).replies[0]
    assert len(reply.text) < 500


@pytest.mark.parametrize("policy", [DEFAULT, ASKING])
def test_a_look_that_failed_leaves_the_task_as_it_was(policy):
    """Nothing is recorded of it, and the answer says why."""
    plan = plan_with("Fix")
    reply = box(policy, _1="ValueError: no pytest here")[0](plan, COMPLETE).replies[0]
    assert reply.is_error
    assert reply.plan == plan
    assert reply.events == ()
    assert "could not look whether #1 is done (tests pass): ValueError: no pytest" in reply.text


def test_of_several_each_is_judged_and_all_or_none_completed():
    """A list that completes two is refused for one of them; both findings are recorded."""
    plan = plan_with("Fix", "Test")
    todos = [{"content": title, "status": "completed"} for title in ("Fix", "Test")]
    call = ("write_todos", {"todos": todos})
    found = {"_1": passed("ok"), "_2": failed("1 failed")}
    reply = box(ASKING, TODOS, **found)[0](plan, call).replies[0]
    assert reply.is_error
    assert "#2 was checked and did not pass (tests pass): 1 failed" in reply.text
    assert reply.text.endswith("verified: #1")
    assert [task.evidence.passed for task in reply.plan] == [True, False]
    assert {task.status for task in reply.plan} == {Status.IN_PROGRESS}
    mixed = box(DEFAULT, TODOS, _1=found["_1"], _2="OSError")[0](plan, call).replies[0]
    assert mixed.is_error
    assert [task.evidence and task.evidence.passed for task in mixed.plan] == [True, None]


def test_one_round_finds_all_that_a_turn_completes():
    """Also what a later call completes that builds on an earlier one of the same turn."""
    plan = plan_with("Fix")
    plan = decide(plan, CreateTask("Test", check="seen", blocked_by=["1"]), Policy()).plan
    calls = (
        COMPLETE,
        *(("TaskUpdate", {"taskId": "2", "status": s}) for s in ("in_progress", "completed")),
    )
    answer, findings, checked = box(_1=passed(), _2=passed())
    checked.turn(plan, [Call(*call) for call in calls])
    assert [task.id for task, _ in findings.missing] == ["1", "2"]
    assert findings.missing[1][0].status is Status.IN_PROGRESS
    assert [task.status.value for task in answer(plan, *calls).plan] == ["completed"] * 2


@pytest.mark.parametrize(
    ("before", "arguments"),
    [
        ({"check": None}, {"status": "completed"}),
        ({"status": "cancelled"}, {"status": "completed"}),
        ({"status": "completed"}, {"status": "completed"}),
        ({}, {"status": "in_progress"}),
        ({}, {"status": "no such"}),
    ],
    ids=["no check", "closed", "completed already", "started", "refused"],
)
def test_what_need_not_be_looked_at(before, arguments):
    """A task without a check, one that is closed, and a call that completes nothing."""
    plan = decide(plan_with("Fix"), UpdateTask("1", **before), Policy()).plan
    turn = box()[0](plan, ("TaskUpdate", {"taskId": "1", **arguments}))
    assert turn.replies[0] == attrs.evolve(
        Toolbox(TASKS).call(plan, "TaskUpdate", {"taskId": "1", **arguments}), call_id=""
    )


def test_a_check_that_the_verifier_does_not_know_is_as_without_one():
    """The rule then asks for evidence of the application's own."""
    plan = plan_with("Fix")
    assert box(_1=None)[0](plan, COMPLETE).plan["1"].status is Status.COMPLETED
    reply = box(ASKING, _1=None)[0](plan, COMPLETE).replies[0]
    assert reply.is_error
    assert [problem.code for problem in reply.problems] == ["evidence_required"]


def test_what_was_found_of_another_state_of_the_task_does_not_count():
    """Somebody has started it anew since: it is looked at again (law 20)."""
    _, findings, checked = box()
    plan = plan_with("Fix")
    checked.call(plan, *COMPLETE)
    findings.put("1", passed())
    again = decide(plan, UpdateTask("1", subject="Fix it all"), Policy()).plan
    checked.call(again, *COMPLETE)
    assert findings.missing
    checked.call(plan, *COMPLETE)
    assert not findings.missing


def test_findings_beside_others_share_what_is_found():
    """Calls of one turn look once, each upon its own attempt."""
    _, findings, checked = box()
    other = findings.beside()
    plan = plan_with("Fix")
    checked.call(plan, *COMPLETE)
    findings.put("1", passed("seen"))
    reply = checked.upon(other).call(plan, *COMPLETE)
    assert other.missing == []
    assert reply.plan["1"].evidence.summary == "seen"


def test_a_refusal_that_recorded_evidence_is_no_news_within_its_turn():
    """The next call of the turn is not told of the finding as of another's work."""
    plan = plan_with("Fix")
    base = Base(plan)
    turn = box(ASKING, _1=failed("red"))[0](plan, COMPLETE, ("TaskList", {}), base=base)
    assert "since you last looked" not in turn.replies[1].text
    assert turn.replies[0].is_error


def test_a_turn_says_whether_the_model_knows_the_plan_after_it():
    """A success reports what others did; a refusal reports the evidence alone."""
    plan = plan_with("Fix")
    refused = box(ASKING, _1=failed("red"))[0](plan, COMPLETE)
    for known, knows in ((plan.revision, True), (plan.revision + 1, False), (None, False)):
        assert refused.shows_all_to(known) is knows
    assert not box()[0](plan, ("TaskGet", {"taskId": "9"})).shows_all_to(plan.revision)
    listed = box()[0](plan, ("TaskList", {}))
    assert listed.shows_all_to(None)
    assert attrs.evolve(listed.replies[0], repeat_of=7).revision == 7
