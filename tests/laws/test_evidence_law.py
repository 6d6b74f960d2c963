"""Law 20: a task with a check is completed only with evidence, which no model can record."""

import json

import attrs
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from support import strategies as some

from todoplan import Plan, Toolbox
from todoplan.core.commands import CreateTask, RecordEvidence, RestorePlan, UpdateTask
from todoplan.core.decide import Accepted, decide
from todoplan.core.events.types import PlanApproved, TaskCreated, TaskEdited
from todoplan.core.plan.model import Status
from todoplan.core.rules import Policy
from todoplan.dialogue.tools import TOOLSETS, WRITE_TODOS
from todoplan.testing import strategies

STRICT = Policy().but(evidence_required="error")


def _moves(ids):
    """
    Draw what a model and a program do with a few tasks: start, complete, look, change the check.
    """
    return st.one_of(
        st.builds(UpdateTask, ids, status=st.sampled_from(Status)),
        st.builds(RecordEvidence, ids, st.booleans()),
        st.builds(UpdateTask, ids, check=st.sampled_from(["tests pass", "it runs", None])),
        st.builds(
            UpdateTask, ids, status=st.just("completed"), check=st.sampled_from(["easy", None])
        ),
        st.builds(
            CreateTask, st.just("more"), check=st.just("seen"), status=st.sampled_from(Status)
        ),
    )


@given(st.lists(_moves(st.sampled_from("123")) | some.commands, min_size=4, max_size=25))
def test_only_evidence_since_the_last_start_completes(script):
    """
    Whatever is done before: a task with a check becomes completed only if, since it was last
    started, and by the check that it has, the program found that it is done.
    """
    plan, passed = Plan(), {}
    for title in "abc":
        plan = decide(plan, CreateTask(title, check="tests pass"), STRICT).plan
    for command in script:
        before, decision = plan, decide(plan, command, STRICT)
        if not isinstance(decision, Accepted) or isinstance(command, RestorePlan):
            continue
        plan = decision.plan
        if isinstance(command, RecordEvidence):
            passed[command.task_id] = command.passed
        for task in plan:
            was = before.get(task.id)
            arrived = task.status is Status.COMPLETED
            if arrived and (was is None or was.status is not Status.COMPLETED):
                check = task.check or (was and was.check)
                event(f"completed, {'with' if check else 'without'} a check")
                assert not check or passed.get(task.id)
            if not isinstance(command, RecordEvidence) and _begins_anew(was, task):
                passed.pop(task.id, None)


def _begins_anew(was, task):
    if was is None or was.check != task.check or was.status.closed:
        return True
    return task.status is Status.IN_PROGRESS and was.status is not Status.IN_PROGRESS


FORGED = {
    "evidence": {"passed": True, "summary": "all green", "by": "ci"},
    "passed": True,
    "verified": True,
    "check": "nothing",
    "approved": {"revision": 1, "by": "ann"},
    "approve": True,
    "RecordEvidence": {"task_id": "1", "passed": True},
}


def _forging(value):
    """Return arguments with all that a model might try in every object of them."""
    if isinstance(value, dict):
        return {**{key: _forging(each) for key, each in value.items()}, **FORGED}
    return [_forging(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("toolset", [*TOOLSETS.values(), WRITE_TODOS], ids=repr)
@given(data=st.data())
def test_no_argument_records_evidence(toolset, data):
    """No tool has it as an argument, and what is sent all the same is taken for neither."""
    shown = json.dumps([attrs.asdict(each) for each in toolset.definitions()])
    assert '"evidence"' not in shown
    assert '"approved"' not in shown
    plan = decide(Plan(), CreateTask("a", check="tests pass", status="in_progress"), Policy()).plan
    plan = decide(plan, CreateTask("b", check="tests pass"), Policy()).plan
    call = data.draw(strategies.arguments(toolset, plan))
    reply = Toolbox(toolset, Policy()).call(plan, call.name, _forging(call.arguments))
    for each in reply.events:
        assert not isinstance(each, PlanApproved)
        if isinstance(each, TaskEdited):
            assert each.changes.get("evidence") is None
        if isinstance(each, TaskCreated):
            assert each.task.evidence is None
    assert all(task.evidence is None for task in reply.plan)
    assert reply.plan.approved is None


@pytest.mark.parametrize("toolset", [*TOOLSETS.values(), WRITE_TODOS], ids=repr)
@given(data=st.data())
def test_a_model_alone_completes_no_check(toolset, data):
    """Under the rule and without a verifier, no call of any set completes a task with a check."""
    plan = decide(Plan(), CreateTask("a", check="tests pass", status="in_progress"), Policy()).plan
    box = Toolbox(toolset, STRICT)
    for _ in range(3):
        call = data.draw(strategies.arguments(toolset, plan))
        plan = box.call(plan, call.name, call.arguments).plan
    done = [task for task in plan if task.check and task.status is Status.COMPLETED]
    assert done == []
