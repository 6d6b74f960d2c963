"""
How replays are printed: `text` for a terminal, `markdown` for an issue, `html_page` for a browser,
`json_document` for programs (`json_schemas` promises its shape). All but the last share `rows`, a
step as a row of a timeline, and `summaries`, the header and the grouped findings. `changes` has the
history of a stored plan.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from importlib.resources import as_file, files
from itertools import chain, pairwise, repeat
from pathlib import Path
from time import time_ns
from typing import Any
from urllib.parse import urlsplit

import attrs
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from todoplan.board.bundle import report_scripts, report_style
from todoplan.board.messages import change, snapshot
from todoplan.cli import UNREADABLE
from todoplan.cli.screen import Screen
from todoplan.codec import entry_to_data, plan_to_data
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.values import Status
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.rule import Severity
from todoplan.errors import CodecError, MissingExtraError, ReadError
from todoplan.render.cleaning import clip
from todoplan.render.markdown import escaped, to_markdown
from todoplan.render.markup import Markup, data_block, element, joined, page
from todoplan.render.outline import Line, lines, summary
from todoplan.render.outline import summary as progress_text
from todoplan.render.page import to_html
from todoplan.render.phrases import event_phrases
from todoplan.render.text import to_text
from todoplan.telemetry.observing import tracer_of
from todoplan.telemetry.spans import PlanningCall, Spans, nanoseconds
from todoplan.texts.cleaning import one_line
from todoplan.transcripts.calls import MAIN_LANE, Compaction
from todoplan.transcripts.files import is_recording_name
from todoplan.transcripts.replay import (
    Finding,
    Lane,
    Mark,
    Replay,
    Step,
    replay_file,
    replay_together,
)

# -------- recordings --------
# Which files are recordings to replay, replaying them one after the other, and what went wrong.


_REPORTED_BAD_LINES = 3
# Megabytes of JSON and Markdown that are no recordings, and sometimes examples of some.
_NOT_WALKED = frozenset(
    {".git", ".hg", ".svn", ".tox", ".venv", "__pycache__", "node_modules", "site-packages", "venv"}
)


@attrs.frozen
class Input:
    """
    One file to read. `label` is how it is shown; `named` is false if only its directory was named.
    """

    path: Path
    label: str
    named: bool = True

    @property
    def size(self) -> int:
        """
        The file's size in bytes, 0 if it cannot be told.
        """
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


def expand(paths: Iterable[Path]) -> Iterator[Input]:
    """
    Give the files to read; a directory stands for what may be recordings below it.
    """
    for path in paths:
        if path.is_dir():
            yield from (Input(found, str(found), named=False) for found in _below(path))
        else:
            yield Input(path, str(path))


def _below(directory: Path) -> Iterator[Path]:
    # Links to directories are not followed: they may form a loop.
    for folder, folders, names in os.walk(directory):
        # In place: os.walk goes on with these, in this order, so output is the same each time.
        folders[:] = sorted(name for name in folders if _is_walked(Path(folder, name)))
        for path in (Path(folder, name) for name in sorted(names)):
            if is_recording_name(path.name) and path.is_file():
                yield path


def _is_walked(directory: Path) -> bool:
    # A virtual environment may have any name; this file makes it one.
    return directory.name not in _NOT_WALKED and not (directory / "pyvenv.cfg").exists()


@contextmanager
def sample() -> Iterator[Input]:
    """
    Give the recording that comes with the package.
    """
    with as_file(files("todoplan.transcripts").joinpath("sample.jsonl")) as path:
        yield Input(path, "sample.jsonl")


def open_replay(
    source: Input, policy: Policy, dialect: str | None, on_bytes: Callable[[int], None]
) -> Replay:
    """
    Return the replay of a file, not yet begun; its dialect is detected unless given.

    Raises:
        ReadError: this is no recording. A file that was not named must also make some sense.
        MissingExtraError: it is one JSON document, and ijson is not installed.
    """
    # A pipe would be read twice, once to tell the dialect, and might never end.
    path = source.path
    if path.exists() and not path.is_file():
        msg = f"{path} is not a regular file. A recording is read twice: save it to a file first"
        raise ReadError(msg, file=str(path))
    replay = replay_file(path, policy=policy, dialect=dialect, on_bytes=on_bytes)
    replay.file = source.label
    if not source.named and replay.is_unreadable():
        msg = f"{path} has no planning call, only lines that cannot be read"
        raise ReadError(msg, file=str(path))
    return replay


# Words that a planning tool's name has in every system met so far.
_PLANNING = re.compile(r"todo|task|plan|checklist", re.IGNORECASE)


def _not_understood(replay: Replay) -> str:
    """
    Return why a recording that was read told nothing of its plan, "" if it did.

    Silence would be taken for "no findings". An agent that planned nothing is no fault, as long as
    no tool sounds like planning.
    """
    if replay.calls and replay.unreadable == replay.calls:
        return f"not one of its {replay.calls} planning calls could be understood"
    alike = [tool for tool in replay.other_tools if _PLANNING.search(tool)]
    if alike:
        return f"nothing understood: no planning tool known here is called, but {', '.join(alike)}"
    return ""


@attrs.frozen
class Unread:
    """
    A file that could not be read, or not to its end, and why.
    """

    file: str
    reason: str


@attrs.define(eq=False)
class Run:
    """
    What became of the files so far. What is wrong goes to the screen as it comes up.
    """

    screen: Screen
    policy: Policy
    dialect: str | None = None
    unreadable: list[Unread] = attrs.Factory(list)
    skipped: list[Unread] = attrs.Factory(list)
    has_bad_lines: bool = False
    has_errors: bool = False

    def replay_all(self, inputs: Iterable[Input], each: Callable[[Replay], None]) -> None:
        """
        Replay the files in order and hand each replay to `each`, which consumes it.
        """
        # All names first: the bar needs the sum of their sizes.
        found = tuple(inputs)
        sizes = [source.size for source in found]
        with self.screen.ticker(sum(sizes)) as ticker:
            reached = 0
            for source, size in zip(found, sizes, strict=True):
                replay = self._opened(source, ticker.add)
                if replay is not None:
                    each(replay)
                    self._note(replay)
                # A file that was given up early counts as read, or the bar would never be full.
                reached += size
                ticker.reach(reached)
        if len(found) == len(self.skipped):
            what = "no file there is a recording" if found else "no file that may be one"
            self.fail("", f"nothing to read: {what}")

    def replay_together(self, inputs: Iterable[Input], each: Callable[[Replay], None]) -> None:
        """
        Replay those files that are recordings as one, and hand that replay to `each`.
        """
        # Each is opened for itself first, so that what is none is skipped or told as ever.
        found = [one for one in inputs if self._opened(one, lambda _: None) is not None]
        if not found:
            self.fail("", "nothing to read: no file there is a recording")
            return
        label = ", ".join(source.label for source in found)
        paths = [source.path for source in found]
        replay = replay_together(label, paths, policy=self.policy, dialect=self.dialect)
        each(replay)
        self._note(replay)

    def _opened(self, source: Input, on_bytes: Callable[[int], None]) -> Replay | None:
        try:
            return open_replay(source, self.policy, self.dialect, on_bytes)
        except MissingExtraError as error:
            # Never "skipped": the file may well be a recording.
            self.fail(source.label, f"{source.label}: {error}")
        except ReadError as error:
            if source.named:
                self.fail(source.label, str(error))
            else:
                self.skipped.append(Unread(source.label, str(error)))
        return None

    def fail(self, file: str, reason: str) -> None:
        """
        Take note that a file could not be read, and say so.
        """
        self.unreadable.append(Unread(file, reason))
        self.screen.complain(reason)

    def _note(self, replay: Replay) -> None:
        if reason := _not_understood(replay):
            self.fail(replay.file, f"{replay.file}: {reason}")
        self.has_errors |= replay.has_errors
        self.has_bad_lines |= replay.bad_lines > 0
        bad = [finding for finding in replay.findings if finding.code == "bad_line"]
        for finding in bad[:_REPORTED_BAD_LINES]:
            self.screen.complain(f"{replay.file}:{finding.line}: {finding.text}")
        if (more := replay.bad_lines - _REPORTED_BAD_LINES) > 0:
            self.screen.complain(f"{replay.file}: {more} more lines could not be read")
        if replay.trouble:
            self.fail(replay.file, replay.trouble)

    @property
    def exit_code(self) -> int:
        """
        2 if something could not be read, else 1 if there are findings of severity error, else 0.
        """
        return UNREADABLE if self.unreadable or self.has_bad_lines else int(self.has_errors)


# -------- rows --------
# A step as one row of a timeline: when, which tool, the plan as a strip, what changed in few words.


MARKS = {
    Status.PENDING: ".",
    Status.IN_PROGRESS: "~",
    Status.COMPLETED: "x",
    Status.CANCELLED: "-",
    Status.FAILED: "!",
}
"""A task in the strip."""

_STRIP = 10
_NAME = 24
_NOTHING = {
    "applied": "no change",
    "read": "read the plan",
    "refused": "refused, no change",
    "unreadable": "arguments unreadable, no change",
    "impossible": "impossible, no change",
}


@attrs.frozen
class Row:
    """
    A step as a timeline shows it; the texts are cleaned and on one line.

    `strip` has a mark for each task (ten for a longer plan, in proportion), `done` reads "2/5",
    `mark` is "!" for a warning and "!!" for an error. `phrases` say what changed, at least one.
    `before` says what happened in the conversation since the row above, "" for nothing.
    """

    line: int
    day: str
    time: str
    tool: str
    strip: str
    done: str
    mark: str
    phrases: tuple[str, ...]
    before: str = ""


def row_of(step: Step) -> Row:
    """
    Return the row of a step.
    """
    counts = step.plan.counts
    return Row(
        line=step.line,
        day=f"{step.at:%Y-%m-%d}" if step.at else "",
        time=f"{step.at:%H:%M:%S}" if step.at else "",
        tool=clip(one_line(step.tool), _NAME),
        strip=_strip(step.plan),
        done=f"{counts.completed}/{counts.total}",
        mark=mark(step.findings),
        phrases=_phrases(step),
        before=_before(step),
    )


def mark_name(mark: Mark) -> str:
    """
    Return "compaction" or "person".
    """
    return "compaction" if isinstance(mark, Compaction) else "person"


def _before(step: Step) -> str:
    names = [mark_name(mark) for mark in step.before]
    spoke = names.count("person")
    said = f"{spoke} messages of the person" if spoke > 1 else "a message of the person"
    summary = "the conversation was summarised"
    return ", ".join([summary] * ("compaction" in names) + [said] * bool(spoke))


def seconds_spent(plan: Plan) -> dict[str, float]:
    """
    Return by task id the seconds from its start to its completion, where both are known.
    """
    return {
        task.id: (task.completed_at - task.started_at).total_seconds()
        for task in plan
        if task.started_at and task.completed_at
    }


def mark(findings: tuple[Finding, ...]) -> str:
    """
    Return "!!" if one of the findings is an error, "!" for warnings only, "" for none.
    """
    if any(finding.severity is Severity.ERROR for finding in findings):
        return "!!"
    return "!" if findings else ""


def _strip(plan: Plan) -> str:
    if len(plan) <= _STRIP:
        return "".join(MARKS[task.status] for task in plan)
    # Rounded down: a strip is full only when everything is closed.
    counts = plan.counts
    resolved = counts.resolved * _STRIP // counts.total
    failed = counts.closed * _STRIP // counts.total - resolved
    active = "~" if counts.in_progress else ""
    return ("x" * resolved + "!" * failed + active).ljust(_STRIP, ".")


def _phrases(step: Step) -> tuple[str, ...]:
    first, *more = event_phrases(step.events, step.plan, step.was) or (_NOTHING[step.outcome],)
    return (_who(step) + first, *more)


def _who(step: Step) -> str:
    names = dict.fromkeys(name for name in (step.lane, step.actor) if name != MAIN_LANE)
    return "".join(f"{clip(one_line(name), _NAME)}: " for name in names)


# -------- summaries --------
# What is said of a recording in a few lines: its header, and its findings by code.


STATUS_MARKS = ", ".join(f"{mark} {status.replace('_', ' ')}" for status, mark in MARKS.items())
"""What the marks of tasks mean."""


def plural(count: int, noun: str) -> str:
    """
    Return "1 plan", "2 plans".
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def percent(part: int, whole: int) -> str:
    """
    Return a share as "12.5 %", and "-" of nothing.
    """
    return f"{100 * part / whole:.1f} %" if whole else "-"


