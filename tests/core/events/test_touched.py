"""Which tasks events are about."""

import pickle
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from todoplan.core.commands import (
    ApprovePlan,
    ClearPlan,
    CreateTask,
    DeleteTask,
    MoveTask,
    RecordEvidence,
    RestorePlan,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import Accepted, decide
from todoplan.core.events import types as events
from todoplan.core.events.apply import apply, touched
from todoplan.core.plan.model import Claim, FrozenDict, Status, Task, Todo, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy

IDS = st.sampled_from("12345")
COMMANDS = st.one_of(
    st.builds(CreateTask, st.sampled_from("ab"), blocked_by=st.tuples(IDS)),
    st.builds(CreateTask, st.just("c")),
    st.builds(UpdateTask, IDS, status=st.sampled_from(["completed", "in_progress", "pending"])),
    st.builds(UpdateTask, IDS, subject=st.sampled_from("xy"), add_blocks=st.tuples(IDS)),
    st.builds(UpdateTask, IDS, remove_blocked_by=st.tuples(IDS)),
    st.builds(DeleteTask, IDS, st.sampled_from(["lift", "remove"])),
    st.builds(CreateTask, st.just("d"), parent=IDS),
    st.builds(UpdateTask, IDS, parent=st.none() | IDS),
    st.builds(MoveTask, IDS, after=IDS),
    st.builds(UpdateTask, IDS, waiting=st.none() | st.just(Waiting("ann"))),
    st.builds(RecordEvidence, IDS, st.booleans()),
    st.just(ApprovePlan("ann")),
    st.just(WriteTodos((Todo("b"), Todo("a")))),
    st.just(RestorePlan((Task("1", "old"),))),
    st.just(ClearPlan()),
)


@given(st.lists(COMMANDS, max_size=12))
def test_an_event_names_every_task_that_it_changes(commands):
    """Applied to a plan, it changes, adds and takes away none but those; of all kinds of events."""
    plan = Plan()
    for command in commands:
        decision = decide(plan, command, Policy())
        for event in getattr(decision, "events", ()):
            after = apply(plan, event)
            both = {task.id for task in (*plan, *after)}
            changed = {task_id for task_id in both if plan.get(task_id) != after.get(task_id)}
            around = {end for i in event.task_ids if i in plan for end in _near(plan, plan[i])}
            assert changed <= {*event.task_ids, *around} or isinstance(event, events.PlanRestored)
            assert pickle.loads(pickle.dumps(event)) == event  # noqa: S301 - our own bytes
            plan = after


def _near(plan, task):
    return *task.blocks, *task.blocked_by, *plan.children(task.id)


def test_every_kind_of_event_names_its_tasks():
    """In the order in which it holds them."""
    task = Task("3", "c")
    kinds = {
        events.TaskCreated(task): ("3",),
        events.StatusChanged("1", Status.PENDING, Status.COMPLETED): ("1",),
        events.TaskEdited("1", FrozenDict({"subject": "x"})): ("1",),
        events.TaskDeleted("2"): ("2",),
        events.EdgeAdded("2", "1"): ("2", "1"),
        events.EdgeRemoved("2", "1"): ("2", "1"),
        events.TasksReordered(("2", "1")): ("2", "1"),
        events.PlanCleared(("1", "2")): ("1", "2"),
        events.PlanRestored((task,), 4): ("3",),
        events.ParentChanged("2", "1"): ("2",),
        events.PlanApproved("ann"): (),
        events.TaskClaimed("1", Claim("bot", 1)): ("1",),
        events.ClaimRenewed("1", None): ("1",),
    }
    assert {type(event) for event in kinds} == set(get_args(events.Event))
    assert {event: event.task_ids for event in kinds} == kinds
    # A new task holds its times; any other event has the time that `apply` needs.
    assert [kind for kind in get_args(events.Event) if "at" not in kind.__match_args__] == [
        events.TaskCreated
    ]


@given(st.lists(COMMANDS, max_size=12))
def test_what_is_not_touched_is_as_it_was(commands):
    """The tasks not named are the same objects in the same places; new ones stand at the end."""
    plan = Plan()
    for command in commands:
        decision = decide(plan, command, Policy())
        if not isinstance(decision, Accepted):
            continue
        ids, after = touched(decision.events), decision.plan
        if ids is not None:
            before = [task.id for task in plan]
            assert [task.id for task in after][: len(before)] == before
            assert all(after[i] is plan[i] for i in before if i not in ids)
            assert {task.id for task in after} - set(before) <= set(ids)
        plan = after


def test_in_order_and_once():
    """Each task is named once, in the order in which events name them; without events none is."""
    plan = decide(Plan(), CreateTask("a"), Policy()).plan
    decision = decide(plan, CreateTask("b", blocked_by=("1",)), Policy())
    assert touched(decision.events) == ("2", "1")
    changed = UpdateTask("1", status="completed", subject="x")
    assert touched(decide(plan, changed, Policy()).events) == ("1",)
    assert touched(()) == ()
    assert touched(decide(plan, CreateTask("c", parent="1"), Policy()).events) is None
    assert touched(decide(decision.plan, DeleteTask("1"), Policy()).events) is None
