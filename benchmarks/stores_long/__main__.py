"""
`python -m benchmarks.stores_long`: takes about three minutes, prints, and saves with `--save`.
"""

import argparse
import sqlite3
import tempfile
from pathlib import Path

from benchmarks.machine import described
from benchmarks.reports.tables import table_of
from benchmarks.stores_long.contention import openings, writers
from benchmarks.stores_long.costs import claims, growth, one_process
from benchmarks.stores_long.damage import cuts, kills, stops_on_sqlite
from todoplan import Planner
from todoplan.stores import SqliteStore

_PAGE = Path(__file__).parents[1] / "stores.md"


def main() -> None:
    """Measure, print the tables as Markdown, and save them if requested."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stores_long", description=__doc__)
    parser.add_argument("--save", action="store_true", help=f"write {_PAGE.name} beside the README")
    parser.add_argument("--quick", action="store_true", help="a tenth of it, to see that it works")
    given = parser.parse_args()
    part = 10 if given.quick else 1
    made = described(quick=given.quick)
    lines = [
        "# SqliteStore: the long form",
        "",
        "Written by `python -m benchmarks.stores_long --save`; the tests ask the same in seconds.",
        f"{made['date']}, {made['python']}, SQLite {sqlite3.sqlite_version}, {made['cores']}",
        f"cores, load {made['load']} at the start; full durability (`synchronous = FULL`), one",
        "plan in one file.",
    ]
    parts = {
        "Writers killed at any moment (kill -9), 3 at a time": [kills(54 // part)],
        "A holder that is stopped (SIGSTOP) until another has its task": [
            stops_on_sqlite(10 // part)
        ],
        "The write-ahead log cut off, or a bit of it flipped": [cuts(200 // part)],
        "Processes that write one plan": [
            writers(count, 3.0 / part) for count in ((1, 2, 8, 32) if part == 1 else (1, 2))
        ],
        "Processes that open a fresh database at once": [openings(max(2, 16 // part), 20 // part)],
        "One process, beside a bare loop of the same statements": [one_process(20 // part)],
        "A call by a short and by a long journal": [growth(10_000 // part)],
        "A claim in a small and in a large plan": [claims_of_files(10_000 // part)],
    }
    for title, rows in parts.items():
        lines += ["", f"## {title}", "", table_of(rows).rstrip()]
    text = "\n".join([*lines, ""])
    print(text)
    if given.save:
        _PAGE.write_text(text, "utf-8")


def claims_of_files(tasks: int) -> dict[str, float]:
    """Return the result of `claims` on two files."""
    with tempfile.TemporaryDirectory() as folder:
        paths = iter([f"{folder}/small.db", f"{folder}/large.db"])
        return claims(lambda: Planner(SqliteStore(next(paths)), "a"), tasks)


if __name__ == "__main__":
    main()
