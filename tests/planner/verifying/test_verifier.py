"""A verifier is asked within its time, and whatever it does the caller goes on."""

import asyncio
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


def raises(error):
    """Return a verifier that raises."""

    def look(task, plan):
        raise error

    return look


async def araises(task, plan):
    raise asyncio.CancelledError


async def anever(task, plan):
    await asyncio.sleep(600)


NO_FINDING = "has to return (passed, summary)"
LATE = "no answer within 0.01 seconds"
PLAIN = [
    (passes, passed("ann: Fix")),
    (lambda *_: failed("2 failed"), failed("2 failed")),
    (lambda *_: (False, "\ud800\x00ok"), failed("\ufffdok")),
    (lambda *_: None, None),
    *(
        (lambda *_, value=value: value, NO_FINDING)
        for value in (True, "passed", (1, "x"), (True, None), (True,), [True, "x"])
    ),
    (raises(OSError("no network")), "OSError: no network"),
    (raises(SystemExit(2)), "SystemExit: 2"),
    (raises(StopIteration()), "StopIteration"),
    (Verifier(lambda *_: (Event().wait(1), "too late"), seconds=0.01), LATE),
]
AWAITED = [
    (passes_awaited, passed("ann: Fix")),
    (Asked(), passed("ann: Fix")),
    (partial(passes_awaited), passed("ann: Fix")),
    (lambda *_: passes_awaited(TASK, PLAN), passed("ann: Fix")),
    (araises, "CancelledError"),  # what it waited for was cancelled, and not its caller
    (Verifier(anever, seconds=0.01), LATE),
]


@pytest.mark.parametrize(
    ("look", "wanted", "awaited"),
    [*((*case, False) for case in PLAIN), *((*case, True) for case in PLAIN + AWAITED)],
)
def test_whatever_a_verifier_does_is_a_finding_or_a_reason(look, wanted, awaited, caplog):
    """At once and awaited, in the caller's context. A guess could take a text for a pass."""
    NAME.set("ann")
    verifier = verifier_of(look)
    found = asyncio.run(verifier.afind(TASK, PLAN)) if awaited else verifier.find(TASK, PLAN)
    if isinstance(wanted, str):  # who has to mend it finds the trace in the log
        assert wanted in found
        assert "verifier 'verifier' failed at task #1" in caplog.text
        assert ("Traceback" in caplog.text) == (wanted not in (NO_FINDING, LATE))
    else:
        assert (found, caplog.text) == (wanted, "")


def test_a_function_is_asked_in_a_thread_of_its_own():
    """The caller may be one of the few threads of a pool."""
    threads = []
    Verifier(lambda *_: threads.append(current_thread())).find(TASK, PLAN)
    asyncio.run(Verifier(lambda *_: threads.append(current_thread())).afind(TASK, PLAN))
    assert current_thread() not in threads


def test_without_a_loop_of_asyncio_it_is_asked_where_we_are():
    """Another framework of tasks, such as Trio, has limits of its own."""

    async def look(task, plan):
        return True, "seen"

    for each in (look, lambda *_: (True, "seen")):
        with pytest.raises(StopIteration) as done:
            Verifier(each).afind(TASK, PLAN).send(None)
        assert done.value.value == passed("seen")


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


def test_a_summary_is_kept_short():
    """The end of a long one, which has the counts."""
    kept = Verifier(lambda *_: (False, "a" * 10_000 + "2 failed")).find(TASK, PLAN).summary
    assert kept.startswith("... a")
    assert kept.endswith("2 failed")
    assert len(kept) < 2_100


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
