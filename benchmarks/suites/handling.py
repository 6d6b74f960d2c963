"""
How planning tools treat what models send, without a model: `python -m benchmarks handling`.

Each entry (an implementation of planning tools) plays every case in its own process.
`benchmarks/handling/README.md` says what the columns mean, how an entry is written, and how to
dispute a case.
"""

import argparse
import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.tokens import tokens

from benchmarks.conversations.scripts import titles
from benchmarks.handling.cases import COLUMNS, cases
from benchmarks.handling.entries import ENTRIES
from benchmarks.handling.environments import NotInstalled, python_of
from benchmarks.machine import described
from benchmarks.reports.tables import table

__all__ = ["main", "page", "play"]

_ROOT = Path(__file__).parents[2]
_PAGE = _ROOT / "benchmarks" / "handling.md"
_LIFE = 10
_HEAD = """# How planning tools treat what models send

Written by `python -m benchmarks handling --save`. No model is asked. [What the columns mean, how to
add an entry, how to dispute a case](handling/README.md).

"""
Found = dict[str, Any]


def main(given: list[str]) -> None:
    """Play the requested cases, and print the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks handling", description=__doc__)
    parser.add_argument("--entry", action="append", help=f"only these: {', '.join(ENTRIES)}")
    parser.add_argument("--case", action="append", help="only the cases of this name")
    parser.add_argument("--list", action="store_true", help="list entries and cases")
    parser.add_argument("--seed", type=int, default=1, help="of the spoiled calls")
    parser.add_argument("--plans", type=int, default=12, help="how many plans calls are spoiled on")
    parser.add_argument("--apart", action="store_true", help="make environments for who needs one")
    parser.add_argument("--save", action="store_true", help=f"write {_PAGE.name} beside the README")
    asked = parser.parse_args(given)
    played = cases(asked.seed, asked.plans)
    if asked.list:
        print("\n".join([*ENTRIES, "", *(f"{case['name']}: {case['promise']}" for case in played)]))
        return
    known = {case["name"] for case in played}
    if wrong := [*({*(asked.case or ())} - known), *({*(asked.entry or ())} - {*ENTRIES})]:
        parser.error(f"not known: {', '.join(sorted(wrong))}; --list shows what there is")
    if asked.case:
        played = [case for case in played if case["name"] in asked.case]
    found = {
        name: play(name, played, apart=asked.apart, lives=not asked.case)
        for name in asked.entry or ENTRIES
    }
    text = page(found, played) if not asked.case else "\n".join(_each(found, played))
    print(text)
    if asked.save:
        _PAGE.write_text(text, "utf-8")


def play(name: str, played: list[Found], *, apart: bool = False, lives: bool = True) -> Found:
    """Return the results of the cases for an entry, or the reason why it did not take part."""
    try:
        python = python_of(name, make=apart)
    except NotInstalled as missing:
        return {"skipped": str(missing)}
    request = {"cases": played, "titles": titles(_LIFE) if lives else []}
    made = subprocess.run(  # noqa: S603 - a module of this checkout
        [python, "-m", "benchmarks.handling.player", name],
        cwd=_ROOT,
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        last = (made.stderr.strip().splitlines() or ["no word"])[-1]
        return {"skipped": f"it does not run here: {last:.200}"}
    found: Found = json.loads(made.stdout.splitlines()[-1])
    return found


def page(found: dict[str, Found], played: list[Found]) -> str:
    """Return the tables and the observations, as Markdown."""
    made = described(quick=False)
    there = {name: each for name, each in found.items() if "results" in each}
    lines = [
        f"{_HEAD}{made['date']}, {made['python']}.",
        "",
        *(f"- {name}: {_versions(each)}" for name, each in there.items()),
        *(f"- not here: {n}, {e['skipped']}" for n, e in found.items() if n not in there),
        "",
        "Faults / cases that an entry can play; `-` if it can play none. There is no total.",
        "",
        table(["", *COLUMNS, "documented so"], (_row(n, e, played) for n, e in there.items())),
        f"Right calls with a fault of a model, from a seed; and the tokens of {_LIFE} tasks' life:",
        "those of definitions and prompt in each request, those written, and those read.",
        "",
        table(
            ["", "read as meant", "refused", "harm", "fixed", "written", "read"],
            (_spoiled(name, each, played) for name, each in there.items()),
        ),
        "By fault, as meant / refused / harm:",
        "",
        table(["", *there], _by_fault(there, played)),
        "## What was seen",
        "",
        *_each(there, played, {"fault", "documented", "harm"}),
    ]
    return "\n".join([*lines, ""])


def _versions(found: Found) -> str:
    return ", ".join(f"{name} {number}" for name, number in found["versions"].items())


def _row(name: str, found: Found, played: list[Found]) -> list[str]:
    column = {case["name"]: case["column"] for case in played}
    counts = {each: Counter[str]() for each in [*COLUMNS, "spoiled calls"]}
    for case, verdict, _ in found["results"]:
        counts[column[case]][verdict] += 1
    cells = []
    for each in COLUMNS:
        able = sum(counts[each].values()) - counts[each]["n/a"]
        cells.append(f"{counts[each]['fault']}/{able}" if able else "-")
    return [name, *cells, str(sum(each["documented"] for each in counts.values()))]


def _spoiled(name: str, found: Found, played: list[Found]) -> list[str]:
    spoiled = {case["name"] for case in played if "spoil" in case}
    counts = Counter(verdict for case, verdict, _ in found["results"] if case in spoiled)
    lives = [f"{sum(map(tokens, texts)):,}" for texts in found["life"] or ()] or ["-"] * 3
    return [name, *(f"{counts[each]}" for each in ("right", "refused", "harm")), *lives]


def _by_fault(found: dict[str, Found], played: list[Found]) -> Iterator[list[str]]:
    spoils = {case["name"]: case["spoil"] for case in played if "spoil" in case}
    counts = {
        name: Counter((spoils[c], verdict) for c, verdict, _ in each["results"] if c in spoils)
        for name, each in found.items()
    }
    for spoil in dict.fromkeys(spoils.values()):
        line = [spoil]
        for each in counts.values():
            three = [each[spoil, verdict] for verdict in ("right", "refused", "harm")]
            line.append("/".join(map(str, three)) if any(three) else "-")
        yield line


def _each(
    found: dict[str, Found], played: list[Found], only: set[str] | None = None
) -> Iterator[str]:
    told = {case["name"]: case for case in played}
    for name, each in found.items():
        for case, verdict, what in each.get("results", ()):
            if only is None or verdict in only:
                seen = f"`{what.replace('`', chr(39))}`" if what else ""
                yield f"- {name}, **{case}** ({told[case]['column']}): {verdict}. {seen}"
