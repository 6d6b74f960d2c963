"""A claimed task and its worker, in threads and in tasks of asyncio."""

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from support.claiming import OhError

from todoplan.core.commands import ClaimTask, CreateTask, UpdateTask
from todoplan.core.plan.model import Status
from todoplan.core.rules import DEFAULT
from todoplan.dialogue.toolbox import Toolbox
from todoplan.errors import PlanError, StoreError
from todoplan.planner import Planner
from todoplan.planner.claiming import Claimed, claims
from todoplan.stores import MemoryStore

TWO = CreateTask("t0"), CreateTask("t1")


def taken_over(by):
    """Let somebody else take over the task 1, as if its lease were long over."""
    later = Planner(by._store, "p", clock=lambda: datetime.now(UTC) + timedelta(days=1))
    assert later.claim("thief").task.id == "1"


class AwayStore(MemoryStore):
    """A store that is away while `away` is set."""

    away = threading.Event()

    def load(self, plan_id):
        if self.away.is_set():
            msg = "away"
            raise StoreError(msg, problem="unreachable")
        return super().load(plan_id)


def test_a_claimed_task_is_completed_at_the_end(planner):
    """One after the other, until there is none to get."""
    plans = planner(*TWO)
    seen = []
    while (held := plans.claim("bot")) is not None:
        with held:
            seen.append((held.task.id, held.fence, held.owner, held.task.status))
    assert seen == [("1", 1, "bot", Status.IN_PROGRESS), ("2", 1, "bot", Status.IN_PROGRESS)]
    assert plans.plan.counts.completed == 2
    assert {entry.actor for entry in plans.history()[1:]} == {"bot"}


@pytest.mark.parametrize("lost", [False, True])
def test_what_raises_gives_its_task_back_and_is_raised(planner, lost):
    """It is pending again, unless the claim was lost, which hides no other error."""
    plans = planner(*TWO)
    held = plans.claim("bot")
    if lost:
        taken_over(plans)
    with pytest.raises(OhError), held:
        raise OhError
    task = plans.plan["1"]
    assert (task.claims, task.claim is None) == ((2, False) if lost else (1, True))


@pytest.mark.parametrize(
    ("close", "status"),
    [("complete", "completed"), ("fail", "failed"), ("release", "pending")],
)
def test_a_body_may_close_its_task_itself(planner, close, status):
    """The end of the `with` then adds nothing."""
    plans = planner(*TWO)
    with plans.claim("bot") as held:
        getattr(held, close)()
        revision = plans.plan.revision
    assert (plans.plan["1"].status, plans.plan.revision) == (status, revision)


def test_which_task_and_for_how_long_is_said_by_a_command(planner):
    """One that cannot be had is an error that says why."""
    plans = planner(*TWO)
    with plans.claim(ClaimTask("bot", lease=60, task_id="2")) as held:
        assert held.task.id == "2"
        with pytest.raises(PlanError, match="is claimed by bot until"):
            plans.claim(ClaimTask("ann", task_id="2"))
    assert plans.claim(ClaimTask("bot", priority="high")) is None


def test_the_heartbeat_keeps_a_claim_alive(planner):
    """A body that takes longer than its lease is not overtaken."""
    plans = planner(CreateTask("t0"))
    with plans.claim(ClaimTask("bot", lease=0.15)) as held:
        first = held.task.claim.until
        beaten = threading.Event()
        plans.subscribe(lambda entry, _: entry.cause == "RenewClaim" and beaten.set())
        assert beaten.wait(10)
        assert plans.plan["1"].claim.until > first
        assert not held.lost
    assert plans.plan["1"].status is Status.COMPLETED


