"""Markdown tables, and the format of figures in them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["cell", "count", "ratio", "table", "table_of", "took"]

_FEW = 10


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    rule = ["---"] * 1 + ["---:"] * (len(head) - 1)
    rows = [head, rule, *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def table_of(rows: Sequence[Mapping[str, object]]) -> str:
    """Return a table of rows that all have the same keys, which are its head."""
    shown = ((f"{v:,}" if isinstance(v, int) else str(v) for v in row.values()) for row in rows)
    return table([*rows[0]], map(list, shown))


def took(us: float) -> str:
    """Return a time with three digits and its unit."""
    for unit, size in (("us", 1.0), ("ms", 1e3), ("s", 1e6)):
        value = us / size
        if value < 1000 or unit == "s":  # noqa: PLR2004 - the next unit
            return f"{figures(value)} {unit}"
    raise AssertionError


def figures(value: float) -> str:
    """Return a number with about three digits."""
    if value >= 100:  # noqa: PLR2004 - three figures
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= _FEW else f"{value:.2f}"


def ratio(value: float) -> str:
    """Return a ratio, such as "1.4x"."""
    return f"{figures(value)}x"


def count(value: float) -> str:
    """Return a count of tokens."""
    return f"{value:,.0f}"


def cell(row: dict[str, Any]) -> str:
    """Return the time, the ratio and its quartiles, or the reason why there are none."""
    if "us" not in row:
        return str(row["note"])
    said = took(row["us"])
    if row.get("note"):
        return f"{said}<br>{ratio(row['ratio'])}, {row['note']}" if "ratio" in row else said
    if "ratio" in row:
        low, high = row["ratio_quartiles"]
        said += f"<br>{ratio(row['ratio'])} ({figures(low)}-{figures(high)})"
    return said
