"""Tables of tokens: fixed costs, lives, bills, recordings."""

from typing import Any

from benchmarks.reports.tables import count, ratio, table

__all__ = ["bills", "fixed", "lives", "recordings"]

Rows = list[dict[str, Any]]
_SETS = ("todos", "tasks", "lean")


def fixed(found: Rows) -> str:
    """Return what each tool set adds to every request."""
    head = ("tool set", "system prompt", "tools", "together")
    return table(
        head,
        (
            (r["contender"], count(r["system"]), count(r["tools"]), f"**{count(r['fixed'])}**")
            for r in found
            if "system" in r
        ),
    )


def lives(found: Rows) -> str:
    """Return the tokens written, read and read again, by the length of the plan."""
    rows = [row for row in found if "n" in row]
    sizes = sorted({row["n"] for row in rows})
    lines = []
    for who in dict.fromkeys(row["contender"] for row in rows):
        by_size = {row["n"]: row for row in rows if row["contender"] == who}
        told = [
            f"{count(r['written'])} / {count(r['read'])} / {count(r['again'])}"
            for r in map(by_size.get, sizes)
            if r
        ]
        lines.append((who, *told))
    return table(("tool set", *(f"n={size}: W / R / re-read" for size in sizes)), lines)


def bills(found: Rows, size: int = 20) -> str:
    """Return the weighted cost of a plan's life, with and without prompt caching."""
    rows = [row for row in found if row.get("n") == size]
    least = (
        min((row["plain"] for row in rows), default=0),
        min((row["cached"] for row in rows), default=0),
    )
    head = (
        "tool set",
        "requests",
        "no caching",
        "of the least",
        "caching",
        "of the least",
        "prefix kept",
    )
    return table(
        head,
        (
            (
                r["contender"],
                count(r["requests"]),
                count(r["plain"]),
                ratio(r["plain"] / least[0]),
                count(r["cached"]),
                ratio(r["cached"] / least[1]),
                f"{r['prefix']:.1%}",
            )
            for r in rows
        ),
    )


def recordings(found: Rows) -> str:
    """Return recorded calls compared with the same changes through our tool sets."""
    if "note" in found[0]:
        return f"{found[0]['note']}\n"
    head = (
        "dialect",
        "recordings",
        "as recorded: calls, W / R",
        *(f"{n}: calls, W / R" for n in _SETS),
    )
    lines = []
    for row in found:
        recorded = row["written"] + row["read"]
        line = [row["dialect"], count(row["recordings"]), _told(row, "")]
        for name in _SETS:
            cost = row.get(f"{name} written", 0) + row.get(f"{name} read", 0)
            line.append(f"{_told(row, f'{name} ')}<br>{ratio(cost / recorded)}")
        lines.append(line)
    return table(head, lines)


def _told(row: dict[str, Any], prefix: str) -> str:
    calls, written, read = (row.get(f"{prefix}{key}", 0) for key in ("calls", "written", "read"))
    return f"{count(calls)}, {count(written)} / {count(read)}"
