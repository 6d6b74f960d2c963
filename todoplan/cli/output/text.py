"""
A replay for people at a terminal: header, timeline, the plans at the end, findings.

Lines are cut or wrapped to the width of a terminal; where there is none they stay whole, so that a
file or a pipe gets everything.
"""

from collections.abc import Iterable, Iterator, Sequence

import attrs
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from todoplan.cli.output.rows import MARKS, Row, row_of, seconds_spent
from todoplan.cli.output.screen import Screen
from todoplan.cli.output.summaries import (
    STATUS_MARKS,
    caveat,
    groups,
    headline,
    plural,
    summary,
    where,
)
from todoplan.cli.recordings import Run, Unread
from todoplan.core.plan.plan import Plan
from todoplan.render.cleaning import clip, one_line
from todoplan.render.text import to_text
from todoplan.transcripts.replay.recording import Replay

__all__ = [
    "COLOURS",
    "MARK_COLOURS",
    "TextPrinter",
    "columns",
    "cut",
    "hanging",
    "plan_lines",
    "room",
    "skipped_lines",
    "timeline",
    "wrapped",
]

_LEAST = 20  # columns: narrower text is not readable, so the terminal may wrap it
_SKIPPED = 10
_BETWEEN = "  "
_LEGEND = f"{STATUS_MARKS}; findings: ! warning, !! error"


def room(taken: int, console: Console) -> int | None:
    """
    Return how many columns are left on the terminal, `None` if this is none.
    """
    return max(console.width - taken, _LEAST) if console.is_terminal else None


def cut(text: str, width: int | None) -> str:
    """
    Return cleaned text in at most so many columns.
    """
    return text if width is None else clip(text, width)


def wrapped(text: str, width: int | None, console: Console) -> Iterator[str]:
    """
    Give the text, cleaned, in lines of at most so many columns.
    """
    whole = one_line(text)
    if width is None:
        yield whole
    else:
        lines = Text(whole).wrap(console, width, overflow="fold")
        yield from (line.plain.rstrip() for line in lines)


def hanging(head: Text, lines: Iterable[str]) -> Iterator[Text]:
    """
    Give the lines with the head before the first one; the others stand below it.
    """
    for line in lines:
        yield head.copy().append(line)
        head = Text(" " * head.cell_len)


def columns(rows: Sequence[Sequence[str]], console: Console) -> Iterator[str]:
    """
    Give a table of cleaned cells: the first column to the left, the others to the right.

    What does not fit is cut from the front of the first column: names differ at their ends.
    """
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    left = room(sum(widths[1:]) + len(_BETWEEN) * len(widths[1:]), console)
    first = widths[0] if left is None else min(widths[0], left)
    for name, *numbers in rows:
        shown = clip(name[::-1], first)[::-1]
        padded = (number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True))
        yield _BETWEEN.join((shown + " " * (first - cell_len(shown)), *padded))


COLOURS: dict[str, str] = {
    "pending": "dim",
    "in_progress": "yellow",
    "completed": "green",
    "cancelled": "dim",
    "failed": "red",
}
"""How the statuses are coloured."""

MARK_COLOURS = {"!!": "bold red", "!": "yellow", "": ""}
"""How the marks of findings are coloured."""

