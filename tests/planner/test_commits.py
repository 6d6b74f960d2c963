"""A planner on a store that can lock plans: it reads the newest entries alone, and decides once."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from support.stores_sound import AsyncHolding, Holding
from support.talk import texts_of

from todoplan.core.commands import CreateTask
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks
from todoplan.errors import StoreError
from todoplan.planner import AsyncPlanner, Planner
from todoplan.planner import planner as commits
from todoplan.stores.base import follow, is_holding
from todoplan.stores.file import FileStore
from todoplan.stores.memory import MemoryStore
from todoplan.stores.sqlite import SqliteStore
from todoplan.testing.stores.appends import adding

BOX = Toolbox(tasks())


class Counted(Holding):
    """Notes what is asked of it, with where a tail begins."""

    def __init__(self, kept=None):
        super().__init__(kept)
        self.asked = []

    def load(self, plan_id):
        self.asked.append("load")
        return super().load(plan_id)

    def entries(self, plan_id):
        self.asked.append("entries")
        return super().entries(plan_id)

    def entries_since(self, plan_id, revision):
        self.asked.append(revision)
        return super().entries_since(plan_id, revision)

    def hold(self, plan_id):
        self.asked.append("hold")
        return super().hold(plan_id)


def test_a_plan_is_loaded_once_and_then_followed():
    """However long the journal is: a command asks for what came since, a look holds nothing."""
    store = Counted()
    planner = Planner(store, "a", toolbox=BOX)
    planner.apply(CreateTask("Dig"))
    assert store.asked == ["load", "hold"]
    store.asked.clear()
    planner.call("TaskCreate", {"subject": "Lay"}, actor="m")
    planner.call("TaskList", actor="m")
    assert (store.asked, texts_of(planner.plan)) == (["hold", 1, 1], ["Dig", "Lay"])
    store.asked.clear()
    other = Planner(Holding(store.kept), "a")
    other.apply(CreateTask("Fill"))
    assert "created" in planner.call("TaskList", actor="m").text
    assert store.asked == [1, 2]


def test_a_planner_that_begins_anew_does_not_read_the_whole_journal():
    """If its actor wrote the newest entry, nothing is looked up; otherwise the journal is read."""
    store = Counted()
    first = Planner(store, "a", toolbox=BOX)
    for subject in ("Dig", "Lay", "Fill"):
        first.call("TaskCreate", {"subject": subject}, actor="m")
    store.asked.clear()
    again = Planner(store, "a", toolbox=BOX)
    assert again.call("TaskList", actor="m").text == again.call("TaskList", actor="m").text
    assert store.asked == ["load", 2, 2]
    store.asked.clear()
    first.apply(CreateTask("Plant"), actor="ann")
    told = Planner(store, "a", toolbox=BOX).call("TaskList", actor="m").text
    assert "#4 Plant created by ann" in told
    assert store.asked[-2:] == [3, -1]


def test_entries_of_a_store_that_holds_have_the_stores_time():
    """Unless a clock was given: that one is meant."""
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)

    class Late(Holding):
        @contextmanager
        def hold(self, plan_id):
            with self.kept.hold(plan_id) as held:
                held.now = lambda: noon
                yield held

    store = Late()
    Planner(store, "a").apply(CreateTask("Dig"))
    Planner(store, "a", clock=lambda: noon + timedelta(1)).apply(CreateTask("Lay"))
    assert [entry.at for entry in store.entries("a")] == [noon, noon + timedelta(1)]


def test_threads_on_one_planner_never_decide_anew():
    """Each decides once, upon what the one before it left."""
    store, decided = MemoryStore(), []
    planner = Planner(store, "a", clock=lambda: decided.append(1) or datetime.now(UTC))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: planner.apply(CreateTask(f"{n}")), range(40)))
    assert (len(decided), len(planner.plan)) == (40, 40)


def test_a_plan_that_was_put_back_is_an_error(tmp_path):
    """An older copy under the planner's feet: to go on would undo what was seen."""
    store = MemoryStore()
    planner = Planner(store, "a")
    planner.apply(CreateTask("Dig"))
    store._plans.clear()
    for use in (lambda: planner.plan, lambda: planner.apply(CreateTask("Lay"))):
        with pytest.raises(StoreError, match="'a' was restored from older data") as caught:
            use()
        assert caught.value.data["problem"] == "rolled_back"
    assert len(Planner(store, "a").plan) == 0


def test_a_subscriber_behind_a_cut_hears_the_plan_as_it_was_then(tmp_path):
    """What was cut it cannot be told one by one; then it goes on in order."""
    store, told = SqliteStore(tmp_path / "plans.db"), []
    mine, other = Planner(store, "a"), Planner(store, "a")
    mine.apply(CreateTask("Dig"))
    mine.subscribe(lambda entry, plan: told.append((entry.cause, plan.revision, len(plan))))
    for subject in ("Lay", "Fill", "Plant"):
        other.apply(CreateTask(subject))
    store.compact("a", keep=1)
    mine.apply(CreateTask("Water"))
    assert told == [("compact", 3, 3), ("CreateTask", 4, 4), ("CreateTask", 5, 5)]


