"""`todoplan replay` and `todoplan stats`: the commands on recordings."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import attrs
from rich.text import Text

from todoplan.errors import MissingExtraError, ReadError
from todoplan.render.markup import element, escaped, page, table
from todoplan.render.pictures import bars
from todoplan.render.terminal import Screen, columns, line
from todoplan.texts import one_line
from todoplan.transcripts.output import (
    HtmlPrinter,
    JsonPrinter,
    MarkdownPrinter,
    Run,
    TextPrinter,
    check_page,
    expand,
    not_read,
    percent,
    sample_input,
    save_page,
    sizes,
    skipped_lines,
    tail,
)
from todoplan.transcripts.replay import POLICIES, Replay


@attrs.frozen
class Output:
    """The options for the output's format. `html` is the file of a page, or `-` for stdout."""

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
        check_page(output.html, inputs)
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
            from todoplan.transcripts.spans import SpanPrinter  # noqa: PLC0415 - an extra of its own
        except ModuleNotFoundError as error:
            raise MissingExtraError.of(error.name, "otlp") from error
        return SpanPrinter(otlp, screen)
    return MarkdownPrinter(screen) if output.as_markdown else TextPrinter(screen)


# -------- stats --------
# `todoplan stats`: the numbers of many recordings, for people or for programs.
# `tests/support/json_documents.py` describes the JSON output.


STATS_FORMAT = "todoplan/stats"
STATS_VERSION = 1

_TITLE = "Recordings of agents in numbers"
_HEAD = ("done", "plans", "calls", "updates", "failed", "findings", "chars")


@attrs.frozen
class RecordingCounts:
    """
    The counts of one recording.

    `largest` is the largest number of tasks that a plan had. Each call is counted in `updates` if
    it was carried out, in `reads` if it only read the plan, and otherwise in `failed`. `chars` is
    the length of all calls and answers. At the end, `done` of `total` tasks were resolved. `first`
    and `last` are the times of the first and the last call. `findings` has the number of findings
    by code, and `calls_with` the number of calls with a finding. `sizes` has the largest length of
    each plan.
    """

    file: str
    dialect: str
    plans: int
    largest: int
    calls: int
    updates: int
    reads: int
    failed: int
    chars: int
    bad_lines: int
    done: int
    total: int
    first: datetime | None
    last: datetime | None
    findings: Counter[str]
    calls_with: Counter[str]
    sizes: tuple[int, ...]


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
    by_code = Counter(finding.code for finding in replay.findings)
    if replay.bad_lines:
        by_code["bad_line"] = replay.bad_lines  # only the first hundred are kept as findings
    sizes = tuple(size for lane in replay.lanes for size in lane.plans)
    return RecordingCounts(
        file=replay.file,
        dialect=replay.dialect,
        plans=len(sizes),
        largest=max(sizes, default=0),
        calls=replay.calls,
        updates=outcomes["applied"],
        reads=outcomes["read"],
        failed=replay.calls - outcomes["applied"] - outcomes["read"],
        chars=chars,
        bad_lines=replay.bad_lines,
        done=sum(lane.plan.counts.resolved for lane in replay.lanes),
        total=sum(lane.plan.counts.total for lane in replay.lanes),
        first=first,
        last=last,
        findings=Counter(dict(sorted(by_code.items()))),
        calls_with=calls_with,
        sizes=sizes,
    )


# Negative numbers sort the largest first. A recording without a time comes last.
SORTS: dict[str, Callable[[RecordingCounts], Any]] = {
    "name": lambda counts: counts.file,
    "calls": lambda counts: -counts.calls,
    "findings": lambda counts: -counts.findings.total(),
    "open": lambda counts: counts.done - counts.total,
    "chars": lambda counts: -counts.chars,
    "date": lambda counts: (counts.first is None, counts.first or datetime.max.replace(tzinfo=UTC)),
}
"""The sort keys for recordings. The sort is stable."""