_INDENT = 2
_GAP = 2
_STRIP = {mark: COLOURS[status] for status, mark in MARKS.items()}


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
    Give the lines of the timeline of at least one row: titles, what the marks mean, then the rows;
    where a new day begins, its date.
    """
    widths = _Widths(*(_widest(name, title, rows) for name, title in _TITLES.items()))
    yield Text(_titles(widths), "bold")
    yield from hanging(Text("  "), wrapped(_LEGEND, room(_INDENT, console), console))
    day = ""
    for row in rows:
        if row.day != day:
            day = row.day
            yield Text(" " * _INDENT + day, "dim")
        if row.before:
            yield Text(" " * _INDENT + f"-- {row.before}", "dim")
        head = _head(row, widths)
        left = room(head.cell_len, console)
        yield from hanging(head, (cut(phrase, left) for phrase in row.phrases))


_TITLES = {
    "line": "line",
    "time": "time",
    "tool": "tool",
    "strip": "plan",
    "done": "done",
    "mark": "",
}


def _widest(name: str, title: str, rows: tuple[Row, ...]) -> int:
    # A column that is empty in every row has no title either.
    widest = max(cell_len(str(getattr(row, name))) for row in rows)
    return max(widest, len(title)) if widest else 0


def _titles(widths: _Widths) -> str:
    sized = [(title, getattr(widths, name)) for name, title in _TITLES.items()]
    shown = "".join(title.ljust(width + _GAP) for title, width in sized if width)
    return f"{' ' * _INDENT}{shown}what changed"


def _head(row: Row, widths: _Widths) -> Text:
    head = Text(" " * _INDENT)
    for cell, width in (
        (Text(f"{row.line:{widths.line}}", "dim"), widths.line),
        (Text(row.time, "dim"), widths.time),
        (Text(row.tool), widths.tool),
        (Text.assemble(*((mark, _STRIP[mark]) for mark in row.strip)), widths.strip),
        (Text(row.done.rjust(widths.done)), widths.done),
        (Text(row.mark, MARK_COLOURS[row.mark]), widths.mark),
    ):
        if width:
            head.append_text(cell).append(" " * (width - cell.cell_len + _GAP))
    return head


@attrs.frozen
class TextPrinter:
    """
    Prints each replay when it is through. Only rows of text are held of it until then.
    """

    screen: Screen

    def recording(self, replay: Replay) -> None:
        """
        Consume the replay and print it.
        """
        rows = tuple(map(row_of, replay.steps()))
        self.screen.show(_recording(replay, rows, self.screen.out))

    def close(self, run: Run) -> None:
        """
        Name the files that were no recordings.
        """
        self.screen.show(skipped_lines(run.skipped))


def _recording(replay: Replay, rows: tuple[Row, ...], console: Console) -> Iterator[Text]:
    yield Text(one_line(replay.file), "bold")
    yield Text(headline(replay), "dim")
    yield Text()
    if rows:
        yield from timeline(rows, console)
        yield Text()
    for lane in replay.lanes:
        name = f" of {one_line(lane.name)}" if len(replay.lanes) > 1 else ""
        yield Text(f"Plan at the end{name}", "bold")
        yield from plan_lines(lane.plan, console)
        if spent := seconds_spent(lane.plan):
            shown = ", ".join(f"#{task_id} {_duration(spent[task_id])}" for task_id in spent)
            yield from hanging(Text("  took "), wrapped(shown, room(7, console), console))
        yield Text()
    yield from _findings(replay, console)
    yield Text()


def _duration(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def plan_lines(plan: Plan, console: Console) -> Iterator[Text]:
    """
    Give the lines of a plan: cut to the width of a terminal, whole where there is none.
    """
    head, *tasks = to_text(plan, width=room(_INDENT, console)).split("\n")
    yield Text(" " * _INDENT + head)
    for task, line in zip(plan, tasks, strict=True):
        text = Text(" " * _INDENT + line)
        mark = len(text.plain) - len(text.plain.lstrip())  # subtasks are indented
        text.stylize(COLOURS[task.status], mark, mark + len("[x]"))
        yield text


def _findings(replay: Replay, console: Console) -> Iterator[Text]:
    found = groups(replay.findings, replay.bad_lines)
    if note := caveat(replay):
        yield from hanging(Text(), wrapped(note, room(0, console), console))
    elif not found:
        yield Text("No findings")
    if found:
        yield Text(f"Findings: {summary(found)}", "bold")
    for group in found:
        mark = f"  {group.mark:2} ", MARK_COLOURS[group.mark]
        yield Text.assemble(mark, (one_line(group.code), "bold"), (f" {group.count}", "dim"))
        for finding in group.shown:
            head = Text(" " * 5).append(where(finding), "dim").append("  ")
            yield from hanging(head, wrapped(finding.text, room(head.cell_len, console), console))
        if group.rest:
            yield Text(f"     {group.rest}", "dim")


def skipped_lines(skipped: list[Unread]) -> Iterator[Text]:
    """
    Give the names of the first files that were skipped, and how many there were.
    """
    if skipped:
        yield Text(f"Skipped {plural(len(skipped), 'file')} without a recording")
    for unread in skipped[:_SKIPPED]:
        # The reason names the file as well: it is said once.
        why = unread.reason.replace(unread.file, "").partition(" (")[0].strip(" :")
        yield Text(f"  {one_line(unread.file)}: {one_line(why)}", "dim")
    if len(skipped) > _SKIPPED:
        yield Text(f"  and {len(skipped) - _SKIPPED} more; see --json", "dim")
