"""A replay as Markdown, to be pasted into an issue: a table, task lists, findings."""

from collections.abc import Iterator

import attrs

from todoplan.cli.output.rows import Row, row_of
from todoplan.cli.output.screen import Screen
from todoplan.cli.output.summaries import Group, caveat, groups, headline, summary, where
from todoplan.cli.recordings import Run
from todoplan.render.markdown import escaped, to_markdown
from todoplan.transcripts.replay.recording import Replay

__all__ = ["MarkdownPrinter"]

_HEAD = (
    "| line | time | tool | plan | done | | what changed |",
    "| --: | --- | --- | --- | --: | --- | --- |",
)


@attrs.frozen
class MarkdownPrinter:
    """
    Prints each replay when it is through.
    """

    screen: Screen

    def recording(self, replay: Replay) -> None:
        """
        Consume the replay and print it.
        """
        rows = tuple(map(row_of, replay.steps()))
        self._write(f"## {escaped(replay.file)}", "", headline(replay), "")
        if rows:
            self._write(*_HEAD, *map(_row, rows), "")
        for lane in replay.lanes:
            name = f" of {escaped(lane.name)}" if len(replay.lanes) > 1 else ""
            self._write(f"### Plan at the end{name}", "", to_markdown(lane.plan), "")
        found = groups(replay.findings, replay.bad_lines)
        notes = filter(None, (escaped(caveat(replay)), summary(found)))
        self._write("### Findings", "", "\n\n".join(notes) or "none", "")
        for group in found:
            self._write(*_group(group), "")

    def _write(self, *lines: str) -> None:
        self.screen.write("".join(f"{line}\n" for line in lines))

    def close(self, run: Run) -> None:
        """
        Name the files that were no recordings.
        """
        if run.skipped:
            self._write("## Skipped, no recording", "")
            self._write(*(f"- {escaped(unread.file)}" for unread in run.skipped))


def _row(row: Row) -> str:
    strip = f"`{row.strip}`" if row.strip else ""  # "~~" outside code strikes text through
    words = escaped("; ".join(row.phrases))
    cells = row.line, row.time, escaped(row.tool), strip, row.done, row.mark, words
    line = f"| {' | '.join(map(str, cells))} |"
    return f"| | | | | | | *{row.before}* |\n{line}" if row.before else line


def _group(group: Group) -> Iterator[str]:
    severity = "error" if group.mark == "!!" else "warning"
    yield f"**{escaped(group.code)}** ({severity}, {group.count})"
    yield ""
    for finding in group.shown:
        yield f"- {escaped(where(finding))}: {escaped(finding.text)}"
    if group.rest:
        yield f"- {group.rest}"
