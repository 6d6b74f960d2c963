"""
The output formats of replays. Each section of this module is one format or a part of several:

- `text` for a terminal, `markdown` for an issue, `html_page` for a browser, `json_document` for
  programs (`tests/support/json_documents.py` has its schema), `spans` for a collector of traces.
- `rows` (a step as a row of a timeline) and `summaries` (the header and the grouped findings) are
  shared by all formats for people.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import as_file, files
from itertools import chain, count, pairwise, repeat
from pathlib import Path
from typing import Any

import attrs
from rich.text import Text

from todoplan.board.bundle import report_scripts, report_style
from todoplan.board.messages import change, snapshot
from todoplan.codec import entry_to_data, plan_to_data
from todoplan.core.events.apply import Entry
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy, Severity
from todoplan.errors import UNREADABLE, CodecError, MissingExtraError, ReadError
from todoplan.render.markup import Markup, data_block, element, escaped, page, to_html, to_markdown
from todoplan.render.outline import clip, event_phrases, summary
from todoplan.render.terminal import COLOURS, Screen, cut, hanging, line, plan_lines, room, wrapped
from todoplan.texts import one_line, plural
from todoplan.transcripts.calls import MAIN_LANE, PLANNING_TOOLS, Compaction
from todoplan.transcripts.files import Source, is_recording_name
from todoplan.transcripts.replay import (
    ConversationEvent,
    Finding,
    Replay,
    Step,
    replay_file,
    replay_together,
)

# -------- recordings --------
# Finding the recordings, replaying them one after the other, and collecting the errors.


_REPORTED_BAD_LINES = 3
# These directories hold megabytes of JSON and Markdown, but no recordings other than examples.
_NOT_WALKED = frozenset(
    {".git", ".hg", ".svn", ".tox", ".venv", "__pycache__", "node_modules", "site-packages", "venv"}
)


@attrs.frozen
class Input:
    """
    One file to read.

    `label` is its name in the output. `named` is false if the file was found in a directory that
    was named on the command line.
    """

    path: Path
    label: str
    named: bool = True

    @property
    def size(self) -> int:
        """The file's size in bytes, or 0 if it is unknown."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


def expand(paths: Iterable[Path]) -> Iterator[Input]:
    """Yield the files to read. A directory is replaced by the possible recordings below it."""
    for path in paths:
        if not path.is_dir():
            yield Input(path, str(path))
            continue
        # Symbolic links to directories are not followed, because they may form a loop.
        for name, folders, names in os.walk(path):
            folder = Path(name)
            # os.walk visits the entries of this list in this order, so the output is deterministic.
            # A virtual environment may have any name. It is recognised by its file.
            folders[:] = sorted(
                inner
                for inner in folders
                if inner not in _NOT_WALKED and not (folder / inner / "pyvenv.cfg").exists()
            )
            for file in (folder / one for one in sorted(names) if is_recording_name(one)):
                if file.is_file():
                    yield Input(file, str(file), named=False)


@contextmanager
def sample_input() -> Iterator[Input]:
    """Yield the sample recording of the package."""
    with as_file(files("todoplan.transcripts").joinpath("sample.jsonl")) as path:
        yield Input(path, "sample.jsonl")


def open_replay(
    source: Input, policy: Policy, dialect: str | None, on_bytes: Callable[[int], None]
) -> Replay:
    """
    Return the replay of a file, with all its steps still to come.

    Without `dialect`, the dialect is detected. `on_bytes` is called with the number of bytes that
    were read since its last call.

    Raises:
        ReadError: the file is not a recording; or it was found in a directory, and has no planning
            call, only lines that cannot be read.
        MissingExtraError: the file is a single JSON document, and ijson is not installed.
    """
    # Detecting the dialect reads the file a second time, which a pipe does not allow. A pipe might
    # also never end.
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


# In every known system, the name of a planning tool contains one of these words. The tools that
# start subagents and background tasks, and those that change Claude Code's mode, plan nothing.
_PLANNING = re.compile(r"todo|task|plan|checklist", re.IGNORECASE)
_NO_PLANNING = {"Task", "TaskOutput", "TaskStop", "EnterPlanMode", "ExitPlanMode", "task"}
# A tool's name in any JSON, also in JSON inside a text.
_NAMED = re.compile(
    rb'\\*"(?:name|tool|tool_name|toolName|function)\\*"\s*:\s*\\*"([\w.:/-]{1,80})\\*"'
)
_UNMISTAKABLE = re.compile(r"todo|checklist", re.IGNORECASE)
_PIECE = 1_048_576
_SHOWN_NAMES = 5


