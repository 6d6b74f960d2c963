import pytest
from hypothesis import given
from support import strategies as some

from todoplan.core.commands import CreateTask
from todoplan.core.decide import decide, plan_of, plan_problems
from todoplan.core.plan.model import Approval, Claim, Task, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.errors import PlanError

PAIR = (Task("1", "a", blocks=("2",)), Task("2", "b", blocked_by=("1",)))


@given(some.plans)
def test_the_tasks_of_a_plan_are_a_plan(plan):
    """Every plan that commands reach can be built from its tasks."""
    assert list(plan_problems(tuple(plan))) == []
    kept = {"next_id": plan.next_id, "revision": plan.revision, "approved": plan.approved}
    assert plan_of(iter(plan), **kept) == plan


def test_next_id_is_above_every_id():
    """It is raised when too low, also when nothing but nonsense is given."""
    assert plan_of([Task("41", "a")]).next_id == 42
    assert plan_of([Task("41", "a")], next_id=7).next_id == 42
    assert plan_of([Task("41", "a")], next_id=99).next_id == 99
    assert plan_of([], next_id=-5).next_id == 1
    assert plan_of([]) == Plan()


@pytest.mark.parametrize("next_id", [2, 3, 100, 1_000, 10**9])
def test_a_task_after_any_gap_is_found(next_id):
    """However far the next id is from the last, the new task is found under it, in its place."""
    plan = plan_of([Task("1", "a")], next_id=next_id)
    after = decide(plan, CreateTask("b")).plan
    assert after[str(next_id)].subject == "b"
    assert [task.id for task in after] == ["1", str(next_id)]
    assert [task.id for task in after.ready()] == ["1", str(next_id)]


FAULTS = [
    ([Task("x", "a")], "bad_id", ("x",), "an id is a number like 7, as a string"),
    ([Task("007", "a")], "bad_id", ("007",), "an id is a number like 7, as a string"),
    ([Task("1", "a"), Task("1", "b")], "duplicate_id", ("1",), "the id stands twice"),
    ([Task("1", " \n")], "empty_text", ("1",), "no subject"),
    ([Task("1", "a", blocks=("1",))], "self_edge", ("1",), "blocks names the task itself"),
    ([Task("1", "a", blocked_by=("1",))], "self_edge", ("1",), "blocked_by names the task itself"),
    ([Task("1", "a", blocks=("9",))], "unknown_task", ("1", "9"), "blocks names no task"),
    ([PAIR[0], Task("2", "b")], "one_sided_edge", ("1", "2"), "blocked_by does not mirror it"),
    ([Task("1", "a"), PAIR[1]], "one_sided_edge", ("2", "1"), "blocks does not mirror it"),
    ([PAIR[0].but(blocks=("2", "2")), PAIR[1]], "duplicate_edge", ("1",),
     "an id stands twice in blocks"),
    ([PAIR[0].but(blocked_by=("2",)), PAIR[1].but(blocks=("1",)), Task("3", "c")], "cycle",
     ("1", "2"), "these tasks wait for each other"),
    ([Task("1", "a", parent="9")], "unknown_task", ("1", "9"), "the parent is no task"),
    ([Task("1", "a", parent="")], "unknown_task", ("1", ""), "the parent is no task"),
    ([Task("1", "a", parent="1")], "cycle", ("1",), "these tasks wait for each other"),
    ([Task("1", "a", parent="2"), Task("2", "b", parent="1")], "cycle", ("1", "2"),
     "these tasks wait for each other"),
    ([PAIR[0].but(parent="2"), PAIR[1]], "cycle", ("1", "2"), "these tasks wait for each other"),
    ([PAIR[0], PAIR[1].but(parent="1")], "edge_within", ("2", "1"), "2"),
    ([Task("1", "a", status="completed", waiting=Waiting("ann"))], "cannot_wait", ("1",),
     "completed"),
    ([Task("1", "a", claim=Claim("bot", 1), claims=1)], "not_claimable", ("1",), "1"),
    ([Task("1", "a", status="in_progress", claim=Claim("b", 1))], "not_claimable", ("1",), "1"),
]  # fmt: skip


@pytest.mark.parametrize(("tasks", "code", "ids", "seen"), FAULTS)
def test_each_fault_is_found_and_says_where_it_is(tasks, code, ids, seen):
    """Each way of not being a plan has its code, names its tasks, and which end of an edge."""
    assert [(p.code, p.task_ids, p.seen) for p in plan_problems(tuple(tasks))] == [
        (code, ids, seen)
    ]
    with pytest.raises(PlanError, match=code):
        plan_of(tasks)


def test_all_faults_at_once():
    """One error tells every fault, and what to do."""
    tasks = [Task("x", ""), Task("1", "a", blocks=("1", "9")), Task("1", "b", blocked_by=("2",))]
    with pytest.raises(PlanError, match=r"Repair them, or create them by commands$") as caught:
        plan_of(tasks)
    codes = {problem.code for problem in caught.value.data["problems"]}
    assert codes == {"bad_id", "empty_text", "duplicate_id", "self_edge", "unknown_task"}


def test_an_error_about_many_faults_is_short():
    """The message tells 20 faults and how many more there are; the data holds all of them."""
    with pytest.raises(PlanError, match=r" and 979 more\. Repair them") as caught:
        plan_of([Task("x", "a")] * 500)
    assert len(caught.value.data["problems"]) == 999


def test_a_next_id_that_leaves_no_room_is_a_fault():
    """The highest that may come from outside is allowed, one more is not."""
    assert plan_of([], next_id=10**15).next_id == 10**15
    (problem,) = plan_problems((), 10**15 + 1)
    assert (problem.code, problem.seen) == ("bad_id", f"the next id is over {10**15}")


def test_an_edge_within_is_found_at_any_depth():
    """What blocks a task cannot contain it, however many levels lie between; others may."""
    made = [
        Task("1", "a", blocks=("4",)),
        Task("2", "b", parent="1"),
        Task("3", "c", parent="2", blocks=("5",)),
        Task("4", "d", parent="3", blocked_by=("1",)),
        Task("5", "e", blocked_by=("3",)),
    ]
    (problem,) = plan_problems(tuple(made))
    assert (problem.code, problem.task_ids) == ("edge_within", ("4", "1"))


def test_a_plan_keeps_what_it_was_approved_as():
    """An approval is given with the tasks."""
    assert plan_of([Task("1", "a")], approved=Approval(3, "ann")).approved == Approval(3, "ann")
