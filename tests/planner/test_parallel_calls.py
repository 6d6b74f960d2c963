"""Calls of one turn that are started apart, in threads or tasks: carried out in order, once."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from todoplan import TASKS, MemoryStore, Planner, Toolbox
from todoplan.dialogue import Call
from todoplan.planner import parallel_calls
from todoplan.planner.parallel_calls import ParallelCalls

IDS = ["a", "b", "c"]


def create(name):
    return Call("TaskCreate", {"subject": name}, name)


class Desk:
    """A plan, the calls of turns on it, and how many calls each append held."""

    def __init__(self):
        self.calls, self.appends = ParallelCalls(), []
        self.planner = Planner(MemoryStore(), "1", toolbox=Toolbox(TASKS))

    def carry_out(self, calls, earlier):
        own = [reply.revision for turn in earlier for reply in turn.replies]
        self.appends.append(([call.call_id for call in calls], own))
        return self.planner.turn(calls)

    async def acarry_out(self, calls, earlier):
        await asyncio.sleep(0)
        return self.carry_out(calls, earlier)

    def answer(self, name, ids=IDS, key="turn"):
        return self.calls.answer(key, ids, create(name), self.carry_out)[0].text

    async def aanswer(self, name, ids=IDS, key="turn"):
        return (await self.calls.aanswer(key, ids, create(name), self.acarry_out))[0].text

    @property
    def subjects(self):
        return [task.subject for task in self.planner.plan]


@pytest.fixture
def desk(monkeypatch):
    monkeypatch.setattr(parallel_calls, "_PATIENCE_SECONDS", 0.05)
    return Desk()


def test_threads_that_start_in_any_order_are_one_turn_in_the_models_order(desk, monkeypatch):
    """Each gets its own answer, and there is one append."""
    monkeypatch.setattr(parallel_calls, "_PATIENCE_SECONDS", 30)
    with ThreadPoolExecutor(3) as pool:
        told = [*pool.map(desk.answer, "cab")]
    assert [text[:12] for text in told] == ["0/3: #3 crea", "0/1: #1 crea", "0/2: #2 crea"]
    assert (desk.subjects, desk.appends) == (["a", "b", "c"], [(["a", "b", "c"], [])])


async def test_tasks_are_one_turn_as_well(desk):
    """As threads are."""
    assert [text[:4] for text in await asyncio.gather(*map(desk.aanswer, "bca"))] == [
        "0/2:",
        "0/3:",
        "0/1:",
    ]
    assert desk.appends == [(["a", "b", "c"], [])]


def test_a_call_that_is_kept_back_is_not_carried_out_by_another(desk):
    """A person has not said yes. Once it comes, it is told what of the turn was before it."""
    with ThreadPoolExecutor(2) as pool:
        assert [*map(bool, pool.map(desk.answer, "ac"))] == [True, True]
    assert desk.subjects == ["a", "c"]
    assert desk.answer("b") == "0/3: #3 created"
    assert desk.appends == [(["a", "c"], []), (["b"], [1, 2])]


async def test_a_task_that_is_kept_back_comes_later_too(desk):
    """As a thread does."""
    await asyncio.gather(desk.aanswer("a"), desk.aanswer("b"))
    assert await asyncio.gather(desk.aanswer("c")) == ["0/3: #3 created"]
    assert desk.appends == [(["a", "b"], []), (["c"], [1, 2])]


def test_a_call_that_comes_while_the_others_are_carried_out_waits_for_them(desk):
    """Two appends of one turn are never at once."""
    begun, go_on = Event(), Event()

    def slowly(calls, earlier):
        begun.set()
        go_on.wait(10)
        return desk.carry_out(calls, earlier)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(desk.calls.answer, "turn", IDS[:2], create("a"), slowly)
        begun.wait(10)
        second = pool.submit(desk.answer, "b", IDS[:2])
        go_on.set()
        assert (first.result()[0].text, second.result()) == ("0/1: #1 created", "0/2: #2 created")
    assert desk.appends == [(["a"], []), (["b"], [1])]


def test_a_call_that_is_started_again_gets_the_same_answer(desk):
    """It is not carried out twice; with other arguments, or in another turn, it is another call."""
    assert desk.answer("a", ["a"]) == desk.answer("a", ["a"]) == "0/1: #1 created"
    assert asyncio.run(desk.aanswer("a", ["a"])) == "0/1: #1 created"
    other = Call("TaskCreate", {"subject": "A"}, "a")
    reply, turn = desk.calls.answer("turn", ["a"], other, desk.carry_out)
    assert (reply.text, len(turn.plan)) == ("0/2: #2 created", 2)
    assert desk.answer("a", ["a"], key="another") == "0/3: #3 created"


def test_turns_that_are_long_over_are_forgotten(desk, monkeypatch):
    """What is remembered is bounded; also where the turn at work goes."""
    monkeypatch.setattr(parallel_calls, "_MOST_TURNS", 1)

    def forgetting(calls, earlier):
        desk.answer("x", ["x"], key="other")
        return desk.carry_out(calls, earlier)

    first = desk.calls.answer("turn", ["a"], create("a"), forgetting)[0]
    assert first.text == "0/2: #2 created"
    assert desk.answer("a", ["a"]) == "0/3: #3 created"


def fails(calls, own):
    msg = "no room"
    raise OSError(msg)


async def afails(calls, own):
    fails(calls, own)


def test_what_failed_is_raised_for_each_call_and_may_be_started_again(desk):
    """Nothing is remembered of it."""
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(desk.calls.answer, 1, ["a", "b"], create(n), fails) for n in "ab"]
    assert [str(each.exception()) for each in both] == ["no room"] * 2
    with pytest.raises(OSError, match="no room"):
        asyncio.run(desk.calls.aanswer(1, ["a"], create("a"), afails))
    assert desk.answer("a", ["a"], key=1) == "0/1: #1 created"


def test_a_failure_of_a_turn_that_is_forgotten_is_raised_all_the_same(desk, monkeypatch):
    """There is nothing to take back."""
    monkeypatch.setattr(parallel_calls, "_MOST_TURNS", 1)

    def forgotten(calls, own):
        desk.answer("x", ["x"], key="other")
        fails(calls, own)

    with pytest.raises(OSError, match="no room"):
        desk.calls.answer("turn", ["a"], create("a"), forgotten)


async def test_who_is_cancelled_while_waiting_takes_the_others_along(desk, monkeypatch):
    """Nothing was carried out, and each may be started again."""
    monkeypatch.setattr(parallel_calls, "_PATIENCE_SECONDS", 30)
    both = [asyncio.create_task(desk.aanswer(name)) for name in "ab"]
    await asyncio.sleep(0.01)
    both[0].cancel()
    ended = await asyncio.gather(*both, return_exceptions=True)
    ended, again = (
        [type(each).__name__ for each in ended],
        await asyncio.gather(*map(desk.aanswer, IDS)),
    )
    assert ended == ["CancelledError"] * 2
    assert len(again) == len(desk.planner.plan) == 3
