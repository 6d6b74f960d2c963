"""
`todoplan stats`: many recordings in numbers, for people or for programs.

    {"format": "todoplan/stats", "version": 1, "policy": "audit",
     "recordings": [{"file", "dialect", "plans", "largest", "calls", "updates", "reads", "failed",
                     "chars", "bad_lines", "findings": {code: count}}],
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

from todoplan.cli.counts import (
    RecordingCounts,
    Totals,
    count_recording,
    finding_shares,
    numbers,
    totals,
)
from todoplan.cli.output.json_document import line, tail
from todoplan.cli.output.screen import Screen
from todoplan.cli.output.summaries import percent
from todoplan.cli.output.text import columns, skipped_lines
from todoplan.cli.recordings import Run, expand
from todoplan.render.cleaning import one_line
from todoplan.transcripts.replay.findings import POLICIES

__all__ = ["FORMAT", "VERSION", "print_stats", "stats"]

FORMAT = "todoplan/stats"
VERSION = 1

_HEAD = ("plans", "largest", "calls", "updates", "failed", "chars")


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
        plans = len(each.sizes)
        numbers = plans, each.largest, each.calls, each.updates, each.failed, each.chars
        yield one_line(each.file), *map(str, numbers)
    numbers = every.plans, every.largest, every.calls, every.updates, every.failed, every.chars
    yield f"total of {every.recordings}", *map(str, numbers)


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


def stats(paths: Iterable[Path], *, as_json: bool, policy: str, screen: Screen) -> int:
    """
    Count over the recordings, print, and return the exit code. Only the counts of each are kept.
    """
    run = Run(screen, POLICIES[policy])
    counted: list[RecordingCounts] = []
    run.replay_all(expand(paths), lambda replay: counted.append(count_recording(replay)))
    if as_json:
        screen.write(_document(counted, policy, run))
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
    return f"{line(head)[:-1]}, {tail(run)[1:]}\n"
