"""`todoplan replay` and `todoplan stats`: the commands on recordings."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, Literal, Protocol

import attrs
from rich.text import Text

from todoplan.cli import UNREADABLE
from todoplan.cli.output import (
    HtmlPrinter,
    Input,
    JsonPrinter,
    MarkdownPrinter,
    Run,
    TextPrinter,
    bars,
    columns,
    expand,
    not_read,
    overwrites,
    percent,
    sample,
    save_page,
    sizes,
    skipped_lines,
    table,
    tail,
)
from todoplan.cli.screen import Screen, line
from todoplan.errors import MissingExtraError
from todoplan.render.markup import element, escaped, page
from todoplan.texts import one_line
from todoplan.transcripts.replay import POLICIES, Replay

Form = Literal["text", "markdown", "json", "html", "otlp"]


class _Printer(Protocol):
    def recording(self, replay: Replay) -> None: ...

    def close(self, run: Run) -> None: ...


@attrs.frozen
class ReplayOptions:
    """
    The options of a replay.

    `form` is the output format; `policy` and `dialect` are names, and `None` detects the dialect.
    `together` replays all recordings as one plan. `out` is the file for an HTML page, `None` for
    stdout. `endpoint` is the address of the collector for spans.
    """

    form: Form = "text"
    policy: str = "audit"
    dialect: str | None = None
    together: bool = False
    out: Path | None = None
    endpoint: str = ""


def replay(paths: Iterable[Path], options: ReplayOptions, screen: Screen) -> int:
    """Replay the recordings, and return the exit code."""
    inputs = tuple(expand(paths))
    if overwrites(options.out, inputs, screen):
        return UNREADABLE
    return _replay(inputs, options, screen)


def replay_sample(options: ReplayOptions, screen: Screen) -> int:
    """Replay the sample recording of the package, and return the exit code."""
    with sample() as source:
        return _replay((source,), options, screen)


def _replay(inputs: Iterable[Input], options: ReplayOptions, screen: Screen) -> int:
    run = Run(screen, POLICIES[options.policy], options.dialect)
    try:
        printer = _printer(options, screen)
    except MissingExtraError as error:
        screen.complain(str(error))
        return UNREADABLE
    replay_them = run.replay_together if options.together else run.replay_all
    replay_them(inputs, printer.recording)
    printer.close(run)
    if isinstance(printer, HtmlPrinter) and printer.written:
        save_page(printer.written, options.out, run)
    return run.exit_code


def _printer(options: ReplayOptions, screen: Screen) -> _Printer:
    if options.form == "json":
        # Written while reading, because a document of many recordings would not fit in memory.
        printer = JsonPrinter(screen, options.policy)
        printer.open()
        return printer
    if options.form == "html":
        return HtmlPrinter()
    if options.form == "otlp":
        return _span_printer(options.endpoint, screen)
    return MarkdownPrinter(screen) if options.form == "markdown" else TextPrinter(screen)


def _span_printer(endpoint: str, screen: Screen) -> _Printer:
    try:
        from todoplan.cli.spans import SpanPrinter  # noqa: PLC0415 - an extra of its own
    except ModuleNotFoundError as error:
        raise MissingExtraError.of(error.name, "otlp") from error
    return SpanPrinter(endpoint, screen)


# -------- counts --------
# The numbers of `stats`: counts of each recording, and totals.


@attrs.frozen
class RecordingCounts:
    """
    The counts of one recording.

    `updates` is the number of calls that were carried out, `reads` of those that only read the
    plan, `failed` of the others. `sizes` has the largest length of each plan. `chars` is the
    length of all calls and answers. `calls_with` is the number of calls with a finding, by its
    code, and `found` the number of findings, by code. At the end, `done` of `total` tasks were
    resolved. `first` and `last` are the times of the first and the last call.
    """

    file: str
    dialect: str
    calls: int
    updates: int
    reads: int
    chars: int
    sizes: tuple[int, ...]
    calls_with: Counter[str]
    found: Counter[str]
    bad_lines: int
    done: int = 0
    total: int = 0
    first: datetime | None = None
    last: datetime | None = None

    @property
    def failed(self) -> int:
        """The number of calls that were refused or not understood."""
        return self.calls - self.updates - self.reads

    @property
    def largest(self) -> int:
        """The largest number of tasks that a plan had."""
        return max(self.sizes, default=0)


def count_recording(replay: Replay) -> RecordingCounts:
    """Consume a replay and return its counts."""
    outcomes, calls_with, chars = Counter[str](), Counter[str](), 0
    first: datetime | None = None
    last: datetime | None = None
    for step in replay.steps():
        first, last = first or step.at, step.at or last
        outcomes[step.outcome] += 1
        calls_with.update({finding.code for finding in step.findings})
        chars += step.chars
    found = Counter(finding.code for finding in replay.findings)
    if replay.bad_lines:
        found["bad_line"] = replay.bad_lines  # only the first hundred are kept as findings
    return RecordingCounts(
        file=replay.file,
        dialect=replay.dialect,
        calls=replay.calls,
        updates=outcomes["applied"],
        reads=outcomes["read"],
        chars=chars,
        sizes=tuple(size for lane in replay.lanes for size in lane.plans),
        calls_with=calls_with,
        found=found,
        bad_lines=replay.bad_lines,
        done=sum(lane.plan.counts.resolved for lane in replay.lanes),
        total=sum(lane.plan.counts.total for lane in replay.lanes),
        first=first,
        last=last,
    )


# Negative numbers sort the largest first. A recording without a time comes last.
SORTS: dict[str, Callable[[RecordingCounts], Any]] = {
    "name": lambda each: each.file,
    "calls": lambda each: -each.calls,
    "findings": lambda each: -each.found.total(),
    "open": lambda each: each.done - each.total,
    "chars": lambda each: -each.chars,
    "date": lambda each: (each.first is None, each.first or datetime.max.replace(tzinfo=UTC)),
}
"""The sort keys for recordings. The sort is stable."""


@attrs.frozen
class Totals:
    """Totals over all recordings; `median` and `largest` are over the plans' largest lengths."""

    recordings: int
    plans: int
    median: float
    largest: int
    calls: int
    updates: int
    reads: int
    failed: int
    chars: int
    bad_lines: int


