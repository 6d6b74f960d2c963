"""
The cost of an append, compared with a bare loop of the same statements, and by journal length.

Wall time is measured, since most of it is spent on the disk. The store and the bare loop take turns
in short blocks, and each ratio is that of adjacent blocks.
"""

import gc
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from todoplan import TASKS, Plan, Planner, Toolbox
from todoplan.codec.documents import VERSION
from todoplan.core import commands
from todoplan.core.rules import Policy
from todoplan.stores import SqliteStore
from todoplan.stores.rows import line_of_entry
from todoplan.stores.sqlite import TABLES
from todoplan.testing.stores.appends import Append, adding

__all__ = ["claims", "growth", "one_process"]

_BLOCK = 200


def one_process(rounds: int) -> dict[str, float]:
    """
    Return commits per second of one process: a bare loop, appends to a store, commands by a
    planner.
    """
    made: list[Append] = []
    for _ in range(rounds * _BLOCK):
        made.append(adding(made[-1].plan if made else Plan(), ("Dig",)))
    with tempfile.TemporaryDirectory() as folder:
        bare, store = _bare(f"{folder}/bare.db"), SqliteStore(f"{folder}/plans.db")
        planner = Planner(SqliteStore(f"{folder}/planner.db"), "a")
        planner.apply(commands.CreateTask("Dig"))
        times: dict[str, list[float]] = {"bare": [], "append": [], "planner": []}
        gc.collect()
        gc.freeze()  # or garbage collection would scan all objects made before
        for number in range(rounds):
            block = made[number * _BLOCK : (number + 1) * _BLOCK]
            lines = [line_of_entry("a", append.entries[0]) for append in block]
            rows = list(zip(block, lines, strict=True))
            times["bare"].append(_timed(lambda rows=rows: [_insert(bare, *row) for row in rows]))
            times["append"].append(_timed(lambda block=block: _append(store, block)))
            times["planner"].append(_timed(lambda: _command(planner)))
        gc.unfreeze()
        bare.close()
    pairs = zip(times["append"], times["bare"], strict=True)
    return {
        **{f"{name}, commits/s": round(_BLOCK / median(each)) for name, each in times.items()},
        "append / bare": round(median(ours / least for ours, least in pairs), 2),
    }


def growth(entries: int) -> dict[str, float]:
    """
    Return the cost of a call with a journal of ten entries and with a long one; and of a first
    call.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "plans.db")
        planner = Planner(SqliteStore(path), "a", toolbox=Toolbox(TASKS))
        for number in range(10):
            planner.call("TaskCreate", {"subject": f"{number}"})
        short = min(_timed(lambda: _calls(planner)) for _ in range(5))
        for number in range(entries):
            planner.call("TaskUpdate", {"taskId": "1", "subject": f"{number}"})
        long = min(_timed(lambda: _calls(planner)) for _ in range(5))
        began = time.perf_counter()
        SqliteStore(path).load("a")
        loaded = time.perf_counter() - began
        return {
            "call by 10 entries, us": round(short / _BLOCK * 1e6),
            f"call by {entries:,} entries, us": round(long / _BLOCK * 1e6),
            "first load, ms": round(loaded * 1e3, 1),
        }


def claims(planner_of: Callable[[], Planner], tasks: int) -> dict[str, float]:
    """
    Return the cost of a claim in a plan of 20 tasks and in a large one, each in its own store.
    """
    found = []
    for count in (20, tasks):
        planner = planner_of()
        made = commands.CreateTasks(tuple(commands.CreateTask(f"{n}") for n in range(count)))
        planner.apply(made, policy=Policy()).unwrap()
        took = []
        for _ in range(100):
            began = time.perf_counter()
            held = planner.claim("worker")
            took.append(time.perf_counter() - began)
            assert held is not None  # noqa: S101 - it was given back
            held.release()
        found.append(median(took))
    return {
        "claim of 20 tasks, us": round(found[0] * 1e6),
        f"claim of {tasks:,} tasks, us": round(found[1] * 1e6),
        "ratio": round(found[1] / found[0], 2),
    }


def _timed(job: Callable[[], object]) -> float:
    began = time.perf_counter()
    job()
    return time.perf_counter() - began


def _bare(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", *TABLES):
        connection.execute(statement)
    return connection


def _insert(connection: sqlite3.Connection, append: Append, line: str) -> None:
    revision = append.plan.revision
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("SELECT revision, since, size FROM plan WHERE id = ?", ("a",)).fetchone()
    connection.execute("INSERT INTO entry VALUES (?, ?, ?, ?)", ("a", revision, VERSION, line))
    connection.execute(
        "INSERT INTO plan (id, revision, since, size) VALUES (?, ?, 0, 0) "
        "ON CONFLICT (id) DO UPDATE SET revision = excluded.revision",
        ("a", revision),
    )
    connection.execute("COMMIT")


def _append(store: SqliteStore, block: list[Append]) -> None:
    for each in block:
        store.append("a", each.expected, each.entries, each.plan)


def _command(planner: Planner) -> None:
    for number in range(_BLOCK):
        planner.apply(commands.UpdateTask("1", subject=f"{time.perf_counter()} {number}"))


def _calls(planner: Planner) -> None:
    for number in range(_BLOCK):
        told = {"taskId": "1", "subject": f"{time.perf_counter()} {number}"}
        planner.call("TaskUpdate", told)
