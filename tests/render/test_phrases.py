"""Events in words."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from support.strategies import plans

from todoplan import Status, Task, plan_of
from todoplan.core.events import types as e
from todoplan.core.plan.model import Approval, Evidence, FrozenDict, Waiting
from todoplan.render.outline import event_phrases
from todoplan.texts import one_line

P, S, C, X = Status.PENDING, Status.IN_PROGRESS, Status.COMPLETED, Status.CANCELLED
F = Status.FAILED
PLAN = plan_of([Task("1", "Sow"), Task("2", "Reap\nand\x1b[2J mow"), Task("3", "Rest")])


def edited(**changes):
    """An edit of the first task."""
    return e.TaskEdited("1", FrozenDict(changes))


@pytest.mark.parametrize(
    ("happened", "phrases"),
    [
        ([e.TaskCreated(Task("1", "Sow"))], ["created #1 Sow"]),
        ([e.TaskCreated(Task(n, "x")) for n in "123"], ["created #1-#3"]),
        ([e.TaskCreated(Task("1", "Sow", status=S))], ["created #1 Sow", "started #1 Sow"]),
        ([e.StatusChanged("2", P, S)], ["started #2 Reap and mow"]),
        ([e.StatusChanged("1", S, C), e.StatusChanged("3", P, C)], ["completed #1, #3"]),
        ([e.StatusChanged("1", S, P)], ["put back #1 Sow"]),
        ([e.StatusChanged("1", C, X)], ["cancelled #1 Sow"]),
        ([e.StatusChanged("1", S, F)], ["failed #1 Sow"]),
        ([e.StatusChanged("1", X, F)], ["failed #1 Sow"]),
        ([e.StatusChanged("1", F, P)], ["reopened #1 Sow"]),
        ([e.StatusChanged("1", C, P)], ["reopened #1 Sow"]),
        ([e.StatusChanged("1", X, S)], ["reopened #1 Sow"]),
        ([e.TaskEdited("1", FrozenDict({"subject": "Sow"}))], ["reworded #1 Sow"]),
        ([e.TaskEdited("1", FrozenDict({"owner": "ann"}))], ["edited #1 Sow"]),
        ([edited(waiting=Waiting("Bob"))], ["waiting #1 Sow"]),
        ([edited(waiting=None)], ["no longer waiting #1 Sow"]),
        ([edited(waiting=None, answer="red")], ["answered #1 Sow"]),
        ([edited(answer=None)], ["edited #1 Sow"]),
        ([edited(evidence=Evidence(passed=True))], ["check passed #1 Sow"]),
        ([edited(evidence=Evidence(passed=False))], ["check failed #1 Sow"]),
        (
            [edited(evidence=Evidence(passed=False, summary="2 \x1b[1mof 3"))],
            ['check failed ("2 of 3") #1 Sow'],
        ),
        ([edited(evidence=None)], ["edited #1 Sow"]),
        ([e.ParentChanged("1", "2"), e.ParentChanged("3", None)], ["moved #1, #3"]),
        ([e.PlanApproved("ann")], ["approved"]),
        ([e.ClaimRenewed("1", datetime(2026, 1, 1, tzinfo=UTC))], []),
        ([e.EdgeAdded("1", "2"), e.EdgeAdded("1", "3")], ["linked #2-#3"]),
        ([e.EdgeRemoved("1", "3")], ["unlinked #3 Rest"]),
        ([e.TaskDeleted("9")], ["removed #9"]),
        ([e.PlanCleared(("7", "8"))], ["removed #7-#8"]),
        ([e.PlanRestored((Task("1", "Sow"),))], ["restored #1 Sow"]),
        ([e.TasksReordered(("3", "2", "1"))], ["reordered"]),
        ([], []),
    ],
)
def test_events_are_told_by_kind(happened, phrases):
    """A phrase for each kind; one task is named, several are numbered."""
    assert event_phrases(happened, PLAN) == tuple(phrases)


RESTORED = e.PlanRestored((Task("1", "Sow", status=C), Task("3", "Rest")), 4)


@pytest.mark.parametrize(
    ("happened", "phrases"),
    [
        ([RESTORED], ["completed #1 Sow", "removed #2 Reap and mow"]),
        ([e.TaskDeleted("1"), RESTORED], ["removed #1-#2", "restored #1 Sow"]),
        ([e.PlanRestored((*PLAN, Task("4", "x")), 5)], ["restored #4"]),
        ([e.PlanRestored(tuple(PLAN), 4)], []),
        ([e.PlanRestored(tuple(PLAN)[::-1], 4)], ["reordered"]),
        ([e.PlanRestored(tuple(PLAN), 4, approved=Approval(0))], ["approved"]),
        (
            [e.PlanApproved("ann"), e.PlanRestored(tuple(PLAN), 4)],
            ["approved", "approval taken back"],
        ),
        (
            [
                e.PlanApproved("ann"),
                e.PlanApproved("bob"),
                e.PlanRestored(tuple(PLAN), 4, approved=Approval(1, "ann")),
            ],
            ["approved", "approval taken back"],
        ),
    ],
)
def test_a_plan_that_came_back_is_told_by_what_that_changed(happened, phrases):
    """Where the plan before is known; what stayed as it was is not named."""
    assert event_phrases(happened, PLAN, PLAN) == tuple(phrases)


def test_an_edge_that_goes_is_told_of_the_task_that_waited():
    """Not of the one that it waited for, in which it is kept as well."""
    before = plan_of([Task("1", "Sow", blocks=("2",)), Task("2", "Reap", blocked_by=("1",))])
    alone, free = Task("1", "Sow"), Task("2", "Reap")
    assert event_phrases([e.PlanRestored((alone,), 3)], plan_of([alone]), before) == ("removed #2",)
    told = event_phrases([e.PlanRestored((alone, free), 3)], plan_of([alone, free]), before)
    assert told == ("restored #2 Reap",)


def test_a_long_subject_is_cut():
    """At 60 columns."""
    plan = plan_of([Task("1", "x" * 99)])
    assert event_phrases([e.TaskDeleted("1", datetime.now(UTC))], plan) == (
        f"removed #1 {'x' * 59}…",
    )


@given(plans)
def test_any_plan_can_be_told(plan):
    """Phrases are one clean line each."""
    for phrase in event_phrases([e.PlanRestored(tuple(plan)), *map(e.TaskCreated, plan)], plan):
        assert one_line(phrase) == phrase
