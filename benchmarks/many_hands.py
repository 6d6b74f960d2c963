"""
Several kinds of clients work on one plan of 200 tasks, in SQLite and in PostgreSQL: `python -m
benchmarks.many_hands`.

The clients are two MCP clients, a LangGraph agent, a custom loop, and a person at the command line.
The tests do the same with 40 tasks. A run takes about two minutes.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.many_hands import done_by, drain, faults_of, seed
from support.postgres import running

from benchmarks.machine import described
from todoplan.stores import open_store

__all__ = ["main"]

_PAGE = Path(__file__).with_name("many_hands.md")


def main() -> None:
    """Run the clients on each store, print a table as Markdown, and save it if requested."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_hands", description=__doc__)
    parser.add_argument("--tasks", type=int, default=200, help="how many the plan has at first")
    parser.add_argument("--rounds", type=int, default=10, help="edits and additions of the person")
    parser.add_argument("--save", action="store_true", help=f"write {_PAGE.name} beside the README")
    given = parser.parse_args()
    made = described(quick=False)
    lines = [
        "# Every hand on one plan",
        "",
        "Written by `python -m benchmarks.many_hands --save`: two MCP clients, a LangGraph agent,",
        "a loop with two workers and a person at the command line drain and edit one plan. All",
        "claim the same tasks; the agent is called by its thread, 1.",
        f"{made['date']}, {made['python']}, {made['cores']} cores, load {made['load']}.",
        "",
        "| store | tasks | done by | entries | seconds | faults | the first of them |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, place in (("SQLite", _sqlite), ("PostgreSQL", _postgres)):
        with place() as address:
            lines.append(_drained(name, address, given.tasks, given.rounds))
    text = "\n".join([*lines, ""])
    print(text)
    if given.save:
        _PAGE.write_text(text, "utf-8")


def _drained(name: str, address: str, tasks: int, rounds: int) -> str:
    seed(address, tasks)
    began = time.monotonic()
    wanted = drain(address, rounds)
    took = time.monotonic() - began
    faults = [*faults_of(address, wanted, tasks)]
    store: Any = open_store(address)
    shares = ", ".join(f"{who} {count}" for who, count in done_by(address).most_common())
    cells = [name, len(store.load("plan")), shares, len(store.entries("plan")), round(took, 1)]
    return f"| {' | '.join(map(str, [*cells, len(faults), faults[0] if faults else 'none']))} |"


@contextmanager
def _sqlite() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{folder}/plans.db"


@contextmanager
def _postgres() -> Iterator[str]:
    with running(fsync=True) as server:
        yield server.fresh()


if __name__ == "__main__":
    main()
