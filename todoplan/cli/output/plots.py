"""Plots of a page of HTML: bars, drawn without a script, that say in words what they show."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from todoplan.render.cleaning import clip, one_line
from todoplan.render.markup import Markup, element, joined

__all__ = ["bars", "sizes"]

_WIDTH, _ROW, _LABEL, _VALUE = 640, 26, 200, 90
_LONGEST = 26
_STEPS = (1, 2, 5, 10, 20, 50, 100)


def bars(title: str, rows: Iterable[tuple[str, float, str]]) -> Markup:
    """
    Return a plot with a bar for each (label, length, what is said behind it).
    """
    drawn = [(one_line(label), length, said) for label, length, said in rows]
    longest = max((length for _, length, _ in drawn), default=0) or 1
    parts = []
    for place, (label, length, said) in enumerate(drawn):
        middle = str(_ROW * place + 17)
        width = max(1, round((_WIDTH - _LABEL - _VALUE) * length / longest))
        top = str(_ROW * place + 4)
        parts += [
            element("text", clip(label, _LONGEST), x=str(_LABEL - 8), y=middle, class_="label"),
            element("rect", x=str(_LABEL), y=top, width=str(width), height="18", class_="bar"),
            element("text", said, x=str(_LABEL + width + 8), y=middle),
        ]
    told = "; ".join(f"{label} {said}" for label, _, said in drawn)
    height = str(_ROW * len(drawn))
    picture = element(
        "svg",
        *parts,
        class_="plot",
        width=str(_WIDTH),
        height=height,
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        aria_label=f"{title}: {told}",
    )
    # Its own box, as a table's: a phone is narrower.
    return joined((element("h2", title), element("div", picture, class_="wide")))


def sizes(largest: Sequence[int]) -> list[tuple[str, float, str]]:
    """
    Return the bars of how long plans were, from the shortest on.
    """
    count = Counter(max(0, sum(size >= step for step in _STEPS) - 1) for size in largest)
    names = ["at most 1 task"]
    names += [f"{a} to {b - 1} tasks" for a, b in pairwise(_STEPS[1:])]
    names.append(f"{_STEPS[-1]} or more tasks")
    last = max(count, default=-1)
    return [(names[place], count[place], str(count[place])) for place in range(last + 1)]
