"""The timeline on a terminal: a row for each step, in columns, what changed behind them."""

from collections.abc import Iterator

import attrs
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from todoplan.cli.layout import cut, hanging, room
from todoplan.cli.rows import MARKS, Row
from todoplan.core.plan.model import Status

__all__ = ["COLOURS", "MARK_COLOURS", "timeline"]

COLOURS = {
    Status.PENDING: "dim",
    Status.IN_PROGRESS: "yellow",
    Status.COMPLETED: "green",
    Status.CANCELLED: "dim",
}
"""How the statuses are coloured."""

MARK_COLOURS = {"!!": "bold red", "!": "yellow", "": ""}
"""How the marks of findings are coloured."""

_INDENT = 2
_GAP = 2
_STRIP = {MARKS[status]: colour for status, colour in COLOURS.items()}


@attrs.frozen
class _Widths:
    line: int
    time: int
    tool: int
    strip: int
    done: int
    mark: int


def timeline(rows: tuple[Row, ...], console: Console) -> Iterator[Text]:
    """
    Give the lines of the timeline of at least one row; where a new day begins, its date.
    """
    names = [field.name for field in attrs.fields(_Widths)]
    widths = _Widths(*(max(cell_len(str(getattr(row, name))) for row in rows) for name in names))
    day = ""
    for row in rows:
        if row.day != day:
            day = row.day
            yield Text(" " * _INDENT + day, "dim")
        head = _head(row, widths)
        left = room(head.cell_len, console)
        yield from hanging(head, (cut(phrase, left) for phrase in row.phrases))


def _head(row: Row, widths: _Widths) -> Text:
    head = Text(" " * _INDENT)
    for cell, width in (
        (Text(f"{row.line:{widths.line}}", "dim"), widths.line),
        (Text(row.time, "dim"), widths.time),
        (Text(row.tool), widths.tool),
        (_strip(row.strip), widths.strip),
        (Text(row.done.rjust(widths.done)), widths.done),
        (Text(row.mark, MARK_COLOURS[row.mark]), widths.mark),
    ):
        if width:
            head.append_text(cell).append(" " * (width - cell.cell_len + _GAP))
    return head


def _strip(strip: str) -> Text:
    return Text.assemble(*((mark, _STRIP[mark]) for mark in strip))