def _not_understood(replay: Replay, path: Path | None) -> str:
    """
    Return a message with the reason if no planning call of a recording could be read, else "".

    `path` is the recording's file, or `None` if it has no file.

    Without this message, the user would conclude that there are no findings. An agent without a
    plan is not an error, unless the name of one of its tools suggests planning.
    """
    if replay.calls and replay.unreadable == replay.calls:
        return f"not one of its {replay.calls} planning calls could be understood"
    alike = [t for t in replay.other_tools if _PLANNING.search(t) and t not in _NO_PLANNING]
    if alike:
        return f"nothing understood: no planning tool known here is called, but {', '.join(alike)}"
    if path and not replay.lanes and (named := planning_names(path)):
        problem = (
            f"nothing understood: it names {', '.join(named)}, but in no form that is known here"
        )
        return f"{problem} ({replay.dialect} was read)"
    return ""


def planning_names(path: Path) -> tuple[str, ...]:
    """Return the tool names, anywhere in a file's JSON, that only a planning tool would have."""
    tools: dict[str, None] = {}
    # The replay has already reported a file that cannot be read.
    with suppress(ReadError), Source(path).open() as stream:
        end = b""
        while piece := stream.read(_PIECE):
            names = (name.decode() for name in _NAMED.findall(end + piece))
            tools.update(dict.fromkeys(filter(_UNMISTAKABLE.search, names)))
            end = piece[-200:]
    return tuple(tools)[:_SHOWN_NAMES]


@attrs.frozen
class Unread:
    """A file that could not be read completely, and the reason."""

    file: str
    reason: str


@attrs.define(eq=False)
class Run:
    """
    The results for the files read so far. Errors are printed immediately.

    `unreadable` are the files with errors. `skipped` are the files of directories that are not
    recordings, which is no error.
    """

    screen: Screen
    policy: Policy
    dialect: str | None = None
    unreadable: list[Unread] = attrs.Factory(list)
    skipped: list[Unread] = attrs.Factory(list)
    has_bad_lines: bool = False
    has_errors: bool = False

    def replay_all(self, inputs: Iterable[Input], handle: Callable[[Replay], None]) -> None:
        """Replay the files in order. Pass each replay to `handle`, which consumes it."""
        # All names are needed first, because the progress bar needs the sum of the sizes.
        sources = tuple(inputs)
        sizes = [source.size for source in sources]
        with self.screen.ticker(sum(sizes)) as ticker:
            reached = 0
            for source, size in zip(sources, sizes, strict=True):
                replay = self._opened(source, ticker.add)
                if replay is not None:
                    self.consume(replay, handle, source.path)
                # A file that was abandoned counts as read, or the bar would never be full.
                reached += size
                ticker.reach(reached)
        if len(sources) == len(self.skipped):
            what = "no file there is a recording" if sources else "no file that may be one"
            self.fail("", f"nothing to read: {what}")

    def replay_together(self, inputs: Iterable[Input], handle: Callable[[Replay], None]) -> None:
        """Replay the recordings among the files as one, and call `handle` with that replay."""
        # Each file is first opened alone, so that files that are not recordings are skipped or
        # reported as usual.
        sources = [one for one in inputs if self._opened(one, lambda _: None) is not None]
        if not sources:
            self.fail("", "nothing to read: no file there is a recording")
            return
        label = ", ".join(source.label for source in sources)
        paths = [source.path for source in sources]
        replay = replay_together(label, paths, policy=self.policy, dialect=self.dialect)
        self.consume(replay, handle, paths[0])

    def _opened(self, source: Input, on_bytes: Callable[[int], None]) -> Replay | None:
        try:
            return open_replay(source, self.policy, self.dialect, on_bytes)
        except MissingExtraError as error:
            # The file is reported and not skipped, because it may be a recording.
            self.fail(source.label, f"{source.label}: {error}")
        except ReadError as error:
            if source.named:
                self.fail(source.label, str(error))
            else:
                self.skipped.append(Unread(source.label, str(error)))
        return None

    def fail(self, file: str, reason: str) -> None:
        """Record that a file could not be read, and print the reason."""
        self.unreadable.append(Unread(file, reason))
        self.screen.complain(reason)

    def consume(
        self, replay: Replay, handle: Callable[[Replay], None], path: Path | None = None
    ) -> None:
        """
        Pass a replay to `handle`, which consumes it, and report what could not be read.

        `path` is the recording's file, if it has one.
        """
        handle(replay)
        if reason := _not_understood(replay, path):
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
        """2 if an input could not be read, else 1 if a finding has severity error, else 0."""
        return UNREADABLE if self.unreadable or self.has_bad_lines else int(self.has_errors)