class Stats:
    """The counts of recordings, with their totals and the frequency of each finding."""

    def __init__(self, counted: Sequence[RecordingCounts]) -> None:
        self.counted = counted
        self.sizes = [size for counts in counted for size in counts.sizes]
        summed = ("calls", "updates", "reads", "failed", "chars", "bad_lines")
        sums = {name: sum(getattr(counts, name) for counts in counted) for name in summed}
        self.calls, self.chars = sums["calls"], sums["chars"]
        # `median` and `largest` are those of the plans' largest lengths.
        self.totals: dict[str, float] = {
            "recordings": len(counted),
            "plans": len(self.sizes),
            "median": median(self.sizes) if self.sizes else 0,
            "largest": max(self.sizes, default=0),
            **sums,
        }
        count = sum((counts.findings for counts in counted), Counter[str]())
        with_it = sum((counts.calls_with for counts in counted), Counter[str]())
        recordings = Counter(code for counts in counted for code in counts.findings)
        # The frequency of each finding. `calls` may be 0, because some findings belong to a
        # recording and not to a call.
        self.shares: list[dict[str, Any]] = [
            {
                "code": code,
                "calls": with_it[code],
                "share": round(with_it[code] / self.calls, 4) if self.calls else 0.0,
                "recordings": recordings[code],
                "count": count[code],
            }
            for code in sorted(count, key=lambda code: (-with_it[code], -recordings[code], code))
        ]

    def recording_rows(self) -> Iterator[tuple[str, ...]]:
        """
        Yield the rows of the table of recordings, from its titles to the totals.

        "Updates" are the calls that were carried out, "failed" the refused and unreadable ones; all
        other calls only read the plan. "Chars" is the length of the calls and answers.
        """
        yield "recording", *_HEAD
        rows = [
            (
                counts.plans,
                counts.calls,
                counts.updates,
                counts.failed,
                counts.findings.total(),
                counts.chars,
            )
            for counts in self.counted
        ]
        for counts, row in zip(self.counted, rows, strict=True):
            yield one_line(counts.file), f"{counts.done}/{counts.total}", *map(str, row)
        done = sum(counts.done for counts in self.counted)
        total = sum(counts.total for counts in self.counted)
        sums = map(sum, zip(*rows, strict=True))
        yield f"total of {len(self.counted)}", f"{done}/{total}", *map(str, sums)

    def finding_rows(self) -> Iterator[tuple[str, ...]]:
        """Yield the rows of the table of findings, the commonest first."""
        yield "finding", "calls", "share", "recordings"
        for share in self.shares:
            calls = share["calls"]
            of_calls = (str(calls), percent(calls, self.calls)) if calls else ("-", "-")
            yield one_line(share["code"]), *of_calls, str(share["recordings"])

    @property
    def averages(self) -> str:
        """A sentence about the size of plans and calls, or "" if there was no call."""
        if not self.calls:
            return ""
        return (
            f"Half of the plans have at most {self.totals['median']:g} tasks; a call and its answer"
            f" have {self.chars / self.calls:.0f} characters on average."
        )

    def to_text(self, width: int | None) -> Iterator[Text]:
        """Yield the lines of the tables for a terminal."""
        head, *rows, last = columns(tuple(self.recording_rows()), width)
        yield from (Text(head, "bold"), *map(Text, rows), Text(last, "bold"), Text())
        if self.shares:
            head, *rows = columns(tuple(self.finding_rows()), width)
            yield from (Text(head, "bold"), *map(Text, rows), Text())
        if self.averages:
            yield Text(self.averages)

    def to_markdown(self) -> Iterator[str]:
        """Yield the lines of the tables as Markdown."""
        for rows in (self.recording_rows(), self.finding_rows()):
            for number, row in enumerate(rows):
                yield f"| {' | '.join(map(escaped, row))} |"
                if number == 0:
                    yield f"| --- |{' --: |' * (len(row) - 1)}"
            yield ""

    def to_page(self, run: Run) -> str:
        """Return the tables and two bar charts as an HTML page."""
        body = [element("h1", _TITLE), table(self.recording_rows())]
        if self.shares:
            body += [element("h2", "Findings"), table(self.finding_rows())]
        if bar_rows := [
            (share["code"], share["calls"], percent(share["calls"], self.calls))
            for share in self.shares
            if share["calls"]
        ]:
            body.append(bars("Findings, by the share of calls", bar_rows))
        if self.sizes:
            body.append(bars("Plans, by their largest length", sizes(self.sizes)))
        if self.averages:
            body.append(element("p", self.averages, class_="quiet"))
        return page(_TITLE, element("main", *body, *not_read(run)))

    def to_json(self, policy: str, run: Run) -> str:
        """Return the JSON document."""
        without = attrs.filters.exclude("calls_with", "sizes")
        head = {
            "format": STATS_FORMAT,
            "version": STATS_VERSION,
            "policy": policy,
            "recordings": [
                {
                    **attrs.asdict(counts, filter=without),
                    "first": counts.first and counts.first.isoformat(),
                    "last": counts.last and counts.last.isoformat(),
                }
                for counts in self.counted
            ],
            "totals": self.totals,
            "findings": self.shares,
        }
        # The two objects are joined into one by leaving out the braces between them.
        return f"{line(head)[:-1]}, {tail(run)[1:]}\n"


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
    check_page(output.html, inputs)
    # Only the counts of each recording are kept in memory.
    run.replay_all(inputs, lambda replay: counted.append(count_recording(replay)))
    if sort:
        counted.sort(key=SORTS[sort])
    numbers = Stats(counted)
    if output.as_json:
        screen.write(numbers.to_json(policy, run))
    elif counted and output.html:
        save_page(numbers.to_page(run), output.html, run)
    elif counted and output.as_markdown:
        screen.write("".join(f"{row}\n" for row in numbers.to_markdown()))
    elif counted:
        screen.show(numbers.to_text(screen.width))
        screen.show(skipped_lines(run.skipped))
    return run.exit_code
