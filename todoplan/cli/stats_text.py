"""Statistics for people: a table of the recordings, and one of the findings."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from todoplan.cli.as_text import skipped_lines
from todoplan.cli.counting import percent
from todoplan.cli.layout import columns
from todoplan.cli.runs import Run
from todoplan.cli.screen import Screen
from todoplan.cli.tallies import Tally, Totals, finding_shares, totals
from todoplan.render.cleaning import one_line

__all__ = ["print_stats"]

_HEAD = ("plans", "largest", "calls", "updates", "failed", "chars")


def print_stats(tallies: list[Tally], run: Run, screen: Screen) -> None:
    """
    Print the tables of at least one recording, and what was skipped.

    Updates are calls that were carried out, failed the refused and senseless ones; the rest only
    looked. Chars are those of calls and answers.
    """
    screen.show(_lines(tallies, totals(tallies), screen.out))
    screen.show(skipped_lines(run.skipped))


def _lines(tallies: list[Tally], every: Totals, console: Console) -> Iterator[Text]:
    head, *rows, last = columns(tuple(_recordings(tallies, every)), console)
    yield from (Text(head, "bold"), *map(Text, rows), Text(last, "bold"), Text())
    if any(each.found for each in tallies):
        head, *rows = columns(tuple(_findings(tallies, every.calls)), console)
        yield from (Text(head, "bold"), *map(Text, rows), Text())
    if every.calls:
        yield _averages(every)


def _recordings(tallies: list[Tally], every: Totals) -> Iterator[tuple[str, ...]]:
    yield "recording", *_HEAD
    for each in tallies:
        plans = len(each.sizes)
        numbers = plans, each.largest, each.calls, each.updates, each.failed, each.chars
        yield one_line(each.file), *map(str, numbers)
    numbers = every.plans, every.largest, every.calls, every.updates, every.failed, every.chars
    yield f"total of {every.recordings}", *map(str, numbers)


def _findings(tallies: list[Tally], calls: int) -> Iterator[tuple[str, ...]]:
    yield "finding", "calls", "share", "recordings"
    for share in finding_shares(tallies):
        of_calls = (str(share.calls), percent(share.calls, calls)) if share.calls else ("-", "-")
        yield one_line(share.code), *of_calls, str(share.recordings)


def _averages(every: Totals) -> Text:
    each = every.chars / every.calls
    return Text(
        f"Half of the plans have at most {every.median:g} tasks; "
        f"a call and its answer have {each:.0f} characters on average."
    )
