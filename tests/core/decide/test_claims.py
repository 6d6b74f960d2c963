"""Claims: at most one live one on a task, its fence larger than every earlier one (law 19)."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest

from todoplan.core.commands import (
    Batch,
    ClaimTask,
    ClearPlan,
    CreateTask,
    DeleteTask,
    ReleaseClaim,
    RenewClaim,
    RestorePlan,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import Rejected, decide, plan_of
from todoplan.core.events.types import ClaimRenewed, StatusChanged, TaskClaimed
from todoplan.core.plan.model import Claim, Status, Task, Todo, Waiting
from todoplan.core.rules import Policy

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(seconds=301)
THREE = plan_of([Task("1", "a"), Task("2", "b", priority="high"), Task("3", "c")])


def done(plan, command, at=NOON, **options):
    """Return the plan after a command that is accepted."""
    return decide(plan, command, Policy(), at=at, **options).unwrap()


def refused(plan, command, at=NOON, **options):
    """Return the codes and tasks of the problems of a command that is refused."""
    answer = decide(plan, command, Policy(), at=at, **options)
    assert isinstance(answer, Rejected)
    return [(problem.code, problem.task_ids) for problem in answer.problems]


CLAIMED = done(THREE, ClaimTask("bot"))


def test_the_next_ready_task_is_claimed_and_started():
    """Its fence is the first, and the lease counts from now; without a time it has no end."""
    answer = decide(THREE, ClaimTask("bot", lease=60), at=NOON)
    claim = Claim("bot", 1, NOON + timedelta(seconds=60))
    assert answer.events == (
        StatusChanged("1", Status.PENDING, Status.IN_PROGRESS, NOON),
        TaskClaimed("1", claim, None, NOON),
    )
    assert (answer.plan["1"].claim, answer.plan["1"].claims) == (claim, 1)
    assert done(THREE, ClaimTask("bot"), None)["1"].claim.until is None


def test_two_holders_get_two_tasks():
    """And a third one nothing, where all that is left is taken."""
    plan = done(done(CLAIMED, ClaimTask("bot")), ClaimTask("bot"))
    assert [task.claim.fence for task in plan] == [1, 1, 1]
    assert decide(plan, ClaimTask("ann"), Policy(), at=NOON).events == ()


def test_a_claim_that_has_run_out_is_taken_over():
    """By the next one that asks; the event names who lost it, and the fence grows."""
    answer = decide(CLAIMED, ClaimTask("ann"), Policy(), at=LATER)
    assert answer.events == (
        TaskClaimed("1", Claim("ann", 2, LATER + timedelta(seconds=300)), "bot", LATER),
    )


def test_a_stale_holder_can_change_nothing():
    """Whatever its name: an old fence is refused for any change, and no fence for a status."""
    plan = done(CLAIMED, ClaimTask("bot"), LATER)
    for command in (
        UpdateTask("1", status="completed", fence=1),
        UpdateTask("1", subject="x", fence=1),
        RenewClaim("1", 1),
        ReleaseClaim("1", 1),
    ):
        assert refused(plan, command, LATER) == [("stale_fence", ("1",))]
    assert done(plan, UpdateTask("1", status="completed", fence=2), LATER)["1"].status.closed


def test_nobody_else_changes_the_status_of_a_claimed_task():
    """Nor removes it; text is anybody's. When the claim has run out they may again."""
    for command in (
        UpdateTask("1", status="completed"),
        UpdateTask("1", status="pending"),
        UpdateTask("1", waiting=Waiting("ann")),
        DeleteTask("1"),
        ClearPlan(),
        WriteTodos((), clear=True),
        WriteTodos((Todo("b"), Todo("c"))),
        WriteTodos((Todo("a", "completed"), Todo("b"), Todo("c"))),
        ClaimTask("ann", task_id="1"),
    ):
        assert refused(CLAIMED, command) == [("claimed", ("1",))], command
        assert decide(CLAIMED, command, Policy(), at=LATER).events
    assert done(CLAIMED, UpdateTask("1", subject="x"))["1"].subject == "x"
    assert decide(CLAIMED, WriteTodos((Todo("a"), Todo("b"), Todo("c"))), Policy()).events == ()


def test_who_holds_the_fence_may():
    """The token is given with the command, or among the tokens of the actor."""
    assert done(CLAIMED, UpdateTask("1", status="completed", fence=1))["1"].claim is None
    whole = WriteTodos((Todo("a", "completed"), Todo("b"), Todo("c")))
    assert done(CLAIMED, whole, fences={"1": 1})["1"].status is Status.COMPLETED
    assert refused(CLAIMED, whole, fences={"1": 2}) == [("claimed", ("1",))]
    assert "1" not in done(CLAIMED, DeleteTask("1"), fences={"1": 1})
    assert refused(THREE, UpdateTask("1", subject="x", fence=1)) == [("stale_fence", ("1",))]
    # Its lease is over, and nobody has taken over: what it did is not lost.
    late = done(CLAIMED, UpdateTask("1", status="completed", fence=1), LATER)
    assert late["1"].status is Status.COMPLETED


