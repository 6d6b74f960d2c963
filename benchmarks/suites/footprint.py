"""Import time and peak memory in new processes, measured in alternation, and bytes per task."""

import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from statistics import median
from typing import Any

from benchmarks.figures import spread

__all__ = ["HOLDERS", "IMPORTS", "run"]

# A host waits for this answer of `todoplan mcp` when it starts, and gives up after some time.
_INITIALIZED = """
import os, sys
from todoplan.__main__ import main
asked, sent = os.pipe()
os.write(sent, b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": '
    b'{}, "protocolVersion": "2025-06-18", "clientInfo": {"name": "x", "version": "1"}}}')
os.write(sent, bytes([10]))
os.close(sent)
os.dup2(asked, 0)
shown = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
sys.argv = ["todoplan", "mcp", "--store", "memory:"]
try:
    main()
except SystemExit:
    os.dup2(shown, 1)
"""
IMPORTS = {
    "bare interpreter": ("sys", "pass"),
    "attrs": ("attrs", "import attrs"),
    "attrs + cattrs": ("cattrs", "import attrs, cattrs"),
    "pydantic": ("pydantic", "from pydantic import BaseModel"),
    "todoplan": ("todoplan", "import todoplan"),
    "todoplan, core in use": ("todoplan", "from todoplan import Plan, commands, decide"),
    "todoplan, toolbox": ("todoplan", "from todoplan.dialogue.toolbox import Toolbox"),
    "todoplan, planner": ("todoplan", "from todoplan import Planner"),
    "todoplan, codec": ("todoplan", "import todoplan.codec"),
    "todoplan.adapters.functions": ("todoplan", "import todoplan.adapters.functions.openai_chat"),
    "langgraph + langchain": ("langchain", "import langchain.agents.middleware, langgraph.graph"),
    "todoplan.adapters.langgraph": ("langchain", "import todoplan.adapters.langgraph"),
    "agentscope.tool": ("agentscope", "import agentscope.tool, agentscope.state"),
    "agentscope.agent": ("agentscope", "import agentscope.agent"),
    "todoplan.adapters.agentscope": ("agentscope", "import todoplan.adapters.agentscope"),
    "pydantic_ai": ("pydantic_ai", "import pydantic_ai"),
    "pydantic_ai_todo": ("pydantic_ai_todo", "import pydantic_ai_todo"),
    "pydantic_ai_harness.planning": ("pydantic_ai_harness", "import pydantic_ai_harness.planning"),
    "todoplan.adapters.pydantic_ai": ("pydantic_ai", "import todoplan.adapters.pydantic_ai"),
    "mcp": ("mcp", "import mcp"),
    "todoplan mcp, answer to initialize": ("mcp", _INITIALIZED),
    "openai-agents": ("agents", "import agents"),
    "todoplan.adapters.openai_agents": ("agents", "import todoplan.adapters.openai_agents"),
}
"""For each name, the required package, and the program to run."""

_ENTRIES = "from benchmarks.workload import entries\nkept = list(entries(COUNT))\n"
HOLDERS = {
    "todoplan": (
        "todoplan",
        (
            "from todoplan import Status, Task, plan_of\n"
            "def make(): return plan_of(Task(i, t, status=Status(s)) for i, t, s in kept)"
        ),
    ),
    "floor, frozen attrs": (
        "attrs",
        (
            "from benchmarks.floors.tasks import make as task\n"
            "def make(): return {i: task(i, t, s) for i, t, s in kept}"
        ),
    ),
    "LangChain, dicts": (
        "sys",
        "def make(): return [{'content': t, 'status': s} for i, t, s in kept]",
    ),
    "AgentScope": (
        "agentscope",
        (
            "from agentscope.state import Task\n"
            "def make(): return [Task(id=i, subject=t, description='', metadata={}, state=s)"
            " for i, t, s in kept]"
        ),
    ),
    "pydantic-ai-todo": (
        "pydantic_ai_todo",
        (
            "from pydantic_ai_todo import Todo\n"
            "def make(): return [Todo(id=i, content=t, status=s, active_form='')"
            " for i, t, s in kept]"
        ),
    ),
}
"""For each name, the required package, and code that makes a plan whose texts already exist."""

_COUNT = 10_000
_TIMED = """
{statement}
import resource, time
taken, peak = time.process_time_ns() / 1e6, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:  # on Linux ru_maxrss also knows the process that started this one
    peak = next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmHWM"))
except OSError:
    pass
print(taken, peak / 1024)
"""
_TRACED = """
import tracemalloc
COUNT = {count}
{entries}{make}
make()
tracemalloc.start()
held = make()
print(tracemalloc.get_traced_memory()[0] / COUNT)
"""


def run(
    *, quick: bool, say: Callable[[str], None], only: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """Measure imports, each in new processes, and the memory of plans."""
    going = {
        name: statement
        for name, (needs, statement) in IMPORTS.items()
        if find_spec(needs) and (not only or name in only)
    }
    taken: dict[str, list[tuple[float, ...]]] = {name: [] for name in going}
    for _ in range(2 if quick else 5):
        for name, statement in going.items():
            taken[name].append(fresh(_TIMED.format(statement=statement)))
    found = [_row(name, times, taken.get("attrs")) for name, times in taken.items()]
    for name, (needs, make) in HOLDERS.items():
        if find_spec(needs) and (not only or name in only):
            (size,) = fresh(_TRACED.format(count=_COUNT, entries=_ENTRIES, make=make))
            found.append({"contender": name, "bytes": size})
    for row in found:
        say(str(row))
    return found


def fresh(program: str) -> tuple[float, ...]:
    """Run a program in a new interpreter, and return the numbers that it prints."""
    done = subprocess.run(  # noqa: S603 - programs of this file
        [sys.executable, "-W", "ignore", "-c", program], check=True, capture_output=True, text=True
    )
    return tuple(map(float, done.stdout.split()))


def _row(
    name: str, times: list[tuple[float, ...]], base: list[tuple[float, ...]] | None
) -> dict[str, Any]:
    milliseconds = [time for time, _ in times]
    low, high = spread(milliseconds)
    middle = median(milliseconds)
    row = {"contender": name, "ms": middle, "iqr": (high - low) / middle}
    row["rss"] = median(size for _, size in times)
    if base:
        ratios = [mine / theirs for (mine, _), (theirs, _) in zip(times, base, strict=True)]
        row |= {"ratio": median(ratios), "ratio_quartiles": spread(ratios)}
    return row
