"""Two histories of one plan into one: nothing is lost, nothing closes a circle."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.talk import texts_of

from todoplan.core.commands import (
    ApprovePlan,
    Batch,
    ClearPlan,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RecordEvidence,
    RestorePlan,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import Accepted, decide, plan_of
from todoplan.core.events import types as events
from todoplan.core.events.apply import replay
from todoplan.core.events.merge import changes_between, joined, rebased
from todoplan.core.plan.model import Evidence, FrozenDict, Status, Todo, Waiting
from todoplan.core.plan.plan import Plan, topological_order
from todoplan.core.rules import Policy

PENDING_TO_DONE = Status.PENDING, Status.COMPLETED
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


BASE = made(Plan(), create("a", "b"))


def test_events_that_follow_are_replayed_as_they_are():
    """Upon the plan that they were decided on, events give the plan that was decided."""
    decision = decided(BASE, Batch((create("c"), UpdateTask("3", add_blocked_by=("1",)))))
    assert rebased(BASE, decision.events) == (decision.plan, {}, decision.events)


def test_a_new_task_gets_an_id_that_is_free_and_its_events_follow():
    """Where the id is taken the task moves up, and edges, edits and statuses with it."""
    here = made(BASE, create("here"))
    command = Batch(
        (create("there"), UpdateTask("3", status="completed", add_blocks=("2",), subject="T"))
    )
    plan, moved, _ = rebased(here, decided(BASE, command).events)
    assert moved == {"3": "4"}
    assert texts_of(plan) == ["a", "b", "here", "T"]
    assert (plan["4"].status, plan["4"].blocks) == ("completed", ("2",))
    assert plan["2"].blocked_by == ("4",)


def test_later_events_of_the_same_origin_know_what_moved():
    """What the first call returned is given to the second."""
    here = made(BASE, create("here"))
    first = decided(BASE, create("there"))
    second = decided(first.plan, DeleteTask("3"))
    plan, moved, _ = rebased(here, first.events)
    plan, _, _ = rebased(plan, second.events, moved)
    assert texts_of(plan) == ["a", "b", "here"]
    assert plan.next_id == 5


def test_a_write_of_the_whole_list_keeps_what_another_branch_added():
    """Order and removal concern the tasks that the writer knew."""
    here = made(BASE, create("here"))
    written = decided(BASE, WriteTodos((Todo("b"), Todo("new"), Todo("a"))))
    assert sorted(texts_of(rebased(here, written.events)[0])) == ["a", "b", "here", "new"]


def test_a_reorder_names_the_moved_task_by_its_new_id():
    """
    The writer put its own new task first: it is first under its new id, and what the writer did
    not know follows.
    """
    here = made(BASE, create("here"))
    written = decided(BASE, WriteTodos((Todo("there"), Todo("b"), Todo("a"))))
    assert written.events[-1].task_ids == ("3", "2", "1")
    plan, renumbered, _ = rebased(here, written.events)
    assert [task.id for task in plan] == ["4", "2", "1", "3"]
    assert texts_of(plan) == ["there", "b", "a", "here"]
    assert renumbered == {"3": "4"}


def test_whatever_a_branch_does_to_its_moved_task_reaches_that_task():
    """Both ends of edges, new and removed ones; an edit, a status, a deletion, a clearing."""
    here = made(BASE, create("here"))
    there = decided(BASE, create("there"))
    plan, renumbered, _ = rebased(here, there.events)
    for after, seen in (
        (
            [events.EdgeAdded("3", "1"), events.EdgeAdded("2", "3")],
            ("there", "pending", ("1",), ("2",)),
        ),
        ([events.EdgeAdded("3", "1"), events.EdgeRemoved("3", "1")], ("there", "pending", (), ())),
        ([events.EdgeAdded("1", "3"), events.EdgeRemoved("1", "3")], ("there", "pending", (), ())),
        ([events.TaskEdited("3", FrozenDict({"subject": "T"}))], ("T", "pending", (), ())),
        ([events.StatusChanged("3", *PENDING_TO_DONE)], ("there", "completed", (), ())),
    ):
        task = rebased(plan, after, renumbered)[0]["4"]
        assert (task.subject, task.status.value, task.blocks, task.blocked_by) == seen
        assert rebased(plan, after, renumbered)[0]["3"] == plan["3"]
    for gone in (events.TaskDeleted("3"), events.PlanCleared(("3",))):
        assert texts_of(rebased(plan, [gone], renumbered)[0]) == ["a", "b", "here"]


def test_a_new_task_whose_id_is_free_keeps_it():
    """Only what is taken moves: an id at or above the next one is free."""
    later = decided(made(BASE, create("c")), create("d"))
    plan, renumbered, _ = rebased(made(BASE, create("here")), later.events)
    assert (texts_of(plan), renumbered) == (["a", "b", "here", "d"], {})
    assert plan["4"].subject == "d"


def test_clearing_takes_only_what_was_known():
    """A branch that clears its plan does not clear another branch's tasks."""
    here = made(BASE, create("here"))
    assert texts_of(rebased(here, decided(BASE, ClearPlan()).events)[0]) == ["here"]


