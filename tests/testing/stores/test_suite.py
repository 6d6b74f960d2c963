"""The store suite over our own stores, and its own parts: harness, runners, messages."""

import asyncio
import sys
from tempfile import mkdtemp
from threading import get_ident
from types import SimpleNamespace

import attrs
import pytest
from support.stores_sound import AsyncSound, Sound

from todoplan.core.plan.model import FrozenDict, Task
from todoplan.stores.file import FileStore
from todoplan.stores.memory import MemoryStore
from todoplan.testing.assertions import difference
from todoplan.testing.stores import AsyncStoreSuite, StoreSuite, harness
from todoplan.testing.stores.checks import ODD_IDS
from todoplan.testing.stores.harness import Checks, TaskRunner, ThreadRunner

pytest_plugins = ["pytester"]


class TestMemoryStore(StoreSuite):
    """Plans in the memory of this process, which have no other handle."""

    def store(self):
        return MemoryStore()


class TestFileStore(StoreSuite):
    """Plans in one JSON file, read and written through two handles."""

    def store(self):
        return FileStore(f"{mkdtemp(dir=self.folder)}/plans.json")

    def reopened(self, store):
        return FileStore(store.path)

    def in_another_process(self, store):
        opened = f"FileStore({str(store.path)!r}, patience=60)"
        return f"from todoplan.stores import FileStore; opened = lambda: {opened}"


async def back(value):
    return value


class Noting(StoreSuite):
    """Records the handles that are closed."""

    def __init__(self):
        self.closed = []

    def store(self):
        return Sound()

    def reopened(self, store):
        return store.again()

    def close(self, store):
        self.closed.append(store)


class AsyncNoting(AsyncStoreSuite):
    """The same with coroutine functions. It also records the event loop."""

    def __init__(self):
        self.closed, self.loops = [], set()

    async def store(self):
        self.loops.add(asyncio.get_running_loop())
        return AsyncSound()

    async def reopened(self, store):
        self.loops.add(asyncio.get_running_loop())
        return store.again()

    async def close(self, store):
        self.loops.add(asyncio.get_running_loop())
        self.closed.append(store)


@pytest.mark.parametrize("suite", [Noting, AsyncNoting])
def test_every_handle_is_closed_once(suite):
    """A check closes all handles that it was given, also if it fails."""
    checks, handles = suite(), []

    async def law(harness):
        await harness.again()
        handles.extend(harness.handles)
        raise LookupError

    with pytest.raises(LookupError):
        checks.hold(law)
    assert checks.closed == handles
    assert len(handles) == 2


def test_a_store_lives_in_one_loop():
    """An asynchronous store is made, reopened and closed in the loop that it is used in."""
    checks = AsyncNoting()
    checks.test_handles_see_what_others_wrote()
    assert len(checks.loops) == 1
    checks.test_handles_see_what_others_wrote()
    assert len(checks.loops) == 2


@pytest.mark.parametrize("suite", [Noting, AsyncNoting])
def test_a_store_is_its_own_other_handle(suite):
    """A suite without `reopened` has one handle, which is closed once."""

    class Single(suite):
        reopened = suite.__bases__[0].reopened

    checks = Single()
    checks.test_handles_see_what_others_wrote()
    assert len(checks.closed) == 1


def test_a_store_needs_no_event_loop():
    """A store that must not be called inside an event loop can be tested."""

    class Alone(Sound):
        def load(self, plan_id):
            return asyncio.run(back(super().load(plan_id)))

    class Suite(Noting):
        def store(self):
            return Alone()

    Suite().test_planners_lose_nothing()


def test_an_awaited_store_is_sent_to_the_other_suite():
    """The error names the suite to use if a store is tested by the suite of the other kind."""

    class Mistaken(Noting):
        def store(self):
            return AsyncSound()

    with pytest.raises(TypeError, match=r"AsyncSound\.load is a coroutine; test the store by"):
        Mistaken().test_a_plan_never_written_is_empty()
    with pytest.raises(TypeError, match="awaits an event loop; test an asynchronous store"):
        ThreadRunner().run(TaskRunner().pause())


