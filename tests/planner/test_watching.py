"""Watching a plan: every entry once, in order, by whomever it came, and through what passes."""

import asyncio
import logging
import threading
from collections import Counter
from contextlib import suppress
from itertools import islice

import pytest
from support.pace import until
from support.stores_sound import AsyncSound, Sound

from todoplan.core.commands import CreateTask
from todoplan.errors import PlanError, StoreError
from todoplan.planner import AsyncPlanner, Planner
from todoplan.planner.watching import Feed
from todoplan.stores.base import is_beginning
from todoplan.stores.file import FileStore
from todoplan.stores.memory import MemoryStore
from todoplan.stores.sqlite import SqliteStore


class Failing(Sound):
    """A store that fails some times, in a way of its own, and then goes on."""

    problem, times = "busy", 2

    def load(self, plan_id):
        if self.times:
            self.times -= 1
            msg = "somebody else has it"
            raise StoreError(msg, problem=self.problem)
        return self.kept.load(plan_id)


@pytest.fixture(params=["memory", "file", "sqlite", "plain"])
def store(request, tmp_path):
    made = {
        "memory": MemoryStore,
        "file": lambda: FileStore(tmp_path / "plans.json"),
        "sqlite": lambda: SqliteStore(tmp_path / "plans.db"),
        "plain": Sound,
    }[request.param]()
    yield made
    if request.param == "sqlite":
        made.close()


def add(store, *subjects, plan_id="a"):
    planner = Planner(store, plan_id)
    for subject in subjects:
        planner.apply(CreateTask(subject))
    return planner


def test_every_entry_comes_once_and_in_order(store):
    """What was there, and what another planner adds while somebody watches."""
    watcher = add(store, "Dig", "Lay")
    later = threading.Timer(0.05, add, (store, *(f"Task {number}" for number in range(20))))
    later.start()
    seen = list(islice(watcher.watch(since=0), 22))
    later.join()
    assert tuple(seen) == watcher.history()


def test_without_a_revision_only_what_comes(store):
    """From when the watch was asked for, not from its first entry."""
    watcher = add(store, "Dig")
    watch = watcher.watch(timeout=0)
    add(store, "Lay")
    assert [entry.revision for entry in watch] == [2]
    assert list(watcher.watch(timeout=0)) == []


def test_a_plan_that_is_overtaken_on_its_way_is_not_the_newest():
    """Who subscribes is called for what comes behind the newer one, and for nothing before it."""
    store = MemoryStore()
    older, newer = (add(store, subject).plan for subject in ("Dig", "Lay"))
    feed = Feed("a")
    lock = feed._lock

    class Slower:
        """Another thread comes to the lock first."""

        def __enter__(self):
            feed._lock = lock
            feed.saw(newer)
            lock.acquire()

        def __exit__(self, *_):
            lock.release()

    feed._lock = Slower()
    feed.saw(older)
    feed.add(print)
    assert [each.heard for each in feed.subscriptions] == [newer]


def test_it_ends_when_nothing_has_come_for_long_enough(store):
    """Each entry begins that time anew; what comes while one is handled is not missed."""
    watcher = add(store, "Dig")
    seen = []
    for entry in watcher.watch(since=0, timeout=0.02):
        seen.append(entry.revision)
        if len(seen) < 4:
            add(store, "More")
    assert seen == [1, 2, 3, 4]
    add(store, "Later")
    assert [entry.revision for entry in watcher.watch(since=4, timeout=0.02)] == [5]


def test_a_journal_that_was_cut_begins_with_the_plan_as_it_was(tmp_path):
    """Who has seen what was cut goes on; who has not is given the plan of then."""
    with SqliteStore(tmp_path / "plans.db") as store:
        watcher = add(store, "Dig", "Lay", "Fill", "Plant")
        store.compact("a", keep=1)
        beginning, last = watcher.watch(since=1, timeout=0)
        assert (is_beginning(beginning), beginning.revision, last.revision) == (True, 3, 4)
        assert [entry.revision for entry in watcher.watch(since=3, timeout=0)] == [4]


def test_a_plan_that_went_back_ends_the_watch(store):
    """Somebody put an older copy in its place: what was seen is not there."""
    watcher = add(store, "Dig")
    with pytest.raises(StoreError, match="revision 5") as caught:
        list(watcher.watch(since=5, timeout=0))
    assert caught.value.data["problem"] == "rolled_back"


