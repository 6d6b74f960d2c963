"""A claimed task in the hands of who works on it."""

import threading
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from todoplan.core.commands import ClaimTask, CreateTask, CreateTasks, UpdateTask
from todoplan.core.plan.model import Status
from todoplan.core.rules import DEFAULT
from todoplan.dialogue.toolbox import Toolbox
from todoplan.errors import PlanError, StoreError
from todoplan.planner import Planner
from todoplan.planner.claiming import claims
from todoplan.stores import MemoryStore


class OhError(Exception):
    """What a body raises."""


def away():
    """Return what a store raises that cannot be reached."""
    msg = "away"
    return StoreError(msg, problem="unreachable")


def planner(count=2, store=None, **options):
    """Return a planner of so many tasks."""
    made = Planner(store or MemoryStore(), "p", **options)
    made.apply(CreateTasks([CreateTask(f"t{n}") for n in range(count)]))
    return made


def taken_over(by):
    """Let somebody else take over the task 1, as if its lease were long over."""
    later = Planner(by._store, "p", clock=lambda: datetime.now(UTC) + timedelta(days=1))
    assert later.claim("thief").task.id == "1"


class AwayStore(MemoryStore):
    """A store that is away while `away` is set."""

    away = threading.Event()

    def load(self, plan_id):
        if self.away.is_set():
            raise away()
        return super().load(plan_id)


def test_a_claimed_task_is_completed_at_the_end():
    """One after the other, until there is none to get."""
    plans = planner()
    seen = []
    while (held := plans.claim("bot")) is not None:
        with held:
            seen.append((held.task.id, held.fence, held.owner, held.task.status))
    assert seen == [("1", 1, "bot", Status.IN_PROGRESS), ("2", 1, "bot", Status.IN_PROGRESS)]
    assert plans.plan.counts.completed == 2
    assert {entry.actor for entry in plans.history()[1:]} == {"bot"}


def test_what_raises_gives_its_task_back():
    """It is pending again, and what was raised goes on."""
    plans = planner()
    with pytest.raises(OhError), plans.claim("bot"):
        raise OhError
    assert (plans.plan["1"].status, plans.plan["1"].claims) == (Status.PENDING, 1)
    assert plans.claim("bot").fence == 2


@pytest.mark.parametrize(
    ("close", "status"),
    [("complete", "completed"), ("fail", "failed"), ("release", "pending")],
)
def test_a_body_may_close_its_task_itself(close, status):
    """The end of the `with` then adds nothing."""
    plans = planner()
    with plans.claim("bot") as held:
        getattr(held, close)()
        revision = plans.plan.revision
    assert (plans.plan["1"].status, plans.plan.revision) == (status, revision)


def test_which_task_and_for_how_long_is_said_by_a_command():
    """One that cannot be had is an error that says why."""
    plans = planner()
    with plans.claim(ClaimTask("bot", lease=60, task_id="2")) as held:
        assert held.task.id == "2"
        with pytest.raises(PlanError, match="is claimed by bot until"):
            plans.claim(ClaimTask("ann", task_id="2"))
    assert plans.claim(ClaimTask("bot", priority="high")) is None


def test_the_heartbeat_keeps_a_claim_alive():
    """A body that takes longer than its lease is not overtaken."""
    plans = planner(1)
    with plans.claim(ClaimTask("bot", lease=0.15)) as held:
        first = held.task.claim.until
        beaten = threading.Event()
        plans.subscribe(lambda entry, _: entry.cause == "RenewClaim" and beaten.set())
        assert beaten.wait(10)
        assert plans.plan["1"].claim.until > first
        assert not held.lost
    assert plans.plan["1"].status is Status.COMPLETED


def test_a_lost_claim_is_told_and_refused():
    """The body can see it; what it reports is not in the plan, and that is said."""
    plans = planner()
    held = plans.claim("bot")
    lost = pytest.raises(StoreError, match=r".bot. lost its claim on the task 1")
    with lost as caught, held:
        taken_over(plans)
        assert not held.lost
        assert not held.renew()
        assert held.lost
    assert caught.value.data["problem"] == "claim_lost"
    assert plans.plan["1"].claim.owner == "thief"


def test_a_claim_without_a_heartbeat_is_lost_when_its_lease_has_run_out(monkeypatch):
    """
    By the clock of its process, whoever has the task by then; a renewal that is accepted finds it
    again, and what is closed is not lost.
    """
    now = 1000.0
    monkeypatch.setattr(claims, "time", SimpleNamespace(monotonic=lambda: now))
    plans = planner()
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


def test_a_lost_claim_hides_no_other_error():
    """What the body raised is what is raised."""
    plans = planner()
    held = plans.claim("bot")
    taken_over(plans)
    with pytest.raises(OhError), held:
        raise OhError


def test_the_heartbeat_ends_where_the_claim_is_lost():
    """Nobody renews what is somebody else's."""
    plans = planner()
    held = plans.claim(ClaimTask("bot", lease=0.1))
    with pytest.raises(StoreError, match="lost its claim"), held:  # noqa: PT012 - its end raises
        taken_over(plans)
        held._beating.join(10)
        assert held.lost


def test_a_store_that_is_away_for_a_while_loses_nothing():
    """Until the lease is over by this process's clock; then nobody can say."""
    store = AwayStore()
    plans = planner(store=store)
    held = plans.claim(ClaimTask("bot", lease=30))
    store.away.set()
    assert held.renew()
    held._ends = 0
    assert not held.renew()
    store.away.clear()
    held.release()


def test_a_policy_may_refuse_the_end():
    """That is the caller's to know; the task is given back, for nobody could have it meanwhile."""
    strict = Toolbox(policy=DEFAULT.but(linear_status="error", blocked_complete="error"))
    plans = planner(toolbox=strict)
    with pytest.raises(PlanError, match="waits for"), plans.claim("bot"):
        plans.apply(UpdateTask("1", add_blocked_by=("2",)), policy=DEFAULT.but(blocked_start="off"))
    assert (plans.plan["1"].status, plans.plan["1"].claim) == (Status.PENDING, None)


def test_who_claims_has_a_name():
    """Anything else is refused at once."""
    with pytest.raises(PlanError, match='claim\\("worker-1"\\)'):
        planner().claim(3)