_SHOWN = 5
_SUMMARIES_NAME = 40


@attrs.frozen
class Group:
    """
    The findings with one code: how many, how bad, and the first of them.
    """

    code: str
    mark: str
    count: int
    shown: tuple[Finding, ...]

    @property
    def rest(self) -> str:
        """
        What is said for those that are not shown; "" if all are.
        """
        more = self.count - len(self.shown)
        return f"and {more} more; see --json" if more else ""


def groups(findings: Iterable[Finding], bad_lines: int) -> tuple[Group, ...]:
    """
    Return a group for each code, errors first, else in the order of the first finding.

    `bad_lines` is how many lines could not be read: not all of those need be among the findings.
    """
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    made = (_group(code, tuple(found), bad_lines) for code, found in by_code.items())
    # The sort is stable: within a severity the order of the recording stays.
    return tuple(sorted(made, key=lambda group: group.mark != "!!"))


def _group(code: str, found: tuple[Finding, ...], bad_lines: int) -> Group:
    count = bad_lines if code == "bad_line" else len(found)
    return Group(code, mark(found), count, found[:_SHOWN])


def recording_summary(found: tuple[Group, ...]) -> str:
    """
    Return "1 error, 3 warnings", by the marks of the groups.
    """
    errors = sum(group.count for group in found if group.mark == "!!")
    warnings = sum(group.count for group in found) - errors
    counts = plural(errors, "error"), plural(warnings, "warning")
    return ", ".join(text for text in counts if not text.startswith("0 "))