def test_a_lost_claim_is_told_and_refused(planner):
    """The body can see it; what it reports is not in the plan, and that is said."""
    plans = planner(*TWO)
    held = plans.claim("bot")
    lost = pytest.raises(StoreError, match=r".bot. lost its claim on the task 1")
    with lost as caught, held:
        taken_over(plans)
        assert not held.lost
        assert not held.renew()
        assert held.lost
    assert caught.value.data["problem"] == "claim_lost"
    assert plans.plan["1"].claim.owner == "thief"


def test_a_report_that_comes_too_late_says_why_it_was_refused(planner):
    """In the words of the problem."""
    plans = planner(*TWO)
    held = plans.claim("bot")
    taken_over(plans)
    with pytest.raises(StoreError, match=r"lost its claim .* its report was refused: .*thief"):
        held.complete()


def test_a_claim_without_a_heartbeat_is_lost_when_its_lease_has_run_out(planner, monkeypatch):
    """By the clock of its process; an accepted renewal ends this, and a closed task is not lost."""
    now = 1000.0
    monkeypatch.setattr(claims, "time", SimpleNamespace(monotonic=lambda: now))
    plans = planner(*TWO)
    held, other = plans.claim(ClaimTask("bot", lease=60)), plans.claim("other")
    now += 59
    assert not held.lost
    now += 1
    assert held.lost
    assert held.renew()
    assert not held.lost
    held.complete()
    now += 3600
    assert not held.lost
    assert other.lost


def test_the_heartbeat_ends_where_the_claim_is_lost(planner):
    """Nobody renews what is somebody else's."""
    plans = planner(*TWO)
    held = plans.claim(ClaimTask("bot", lease=0.1))
    with pytest.raises(StoreError, match="lost its claim"), held:  # noqa: PT012 - its end raises
        taken_over(plans)
        if isinstance(held, Claimed):
            held._beating.join(10)
        else:
            held.run(asyncio.wait_for(held._beating, 10))
        assert held.lost


def test_a_store_that_is_away_for_a_while_loses_nothing(planner):
    """Until the lease is over by this process's clock; then nobody can say."""
    store = AwayStore()
    plans = planner(*TWO, store=store)
    held = plans.claim(ClaimTask("bot", lease=30))
    store.away.set()
    assert held.renew()
    held._ends = 0
    assert not held.renew()
    with pytest.raises(OhError), held:
        raise OhError
    store.away.clear()
    assert plans.plan["1"].claim.owner == "bot"  # what cannot be released expires
    held.release()


def test_a_claim_may_be_closed_without_its_heartbeat(planner):
    """As by the end of a `with` that never began."""
    plans = planner(*TWO)
    for _ in range(2):
        plans.claim("bot").__exit__(None, None, None)
    assert plans.plan.counts.completed == 2


def test_a_policy_may_refuse_the_end(planner):
    """That is the caller's to know; the task is given back, for nobody could have it meanwhile."""
    strict = Toolbox(policy=DEFAULT.but(linear_status="error", blocked_complete="error"))
    plans = planner(*TWO, toolbox=strict)
    with pytest.raises(PlanError, match="waits for"), plans.claim("bot"):
        plans.apply(UpdateTask("1", add_blocked_by=("2",)), policy=DEFAULT.but(blocked_start="off"))
    assert (plans.plan["1"].status, plans.plan["1"].claim) == (Status.PENDING, None)


def test_who_claims_has_a_name(planner):
    """Anything else is refused at once."""
    with pytest.raises(PlanError, match='claim\\("worker-1"\\)'):
        planner(*TWO).claim(3)


def test_a_task_that_is_reopened_begins_anew():
    """Attempts count since it was last closed: a task that was done three times is no failure."""
    planner, command = Planner(), ClaimTask("bot", attempts=3)
    planner.apply(CreateTask("t0"))
    for fence in range(1, 5):
        planner.claim(command).complete()
        planner.apply(UpdateTask("1", status="pending"))
        assert planner.plan["1"].claims == fence
    for _ in range(3):
        planner.claim(command).release()
    assert planner.claim(command) is None
    assert planner.plan["1"].status is Status.FAILED