# -------- rows --------
# A step as one row of a timeline: time, tool, the plan as a strip of marks, and the changes.


MARKS = {
    Status.PENDING: ".",
    Status.IN_PROGRESS: "~",
    Status.COMPLETED: "x",
    Status.CANCELLED: "-",
    Status.FAILED: "!",
}
"""The mark of a task in the strip, by status."""

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
    A row of a timeline. All texts are cleaned and have one line.

    `strip` has a mark for each task; a plan of more than ten tasks has ten marks, in proportion.
    `done` is text such as "2/5". `mark` is "!" for a warning and "!!" for an error. `phrases`
    describe the changes; there is at least one. `before` describes events of the conversation since
    the row above, "" if there are none.
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
    """Return the row of a step."""
    plan, counts = step.plan, step.plan.counts
    if len(plan) <= _STRIP:
        strip = "".join(MARKS[task.status] for task in plan)
    else:
        # Rounded down, so that a strip is full only if all tasks are closed.
        resolved = counts.resolved * _STRIP // counts.total
        failed = counts.closed * _STRIP // counts.total - resolved
        active = "~" if counts.in_progress else ""
        strip = ("x" * resolved + "!" * failed + active).ljust(_STRIP, ".")
    names = dict.fromkeys(name for name in (step.lane, step.actor) if name != MAIN_LANE)
    who = "".join(f"{clip(one_line(name), _NAME)}: " for name in names)
    first, *more = event_phrases(step.events, plan, step.was) or (_NOTHING[step.outcome],)
    between = list(map(event_kind, step.before))
    spoke = between.count("person")
    before = ["the conversation was summarised"] if "compaction" in between else []
    if spoke:
        before.append(f"{spoke} messages of the person" if spoke > 1 else "a message of the person")
    return Row(
        line=step.line,
        day=f"{step.at:%Y-%m-%d}" if step.at else "",
        time=f"{step.at:%H:%M:%S}" if step.at else "",
        tool=clip(one_line(step.tool), _NAME),
        strip=strip,
        done=f"{counts.completed}/{counts.total}",
        mark=mark(step.findings),
        phrases=(who + first, *more),
        before=", ".join(before),
    )


def event_kind(event: ConversationEvent) -> str:
    """Return the kind of an event of the conversation: "compaction" or "person"."""
    return "compaction" if isinstance(event, Compaction) else "person"


def seconds_spent(plan: Plan) -> dict[str, float]:
    """Return the seconds from start to completion by task id, for tasks with both times."""
    return {
        task.id: (task.completed_at - task.started_at).total_seconds()
        for task in plan
        if task.started_at and task.completed_at
    }


def mark(findings: tuple[Finding, ...]) -> str:
    """Return "!!" if a finding is an error, "!" if all are warnings, and "" without findings."""
    if any(finding.severity is Severity.ERROR for finding in findings):
        return "!!"
    return "!" if findings else ""


# -------- summaries --------
# The summary of a recording: its header, and its findings grouped by code.


STATUS_MARKS = ", ".join(f"{mark} {status.replace('_', ' ')}" for status, mark in MARKS.items())
"""The legend of the task marks."""


