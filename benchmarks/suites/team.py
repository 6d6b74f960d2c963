"""
A team of worker processes drains one plan while some are killed, paused, slow, or lose the store.

    python -m benchmarks team --save

Every row has the same tasks. A task takes 50 ms; one in ten takes twice the lease. Once per lease,
there is one disturbance, chosen by a seed: a worker is killed (SIGKILL) and replaced, a worker is
stopped (SIGSTOP) for one and a half leases, or the store becomes unavailable. A worker that ends is
replaced until no task is open. The workers write each task that they begin and finish to a file.

- done twice: how often a task was finished that had been finished before. This cannot be avoided if
  a worker is stopped for longer than its lease, or killed between its work and its report.
- closed twice: how often the store accepted a second completion of a task.
- lost: tasks that are closed and that nobody finished, and tasks that are open at the end, which is
  after four minutes if the plan is not drained.

How a store becomes unavailable differs. All processes of PostgreSQL are killed, and the server is
started again. For SQLite, another process locks the database for a second. JSON files do not become
unavailable. For the store in memory, the workers are threads, which only slow tasks disturb.

Procrastinate takes part if it is installed (`pip install procrastinate` in a separate environment),
on the same server. Its stalled jobs are retried after a lease, as its documentation shows.
"""

import argparse
import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs

from benchmarks.contenders import installed
from benchmarks.machine import described
from benchmarks.reports.tables import table
from todoplan import Planner, Status
from todoplan.core import commands
from todoplan.core.events.types import StatusChanged
from todoplan.errors import StoreError
from todoplan.planner.claiming.workers import work
from todoplan.stores import open_store

__all__ = ["Load", "drained", "main"]

ROOT = Path(__file__).parents[2]
_PAGE = ROOT / "benchmarks" / "team.md"
_TASK = 0.05
_SLOW = 10


@attrs.frozen
class Load:
    """The numbers of tasks and workers, the seconds of a lease, and the seconds until giving up."""

    tasks: int = 60
    workers: int = 4
    lease: float = 3.0
    seed: int = 1
    longest: float = 240.0


def perform(number: int, lease: float, log: Path) -> None:
    """Do a task: append its begin and its end to a file that all workers share."""
    with log.open("a", encoding="utf-8") as file:
        print("begun", number, file=file, flush=True)
        time.sleep(2 * lease if number % _SLOW == 0 else _TASK)
        print("finished", number, file=file, flush=True)


# -- what holds the tasks


class Ours:
    """A plan in a store of ours, drained by `work`."""

    def __init__(self, address: str, lease: float, log: Path) -> None:
        self.address, self.lease, self.log = address, lease, log
        self.planner = Planner(open_store(address), "plan")

    def fill(self, count: int) -> None:
        """Create the tasks."""
        made = tuple(commands.CreateTask(str(number)) for number in range(1, count + 1))
        self.planner.apply(commands.CreateTasks(made)).unwrap()

    def run(self, workers: int, name: str) -> None:
        """Work until nothing is open."""
        work(
            self.planner,
            lambda held: perform(int(held.task.subject), self.lease, self.log),
            workers=workers,
            name=name,
            lease=self.lease,
            attempts=None,
        )

    def closed(self) -> Counter[int]:
        """Return how often each task was completed."""
        return Counter(
            int(event.task_id)
            for entry in self.planner.history()
            for event in entry.events
            if isinstance(event, StatusChanged) and event.new is Status.COMPLETED
        )


