"""A worker that is interrupted leaves no claim of nobody's, and counts for no attempt."""

import _thread
import asyncio
import signal
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from support.claiming import OhError, filled

from todoplan.core.commands import ClaimTask, CreateTask, RestorePlan, UpdateTask
from todoplan.core.plan.model import Status
from todoplan.dialogue import Toolbox, lean, tasks
from todoplan.dialogue.toolbox import seeded
from todoplan.errors import PlanError, StoreError
from todoplan.planner import AsyncPlanner, Planner
from todoplan.planner.claiming import claims, work, work_async
from todoplan.stores import MemoryStore
from todoplan.stores.sqlite import SqliteStore

DONE = {"status": "completed"}


class SlowStore(MemoryStore):
    """
    A store in which `entered` is set once an append is under way, which waits for `goes_on`. After
    `left` appends it is away.
    """

    def __init__(self, left=1_000):
        super().__init__()
        self.slow, self.left, self.asked = False, left, 0
        self.entered, self.goes_on = threading.Event(), threading.Event()

    def waits(self):
        if self.slow:
            self.entered.set()
            assert self.goes_on.wait(10)

    def hold(self, plan_id):
        self.left -= 1
        self.waits()
        if self.left < 0:
            msg = "away"
            raise StoreError(msg, problem="unreachable")
        return super().hold(plan_id)


async def cancelled(planner, work, begun=None):
    """Cancel a coroutine of a planner once it has begun, and wait for what goes on behind it."""
    store, running = planner._store, asyncio.create_task(work)
    await (begun or asyncio.to_thread(store.entered.wait, 10))
    running.cancel()
    if begun is None:
        await asyncio.sleep(0)
        store.slow = False
        store.goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    while tasks := [*planner._background._tasks]:
        await asyncio.wait(tasks)
    return await planner.plan()


async def test_a_cancelled_claim_gives_its_task_back():
    """Also where it was kept already; nobody worked on it, so that it counts as no attempt."""
    store = filled(SlowStore())
    planner = AsyncPlanner(store, "p")
    for _ in range(3):
        store.entered.clear()
        store.goes_on.clear()
        store.slow = True
        task = (await cancelled(planner, planner.claim("bot")))["1"]
        assert (task.status, task.claim) == (Status.PENDING, None)
    held = await planner.claim(ClaimTask("bot", attempts=1))
    assert (held.task.id, held.fence) == ("1", 4)


def test_a_loop_that_ends_with_a_cancelled_claim_gives_the_task_back_first():
    """Ctrl-C cancels the main task and then ends the loop with all that goes on in it."""
    store = filled(SlowStore())

    async def main():
        loop, main = asyncio.get_running_loop(), asyncio.current_task()

        def interrupt(_):
            store.slow = False
            main.cancel()
            loop.call_later(0.02, store.goes_on.set)

        store.slow = True
        loop.run_in_executor(None, store.entered.wait, 10).add_done_callback(interrupt)
        await AsyncPlanner(store, "p").claim("bot")

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    assert store.load("p")["1"].claim is None


@pytest.mark.parametrize("command", [ClaimTask("bot"), ClaimTask("bot", task_id="1")])
async def test_a_claim_that_had_nothing_to_get_or_was_refused_is_cancelled_without_more(command):
    """There is nothing to give back, and nobody to whom the refusal could be said."""
    planner = AsyncPlanner(filled(SlowStore()), "p")
    await planner.apply(UpdateTask("1", status="completed"))
    planner._store.slow = True
    await cancelled(planner, planner.claim(command))
    assert len(await planner.history()) == 2


@pytest.mark.parametrize(("left", "owners"), [(1, []), (2, ["bot"])])
async def test_a_cancelled_claim_that_a_store_failed_raises_nothing_more(left, owners):
    """The caller hears of nothing else; what cannot be given back runs out."""
    planner = AsyncPlanner(filled(SlowStore(left)), "p")
    planner._store.slow = True
    plan = await cancelled(planner, planner.claim("bot"))
    assert [task.claim.owner for task in plan if task.claim] == owners


