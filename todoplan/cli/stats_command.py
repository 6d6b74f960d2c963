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

The numbers are those of `todoplan.cli.tallies`; the rest is as in `todoplan.cli.as_json`.
"""

from collections.abc import Iterable
from pathlib import Path

import attrs

from todoplan.cli.as_json import line, tail
from todoplan.cli.inputs import expand
from todoplan.cli.runs import Run
from todoplan.cli.screen import Screen
from todoplan.cli.stats_text import print_stats
from todoplan.cli.tallies import Tally, finding_shares, numbers, tally, totals
from todoplan.transcripts.findings import POLICIES

__all__ = ["FORMAT", "VERSION", "stats"]

FORMAT = "todoplan/stats"
VERSION = 1


def stats(paths: Iterable[Path], *, as_json: bool, policy: str, screen: Screen) -> int:
    """
    Count over the recordings, print, and return the exit code. A tally is kept of each, no more.
    """
    run = Run(screen, POLICIES[policy])
    tallies: list[Tally] = []
    run.over(expand(paths), lambda replay: tallies.append(tally(replay)))
    if as_json:
        screen.write(_document(tallies, policy, run))
    elif tallies:
        print_stats(tallies, run, screen)
    return run.exit_code


def _document(tallies: list[Tally], policy: str, run: Run) -> str:
    head = {
        "format": FORMAT,
        "version": VERSION,
        "policy": policy,
        "recordings": [numbers(each) for each in tallies],
        "totals": attrs.asdict(totals(tallies)),
        "findings": [attrs.asdict(share) for share in finding_shares(tallies)],
    }
    return f"{line(head)[:-1]}, {tail(run)[1:]}\n"