def test_a_restore_takes_nothing_from_another_branch():
    """
    Its new task, and its change of a task that the restore did not change, both stay. What the
    restore's own branch had created, changed and deleted is as it was.
    """
    here = made(BASE, Batch((create("here"), UpdateTask("1", status="completed"))), 1)
    was, ids = BASE, {}
    for command in (
        Batch((create("there"), UpdateTask("2", subject="B", parent="3", add_blocks=("1",)))),
        RestorePlan(tuple(BASE)),
        DeleteTask("2"),
        RestorePlan(tuple(BASE)),
    ):
        decision = decided(was, command, 2)
        before = here
        here, ids, applied = rebased(here, decision.events, ids, was)
        assert replay(before, applied) == here
        was = decision.plan
    assert [(t.id, t.subject, t.status.value, t.parent, t.blocked_by) for t in here] == [
        ("1", "a", "completed", None, ()),
        ("3", "here", "pending", None, ()),
        ("2", "b", "pending", None, ()),
    ]


def test_a_restore_in_the_middle_of_a_branchs_events_knows_the_events_before_it():
    """A task that the same command created and the restore left out is gone, under its new id."""
    here = made(BASE, create("here"))
    both = decided(BASE, Batch((create("there"), RestorePlan(tuple(BASE)))))
    plan, renumbered, _ = rebased(here, both.events, was=BASE)
    assert (texts_of(plan), renumbered) == (["a", "b", "here"], {"3": "4"})


def test_a_restore_brings_tasks_back_under_a_free_id():
    """Their own one, if it is free; the id of another branch's task is never given out again."""
    snapshot = made(BASE, create("there"))
    here = made(BASE, create("here"))
    for was in (BASE, made(snapshot, DeleteTask("3"))):
        back = decided(was, RestorePlan(tuple(snapshot)))
        plan, renumbered, _ = rebased(here, back.events, was=was)
        assert (texts_of(plan), renumbered) == (["a", "b", "here", "there"], {"3": "4"})
    far = decided(BASE, RestorePlan(tuple(BASE), 50))
    assert rebased(here, far.events, was=BASE)[0].next_id == 50


def test_a_restored_approval_is_that_of_the_branch():
    """And with it goes nothing that another branch has made."""
    approved = made(BASE, ApprovePlan("ann"))
    here = made(BASE, create("here"))
    back = decided(BASE, RestorePlan(tuple(BASE), approved=approved.approved))
    plan, _, applied = rebased(here, back.events, was=BASE)
    assert (texts_of(plan), plan.approved) == (["a", "b", "here"], approved.approved)
    assert replay(here, applied) == plan


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
    assert texts_of(plan) == ["a", "b", "other", "mine", "mine too"]
    assert plan["5"].blocked_by == ("4",)
    assert plan.revision > max(mine.revision, other.revision)


def test_without_times_the_text_tells_tasks_apart():
    """Plans that were made without a clock are joined as well."""
    mine = made(Plan(), create("same", "mine"), None)
    other = made(Plan(), create("same", "other"), None)
    assert texts_of(joined(mine, other)) == ["same", "other", "mine"]


def test_the_later_change_to_a_task_wins():
    """Status and text are those of the side that touched the task last."""
    mine = made(BASE, UpdateTask("1", status="completed", subject="A", owner="me"), 5)
    other = made(BASE, Batch((UpdateTask("1", owner="you"), UpdateTask("2", subject="B"))), 4)
    plan = joined(mine, other)
    assert texts_of(plan) == ["A", "B"]
    assert [(t.status.value, t.owner) for t in plan] == [("completed", "me"), ("pending", None)]
    assert joined(other, mine)["1"].owner == "me"
    status_only = made(BASE, UpdateTask("1", status="in_progress"), 6)
    assert joined(status_only, other)["1"].status == "in_progress"
    text_only = made(BASE, UpdateTask("1", subject="Z"), 6)
    assert joined(text_only, other)["1"].subject == "Z"
    only_a_status = made(other, UpdateTask("1", status="completed"), 9)
    assert joined(only_a_status, other)["1"].owner == "you"
    assert joined(only_a_status, other)["1"].status == "completed"


@pytest.mark.parametrize(("mine_at", "other_at"), [(None, 4), (4, None), (4, 4), (3, 4)])
def test_a_change_that_is_not_later_does_not_win(mine_at, other_at):
    """Equal times, and times that are not known, say nothing: the other side's word stands."""
    base = made(Plan(), create("a"), None)
    mine = made(base, UpdateTask("1", owner="me"), mine_at)
    other = made(base, UpdateTask("1", owner="you"), other_at)
    assert joined(mine, other)["1"].owner == "you"


def test_a_task_that_the_other_side_has_deleted_stays_deleted():
    """Its id is below their next one, so they knew it; one at their next id they never saw."""
    mine = made(BASE, UpdateTask("2", owner="me"), 5)
    other = made(BASE, DeleteTask("2"), 4)
    assert texts_of(joined(mine, other)) == ["a"]
    assert texts_of(joined(made(BASE, create("new"), 5), other)) == ["a", "new"]