async def test_a_claim_that_is_cancelled_while_subscribers_hear_of_it_is_given_back():
    """It was kept by then, and its caller never gets it."""
    planner, heard = AsyncPlanner(filled(), "p"), asyncio.Event()

    async def subscriber(entry, _):
        heard.set()
        await asyncio.sleep(0.01)

    planner.subscribe(subscriber)
    assert (await cancelled(planner, planner.claim("bot"), heard.wait()))["1"].claim is None


@pytest.mark.parametrize("fails", [False, True])
async def test_a_cancellation_at_the_end_of_a_body_leaves_no_claim(fails):
    """The heartbeat is over by then: the task is completed or given back all the same."""
    planner = AsyncPlanner(filled(), "p")
    renewing, ending = asyncio.Event(), asyncio.Event()

    async def body():
        async with await planner.claim(ClaimTask("bot", lease=0.03)) as held:

            async def renew():
                renewing.set()
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(10)
                await asyncio.sleep(0.01)
                return False

            held.renew = renew
            await renewing.wait()
            ending.set()
            if fails:
                raise OhError

    task = (await cancelled(planner, body(), ending.wait()))["1"]
    assert (task.status, task.claim) == ("pending" if fails else "completed", None)


@pytest.mark.parametrize(
    ("toolset", "calls"),
    [
        (lean(team=True), (("plan", {}), ("plan", {"next": True}), ("plan", {"done": [1]}))),
        (
            tasks(team=True),
            (("TaskList", {}), ("TaskClaim", {}), ("TaskUpdate", {"taskId": "1", **DONE})),
        ),
    ],
)
async def test_a_call_that_is_cancelled_after_its_commit_keeps_its_claim(toolset, calls):
    """The next call of the agent goes on with its task; it is told of what it has not seen."""
    looks, claims, done = calls
    planner = AsyncPlanner(filled(SlowStore(), 2), "p", toolbox=Toolbox(toolset))
    await planner.call(*looks, actor="bot")
    planner._store.slow = True
    plan = await cancelled(planner, planner.call(*claims, actor="bot"))
    assert plan["1"].claim.owner == "bot"
    reply = await planner.call(*done, actor="bot")
    assert not reply.is_error
    assert "#1 t0 claimed by bot" in reply.text


async def test_a_call_that_is_cancelled_and_found_nothing_kept_is_not_tried_again():
    """A store that compares revisions refused the append: nothing happens behind the caller."""

    class Refusing(SlowStore):
        def append(self, *given):
            self.asked += 1
            self.waits()
            return False

    planner = AsyncPlanner(Refusing(), "p")
    planner._store.slow = True
    await cancelled(planner, planner.apply(CreateTask("more")))
    assert planner._store.asked == 1


def pressed():
    """Send the signal of Ctrl-C to the main thread."""
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


@pytest.mark.parametrize("ctrl_c", [pressed, _thread.interrupt_main])
def test_an_interrupted_pool_claims_no_further_task(ctrl_c):
    """Ctrl-C is raised once those at work have ended, also if the signal interrupted no wait."""
    store = filled(count=50)
    planner = Planner(store, "p")
    begun = threading.Barrier(2, timeout=10)
    interrupted = threading.Event()

    def handler(held):
        if not interrupted.is_set():
            begun.wait()
            if not interrupted.is_set():
                interrupted.set()
                ctrl_c()
        threading.Event().wait(0.05)

    with pytest.raises(KeyboardInterrupt):
        work(planner, handler, workers=2)
    then = planner.plan
    threading.Event().wait(0.2)
    assert planner.plan is then
    assert then.counts.completed < 40
    assert then.counts.in_progress == 0


async def test_an_interrupted_pool_of_coroutines_leaves_no_claim():
    """Each body is cancelled, and each task given back."""
    store, both = filled(count=4), asyncio.Event()

    async def handler(held):
        if store.load("p").counts.in_progress == 2:
            both.set()
        await asyncio.sleep(10)

    planner = AsyncPlanner(store, "p")
    plan = await cancelled(planner, work_async(planner, handler, workers=2), both.wait())
    assert all(task.claim is None for task in plan)


class NoThread(threading.Thread):
    """A thread that cannot be started."""

    def start(self):
        """Refuse, as Python does where the system has no thread left."""
        msg = "can't start new thread"
        raise RuntimeError(msg)