def where(finding: Finding) -> str:
    """
    Return "line 12", with the lane's name if it is not the main one.
    """
    lane = one_line(finding.lane)
    aside = f" ({lane})" if lane and lane != MAIN_LANE else ""
    return f"line {finding.line}{aside}"


def headline(replay: Replay) -> str:
    """
    Return the recording in a line: "claude-code, 9 planning calls (1 refused), 2 plans".
    """
    aside = f" ({replay.refused} refused)" if replay.refused else ""
    plans = sum(len(lane.plans) for lane in replay.lanes)
    calls, plans_text = plural(replay.calls, "planning call"), plural(plans, "plan")
    return f"{replay.dialect}, {calls}{aside}, {plans_text}"


def caveat(replay: Replay) -> str:
    """
    Return which tools were called where none was a known planning tool, cleaned; else "".
    """
    names = (clip(one_line(name), _SUMMARIES_NAME) for name in replay.other_tools)
    called = ", ".join(filter(None, names))
    if not called:
        return ""
    return f"No call of a known planning tool; the first tools called are {called}"


# -------- text --------
# A replay for people at a terminal: header, timeline, the plans at the end, findings.
#
# Lines are cut or wrapped to the width of a terminal; where there is none they stay whole, so that
# a file or a pipe gets everything.


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
_TEXT_STRIP = {mark: COLOURS[status] for status, mark in MARKS.items()}


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
        (Text.assemble(*((mark, _TEXT_STRIP[mark]) for mark in row.strip)), widths.strip),
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
        yield Text(f"Findings: {recording_summary(found)}", "bold")
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


