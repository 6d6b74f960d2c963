"""
Interrupts a program at random instants, by real signals: `python interrupted.py KIND PLACE COUNT`.

After each interrupt its traceback is kept, as in an interactive session. Another handle must get
the plan at once nevertheless. No file descriptor may stay open.
"""

import gc
import random
import signal
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from todoplan.core.commands import CreateTask, UpdateTask
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.planner import Planner
from todoplan.stores.base import follow
from todoplan.stores.file import FileStore
from todoplan.stores.memory import MemoryStore
from todoplan.stores.sqlite import SqliteStore

PATIENCE = 0.5


def main(kind, place, count):
    """Interrupt `count` calls; fail if the plan stays locked or a descriptor open."""
    # About an object that a library was about to return: it is closed when it is collected.
    warnings.simplefilter("ignore", ResourceWarning)
    chance = random.Random(count)  # noqa: S311 - no secret
    store, other = opened(kind, place), opened(kind, place)
    if kind == "memory":
        other = store
    planner = Planner(store, "a")
    planner.apply(CreateTask("Dig"))
    began = time.perf_counter()
    for number in range(20):
        planner.apply(UpdateTask("1", subject=f"Before {number}"))
        assert planner.plan == other.load("a")
    usual = (time.perf_counter() - began) / 20
    signal.signal(signal.SIGALRM, interrupt)
    assert is_free(other)
    most = descriptors(kind)
    for number in range(count):
        kept = None
        while kept is None:
            try:
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.00001, usual))
                planner.apply(UpdateTask("1", subject=f"{number} {chance.random()}"))
                assert len(planner.plan) == 1
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt as error:
                kept = error
        # In another thread: this thread would be told that it has locked the plan itself.
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(is_free, other).result()
        assert found is True, f"after {number} interrupts the plan is held: {found}"
        if kind == "postgres":
            kept = (
                None  # a connection that psycopg was making is in the traceback, and goes with it
            )
        still = descriptors(kind)
        if still > most:
            # Sometimes a connection that psycopg was making is in a cycle with its traceback.
            gc.collect()
            still = descriptors(kind)
        assert still <= most, f"after {number} interrupts {still} are open, not {most}"
        if number % 50 == 49:
            entries = other.entries("a")
            assert follow(Plan(), entries) == other.load("a")
    print("sound")  # noqa: T201 - what the test asks for


def is_free(store):
    """Return True if the plan is not locked, else the error of an append that writes nothing."""
    try:
        return store.append("a", -1, (), Plan()) is False
    except StoreError as error:
        return repr(error)


def descriptors(kind):
    """Return how many descriptors are open. For SQLite, which keeps its files, only locks count."""
    links = [each.readlink().name for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return sum(link.endswith(".lock") for link in links) if kind == "sqlite" else len(links)


def opened(kind, place):
    """Open a store of this kind."""
    if kind == "memory":
        return MemoryStore()
    if kind == "postgres":
        from todoplan.stores.postgres import PostgresStore  # noqa: PLC0415 - an extra

        return PostgresStore(place, patience=PATIENCE, notify=False)
    made = {"file": FileStore, "sqlite": SqliteStore}[kind]
    return made(Path(place) / "plans", patience=PATIENCE)


def interrupt(*_):
    """Interrupt the program, as Ctrl-C does."""
    raise KeyboardInterrupt


def tell(unraisable):
    """Do not print an interrupt in a finaliser, which Python ignores; what it left is checked."""
    if unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)


if __name__ == "__main__":
    sys.unraisablehook = tell
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
