"""A replay for people at a terminal: header, timeline, the plans at the end, findings."""

from collections.abc import Iterator

import attrs
from rich.console import Console
from rich.text import Text

from todoplan.cli.counting import plural
from todoplan.cli.grouping import Group, groups, summary, where
from todoplan.cli.layout import hanging, room, wrapped
from todoplan.cli.replays import caveat, headline
from todoplan.cli.rows import Row, row_of
from todoplan.cli.runs import Run, Unread
from todoplan.cli.screen import Screen
from todoplan.cli.timeline import COLOURS, MARK_COLOURS, timeline
from todoplan.core.plan.plan import Plan
from todoplan.render.cleaning import one_line
from todoplan.render.text import to_text
from todoplan.transcripts.replaying import Replay

__all__ = ["TextPrinter", "plan_lines", "skipped_lines"]

_INDENT = 2
_SKIPPED = 10


@attrs.frozen
class TextPrinter:
    """
    Prints each replay when it is through. Only rows of text are held of it until then.
    """

    screen: Screen

    def recording(self, replay: Replay) -> None:
        """
        Listen to the replay and print it.
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
        yield Text()
    yield from _findings(replay, console)
    yield Text()


def plan_lines(plan: Plan, console: Console) -> Iterator[Text]:
    """
    Give the lines of a plan: cut to the width of a terminal, whole where there is none.
    """
    head, *tasks = to_text(plan, width=room(_INDENT, console)).split("\n")
    yield Text(" " * _INDENT + head)
    for task, line in zip(plan, tasks, strict=True):
        text = Text(" " * _INDENT + line)
        text.stylize(COLOURS[task.status], _INDENT, _INDENT + len("[x]"))
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
        yield from _group(group, console)


def _group(group: Group, console: Console) -> Iterator[Text]:
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
        yield Text(f"  {one_line(unread.file)}", "dim")
    if len(skipped) > _SKIPPED:
        yield Text(f"  and {len(skipped) - _SKIPPED} more; see --json", "dim")
