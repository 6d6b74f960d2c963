from datetime import UTC, datetime, timedelta, timezone

import pytest

from todoplan.core.assembly import plan_of
from todoplan.core.commands import (
    Batch,
    ClearPlan,
    CreateTask,
    DeleteTask,
    RestorePlan,
    StartNext,
    UpdateTask,
)
from todoplan.core.decide import Accepted, Rejected, decide
from todoplan.core.model import Task
from todoplan.core.plan import Plan
from todoplan.core.policy import Policy
from todoplan.errors import PlanError

PAIR = plan_of([Task("1", "a", blocks=("2",)), Task("2", "b", blocked_by=("1",))])


def test_a_time_without_a_zone_is_the_developers_mistake():
    """A naive time is refused with the remedy, before anything is decided."""
    naive = datetime(2026, 1, 2)  # noqa: DTZ001 - this is the point
    with pytest.raises(PlanError, match=r"no time zone; give an aware time such as") as caught:
        decide(Plan(), CreateTask("a"), at=naive)
    assert caught.value.data == {"at": naive}


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=9))])
def test_an_aware_time_is_stamped(zone):
    """The time that is given with a command stands on what it made."""
    at = datetime(2026, 1, 2, tzinfo=zone)
    assert decide(Plan(), CreateTask("a"), at=at).plan["1"].created_at == at
    assert decide(Plan(), CreateTask("a")).plan["1"].created_at is None


@pytest.mark.parametrize(
    "command",
    [
        UpdateTask("1"),
        UpdateTask("1", status="pending", subject="a", metadata={"k": None}, add_blocks=("2",)),
        UpdateTask("1", remove_blocked_by=("2",)),
        Batch(()),
    ],
)
def test_nothing_to_change_is_accepted_with_the_plan_itself(command):
    """No events, the same revision, the very plan."""
    answer = decide(PAIR, command, Policy())
    assert answer == Accepted(PAIR, ())
    assert answer.plan is PAIR


def test_clearing_an_empty_plan_is_nothing():
    """There is no event where nothing happened."""
    assert decide(Plan(), ClearPlan(), Policy()).events == ()
    assert len(decide(PAIR, ClearPlan(), Policy()).plan) == 0


def test_all_problems_at_once():
    """A batch names what is wrong with each part, not only with the first."""
    parts = CreateTask(" "), DeleteTask("9"), UpdateTask("1", add_blocked_by=("1", "2", "8"))
    answer = decide(PAIR, Batch(parts), Policy())
    assert isinstance(answer, Rejected)
    assert [p.code for p in answer.problems] == [
        "empty_text",
        "unknown_task",
        "self_edge",
        "cycle",
        "unknown_task",
    ]


def test_a_batch_sees_what_it_did():
    """Later parts stand on earlier ones, also on tasks created in the same batch."""
    parts = CreateTask("c"), UpdateTask("3", add_blocked_by=("2",)), DeleteTask("1"), StartNext()
    plan = decide(PAIR, Batch(parts), Policy()).plan
    assert [(t.id, t.status, t.blocked_by) for t in plan] == [
        ("2", "in_progress", ()),
        ("3", "pending", ("2",)),
    ]


def test_restore_brings_tasks_back_and_ids_go_on():
    """An earlier version's tasks, a later revision, and no id twice."""
    later = decide(decide(PAIR, DeleteTask("1")).plan, CreateTask("c")).plan
    back = decide(later, RestorePlan(tuple(PAIR), PAIR.next_id)).plan
    assert tuple(back) == tuple(PAIR)
    assert (back.next_id, back.revision) == (4, later.revision + 1)


def test_restore_refuses_what_is_no_plan():
    """The faults of ready-made tasks are problems like others."""
    answer = decide(Plan(), RestorePlan((Task("1", " ", blocks=("7",)),)))
    assert {problem.code for problem in answer.problems} == {"empty_text", "unknown_task"}
