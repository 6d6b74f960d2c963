"""
A longer version of the PostgreSQL tests, which take seconds: `python -m benchmarks.postgres_long`.

- All processes of the server are killed by SIGKILL, repeatedly, while writers reconnect: no
  acknowledged commit may be lost, and no commit may be made twice.
- Writers are killed in the same way.
- Commits per second on one plan, by 1 to 32 processes, with and without notifications, compared
  with a bare loop of the same statements. The difference is the cost of the store, the codec and
  the plan.
- Workers with a claim are stopped or cut off from the network, until another worker has claimed
  their task. Their late reports must be refused. An interrupted commit is resolved by its
  idempotency key.
- The delay between a commit and a watcher's notification, and the cost of a claim in a large plan.

It starts its own server (Debian: `apt-get install postgresql`) with fsync on, and takes about four
minutes; `--quick` takes one. The machine's load is printed with the figures.
"""

import argparse
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg
from support.postgres import Server, running
from support.postgres_writers import batch, faults_of, writers

from benchmarks.machine import described
from benchmarks.reports.tables import table_of
from benchmarks.stores_long.costs import claims
from benchmarks.stores_long.late_holders import cut_off, stopped
from todoplan import Plan, Planner
from todoplan.core import commands
from todoplan.stores.base import follow
from todoplan.stores.postgres import PostgresStore, connections
from todoplan.stores.postgres import store as statements
from todoplan.stores.rows import line_of_entry

__all__ = ["main"]

Row = dict[str, Any]
_PAGE = Path(__file__).with_name("postgres.md")
_PROCESSES = (1, 2, 8, 32)
_CHANCE = random.Random(16)  # noqa: S311 - no secret


