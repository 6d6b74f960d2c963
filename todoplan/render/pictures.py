"""Pictures in SVG: bar charts for a page, and a plan as a file."""

from collections.abc import Iterable
from html import escape

from todoplan.core.plan.plan import Plan
from todoplan.render.markup import Markup, element, joined
from todoplan.render.outline import clip, lines, summary
from todoplan.texts import one_line

# -------- plots --------
# Bar charts for an HTML page, drawn without a script and with labels in words.


_WIDTH, _ROW, _LABEL, _VALUE = 640, 26, 200, 90
_LONGEST = 26


def bars(title: str, rows: Iterable[tuple[str, float, str]]) -> Markup:
    """Return a plot with one bar per row. A row has a label, a length, and a text after the bar."""
    drawn = [(one_line(label), length, value) for label, length, value in rows]
    longest = max((length for _, length, _ in drawn), default=0) or 1
    parts = []
    for place, (label, length, value) in enumerate(drawn):
        middle = str(_ROW * place + 17)
        width = max(1, round((_WIDTH - _LABEL - _VALUE) * length / longest))
        top = str(_ROW * place + 4)
        parts += [
            element("text", clip(label, _LONGEST), x=str(_LABEL - 8), y=middle, class_="label"),
            element("rect", x=str(_LABEL), y=top, width=str(width), height="18", class_="bar"),
            element("text", value, x=str(_LABEL + width + 8), y=middle),
        ]
    values = "; ".join(f"{label} {value}" for label, _, value in drawn)
    height = str(_ROW * len(drawn))
    picture = element(
        "svg",
        *parts,
        class_="plot",
        width=str(_WIDTH),
        height=height,
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        aria_label=f"{title}: {values}",
    )
    # Like a table, the plot has a box that scrolls, because a phone's screen is narrower.
    return joined((element("h2", title), element("div", picture, class_="wide")))


# -------- plan_svg --------
# A plan as an SVG picture, for a README or a pull request: a list of its tasks, and arcs for the
# dependencies. Arcs beside a list need no layout algorithm, and fifty tasks are still readable. The
# file has no scripts, fonts or addresses.


MOST_TASKS = 200
"""The maximum number of tasks that are drawn. A last line says how many tasks are left out."""

_PICTURE, _LINE, _TOP, _LEFT, _INDENT = 760, 26, 64, 96, 18
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
    """Return the SVG picture: title, progress, a line per task, and an arc from each blocker."""
    title, progress = one_line(title), summary(plan)
    rows = lines(plan)[:MOST_TASKS]
    more = len(plan) - len(rows)
    width, height = _PICTURE, _TOP + _LINE * (len(rows) + bool(more)) + 14
    label = escape(f"{title}: {progress}")
    bar = width - 32
    done = bar * plan.counts.resolved / (plan.counts.total or 1)
    # The position of each task's circle.
    circles = {
        row.id: (_LEFT + _INDENT * min(row.level, _LEVELS), _middle(place))
        for place, row in enumerate(rows)
    }
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"',
        f'viewBox="0 0 {width} {height}" role="img" aria-label="{label}">',
        f"<title>{label}</title><style>{_STYLE}</style>",
        f'<rect class="g" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        f'<text class="t" x="16" y="26">{escape(clip(title, _TEXT))}</text>',
        f'<text class="q" x="16" y="44">{escape(clip(progress, 110))}</text>',
        f'<rect class="b" x="16" y="50" width="{bar}" height="4" rx="2"/>',
        f'<rect class="d" x="16" y="50" width="{done:.0f}" height="4" rx="2"/>',
    ]
    for row in rows:
        x2, end = circles[row.id]
        for x1, start in (circles[blocker] for blocker in row.blocked_by if blocker in circles):
            rows_between = abs(end - start) // _LINE
            bend = _LEFT - min(14 + 6 * rows_between, _LEFT - 16)
            drawn.append(
                f'<path class="a" d="M{x1 - 7} {start}C{bend} {start} {bend} {end} {x2 - 7} {end}'
                'm-5 -3l5 3l-5 3"/>'
            )
    for row in rows:
        x, y = circles[row.id]
        kind = f"{row.status} waiting" if row.is_waiting else row.status
        notes = f"  {'; '.join(row.notes)}" if row.notes else ""
        text = clip(f"{row.caption}{notes}", _TEXT)
        head, rest = text[: len(row.caption)], text[len(row.caption) :]
        aside = f'<tspan class="q">{escape(rest)}</tspan>'
        drawn += [
            f'<circle class="m {kind}" cx="{x}" cy="{y}" r="5"/>',
            f'<text x="{x + 14}" y="{y + 5}">{escape(head)}{aside}</text>',
        ]
    if more:
        y = _middle(len(rows)) + 5
        drawn.append(f'<text class="q" x="{_LEFT}" y="{y}">and {more} more</text>')
    return "\n".join((*drawn, "</svg>\n"))


def _middle(place: int) -> int:
    """Return the vertical middle of a row."""
    return _TOP + _LINE * place + _LINE // 2
