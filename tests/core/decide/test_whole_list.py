from todoplan.core.commands import ClearPlan, WriteTodos
from todoplan.core.decide.assembly import plan_of
from todoplan.core.decide.decide import Rejected, decide
from todoplan.core.events.types import (
    PlanCleared,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
    TasksReordered,
)
from todoplan.core.plan.model import Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy

PLAN = plan_of(
    [
        Task("1", "a", owner="ann", blocks=("3",)),
        Task("2", "b", active_form="doing b", priority="low"),
        Task("3", "c", blocked_by=("1",)),
    ]
)


def write(*todos, plan=PLAN):
    """
    Return what `decide` says to a write.
    """
    return decide(plan, WriteTodos(todos), Policy())


def test_first_write_creates_in_order():
    """A list for an empty plan: one creation a line, and nothing else."""
    answer = write(Todo("a", "in_progress"), Todo("b", priority="high"), plan=Plan())
    assert [type(event) for event in answer.events] == [TaskCreated, TaskCreated]
    assert [(t.id, t.subject, t.status, t.priority) for t in answer.plan] == [
        ("1", "a", "in_progress", None),
        ("2", "b", "pending", "high"),
    ]


def test_only_what_changed_is_an_event():
    """A status, a new text by id, an insertion in the middle, a deletion: one event each."""
    answer = write(Todo("a", "completed"), Todo("new"), Todo("B, too", id="2"))
    assert [type(event) for event in answer.events] == [
        TaskDeleted,
        StatusChanged,
        TaskEdited,
        TaskCreated,
        TasksReordered,
    ]
    assert [task.id for task in answer.plan] == ["1", "4", "2"]
    assert (answer.plan["1"].owner, answer.plan["1"].blocks) == ("ann", ())


def test_not_given_is_left():
    """A line without active form and priority leaves them; one with sets them."""
    same = write(Todo("a"), Todo("b"), Todo("c"))
    assert same.events == ()
    assert same.plan is PLAN
    changed = write(Todo("a"), Todo("b", active_form="at b", priority="high"), Todo("c")).plan["2"]
    assert (changed.active_form, changed.priority) == ("at b", "high")


def test_nothing_kept_is_a_clear_and_new_ids():
    """When no line means a task of the plan, the plan is cleared in one event."""
    answer = write(Todo("x"))
    assert answer.events[0] == PlanCleared(("1", "2", "3"))
    assert [task.id for task in answer.plan] == ["4"]
    assert write().events == (PlanCleared(("1", "2", "3")),)
    assert decide(PLAN, ClearPlan(), Policy()).events == write().events


def test_faults_of_all_lines_at_once():
    """Empty texts and ids that stand twice are refused with their place; the plan stays."""
    answer = write(
        Todo(" ", id="1"), Todo("x", id="1"), Todo("\t"), Todo("y", id="x"), Todo("z", id="x")
    )
    assert isinstance(answer, Rejected)
    assert [(p.code, p.path) for p in answer.problems] == [
        ("empty_text", "todos[0].content"),
        ("duplicate_id", "todos[1].id"),
        ("empty_text", "todos[2].content"),
        ("duplicate_id", "todos[4].id"),
    ]