def test_without_a_free_thread_the_task_is_given_back(monkeypatch):
    """Nobody could keep the claim alive, and nobody has worked on it."""
    planner = Planner(filled(), "p")
    held = planner.claim("bot")
    monkeypatch.setattr(threading, "Thread", NoThread)
    with pytest.raises(RuntimeError, match="new thread"), held:
        pytest.fail("the body is not entered")
    monkeypatch.undo()
    assert planner.plan["1"].status is Status.PENDING
    assert planner.claim(ClaimTask("bot", attempts=1)).fence == 2


def test_without_a_free_thread_a_pool_ends(monkeypatch):
    """It raises, and no task is failed for it."""
    planner, real = Planner(filled(count=3), "p"), threading.Thread

    def thread(*args, name=None, **options):
        return (NoThread if name == "todoplan-claim" else real)(*args, name=name, **options)

    monkeypatch.setattr(claims.threading, "Thread", thread)
    with pytest.raises(RuntimeError, match="new thread"):
        work(planner, lambda held: None, workers=2)
    assert planner.plan.counts.pending == 3


def test_a_pool_that_cannot_be_started_stops_who_was_started(monkeypatch):
    """Nobody goes on claiming behind an error."""
    planner, started, real = Planner(filled(count=50), "p"), [], threading.Thread

    def thread(*args, name=None, **options):
        if name == "todoplan-claim":
            return real(*args, name=name, **options)
        started.append((NoThread if started else real)(*args, **options))
        return started[-1]

    monkeypatch.setattr(claims.threading, "Thread", thread)
    with pytest.raises(RuntimeError, match="new thread"):
        work(planner, lambda held: threading.Event().wait(0.05), workers=2)
    assert not started[0].is_alive()
    assert planner.plan.counts.open > 40


def test_a_claim_is_lost_a_lease_after_it_was_asked_for(monkeypatch):
    """The store took its time to answer: by its clock the lease began earlier."""
    now = [1000.0]
    monkeypatch.setattr(claims.time, "monotonic", lambda: now[0])

    class Late(MemoryStore):
        def hold(self, plan_id):
            now[0] += 40
            return super().hold(plan_id)

    held = Planner(filled(Late()), "p").claim(ClaimTask("bot", lease=60))
    now[0] += 25
    assert held.lost


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def codes(decision):
    return [problem.code for problem in decision.problems]


def test_undo_takes_no_live_claim_without_its_token(tmp_path):
    """Whoever has its holder's name; by the token its holder may, and anybody after its lease."""
    store = SqliteStore(tmp_path / "plans.db")
    planner = Planner(store, "p", clock=lambda: NOON)
    planner.apply(CreateTask("a"))
    planner.claim("bot")
    other = Planner(store, "p", clock=lambda: NOON)
    assert codes(other.undo(actor="bot")) == ["claimed"]
    assert codes(other.undo(actor="bot", fences={"1": 2})) == ["claimed"]
    late = Planner(store, "p", clock=lambda: NOON + timedelta(hours=1))
    assert late.undo(fences={}).unwrap()["1"].claim is None
    again = planner.claim("bot")
    assert other.undo(fences={"1": again.fence}).unwrap()["1"].claim is None
    team = Planner(store, "p", toolbox=Toolbox(lean(team=True)))  # it knows its actors' tokens
    team.call("plan", {"next": True}, actor="bot")
    assert codes(team.undo(actor="ann")) == ["claimed"]
    assert team.undo(actor="bot").unwrap()["1"].claim is None


def test_restore_takes_no_live_claim_without_its_token(made):
    """Nor do the command and an application that puts a plan in place; awaited it is the same."""
    planner = made()
    planner.apply(CreateTask("a"))
    earlier = planner.plan
    planner.claim("bot")
    assert codes(planner.restore(earlier, actor="bot")) == ["claimed"]
    assert codes(planner.apply(RestorePlan(()), actor="bot")) == ["claimed"]
    with pytest.raises(PlanError, match="claimed by bot"):
        seeded(planner.plan, earlier, at=datetime.now(UTC), actor=None)
    assert planner.restore(earlier, fences={"1": 1}).unwrap()["1"].claim is None