def test_of_ids_that_both_gave_out_a_task_that_other_deleted_takes_mine_along():
    """
    Two plans do not tell whose task it was: `joined` says so. The events do, and lose nothing.
    """
    mine = decided(BASE, create("mine"))
    other = made(made(BASE, create("gone"), 1), DeleteTask("3"), 2)
    assert texts_of(joined(mine.plan, other)) == ["a", "b"]
    assert texts_of(rebased(other, mine.events)[0]) == ["a", "b", "mine"]


def test_edges_between_tasks_that_both_know_are_those_of_the_other_side():
    """Only edges of new tasks are brought along, in both directions."""
    mine = made(BASE, UpdateTask("1", add_blocks=("2",)), 1)
    mine = made(mine, Batch((create("c"), UpdateTask("3", add_blocks=("1",)))), 2)
    plan = joined(mine, made(BASE, UpdateTask("2", owner="you"), 3))
    assert (plan["3"].blocks, plan["1"].blocked_by) == (("1",), ("3",))
    assert plan["1"].blocks == plan["2"].blocked_by == ()


@st.composite
def histories(draw, seconds):
    """Draw a plan that was worked on, at times that only histories of the same `seconds` share."""
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
                    CreateTask(f"c{minutes}", parent=one),
                    UpdateTask(one, parent=two),
                    UpdateTask(one, waiting=Waiting("ann")),
                    UpdateTask(one, status="failed"),
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
    Edges mirror each other and close no circle, no id is given out twice, `other` loses no task.
    """
    plan = joined(mine, other)
    assert len(topological_order(plan)) == len(plan)
    for task in plan:
        assert all(task.id in plan[end].blocked_by for end in task.blocks)
        assert all(task.id in plan[end].blocks for end in task.blocked_by)
    assert plan.next_id > max((int(task.id) for task in plan), default=0)
    assert {task.subject for task in other} <= {task.subject for task in plan} | {"a", "b"}
    assert not any(task.waiting for task in plan if task.status is not Status.PENDING)


def test_a_moved_tasks_subtasks_follow_it():
    """A task that gets a new id is the parent of what was put below it under the old one."""
    here = made(BASE, create("here"))
    command = CreateTasks((CreateTask("there", parent="1"), CreateTask("within", parent="#0")))
    plan, moved, _ = rebased(here, decided(BASE, command).events)
    assert moved == {"3": "4", "4": "5"}
    assert texts_of(plan) == ["a", "there", "within", "b", "here"]
    assert [task.parent for task in plan] == [None, "1", "4", None, None]
    plan, _, _ = rebased(
        plan, [events.ParentChanged("4", None), events.ParentChanged("3", "2")], moved
    )
    assert [(t.subject, t.parent) for t in plan][1:3] == [("b", None), ("there", "2")]


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        (UpdateTask("1", add_blocks=("2",)), UpdateTask("2", add_blocks=("1",))),
        (UpdateTask("1", parent="2"), UpdateTask("2", parent="1")),
        (UpdateTask("1", parent="2"), UpdateTask("2", add_blocks=("1",))),
        (UpdateTask("1", parent="2"), UpdateTask("1", add_blocks=("2",))),
        (UpdateTask("2", add_blocks=("1",)), UpdateTask("1", parent="2")),
    ],
)
def test_what_together_would_go_round_is_left_out(mine, other):
    """Each branch's change is fine by itself; the second one is dropped."""
    here = made(BASE, mine)
    assert list(rebased(here, decided(BASE, other).events)[0]) == list(here)
    back = decided(here, RestorePlan(tuple(BASE)))  # what takes something away is always fine
    assert list(rebased(here, back.events)[0]) == list(BASE)


def test_the_later_place_wait_and_evidence_win():
    """They go with the status of the side that touched the task last."""
    waiting = made(BASE, UpdateTask("1", waiting=Waiting("ann"), parent="2"), 5)
    started = made(BASE, UpdateTask("1", status="in_progress"), 4)
    task = joined(waiting, started)["1"]
    assert (task.status, task.waiting, task.parent) == ("pending", Waiting("ann"), "2")
    found = made(started, RecordEvidence("1", passed=True), 6)
    done = made(made(found, UpdateTask("1", status="completed"), 7), UpdateTask("2", owner="x"), 8)
    task = joined(done, waiting)["1"]
    assert (task.status, task.waiting) == ("completed", None)
    assert task.evidence == Evidence(passed=True, at=NOON + timedelta(minutes=6))


def test_a_version_by_another_program_is_reached_by_small_events_or_one_restore():
    """An unchanged task is left alone; no event but a restore sets when a task was made."""
    found, after = changes_between(BASE, made(BASE, UpdateTask("1", subject="A")))
    assert [(type(event), event.task_ids) for event in found] == [(events.TaskEdited, ("1",))]
    assert texts_of(after) == ["A", "b"]
    older = plan_of(task.but(created_at=NOON - timedelta(1)) for task in BASE)
    found, after = changes_between(BASE, older)
    assert [type(event) for event in found] == [events.PlanRestored]
    assert tuple(after) == tuple(older)
