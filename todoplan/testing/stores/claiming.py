"""
Claims: at most one live claim on a task, and who lost his changes nothing any more (law 19).

A store keeps claims as it keeps everything, so these checks ask what its promises come to: that
nobody decides upon an old plan, and that its clock goes on. Of four queues that were read, none
refuses the late completion of a job that somebody else works on by now.
"""

import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from todoplan.core.commands import ClaimTask, CreateTask, CreateTasks, RenewClaim, UpdateTask
from todoplan.core.decide.decide import Accepted
from todoplan.core.events.types import TaskClaimed
from todoplan.core.plan.model import Status
from todoplan.planner import AsyncPlanner
from todoplan.testing.assertions import must
from todoplan.testing.stores.harness import Checks, Harness, equal, law

__all__ = ["STOPS", "Claiming", "refused_after_a_stop"]

_TASKS = 12
_LEASE = 0.2  # seconds, so that it runs out soon
_LONGEST = 60.0

STOPS = """
import asyncio, os, signal, sys
from inspect import isawaitable
from todoplan.core.commands import ClaimTask, UpdateTask
from todoplan.core.events.types import TaskClaimed
from todoplan.planner import AsyncPlanner

async def work():
    made = opened()
    planner = AsyncPlanner(await made if isawaitable(made) else made, "a")
    for _ in range(int(sys.argv[1])):
        done = await planner.apply(ClaimTask("stopped", lease=float(sys.argv[2])))
        claim, = [event for event in done.events if isinstance(event, TaskClaimed)]
        print(claim.task_id, flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)
        late = UpdateTask(claim.task_id, status="completed", fence=claim.claim.fence)
        print(type(await planner.apply(late)).__name__, flush=True)

asyncio.run(work())
"""
"""What a holder runs who is stopped while he holds: how often, and for how long a claim lasts."""


class Claiming(Checks):
    """
    Workers that share a plan.
    """

    stops = 2
    """So many times a holder is stopped until its lease is over."""

    @law
    async def test_workers_get_each_task_once(self, harness: Harness) -> None:
        """Workers who claim at once get different tasks, each under a fence of its own."""
        # Beads#4657: of eight that claimed one bead at once, up to seven had won.
        workers = await harness.planners("a")
        await _begin(workers[0], _TASKS)
        got: list[str] = []

        async def drain(worker: AsyncPlanner, name: str) -> None:
            while (claim := await _claimed(worker, ClaimTask(name))) is not None:
                got.append(claim.task_id)
                closed = UpdateTask(claim.task_id, status="completed", fence=claim.claim.fence)
                found = await worker.apply(closed, actor=name)
                must(isinstance(found, Accepted), f"{name} could not complete its task: {found!r}")
                await harness.checks.runner.pause()

        await harness.together(drain(workers[0], "one"), drain(workers[1], "two"))
        twice = [task_id for task_id, times in Counter(got).items() if times > 1]
        must(not twice, f"the tasks {twice} were given to two workers at once")
        plan = await workers[1].plan()
        equal([task.status for task in plan], [Status.COMPLETED] * _TASKS, "the tasks in the end")

    @law
    async def test_who_lost_a_claim_changes_nothing(self, harness: Harness) -> None:
        """Once a lease has run out and another has the task, the earlier holder is refused."""
        late, other = await harness.planners("a")
        await _begin(late, 1)
        first = await _claimed(late, ClaimTask("late", lease=_LEASE))
        must(first is not None, "the only task could not be claimed")
        second = await _claimed_in_time(other, "1")
        assert first is not None  # noqa: S101 - asked for above
        must(second.claim.fence > first.claim.fence, "the fence has not grown")
        before = await other.plan()
        for command in (
            UpdateTask("1", status="completed", fence=first.claim.fence),
            RenewClaim("1", first.claim.fence),
        ):
            found = await late.apply(command)
            must(not isinstance(found, Accepted), f"{command!r} of a lost claim was accepted")
        equal((await other.plan()).revision, before.revision, "the revision after what was refused")

    @law
    async def test_who_was_stopped_is_refused(self, harness: Harness) -> None:
        """A process that is stopped for longer than its lease, and goes on, is refused."""
        lines = harness.checks.in_another_process(harness.handles[0])
        if lines is None:
            pytest.skip("the suite does not say how another process opens the store")
        planner, _ = await harness.planners("a")
        await _begin(planner, self.stops)
        refused = await refused_after_a_stop(f"{lines}\n{STOPS}", planner, self.stops)
        equal(refused, self.stops, "how often a holder was refused that came late")


class _Holder:
    """
    A process that claims a task, is stopped, and then wants to complete it; again and again.
    """

    def __init__(self, script: str, times: int) -> None:
        line = [sys.executable, "-c", script, str(times), str(_LEASE)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._process = subprocess.Popen(  # noqa: S603 - ours
            line, stdout=subprocess.PIPE, text=True, env=environment
        )

    def stopped(self) -> str:
        """
        Wait until it has stopped, and return the task that it holds.
        """
        task_id = self._said()
        must(task_id, "the process that was to hold a claim has failed")
        os.waitpid(self._process.pid, os.WUNTRACED)
        return task_id

    def went_on(self) -> str:
        """
        Let it go on, and return what came of completing its task.
        """
        self._process.send_signal(signal.SIGCONT)
        return self._said()

    def end(self) -> None:
        """
        End it, whatever it does.
        """
        with self._process:
            self._process.kill()

    def _said(self) -> str:
        assert self._process.stdout is not None  # noqa: S101 - a pipe
        return self._process.stdout.readline().strip()


async def refused_after_a_stop(script: str, planner: AsyncPlanner, times: int) -> int:
    """
    Return how often a holder was refused that was stopped until another had its task.
    """
    holder, refused = _Holder(script, times), 0
    try:
        for _ in range(times):
            task_id = holder.stopped()
            claim = await _claimed_in_time(planner, task_id)
            refused += holder.went_on() == "Rejected"
            done = UpdateTask(task_id, status="completed", fence=claim.claim.fence)
            (await planner.apply(done)).unwrap()
    finally:
        holder.end()
    return refused


async def _begin(planner: AsyncPlanner, count: int) -> None:
    tasks = tuple(CreateTask(f"task {number}") for number in range(1, count + 1))
    (await planner.apply(CreateTasks(tasks))).unwrap()


async def _claimed(planner: AsyncPlanner, command: ClaimTask) -> TaskClaimed | None:
    decision = await planner.apply(command, actor=command.owner)
    events = decision.events if isinstance(decision, Accepted) else ()
    return next((event for event in events if isinstance(event, TaskClaimed)), None)


async def _claimed_in_time(planner: AsyncPlanner, task_id: str) -> TaskClaimed:
    """
    Return the claim of a task once the lease of somebody else has run out, by the store's clock.
    """
    end = time.monotonic() + _LONGEST
    while True:
        claim = await _claimed(planner, ClaimTask("other", task_id=task_id))
        if claim is not None:
            return claim
        must(time.monotonic() < end, f"a lease of {_LEASE} seconds was not over after {_LONGEST:g}")
        _rest()


def _rest() -> None:
    time.sleep(_LEASE / 10)  # nobody else is at work
