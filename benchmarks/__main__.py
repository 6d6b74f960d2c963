"""
`python -m benchmarks` runs all suites and writes results, tables and the plot.

If suites are named, or with `--quick`, figures are printed, and written only with `--save`.

Some suites have options of their own and are not part of a run of all: `handling`, `team`,
`understanding`. `python -m benchmarks NAME --help` shows them.
"""

import argparse
import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.machine import described
from benchmarks.plots.main import drawn
from benchmarks.reports.page import page

SUITES = (
    "tokens",
    "recordings",
    "guidance",
    "adapters",
    "stored",
    "footprint",
    "operations",
    "life",
)
WITH_OPTIONS = ("handling", "team", "understanding")
HERE = Path(__file__).parent


def main() -> None:
    """Run the requested suites."""
    name, *options = sys.argv[1:] or [""]
    if name in WITH_OPTIONS:
        import_module(f"benchmarks.suites.{name}").main(options)
        return
    parser = _arguments()
    asked = parser.parse_args()
    if asked.again:
        again = asked.save or HERE
        _write(json.loads((again / "results.json").read_text("utf-8")), again)
        return
    suites = tuple(asked.suites) or SUITES
    if unknown := set(suites) - set(SUITES):
        parser.error(
            f"no suite is called {', '.join(sorted(unknown))}; there are {', '.join(SUITES)}"
        )
    only = tuple(filter(None, asked.only.split(",")))
    whole = suites == SUITES and not asked.quick and not only
    folder = asked.save or (HERE if whole else None)
    found: dict[str, Any] = {"made": described(quick=asked.quick), "seconds": {}}
    for name in suites:
        began = time.monotonic()
        suite = import_module(f"benchmarks.suites.{name}")
        found[name] = suite.run(quick=asked.quick, say=_say, only=only)
        found["seconds"][name] = round(time.monotonic() - began)
        if folder:
            _write(found, folder)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="suite", help=f"some of: {', '.join(SUITES)}")
    parser.add_argument("--quick", action="store_true", help="fewer sizes, fewer rounds")
    parser.add_argument("--only", default="", help="of a suite, only these cases: a,b,c")
    parser.add_argument("--save", type=Path, help="write results.json, README.md and plot here")
    parser.add_argument(
        "--again", action="store_true", help="measure nothing: page and plot from results.json"
    )
    return parser


def _say(text: str) -> None:
    print(text, flush=True)


def _write(found: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(_lines(found), "utf-8")
    (folder / "README.md").write_text(page(found), "utf-8")
    (folder / "benchmarks.svg").write_text(drawn(found), "utf-8")


def _lines(found: dict[str, Any]) -> str:
    """Return the results as JSON, with one row on each line."""
    parts = []
    for name, value in found.items():
        rows = ",\n".join(map(json.dumps, value)) if isinstance(value, list) else ""
        parts.append(f"{json.dumps(name)}: " + (f"[\n{rows}\n]" if rows else json.dumps(value)))
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    main()
