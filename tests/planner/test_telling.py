"""Every subscriber hears every accepted entry once, in order, whatever happens."""

import asyncio
import logging
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pace import until
from support.stores_sound import Holding

from todoplan.core.commands import CreateTask, DeleteTask
from todoplan.core.decide import Accepted
from todoplan.dialogue.calls import Call
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TASKS, tasks
from todoplan.errors import PlanError, StoreError
from todoplan.planner import AsyncPlanner, Planner
from todoplan.stores.memory import MemoryStore

CHANCE = random.Random(7)  # noqa: S311 - of a test
PATIENCE = 60
"""Seconds that a busy machine may take; what is right does not take them."""


def revisions(told):
    """Return a subscriber that notes the revisions of what it hears."""
    return lambda entry, plan: told.append(entry.revision)


def all_of(store, plan_id="a"):
    return [entry.revision for entry in store.entries(plan_id)]


SCRIPTS = st.lists(st.sampled_from(["mine", "turn", "other", "refused", "start", "stop"]))


@given(SCRIPTS)
def test_each_subscription_hears_each_entry_since_it_began_once_and_in_order(script):
    """Whoever wrote the entry, with the plan after it, when this planner carries out a command."""
    store = MemoryStore()
    planner, other = (Planner(store, "a", toolbox=Toolbox(tasks())) for _ in range(2))
    seen, subscriptions = None, []  # what the planner has seen; a subscription begins there

    def subscribe():
        told = []
        stop = planner.subscribe(lambda entry, plan: told.append((entry.revision, len(plan))))
        subscriptions.append([told, stop, seen, None])

    for act in script:
        before = store.load("a").revision
        match act:
            case "start":
                subscribe()
            case "stop" if subscriptions:
                subscriptions[0][1]()  # also a second time
                subscriptions[0][3] = subscriptions[0][3] or len(subscriptions[0][0])
            case "other":
                other.apply(CreateTask("theirs"))
            case "mine":
                planner.apply(CreateTask("mine"))
            case "turn":
                planner.turn([Call("TaskCreate", {"subject": name}) for name in "ab"])
            case "refused":
                planner.apply(DeleteTask("777"))
        if act in {"mine", "turn", "refused"}:
            for each in subscriptions:
                each[2] = before if each[2] is None else each[2]
            seen = store.load("a").revision
            for told, _, first, stopped in subscriptions:
                wanted = [(n, n) for n in range(first + 1, seen + 1)]
                assert told == (wanted if stopped is None else wanted[:stopped])


def test_a_subscriber_that_ends_the_program_leaves_the_others_told():
    """Whoever catches that goes on with a planner that works."""
    planner, told = Planner(), []

    def listen(entry, _):
        told.append(entry.revision)
        if entry.revision == 1:
            raise SystemExit

    planner.subscribe(listen)
    with pytest.raises(SystemExit) as kept:
        planner.apply(CreateTask("a"))
    planner.apply(CreateTask("b"))
    assert (told, kept.value.code) == ([1, 2], None)
    with pytest.raises(PlanError, match="give a function"):
        planner.subscribe(None)


def test_subscribers_are_told_in_order_also_of_what_a_subscriber_does():
    """What is accepted while others are still being told is told after that, to all."""
    planner, told = Planner(), []

    def go_on(entry, plan):
        if len(plan) < 3:
            planner.apply(CreateTask("more"))

    planner.subscribe(go_on)
    planner.subscribe(lambda entry, plan: told.append((entry.revision, len(plan))))
    planner.apply(CreateTask("first"))
    assert told == [(1, 1), (2, 2), (3, 3)]


def test_a_failing_subscriber_stops_nobody(caplog):
    """What a subscriber raises is logged; the command stands and the others are told."""
    planner, told = Planner(), []
    planner.subscribe(lambda entry, plan: 1 / 0)
    planner.subscribe(lambda entry, plan: told.append(entry.revision))
    with caplog.at_level(logging.ERROR, "todoplan"):
        assert isinstance(planner.apply(CreateTask("Write")), Accepted)
    assert told == [1]
    assert "revision 1" in caplog.text