def percent(part: int, whole: int) -> str:
    """Return a share as text, such as "12.5 %", or "-" if `whole` is 0."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


_SHOWN = 5
_SUMMARIES_NAME = 40


@attrs.frozen
class Group:
    """The findings with one code: their number, their mark, and the first of them."""

    code: str
    mark: str
    count: int
    shown: tuple[Finding, ...]

    @property
    def rest(self) -> str:
        """A text about the findings that are not shown, or "" if all are shown."""
        more = self.count - len(self.shown)
        return f"and {more} more; see --json" if more else ""


def groups(findings: Iterable[Finding], bad_lines: int) -> tuple[Group, ...]:
    """
    Return the findings in groups, one for each code: errors first, otherwise in the order of the
    first finding.

    `bad_lines` is the number of lines that could not be read. Not all of them are findings.
    """
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    made = (
        Group(code, mark(same), bad_lines if code == "bad_line" else len(same), same[:_SHOWN])
        for code, same in ((code, tuple(listed)) for code, listed in by_code.items())
    )
    # The sort is stable, so groups of one severity stay in the order of the recording.
    return tuple(sorted(made, key=lambda group: group.mark != "!!"))


def recording_summary(grouped: tuple[Group, ...]) -> str:
    """Return the numbers of errors and warnings, such as "1 error, 3 warnings"."""
    errors = sum(group.count for group in grouped if group.mark == "!!")
    warnings = sum(group.count for group in grouped) - errors
    counts = plural(errors, "error"), plural(warnings, "warning")
    return ", ".join(text for text in counts if not text.startswith("0 "))


def where(finding: Finding) -> str:
    """Return a text such as "line 12", with the lane's name unless it is the main lane."""
    lane = one_line(finding.lane)
    aside = f" ({lane})" if lane and lane != MAIN_LANE else ""
    return f"line {finding.line}{aside}"


def headline(replay: Replay) -> str:
    """Return a line such as "claude-code, 9 planning calls (1 refused), 2 plans"."""
    aside = f" ({replay.refused} refused)" if replay.refused else ""
    plans = sum(len(lane.plans) for lane in replay.lanes)
    calls, plans_text = plural(replay.calls, "planning call"), plural(plans, "plan")
    return f"{replay.dialect}, {calls}{aside}, {plans_text}"


def caveat(replay: Replay) -> str:
    """Return a note if no known planning tool was called; otherwise return ""."""
    if replay.lanes:
        return ""
    names = (clip(one_line(name), _SUMMARIES_NAME) for name in replay.other_tools)
    called = ", ".join(filter(None, names))
    if called:
        return f"No call of a known planning tool; the first tools called are {called}"
    known = ", ".join(PLANNING_TOOLS)
    return f"No tool call was found; a planning tool is one of {known}"


# -------- text --------
# A replay for a terminal: header, timeline, the last plans, findings.
#
# Lines are cut or wrapped to the width of the terminal. A file or a pipe gets the full lines.


_SKIPPED = 10
_LEGEND = f"{STATUS_MARKS}; findings: ! warning, !! error"


MARK_COLOURS = {"!!": "bold red", "!": "yellow", "": ""}
"""The colours of the marks of findings."""

_INDENT = 2
_GAP = 2
_TEXT_STRIP = {mark: COLOURS[status] for status, mark in MARKS.items()}


_TITLES = ("line", "time", "tool", "plan", "done", "")


def timeline(rows: tuple[Row, ...], width: int | None) -> Iterator[Text]:
    """
    Yield the lines of a timeline: the titles, the legend of the marks, and the rows.

    A date is inserted where a new day begins. `rows` must not be empty. `width` is the number of
    columns, or `None` for no limit.
    """
    columns = zip(*map(_cells, rows), strict=True)
    widest = [max(cell.cell_len for cell in column) for column in columns]
    # A column that is empty in every row has no title.
    widths = [size and max(size, len(title)) for size, title in zip(widest, _TITLES, strict=True)]
    titles = (title.ljust(size + _GAP) for title, size in zip(_TITLES, widths, strict=True) if size)
    yield Text(f"{' ' * _INDENT}{''.join(titles)}what changed", "bold")
    yield from hanging(Text("  "), wrapped(_LEGEND, room(_INDENT, width)))
    day = ""
    for row in rows:
        if row.day != day:
            day = row.day
            yield Text(" " * _INDENT + day, "dim")
        if row.before:
            yield Text(" " * _INDENT + f"-- {row.before}", "dim")
        head = Text(" " * _INDENT)
        for title, cell, size in zip(_TITLES, _cells(row), widths, strict=True):
            if size:
                cell.align("right" if title in {"line", "done"} else "left", size)
                head.append_text(cell).append(" " * _GAP)
        left = room(head.cell_len, width)
        yield from hanging(head, (cut(phrase, left) for phrase in row.phrases))