def main() -> None:
    """Measure, print the tables as Markdown, and save them if requested."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.postgres_long", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer kills, shorter runs")
    parser.add_argument("--save", action="store_true", help=f"write {_PAGE.name} beside the README")
    given = parser.parse_args()
    quick = given.quick
    made = described(quick=quick)
    with running(fsync=True) as server:
        lines = [
            "# PostgresStore: the long form",
            "",
            (
                "Written by `python -m benchmarks.postgres_long --save`; the tests ask the same in "
                "seconds."
            ),
            (
                f"{made['date']}, {made['python']}, {server.version()}, fsync on, a socket, "
                f"{made['cores']} cores, load {made['load']} at the start."
            ),
        ]
        for title, rows in _parts(server, quick=quick):
            part = ["", f"## {title}", "", table_of(rows).rstrip()]
            print("\n".join(part), flush=True)
            lines += part
    if given.save:
        _PAGE.write_text("\n".join([*lines, ""]), "utf-8")


def _parts(server: Server, *, quick: bool) -> Iterator[tuple[str, list[Row]]]:
    restarts, ends = (4, 10) if quick else (20, 54)
    yield (
        "Killed at any moment (kill -9), under 4 writers",
        [
            killed("the server", server, restarts, lambda _: server.restart_killed()),
            killed("a writer", server, ends, lambda at_work: at_work.kill(_CHANCE.randrange(4))),
        ],
    )
    yield (
        "A holder that is stopped, or cut off from the network, until another has its task",
        [stopped(server.fresh(), 3 if quick else 10), *cut_off(2 if quick else 10)],
    )
    rows = [*speeds(server, 1.0 if quick else 3.0)]
    yield "Commits a second upon one plan, beside a bare loop of the same statements", rows
    yield "From a commit to who watches", [watched(server, 50 if quick else 300)]
    made = lambda: Planner(PostgresStore(server.fresh()), "a")  # noqa: E731 - a name for one line
    yield "A claim in a small and in a large plan", [claims(made, 1_000 if quick else 10_000)]


def killed(what: str, server: Server, times: int, kill: Callable[[Any], None]) -> Row:
    """Kill writers or their server repeatedly, and count the faults afterwards."""
    address, away = server.fresh(), []
    with writers(address, 4) as at_work:
        for _ in range(times):
            before = len(at_work.acknowledged)
            while len(at_work.acknowledged) < before + 40:
                time.sleep(0.01)
            time.sleep(_CHANCE.uniform(0, 0.3))
            began = time.monotonic()
            kill(at_work)
            away.append(time.monotonic() - began)
    with PostgresStore(address) as store:
        entries = store.entries("a")
        faults = list(faults_of(entries, at_work.acknowledged))
        faults += [] if store.load("a") == follow(Plan(), entries) else ["plan and journal differ"]
    kept = {entry.cause for entry in entries}
    return {
        "killed": what,
        "times": times,
        "acknowledged": len(at_work.acknowledged),
        "kept and never acknowledged": len(kept - set(at_work.acknowledged)),
        "faults": len(faults),
        "the first of them": faults[0] if faults else "none",
        "longest kill and restart, s": round(max(away), 2),
    }


def speeds(server: Server, seconds: float) -> Iterator[Row]:
    """Yield the commits per second of each way of writing, for each number of processes."""
    ways = {"bare": _bare, "store": _store, "store, no notify": _silent, "planner": _planner}
    for count in _PROCESSES:
        for name, way in ways.items():
            found = _at_once(count, way, server.fresh(), seconds)
            yield {
                "commits by": name,
                "processes": count,
                "a second": round(sum(len(each) for each in found) / seconds),
                "longest, s": round(max(max(each, default=0.0) for each in found), 3),
                "load": round(os.getloadavg()[0], 1),
            }


def _at_once(
    count: int, way: Callable[[str], Iterator[None]], address: str, seconds: float
) -> list[list[float]]:
    """
    Commit in `count` processes for some seconds, and return the duration of each commit by process.
    """
    with PostgresStore(address) as store:
        Planner(store, "a").apply(commands.CreateTask("First"))
    start, go = os.pipe()
    children = []
    for _ in range(count):
        answer, say = os.pipe()
        if os.fork() == 0:
            os.close(go)
            os.write(say, json.dumps(_timed(way(address), start, seconds)).encode() + b"\n")
            os._exit(0)
        os.close(say)
        children.append(answer)
    time.sleep(0.5)  # until all have connected
    os.close(go)
    os.close(start)
    found = []
    for answer in children:
        with os.fdopen(answer) as said:
            found.append(json.loads(said.read()))
        os.wait()
    return found


def _timed(commits: Iterator[None], start: int, seconds: float) -> list[float]:
    next(commits)
    os.read(start, 1)
    end, took = time.monotonic() + seconds, []
    while (began := time.monotonic()) < end:
        next(commits)
        took.append(round(time.monotonic() - began, 5))
    return took


def _store(address: str, *, notify: bool = True) -> Iterator[None]:
    plan = Plan()
    with PostgresStore(address, notify=notify, patience=60) as store:
        while True:
            with store.hold("a") as held:
                plan = follow(plan, held.entries_since(plan.revision))
                entries, plan = batch(plan, "bench")
                held.append(held.revision, entries, plan)
            yield


def _silent(address: str) -> Iterator[None]:
    return _store(address, notify=False)


def _planner(address: str) -> Iterator[None]:
    with PostgresStore(address, patience=60) as store:
        planner = Planner(store, "a")
        while True:
            planner.apply(commands.CreateTask("bench"))
            yield


def _bare(address: str) -> Iterator[None]:
    """
    Commit only with the statements of `_store`: the same rows, but their results are not used.
    """
    entries, _ = batch(Plan(), "bench")
    lines = [line_of_entry("a", entry) for entry in entries]
    known = 0
    with psycopg.connect(address, autocommit=True) as db:
        begun = statements.begin(60.0)
        while True:
            db.execute(begun)
            ((at, *_),) = db.execute(statements.LOCK, ("a",)).fetchall()
            db.execute(statements.TAIL, (known, "a")).fetchall()
            known = at + len(lines)
            values = {
                "plan": "a",
                "version": 1,
                "revisions": list(range(at + 1, known + 1)),
                "lines": lines,
                "keys": [],
                "payload": "",
                "answer": "",
                "before": at,
                "after": known,
                "since": 0,
                "announced": True,
                "channel": connections.CHANNEL,
                "news": f"a:{known}",
            }
            db.execute(statements.ADD, values)
            db.execute("commit")
            yield


def watched(server: Server, count: int) -> Row:
    """
    Measure the milliseconds from a commit's acknowledgement to the arrival of its entry at a
    watcher.
    """
    address, came = server.fresh(), []
    with PostgresStore(address) as store, PostgresStore(address) as other:
        watcher, writer = Planner(store, "a"), Planner(other, "a")
        watch = watcher.watch(since=0)

        def see() -> None:
            for _ in range(count):
                next(watch)
                came.append(time.monotonic())

        seeing = Thread(target=see)
        seeing.start()
        committed = []
        for _ in range(count):
            time.sleep(0.01)
            writer.apply(commands.CreateTask("bench"))
            committed.append(time.monotonic())
        seeing.join()
    late = sorted(
        max(0.0, 1_000 * (seen - done)) for seen, done in zip(came, committed, strict=True)
    )
    return {
        "watched": count,
        "median, ms": round(statistics.median(late), 2),
        "99 %, ms": round(late[int(0.99 * (count - 1))], 2),
        "longest, ms": round(late[-1], 2),
    }


if __name__ == "__main__":
    main()
