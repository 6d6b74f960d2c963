"""
A plan as a picture, for a README or a pull request: its tasks, and arcs for what waits for what.

Arcs beside a list need no layout, and a picture of fifty tasks can still be read. The file asks for
nothing: no script, no font, no address stands in it.
"""

from collections.abc import Iterator
from html import escape

from todoplan.core.plan.plan import Plan
from todoplan.render.cleaning import clip, one_line
from todoplan.render.outline import Line, lines, summary

__all__ = ["plan_svg"]

MOST_TASKS = 200
"""So many tasks are drawn; that there are more is said."""

_WIDTH, _ROW, _TOP, _LEFT, _INDENT = 760, 26, 64, 96, 18
_TEXT, _LEVELS = 78, 6
_STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#1b222c}.q{fill:#55606e;font-size:12px}"
    ".t{font-size:16px;font-weight:600}.g{fill:#fff;stroke:#cfd6df}.b{fill:#e3e8ee}.d{fill:#17703f}"
    ".m{fill:none;stroke:#6b7785;stroke-width:1.6}.completed{fill:#17703f;stroke:#17703f}"
    ".in_progress{fill:#f0b429;stroke:#8a5a00}.failed{fill:#b42318;stroke:#b42318}"
    ".cancelled{stroke-dasharray:2 2}.waiting{stroke:#8a5a00;stroke-dasharray:4 2}"
    ".a{fill:none;stroke:#8b98a8;stroke-width:1.3}"
    "@media (prefers-color-scheme:dark){text{fill:#e6eaf0}.q{fill:#a3afbe}"
    ".g{fill:#13171d;stroke:#36404d}.b{fill:#36404d}}"
)


def plan_svg(plan: Plan, title: str) -> str:
    """
    Return the picture: title, how far it is, a line for each task, and an arc from each blocker.
    """
    title = one_line(title)
    rows = lines(plan)[:MOST_TASKS]
    more = len(plan) - len(rows)
    height = _TOP + _ROW * (len(rows) + bool(more)) + 14
    said = escape(f"{title}: {summary(plan)}")
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}"',
            f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{said}">',
            f"<title>{said}</title><style>{_STYLE}</style>",
            f'<rect class="g" x=".5" y=".5" width="{_WIDTH - 1}" height="{height - 1}" rx="8"/>',
            f'<text class="t" x="16" y="26">{escape(clip(title, _TEXT))}</text>',
            f'<text class="q" x="16" y="44">{escape(clip(summary(plan), 110))}</text>',
            *_progress(plan),
            *_arcs(rows),
            *(part for place, row in enumerate(rows) for part in _task(place, row)),
            *([_note(len(rows), f"and {more} more")] if more else ()),
            "</svg>\n",
        )
    )


def _progress(plan: Plan) -> Iterator[str]:
    width = _WIDTH - 32
    done = width * plan.counts.resolved / (plan.counts.total or 1)
    yield f'<rect class="b" x="16" y="50" width="{width}" height="4" rx="2"/>'
    yield f'<rect class="d" x="16" y="50" width="{done:.0f}" height="4" rx="2"/>'


def _middle(place: int) -> int:
    return _TOP + _ROW * place + _ROW // 2


def _task(place: int, row: Line) -> Iterator[str]:
    x = _LEFT + _INDENT * min(row.level, _LEVELS)
    kind = f"{row.status} waiting" if row.is_waiting else row.status
    yield f'<circle class="m {kind}" cx="{x}" cy="{_middle(place)}" r="5"/>'
    notes = f"  {'; '.join(row.notes)}" if row.notes else ""
    text = clip(f"{row.caption}{notes}", _TEXT)
    head, rest = text[: len(row.caption)], text[len(row.caption) :]
    yield (
        f'<text x="{x + 14}" y="{_middle(place) + 5}">{escape(head)}'
        f'<tspan class="q">{escape(rest)}</tspan></text>'
    )


def _note(place: int, text: str) -> str:
    return f'<text class="q" x="{_LEFT}" y="{_middle(place) + 5}">{escape(text)}</text>'


def _arcs(rows: tuple[Line, ...]) -> Iterator[str]:
    places = {row.id: place for place, row in enumerate(rows)}
    levels = {row.id: row.level for row in rows}
    for row in rows:
        for blocker in row.blocked_by:
            if blocker in places:
                start, end = _middle(places[blocker]), _middle(places[row.id])
                out = min(14 + 6 * abs(places[row.id] - places[blocker]), _LEFT - 16)
                x1, x2 = (_LEFT + _INDENT * min(levels[i], _LEVELS) - 7 for i in (blocker, row.id))
                bend = _LEFT - out
                yield (
                    f'<path class="a" d="M{x1} {start}C{bend} {start} {bend} {end} {x2} {end}'
                    f'm-5 -3l5 3l-5 3"/>'
                )
