from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import strategies as some

from todoplan.core.commands import CreateTask
from todoplan.core.decide import decide, plan_of, plan_problems
from todoplan.core.events.apply import apply, replay
from todoplan.core.events.types import (
    ClaimRenewed,
    EdgeAdded,
    EdgeRemoved,
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
from todoplan.core.plan.model import EDITABLE, Approval, Claim, FrozenDict, Status, Task, Waiting
from todoplan.core.plan.plan import Plan

AT, LATER = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 3, tzinfo=UTC)
PLAN = plan_of([Task("1", "a", blocks=("2",)), Task("2", "b", blocked_by=("1",)), Task("3", "c")])

stray_events = st.one_of(
    st.builds(TaskCreated, st.builds(Task, some.any_ids, some.good_texts)),
    st.builds(StatusChanged, some.any_ids, some.statuses, some.statuses, some.times),
    st.builds(TaskEdited, some.any_ids, st.just(FrozenDict({"owner": "ann", "id": "9"}))),
    st.builds(EdgeRemoved, some.any_ids, some.any_ids, some.times),
    st.builds(TaskDeleted, some.any_ids, some.times),
    st.builds(TasksReordered, some.few(some.any_ids)),
    st.builds(TaskCreated, st.builds(Task, some.any_ids, some.good_texts, parent=some.any_ids)),
    st.builds(ParentChanged, some.any_ids, st.none() | some.any_ids, some.times),
    st.builds(TaskEdited, some.any_ids, st.just(FrozenDict({"waiting": Waiting("ann")}))),
    st.just(PlanApproved("ann")),
    st.builds(TaskClaimed, some.any_ids, st.just(Claim("bot", 1))),
    st.builds(ClaimRenewed, some.any_ids, some.times),
    st.just(PlanCleared(())),
)


@given(some.full_plans, st.lists(stray_events, max_size=6))
def test_apply_is_total(plan, events):
    """Any event may come to any plan: nothing is raised, the revision counts, a plan is a plan."""
    after = replay(plan, events)
    assert after.revision == plan.revision + len(events)
    assert list(plan_problems(tuple(after))) == []
    assert sum(1 for _ in after) == len(after)


@pytest.mark.parametrize(
    "event",
    [
        TaskCreated(Task("1", "again")),
        TaskCreated(Task("x", "no id")),
        StatusChanged("9", Status.PENDING, Status.COMPLETED, AT),
        TaskEdited("9", FrozenDict({"subject": "x"}), AT),
        EdgeAdded("1", "9", AT),
        EdgeAdded("9", "1", AT),
        EdgeAdded("1", "1", AT),
        EdgeAdded("1", "2", AT),
        EdgeRemoved("1", "3", AT),
        EdgeRemoved("9", "1", AT),
        EdgeRemoved("1", "9", AT),
        TaskDeleted("9", AT),
        TaskClaimed("9", Claim("bot", 1)),
        TasksReordered(("9",), AT),
    ],
)
def test_what_makes_no_sense_changes_no_task(event):
    """An event about a task or edge that is not there, or is there already, counts and no more."""
    after = apply(PLAN, event)
    assert tuple(after) == tuple(PLAN)
    assert after.revision == PLAN.revision + 1


def test_only_fields_that_may_be_edited_are():
    """An edit sets texts, owner, estimate and metadata; never identity, status, edges or times."""
    sent = FrozenDict({"owner": "ann", "id": "9", "status": "completed", "blocks": (), "nope": 1})
    task = apply(PLAN, TaskEdited("1", sent, AT))["1"]
    assert task == PLAN["1"].but(owner="ann", updated_at=AT)
    assert {"id", "status", "blocks", "blocked_by", "created_at"}.isdisjoint(EDITABLE)


def test_without_a_time_the_last_one_stays():
    """An event whose time is not known does not erase when the task was touched."""
    plan = apply(PLAN, TaskEdited("1", FrozenDict({"owner": "ann"}), AT))
    assert apply(plan, TaskEdited("1", FrozenDict({"owner": "bob"})))["1"].updated_at == AT


@pytest.mark.parametrize("status", Status)
def test_born_with_the_times_of_its_status(status):
    """A task that is created started or completed has been so since then."""
    task = decide(Plan(), CreateTask("a", status=status), at=AT).plan["1"]
    assert (task.created_at, task.updated_at) == (AT, AT)
    assert task.started_at == (AT if status is Status.IN_PROGRESS else None)
    assert task.completed_at == (AT if status is Status.COMPLETED else None)


@given(st.permutations(["1", "2", "3"]), st.integers(0, 3))
def test_reordering_keeps_those_not_named(order, named):
    """Named tasks come first, twice named counts once, the others follow as they were."""
    after = apply(PLAN, TasksReordered((*order[:named], *order[:named], "9")))
    rest = [task.id for task in PLAN if task.id not in order[:named]]
    assert [task.id for task in after] == [*order[:named], *rest]


