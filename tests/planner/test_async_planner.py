"""The event loop stays free: a store that stands still holds up those who wait for it alone."""

import asyncio
import subprocess
import sys
import threading
import time

import pytest
from support.pace import until

from todoplan.core.commands import CreateTask
from todoplan.planner import AsyncPlanner, async_planner
from todoplan.stores.memory import MemoryStore

PATIENCE = 60


class Stuck(MemoryStore):
    """A store that stands still for one plan until it is let go."""

    def __init__(self):
        super().__init__()
        self.go_on, self.waiting = threading.Event(), []

    def load(self, plan_id):
        if plan_id == "stuck":
            self.waiting.append(threading.current_thread())
            assert self.go_on.wait(PATIENCE)
        return super().load(plan_id)


@pytest.mark.parametrize("cancelled", [False, True])
async def test_a_stuck_store_holds_up_neither_the_loop_nor_other_plans(cancelled):
    """However many wait; then all is carried out. A cancelled call that waits was never made."""
    store = Stuck()
    stuck, other = AsyncPlanner(store, "stuck"), AsyncPlanner(store, "other")
    calls = [asyncio.create_task(stuck.apply(CreateTask(f"{n}"))) for n in range(20)]
    for _ in range(3):
        await asyncio.wait_for(other.apply(CreateTask("a")), PATIENCE)
    assert not any(call.done() for call in calls)
    assert len(store.waiting) == async_planner._AT_ONCE
    assert all(thread.daemon for thread in store.waiting)
    for call in calls if cancelled else ():
        call.cancel()
    if cancelled:
        await asyncio.wait(calls)
    store.go_on.set()
    await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), PATIENCE)
    await stuck.apply(CreateTask("more"))
    assert len(await stuck.plan()) == (1 if cancelled else 21)
    assert len(await other.plan()) == 3


ENDS = """
import asyncio, threading
from todoplan import AsyncPlanner, MemoryStore

class Stuck(MemoryStore):
    def load(self, plan_id):
        threading.Event().wait()

async def act():
    try:
        await asyncio.wait_for(AsyncPlanner(Stuck(), "a").plan(), 0.1)
    except TimeoutError:
        print("late")

asyncio.run(act())
"""


def test_a_process_ends_while_its_store_is_stuck():
    """No thread of ours is waited for when the program is over."""
    done = subprocess.run(
        [sys.executable, "-c", ENDS], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert (done.stdout, done.stderr) == ("late\n", "")


@pytest.mark.parametrize(
    ("raised", "seen"),
    [(OSError("disk"), OSError), (StopIteration(3), RuntimeError), (SystemExit(2), SystemExit)],
)
def test_what_a_store_raises_in_its_thread_reaches_the_caller(raised, seen):
    """Whatever it is: no call waits for an answer that never comes."""

    class Broken(MemoryStore):
        def load(self, plan_id):
            raise raised

    with pytest.raises(seen):
        asyncio.run(AsyncPlanner(Broken(), "a").plan())


async def test_a_thread_that_cannot_be_started_is_heard(monkeypatch):
    """And its place is given back: later calls do not wait for it."""
    planner = AsyncPlanner(Stuck(), "a")

    def refused(_):
        msg = "can't start new thread"
        raise RuntimeError(msg)

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        for _ in range(9):
            with pytest.raises(RuntimeError, match="start new thread"):
                await planner.plan()
    assert len(await asyncio.wait_for(planner.plan(), PATIENCE)) == 0


def test_a_store_that_answers_after_the_loop_has_ended_disturbs_nobody():
    """Its thread ends quietly; the planner goes on in the next loop."""
    store = Stuck()
    planner = AsyncPlanner(store, "stuck")

    async def leave():
        call = asyncio.create_task(planner.plan())
        await until(lambda: store.waiting)
        call.cancel()

    asyncio.run(leave())
    store.go_on.set()
    store.waiting[0].join(PATIENCE)
    asyncio.run(planner.apply(CreateTask("a")))
    assert len(store.load("stuck")) == 1


async def test_memory_is_asked_where_we_are():
    """It never waits, so a thread would only cost time; a subclass of it may do anything."""
    asked = []

    class Mine(MemoryStore):
        def load(self, plan_id):
            asked.append(threading.current_thread())
            return super().load(plan_id)

    await AsyncPlanner(Mine(), "a").plan()
    assert asked != [threading.current_thread()]
    assert AsyncPlanner()._in_thread is False


async def test_a_plain_method_may_return_what_is_awaited():
    """A store may wrap another one's coroutines: they are awaited in the loop."""

    class Wrapping:
        def __init__(self):
            self.kept = MemoryStore()

        async def _later(self, method, *given):
            await asyncio.sleep(0)
            return method(*given)

        def load(self, plan_id):
            return self._later(self.kept.load, plan_id)

        def entries(self, plan_id):
            return self._later(self.kept.entries, plan_id)

        def append(self, *given):
            return self._later(self.kept.append, *given)

    planner = AsyncPlanner(Wrapping(), "a")
    await planner.apply(CreateTask("a"))
    assert len(await planner.history()) == 1


def test_without_a_loop_of_asyncio_everything_happens_where_we_are():
    """Trio's users, and a store's test suite, are served as well: in order, subscribers too."""
    told, planner = [], AsyncPlanner(Stuck(), "a")

    async def listen(entry, _):
        told.append((entry.revision, threading.current_thread()))

    planner.subscribe(listen)
    with pytest.raises(StopIteration):
        planner.apply(CreateTask("a")).send(None)
    assert told == [(1, threading.current_thread())]


async def test_a_cancelled_call_that_waits_for_an_acknowledgement_which_fails_is_quiet(caplog):
    """Nobody is left to hear the failure; the loop does not complain of it either."""

    class Failing(MemoryStore):
        def append(self, *given):
            appending.set()
            time.sleep(0.02)
            msg = "disk"
            raise OSError(msg)

    appending = threading.Event()
    planner = AsyncPlanner(Failing(), "a")
    planner.subscribe(print)
    call = asyncio.create_task(planner.apply(CreateTask("a")))
    await until(appending.is_set)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until(lambda: not planner._background)
    assert caplog.text == ""