def test_a_claim_that_is_refused_says_by_whom():
    """And until when, if it ends."""
    (problem,) = decide(CLAIMED, ClaimTask("ann", task_id="1"), at=NOON).problems
    assert (problem.seen, problem.legal) == ("1", "bot until 2026-01-01T12:05:00+00:00")
    for_ever = done(THREE, ClaimTask("bot"), None)
    (problem,) = decide(for_ever, ClaimTask("ann", task_id="1"), at=NOON).problems
    assert problem.legal == "bot"


def test_a_lease_is_put_off_and_never_shortened():
    """By its holder only."""
    answer = decide(CLAIMED, RenewClaim("1", 1, 600), at=NOON)
    until = NOON + timedelta(seconds=600)
    assert answer.events == (ClaimRenewed("1", until, NOON),)
    assert answer.plan["1"].claim == Claim("bot", 1, until)
    assert decide(answer.plan, RenewClaim("1", 1, 60), at=NOON).events == ()
    assert decide(CLAIMED, RenewClaim("1", 1), Policy()).events == ()
    endless = done(THREE, ClaimTask("bot"), None)
    assert decide(endless, RenewClaim("1", 1), at=NOON).plan["1"].claim.until is not None
    assert refused(CLAIMED, RenewClaim("9", 1)) == [("unknown_task", ("9",))]


def test_a_release_names_whose_claim_it_has_ended():
    """It may be a person who takes the task from a holder that died."""
    answer = decide(CLAIMED, ReleaseClaim("1", 1), Policy(), at=NOON)
    assert answer.events == (
        StatusChanged("1", Status.IN_PROGRESS, Status.PENDING, NOON, lost_by="bot"),
    )


def test_a_task_is_given_back():
    """It is pending again, and its next claim has a larger fence."""
    plan = done(CLAIMED, ReleaseClaim("1", 1))
    assert (plan["1"].status, plan["1"].claim, plan["1"].claims) == (Status.PENDING, None, 1)
    assert done(plan, ClaimTask("ann"))["1"].claim.fence == 2
    assert refused(plan, ReleaseClaim("1", 1)) == [("stale_fence", ("1",))]
    assert refused(plan, ReleaseClaim("9", 1)) == [("unknown_task", ("9",))]


@pytest.mark.parametrize(
    ("fields", "claimed"),
    [
        ({"owner": "ann"}, "2"),
        ({"owner": "bot"}, "1"),
        ({"waiting": Waiting("ann")}, "2"),
        ({"status": "completed"}, "2"),
        ({"status": "in_progress"}, "2"),
    ],
)
def test_what_is_not_to_be_had_is_passed_over(fields, claimed):
    """An assignment to somebody else never expires; a task that somebody works on is theirs."""
    plan = plan_of([attrs.evolve(THREE["1"], **fields), THREE["2"]])
    assert [t.id for t in done(plan, ClaimTask("bot")) if t.claim] == [claimed]


def test_what_is_wanted_may_be_narrowed():
    """By priority, and by a tag in the metadata."""
    plan = done(THREE, UpdateTask("3", metadata={"tags": ["docs"]}))
    plan = done(plan, UpdateTask("1", metadata={"tags": "docs"}))
    assert done(plan, ClaimTask("bot", priority="high"))["2"].claim
    assert done(plan, ClaimTask("bot", tag="docs"))["3"].claim
    assert decide(plan, ClaimTask("bot", tag="none"), at=NOON).events == ()


def test_a_named_task_is_claimed_if_it_can_be():
    """One that somebody has started without a claim, too; not what is closed or held up."""
    started = done(THREE, UpdateTask("2", status="in_progress"))
    assert done(started, ClaimTask("bot", task_id="2"))["2"].claim.fence == 1
    closed = done(THREE, UpdateTask("1", status="failed"))
    (problem,) = decide(closed, ClaimTask("bot", task_id="1"), at=NOON).problems
    assert (problem.code, problem.legal) == ("not_claimable", "2, 3")
    blocked = done(THREE, UpdateTask("1", add_blocked_by=("3",)))
    assert refused(blocked, ClaimTask("bot", task_id="1")) == [("not_claimable", ("1",))]
    nested = done(THREE, UpdateTask("2", parent="1"))
    assert refused(nested, ClaimTask("bot", task_id="1")) == [("not_claimable", ("1",))]
    within = done(nested, UpdateTask("1", waiting=Waiting("ann")))
    assert refused(within, ClaimTask("bot", task_id="2")) == [("not_claimable", ("2",))]
    assert refused(THREE, ClaimTask("bot", task_id="9")) == [("unknown_task", ("9",))]