def _cells(row: Row) -> tuple[Text, ...]:
    return (
        Text(str(row.line), "dim"),
        Text(row.time, "dim"),
        Text(row.tool),
        Text.assemble(*((mark, _TEXT_STRIP[mark]) for mark in row.strip)),
        Text(row.done),
        Text(row.mark, MARK_COLOURS[row.mark]),
    )


@attrs.frozen
class TextPrinter:
    """Prints each replay as text when it is complete. Until then, only its rows are in memory."""

    screen: Screen

    def recording(self, replay: Replay) -> None:
        """Consume the replay and print it."""
        rows = tuple(map(row_of, replay.steps()))
        self.screen.show(self._lines(replay, rows, self.screen.width))

    @staticmethod
    def _lines(replay: Replay, rows: tuple[Row, ...], width: int | None) -> Iterator[Text | str]:
        yield Text(one_line(replay.file), "bold")
        yield Text(headline(replay), "dim")
        yield Text()
        if rows:
            yield from timeline(rows, width)
            yield Text()
        for lane in replay.lanes:
            name = f" of {one_line(lane.name)}" if len(replay.lanes) > 1 else ""
            yield Text(f"Plan at the end{name}", "bold")
            yield from plan_lines(lane.plan, width)
            if spent := seconds_spent(lane.plan):
                shown = ", ".join(f"#{task_id} {_duration(spent[task_id])}" for task_id in spent)
                yield from hanging(Text("  took "), wrapped(shown, room(7, width)))
            yield Text()
        grouped = groups(replay.findings, replay.bad_lines)
        if note := caveat(replay):
            yield from hanging(Text(), wrapped(note, room(0, width)))
        elif not grouped:
            yield Text("No findings")
        if grouped:
            yield Text(f"Findings: {recording_summary(grouped)}", "bold")
        for group in grouped:
            mark = f"  {group.mark:2} ", MARK_COLOURS[group.mark]
            yield Text.assemble(mark, (one_line(group.code), "bold"), (f" {group.count}", "dim"))
            for finding in group.shown:
                head = Text(" " * 5).append(where(finding), "dim").append("  ")
                yield from hanging(head, wrapped(finding.text, room(head.cell_len, width)))
            if group.rest:
                yield Text(f"     {group.rest}", "dim")
        yield Text()

    def close(self, run: Run) -> None:
        """Print the names of the files that are not recordings."""
        self.screen.show(skipped_lines(run.skipped))


