"""Laws of an application's own hand: checked arguments, entries that say who, and no half steps."""

from datetime import UTC, datetime

import pytest

from todoplan import DEFAULT, STRICT, Plan, plan_of
from todoplan.core import commands
from todoplan.core.decide import Accepted, Rejected
from todoplan.core.events.apply import replay
from todoplan.core.plan.model import Task
from todoplan.core.rules import Policy
from todoplan.dialogue.toolbox import (
    edited,
    require,
    require_clock,
    seeded,
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