# -------- plots --------
# Plots of a page of HTML: bars, drawn without a script, that say in words what they show.


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


# -------- life --------
# The life of a plan for the slider of a report: how it began, and what each step made of it.
#
# The page's script lays the steps upon the beginning, as the board does with what it is sent.
# Without scripts the page has no slider, and all else.


@attrs.define
class Life:
    """
    The life of one plan, step by step; `name` tells it from the others on the page.
    """

    name: str
    _plan: Plan = attrs.Factory(Plan)
    _steps: list[dict[str, Any]] = attrs.Factory(list)
    _is_whole: bool = True

    def add(self, plan: Plan, said: str, findings: Iterable[Finding], item: str) -> None:
        """
        Note what a step made of the plan; `item` is the id of the element that tells of it.
        """
        told = [
            {"code": each.code, "text": each.text, "error": each.severity is Severity.ERROR}
            for each in findings
        ]
        try:
            made = change(self._plan, plan, ())
        except CodecError:
            # What JSON cannot hold stands in no plan that was saved; of a recording it may.
            self._is_whole = False
            return
        self._plan = plan
        self._steps.append({"change": made, "said": said, "findings": told, "item": item})

    def markup(self) -> Markup:
        """
        Return the place of the slider and its data; nothing where there is nothing to slide along.
        """
        if not self._steps or not self._is_whole:
            return Markup("")
        start = snapshot(self.name, Plan(), ())
        data = {"name": self.name, "start": start, "steps": self._steps}
        place = element("div", class_="life", data_of=f"{self.name}-data", hidden="hidden")
        return Markup(f"{place}\n{data_block(f'{self.name}-data', data)}")


