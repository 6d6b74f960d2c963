"""The application's side of a toolbox: edits, seeds, clocks, fences, merge bases, observers."""

import logging
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan import DEFAULT, STRICT, TASKS, Plan, Planner, Toolbox, plan_of
from todoplan.core import commands
from todoplan.core.commands import CreateTask
from todoplan.core.decide import Accepted, Rejected, decide
from todoplan.core.events.apply import Entry, replay
from todoplan.core.events.base import Base
from todoplan.core.events.types import (
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskClaimed,
    TaskDeleted,
    TaskEdited,
)
from todoplan.core.plan.model import EMPTY, Claim, Status, Task
from todoplan.core.rules import Policy
from todoplan.dialogue.calls import utc_now
from todoplan.dialogue.guidance import Memory, Settings
from todoplan.dialogue.toolbox import (
    ObservedToolbox,
    base_at,
    edited,
    fences_after,
    guidance_of,
    require,
    require_clock,
    seeded,
    start,
    tell_called,
    unseen_by_model,
    whole_entry,
)
from todoplan.errors import PlanError

AT = datetime(2025, 1, 31, 12, tzinfo=UTC)
TWO = plan_of([Task("3", "a"), Task("5", "b")])


def test_what_is_of_the_right_kind_is_returned_as_it_is():
    """A clock is anything that can be called."""
    assert require(TWO, Plan) is TWO
    assert require_clock(datetime.now)().tzinfo is None


def test_an_edit_is_decided_and_leaves_its_entry():
    """When, who and by what; one that changes nothing, or is refused, leaves none."""
    decision, entry = edited(TWO, commands.DeleteTask("3"), DEFAULT, at=AT, actor="ann")
    assert isinstance(decision, Accepted)
    assert (entry.at, entry.actor, entry.cause) == (AT, "ann", "DeleteTask")
    assert (entry.revision, entry.events) == (decision.plan.revision, decision.events)
    refused, entry = edited(TWO, commands.CreateTask("c"), STRICT, at=AT, actor=None)
    assert (type(refused), entry) == (Rejected, None)
    same = commands.UpdateTask("3", subject="a")
    assert edited(TWO, same, Policy(), at=AT, actor=None)[1] is None


def test_an_edit_is_that_of_its_actor():
    """Rules that ask who acts are told, and what is approved is approved by who did it."""
    approved = edited(TWO, commands.ApprovePlan(), DEFAULT, at=AT, actor="ann")[0].unwrap()
    assert approved.approved.by == "ann"
    policy = DEFAULT.but(approved_changed="error")
    for actor, kind in (("ann", Accepted), ("bob", Rejected)):
        made, _ = edited(approved, commands.CreateTask("c"), policy, at=AT, actor=actor)
        assert type(made) is kind
    seed, _ = seeded(Plan(), approved, at=AT, actor="cron")
    assert seed.approved == approved.approved
    entry = whole_entry(approved, "seed_plan", at=AT)
    assert replay(Plan(), entry.events).approved == approved.approved


def test_a_seed_replaces_the_tasks_and_ids_go_on():
    """No rule is asked, and what is no plan is refused."""
    plan, entry = seeded(TWO, plan_of([Task("1", "z")]), at=AT, actor="cron")
    assert ([task.id for task in plan], plan.next_id) == (["1"], 6)
    assert (entry.actor, entry.cause) == ("cron", "RestorePlan")
    with pytest.raises(PlanError):
        seeded(TWO, [], at=AT, actor=None)


def test_the_entry_of_a_whole_plan_folds_to_it():
    """Also upon another plan."""
    entry = whole_entry(TWO, "seed_plan", at=AT, actor="ann")
    assert tuple(replay(Plan(), entry.events)) == tuple(TWO)
    assert (entry.revision, entry.actor) == (TWO.revision, "ann")


def test_what_the_model_has_not_seen_is_kept_from_the_first_edit_on():
    """The plan before it is the base; later edits add who did them."""
    first, one = edited(TWO, commands.CreateTask("Tell Ann"), DEFAULT, at=AT, actor="ann")
    second, two = edited(first.plan, commands.CreateTask("Tell Bob"), DEFAULT, at=AT, actor=None)
    base = unseen_by_model(None, TWO, one)
    assert unseen_by_model(base, first.plan, two).plan is TWO
    assert [each.actor for each in base.unseen(second.plan)] == ["ann", None]


def test_times_are_aware():
    """The present, in UTC."""
    now = utc_now()
    assert now.tzinfo is UTC
    assert abs(now.timestamp() - time.time()) < 60


def created(plan, subject, actor="ann"):
    """Return the plan with one task more, and the journal's entry."""
    decision = decide(plan, commands.CreateTask(subject), DEFAULT, at=AT)
    return decision.plan, Entry(decision.plan.revision, decision.events, AT, actor, "CreateTask")


def test_a_base_is_found_in_a_journal():
    """The plan at the revision that is known, and who changed what since."""
    one, first = created(Plan(), "Dig", None)
    two, second = created(one, "Tell Ann")
    base = base_at((first, second), 1)
    assert base == Base(one, {"2": "ann"})
    assert base_at((first, second), two.revision).unseen(two) == ()


ids = st.sampled_from("123")


def test_each_event_that_ends_a_claim_ends_its_fence():
    """Closed, given back, deleted, or the plan is another one; an edit ends nothing."""
    held = {"1": 4, "2": 1}
    assert fences_after(held, [TaskEdited("1", EMPTY)]) == held
    for new in set(Status) - {Status.IN_PROGRESS}:
        moved = StatusChanged("1", Status.IN_PROGRESS, new)
        assert fences_after(held, [moved]) == {"2": 1}
    assert fences_after(held, [TaskDeleted("1"), TaskDeleted("9")]) == {"2": 1}
    for event in (PlanCleared(("1", "2")), PlanRestored(())):
        assert fences_after(held, [event]) == {}


@given(
    st.dictionaries(ids, st.integers(1, 9)),
    st.lists(
        st.builds(TaskClaimed, ids, st.builds(Claim, st.just("a"), st.integers(1, 9)))
        | st.builds(TaskDeleted, ids)
    ),
    st.integers(0, 9),
)
def test_events_may_come_in_parts(held, events, cut):
    """What a hand holds after all of its calls is what it holds after each; nothing is changed."""
    before = dict(held)
    in_parts = fences_after(fences_after(held, events[:cut]), events[cut:])
    assert in_parts == fences_after(held, events)
    assert held == before


class Failing:
    """An observer that cannot."""

    def called(self, replies, actor, began):
        """Fail."""
        raise RuntimeError

    decided = advised = called


def test_an_observer_that_fails_stops_nobody(caplog):
    """It is logged."""
    planner = Planner(toolbox=ObservedToolbox(TASKS, observer=Failing()))
    with caplog.at_level(logging.ERROR, "todoplan"):
        assert not planner.call("TaskList").is_error
        assert planner.apply(CreateTask("Sow")).events
        assert (
            guidance_of(planner.toolbox, Settings(empty=1)).before_model(Plan(), (), Memory()).kind
        )
    assert [record.message for record in caplog.records] == ["an observer failed"] * 3


def test_nobody_is_told_where_nobody_looks_on():
    """And no clock is read."""
    assert start(Toolbox()) == 0
    tell_called(Toolbox(), (), None, 0)
