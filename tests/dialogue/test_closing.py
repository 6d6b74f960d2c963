"""`plan_closed`: whether work may end, from the plan alone, in the form of each loop."""

import json

import attrs
import pytest
from hypothesis import given

from todoplan import Task, plan_of
from todoplan.core.plan.model import Evidence, Waiting
from todoplan.core.plan.questions import open_tasks
from todoplan.dialogue import PlanClosed, plan_closed
from todoplan.testing import strategies

SHOWN = Evidence(passed=True, summary="40 passed")


def plan(*tasks):
    return plan_of([attrs.evolve(task, id=str(n)) for n, task in enumerate(tasks, 1)])


def task(subject, status="pending", **more):
    return Task("1", subject, status=status, **more)


DONE = task("Dig", "completed", check="it holds", evidence=SHOWN)


@pytest.mark.parametrize(
    ("tasks", "given", "ids"),
    [
        ((), {}, ((), (), ())),
        ((DONE, task("Lay", "cancelled")), {}, ((), (), ())),
        ((DONE, task("Lay", "failed")), {}, ((), (), ())),
        ((DONE, task("Lay")), {}, (("2",), (), ())),
        ((task("Dig", "completed", check="it holds"),), {}, ((), (), ("1",))),
        ((task("Dig", "completed", check="it holds"),), {"evidence": False}, ((), (), ())),
        ((attrs.evolve(DONE, evidence=Evidence(passed=False)),), {}, ((), (), ("1",))),
        ((task("Ask", waiting=Waiting("an answer")),), {}, ((), ("1",), ())),
        ((task("Ask", waiting=Waiting("an answer")),), {"waits": False}, ((), ("1",), ())),
        ((task("Lay"),), {"claimed": ["1"]}, ((), ("1",), ())),
    ],
)
def test_open_tasks_waits_and_evidence_decide(tasks, given, ids):
    """What is open keeps from ending, and what has a check that nobody has seen pass."""
    closed = plan_closed(plan(*tasks), **given)
    assert (closed.open, closed.waiting, closed.unverified) == ids
    keeps = ids[0] or ids[2] or (ids[1] and given.get("waits") is False)
    assert bool(closed) is not bool(keeps)
    assert bool(closed.reason) is bool(keeps)


def test_the_reason_names_the_tasks_and_what_to_do():
    """In a few lines that hold no more than twenty tasks of a kind, each on one line."""
    tasks = [task(f"Row {number}\nand more") for number in range(1, 31)]
    unseen = task("Test", "completed", check="all pass")
    reason = plan_closed(plan(*tasks, unseen)).reason
    assert reason.startswith(
        "The work is not done yet (1/31 completed).\nOpen: #1 Row 1 and more; "
    )
    assert "; and 10 more. Finish them, or set" in reason
    assert "the check has not passed: #31 Test. Show that they are done" in reason


def test_each_loop_has_its_form():
    """Microsoft's predicate, Strands' validator, a Stop hook, Haystack's hook, a plain loop."""
    end, more = plan_closed(plan(DONE)), plan_closed(plan(task("Lay")))
    assert end.should_continue() == (False, "")
    assert more.should_continue() == (True, more.reason)
    assert end.validation() == {"passed": True, "feedback": None}
    assert more.validation() == {"passed": False, "feedback": more.reason}
    assert end.stop_hook() == {}
    assert json.loads(json.dumps(more.stop_hook())) == {"decision": "block", "reason": more.reason}
    state = {}

    class State:
        set = staticmethod(state.__setitem__)

    end.on_exit(State, str)
    assert state == {}
    more.on_exit(State, str)
    assert state == {"continue_run": True, "messages": [more.reason]}


@given(strategies.plans())
def test_a_plan_without_open_tasks_and_checks_is_closed(drawn):
    """And one with an open task that nothing holds up is not, whatever else is in it."""
    closed = plan_closed(drawn, evidence=False)
    assert isinstance(closed, PlanClosed)
    assert {*closed.open, *closed.waiting} == {one.id for one in open_tasks(drawn)}
    assert bool(closed) is not bool(closed.open)
