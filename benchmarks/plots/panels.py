"""Two kinds of panels: curves on logarithmic axes, and bars."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, floor, log10

import attrs

from benchmarks.plots.canvas import line, path, rect, text

__all__ = ["Bar", "Frame", "bars", "curves"]

_BAR, _STEP = 13, 22
_LABELS = 190


@attrs.frozen
class Frame:
    """The position and the title of a panel."""

    x: float
    y: float
    width: float
    height: float
    title: str


@attrs.frozen
class Bar:
    """One bar: its label, its length, the words after it, and its CSS class."""

    label: str
    value: float
    told: str
    kind: str


def curves(frame: Frame, series: Mapping[str, Mapping[int, float]]) -> Iterator[str]:
    """Yield lines of microseconds over n, both axes logarithmic."""
    points = [(n, us) for each in series.values() for n, us in each.items()]
    if not points:
        return
    low, high = floor(log10(min(us for _, us in points))), ceil(log10(max(us for _, us in points)))
    left, right = log10(min(n for n, _ in points)), log10(max(n for n, _ in points))
    x0, y0 = frame.x + 46, frame.y + 16
    width, height = frame.width - 74, frame.height - 40

    def place(n: float, us: float) -> tuple[float, float]:
        across = (log10(n) - left) / ((right - left) or 1)
        return x0 + across * width, y0 + height - (log10(us) - low) / (high - low) * height

    yield text(frame.x, frame.y, frame.title, kind="title")
    for power in range(low, high + 1):
        _, y = place(10**left, 10.0**power)
        yield line(x0, y, x0 + width, y)
        yield text(x0 - 6, y + 4, _unit(power), anchor="end")
    for n in sorted({n for n, _ in points}):
        yield text(place(n, 10.0**low)[0], y0 + height + 18, f"{n:,}", anchor="middle")
    for kind, each in series.items():
        yield path([place(n, us) for n, us in sorted(each.items())], kind)


def _unit(power: int) -> str:
    name = "us" if power < 3 else "ms" if power < 6 else "s"  # noqa: PLR2004 - powers of ten
    return f"{10.0 ** (power - {'us': 0, 'ms': 3, 's': 6}[name]):g} {name}"


def bars(frame: Frame, told: Sequence[Bar]) -> Iterator[str]:
    """Yield bars in proportion, one below the other."""
    if not told:
        return
    most = max(bar.value for bar in told)
    room = frame.width - _LABELS - 62
    yield text(frame.x, frame.y, frame.title, kind="title")
    for number, bar in enumerate(told):
        y = frame.y + 16 + number * _STEP
        x = frame.x + _LABELS
        long = max(1.0, bar.value / most * room)
        kind = "ours-text" if bar.kind == "ours" else ""
        yield text(x - 8, y + 11, bar.label, kind=kind, anchor="end")
        yield rect(x, y, long, _BAR, bar.kind)
        yield text(x + long + 6, y + 11, bar.told, kind=kind)