# -------- markdown --------
# A replay as Markdown, to be pasted into an issue: a table, task lists, findings.


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
        notes = filter(None, (escaped(caveat(replay)), recording_summary(found)))
        self._write("### Findings", "", "\n\n".join(notes) or "none", "")
        for group in found:
            self._write(*_markdown_group(group), "")

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


def _markdown_group(group: Group) -> Iterator[str]:
    severity = "error" if group.mark == "!!" else "warning"
    yield f"**{escaped(group.code)}** ({severity}, {group.count})"
    yield ""
    for finding in group.shown:
        yield f"- {escaped(where(finding))}: {escaped(finding.text)}"
    if group.rest:
        yield f"- {group.rest}"


# -------- json_document --------
# Replays as one JSON document for programs, written as the recordings are read.
# Its JSON is described in `todoplan.cli.json_schemas`.
#
# Keys stand in this order. `plan` is a plan document and `events` are as in a journal, both as
# `todoplan.codec` writes them; `counts` are the tasks by status after the step; `chars` is the
# length of call and answer. `before` has summaries of the conversation and messages of the person
# since the step before, `sizes` the largest length of each plan of the lane, `seconds` by task id
# the time from its start to its completion, `detail` what the text of a finding cuts short. Of the
# lines that could not be read, the first 100 of a recording are findings (`bad_line`), and
# `bad_lines` counts all. `other_tools` names the first tools that were called where none is a
# known planning tool. `todoplan.cli.json_schemas` has the JSON Schema. It is all ASCII
# text. A version changes when a key goes or changes its meaning; new keys may come at any time.


REPLAY_FORMAT = "todoplan/replay"
REPLAY_VERSION = 1


@attrs.define
class JsonPrinter:
    """
    Writes the document piece by piece: `open`, each `recording`, `close`. No step is kept.
    """

    screen: Screen
    policy: str
    _commas: Iterator[str] = attrs.field(factory=lambda: chain(("",), repeat(",")))

    def open(self) -> None:
        """
        Write what stands before the recordings.
        """
        head = line({"format": REPLAY_FORMAT, "version": REPLAY_VERSION, "policy": self.policy})
        # Without its closing brace: the object goes on as recordings are read.
        self.screen.write(f'{head[:-1]}, "recordings": [')

    def recording(self, replay: Replay) -> None:
        """
        Consume the replay and write it.
        """
        head = line({"file": replay.file, "dialect": replay.dialect})
        self.screen.write(f'{next(self._commas)}\n{head[:-1]}, "steps": [')
        for comma, step in zip(chain(("",), repeat(",")), replay.steps(), strict=False):
            self.screen.write(f"{comma}\n {line(_step(step))}")
        rest = line(
            {
                "lanes": [_lane(lane) for lane in replay.lanes],
                "findings": [attrs.asdict(finding) for finding in replay.findings],
                "bad_lines": replay.bad_lines,
                "other_tools": replay.other_tools,
            }
        )
        self.screen.write(f"],\n {rest[1:]}")

    def close(self, run: Run) -> None:
        """
        Write what stands behind the recordings.
        """
        self.screen.write(f"\n], {tail(run)[1:]}\n")