class Procrastinate:
    """Jobs of Procrastinate, drained by its worker."""

    def __init__(self, address: str, lease: float, log: Path) -> None:
        self.address, self.lease = address, lease
        self.peer: Any = import_module("procrastinate")
        self.app = self.peer.App(connector=self.peer.PsycopgConnector(conninfo=address))

        @self.app.task(name="dig", retry=True)  # type: ignore[misc]  # not there to be checked
        async def dig(number: int) -> None:
            await asyncio.to_thread(perform, number, lease, log)

        self.dig = dig

    def fill(self, count: int) -> None:
        """Create the tables and the jobs."""

        async def filled() -> None:
            async with self.app.open_async():
                await self.app.schema_manager.apply_schema_async()
                jobs = ({"number": number} for number in range(1, count + 1))
                await self.dig.batch_defer_async(*jobs)

        asyncio.run(filled())

    def run(self, workers: int, name: str) -> None:
        """Work until the process is ended; retry what has stalled for a lease."""

        async def retried() -> None:
            jobs = self.app.job_manager
            while True:
                await asyncio.sleep(self.lease / 2)
                with suppress(self.peer.exceptions.ProcrastinateException):
                    for job in await jobs.get_stalled_jobs(seconds_since_heartbeat=self.lease):
                        await jobs.retry_job(job)

        async def worked() -> None:
            async with self.app.open_async(), asyncio.TaskGroup() as group:
                group.create_task(retried())
                await self.app.run_worker_async(
                    name=name,
                    concurrency=workers,
                    fetch_job_polling_interval=0.2,
                    update_heartbeat_interval=self.lease / 3,
                    stalled_worker_timeout=self.lease,
                )

        asyncio.run(worked())

    def closed(self) -> Counter[int]:
        """
        Return how often each job succeeded.

        The events alone are not enough. A worker may report the success of a job that another
        worker has just put back for a retry. Then the job has the status of a success, but no
        event.
        """
        psycopg: Any = import_module("psycopg")
        asked = (
            "select (job.args->>'number')::int, greatest(count(event.id), (job.status = "
            "'succeeded')::int) from procrastinate_jobs job left join procrastinate_events event "
            "on event.job_id = job.id and event.type = 'succeeded' group by job.id"
        )
        with psycopg.connect(self.address) as db:
            return Counter({number: times for number, times in db.execute(asked) if times})


_KINDS: dict[str, Callable[[str, float, Path], Ours | Procrastinate]] = {
    "todoplan": Ours,
    "procrastinate": Procrastinate,
}

# -- a run


@attrs.define
class Workers:
    """Worker processes, and what disturbed them."""

    command: list[str]
    running: list[subprocess.Popen[bytes]] = attrs.field(factory=list)
    started: int = 0
    happened: Counter[str] = attrs.field(factory=Counter)
    paused: dict[subprocess.Popen[bytes], float] = attrs.field(factory=dict)

    def fill_up(self, count: int) -> None:
        """Start as many workers as are missing."""
        self.running = [each for each in self.running if each.poll() is None]
        while len(self.running) < count:
            self.started += 1
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            command = [*self.command, f"w{self.started}"]
            quiet = subprocess.DEVNULL
            self.running.append(
                subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)  # noqa: S603
            )

    def wake(self, *, everyone: bool = False) -> None:
        """Continue the workers whose pause is over."""
        for each, until in [*self.paused.items()]:
            if everyone or time.monotonic() > until:
                del self.paused[each]
                each.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """End all workers."""
        self.wake(everyone=True)
        for each in self.running:
            each.kill()
            each.wait()


