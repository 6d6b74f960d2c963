"""`todoplan replay` and `todoplan stats`: the commands on recordings."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import attrs
from rich.text import Text

from todoplan.cli import UNREADABLE
from todoplan.cli.output import (
    HtmlPrinter,
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
    sample_input,
    save_page,
    sizes,
    skipped_lines,
    table,
    tail,
)
from todoplan.cli.screen import Screen, line
from todoplan.errors import MissingExtraError, ReadError
from todoplan.render.markup import element, escaped, page
from todoplan.texts import one_line
from todoplan.transcripts.replay import POLICIES, Replay


@attrs.frozen
class Output:
    """The options for the form of the output. `html` is the file of a page, - for stdout."""

    as_json: bool = False
    as_markdown: bool = False
    html: Path | None = None


class _Printer(Protocol):
    def recording(self, replay: Replay) -> None: ...

    def close(self, run: Run) -> None: ...


def replay(  # noqa: PLR0913 - an argument for each option
    screen: Screen,
    paths: list[Path] | None = None,
    *,
    output: Output = Output(),
    otlp: str | None = None,
    policy: str = "audit",
    dialect: str | None = None,
    sample: bool = False,
    together: bool = False,
) -> int:
    """Replay recordings: the timeline, the last plan and the findings."""
    if sample is bool(paths):  # both, or neither
        msg = "give recordings or directories of them, or else --sample"
        raise ReadError(msg)
    _check_output(output, otlp)
    with sample_input() if sample else nullcontext() as own:
        inputs = (own,) if own else tuple(expand(paths or ()))
        if overwrites(output.html, inputs, screen):
            return UNREADABLE
        run = Run(screen, POLICIES[policy], dialect)
        printer = _printer(output, otlp, policy, screen)
        replay_them = run.replay_together if together else run.replay_all
        replay_them(inputs, printer.recording)
        printer.close(run)
        if output.html and isinstance(printer, HtmlPrinter) and printer.written:
            save_page(printer.written, output.html, run)
        return run.exit_code


def _check_output(output: Output, otlp: str | None = None) -> None:
    forms = output.as_json + output.as_markdown + (output.html is not None)
    if otlp is not None and not otlp.startswith(("http://", "https://")):
        msg = f"{otlp!r} is no address of a collector, such as http://localhost:4318"
        raise ReadError(msg)
    if forms + (otlp is not None) > 1:
        msg = f"give one of --json, --markdown{' and' if otlp is None else ','} --html"
        raise ReadError(msg if otlp is None else f"{msg} and --otlp")


def _printer(output: Output, otlp: str | None, policy: str, screen: Screen) -> _Printer:
    if output.as_json:
        # Written while reading, because a document of many recordings would not fit in memory.
        return JsonPrinter(screen, policy)
    if output.html:
        return HtmlPrinter()
    if otlp:
        try:
            from todoplan.cli.spans import SpanPrinter  # noqa: PLC0415 - an extra of its own
        except ModuleNotFoundError as error:
            raise MissingExtraError.of(error.name, "otlp") from error
        return SpanPrinter(otlp, screen)
    return MarkdownPrinter(screen) if output.as_markdown else TextPrinter(screen)


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

    summed = ("calls", "updates", "reads", "failed", "chars", "bad_lines")
    return Totals(
        recordings=len(every),
        plans=len(sizes),
        median=median(sizes) if sizes else 0,
        largest=max(sizes, default=0),
        **{name: sum(getattr(each, name) for each in every) for name in summed},
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
# `tests/support/json_documents.py` describes the JSON output.
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


def stats(
    paths: list[Path],
    screen: Screen,
    *,
    output: Output = Output(),
    policy: str = "audit",
    sort: str = "",
) -> int:
    """Count plans, updates, findings and characters over recordings."""
    _check_output(output)
    run = Run(screen, POLICIES[policy])
    counted: list[RecordingCounts] = []
    inputs = tuple(expand(paths))
    if overwrites(output.html, inputs, screen):
        return UNREADABLE
    # Only the counts of each recording are kept in memory.
    run.replay_all(inputs, lambda replay: counted.append(count_recording(replay)))
    if sort:
        counted.sort(key=SORTS[sort])
    if output.as_json:
        screen.write(_document(counted, policy, run))
    elif counted and output.html:
        save_page(_page(counted, totals(counted), run), output.html, run)
    elif counted and output.as_markdown:
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
