"""Single operations at n = 5 to 100,000: JSON arguments in, reply text out."""

import gc
from collections.abc import Callable, Iterable
from typing import Any

import attrs

from benchmarks.contenders import contenders
from benchmarks.figures import growth, rows
from benchmarks.measure import Call, Effort, measure

__all__ = ["OPERATIONS", "calls_of", "run"]

Row = dict[str, Any]
Makers = dict[str, Callable[[], Call]]
OPERATIONS = {
    "status_change": "status change",
    "create": "n-th create",
    "get": "get",
    "list_cold": "list, first time",
    "list_warm": "list, after one change",
    "add_edge": "add edge",
    "delete": "delete",
    "write_first": "write a list, first",
    "write_other": "write a list, all other",
    "write_same": "write a list, unchanged",
    "write_one": "write a list, one change",
    "dump_cold": "dump, first time",
    "dump_warm": "dump, after one change",
    "load": "load",
    "ready": "ready query",
    "cycle_chain": "cycle refused, chain",
    "cycle_wide": "cycle refused, wide",
    "cycle_dense": "cycle refused, dense",
}
_SIZES = (5, 20, 100, 1_000, 10_000, 100_000)
_QUICK = (5, 100, 1_000, 10_000)
# A list in a reply is cut at 250,000 characters. Beyond that size, ours would be shorter than a
# peer's.
_LARGEST = {"cycle_dense": 10_000, "list_cold": 1_000, "list_warm": 1_000}
_FULL_EFFORT = Effort(rounds=9, longest=500_000_000, budget=1_000_000_000)
_QUICK_EFFORT = Effort(rounds=5, longest=300_000_000, budget=300_000_000)
_PATIENCE = 2.0


def calls_of(names: Iterable[str], size: int) -> dict[str, Makers]:
    """Return the functions that make the calls, by operation and contender."""
    made = [kind(size) for kind in contenders()]
    return {
        name: {each.name: make for each in made if (make := getattr(each, name, None))}
        for name in names
    }


def run(*, quick: bool, say: Callable[[str], None], only: tuple[str, ...] = ()) -> list[Row]:
    """Measure the operations at every size; with `only`, only the named ones."""
    race = _Race(_QUICK_EFFORT if quick else _FULL_EFFORT, _PATIENCE / 5 if quick else _PATIENCE)
    names = [name for name in OPERATIONS if not only or name in only]
    sizes = _QUICK if quick else _SIZES
    for place, size in enumerate(sizes):
        made = calls_of(names, size)
        for name in names:
            if size <= _LARGEST.get(name, size):
                say(_told(name, size, race.measured(name, size, made[name], sizes[place + 1 :])))
        del made
        gc.collect()
    return [*race.found, *race.growths()]


@attrs.define
class _Race:
    """The results so far, and the contenders that are too slow for the next size."""

    effort: Effort
    patience: float
    found: list[Row] = attrs.Factory(list)
    times: dict[tuple[str, str], dict[int, float]] = attrs.Factory(dict)
    out: dict[tuple[str, str], str] = attrs.Factory(dict)

    def measured(self, name: str, size: int, makers: Makers, later: tuple[int, ...]) -> list[Row]:
        going = {who: make() for who, make in makers.items() if (name, who) not in self.out}
        new = rows(name, size, measure(going, self.effort))
        for each in new:
            self._judge(each, later)
        new += [
            {"operation": name, "contender": who, "n": size, "note": self.out[name, who]}
            for who in makers
            if who not in going
        ]
        self.found += new
        return new

    def _judge(self, each: Row, later: tuple[int, ...]) -> None:
        """Exclude from the next size the contenders that failed, or would take too long there."""
        key, size = (each["operation"], each["contender"]), each["n"]
        if "us" not in each:
            self.out[key] = f"{each['note']} at n={size:,}"
            return
        times = self.times.setdefault(key, {})
        times[size] = each["us"]
        if later:
            power = growth(times)
            power = 1.0 if power is None else max(power, 1.0)
            seconds = each["us"] / 1e6 * (later[0] / size) ** power
            if seconds > self.patience:
                self.out[key] = f"left out: about {seconds:,.0f} s a call"

    def growths(self) -> list[Row]:
        """Return the growth exponent of each contender in each operation."""
        return [
            {"operation": name, "contender": who, "growth": growth(times)}
            for (name, who), times in self.times.items()
        ]


def _told(name: str, size: int, found: list[Row]) -> str:
    ours = next(row for row in found if row["contender"] == "todoplan")
    if "us" not in ours:
        return f"{OPERATIONS[name]:26} n={size:<8,} {ours['note']}"
    parts = [f"{OPERATIONS[name]:26} n={size:<8,}{ours['us']:13,.2f} us"]
    parts.append(f"{ours['ratio']:6.2f}x floor")
    parts += [
        f"{row['contender']} {row['us'] / ours['us']:,.1f}x"
        for row in found
        if not row["contender"].startswith(("todoplan", "floor")) and "us" in row
    ]
    return " | ".join(parts)