def drained(
    kind: str, address: str, load: Load, away: Callable[[], object] | None = None
) -> dict[str, Any]:
    """Drain a new plan, and count the faults; `away` makes the store unavailable for a while."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        log.touch()
        queue = _KINDS[kind](address, load.lease, log)
        queue.fill(load.tasks)
        began = time.monotonic()
        if address.startswith("memory:"):
            queue.run(load.workers, "team")
            happened: Counter[str] = Counter()
        else:
            options = [kind, address, str(load.lease), str(log)]
            line = [sys.executable, "-m", "benchmarks.suites.team", *options]
            happened = _disturbed(Workers(line), queue, load, away)
        seconds = time.monotonic() - began
        said = [line.split() for line in log.read_text("utf-8").splitlines()]
        finished = Counter(int(number) for what, number in said if what == "finished")
        closed = queue.closed()
    every = range(1, load.tasks + 1)
    return {
        "kills": happened["kill"],
        "pauses": happened["pause"],
        "store away": happened["away"],
        "begun": sum(what == "begun" for what, _ in said),
        "done twice": sum(finished.values()) - len(finished),
        "closed twice": sum(closed.values()) - len(closed),
        "lost": sum(not closed[number] or not finished[number] for number in every),
        "seconds": round(seconds, 1),
    }


def _disturbed(
    team: Workers, queue: Ours | Procrastinate, load: Load, away: Callable[[], object] | None
) -> Counter[str]:
    chance = random.Random(load.seed)  # noqa: S311 - no secret
    kinds = ["kill", "pause"] + (["away"] if away else [])
    end, due = time.monotonic() + load.longest, time.monotonic() + load.lease
    try:
        while time.monotonic() < end:
            team.fill_up(load.workers)
            team.wake()
            time.sleep(0.1)
            try:
                if len(queue.closed()) == load.tasks:
                    break
            except (StoreError, OSError):
                continue
            if time.monotonic() < due:
                continue
            due = time.monotonic() + load.lease
            awake = [each for each in team.running if each not in team.paused]
            happens, one = chance.choice(kinds), chance.choice(awake or team.running)
            team.happened[happens] += 1
            if happens == "kill":
                one.kill()
                one.wait()
            elif happens == "pause":
                one.send_signal(signal.SIGSTOP)
                team.paused[one] = time.monotonic() + 1.5 * load.lease
            elif away:
                away()
        # Paused workers finish late, and their late reports are counted too.
        team.wake(everyone=True)
        time.sleep(1.0)
    finally:
        team.end()
    return team.happened


def _held(path: str) -> None:
    db = sqlite3.connect(path, isolation_level=None, timeout=5)
    # A worker that was stopped within a transaction holds the database already, and it is continued
    # only after this function has returned.
    with suppress(sqlite3.OperationalError):
        db.execute("begin exclusive")
        time.sleep(1.0)
        db.rollback()
    db.close()


@contextmanager
def _places() -> Iterator[dict[str, tuple[str, Callable[[], str], Any]]]:
    """Yield for each row the kind, a function for the address, and one that disturbs the store."""
    running = import_module("support.postgres").running
    with tempfile.TemporaryDirectory() as folder, running(fsync=True) as server:
        away = server.restart_killed
        rows: dict[str, tuple[str, Callable[[], str], Any]] = {
            "memory, threads": ("todoplan", lambda: "memory:", None),
            "JSON files": ("todoplan", lambda: f"file:///{folder}/plans.json", None),
            "SQLite": (
                "todoplan",
                lambda: f"sqlite:///{folder}/plans.db",
                lambda: _held(f"{folder}/plans.db"),
            ),
            "PostgreSQL": ("todoplan", server.fresh, away),
        }
        if installed("procrastinate"):
            rows["Procrastinate, PostgreSQL"] = ("procrastinate", server.fresh, away)
        yield rows


def main(arguments: Sequence[str]) -> None:
    """Drain a plan in each store, and print a table as Markdown; save it if requested."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks team",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    default = Load()
    parser.add_argument("--tasks", type=int, default=default.tasks)
    parser.add_argument("--workers", type=int, default=default.workers)
    parser.add_argument("--lease", type=float, default=default.lease, help="seconds")
    parser.add_argument("--seed", type=int, default=default.seed, help="of the disturbances")
    parser.add_argument("--only", default="", help="rows whose names begin so: a,b")
    parser.add_argument("--save", action="store_true", help=f"write {_PAGE.name} beside the README")
    given = parser.parse_args(arguments)
    load = Load(given.tasks, given.workers, given.lease, given.seed)
    made, head, lines = described(quick=False), ["store"], []
    with _places() as places:
        for name, (kind, address, away) in places.items():
            if name.startswith(tuple(given.only.split(","))):
                found = drained(kind, address(), load, away)
                print(name, found, flush=True)
                lines.append([name, *map(str, found.values())])
                head = ["store", *found]
    text = (
        "# A team on one plan\n\n"
        "Written by `python -m benchmarks team --save`, whose `--help` says what is counted.\n"
        f"{load.tasks} tasks, {load.workers} workers, a lease of {load.lease:g} s, seed "
        f"{load.seed}.\n{made['date']}, {made['python']}, {made['cores']} cores, load "
        f"{made['load']} at the start.\n\n{table(head, lines)}"
    )
    print(text)
    if given.save:
        _PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    _kind, _address, _lease, _log, _name = sys.argv[1:]
    _KINDS[_kind](_address, float(_lease), Path(_log)).run(1, _name)
