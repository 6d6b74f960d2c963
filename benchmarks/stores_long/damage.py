"""Killed writers, and a truncated or corrupted write-ahead log: which commits survive?"""

import asyncio
import shutil
import tempfile
from pathlib import Path
from random import Random

from todoplan import AsyncPlanner, Plan, Planner
from todoplan.core import commands
from todoplan.core.events.apply import Entry
from todoplan.stores import SqliteStore
from todoplan.stores.base import follow
from todoplan.testing.stores.checks import SCRIPT, STOPS, refused_after_a_stop, told_to_the_killed

__all__ = ["cuts", "kills", "stops", "stops_on_sqlite"]


def kills(count: int) -> dict[str, int]:
    """Kill a number of writers of one plan, and count acknowledged commits that were lost."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/plans.db"
        opened = f"opened = lambda: SqliteStore({path!r}, patience=60)"
        script = f"from todoplan.stores import SqliteStore; {opened}\n{SCRIPT}"
        told = told_to_the_killed(script, count)
        store = SqliteStore(path)
        subjects = [task.subject for task in store.load("a")]
        journal = store.entries("a")
        return {
            "kills": count,
            "acknowledged": len(told),
            "lost": len(set(told) - set(subjects)),
            "twice": len(subjects) - len(set(subjects)),
            "kept and never acknowledged": len(set(subjects) - set(told)),
            "gaps": sum(entry.revision != n for n, entry in enumerate(journal, 1)),
        }


def stops(script: str, planner: AsyncPlanner, count: int) -> dict[str, int]:
    """
    Stop a worker repeatedly until its lease has expired and another worker has claimed its task.

    Returns how often the worker is refused when it continues. `script` opens the store in its own
    process.
    """
    tasks = commands.CreateTasks(tuple(commands.CreateTask(f"{n}") for n in range(count)))

    async def stopped() -> int:
        (await planner.apply(tasks)).unwrap()
        return await refused_after_a_stop(f"{script}\n{STOPS}", planner, count)

    return {"stopped past the lease": count, "refused when it went on": asyncio.run(stopped())}


def stops_on_sqlite(count: int) -> dict[str, int]:
    """Return the result of `stops` on a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/plans.db"
        script = f"from todoplan.stores import SqliteStore; opened = lambda: SqliteStore({path!r})"
        return stops(script, AsyncPlanner(SqliteStore(path), "a"), count)


def cuts(count: int) -> dict[str, int]:
    """
    Truncate the log and flip bits at many places; count results that are no prefix of the commits.
    """
    chance = Random(7)  # noqa: S311 - no secret
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "plans.db")
        store = SqliteStore(whole)
        planner = Planner(store, "a")
        for number in range(60):
            planner.apply(commands.CreateTask(f"{number}" * 20))
        journal = planner.history()
        log = Path(f"{whole}-wal").read_bytes()
        found = []
        for number in range(2 * count):
            at = chance.randrange(len(log))
            bent = bytearray(log[:at] if number < count else log)
            if number >= count:
                bent[at] ^= 1 << chance.randrange(8)
            found.append(_is_prefix(whole, bytes(bent), journal))
        return {"cuts and flips": 2 * count, "exact prefixes of the commits": sum(found)}


def _is_prefix(whole: Path, log: bytes, journal: tuple[Entry, ...]) -> bool:
    copy = whole.with_name("copy.db")
    for each in whole.parent.glob("copy.db*"):
        each.unlink()
    shutil.copy(whole, copy)
    Path(f"{copy}-wal").write_bytes(log)
    with SqliteStore(copy) as store:
        kept = store.entries("a")
        if kept != journal[: len(kept)] or store.load("a") != follow(Plan(), kept):
            return False
        # The store must also continue from there.
        Planner(store, "a").apply(commands.CreateTask("more"))
        return len(store.entries("a")) == len(kept) + 1
