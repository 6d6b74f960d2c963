from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest

from todoplan.codec import dump_plan, load_plan
from todoplan.core.commands import (
    Batch,
    ClearPlan,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import Accepted, Rejected, decide, plan_of
from todoplan.core.plan.model import Task, Todo, fast_constructor
from todoplan.core.plan.plan import Draft, Plan, Tasks
from todoplan.core.rules import Policy
from todoplan.errors import PlanError

PAIR = plan_of([Task("1", "a", blocks=("2",)), Task("2", "b", blocked_by=("1",))])


class Autumn(tzinfo):
    """A zone whose clock shows every hour twice: 4 hours behind UTC, then 5."""

    def utcoffset(self, dt):
        return timedelta(hours=-5 if dt.fold else -4)

    def dst(self, dt):
        return timedelta()


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=9)), Autumn()])
@pytest.mark.parametrize("fold", [0, 1])
def test_an_aware_time_is_stamped_in_utc(zone, fold):
    """The moment that is given stands on what was made, in UTC; none is given, none stands."""
    at = datetime(2026, 11, 1, 1, 30, tzinfo=zone, fold=fold)
    plan = decide(Plan(), CreateTask("a"), at=at).plan
    made = plan["1"].created_at
    assert made.tzinfo is UTC
    assert made.replace(tzinfo=None) == at.replace(tzinfo=None) - at.utcoffset()
    assert load_plan(dump_plan(plan)) == plan
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


MANY = 200
LONG = [
    CreateTasks([CreateTask("x", parent=f"#{n - 1}" if n else None) for n in range(MANY)]),
    WriteTodos([Todo(f"t{n}", level=n) for n in range(MANY)]),
    CreateTasks([CreateTask("x", blocked_by=("999",)) for _ in range(MANY)]),
]


@pytest.mark.parametrize("command", LONG, ids=["chain", "indented", "unknown"])
def test_a_long_command_looks_at_each_task_a_few_times(monkeypatch, command):
    """Each task lies in the one before it, as items or as lines; or waits for an unknown one."""
    looks, get, walk = [], Tasks.get, Draft.__iter__
    monkeypatch.setattr(Tasks, "get", lambda self, task_id: looks.append(1) or get(self, task_id))
    monkeypatch.setattr(Draft, "__iter__", lambda self: looks.extend([1] * len(self)) or walk(self))
    decide(Plan(), command, Policy())
    assert len(looks) < 40 * MANY


def test_a_command_of_a_subclass_is_decided_as_its_command():
    """A program may add to a command what it needs itself, such as where it came from."""

    class FromMail(CreateTask):
        pass

    plan = decide(Plan(), FromMail("a"), Policy()).plan
    assert [task.subject for task in plan] == ["a"]


def test_clearing_an_empty_plan_is_nothing():
    """There is no event where nothing happened."""
    assert decide(Plan(), ClearPlan(), Policy()).events == ()
    assert len(decide(PAIR, ClearPlan(), Policy()).plan) == 0


def test_all_problems_at_once():
    """A batch names what is wrong with each part, not only with the first."""
    parts = CreateTask(" "), DeleteTask("9"), UpdateTask("1", add_blocked_by=("1", "2", "8"))
    answer = decide(PAIR, Batch(parts), Policy())
    assert isinstance(answer, Rejected)
    found = " ".join(p.code for p in answer.problems)
    # Cycles are looked for when the command is known as a whole.
    assert found == "empty_text unknown_task self_edge unknown_task cycle"


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


@pytest.mark.parametrize("next_id", [10**15 + 1, 10**16, 10**18 + 5])
def test_restore_leaves_room_to_count_on(next_id):
    """A next id that no document could hold is refused, as `plan_of` refuses it."""
    answer = decide(Plan(), RestorePlan((Task("5", "x"),), next_id), Policy())
    assert [problem.code for problem in answer.problems] == ["bad_id"]
    highest = decide(Plan(), RestorePlan((Task("5", "x"),), 10**15), Policy()).plan
    assert load_plan(dump_plan(highest)) == highest
    assert str(10**15) in decide(highest, CreateTask("y")).plan


def test_a_command_about_a_number_is_refused():
    """Also where the constructor was passed by, the number 1 names no task."""
    for made in (fast_constructor(DeleteTask), fast_constructor(UpdateTask)):
        with pytest.raises(PlanError, match=r"1 \(int\) was given; give an id"):
            decide(PAIR, made(task_id=1))


class Own(Plan):
    """A plan of another class, as a developer may make one."""


class Mine(Policy):
    """A policy of another class."""


def test_a_subclass_is_a_plan_and_a_policy_as_well():
    """What is one is not refused for its class."""
    assert isinstance(decide(Own(), CreateTask("a"), Mine()), Accepted)


def test_results_are_unwrapped():
    """An acceptance gives its plan; a refusal raises, with the problems in words and as data."""
    accepted = decide(Plan(), CreateTask("a"))
    assert accepted.unwrap() is accepted.plan
    refused = decide(PAIR, Batch((DeleteTask("9"), UpdateTask("1", add_blocked_by=("2",)))))
    assert refused.text == (
        "task_id: There is no task 9; the ids are: 1, 2. add_blocked_by: These tasks would wait for"
        " each other: 1 -> 2 -> 1. Leave out one of these edges."
    )
    with pytest.raises(PlanError) as caught:
        refused.unwrap()
    assert str(caught.value) == refused.text
    assert caught.value.data == {"problems": refused.problems}