def line(data: Any) -> str:
    """
    Return plain data as one line of ASCII JSON.
    """
    # ASCII: a lone surrogate in a recording would make UTF-8 output fail half-way.
    return json.dumps(data, allow_nan=False)


def tail(run: Run) -> str:
    """
    Return the object of the files that could not be read and that were skipped.
    """
    return line(
        {
            "unreadable": [attrs.asdict(unread) for unread in run.unreadable],
            "skipped": [attrs.asdict(unread) for unread in run.skipped],
        }
    )


def _step(step: Step) -> dict[str, Any]:
    entry = entry_to_data(Entry(step.plan.revision, step.events))
    return {
        "line": step.line,
        "at": step.at.isoformat() if step.at else None,
        "lane": step.lane,
        "actor": step.actor,
        "tool": step.tool,
        "outcome": step.outcome,
        "events": entry["events"],
        "counts": step.plan.counts._asdict(),
        "chars": step.chars,
        "before": [{"what": mark_name(mark), "line": mark.line} for mark in step.before],
    }


def _lane(lane: Lane) -> dict[str, Any]:
    return {
        "name": lane.name,
        "calls": lane.calls,
        "refused": lane.refused,
        "largest": lane.largest,
        "plan": plan_to_data(lane.plan),
        "sizes": lane.plans,
        "seconds": seconds_spent(lane.plan),
    }


# -------- html_page --------
# Replays as one page of HTML: how each plan ended, the timeline, and findings beside their calls.
#
# It is a file for a reader: nothing in it is loaded, no text of a recording is markup, and all that
# runs is ours: a slider through each plan's life. Without scripts all else is there.


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
            rows += _html_page_before(row, "" if row.day == day else row.day)
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
        self._parts.append(
            element("section", *_html_page_recording(replay, about, rows, apart, lives))
        )

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


def _html_page_recording(
    replay: Replay,
    about: str,
    rows: Sequence[Markup],
    apart: Sequence[Markup],
    lives: Mapping[str, Life],
) -> Iterator[Markup]:
    found = groups(replay.findings, replay.bad_lines)
    yield element("h1", replay.file)
    yield element("p", about, class_="quiet")
    yield element("p", caveat(replay) or f"Findings: {recording_summary(found) or 'none'}")
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


def _html_page_before(row: Row, day: str) -> Iterator[Markup]:
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


# -------- spans --------
# `todoplan replay --otlp`: recordings as the spans that a traced toolbox would have written.
#
# A recording is one trace: a span for the agent's run, and within it the planning calls and the
# tasks, at the times that are recorded. They are sent over HTTP, as OTLP with protobuf.


_TRACES = "/v1/traces"
_AT_ONCE = 500  # spans in a request: collectors take some megabytes
_REFUSED = {"refused_call", "cancelled_call"}