@pytest.mark.parametrize("act", ["apply", "call"])
def test_threads_are_told_of_each_entry_once_and_in_order(act):
    """
    However many write at once, by either way, each change is told to each subscriber, in order.
    """
    store = MemoryStore()
    planner = Planner(store, "a", toolbox=Toolbox(TASKS))
    told, others = [], []
    planner.subscribe(revisions(told))
    planner.subscribe(lambda entry, plan: 1 / 0 if entry.revision % 7 == 0 else None)
    planner.subscribe(revisions(others))

    def work(number):
        if act == "apply":
            return isinstance(planner.apply(CreateTask(f"{number}")), Accepted)
        return not planner.call("TaskCreate", {"subject": f"{number}"}).is_error

    logging.getLogger("todoplan").disabled = True
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(work, range(300)))
    finally:
        logging.getLogger("todoplan").disabled = False
    assert told == others == all_of(store) == list(range(1, 301))


def test_a_slow_subscriber_holds_up_its_own_teller_alone():
    """While one thread is kept by a subscriber, others work, and the other subscribers hear."""
    planner, told, slow = Planner(), [], []
    entered, go_on = threading.Event(), threading.Event()

    def linger(entry, _):
        slow.append(entry.revision)
        entered.set()
        assert go_on.wait(PATIENCE)

    planner.subscribe(linger)
    planner.subscribe(revisions(told))
    kept = threading.Thread(target=planner.apply, args=(CreateTask("a"),))
    kept.start()
    assert entered.wait(PATIENCE)
    planner.apply(CreateTask("b"))
    assert (told, slow) == ([1, 2], [1])
    go_on.set()
    kept.join(PATIENCE)
    assert (told, slow) == ([1, 2], [1, 2])


def test_a_subscriber_that_starts_while_another_stops_is_kept():
    """Threads that subscribe and stop at once forget nobody, and stop nobody else."""
    planner, told = Planner(), []
    begin = threading.Barrier(8)

    def come_and_go(number):
        begin.wait()
        for _ in range(50):
            planner.subscribe(lambda entry, plan: told.append("gone"))()
        planner.subscribe(lambda entry, plan: told.append(number))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(come_and_go, range(8)))
    planner.apply(CreateTask("a"))
    assert sorted(told) == list(range(8))


def test_subscriptions_may_start_and_end_within_a_subscriber():
    """Who starts there hears of what comes later; who is stopped hears no more."""
    planner, told = Planner(toolbox=Toolbox(tasks())), []

    def first(entry, _):
        told.append(("first", entry.revision))
        if entry.revision == 1:
            planner.subscribe(lambda entry, plan: told.append(("new", entry.revision)))
            stop_other()

    def once(entry, _):
        told.append(("once", entry.revision))
        stop_once()

    planner.subscribe(first)
    stop_other = planner.subscribe(lambda entry, plan: told.append(("never", entry.revision)))
    stop_once = planner.subscribe(once)
    planner.turn([Call("TaskCreate", {"subject": name}) for name in "ab"])
    planner.apply(CreateTask("c"))
    assert [each for each in told if each[0] in {"never", "once"}] == [("once", 1)]
    assert [each for each in told if each[1] == 3] == [("first", 3), ("new", 3)]


class Forgetful(MemoryStore):
    """A store whose acknowledgement is lost: append keeps the entries and raises."""

    def append(self, *given):
        super().append(*given)
        msg = "the connection was lost"
        raise ConnectionError(msg)


class Lossy(Holding):
    """The same, of a store that can hold plans."""

    @contextmanager
    def hold(self, plan_id):
        with super().hold(plan_id) as held:
            yield held
        msg = "the connection was lost"
        raise ConnectionError(msg)


@pytest.mark.parametrize("kind", [Forgetful, Lossy])
def test_what_was_kept_without_an_acknowledgement_is_told(made, kind):
    """The caller hears the error; subscribers hear what the journal has, once."""
    planner, told = made(kind(), toolbox=Toolbox(tasks())), []
    planner.subscribe(revisions(told))
    for subject in "ab":
        with pytest.raises(ConnectionError):
            planner.apply(CreateTask(subject))
    assert told == [1, 2]
    if kind is Lossy:
        with pytest.raises(ConnectionError):
            planner.call("TaskCreate", {})  # a refusal has no entry
        assert told == [1, 2]


class Unreadable(MemoryStore):
    """A store whose journal cannot be read for a while, and that refuses its first append."""

    ill = True

    def entries(self, plan_id):
        if self.ill:
            msg = "not now"
            raise StoreError(msg)
        return super().entries(plan_id)


