"""
`todoplan stats`: many recordings in numbers, for people or for programs.

    {"format": "todoplan/stats", "version": 1, "policy": "audit",
     "recordings": [{"file", "dialect", "plans", "largest", "calls", "updates", "reads", "failed",
                     "chars", "bad_lines", "done", "total", "first", "last",
                     "findings": {code: count}}],
     "totals": {"recordings", "plans", "median", "largest", "calls", "updates", "reads", "failed",
                "chars", "bad_lines"},
     "findings": [{"code", "calls", "share", "recordings", "count"}],
     "unreadable": [{"file", "reason"}],
     "skipped": [{"file", "reason"}]}

The numbers are those of `todoplan.cli.counts`; the rest is as in
`todoplan.cli.output.json_document`.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs
from rich.console import Console
from rich.text import Text

from todoplan.cli.commands.replay import Form
from todoplan.cli.counts import (
    SORTS,
    RecordingCounts,
    Totals,
    count_recording,
    finding_shares,
    numbers,
    totals,
)
from todoplan.cli.exit_codes import UNREADABLE
from todoplan.cli.output.html_page import not_read, overwrites, save_page, table
from todoplan.cli.output.json_document import line, tail
from todoplan.cli.output.plots import bars, sizes
from todoplan.cli.output.screen import Screen
from todoplan.cli.output.summaries import percent
from todoplan.cli.output.text import columns, skipped_lines
from todoplan.cli.recordings import Run, expand
from todoplan.render.cleaning import one_line
from todoplan.render.markdown import escaped
from todoplan.render.markup import element, page
from todoplan.transcripts.replay.findings import POLICIES

__all__ = ["FORMAT", "VERSION", "StatsOptions", "print_stats", "stats"]

FORMAT = "todoplan/stats"
VERSION = 1

_TITLE = "Recordings of agents in numbers"
_HEAD = ("done", "plans", "calls", "updates", "failed", "findings", "chars")


def print_stats(counted: list[RecordingCounts], run: Run, screen: Screen) -> None:
    """
    Print the tables of at least one recording, and what was skipped.

    Updates are calls that were carried out, failed the refused and senseless ones; the rest only
    looked. Chars are those of calls and answers.
    """
    screen.show(_lines(counted, totals(counted), screen.out))
    screen.show(skipped_lines(run.skipped))


def _lines(counted: list[RecordingCounts], every: Totals, console: Console) -> Iterator[Text]:
    head, *rows, last = columns(tuple(_recordings(counted, every)), console)
    yield from (Text(head, "bold"), *map(Text, rows), Text(last, "bold"), Text())
    if any(each.found for each in counted):
        head, *rows = columns(tuple(_findings(counted, every.calls)), console)
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
    How to count: the form of the output, the policy, and what to sort by ("" for not at all).

    `out` is the file that a page is written to.
    """

    form: Form = "text"
    policy: str = "audit"
    sort: str = ""
    out: Path | None = None


def stats(paths: Iterable[Path], options: StatsOptions, screen: Screen) -> int:
    """
    Count over the recordings, print, and return the exit code. Only the counts of each are kept.
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
        "format": FORMAT,
        "version": VERSION,
        "policy": policy,
        "recordings": [numbers(each) for each in counted],
        "totals": attrs.asdict(totals(counted)),
        "findings": [attrs.asdict(share) for share in finding_shares(counted)],
    }
    # Two objects as one: without the brace between them.
    return f"{line(head)[:-1]}, {tail(run)[1:]}\n"