class SpanPrinter:
    """
    Sends each replay to an endpoint when it is through.
    """

    def __init__(self, endpoint: str, screen: Screen) -> None:
        self._endpoint, self._screen = endpoint, screen
        self._unsent: list[tuple[str, str]] = []
        # An address alone stands for the path that the protocol names.
        whole = endpoint if urlsplit(endpoint).path.strip("/") else endpoint.rstrip("/") + _TRACES
        self._exporter = OTLPSpanExporter(endpoint=whole)
        self._kept = InMemorySpanExporter()
        provider = TracerProvider(resource=Resource.create({"service.name": "todoplan"}))
        provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self._tracer = tracer_of(provider)

    def recording(self, replay: Replay) -> None:
        """
        Consume the replay and send it.
        """
        self._write(replay)
        spans = self._kept.get_finished_spans()
        self._kept.clear()
        for first in range(0, len(spans), _AT_ONCE):
            if self._exporter.export(spans[first : first + _AT_ONCE]) != SpanExportResult.SUCCESS:
                reason = f"{replay.file}: {self._endpoint} did not take its spans"
                self._unsent.append((replay.file, reason))
                return
        self._screen.write(f"{replay.file}: {plural(len(spans), 'span')} sent\n")

    def close(self, run: Run) -> None:
        """
        Say what was not sent.
        """
        for file, reason in self._unsent:
            run.fail(file, reason)
        self._exporter.shutdown()  # type: ignore[no-untyped-call]  # as the SDK has it

    def _write(self, replay: Replay) -> None:
        spans, root, at = Spans(self._tracer), None, 0
        for step in replay.steps():
            # Where a recording has no times, calls stand where the one before them ended.
            at = nanoseconds(step.at) or at or time_ns()
            if root is None:
                known = {
                    "gen_ai.operation.name": "invoke_agent",
                    "todoplan.recording": replay.file,
                    "todoplan.dialect": replay.dialect,
                }
                root = self._tracer.start_span("invoke_agent", attributes=known, start_time=at)
            spans.call(_spans_call(step, at), trace.set_span_in_context(root))
        if root is not None:
            root.end(at)


def _spans_call(step: Step, at: int) -> PlanningCall:
    found = tuple(dict.fromkeys(finding.code for finding in step.findings))
    return PlanningCall(
        step.tool,
        step.plan,
        step.events,
        is_error=step.outcome == "refused",
        problems=tuple(code for code in found if code in _REFUSED),
        warnings=tuple(code for code in found if code not in _REFUSED),
        actor=None if step.actor == MAIN_LANE else step.actor,
        began=at,
        ended=at,
    )


# -------- plan_svg --------
# A plan as a picture, for a README or a pull request: its tasks, and arcs for what waits for what.
#
# Arcs beside a list need no layout, and a picture of fifty tasks can still be read. The file asks
# for nothing: no script, no font, no address stands in it.


MOST_TASKS = 200
"""So many tasks are drawn; that there are more is said."""

_PLAN_SVG_WIDTH, _PLAN_SVG_ROW, _TOP, _LEFT, _PLAN_SVG_INDENT = 760, 26, 64, 96, 18
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
    height = _TOP + _PLAN_SVG_ROW * (len(rows) + bool(more)) + 14
    said = escape(f"{title}: {summary(plan)}")
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_PLAN_SVG_WIDTH}" height="{height}"',
            f'viewBox="0 0 {_PLAN_SVG_WIDTH} {height}" role="img" aria-label="{said}">',
            f"<title>{said}</title><style>{_STYLE}</style>",
            (
                f'<rect class="g" x=".5" y=".5" width="{_PLAN_SVG_WIDTH - 1}" '
                f'height="{height - 1}" rx="8"/>'
            ),
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
    width = _PLAN_SVG_WIDTH - 32
    done = width * plan.counts.resolved / (plan.counts.total or 1)
    yield f'<rect class="b" x="16" y="50" width="{width}" height="4" rx="2"/>'
    yield f'<rect class="d" x="16" y="50" width="{done:.0f}" height="4" rx="2"/>'


def _middle(place: int) -> int:
    return _TOP + _PLAN_SVG_ROW * place + _PLAN_SVG_ROW // 2


def _task(place: int, row: Line) -> Iterator[str]:
    x = _LEFT + _PLAN_SVG_INDENT * min(row.level, _LEVELS)
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
                x1, x2 = (
                    _LEFT + _PLAN_SVG_INDENT * min(levels[i], _LEVELS) - 7
                    for i in (blocker, row.id)
                )
                bend = _LEFT - out
                yield (
                    f'<path class="a" d="M{x1} {start}C{bend} {start} {bend} {end} {x2} {end}'
                    f'm-5 -3l5 3l-5 3"/>'
                )
