"""Turn times into figures: medians, ratios to a base in the same rounds, quartiles, growth."""

from collections.abc import Mapping, Sequence
from math import log
from statistics import median, quantiles
from typing import Any

from benchmarks.measure import Taken

__all__ = ["growth", "row", "rows", "spread"]


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Return the first and the third quartile."""
    if len(values) == 1:
        return values[0], values[0]
    low, _, high = quantiles(values, n=4, method="inclusive")
    return low, high


def rows(
    operation: str, size: int, taken: Mapping[str, Taken], base: str = "floor"
) -> list[dict[str, Any]]:
    """Return a row for each contender: microseconds, and the ratio to the base with quartiles."""
    under = taken[base].rounds if base in taken else ()
    found = []
    for name, each in taken.items():
        found.append({"operation": operation, "contender": name, "n": size, **row(each, under)})
    return found


def row(each: Taken, under: Sequence[float]) -> dict[str, Any]:
    """
    Return the figures of one contender.

    A single call is compared with the median of the base.
    """
    if not each.rounds:
        return {"note": each.note}
    low, high = spread(each.rounds)
    middle = median(each.rounds)
    found: dict[str, Any] = {"us": middle / 1e3, "iqr": (high - low) / middle}
    if each.note:
        found["note"] = each.note
    if under:
        same = len(under) == len(each.rounds)
        ratios = [a / b for a, b in zip(each.rounds, under, strict=True)] if same else ()
        ratios = ratios or [middle / median(under)]
        found |= {"ratio": median(ratios), "ratio_quartiles": spread(ratios)}
    return found


def growth(measured: Mapping[int, float]) -> float | None:
    """Return the exponent of the time's growth between the last two sizes; `None` for one size."""
    sizes = sorted(measured)[-2:]
    if len(sizes) == 1:
        return None
    less, more = sizes
    return log(measured[more] / measured[less]) / log(more / less)
