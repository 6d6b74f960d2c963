"""
Replays as one page of HTML: how each plan ended, the timeline, and findings beside their calls.

It is a file for a reader: nothing in it is loaded, no text of a recording is markup, and all that
runs is ours: a slider through each plan's life. Without scripts all else is there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from todoplan.board.bundle import report_scripts, report_style
from todoplan.cli.output.life import Life
from todoplan.cli.output.rows import Row, row_of
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
from todoplan.cli.recordings import Input, Run
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Severity
from todoplan.render.markup import Markup, element, page
from todoplan.render.outline import summary as progress_text
from todoplan.render.page import to_html
from todoplan.transcripts.replay.findings import Finding
from todoplan.transcripts.replay.recording import Replay

__all__ = ["HtmlPrinter", "not_read", "overwrites", "save_page", "table"]

_TITLE = "Plans of agents, replayed"


def overwrites(out: Path | None, inputs: Iterable[Input], screen: Screen) -> bool:
    """
    Say whether the page would be written over a recording, which cannot be made again; tell so.
    """
    if out is None or not any(_is_same(source.path, out) for source in inputs):
        return False
    screen.complain(f"{out} is one of the recordings: give the page a name of its own")
    return True


def _is_same(path: Path, out: Path) -> bool:
    try:
        return path.samefile(out)
    except (OSError, ValueError):
        return False


def save_page(page: str, out: Path | None, run: Run, what: str = "page") -> None:
    """
    Write a page, or `what` it is, to its file, or to stdout without one; what stops that is told.
    """
    if out is None:
        run.screen.write(page)
        return
    try:
        out.write_text(page, encoding="utf-8")
    except (OSError, ValueError) as error:  # a name may hold what no file's can
        run.fail(str(out), f"cannot write {out}: {getattr(error, 'strerror', None) or error}")
    else:
        run.screen.complain(f"the {what} is written to {out}")


def table(rows: Iterable[Sequence[str]]) -> Markup:
    """
    Return a table; the first row has the titles.
    """
    head, *others = rows
    titles = element("thead", element("tr", *(element("th", text, scope="col") for text in head)))
    lines = (element("tr", *(element("td", text) for text in row)) for row in others)
    # Its own box: on a phone the table is moved sideways, and not the page.
    return element("div", element("table", titles, element("tbody", *lines)), class_="wide")


@attrs.define
class HtmlPrinter:
    """
    Collects what stands on the page; `written` has it whole once the run is closed.

    `revisions` are those of the entries of a plan's own journal, where it is one that is replayed:
    its reader knows these, and no lines of a file.
    """

    revisions: Sequence[int] = ()
    _parts: list[Markup] = attrs.Factory(list)
    _files: list[str] = attrs.Factory(list)
    _lives: int = 0
    _calls: int = 0
    written: str = ""

    def recording(self, replay: Replay) -> None:
        """
        Consume the replay and write its part of the page.
        """
        shown: list[Finding] = []
        rows: list[Markup] = []
        lives: dict[str, Life] = {}
        day = ""
        for step in replay.steps():
            row = row_of(step)
            rows += _before(row, "" if row.day == day else row.day)
            self._calls += 1
            item = f"call-{self._calls}"
            rows.append(_call(row, step.findings, item, self._place(row.line)))
            life = lives.get(step.lane) or lives.setdefault(step.lane, self._life())
            life.add(step.plan, f"{row.tool}: {'; '.join(row.phrases)}", step.findings, item)
            shown += step.findings
            day = row.day
        self._files.append(replay.file)
        # By identity: two calls may have findings that read alike.
        of_calls = set(map(id, shown))
        apart = [
            _finding(finding, "" if self.revisions else f"{where(finding)}: ")
            for finding in replay.findings
            if id(finding) not in of_calls
        ]
        about = headline(replay)
        if self.revisions:
            about = plural(replay.calls, "change")
        self._parts.append(element("section", *_recording(replay, about, rows, apart, lives)))

    def _place(self, line: int) -> str:
        # The first line of a journal is its head.
        return f"revision {self.revisions[line - 2]}" if self.revisions else f"line {line}"

    def _life(self) -> Life:
        self._lives += 1
        return Life(f"life-{self._lives}")

    def close(self, run: Run) -> None:
        """
        Put the page together; what could not be read, and what was skipped, stand last.

        Without a recording there is no page.
        """
        title = self._files[0] if len(self._files) == 1 else _TITLE
        if self._parts:
            self.written = page(
                title,
                element("main", *self._parts, *not_read(run)),
                styles=(report_style(),),
                scripts=report_scripts(),
            )


def not_read(run: Run) -> Iterator[Markup]:
    """
    Give the lists of files that could not be read, and of those that are no recordings.
    """
    if run.unreadable:
        yield element("h2", "Could not be read")
        yield element("ul", *(element("li", unread.reason) for unread in run.unreadable))
    if run.skipped:
        count = plural(len(run.skipped), "file")
        yield element("h2", f"Skipped, {count} without a recording")
        names = (element("li", unread.file) for unread in run.skipped)
        yield element("ul", *names, class_="quiet")


def _recording(
    replay: Replay,
    about: str,
    rows: Sequence[Markup],
    apart: Sequence[Markup],
    lives: Mapping[str, Life],
) -> Iterator[Markup]:
    found = groups(replay.findings, replay.bad_lines)
    yield element("h1", replay.file)
    yield element("p", about, class_="quiet")
    yield element("p", caveat(replay) or f"Findings: {summary(found) or 'none'}")
    for lane in replay.lanes:
        name = f" of {lane.name}" if len(replay.lanes) > 1 else ""
        yield element("h2", f"Plan at the end{name}")
        yield from _plan(lane.plan)
        yield lives[lane.name].markup() if lane.name in lives else Markup("")
    if rows:
        yield element("h2", "Timeline")
        yield element("p", STATUS_MARKS, class_="quiet")
        yield element("ol", *rows)
    if apart:
        yield element("h2", "Findings about the whole")
        yield element("ul", *apart)


def _plan(plan: Plan) -> Iterator[Markup]:
    if plan.counts.total:
        done, total = str(plan.counts.resolved), str(plan.counts.total)
        yield element("p", progress_text(plan), class_="quiet")
        yield element("progress", max=total, value=done, aria_label=progress_text(plan))
    yield Markup(to_html(plan))


def _before(row: Row, day: str) -> Iterator[Markup]:
    if day:
        yield element("li", element("h3", day))
    if row.before:
        yield element("li", row.before, class_="between")


def _call(row: Row, findings: Sequence[Finding], item: str, place: str) -> Markup:
    cells = {"line": place, "time": row.time, "tool": row.tool, "strip": row.strip}
    cells["done"] = row.done
    head = [element("span", text, class_=kind) for kind, text in cells.items() if text]
    what = (element("p", phrase) for phrase in row.phrases)
    said = element("div", element("div", *head, class_="where"), *what)
    beside = (element("ul", *map(_finding, findings)),) if findings else ()
    return element("li", said, *beside, class_="call", id=item)


def _finding(finding: Finding, before: str = "") -> Markup:
    # In words too: not everybody tells the colours apart.
    error = finding.severity is Severity.ERROR
    name = element("b", f"{finding.code} (error)" if error else finding.code)
    told = f"{before}{finding.text}"
    return element("li", name, told, class_="finding error" if error else "finding")
