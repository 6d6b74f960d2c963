"""
Processes that share a store, and die: what was acknowledged is there, and the first ones in it.

A store says how another process opens it (`Checks.in_another_process`); otherwise this is skipped.
Here is the quick form, of seconds: how often a writer is killed is the suite's `kills`.
"""

import os
import subprocess
import sys
import tempfile
import time
from random import Random
from typing import IO

import attrs
import pytest

from todoplan.core.events.apply import replay
from todoplan.core.plan.plan import Plan
from todoplan.testing.assertions import must
from todoplan.testing.stores.harness import Checks, Harness, equal, law, same_plan

__all__ = ["SCRIPT", "Surviving", "told_to_the_killed"]

_WRITERS = 3
_OPENERS = 5
_MOMENT = 0.1  # seconds: a writer is killed within so many after it was first acknowledged
_LONGEST = 120.0

SCRIPT = """
import asyncio, sys, time
from inspect import isawaitable
from todoplan.core.commands import CreateTask
from todoplan.core.rules.policy import Policy
from todoplan.planner import AsyncPlanner

async def work():
    while time.time() < float(sys.argv[3]):
        time.sleep(0.001)
    made = opened()
    planner = AsyncPlanner(await made if isawaitable(made) else made, "a")
    for number in range(int(sys.argv[2])):
        name = f"{sys.argv[1]}.{number}"
        (await planner.apply(CreateTask(name), policy=Policy())).unwrap()
        print(name, flush=True)

asyncio.run(work())
"""
"""What a writer runs, behind the lines by which it opens the store: name, how many tasks, when."""


@attrs.frozen
class _Writer:
    """
    A process that adds tasks and says of each, when it was acknowledged, its subject.
    """

    process: "subprocess.Popen[bytes]"
    said: IO[bytes]

    def killed(self, chance: Random) -> list[str]:
        """
        Kill it in the middle of its work, and return what it was told is kept.
        """
        end = time.monotonic() + _LONGEST
        # Not by the clock alone: on a busy machine it takes seconds to begin.
        while not os.fstat(self.said.fileno()).st_size and self.process.poll() is None:
            must(time.monotonic() < end, f"a writer was told of nothing for {_LONGEST:g} seconds")
            time.sleep(0.005)
        time.sleep(chance.uniform(0, _MOMENT))
        self.process.kill()
        return self.ended()

    def ended(self) -> list[str]:
        """
        Wait for its end, and return what it was told is kept.
        """
        self.process.wait(_LONGEST)
        with self.said:
            self.said.seek(0)
            # The last line may be cut off.
            return self.said.read().decode().split("\n")[:-1]


class Surviving(Checks):
    """
    Several processes upon one store.
    """

    kills = 5
    """So many writers are killed: at least 3, which write at once."""

    @law
    async def test_what_was_acknowledged_outlives_its_writer(self, harness: Harness) -> None:
        """Writers that are killed at any moment lose nothing that they were told is kept."""
        told = told_to_the_killed(_script(harness), self.kills)
        store = await harness.again()
        plan, journal = await store.load("a"), await store.entries("a")
        subjects = [task.subject for task in plan]
        must(told, "no writer was told of a single append: see what it has printed")
        lost = sorted(set(told) - set(subjects))
        must(
            not lost, f"{len(lost)} of {len(told)} acknowledged tasks are lost, such as {lost[:3]}"
        )
        must(len({*subjects}) == len(subjects), "a task that was added once is there twice")
        revisions = [entry.revision for entry in journal]
        equal(revisions, [*range(1, len(journal) + 1)], "the revisions in the journal")
        replayed = replay(Plan(), (event for entry in journal for event in entry.events))
        same_plan(replayed, plan, "the replay of the journal")

    @law
    async def test_many_open_a_fresh_store_at_once(self, harness: Harness) -> None:
        """The first processes that use a store all get in, and none undoes another's work."""
        # Beads#2672: the first opening by several agents at once lost their databases.
        script = _script(harness)
        start = time.time() + 1.5
        openers = [_started(script, f"{number}", 1, start) for number in range(_OPENERS)]
        told = [line for opener in openers for line in opener.ended()]
        codes = [opener.process.returncode for opener in openers]
        equal(codes, [0] * _OPENERS, "the exit codes of processes that open a store at once")
        plan = await (await harness.again()).load("a")
        equal(sorted(task.subject for task in plan), sorted(told), "the tasks that they added")
        equal([task.id for task in plan], [f"{n}" for n in range(1, _OPENERS + 1)], "their ids")


def _script(harness: Harness) -> str:
    lines = harness.checks.in_another_process(harness.handles[0])
    if lines is None:
        pytest.skip("the suite does not say how another process opens the store")
    return f"{lines}\n{SCRIPT}"


def told_to_the_killed(script: str, kills: int) -> list[str]:
    """
    Kill so many writers, one after the other, and return the tasks that they were told are kept.
    """
    chance, told = Random(11), list[str]()  # noqa: S311 - no secret
    writers = [_started(script, f"{number}", 10**6) for number in range(_WRITERS)]
    for number in range(_WRITERS, kills + _WRITERS):
        told += writers.pop(chance.randrange(len(writers))).killed(chance)
        # One in place of each, so that there are always some who write.
        if number < kills:
            writers.append(_started(script, f"{number}", 10**6))
    return told


def _started(script: str, name: str, count: int, at: float = 0) -> _Writer:
    # A file and not a pipe: a writer that nobody reads from would stand still when it is full.
    said = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the writer has ended
    line = [sys.executable, "-c", script, name, str(count), str(at)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return _Writer(subprocess.Popen(line, stdout=said, env=environment), said)  # noqa: S603 - ours
