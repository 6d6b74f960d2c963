"""Calls of one turn that are started apart, in threads or tasks: carried out in order, once."""

import asyncio
import gc
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

    def __init__(self, awaited):
        self.calls, self.appends, self.awaited = ParallelCalls(), [], awaited
        self.planner = Planner(MemoryStore(), "1", toolbox=Toolbox(TASKS))

    def carry_out(self, calls, earlier):
        own = [reply.revision for turn in earlier for reply in turn.replies]
        self.appends.append(([call.call_id for call in calls], own))
        return self.planner.turn(calls)

    def together(self, names, ids=IDS, key="turn", carry_out=None):
        """Start calls at the same time, in threads or in tasks; return what each was answered."""
        do = carry_out or self.carry_out
        if not self.awaited:
            with ThreadPoolExecutor(3) as pool:
                works = [
                    pool.submit(self.calls.answer, key, ids, create(name), do) for name in names
                ]
            return [work.exception() or work.result()[0].text for work in works]

        async def ado(*given):
            await asyncio.sleep(0)
            return do(*given)

        async def all_of_them():
            works = [self.calls.aanswer(key, ids, create(name), ado) for name in names]
            return await asyncio.gather(*works, return_exceptions=True)

        ends = asyncio.run(all_of_them())
        return [end if isinstance(end, Exception) else end[0].text for end in ends]

    def answer(self, name, ids=IDS, key="turn", carry_out=None):
        (text,) = self.together([name], ids, key, carry_out)
        return text

    @property
    def subjects(self):
        return [task.subject for task in self.planner.plan]


@pytest.fixture(params=["threads", "tasks"])
def desk(request, monkeypatch):
    monkeypatch.setattr(parallel_calls, "_PATIENCE_SECONDS", 0.05)
    return Desk(request.param == "tasks")


def test_calls_that_start_in_any_order_are_one_turn_in_the_models_order(desk, monkeypatch):
    """Each gets its own answer, and there is one append."""
    monkeypatch.setattr(parallel_calls, "_PATIENCE_SECONDS", 30)
    told = [text[:12] for text in desk.together("cab")]
    assert told == ["0/3: #3 crea", "0/1: #1 crea", "0/2: #2 crea"]
    assert (desk.subjects, desk.appends) == (["a", "b", "c"], [(["a", "b", "c"], [])])


def test_a_call_that_is_kept_back_is_not_carried_out_by_another(desk):
    """A person has not said yes. Once it comes, it is told what of the turn was before it."""
    assert len(desk.together("ac")) == 2
    assert desk.subjects == ["a", "c"]
    assert desk.answer("b") == "0/3: #3 created"
    assert desk.appends == [(["a", "c"], []), (["b"], [1, 2])]


def test_a_call_that_comes_while_the_others_are_carried_out_waits_for_them():
    """Two appends of one turn are never at once."""
    desk, begun, go_on = Desk(awaited=False), Event(), Event()

    def slowly(calls, earlier):
        begun.set()
        go_on.wait(10)
        return desk.carry_out(calls, earlier)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(desk.answer, "a", IDS[:1], "turn", slowly)
        begun.wait(10)
        second = pool.submit(desk.answer, "b", IDS[:2])
        go_on.set()
        assert (first.result(), second.result()) == ("0/1: #1 created", "0/2: #2 created")
    assert desk.appends == [(["a"], []), (["b"], [1])]


def test_a_call_that_is_started_again_gets_the_same_answer(desk):
    """It is not carried out twice; with other arguments, or in another turn, it is another call."""
    assert desk.answer("a", ["a"]) == desk.answer("a", ["a"]) == "0/1: #1 created"
    other = Call("TaskCreate", {"subject": "A"}, "a")
    reply, turn = desk.calls.answer("turn", ["a"], other, desk.carry_out)
    assert (reply.text, len(turn.plan)) == ("0/2: #2 created", 2)
    assert desk.answer("a", ["a"], key="another") == "0/3: #3 created"


def fails(calls, own):
    msg = "no room"
    raise OSError(msg)


@pytest.mark.parametrize("failing", [False, True])
def test_turns_that_are_long_over_are_forgotten(failing, monkeypatch):
    """What is remembered is bounded; also where the turn at work goes, which may fail."""
    monkeypatch.setattr(parallel_calls, "_MOST_TURNS", 1)
    desk = Desk(awaited=False)

    def forgetting(calls, earlier):
        desk.answer("x", ["x"], key="other")
        return (fails if failing else desk.carry_out)(calls, earlier)

    first = str(desk.answer("a", ["a"], carry_out=forgetting))
    assert first == ("no room" if failing else "0/2: #2 created")
    assert desk.answer("a", ["a"]).endswith(" created")
    assert desk.subjects == (["x", "a"] if failing else ["x", "a", "a"])


def test_what_failed_is_raised_for_each_call_and_may_be_started_again(desk, caplog):
    """Nothing is remembered of it, and asyncio complains of no error that nobody has heard."""
    assert [*map(str, desk.together("ab", ["a", "b"], carry_out=fails))] == ["no room"] * 2
    assert str(desk.answer("a", ["a"], carry_out=fails)) == "no room"
    assert desk.answer("a", ["a"]) == "0/1: #1 created"
    gc.collect()
    assert caplog.text == ""


async def test_who_is_cancelled_while_waiting_takes_the_others_along(monkeypatch):
    """Nothing was carried out, and each may be started again."""
    monkeypatch.setattr(parallel_calls, "_PATIENCE_SECONDS", 30)
    desk = Desk(awaited=True)

    async def carry_out(calls, earlier):
        return desk.carry_out(calls, earlier)

    def started(names):
        works = (desk.calls.aanswer("turn", IDS, create(name), carry_out) for name in names)
        return [*map(asyncio.create_task, works)]

    both = started("ab")
    await asyncio.sleep(0.01)
    both[0].cancel()
    ended = await asyncio.gather(*both, return_exceptions=True)
    assert [type(each).__name__ for each in ended] == ["CancelledError"] * 2
    assert len(await asyncio.gather(*started(IDS))) == len(desk.planner.plan) == 3
