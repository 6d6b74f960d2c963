"""Claims and pools while the store is unavailable, and what is not completed by mistake."""

import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from support.claiming import OhError, filled

from todoplan.core.commands import ClaimTask, UpdateTask
from todoplan.core.plan.model import Status, Waiting
from todoplan.core.problems import Problem
from todoplan.core.rules import Policy, Rule
from todoplan.dialogue import Toolbox
from todoplan.errors import StoreError
from todoplan.planner import Planner
from todoplan.planner.claiming import claims
from todoplan.planner.claiming import workers as pool
from todoplan.stores import MemoryStore


class FlakyStore(MemoryStore):
    """A store that fails once for each of `problems`; "unknown" fails after the commit."""

    def __init__(self):
        super().__init__()
        self.problems = []

    @contextmanager
    def hold(self, plan_id):
        problem = self.problems.pop(0) if self.problems else None
        if problem not in {None, "unknown"}:
            raise StoreError(problem, problem=problem)
        with super().hold(plan_id) as held:
            yield held
        if problem is not None:
            raise StoreError(problem, problem=problem)


AWAY = ["unreachable", "busy"]


@pytest.fixture
def run(made, drain):
    """Return a function that runs a handler for the tasks of a store, in a pool of one worker."""
    return lambda store, handler, **options: drain(made(store), handler, workers=1, **options)


def task_in(store):
    return Planner(store, "p").plan["1"]


def done_of(done):
    return done.completed, done.given_back, done.lost


@pytest.mark.parametrize("problems", [AWAY, ["unknown"], ["lost", "unknown"]])
def test_finished_work_is_reported_once_the_store_is_back(run, problems):
    """The work would be done again otherwise; a commit without an acknowledgement is found."""
    store = filled(FlakyStore())
    calls = []

    def handler(held):
        calls.append(held.task.id)
        store.problems = [*problems]

    assert done_of(run(store, handler, attempts=1)) == (1, 0, 0)
    assert calls == ["1"]
    assert (task_in(store).status, task_in(store).evidence) == (Status.COMPLETED, None)
    causes = [entry.cause for entry in Planner(store, "p").history()]
    assert causes == ["CreateTask", "ClaimTask", "UpdateTask"]


def test_why_a_body_raised_is_recorded_once_the_store_is_back(run):
    """The reason of a failed attempt is repeated like a completion."""
    store = filled(FlakyStore())

    def handler(held):
        store.problems = [*AWAY]
        raise OhError

    assert done_of(run(store, handler, attempts=1)) == (0, 1, 0)
    assert task_in(store).evidence.summary == "gave up after 1 attempt: OhError"


def test_a_pool_outlives_an_outage_between_two_tasks(run):
    """For up to a lease; a failure that does not pass is raised at once."""
    store = filled(FlakyStore(), 2)
    store.problems = [*AWAY]
    assert done_of(run(store, lambda held: None)) == (2, 0, 0)
    for problem, lease in (("disk_full", 300), ("unreachable", 0.05)):
        store = filled(FlakyStore())
        store.problems = [problem] * 100
        with pytest.raises(StoreError, match=problem):
            run(store, lambda held: None, lease=lease)
    assert len(store.problems) < 99


def test_each_outage_while_a_pool_waits_for_others_has_a_lease_of_its_own(run, monkeypatch):
    """The earlier one is over once the store has answered."""
    monkeypatch.setattr(pool, "_PAUSE", 0.01)
    store = filled(FlakyStore())
    other = Planner(store, "p").claim("other")
    store.problems = ["busy"]
    timers = [
        threading.Timer(0.8, store.problems.append, ["busy"]),
        threading.Timer(0.95, other.complete),
    ]
    for timer in timers:
        timer.start()
    assert done_of(run(store, print, lease=0.5)) == (0, 0, 0)
    assert task_in(store).status is Status.COMPLETED


def test_a_report_that_a_store_refuses_gives_the_task_back(run):
    """Nobody could claim the task for the rest of the lease otherwise."""
    store = filled(FlakyStore())

    def handler(held):
        if held.fence == 1:
            store.problems = ["too_large"]

    assert done_of(run(store, handler)) == (1, 1, 0)


def test_a_release_that_a_policy_refuses_hides_no_error():
    """What the body raised is raised; the claim expires."""

    def never_back(change):
        return (Problem("never_back", (move.task_id,)) for move in change.moves(Status.PENDING))

    box = Toolbox(policy=Policy().adding(Rule("never_back", never_back)))
    store = filled(FlakyStore())
    with pytest.raises(OhError), Planner(store, "p", toolbox=box).claim("bot"):
        raise OhError
    assert task_in(store).claim.owner == "bot"