def _duration(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def skipped_lines(skipped: list[Unread]) -> Iterator[Text]:
    """Yield the number of skipped files, and the names of the first ones."""
    if skipped:
        yield Text(f"Skipped {plural(len(skipped), 'file')} without a recording")
    for unread in skipped[:_SKIPPED]:
        # The reason contains the file's name, which is printed already.
        why = unread.reason.replace(unread.file, "").partition(" (")[0].strip(" :")
        yield Text(f"  {one_line(unread.file)}: {one_line(why)}", "dim")
    if len(skipped) > _SKIPPED:
        yield Text(f"  and {len(skipped) - _SKIPPED} more; see --json", "dim")


_STEPS = (1, 2, 5, 10, 20, 50, 100)


def sizes(largest: Sequence[int]) -> list[tuple[str, float, str]]:
    """
    Return the bars of a chart of plan sizes, as `(label, number of plans, number as text)`.

    `largest` has the largest number of tasks of each plan.
    """
    plans = Counter(max(0, sum(size >= step for step in _STEPS) - 1) for size in largest)
    names = ["at most 1 task"]
    names += [f"{a} to {b - 1} tasks" for a, b in pairwise(_STEPS[1:])]
    names.append(f"{_STEPS[-1]} or more tasks")
    last = max(plans, default=-1)
    return [(names[place], plans[place], str(plans[place])) for place in range(last + 1)]


# -------- life --------
# The history of a plan for the slider of a report: the first state and the changes of each step.
#
# The page's script applies the steps to the first state, as the board does with its updates.
# Without scripts, the page has no slider, but everything else.


@attrs.define
class Life:
    """
    The history of one plan, step by step, for the slider of the HTML page. `name` identifies the
    plan on the page.
    """

    name: str
    _plan: Plan = attrs.Factory(Plan)
    _steps: list[dict[str, Any]] = attrs.Factory(list)
    _is_whole: bool = True

    def add(self, plan: Plan, said: str, findings: Iterable[Finding], item: str) -> None:
        """
        Add a step and the plan after it.

        `said` describes the step. `item` is the id of its HTML element.
        """
        shown = [
            {"code": one.code, "text": one.text, "error": one.severity is Severity.ERROR}
            for one in findings
        ]
        try:
            made = change(self._plan, plan, ())
        except CodecError:
            # A saved plan has only JSON values, but the plan of a recording may have others.
            self._is_whole = False
            return
        self._plan = plan
        self._steps.append({"change": made, "said": said, "findings": shown, "item": item})

    def markup(self) -> Markup:
        """Return the slider element with its data, or empty markup if there are no steps."""
        if not self._steps or not self._is_whole:
            return Markup("")
        start = snapshot(self.name, Plan(), ())
        data = {"name": self.name, "start": start, "steps": self._steps}
        place = element("div", class_="life", data_of=f"{self.name}-data", hidden="hidden")
        return Markup(f"{place}\n{data_block(f'{self.name}-data', data)}")


# -------- markdown --------
# A replay as Markdown for an issue: a table, task lists, findings.


_HEAD = (
    "| line | time | tool | plan | done | | what changed |",
    "| --: | --- | --- | --- | --: | --- | --- |",
)


@attrs.frozen
class MarkdownPrinter:
    """Prints each replay as Markdown when it is complete."""

    screen: Screen

    def recording(self, replay: Replay) -> None:
        """Consume the replay and print it."""
        self._write(*self._lines(replay, tuple(map(row_of, replay.steps()))))

    @staticmethod
    def _lines(replay: Replay, rows: tuple[Row, ...]) -> Iterator[str]:
        yield from (f"## {escaped(replay.file)}", "", headline(replay), "")
        if rows:
            yield from _HEAD
            for row in rows:
                if row.before:
                    yield f"| | | | | | | *{row.before}* |"
                strip = f"`{row.strip}`" if row.strip else ""  # "~~" would strike text through
                words = escaped("; ".join(row.phrases))
                cells = row.line, row.time, escaped(row.tool), strip, row.done, row.mark, words
                yield f"| {' | '.join(map(str, cells))} |"
            yield ""
        for lane in replay.lanes:
            name = f" of {escaped(lane.name)}" if len(replay.lanes) > 1 else ""
            yield from (f"### Plan at the end{name}", "", to_markdown(lane.plan), "")
        grouped = groups(replay.findings, replay.bad_lines)
        notes = filter(None, (escaped(caveat(replay)), recording_summary(grouped)))
        yield from ("### Findings", "", "\n\n".join(notes) or "none", "")
        for group in grouped:
            severity = "error" if group.mark == "!!" else "warning"
            yield from (f"**{escaped(group.code)}** ({severity}, {group.count})", "")
            for finding in group.shown:
                yield f"- {escaped(where(finding))}: {escaped(finding.text)}"
            if group.rest:
                yield f"- {group.rest}"
            yield ""

    def _write(self, *lines: str) -> None:
        self.screen.write("".join(f"{line}\n" for line in lines))

    def close(self, run: Run) -> None:
        """Print the names of the files that are not recordings."""
        if run.skipped:
            self._write("## Skipped, no recording", "")
            self._write(*(f"- {escaped(unread.file)}" for unread in run.skipped))


# -------- json_document --------
# Replays as one JSON document for programs, written while the recordings are read.
# `tests/support/json_documents.py` has its JSON Schema, with the keys in the order of the document.
#
# - `plan` is a plan document and `events` have the form of journal entries, both as
#   `todoplan.codec` writes them.
# - `counts` are the numbers of tasks by status after the step.
# - `chars` is the length of the call and the answer.
# - `before` lists the compactions of the conversation and the messages of the person since the
#   previous step.
# - `sizes` has the largest length of each plan of the lane.
# - `seconds` is the time from start to completion, by task id.
# - `detail` is the full text of a value that the text of a finding shortens.
# - `bad_lines` counts the lines that could not be read. The first 100 of a recording are also
#   findings (`bad_line`).
# - `other_tools` names the first tools that were called if no known planning tool was.
#
# The text is ASCII. The version changes when a key is removed or changes its meaning; new keys may
# be added at any time.


REPLAY_FORMAT = "todoplan/replay"
REPLAY_VERSION = 1


@attrs.define
class JsonPrinter:
    """
    Writes the JSON document in pieces: one for each call of `recording`, and the end with `close`.

    No step is kept in memory.
    """

    screen: Screen
    policy: str
    _commas: Iterator[str] = attrs.field(factory=lambda: chain(("",), repeat(",")))

    def __attrs_post_init__(self) -> None:
        """Write the part of the document before the recordings."""
        head = line({"format": REPLAY_FORMAT, "version": REPLAY_VERSION, "policy": self.policy})
        # The closing brace is left out, because the recordings are part of this object.
        self.screen.write(f'{head[:-1]}, "recordings": [')

    def recording(self, replay: Replay) -> None:
        """Consume the replay and write it."""
        head = line({"file": replay.file, "dialect": replay.dialect})
        self.screen.write(f'{next(self._commas)}\n{head[:-1]}, "steps": [')
        for comma, step in zip(chain(("",), repeat(",")), replay.steps(), strict=False):
            data = {
                "line": step.line,
                "at": step.at.isoformat() if step.at else None,
                "lane": step.lane,
                "actor": step.actor,
                "tool": step.tool,
                "outcome": step.outcome,
                "events": entry_to_data(Entry(step.plan.revision, step.events))["events"],
                "counts": step.plan.counts._asdict(),
                "chars": step.chars,
                "before": [{"what": event_kind(one), "line": one.line} for one in step.before],
            }
            self.screen.write(f"{comma}\n {line(data)}")
        rest = line(
            {
                "lanes": [
                    {
                        "name": lane.name,
                        "calls": lane.calls,
                        "refused": lane.refused,
                        "largest": lane.largest,
                        "plan": plan_to_data(lane.plan),
                        "sizes": lane.plans,
                        "seconds": seconds_spent(lane.plan),
                    }
                    for lane in replay.lanes
                ],
                "findings": [attrs.asdict(finding) for finding in replay.findings],
                "bad_lines": replay.bad_lines,
                "other_tools": replay.other_tools,
            }
        )
        self.screen.write(f"],\n {rest[1:]}")

    def close(self, run: Run) -> None:
        """Write the part of the document after the recordings."""
        self.screen.write(f"\n], {tail(run)[1:]}\n")


def tail(run: Run) -> str:
    """Return the JSON object with the unreadable and the skipped files."""
    return line(
        {
            "unreadable": [attrs.asdict(unread) for unread in run.unreadable],
            "skipped": [attrs.asdict(unread) for unread in run.skipped],
        }
    )


# -------- html_page --------
# Replays as one HTML page: the last state of each plan, the timeline, and findings next to their
# calls.
#
# The page loads no other files, and text of a recording is never treated as markup. The only script
# is for the slider through each plan's history. Without scripts, everything else works.


_TITLE = "Plans of agents, replayed"


def check_page(out: Path | None, inputs: Iterable[Input]) -> None:
    """
    Raise an error if writing the page to `out` would overwrite one of the recordings.

    Raises:
        ReadError: `out` is one of the inputs.
    """
    for source in inputs if out else ():
        with suppress(OSError, ValueError):
            if out and source.path.samefile(out):
                msg = f"{out} is one of the recordings: give the page a name of its own"
                raise ReadError(msg)


def save_page(page: str, out: Path, run: Run, what: str = "page") -> None:
    """
    Write a page to the file `out`, or to stdout if `out` is `-`.

    Errors are reported to `run`. `what` names the kind of output in messages.
    """
    if str(out) == "-":
        run.screen.write(page)
        return
    try:
        out.write_text(page, encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: the name has invalid characters
        run.fail(str(out), f"cannot write {out}: {getattr(error, 'strerror', None) or error}")
    else:
        run.screen.complain(f"the {what} is written to {out}")


@attrs.define
class HtmlPrinter:
    """
    Collects the parts of the page. After `close`, `written` is the whole page.

    With `by_revision`, a plan's own journal is replayed, and the line of each step is the revision
    of its entry. The page then shows revisions instead of line numbers.
    """

    by_revision: bool = False
    _parts: list[Markup] = attrs.Factory(list)
    _files: list[str] = attrs.Factory(list)
    _lives: Iterator[int] = attrs.field(factory=lambda: count(1), init=False)
    _calls: Iterator[int] = attrs.field(factory=lambda: count(1), init=False)
    written: str = ""

    def recording(self, replay: Replay) -> None:
        """Consume the replay and write its part of the page."""
        shown: list[Finding] = []
        rows: list[Markup] = []
        lives: dict[str, Life] = {}
        day = ""
        for step in replay.steps():
            row = row_of(step)
            if row.day not in {"", day}:
                rows.append(element("li", element("h3", row.day)))
            day = row.day
            if row.before:
                rows.append(element("li", row.before, class_="between"))
            item = f"call-{next(self._calls)}"
            place = f"{'revision' if self.by_revision else 'line'} {row.line}"
            rows.append(_call(row, step.findings, item, place))
            if step.lane not in lives:
                lives[step.lane] = Life(f"life-{next(self._lives)}")
            said = f"{row.tool}: {'; '.join(row.phrases)}"
            lives[step.lane].add(step.plan, said, step.findings, item)
            shown += step.findings
        self._files.append(replay.file)
        # Compared by identity, because two calls may have findings with the same text.
        of_calls = set(map(id, shown))
        apart = [
            _finding(finding, "" if self.by_revision else f"{where(finding)}: ")
            for finding in replay.findings
            if id(finding) not in of_calls
        ]
        about = plural(replay.calls, "change") if self.by_revision else headline(replay)
        numbers = recording_summary(groups(replay.findings, replay.bad_lines))
        parts = [
            element("h1", replay.file),
            element("p", about, class_="quiet"),
            element("p", caveat(replay) or f"Findings: {numbers or 'none'}"),
        ]
        for lane in replay.lanes:
            name = f" of {lane.name}" if len(replay.lanes) > 1 else ""
            parts.append(element("h2", f"Plan at the end{name}"))
            if lane.plan.counts.total:
                done, total = str(lane.plan.counts.resolved), str(lane.plan.counts.total)
                progress = summary(lane.plan)
                parts.append(element("p", progress, class_="quiet"))
                parts.append(element("progress", max=total, value=done, aria_label=progress))
            parts.append(Markup(to_html(lane.plan)))
            parts.append(lives[lane.name].markup() if lane.name in lives else Markup(""))
        if rows:
            parts.append(element("h2", "Timeline"))
            parts.append(element("p", STATUS_MARKS, class_="quiet"))
            parts.append(element("ol", *rows))
        if apart:
            parts.append(element("h2", "Findings about the whole"))
            parts.append(element("ul", *apart))
        self._parts.append(element("section", *parts))

    def close(self, run: Run) -> None:
        """
        Assemble the page, with the unreadable and the skipped files at its end.

        There is no page if there was no recording.
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
    """Yield the lists of the unreadable files and of the files that are not recordings."""
    if run.unreadable:
        yield element("h2", "Could not be read")
        yield element("ul", *(element("li", unread.reason) for unread in run.unreadable))
    if run.skipped:
        yield element("h2", f"Skipped, {plural(len(run.skipped), 'file')} without a recording")
        names = (element("li", unread.file) for unread in run.skipped)
        yield element("ul", *names, class_="quiet")


def _call(row: Row, findings: Sequence[Finding], item: str, place: str) -> Markup:
    cells = {"line": place, "time": row.time, "tool": row.tool, "strip": row.strip}
    cells["done"] = row.done
    head = [element("span", text, class_=kind) for kind, text in cells.items() if text]
    what = (element("p", phrase) for phrase in row.phrases)
    call = element("div", element("div", *head, class_="where"), *what)
    beside = (element("ul", *map(_finding, findings)),) if findings else ()
    return element("li", call, *beside, class_="call", id=item)


def _finding(finding: Finding, before: str = "") -> Markup:
    # The severity is given in words too, because some readers cannot tell the colours apart.
    error = finding.severity is Severity.ERROR
    name = element("b", f"{finding.code} (error)" if error else finding.code)
    text = f"{before}{finding.text}"
    return element("li", name, text, class_="finding error" if error else "finding")