def totals(counted: Iterable[RecordingCounts]) -> Totals:
    """Return the totals of the counts."""
    every = tuple(counted)
    sizes = [size for each in every for size in each.sizes]

    def added(name: str) -> int:
        return sum(getattr(each, name) for each in every)

    return Totals(
        recordings=len(every),
        plans=len(sizes),
        median=median(sizes) if sizes else 0,
        largest=max(sizes, default=0),
        calls=added("calls"),
        updates=added("updates"),
        reads=added("reads"),
        failed=added("failed"),
        chars=added("chars"),
        bad_lines=added("bad_lines"),
    )


@attrs.frozen
class FindingShare:
    """
    The frequency of a finding.

    `calls` may be 0, because some findings belong to a recording and not to a call.
    """

    code: str
    calls: int
    share: float
    recordings: int
    count: int


def finding_shares(counted: Iterable[RecordingCounts]) -> tuple[FindingShare, ...]:
    """Return the frequency of each code, the commonest first; `share` is a share of all calls."""
    every = tuple(counted)
    calls = sum(each.calls for each in every)
    count = sum((each.found for each in every), Counter[str]())
    with_it = sum((each.calls_with for each in every), Counter[str]())
    recordings = Counter(code for each in every for code in each.found)
    shares = (
        FindingShare(
            code=code,
            calls=with_it[code],
            share=round(with_it[code] / calls, 4) if calls else 0.0,
            recordings=recordings[code],
            count=count[code],
        )
        for code in count
    )
    return tuple(sorted(shares, key=lambda each: (-each.calls, -each.recordings, each.code)))


def numbers(each: RecordingCounts) -> dict[str, Any]:
    """Return the counts of a recording as plain data."""
    return {
        "file": each.file,
        "dialect": each.dialect,
        "plans": len(each.sizes),
        "largest": each.largest,
        "calls": each.calls,
        "updates": each.updates,
        "reads": each.reads,
        "failed": each.failed,
        "chars": each.chars,
        "bad_lines": each.bad_lines,
        "done": each.done,
        "total": each.total,
        "first": each.first.isoformat() if each.first else None,
        "last": each.last.isoformat() if each.last else None,
        "findings": {code: each.found[code] for code in sorted(each.found)},
    }


# -------- stats --------
# `todoplan stats`: the numbers of many recordings, for people or for programs.
# `todoplan.cli.json_schemas` describes the JSON output.
#
# The numbers are those of the section `counts`; all else is as in `todoplan.cli.output`.


STATS_FORMAT = "todoplan/stats"
STATS_VERSION = 1

_TITLE = "Recordings of agents in numbers"
_HEAD = ("done", "plans", "calls", "updates", "failed", "findings", "chars")


def print_stats(counted: list[RecordingCounts], run: Run, screen: Screen) -> None:
    """
    Print the tables of at least one recording, and the skipped files.

    "Updates" are the calls that were carried out, "failed" the refused and unreadable ones; all
    other calls only read the plan. "Chars" is the length of the calls and answers.
    """
    screen.show(_lines(counted, totals(counted), screen.width))
    screen.show(skipped_lines(run.skipped))