@pytest.mark.parametrize("error", [None, OhError])
def test_an_outage_of_more_than_a_lease_is_raised(error):
    """What the body raised goes first."""
    store = filled(FlakyStore())
    held = Planner(store, "p").claim(ClaimTask("bot", lease=0.05))
    with pytest.raises(error or StoreError), held:  # noqa: PT012 - its end raises
        store.problems = ["unreachable"] * 100
        if error:
            raise error
    assert 90 < len(store.problems) < 99


def test_ctrl_c_waits_for_no_store():
    """The claim expires."""
    store = filled(FlakyStore())
    held = Planner(store, "p").claim("bot")
    with pytest.raises(KeyboardInterrupt), held:  # noqa: PT012 - its end raises
        store.problems = [*AWAY]
        raise KeyboardInterrupt
    assert store.problems == AWAY[1:]


def test_a_body_that_stops_because_its_claim_is_lost_completes_nothing(run):
    """Although nobody else has the task: the work was not finished."""
    store = filled(FlakyStore())

    def handler(held):
        if held.fence == 1:
            held._ends = 0
            assert held.lost

    assert done_of(run(store, handler)) == (1, 0, 1)
    assert task_in(store).claims == 2


def test_a_claim_that_was_lost_for_a_while_is_completed():
    """A renewal has been accepted since, and the body has seen that."""
    store = filled(FlakyStore())
    with Planner(store, "p").claim("bot") as held:
        held._ends = 0
        assert held.lost
        held.renew()
        assert not held.lost
    assert task_in(store).status is Status.COMPLETED


def test_a_claim_whose_answer_came_late_is_renewed_before_the_body_begins(made, monkeypatch):
    """By this process's clock little of its lease is left."""
    now = [1000.0]
    store = filled(FlakyStore())
    planner = made(store)
    monkeypatch.setattr(claims.time, "monotonic", lambda: now[0])

    def late(plan_id, hold=store.hold):
        now[0] += 40
        return hold(plan_id)

    monkeypatch.setattr(store, "hold", late)

    with planner.claim(ClaimTask("bot", lease=60)) as held:
        assert held._ends == 1_100
    assert task_in(store).status is Status.COMPLETED


def test_a_pool_waits_for_what_another_one_puts_off():
    """The other may be killed before it tries again. A wait of a person is no such delay."""
    planner = Planner(filled(FlakyStore()), "p")
    assert pool._Idle(planner, 0.0).is_over(planner.plan)
    held = planner.claim(ClaimTask("other", attempts=3))
    held.backoff = 30
    with pytest.raises(OhError), held:
        raise OhError
    assert planner.plan["1"].waiting.reason == "attempt 1 failed; it is tried again"
    assert not pool._Idle(planner, 0.0).is_over(planner.plan)
    later = Waiting("the holidays", datetime.now(UTC) + timedelta(days=7))
    planner.apply(UpdateTask("1", waiting=later)).unwrap()
    assert pool._Idle(planner, 0.0).is_over(planner.plan)
    planner.apply(UpdateTask("1", waiting=Waiting("Bo"))).unwrap()
    assert pool._Idle(planner, 0.0).is_over(planner.plan)


def test_a_task_whose_workers_are_lost_says_so():
    """A process that ends in the middle of a task records nothing itself."""
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    planner = Planner(filled(FlakyStore()), "p", clock=lambda: now[0])
    for _ in range(3):
        planner.claim(ClaimTask("w1", lease=60, attempts=2))
        now[0] += timedelta(minutes=2)
    task = planner.plan["1"]
    assert (task.status, task.evidence.passed) == (Status.FAILED, False)
    assert task.evidence.summary == "gave up after 2 attempts: w1 was lost"


def test_a_worker_releases_a_task_that_has_to_wait(made):
    """That is no failed attempt, and the end of the body reports nothing more."""
    store = filled(FlakyStore())
    waiting = Waiting("legal", question="May we?")
    with made(store).claim("bot") as held:
        held.release(waiting)
    task = task_in(store)
    assert (task.status, task.claim, task.waiting) == (Status.PENDING, None, waiting)
    assert task.failed_attempts == 0


def test_a_plan_without_tasks_is_worth_a_warning(run, caplog):
    """Its id may be mistyped."""
    assert done_of(run(FlakyStore(), print)) == (0, 0, 0)
    assert "the plan has no tasks" in caplog.text
