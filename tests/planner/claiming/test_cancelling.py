"""A worker that is interrupted leaves no claim of nobody's, and counts for no attempt."""

import _thread
import asyncio
import signal
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from todoplan.core.commands import ClaimTask, CreateTask, CreateTasks, RestorePlan, UpdateTask
from todoplan.core.plan.model import Status
from todoplan.dialogue import Toolbox, lean, tasks
from todoplan.dialogue.toolbox import seeded
from todoplan.errors import PlanError, StoreError
from todoplan.planner import AsyncPlanner, Planner
from todoplan.planner.claiming import work, work_async
from todoplan.stores import MemoryStore
from todoplan.stores.sqlite import SqliteStore

DONE = {"status": "completed"}


class SlowStore(MemoryStore):
    """A store in which `entered` is set once an append is under way, which waits for `goes_on`."""

    def __init__(self):
        super().__init__()
        self.slow = False
        self.entered, self.goes_on = threading.Event(), threading.Event()

    def hold(self, plan_id):
        held = super().hold(plan_id)
        if self.slow:
            self.entered.set()
            assert self.goes_on.wait(10)
        return held


def filled(store=None, count=2):
    """Return a store with a plan of so many tasks."""
    store = store or MemoryStore()
    Planner(store, "p").apply(CreateTasks([CreateTask(f"t{n}") for n in range(count)]))
    return store


async def cancelled_in_its_append(store, work):
    """Cancel a coroutine while its append is under way, and let the append go on."""
    store.slow = True
    running = asyncio.create_task(work)
    await asyncio.to_thread(store.entered.wait, 10)
    running.cancel()
    await asyncio.sleep(0)
    store.slow = False
    store.goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await running


async def settled(planner):
    """Wait until nothing of a planner goes on in the background."""
    while tasks := [*planner._background._tasks]:
        await asyncio.wait(tasks)


async def test_a_cancelled_claim_gives_its_task_back():
    """Also where it was kept already; nobody worked on it, so that it counts as no attempt."""
    store = filled(SlowStore(), 1)
    planner = AsyncPlanner(store, "p")
    for _ in range(3):
        store.entered.clear()
        store.goes_on.clear()
        await cancelled_in_its_append(store, planner.claim("bot"))
        await settled(planner)
        assert ((await planner.plan())["1"].status, store.load("p")["1"].claim) == (
            Status.PENDING,
            None,
        )
    held = await planner.claim(ClaimTask("bot", attempts=1))
    assert (held.task.id, held.fence) == ("1", 4)


def test_a_loop_that_ends_with_a_cancelled_claim_gives_the_task_back_first():
    """Ctrl-C cancels the main task and then ends the loop with all that goes on in it."""
    store = filled(SlowStore(), 1)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled_main(store))
    assert store.load("p")["1"].claim is None


async def cancelled_main(store):
    """Claim a task in the main task of a loop, and cancel that in the midst of it."""
    main = asyncio.current_task()

    def interrupt():
        store.slow = False
        main.cancel()
        asyncio.get_running_loop().call_later(0.02, store.goes_on.set)

    store.slow = True
    loop = asyncio.get_running_loop()
    loop.run_in_executor(None, store.entered.wait, 10).add_done_callback(lambda _: interrupt())
    await AsyncPlanner(store, "p").claim("bot")


def test_a_claim_that_had_nothing_to_get_or_was_refused_is_cancelled_without_more():
    """There is nothing to give back, and nobody to whom the refusal could be said."""

    async def main(command):
        store = filled(SlowStore(), 1)
        planner = AsyncPlanner(store, "p")
        await planner.apply(UpdateTask("1", status="completed"))
        await cancelled_in_its_append(store, planner.claim(command))
        await settled(planner)
        return await planner.history()

    for command in (ClaimTask("bot"), ClaimTask("bot", task_id="1")):
        assert len(asyncio.run(main(command))) == 2


class FailingStore(SlowStore):
    """A store that fails once what it waits for has come."""

    def hold(self, plan_id):
        slow = self.slow
        held = super().hold(plan_id)
        if slow:
            msg = "away"
            raise StoreError(msg, problem="unreachable")
        return held


async def test_a_cancelled_claim_that_a_store_failed_raises_nothing_more():
    """The caller was cancelled, and hears of nothing else."""
    store = filled(FailingStore(), 1)
    planner = AsyncPlanner(store, "p")
    await cancelled_in_its_append(store, planner.claim("bot"))
    await settled(planner)
    assert (await planner.plan())["1"].claim is None


