"""Several workers who drain one plan: nothing is done twice, nothing is left."""

import asyncio
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from support.claiming import OhError

from todoplan.core.commands import ClaimTask, CreateTask, UpdateTask
from todoplan.core.plan.model import Claim, Status, Waiting
from todoplan.errors import PlanError, StoreError
from todoplan.planner import Planner, Verifier
from todoplan.planner.claiming import work, work_async
from todoplan.planner.claiming import workers as pool
from todoplan.render import to_text
from todoplan.stores import MemoryStore


def fail(held):
    raise OhError


def test_every_task_is_done_once(planner, drain):
    """By however many workers, also where one frees the next."""
    seen = Counter()
    items = [CreateTask(f"t{n}", blocked_by=(f"#{n - 3}",) if n > 5 else ()) for n in range(40)]
    done = drain(planner(*items), lambda held: seen.update([held.task.id]))
    assert (done.completed, done.given_back, done.lost) == (40, 0, 0)
    assert (set(seen.values()), len(seen)) == ({1}, 40)


def test_what_raises_is_tried_again_and_then_failed(planner, drain):
    """As often as is said; the others go on. What hangs behind it stays."""

    def handler(held):
        if held.task.subject == "bad":
            raise OhError

    plans = planner(CreateTask("bad"), CreateTask("b", blocked_by=("#0",)), CreateTask("c"))
    done = drain(plans, handler, attempts=2, workers=2)
    assert (done.completed, done.given_back, done.left) == (1, 2, ("2",))
    assert [task.status for task in plans.plan] == ["failed", "pending", "completed"]


def test_what_was_tried_too_often_may_go_to_a_person(planner, drain):
    """It is theirs from then on, and no worker takes it."""
    plans = planner(CreateTask("bad"))
    assert drain(plans, fail, attempts=1, give_to="ann").given_back == 1
    assert (plans.plan["1"].owner, plans.plan["1"].status) == ("ann", "pending")


def test_workers_leave_what_waits(planner, drain):
    """And end when nothing is left that could be had; a tag narrows what they take."""
    plans = planner(
        CreateTask("a", waiting=Waiting("ann")), CreateTask("b", metadata={"tags": ["x"]})
    )
    assert drain(plans, lambda held: None, tag="y").completed == 0
    done = drain(plans, lambda held: None, tag="x")
    assert (done.completed, done.left) == (1, ("1",))
    assert plans.plan["1"].status is Status.PENDING


def test_a_pool_stops_when_it_is_told_to(planner, drain):
    """Tasks at work are ended; no further one is claimed."""
    plans, stop = planner(*(CreateTask(f"t{n}") for n in range(9))), threading.Event()
    done = drain(plans, lambda held: stop.set(), workers=1, stop=stop)
    assert (done.completed, plans.plan.counts.completed) == (1, 1)


def test_a_pool_waits_for_what_others_work_on(planner, drain, monkeypatch):
    """What they complete may free a task, and what they leave is done again."""
    monkeypatch.setattr(pool, "_PAUSE", 0.01)
    plans = planner(CreateTask("a"), CreateTask("b", blocked_by=("#0",)))
    timer = threading.Timer(0.1, plans.claim("other").complete)
    timer.start()
    done = drain(plans, lambda held: None, workers=1)
    timer.join()
    assert done.completed == 1
    assert plans.plan.counts.completed == 2


def test_a_lost_claim_is_counted(planner, drain, caplog):
    """And logged; the pool goes on."""
    plans = planner(CreateTask("a"), CreateTask("b"))

    def handler(held):
        if held.task.id == "1":
            later = Planner(plans._store, "p", clock=lambda: datetime.now(UTC) + timedelta(days=1))
            with later.claim(ClaimTask("thief", task_id="1")):
                pass

    done = drain(plans, handler, workers=1)
    assert (done.completed, done.lost) == (1, 1)
    assert "the claim on the task 1 was lost" in caplog.text


class BrokenStore(MemoryStore):
    """A store that fails once its plan has tasks at work."""

    def load(self, plan_id):
        plan = super().load(plan_id)
        if plan.counts.completed:
            msg = "away"
            raise StoreError(msg, problem="unreachable")
        return plan


def test_a_store_that_fails_ends_the_pool(planner, drain):
    """What it raised is raised where the pool was started."""
    plans = planner(*(CreateTask(f"t{n}") for n in range(4)), store=BrokenStore())
    with pytest.raises(StoreError, match="away"):
        drain(plans, lambda held: None, workers=2, lease=0.3)


async def never(task, plan):
    raise AssertionError


@pytest.mark.parametrize(
    ("misuse", "remedy"),
    [
        (lambda: work("plans.db", print), r"give Planner\(store, plan_id\) first"),
        (lambda: work(Planner(), "print"), "give a function of a claimed task"),
        (lambda: work(Planner(), print, workers=0), "a number of workers from 1 on"),
        (lambda: work(Planner(), print, lease=-1), "give a number above 0"),
        (lambda: asyncio.run(work_async(Planner(), print)), "give AsyncPlanner"),
        (lambda: work(Planner(), print, give_to=" "), "give_to='ann'"),  # nobody could claim it
        (lambda: work(Planner(), print, backoff=-1), "number of seconds from 0 on"),
        (lambda: work(Planner(), print, backoff=True), "number of seconds from 0 on"),
        (lambda: work(Planner(), print, verify=never), "work_async"),
    ],
)
def test_what_does_not_fit_is_refused_at_once(misuse, remedy):
    """Before anything is claimed."""
    with pytest.raises(PlanError, match=remedy):
        misuse()