def _lines(counted: list[RecordingCounts], every: Totals, width: int | None) -> Iterator[Text]:
    head, *rows, last = columns(tuple(_recordings(counted, every)), width)
    yield from (Text(head, "bold"), *map(Text, rows), Text(last, "bold"), Text())
    if any(each.found for each in counted):
        head, *rows = columns(tuple(_findings(counted, every.calls)), width)
        yield from (Text(head, "bold"), *map(Text, rows), Text())
    if every.calls:
        yield _averages(every)


def _recordings(counted: list[RecordingCounts], every: Totals) -> Iterator[tuple[str, ...]]:
    yield "recording", *_HEAD
    for each in counted:
        done, found = f"{each.done}/{each.total}", each.found.total()
        numbers = len(each.sizes), each.calls, each.updates, each.failed, found, each.chars
        yield one_line(each.file), done, *map(str, numbers)
    done = f"{sum(one.done for one in counted)}/{sum(one.total for one in counted)}"
    found = sum(one.found.total() for one in counted)
    numbers = every.plans, every.calls, every.updates, every.failed, found, every.chars
    yield f"total of {every.recordings}", done, *map(str, numbers)


def _findings(counted: list[RecordingCounts], calls: int) -> Iterator[tuple[str, ...]]:
    yield "finding", "calls", "share", "recordings"
    for share in finding_shares(counted):
        of_calls = (str(share.calls), percent(share.calls, calls)) if share.calls else ("-", "-")
        yield one_line(share.code), *of_calls, str(share.recordings)


def _averages(every: Totals) -> Text:
    each = every.chars / every.calls
    return Text(
        f"Half of the plans have at most {every.median:g} tasks; "
        f"a call and its answer have {each:.0f} characters on average."
    )


def _page(counted: list[RecordingCounts], every: Totals, run: Run) -> str:
    body = [element("h1", _TITLE), table(_recordings(counted, every))]
    if any(each.found for each in counted):
        body += [element("h2", "Findings"), table(_findings(counted, every.calls))]
        found = [
            (share.code, share.calls, percent(share.calls, every.calls))
            for share in finding_shares(counted)
            if share.calls
        ]
        body += [bars("Findings, by the share of calls", found)] if found else []
    if every.plans:
        lengths = [size for each in counted for size in each.sizes]
        body.append(bars("Plans, by their largest length", sizes(lengths)))
    if every.calls:
        body.append(element("p", _averages(every).plain, class_="quiet"))
    return page(_TITLE, element("main", *body, *not_read(run)))


def _markdown(counted: list[RecordingCounts], every: Totals) -> Iterator[str]:
    for rows in (tuple(_recordings(counted, every)), tuple(_findings(counted, every.calls))):
        for number, row in enumerate(rows):
            yield f"| {' | '.join(map(escaped, row))} |"
            if number == 0:
                yield f"| --- |{' --: |' * (len(row) - 1)}"
        yield ""


@attrs.frozen
class StatsOptions:
    """
    The options of `stats`: the output format, the policy, and the sort key ("" for unsorted).

    `out` is the file for an HTML page, `None` for stdout.
    """

    form: Form = "text"
    policy: str = "audit"
    sort: str = ""
    out: Path | None = None


def stats(paths: Iterable[Path], options: StatsOptions, screen: Screen) -> int:
    """
    Count over the recordings, print the numbers, and return the exit code.

    Only the counts of each recording are kept in memory.
    """
    run = Run(screen, POLICIES[options.policy])
    counted: list[RecordingCounts] = []
    inputs = tuple(expand(paths))
    if overwrites(options.out, inputs, screen):
        return UNREADABLE
    run.replay_all(inputs, lambda replay: counted.append(count_recording(replay)))
    if options.sort:
        counted.sort(key=SORTS[options.sort])
    if options.form == "json":
        screen.write(_document(counted, options.policy, run))
    elif counted and options.form == "html":
        save_page(_page(counted, totals(counted), run), options.out, run)
    elif counted and options.form == "markdown":
        screen.write("".join(f"{row}\n" for row in _markdown(counted, totals(counted))))
    elif counted:
        print_stats(counted, run, screen)
    return run.exit_code


def _document(counted: list[RecordingCounts], policy: str, run: Run) -> str:
    head = {
        "format": STATS_FORMAT,
        "version": STATS_VERSION,
        "policy": policy,
        "recordings": [numbers(each) for each in counted],
        "totals": attrs.asdict(totals(counted)),
        "findings": [attrs.asdict(share) for share in finding_shares(counted)],
    }
    # The two objects are joined into one by leaving out the braces between them.
    return f"{line(head)[:-1]}, {tail(run)[1:]}\n"