class AwayForSubscribers(SlowStore):
    """A store that cannot be held any more once it was asked for `left` times."""

    left = 2

    def hold(self, plan_id):
        self.left -= 1
        if self.left < 0:
            msg = "away"
            raise StoreError(msg, problem="unreachable")
        return super().hold(plan_id)


async def test_what_cannot_be_given_back_runs_out():
    """The store is away by then: nothing is raised in the background."""
    store = filled(AwayForSubscribers(), 1)
    planner = AsyncPlanner(store, "p")
    await cancelled_in_its_append(store, planner.claim("bot"))
    await settled(planner)
    assert (await planner.plan())["1"].claim.owner == "bot"


async def test_a_claim_that_is_cancelled_while_subscribers_hear_of_it_is_given_back():
    """It was kept by then, and its caller never gets it."""
    planner = AsyncPlanner(filled(count=1), "p")
    heard = asyncio.Event()

    async def subscriber(entry, _):
        heard.set()
        await asyncio.sleep(0.01)

    planner.subscribe(subscriber)
    running = asyncio.create_task(planner.claim("bot"))
    await heard.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await settled(planner)
    assert (await planner.plan())["1"].claim is None


@pytest.mark.parametrize("fails", [False, True])
async def test_a_cancellation_at_the_end_of_a_body_leaves_no_claim(fails):
    """The heartbeat is over by then: the task is completed or given back all the same."""
    store = filled(count=1)
    planner = AsyncPlanner(store, "p")

    async def body():
        async with await planner.claim(ClaimTask("bot", lease=0.03)) as held:
            renewing = asyncio.Event()

            async def renew():
                renewing.set()
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(10)
                await asyncio.sleep(0.01)
                return False

            held.renew = renew
            await renewing.wait()
            asyncio.get_running_loop().call_soon(asyncio.current_task().cancel)
            if fails:
                msg = "oh"
                raise ValueError(msg)

    running = asyncio.create_task(body())
    with pytest.raises(asyncio.CancelledError):
        await running
    await settled(planner)
    task = (await planner.plan())["1"]
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
    store = filled(SlowStore())
    planner = AsyncPlanner(store, "p", toolbox=Toolbox(toolset))
    await planner.call(*looks, actor="bot")
    await cancelled_in_its_append(store, planner.call(*claims, actor="bot"))
    await settled(planner)
    assert (await planner.plan())["1"].claim.owner == "bot"
    reply = await planner.call(*done, actor="bot")
    assert not reply.is_error
    assert "#1 t0 claimed by bot" in reply.text


async def test_a_call_that_is_cancelled_and_found_nothing_kept_is_not_tried_again():
    """A store that compares revisions refused the append: nothing happens behind the caller."""

    class Comparing:
        def __init__(self, inner):
            self.load, self.entries = inner.load, inner.entries
            self.entered, self.goes_on = threading.Event(), threading.Event()
            self.slow, self.asked = False, 0

        def append(self, plan_id, revision, entries, plan):
            self.asked += 1
            self.entered.set()
            assert self.goes_on.wait(10)
            return False

    store = Comparing(filled())
    planner = AsyncPlanner(store, "p")
    await cancelled_in_its_append(store, planner.apply(CreateTask("more")))
    await settled(planner)
    assert store.asked == 1


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
    store = filled(count=4)
    both = asyncio.Event()

    async def handler(held):
        if store.load("p").counts.in_progress == 2:
            both.set()
        await asyncio.sleep(10)

    planner = AsyncPlanner(store, "p")
    running = asyncio.create_task(work_async(planner, handler, workers=2))
    await asyncio.wait_for(both.wait(), 10)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert all(task.claim is None for task in store.load("p"))


class NoThread(threading.Thread):
    """A thread that cannot be started."""

    def start(self):
        """Refuse, as Python does where the system has no thread left."""
        msg = "can't start new thread"
        raise RuntimeError(msg)


def test_without_a_free_thread_the_task_is_given_back(monkeypatch):
    """Nobody could keep the claim alive, and nobody has worked on it."""
    planner = Planner(filled(count=1), "p")
    held = planner.claim("bot")
    monkeypatch.setattr(threading, "Thread", NoThread)
    with pytest.raises(RuntimeError, match="new thread"), held:
        pytest.fail("the body is not entered")
    monkeypatch.undo()
    assert planner.plan["1"].status is Status.PENDING
    assert planner.claim(ClaimTask("bot", attempts=1)).fence == 2


