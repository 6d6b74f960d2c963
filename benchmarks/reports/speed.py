"""Tables of times: operations, lives, guidance, adapters, imports."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from benchmarks.figures import growth
from benchmarks.reports.tables import cell, count, figures, ratio, table, took
from benchmarks.suites.operations import OPERATIONS

__all__ = ["adapters", "footprint", "guidance", "life", "operations", "overview", "stored"]

Rows = list[dict[str, Any]]
_VIEW = (
    "status_change",
    "create",
    "get",
    "list_warm",
    "add_edge",
    "write_one",
    "dump_warm",
    "load",
)
_VIEW_SIZES = (20, 1_000, 10_000)
_OTHERS = ("AgentScope call", "AgentScope Toolkit", "pydantic-ai-todo", "LangChain invoke")


def overview(found: Rows) -> str:
    """
    Return the main operations: our time, its ratio to the floor, and the peers' times as multiples
    of ours.
    """
    by_key = {(r["operation"], r["contender"], r.get("n")): r for r in found if "us" in r}
    head = ("operation", "n", "todoplan", "/ floor", *(f"{name} / ours" for name in _OTHERS))
    lines = []
    for name in _VIEW:
        for size in _VIEW_SIZES:
            ours = by_key.get((name, "todoplan", size))
            if ours is None:
                continue
            others = (by_key.get((name, who, size)) for who in _OTHERS)
            told = [ratio(r["us"] / ours["us"]) if r else "" for r in others]
            line = OPERATIONS[name], f"{size:,}", took(ours["us"]), ratio(ours["ratio"]), *told
            lines.append(line)
    return table(head, lines)


def operations(found: Rows) -> str:
    """Return the table of all operations, sizes and contenders."""
    return _by_size(found, OPERATIONS)


def life(found: Rows) -> str:
    """Return the table of whole lives."""
    return _by_size(found, {"life": "build + 2n updates"})


def guidance(found: Rows) -> str:
    """Return the table of guidance decisions, by the number of messages."""
    return _by_size(found, {"guidance": "decision"}, "m")


def _by_size(found: Rows, names: dict[str, str], letter: str = "n") -> str:
    sizes = sorted({row["n"] for row in found if "n" in row})
    growths = {(r["operation"], r["contender"]): r["growth"] for r in found if "growth" in r}
    head = (
        "",
        "contender",
        *(f"{letter}={size:,}" for size in sizes),
        *(["exp."] if growths else []),
    )
    lines: list[list[str]] = []
    for name, shown in names.items():
        cells = [row for row in found if row["operation"] == name and "n" in row]
        for place, who in enumerate(dict.fromkeys(row["contender"] for row in cells)):
            by_size = {row["n"]: cell(row) for row in cells if row["contender"] == who}
            line = [f"**{shown}**" if not place else "", who]
            line += [by_size.get(size, "") for size in sizes]
            power = growths.get((name, who))
            lines.append(
                [*line, *([f"{power:.1f}" if power is not None else ""] if growths else [])]
            )
    return table(head, lines)


def adapters(found: Rows) -> str:
    """Return the table of calls within frameworks, each beside a tool that does nothing."""
    head = (
        "way",
        "tool",
        *(f"n={size}{more}" for size in (20, 100) for more in ("", ", of nothing")),
    )
    lines = []
    for way, rows in groupby(sorted(found, key=_way), key=_way):
        kept = list(rows)
        for place, who in enumerate(dict.fromkeys(row["contender"] for row in kept)):
            line = [f"**{way}**" if not place else "", who]
            for row in (row for row in kept if row["contender"] == who):
                line += [cell(row), ratio(row["of_nothing"]) if "of_nothing" in row else ""]
            lines.append(line)
    return table(head, lines)


def _way(row: dict[str, Any]) -> str:
    return str(row["operation"])


def stored(found: Rows) -> str:
    """Return the table of the bytes that a plan has added to the data that a framework stores."""
    sizes = sorted({row["n"] for row in found})
    head = ("", "tool", *(f"n={size:,}: last / all" for size in sizes), "exp.")
    lines = []
    for where, rows in groupby(found, key=lambda row: row["where"]):
        kept = list(rows)
        for place, who in enumerate(dict.fromkeys(row["contender"] for row in kept)):
            own = [row for row in kept if row["contender"] == who]
            line = [f"**{where}**" if not place else "", who]
            line += [f"{row['last'] / 1e3:,.1f} / {row['kept'] / 1e3:,.1f} kB" for row in own]
            power = growth({row["n"]: row["kept"] for row in own})
            lines.append([*line, f"{power:.1f}"])
    return table(head, lines)


def footprint(found: Rows) -> str:
    """Return the table of imports, followed by the bytes of a task."""
    imports = table(("import", "CPU", "/ `import attrs`", "peak memory"), _imports(found))
    held = ((r["contender"], count(r["bytes"])) for r in found if "bytes" in r)
    return f"{imports}\n{table(('10,000 tasks, texts apart', 'bytes a task'), held)}"


def _imports(found: Rows) -> Iterable[tuple[str, str, str, str]]:
    for row in found:
        if "ms" in row:
            low, high = row.get("ratio_quartiles", (0, 0))
            times = f"{ratio(row['ratio'])} ({figures(low)}-{figures(high)})" if high else ""
            yield row["contender"].strip(), took(row["ms"] * 1e3), times, f"{row['rss']:.1f} MB"