@given(some.permutations_of_ids)
def test_created_in_any_order_all_are_found(ids):
    """Ids need not come in the order of their numbers: an old journal may hold any."""
    plan = replay(PLAN, [PlanCleared(()), *(TaskCreated(Task(i, "x")) for i in ids)])
    assert [task.id for task in plan] == ids
    assert all(plan[task_id].id == task_id for task_id in ids)
    assert plan.next_id == max([PLAN.next_id, *(int(i) + 1 for i in ids)])


def test_restored_tasks_come_with_edges_and_ids_go_on():
    """A restore brings tasks as they were; the next id never falls."""
    restored = apply(PLAN, PlanRestored(tuple(PLAN)[:0], next_id=2))
    assert (len(restored), restored.next_id) == (0, 4)
    again = apply(restored, PlanRestored(tuple(PLAN), next_id=50))
    assert tuple(again) == tuple(PLAN)
    assert (again.next_id, again.waits_for("2")) == (50, 1)


def test_only_a_pending_task_is_made_to_wait():
    """What was started or closed since is not brought to a halt by an old word."""
    waits = TaskEdited("1", FrozenDict({"waiting": Waiting("ann"), "owner": "bob"}))
    assert apply(PLAN, waits)["1"].waiting == Waiting("ann")
    started = apply(PLAN, StatusChanged("1", Status.PENDING, Status.IN_PROGRESS))
    assert (apply(started, waits)["1"].waiting, apply(started, waits)["1"].owner) == (None, "bob")


def test_a_task_goes_where_the_event_says():
    """Below another one, stamped with the time; to nowhere it does not go."""
    after = apply(PLAN, ParentChanged("1", "3", LATER))
    assert [(task.id, task.parent) for task in after] == [("2", None), ("3", None), ("1", "3")]
    assert after["1"].updated_at == LATER
    for parent in ("9", "1", None):
        assert list(apply(PLAN, ParentChanged("1", parent))) == list(PLAN)


def test_a_claim_is_of_a_task_in_progress():
    """Of another one only the count is kept: a fence is never given twice."""
    claimed = TaskClaimed("1", Claim("bot", 4), None, AT)
    task = apply(PLAN, claimed)["1"]
    assert (task.claim, task.claims, task.updated_at) == (None, 4, AT)
    started = apply(PLAN, StatusChanged("1", Status.PENDING, Status.IN_PROGRESS))
    held = apply(started, claimed)
    assert held["1"].claim == Claim("bot", 4)
    assert apply(held, ClaimRenewed("1", LATER))["1"].claim == Claim("bot", 4, LATER)
    assert apply(held, TaskClaimed("1", Claim("ann", 2)))["1"].claims == 4
    assert list(apply(PLAN, ClaimRenewed("1", LATER))) == list(PLAN)
    back = apply(held, StatusChanged("1", Status.IN_PROGRESS, Status.PENDING))
    assert (back["1"].claim, back["1"].claims) == (None, 4)


def test_an_approval_is_of_the_revision_that_it_makes():
    """So that whatever comes later is above it; a restored plan has the approval that it had."""
    after = apply(PLAN, PlanApproved("ann", AT))
    assert after.approved == Approval(PLAN.revision + 1, "ann", AT)
    assert apply(after, PlanRestored(tuple(PLAN))).approved is None
    back = apply(PLAN, PlanRestored(tuple(PLAN), approved=Approval(3, "bob")))
    assert back.approved == Approval(3, "bob")


@pytest.mark.parametrize("end", ["9", "x", "1000", "2"])
def test_a_damaged_journal_raises_nothing(end):
    """Restored tasks with loose ends can be moved and deleted like others: `apply` is total."""
    loose = Task("1", "a", blocks=(end,), blocked_by=(end,))
    plan = apply(PLAN, PlanRestored((loose, Task("2", "b")), 3))
    for event in (
        StatusChanged("1", Status.PENDING, Status.COMPLETED),
        StatusChanged("1", Status.COMPLETED, Status.PENDING),
        TaskDeleted("1"),
    ):
        plan = apply(plan, event)
    assert [task.id for task in plan] == ["2"]


class Own(Plan):
    """A plan of another class, as a developer may make one."""


def test_a_subclass_of_a_plan_is_a_plan():
    """It is replayed like any other."""
    assert len(replay(Own(), decide(Plan(), CreateTask("a")).events)) == 1


def test_a_lost_claim_of_a_closed_task_is_no_failed_attempt():
    """Failed attempts are counted for open tasks, and for none that is not there."""
    lost = StatusChanged("1", Status.IN_PROGRESS, Status.PENDING, None, "bot")
    assert apply(PLAN, lost)["1"].failed_attempts == 1
    done = StatusChanged("1", Status.IN_PROGRESS, Status.COMPLETED, None, "bot")
    assert apply(PLAN, done)["1"].failed_attempts == 0
    gone = StatusChanged("9", Status.IN_PROGRESS, Status.PENDING, None, "bot")
    assert list(apply(PLAN, gone)) == list(PLAN)