@pytest.mark.parametrize("method", ["load", "entries", "append"])
def test_who_sees_every_call_goes_on_seeing_it(method):
    """A subclass with a method of its own is not passed by: it is a store like any other."""
    mine = type("Mine", (MemoryStore,), {method: lambda *_: None})
    assert is_holding(MemoryStore())
    assert not is_holding(mine())
    assert is_holding(type("Both", (mine,), {"hold": MemoryStore.hold})())
    assert not is_holding(FileStore("plans.json"))

    class Proxy:
        def __getattr__(self, name):
            return getattr(MemoryStore(), name)

    assert is_holding(Proxy())


@pytest.mark.parametrize("kind", [Holding, AsyncHolding, MemoryStore, SqliteStore])
async def test_awaited_calls_hold_as_well(kind, tmp_path):
    """In a thread, in the loop, or awaited: tasks side by side lose nothing."""
    store = kind(tmp_path / "plans.db") if kind is SqliteStore else kind()
    one, other = AsyncPlanner(store, "a"), AsyncPlanner(store, "a", toolbox=BOX)
    told = []
    one.subscribe(lambda entry, _: told.append(entry.revision))
    works = [(one, other)[n % 2].apply(CreateTask(f"{n}")) for n in range(10)]
    await asyncio.gather(*works)
    await other.call("TaskCreate", {"subject": "Dig"}, key="k")
    await other.call("TaskCreate", {"subject": "Dig"}, key="k")
    await one.undo()
    assert len(await one.plan()) == 10
    assert told == [entry.revision for entry in await one.history()] == [*range(1, 13)]


async def test_a_cancelled_call_that_holds_is_carried_to_its_end():
    """What has begun is done, and subscribers hear of it; nothing is left held."""
    store, told, heard = AsyncHolding(), [], asyncio.Event()

    async def tell(entry, _):
        told.append(entry.revision)
        heard.set()

    planner = AsyncPlanner(store, "a")
    planner.subscribe(tell)
    await store.turn.acquire()
    call = asyncio.create_task(planner.apply(CreateTask("Dig")))
    for _ in range(5):
        await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    store.turn.release()
    await asyncio.wait_for(heard.wait(), 60)
    assert (told, len(await planner.plan()), store.turn.locked()) == ([1], 1, False)


class Watched(SqliteStore):
    """Notes how many entries are read while a plan is held."""

    most = 0

    def hold(self, plan_id):
        hold, store = super().hold(plan_id), self
        read = hold.entries_since

        def counted(revision):
            found = read(revision)
            store.most = max(store.most, len(found))
            return found

        hold.entries_since = counted
        return hold


@pytest.mark.parametrize("act", ["undo", "behind", "undo of a cut journal"])
def test_what_must_be_read_is_read_before_the_plan_is_held(tmp_path, act):
    """Else the writers of all other plans wait for it: a second at 30,000 entries."""
    path = tmp_path / "plans.db"
    writer = Planner(SqliteStore(path), "a")
    writer.apply(CreateTask("Dig"))
    store = Watched(path)
    planner = Planner(store, "a")
    assert len(planner.plan) == 1
    plan = writer.plan
    made = adding(plan, *[("Lay",)] * 1_200)
    assert SqliteStore(path).append("a", plan.revision, made.entries, made.plan)
    if act == "undo of a cut journal":
        SqliteStore(path).compact("a", keep=700)
    if act == "behind":
        planner.apply(CreateTask("Fill"))
    else:
        taken_back = planner.undo().unwrap()
        assert tuple(taken_back) == tuple(made.plan)[:-1]
        assert tuple(planner.undo().unwrap()) == tuple(made.plan)[:-2]
    assert planner.plan == follow(Plan(), store.entries("a"))
    assert store.most <= 500


def test_who_is_always_behind_decides_all_the_same(tmp_path, monkeypatch):
    """After some reads in vain, what is missing is read while the plan is held."""
    monkeypatch.setattr(commits, "_MANY", 10)
    path = tmp_path / "plans.db"
    Planner(SqliteStore(path), "a").apply(CreateTask("Dig"))
    fast = SqliteStore(path)

    class Late(SqliteStore):
        def hold(self, plan_id):
            plan = fast.load(plan_id)
            made = adding(plan, *[("Lay",)] * 20)
            assert fast.append(plan_id, plan.revision, made.entries, made.plan)
            return super().hold(plan_id)

    planner = Planner(Late(path), "a")
    planner.apply(CreateTask("Fill")).unwrap()
    assert len(fast.load("a")) == 1 + 4 * 20 + 1