def test_a_journal_that_cannot_be_read_delays_the_news(caplog):
    """The command has happened, so nothing is raised; what is missing is told with the next."""
    store, told = Unreadable(), []
    planner = Planner(store, "a")
    planner.subscribe(revisions(told))
    planner.apply(CreateTask("a"))
    Planner(store, "a").apply(CreateTask("b"))
    assert isinstance(planner.apply(CreateTask("c")), Accepted)
    assert told == [1]
    assert "cannot be read: subscribers are called after the next command" in caplog.text
    store.ill = False
    planner.apply(CreateTask("d"))
    assert told == [1, 2, 3, 4]


class SlowToAnswer:
    """An awaited store that has kept the entries long before it says so."""

    def __init__(self):
        self.store = MemoryStore()

    async def load(self, plan_id):
        await asyncio.sleep(0)
        return self.store.load(plan_id)

    async def entries(self, plan_id):
        await asyncio.sleep(0)
        return self.store.entries(plan_id)

    async def append(self, *given):
        kept = self.store.append(*given)
        await asyncio.sleep(CHANCE.random() / 100)
        return kept


class SlowInThreads(MemoryStore):
    """The same, not awaited: it stands still."""

    def append(self, *given):
        kept = super().append(*given)
        time.sleep(CHANCE.random() / 100)
        return kept


@pytest.mark.parametrize("made", [SlowToAnswer, SlowInThreads])
async def test_a_storm_of_cancelled_calls_leaves_nobody_untold(made):
    """What was kept is told, also if all who asked for it have gone; and nothing else."""
    store, told, awaited = made(), [], []
    kept_in = getattr(store, "store", store)

    async def listen(entry, _):
        awaited.append(entry.revision)
        await asyncio.sleep(0)

    planner = AsyncPlanner(store, "a")
    planner.subscribe(revisions(told))
    planner.subscribe(listen)
    calls = []
    for number in range(120):
        calls.append(asyncio.create_task(planner.apply(CreateTask(f"{number}"))))
        await asyncio.sleep(0.001)
        CHANCE.choice(calls).cancel()
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    await until(lambda: not planner._background)
    assert told == awaited == all_of(kept_in)
    assert told == sorted(set(told))


async def test_a_call_that_is_cancelled_while_telling_leaves_the_subscriber_to_go_on():
    """Who hears is not interrupted because the caller has gone, and hears what follows after it."""
    told = []
    may_go_on = asyncio.Event()

    async def listen(entry, _):
        await may_go_on.wait()
        told.append(entry.revision)

    planner = AsyncPlanner()
    planner.subscribe(listen)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(planner.apply(CreateTask("a")), 0.01)
    await planner.apply(CreateTask("b"))
    assert told == []
    may_go_on.set()
    await until(lambda: told == [1, 2])


async def test_a_slow_coroutine_holds_up_nobody_else():
    """One waits; the others hear at once, and later calls do not wait for it."""
    told = []
    planner = AsyncPlanner()

    async def linger(entry, _):
        await asyncio.sleep(3600)

    planner.subscribe(linger)
    planner.subscribe(revisions(told))
    first = asyncio.create_task(planner.apply(CreateTask("a")))
    await until(lambda: told == [1])
    await asyncio.wait_for(planner.apply(CreateTask("b")), PATIENCE)
    assert told == [1, 2]
    first.cancel()


def test_a_loop_that_ends_amid_the_news_leaves_the_rest_for_the_next():
    """What a subscriber began to hear is not told again; what came after it is."""
    told, planner = [], AsyncPlanner()

    async def listen(entry, _):
        told.append(entry.revision)
        if entry.revision == 1:
            await asyncio.sleep(3600)

    async def gone():
        call = asyncio.create_task(planner.apply(CreateTask("a")))
        await until(lambda: told == [1])
        call.cancel()
        await planner.apply(CreateTask("b"))

    planner.subscribe(listen)
    asyncio.run(gone())
    assert told == [1]
    asyncio.run(planner.apply(CreateTask("c")))
    assert told == [1, 2, 3]


async def test_a_subscriber_that_was_cancelled_from_within_hears_the_rest():
    """A coroutine that waited for something which was cancelled has failed as any other."""
    told = []

    async def listen(entry, _):
        told.append(entry.revision)
        raise asyncio.CancelledError

    planner = AsyncPlanner(toolbox=Toolbox(tasks()))
    planner.subscribe(listen)
    calls = [Call("TaskCreate", {"subject": subject}) for subject in "abc"]
    await planner.turn(calls)
    assert told == [1, 2, 3]
