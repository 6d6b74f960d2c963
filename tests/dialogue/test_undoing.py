"""The last change is taken back only where the journal says what was before it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan import Plan, plan_of
from todoplan.core import commands
from todoplan.core.decide import Accepted, Rejected
from todoplan.core.events.apply import Entry
from todoplan.core.plan.model import Task
from todoplan.core.rules import Policy
from todoplan.dialogue.toolbox import (
    Start,
    edited,
    last_change,
    last_undo,
    plan_before,
    starts,
    undone,
)
from todoplan.errors import PlanError

NOON = datetime(2025, 1, 31, 12, tzinfo=UTC)
CREATES = [commands.CreateTask(name) for name in "abc"]
COMMANDS = st.sampled_from(
    [
        *CREATES,
        commands.UpdateTask("1", status="completed"),
        commands.DeleteTask("1"),
        commands.ClearPlan(),
        commands.ApprovePlan(),
    ]
)


def lived(given, start=None):
    """Return the plans of a life, and its journal."""
    plans, journal = [start or Plan()], []
    for command in given:
        decision, entry = edited(plans[-1], command, Policy(), at=NOON, actor="ann")
        if entry is not None:
            plans.append(decision.plan)
            journal.append(entry)
    return plans, journal


def undo(plans, journal, *known, at=NOON, actor="bo", fences=None):
    change = last_change(journal)
    before = change and plan_before(change, plans[-1], journal, (*starts(journal), *known))
    return undone(plans[-1], change, before, at=at, actor=actor, fences=fences or {})


@given(st.lists(COMMANDS, max_size=8), st.integers(1, 10))
def test_undoing_again_and_again_goes_back_to_the_beginning(given, times):
    """One change each time, whatever was done; behind the first there is nothing. Ids go on."""
    plans, journal = lived(given)
    life, changes = [*plans], len(journal)
    for n in range(1, times + 1):
        decision, entry = undo(plans, journal)
        if n > changes:
            assert isinstance(decision, Rejected)
            assert entry is None
            continue
        assert isinstance(decision, Accepted)
        assert [*decision.plan] == [*life[changes - n]]
        assert decision.plan.approved == life[changes - n].approved
        assert decision.plan.next_id == life[-1].next_id
        plans.append(decision.plan)
        if entry is not None:
            assert (entry.cause, entry.actor, entry.undoes) == (
                "undo",
                "bo",
                journal[changes - n].revision,
            )
            journal.append(entry)


def test_a_journal_that_begins_in_the_middle_needs_an_earlier_plan():
    """Any of before the change will do, if the entries lead from there to the plan as it is."""
    plans, journal = lived(CREATES)
    with pytest.raises(PlanError, match="with store="):
        undo(plans, journal[1:])
    assert [*undo(plans, journal[2:], Start(plans[2], 0))[0].plan] == [*plans[2]]
    assert [*undo(plans, journal[1:], Start(plans[1], 0))[0].plan] == [*plans[2]]
    assert [*undo(plans, journal[1:], Start(plans[2], 1))[0].plan] == [*plans[2]]
    wrong = Start(plans[0], 0), Start(plans[3], 2), Start(plan_of([Task("9", "z")]), 0)
    with pytest.raises(PlanError):
        undo(plans, journal[1:], *wrong)


def test_a_plan_that_was_put_in_place_whole_is_a_beginning():
    """What came behind it can be taken back, and it itself only if what was before it is known."""
    plans, journal = lived([*CREATES, commands.RestorePlan((Task("7", "whole"),)), CREATES[0]])
    decision, entry = undo(plans, journal[2:])
    assert [task.subject for task in decision.plan] == ["whole"]
    again = [*plans, decision.plan], [*journal[2:], entry]
    with pytest.raises(PlanError, match="RestorePlan"):
        undo(*again)
    assert [*undo([*plans, decision.plan], [*journal, entry])[0].plan] == [*plans[3]]


def test_what_is_in_no_entry_is_not_undone():
    """Somebody has changed the list itself since: the plan is not what the journal leads to."""
    plans, journal = lived(CREATES)
    plans.append(plan_of([*plans[-1], Task("9", "theirs")], next_id=10, revision=4))
    with pytest.raises(PlanError, match="CreateTask"):
        undo(plans, journal)


def test_nobody_takes_back_what_another_works_on():
    """
    A live claim does not end by an undo without its fencing token, whatever the name of who asks;
    one that ran out does.
    """
    taken, renewed = commands.ClaimTask("w1", lease=60), commands.RenewClaim("1", 1, lease=90)
    plans, journal = lived([CREATES[0], taken, renewed])
    decision, entry = undo(plans, journal)
    assert (entry, [each.code for each in decision.problems]) == (None, ["claimed"])
    assert "claimed by w1 until 2025-01-31T12:01:30+00:00" in decision.text
    assert undo(plans, journal, actor="w1")[0].problems
    own, late = {"fences": {"1": 1}}, {"at": NOON + timedelta(seconds=90)}
    for asked in (own, late):
        assert undo(plans, journal, **asked)[0].plan["1"].claim is None


def test_work_of_others_goes_on_while_a_change_is_taken_back():
    """A heartbeat is no change to take back, and a claim keeps the end that it has now."""
    taken, renewed = commands.ClaimTask("w1", lease=60), commands.RenewClaim("1", 1, lease=90)
    plans, journal = lived([CREATES[0], taken, CREATES[1], renewed])
    decision, entry = undo(plans, journal)
    assert (len(decision.plan), entry.undoes) == (1, 4)
    assert decision.plan["1"] == plans[-1]["1"]
    # To delete the task that somebody works on is refused as well.
    plans, journal = lived([commands.CreateTasks(CREATES[:2]), commands.ClaimTask("w1")])
    gone, entry = undone(plans[-1], journal[0], Plan(), at=NOON, actor="bo")
    assert (entry, [each.seen for each in gone.problems]) == (None, ["1"])


def test_nothing_was_done():
    """An empty journal has no last change."""
    decision, entry = undo([Plan()], [])
    assert (decision.problems[0].code, entry) == ("nothing_to_undo", None)
    assert last_change([Entry(1, (), undoes=0)]) is None


def test_a_journal_without_an_undo_has_none_to_redo():
    """Nor has an empty one."""
    assert last_undo(()) is None