def test_what_was_claimed_too_often_is_failed_or_given_to_somebody():
    """And the next one is claimed instead: no task goes round for ever."""
    plan = CLAIMED
    for minutes in (6, 12):
        plan = done(plan, ClaimTask("bot", attempts=3), NOON + timedelta(minutes=minutes))
    assert plan["1"].claims == 3
    last = NOON + timedelta(minutes=18)
    failed = done(plan, ClaimTask("bot", attempts=3), last)
    assert (failed["1"].status, failed["1"].claim) == (Status.FAILED, None)
    assert failed["2"].claim.owner == "bot"
    given = done(plan, ClaimTask("bot", attempts=3, give_to="ann"), last)
    assert (given["1"].status, given["1"].owner) == (Status.PENDING, "ann")
    assert given["2"].claim.owner == "bot"
    named = done(plan, ClaimTask("bot", task_id="1", attempts=3), last)
    assert (named["1"].status, named["2"].claim) == (Status.FAILED, None)
    released = done(plan, ReleaseClaim("1", 3), last)
    assert done(released, ClaimTask("bot", attempts=3), last)["1"].status is Status.FAILED


def test_what_ran_out_and_is_held_up_is_not_taken_over():
    """Its blocker was reopened meanwhile."""
    plan = done(CLAIMED, UpdateTask("1", add_blocked_by=("3",)))
    assert done(plan, ClaimTask("ann"), LATER)["2"].claim.owner == "ann"
    named = ClaimTask("ann", task_id="1")
    assert refused(plan, named, LATER) == [("not_claimable", ("1",))]


def test_what_ran_out_and_got_subtasks_is_not_taken_over():
    """A task with children is never claimed (law 18), nor once more by who has it."""
    plan = done(CLAIMED, CreateTask("d", parent="1"))
    assert done(plan, ClaimTask("ann"), LATER)["4"].claim.owner == "ann"
    named = ClaimTask("ann", task_id="1")
    assert refused(plan, named, LATER) == [("not_claimable", ("1",))]
    assert refused(plan, named, fences={"1": 1}) == [("not_claimable", ("1",))]


def test_what_was_given_to_somebody_is_not_given_again():
    """Who asks again and again for a task that was claimed too often makes no history."""
    plan = done(CLAIMED, ReleaseClaim("1", 1))
    often = ClaimTask("ann", task_id="1", attempts=1, give_to="ann")
    given = done(plan, often)
    assert given["1"].owner == "ann"
    assert decide(given, often, at=NOON).events == ()


def test_a_lease_past_the_end_of_time_has_no_end():
    """The last year is 9999: what would run out later does not."""
    last = datetime.max.replace(tzinfo=UTC)
    plan = done(THREE, ClaimTask("bot", lease=1), last)
    assert plan["1"].claim == Claim("bot", 1, None)
    assert decide(plan, RenewClaim("1", 1), at=last).events == ()


def test_a_restored_plan_gives_no_fence_twice():
    """The claim that stands goes on; one that ended does not come back; the count never falls."""
    tasks = tuple(CLAIMED)
    renewed = done(CLAIMED, RenewClaim("1", 1, 900))
    assert done(renewed, RestorePlan(tasks, 4))["1"].claim == renewed["1"].claim
    closed = done(CLAIMED, UpdateTask("1", status="completed", fence=1))
    back = done(closed, RestorePlan(tasks, 4))["1"]
    assert (back.status, back.claim, back.claims) == (Status.PENDING, None, 1)
    again = done(closed, RestorePlan(tuple(THREE), 4))
    assert again["1"].claims == 1
    deleted = done(CLAIMED, DeleteTask("1"), fences={"1": 1})
    assert done(deleted, RestorePlan(tasks, 4))["1"].claim is None
    assert done(THREE, RestorePlan(tuple(THREE), 4)) is not THREE


def test_a_plan_is_restored_over_a_live_claim_only_with_its_fence():
    """Law 19: nobody's task is taken from him by going back; once it has run out, it may."""
    back = RestorePlan(tuple(THREE), 4)
    assert refused(CLAIMED, back) == [("claimed", ("1",))]
    assert done(CLAIMED, back, fences={"1": 1})["1"].claim is None
    assert done(CLAIMED, back, LATER)["1"].claim is None


def test_a_batch_may_claim_and_go_on():
    """The fence that a step got is known to the next one only if it is given."""
    both = Batch((ClaimTask("bot"), UpdateTask("1", status="completed", fence=1)))
    assert done(THREE, both)["1"].status is Status.COMPLETED
    blind = Batch((ClaimTask("bot"), UpdateTask("1", status="completed")))
    assert refused(THREE, blind) == [("claimed", ("1",))]


def test_a_new_task_may_be_claimed_by_name():
    """Whoever makes it."""
    plan = done(THREE, CreateTask("d"))
    assert done(plan, ClaimTask("bot", task_id="4"))["4"].claim.fence == 1
