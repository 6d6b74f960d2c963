"""Two histories of one plan into one: nothing is lost, nothing closes a circle."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from todoplan.core.commands import (
    Batch,
    ClearPlan,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RestorePlan,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide.decide import Accepted, decide
from todoplan.core.events.merge import joined, rebased
from todoplan.core.plan.graph import topological_order
from todoplan.core.plan.model import Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def decided(plan, command, minutes=0):
    at = None if minutes is None else NOON + timedelta(minutes=minutes)
    decision = decide(plan, command, Policy(), at=at)
    assert isinstance(decision, Accepted), decision
    return decision


def made(plan, command, minutes=0):
    return decided(plan, command, minutes).plan


def create(*subjects):
    return CreateTasks(tuple(map(CreateTask, subjects)))


def subjects(plan):
    return [task.subject for task in plan]


BASE = made(Plan(), create("a", "b"))


def test_events_that_follow_are_replayed_as_they_are():
    """
    Upon the plan that they were decided on, events give the plan that was decided.
    """
    decision = decided(BASE, Batch((create("c"), UpdateTask("3", add_blocked_by=("1",)))))
    assert rebased(BASE, decision.events) == (decision.plan, {})


def test_a_new_task_gets_an_id_that_is_free_and_its_events_follow():
    """
    Where the id is taken the task moves up, and edges, edits and statuses with it.
    """
    here = made(BASE, create("here"))
    command = Batch(
        (create("there"), UpdateTask("3", status="completed", add_blocks=("2",), subject="T"))
    )
    plan, moved = rebased(here, decided(BASE, command).events)
    assert moved == {"3": "4"}
    assert subjects(plan) == ["a", "b", "here", "T"]
    assert (plan["4"].status, plan["4"].blocks, plan["2"].blocked_by) == (
        "completed",
        ("2",),
        ("4",),
    )


def test_later_events_of_the_same_origin_know_what_moved():
    """
    What the first call returned is given to the second.
    """
    here = made(BASE, create("here"))
    first = decided(BASE, create("there"))
    second = decided(first.plan, DeleteTask("3"))
    plan, moved = rebased(here, first.events)
    plan, _ = rebased(plan, second.events, moved)
    assert subjects(plan) == ["a", "b", "here"]
    assert plan.next_id == 5


def test_a_write_of_the_whole_list_keeps_what_another_branch_added():
    """
    Order and removal concern the tasks that the writer knew.
    """
    here = made(BASE, create("here"))
    written = decided(BASE, WriteTodos((Todo("b"), Todo("new"), Todo("a"))))
    assert sorted(subjects(rebased(here, written.events)[0])) == ["a", "b", "here", "new"]


def test_clearing_takes_only_what_was_known():
    """
    A branch that clears its plan does not clear another branch's tasks.
    """
    here = made(BASE, create("here"))
    assert subjects(rebased(here, decided(BASE, ClearPlan()).events)[0]) == ["here"]


def test_edges_that_together_close_a_circle_are_left_out():
    """
    Each branch's edge is fine by itself; the second one is dropped. Removing is always fine.
    """
    here = made(BASE, UpdateTask("1", add_blocks=("2",)))
    closing = decided(BASE, UpdateTask("2", add_blocks=("1",)))
    plan, _ = rebased(here, closing.events)
    assert plan["1"].blocks == ("2",)
    assert plan["1"].blocked_by == ()
    freed = decided(here, UpdateTask("1", remove_blocks=("2",)))
    assert rebased(here, freed.events)[0]["2"].blocked_by == ()


def test_a_restored_plan_is_taken_whole():
    """
    Restoring is the application's word, and says which tasks there are.
    """
    restored = decided(BASE, RestorePlan((Task("1", "old"),)))
    assert subjects(rebased(BASE, restored.events)[0]) == ["old"]


def test_what_followed_stands_as_it_is():
    """
    The later version of the same history is the result, whatever was edited, added or deleted.
    """
    later = made(made(BASE, DeleteTask("1"), 1), create("c"), 2)
    later = made(later, UpdateTask("2", status="completed"), 3)
    assert joined(BASE, later) == later
    assert joined(BASE, BASE) == BASE


def test_both_sides_new_tasks_are_kept():
    """
    Tasks that share an id but not their origin are two tasks; edges of the moved one go with it.
    """
    command = Batch((create("mine", "mine too"), UpdateTask("4", add_blocked_by=("3",))))
    mine = made(BASE, command, 1)
    other = made(BASE, create("other"), 2)
    plan = joined(mine, other)
    assert subjects(plan) == ["a", "b", "other", "mine", "mine too"]
    assert plan["5"].blocked_by == ("4",)
    assert plan.revision > max(mine.revision, other.revision)


def test_without_times_the_text_tells_tasks_apart():
    """
    Plans that were made without a clock are joined as well.
    """
    mine = made(Plan(), create("same", "mine"), None)
    other = made(Plan(), create("same", "other"), None)
    assert subjects(joined(mine, other)) == ["same", "other", "mine"]


def test_the_later_change_to_a_task_wins():
    """
    Status and text are those of the side that touched the task last.
    """
    mine = made(BASE, UpdateTask("1", status="completed", subject="A", owner="me"), 5)
    other = made(BASE, Batch((UpdateTask("1", owner="you"), UpdateTask("2", subject="B"))), 4)
    plan = joined(mine, other)
    assert [(t.subject, t.status.value, t.owner) for t in plan] == [
        ("A", "completed", "me"),
        ("B", "pending", None),
    ]
    assert joined(other, mine)["1"].owner == "me"
    status_only = made(BASE, UpdateTask("1", status="in_progress"), 6)
    assert joined(status_only, other)["1"].status == "in_progress"
    text_only = made(BASE, UpdateTask("1", subject="Z"), 6)
    assert joined(text_only, other)["1"].subject == "Z"


@st.composite
def histories(draw, seconds):
    """
    Draw a plan that was worked on, at times that only histories of the same `seconds` share.
    """
    plan, minutes = BASE, draw(st.integers(1, 5))
    for _ in range(draw(st.integers(0, 4))):
        ids = [task.id for task in plan] or ["1"]
        one, two = draw(st.sampled_from(ids)), draw(st.sampled_from(ids))
        command = draw(
            st.sampled_from(
                [
                    create(f"n{minutes}"),
                    UpdateTask(one, status="completed"),
                    UpdateTask(one, add_blocks=(two,)),
                    DeleteTask(one),
                    WriteTodos((Todo("a"), Todo(f"w{minutes}"))),
                ]
            )
        )
        decision = decide(
            plan, command, Policy(), at=NOON + timedelta(minutes=minutes, seconds=seconds)
        )
        plan = decision.plan if isinstance(decision, Accepted) else plan
        minutes += draw(st.integers(1, 5))
    return plan


@given(histories(0), histories(30))
def test_what_comes_out_is_a_plan(mine, other):
    """
    Edges mirror each other and close no circle, no id is given out twice, no new task is lost.
    """
    plan = joined(mine, other)
    assert len(topological_order(plan)) == len(plan)
    for task in plan:
        assert all(task.id in plan[end].blocked_by for end in task.blocks)
        assert all(task.id in plan[end].blocks for end in task.blocked_by)
    assert plan.next_id > max((int(task.id) for task in plan), default=0)
    assert {task.subject for task in other} <= {task.subject for task in plan} | {"a", "b"}
