"""Several processes write one plan, or open one new database, at the same time."""

import subprocess
import sys
import tempfile
from pathlib import Path

from todoplan import Planner
from todoplan.core import commands
from todoplan.stores import SqliteStore

__all__ = ["openings", "writers"]

_WRITES = """
import sys, time
from pathlib import Path
from todoplan import Planner, commands
from todoplan.stores import SqliteStore
path, seconds = sys.argv[1], float(sys.argv[2])
planner = Planner(SqliteStore(path, patience=60), "a")
planner.plan
print("ready", flush=True)
while not Path(path + ".go").exists():
    time.sleep(0.01)
end, longest, count = time.monotonic() + seconds, 0.0, 0
while (began := time.monotonic()) < end:
    planner.apply(commands.UpdateTask(str(count % 20 + 1), subject=f"{began}"))
    longest, count = max(longest, time.monotonic() - began), count + 1
print(count, longest)
"""

_OPENS = """
import sys, time
from pathlib import Path
from todoplan import Planner, commands
from todoplan.stores import SqliteStore
path, rounds = sys.argv[1], int(sys.argv[2])
print("ready", flush=True)
for number in range(rounds):
    while not Path(f"{path}.{number}.go").exists():
        time.sleep(0.001)
    Planner(SqliteStore(f"{path}.{number}", patience=60), "a").apply(commands.CreateTask("Dig"))
    print("done", flush=True)
"""


def writers(count: int, seconds: float) -> dict[str, float]:
    """
    Return commits per second, and the longest wait in seconds, for a number of writers of one plan.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/plans.db"
        planner = Planner(SqliteStore(path), "a")
        for number in range(20):
            planner.apply(commands.CreateTask(f"{number}"))
        started = [_started(_WRITES, path, seconds) for _ in range(count)]
        _all_said(started)
        Path(f"{path}.go").touch()
        ended = [each.communicate()[0].split() for each in started]
        made = sum(int(each[0]) for each in ended)
        kept = planner.history()
        wrong = len(kept) - 20 - made + sum(e.revision != n for n, e in enumerate(kept, 1))
        return {
            "processes": count,
            "commits/s": round(made / seconds),
            "longest wait, s": round(max(float(each[1]) for each in ended), 3),
            "lost, or out of order": wrong,
        }


def openings(count: int, rounds: int) -> dict[str, int]:
    """
    Open a new database from several processes at once, for several rounds; count the failures.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/plans.db"
        started = [_started(_OPENS, path, rounds) for _ in range(count)]
        _all_said(started)
        for number in range(rounds):
            Path(f"{path}.{number}.go").touch()
            _all_said(started)
        failed = sum(each.wait() != 0 for each in started)
        for each in started:
            each.communicate()
        wanted = [f"{n}" for n in range(1, count + 1)]
        plans = [SqliteStore(f"{path}.{number}").load("a") for number in range(rounds)]
        wrong = sum([task.id for task in plan] != wanted for plan in plans)
        return {"processes": count, "rounds": rounds, "failed": failed, "tasks lost in": wrong}


def _started(script: str, *given: object) -> "subprocess.Popen[str]":
    line = [sys.executable, "-c", script, *map(str, given)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, text=True)  # noqa: S603 - ours


def _all_said(started: "list[subprocess.Popen[str]]") -> None:
    for each in started:
        if each.stdout:
            each.stdout.readline()