def test_threads_run_at_once_and_leave_the_profile_as_it_was():
    """Each coroutine runs in its own thread, and the profile function is restored afterwards."""
    before = sys.getprofile()

    async def who():
        return get_ident()

    async def all_of_them():
        return await ThreadRunner().together(*(who() for _ in range(4)))

    assert len(set(ThreadRunner().run(all_of_them()))) == 4
    assert sys.getprofile() is before


def test_threads_take_turns_in_the_store_only(monkeypatch):
    """Threads are switched only in the code of stores, ours or not, a few hundred times."""
    switches = []
    monkeypatch.setattr(harness.time, "sleep", switches.append)
    give_way = harness._handing_over()

    def at_work_in(module):
        frame = SimpleNamespace(f_globals={"__name__": module})
        before = len(switches)
        for _ in range(150):
            give_way(frame, "call", None)
        return len(switches) - before

    assert at_work_in("todoplan.planner.planner") == 0
    assert at_work_in("todoplan.stores.memory") == 150
    assert at_work_in("my_store") == 150
    assert at_work_in("my_store") == 0


def test_no_id_is_asked_for_twice():
    """The odd ids are all different, and can be written as UTF-8."""
    assert len(set(ODD_IDS)) == len(ODD_IDS)
    assert "\0" not in "".join(ODD_IDS).encode().decode()


TASK = Task("1", "Dig", metadata=FrozenDict({"k": (1, 2)}))


@pytest.mark.parametrize(
    ("found", "wanted", "told"),
    [
        (1, 2, ("", "1", "2")),
        ([1], (1,), ("", "list: [1]", "tuple: (1,)")),
        ((1, 2), (1, 3), ("[1]", "2", "3")),
        ((1, 2), (1,), ("", "(1, 2)", "(1,)")),
        (attrs.evolve(TASK, subject="L\xe4y"), TASK, (".subject", "'L\\xe4y'", "'Dig'")),
        (
            (TASK, attrs.evolve(TASK, metadata=FrozenDict({"k": (1, 3)}))),
            (TASK, TASK),
            ("[1].metadata['k'][1]", "3", "2"),
        ),
        (FrozenDict({"a": 1}), FrozenDict(), ("", "FrozenDict({'a': 1})", "FrozenDict({})")),
        ("x" * 300, "", ("", f"'{'x' * 199}... (302 characters)", "''")),
    ],
)
def test_the_first_difference_is_told(found, wanted, told):
    """The path is as deep as possible, in ASCII, and both values are clipped."""
    assert difference(found, wanted) == told


def test_no_check_hides_another():
    """The classes of checks share only the names of their base class. Both suites have them all."""
    parts = StoreSuite.__bases__
    assert parts == AsyncStoreSuite.__bases__
    common = set(dir(Checks))
    names = [name for part in parts for name in set(vars(part)) - common - {"__firstlineno__"}]
    assert sorted(names) == sorted(set(names))


MINE = """
from tempfile import mkdtemp
from todoplan.stores.file import FileStore
from todoplan.stores.memory import MemoryStore
from todoplan.testing.stores import AsyncStoreSuite, StoreSuite


class TestMine(StoreSuite):
    def store(self):
        return FileStore(f"{mkdtemp(dir=self.folder)}/plans.json")


class TestHalf(StoreSuite):
    pass


class TestWrong(StoreSuite):
    def store(self):
        made = MemoryStore()
        made.load = lambda plan_id: None
        return made
"""


def test_pytest_collects_the_subclasses_only(pytester):
    """The suites themselves are not collected; a missing store is told; a failure has the law."""
    pytester.makepyfile(MINE)
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-k", "never_written_is_empty")
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines(
        ["*TestHalf has no store; write `def store(self): return MyStore()`*"]
    )
    done.stdout.fnmatch_lines(["E*before any append, load('a'):", "E*found  None"])
    done.stdout.fnmatch_lines(["E*law: A plan that was never written is the empty one*"])
