"""A verifier is asked within its time, and whatever it does the caller goes on."""

import asyncio
import logging
from contextvars import ContextVar
from functools import partial
from threading import Event, current_thread

import pytest

from todoplan import Plan, plan_of
from todoplan.core.plan.model import Task
from todoplan.dialogue.toolbox import Finding
from todoplan.errors import PlanError
from todoplan.planner import Verifier
from todoplan.planner.verifying import verifier_of

passed, failed = partial(Finding, True), partial(Finding, False)  # noqa: FBT003 - what was found
TASK = Task("1", "Fix", check="tests pass")
PLAN = plan_of([TASK])
NAME = ContextVar("name", default="none")


def passes(task, plan):
    return task.check == "tests pass" and plan == PLAN, f"{NAME.get()}: {task.subject}"


async def passes_awaited(task, plan):
    await asyncio.sleep(0)
    return passes(task, plan)


class Asked:
    """An object that is called, and awaited."""

    async def __call__(self, task, plan):
        return await passes_awaited(task, plan)


def found(verifier):
    """Return what a verifier finds, at once and awaited, which must be the same."""
    made = Verifier(verifier) if not isinstance(verifier, Verifier) else verifier
    at_once, awaited = made.find(TASK, PLAN), asyncio.run(made.afind(TASK, PLAN))
    assert at_once == awaited
    return at_once


def test_a_finding_is_what_was_returned():
    """Whether it passed and what was seen; in the caller's context, in a thread of its own."""
    NAME.set("ann")
    threads = []
    assert found(passes) == passed("ann: Fix")
    assert found(lambda *_: failed("2 failed")) == failed("2 failed")
    assert found(lambda *_: threads.append(current_thread())) is None
    assert current_thread() not in threads


@pytest.mark.parametrize(
    "look",
    [passes_awaited, Asked(), partial(passes_awaited), lambda *_: passes_awaited(TASK, PLAN)],
)
def test_a_coroutine_function_is_awaited(look):
    """Also an object, a partial and a function that returns what has to be awaited."""
    assert asyncio.run(Verifier(look).afind(TASK, PLAN)).passed


def test_without_a_loop_of_asyncio_it_is_asked_where_we_are():
    """Another framework of tasks, such as Trio, has limits of its own."""

    async def look(task, plan):
        return True, "seen"

    for each in (look, lambda *_: (True, "seen")):
        with pytest.raises(StopIteration) as done:
            Verifier(each).afind(TASK, PLAN).send(None)
        assert done.value.value == passed("seen")


@pytest.mark.parametrize("value", [True, "passed", (1, "x"), (True, None), (True,), [True, "x"]])
def test_what_is_no_finding_is_none(value):
    """A guess could take a text for a pass: it says what has to be returned."""
    assert "has to return (passed, summary)" in found(lambda *_: value)


@pytest.mark.parametrize("error", [ValueError("no pytest"), SystemExit(2), StopIteration()])
def test_whatever_is_raised_is_told_and_logged(error, caplog):
    """Also an attempt to end the program; who has to mend it finds the trace in the log."""

    def look(task, plan):
        raise error

    with caplog.at_level(logging.WARNING, "todoplan"):
        said = Verifier(look, by="ci").find(TASK, PLAN)
    assert said.startswith(type(error).__name__)
    assert "verifier 'ci' failed at task #1" in caplog.text


def test_what_an_awaited_one_raises_is_told():
    """Also that what it waited for was cancelled, which is no cancelling of ours."""

    async def raises(task, plan):
        msg = "no network"
        raise OSError(msg)

    async def is_cancelled(task, plan):
        raise asyncio.CancelledError

    assert asyncio.run(Verifier(raises).afind(TASK, PLAN)) == "OSError: no network"
    assert asyncio.run(Verifier(is_cancelled).afind(TASK, PLAN)).startswith("CancelledError")


def test_time_that_has_run_out_is_told():
    """The verifier is left to itself, and nobody waits for it."""
    let_go = Event()

    def stands_still(task, plan):
        let_go.wait(60)
        return True, "too late"

    async def never(task, plan):
        await asyncio.sleep(600)

    said = "no answer within 0.01 seconds"
    assert Verifier(stands_still, seconds=0.01).find(TASK, PLAN) == said
    assert asyncio.run(Verifier(stands_still, seconds=0.01).afind(TASK, PLAN)) == said
    assert asyncio.run(Verifier(never, seconds=0.01).afind(TASK, PLAN)) == said
    let_go.set()


async def test_a_look_that_is_cancelled_ends_its_verifier():
    """The caller is cancelled, and what it waited for is not left behind."""
    ended = []

    async def look(task, plan):
        try:
            await asyncio.sleep(600)
        finally:
            ended.append(task.id)

    work = asyncio.create_task(Verifier(look).afind(TASK, PLAN))
    await asyncio.sleep(0.01)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    await asyncio.sleep(0.01)
    assert ended == ["1"]


def test_a_summary_is_kept_short_and_whole():
    """The end of a long one, which has the counts; half a character becomes a whole one."""
    kept = found(lambda *_: (False, "a" * 10_000 + "2 failed")).summary
    assert kept.startswith("... a")
    assert kept.endswith("2 failed")
    assert len(kept) < 2_100
    assert found(lambda *_: (False, "\ud800\x00ok")).summary == "\ufffdok"


def test_an_awaited_one_is_refused_where_nothing_is_awaited():
    """At once where that can be known, else when it is asked."""
    with pytest.raises(PlanError, match="use AsyncPlanner"):
        Verifier(Asked()).refuse_awaited("AsyncPlanner")
    Verifier(passes).refuse_awaited("AsyncPlanner")
    with pytest.raises(PlanError, match="use AsyncPlanner"):
        Verifier(lambda *_: passes_awaited(TASK, PLAN)).find(TASK, PLAN)

    class Later:
        def __await__(self):
            return iter(())

    with pytest.raises(PlanError, match="use AsyncPlanner"):
        Verifier(lambda *_: Later()).find(TASK, PLAN)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"look": None}, "give a function"),
        ({"look": Plan}, "give a function"),
        *(({"seconds": value}, "more than 0") for value in (0, -1, True, "5", float("inf"))),
        *(({"by": value}, "give a name") for value in ("", " ", None)),
    ],
)
def test_what_makes_no_verifier_is_refused(given, said):
    """With what was seen, and what to give instead."""
    with pytest.raises(PlanError, match=said):
        Verifier(**{"look": passes, **given})


def test_a_function_is_a_verifier_with_the_usual_time():
    """None stays none; a verifier stays as it is."""
    made = Verifier(passes, seconds=5)
    assert verifier_of(None) is None
    assert verifier_of(made) is made
    assert verifier_of(passes) == Verifier(passes)