@pytest.mark.parametrize("awaited", [False, True])
def test_a_store_that_is_away_is_waited_for(caplog, awaited):
    """It is logged, once; entries are missed by nobody. What does not pass by itself is raised."""
    store = Failing()
    add(store.kept, "Dig", "Lay")

    async def seen():
        return [one async for one in AsyncPlanner(store, "a").watch(since=0, timeout=0.5)]

    with caplog.at_level(logging.WARNING, "todoplan"):
        watch = Planner(store, "a").watch
        assert len(asyncio.run(seen()) if awaited else [*watch(since=0, timeout=0.5)]) == 2
    assert [record.message for record in caplog.records if record.name == "todoplan"] == [
        "the watch waits for the journal of 'a': somebody else has it"
    ]
    store.problem, store.times = "read_only", 2
    with pytest.raises(StoreError, match="somebody else"):
        asyncio.run(seen()) if awaited else list(watch(since=0))


def test_a_wait_that_fails_is_no_end(caplog):
    """The look behind it says what is wrong, if anything still is."""

    class Hasty(MemoryStore):
        def wait_for_change(self, plan_id, revision, timeout):
            add(self, "Lay")
            msg = "the connection was lost"
            raise StoreError(msg, problem="unreachable")

    store = Hasty()
    seen = list(islice(add(store, "Dig").watch(since=0), 3))
    assert [entry.revision for entry in seen] == [1, 2, 3]
    assert caplog.records == []


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        *(({"since": since}, "0 for all entries") for since in (-1, 1.0, "1", True)),
        *(({"timeout": timeout}, "number of seconds") for timeout in (-1, "1")),
    ],
    ids=str,
)
def test_what_is_no_revision_and_no_time_is_refused(given, remedy):
    """It says what is one."""
    with pytest.raises(PlanError, match=remedy):
        list(Planner().watch(**given))


def test_who_follows_calls_subscribers_at_once_for_what_others_do(store):
    """Without a command of their own planner, and each entry once all the same."""
    planner, heard, there = add(store, "Dig"), [], threading.Event()

    def hear(entry, plan):
        heard.append((entry.revision, [task.subject for task in plan][1:]))
        if entry.revision == 3:
            there.set()
        if entry.revision == 5:
            raise SystemExit

    def follow():
        with suppress(SystemExit):
            planner.follow()

    planner.subscribe(hear)
    following = threading.Thread(target=follow)
    following.start()
    add(store, "Lay", "Fill")
    assert there.wait(30)
    planner.apply(CreateTask("Plant"))
    add(store, "Mow")
    following.join(30)
    planner.follow(timeout=0)
    done = ["Lay", "Fill", "Plant", "Mow"]
    assert heard == [(n + 1, done[:n]) for n in range(1, 5)]


async def test_an_async_planner_follows_too(tmp_path):
    """A subscriber may be a coroutine function; cancelling the task ends it."""
    with SqliteStore(tmp_path / "plans.db") as store:
        planner, other = AsyncPlanner(store, "a"), AsyncPlanner(store, "a")
        await planner.apply(CreateTask("Dig"))
        heard, there = [], asyncio.Event()

        async def hear(entry, plan):
            heard.append((entry.revision, len(plan)))
            if len(plan) == 3:
                there.set()

        planner.subscribe(hear)
        following = asyncio.create_task(planner.follow())
        await other.apply(CreateTask("Lay"))
        await other.apply(CreateTask("Fill"))
        await asyncio.wait_for(there.wait(), 30)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await planner.apply(CreateTask("Plant"))
        await planner.follow(timeout=0)
        assert heard == [(2, 2), (3, 3), (4, 4)]


class Waiting(AsyncSound):
    """A store that says when a plan has changed, awaited."""

    async def wait_for_change(self, *_):
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("kind", [MemoryStore, SqliteStore, AsyncSound, Waiting])
async def test_an_awaited_watch_sees_each_entry_and_ends_at_once_when_it_is_cancelled(
    kind, tmp_path
):
    """And nobody else has to wait for it."""
    store = kind(tmp_path / "plans.db") if kind is SqliteStore else kind()
    planner, seen = AsyncPlanner(store, "a"), Counter()

    async def watch():
        async for entry in planner.watch(since=0):
            seen[entry.revision] += 1

    watches = [asyncio.create_task(watch()) for _ in range(8)]
    for subject in ("Dig", "Lay"):
        await asyncio.sleep(0.02)
        await planner.apply(CreateTask(subject))
    await until(lambda: seen.total() == 16)
    for each in watches:
        each.cancel()
    ended = await asyncio.gather(*watches, return_exceptions=True)
    assert {type(each) for each in ended} == {asyncio.CancelledError}
    assert seen == {1: 8, 2: 8}
    assert [entry async for entry in planner.watch(timeout=0)] == []