def test_nobody_waits_for_a_claim_that_nobody_keeps_alive(planner, drain, monkeypatch):
    """It is left to others, once it has not changed for a lease and is over by the clock."""
    plans = planner(CreateTask("a", owner="ann"))
    plans.claim(ClaimTask("ann", lease=0.01))
    monkeypatch.setattr(pool, "_PAUSE", 0.01)
    assert drain(plans, lambda held: None, workers=1, lease=0.05).completed == 0
    now = [0.0]
    monkeypatch.setattr(pool, "time", SimpleNamespace(monotonic=lambda: now[0]))
    idle = pool._Idle(plans, 60.0)
    for now[0], is_over in ((100.0, False), (161.0, True)):  # the claim is new at first
        assert idle.is_over(plans.plan) is is_over
    live = UpdateTask("1", status="pending", fence=1)
    assert pool._Idle(plans, 0.0).is_over(plans.apply(live).unwrap())
    far = Claim("ann", 1, datetime.now(UTC) + timedelta(days=1))
    assert far.is_live(datetime.now(UTC))


@pytest.fixture
def clocked(planner):
    """Return a function that makes a planner whose clock goes on a minute at each look."""
    now = [datetime(2026, 1, 31, tzinfo=UTC)]

    def clock():
        now[0] += timedelta(minutes=1)
        return now[0]

    return lambda *items: planner(*items, clock=clock)


def test_the_reason_of_a_failure_stands_on_its_task(clocked, drain):
    """Until it is tried again, and for good where nobody tries it again."""
    plans, said = clocked(CreateTask("bad"), CreateTask("b")), []

    def handler(held):
        if held.task.subject == "bad":
            msg = "no\nluck"
            raise OhError(msg)
        if not said:
            said.append(held)
            raise OhError

    assert drain(plans, handler, workers=1, attempts=2).given_back == 3
    assert plans.plan["1"].evidence.summary == "gave up after 2 attempts: OhError: no luck"
    assert (plans.plan["2"].status, plans.plan["2"].evidence) == ("completed", None)
    assert any("attempt 1 failed: OhError" in repr(entry) for entry in plans.history())
    assert "gave up after 2 attempts: OhError: no luck" in to_text(plans.plan)


def test_a_worker_that_fails_a_task_says_why(clocked, drain):
    """The reason stands on the task as what a raise would have left, and it is not tried again."""
    plans = clocked(CreateTask("bad"))
    assert drain(plans, lambda held: held.fail("no\nsuch part"), workers=1).left == ()
    task = plans.plan["1"]
    assert (task.status, task.evidence.passed) == ("failed", False)
    assert task.evidence.summary == "no such part"


def test_a_failed_task_is_put_off_for_twice_as_long_each_time(clocked, drain, monkeypatch):
    """Up to an hour, by the planner's clock; the last attempt has nothing to be put off for."""
    monkeypatch.setattr(pool, "_PAUSE", 0.001)
    plans = clocked(CreateTask("bad"))
    assert drain(plans, fail, workers=1, attempts=4, backoff=1_000).given_back == 4
    waits = [
        event.changes["waiting"].until - entry.at
        for entry in plans.history()
        for event in entry.events
        if getattr(event, "changes", {}).get("waiting")
    ]
    assert [round(wait.total_seconds(), -3) for wait in waits] == [1_000, 2_000, 4_000]
    assert waits[-1] < timedelta(hours=1, minutes=2)
    assert plans.plan["1"].status is Status.FAILED


@pytest.mark.parametrize(
    ("found", "said"),
    [((False, "2 of 3"), "2 of 3"), (OhError("away"), "the verifier failed: OhError: away")],
)
def test_a_task_is_looked_at_before_it_is_completed(clocked, drain, found, said):
    """One that is not done is tried again; what was found stands on it. Only one with a check."""
    plans = clocked(CreateTask("a", check="make test"), CreateTask("b"))
    answers = [None, (True, "3 of 3"), found]

    def look(task, plan):
        answer = answers.pop()
        if isinstance(answer, Exception):
            raise answer
        return answer

    done = drain(plans, lambda held: None, workers=1, verify=Verifier(look, by="ci"))
    assert (done.completed, done.given_back, answers) == (2, 1, [None])
    evidence = plans.plan["1"].evidence
    assert (evidence.passed, evidence.summary, evidence.by) == (True, "3 of 3", "ci")
    assert any(f"attempt 1 failed: {said}" in repr(entry) for entry in plans.history())
    plans.apply(UpdateTask("1", status="pending"))
    assert drain(plans, lambda held: None, workers=1, verify=look).completed == 1
    assert plans.plan["1"].evidence is None