def test_without_a_free_thread_a_pool_ends(monkeypatch):
    """It raises, and no task is failed for it."""
    planner = Planner(filled(count=3), "p")
    real = threading.Thread

    def thread(*args, name=None, **options):
        kind = NoThread if name == "todoplan-claim" else real
        return kind(*args, name=name, **options)

    monkeypatch.setattr("todoplan.planner.claiming.claims.threading.Thread", thread)
    with pytest.raises(RuntimeError, match="new thread"):
        work(planner, lambda held: None, workers=2)
    assert planner.plan.counts.pending == 3


def test_a_pool_that_cannot_be_started_stops_who_was_started(monkeypatch):
    """Nobody goes on claiming behind an error."""
    planner = Planner(filled(count=50), "p")
    started = []

    class Thread(threading.Thread):
        def start(self):
            if len(started) == 1:
                msg = "can't start new thread"
                raise RuntimeError(msg)
            started.append(self)
            super().start()

    monkeypatch.setattr("todoplan.planner.claiming.workers.threading.Thread", Thread)
    monkeypatch.setattr("todoplan.planner.claiming.claims.threading.Thread", threading.Thread)

    def handler(held):
        threading.Event().wait(0.05)

    with pytest.raises(RuntimeError, match="new thread"):
        work(planner, handler, workers=2)
    assert not started[0].is_alive()
    assert planner.plan.counts.open > 40


def test_a_claim_is_lost_a_lease_after_it_was_asked_for(monkeypatch):
    """The store took its time to answer: by its clock the lease began earlier."""
    now = [1000.0]
    monkeypatch.setattr("todoplan.planner.claiming.claims.time.monotonic", lambda: now[0])

    class Late(MemoryStore):
        def hold(self, plan_id):
            now[0] += 40
            return super().hold(plan_id)

    held = Planner(filled(Late()), "p").claim(ClaimTask("bot", lease=60))
    now[0] += 25
    assert held.lost


def test_a_task_that_is_reopened_begins_anew():
    """Attempts count since it was last closed: a task that was done three times is no failure."""
    planner = Planner(filled(count=1), "p")
    for fence in range(1, 5):
        with planner.claim(ClaimTask("bot", attempts=3)) as held:
            assert held.fence == fence
        planner.apply(UpdateTask("1", status="pending"))
    for _ in range(3):
        planner.claim(ClaimTask("bot", attempts=3)).release()
    assert planner.claim(ClaimTask("bot", attempts=3)) is None
    assert planner.plan["1"].status is Status.FAILED


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_undo_takes_no_live_claim_without_its_token(tmp_path):
    """Whoever has its holder's name; by the token its holder may, and anybody after its lease."""
    store = SqliteStore(tmp_path / "plans.db")
    planner = Planner(store, "p", clock=lambda: NOON)
    planner.apply(CreateTask("a"))
    planner.claim("bot")
    other = Planner(store, "p", clock=lambda: NOON)
    assert [each.code for each in other.undo(actor="bot").problems] == ["claimed"]
    assert [each.code for each in other.undo(actor="bot", fences={"1": 2}).problems] == ["claimed"]
    late = Planner(store, "p", clock=lambda: NOON + timedelta(hours=1))
    assert late.undo(fences={}).unwrap()["1"].claim is None
    again = planner.claim("bot")
    assert other.undo(fences={"1": again.fence}).unwrap()["1"].claim is None


def test_restore_takes_no_live_claim_without_its_token():
    """Nor by the command; awaited it is the same."""
    store = filled(count=1)
    planner = Planner(store, "p")
    earlier = planner.plan
    planner.claim("bot")
    assert [each.code for each in planner.restore(earlier).problems] == ["claimed"]
    gone = RestorePlan(())
    assert [each.code for each in planner.apply(gone, actor="bot").problems] == ["claimed"]
    awaited = AsyncPlanner(store, "p")
    assert not hasattr(asyncio.run(awaited.undo(actor="bot")), "plan")
    assert not hasattr(asyncio.run(awaited.restore(earlier, actor="bot")), "plan")
    assert planner.restore(earlier, fences={"1": 1}).unwrap()["1"].claim is None


def test_an_agent_may_undo_its_own_claim():
    """Its planner knows the token that its own call got."""
    planner = Planner(filled(), "p", toolbox=Toolbox(lean(team=True)))
    planner.call("plan", {"next": True}, actor="bot")
    assert planner.undo(actor="ann").problems
    assert planner.undo(actor="bot").unwrap()["1"].claim is None


def test_seeding_ends_no_claim():
    """An application that puts a plan in place hears of it."""
    plan = Planner(filled(count=1), "p").plan
    planner = Planner(clock=lambda: NOON)
    planner.restore(plan)
    planner.claim("bot")
    with pytest.raises(PlanError, match="claimed by bot"):
        seeded(planner.plan, plan, at=NOON, actor=None)
