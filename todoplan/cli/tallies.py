"""What `stats` counts: a tally of each recording, and totals over all of them."""

from collections import Counter
from collections.abc import Iterable
from statistics import median
from typing import Any

import attrs

from todoplan.transcripts.replaying import Replay
from todoplan.transcripts.scene import Step

__all__ = ["FindingShare", "Tally", "Totals", "finding_shares", "numbers", "tally", "totals"]


@attrs.frozen
class Tally:
    """
    One recording in numbers.

    `updates` are the calls that were carried out, `reads` those that only look, `failed` the rest.
    `sizes` has the largest length of each plan. `chars` is the length of all calls and answers.
    `calls_with` counts, by code, the calls that have such a finding; `found` all findings.
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

    @property
    def failed(self) -> int:
        """
        Calls that were refused, or made no sense.
        """
        return self.calls - self.updates - self.reads

    @property
    def largest(self) -> int:
        """
        The most tasks that a plan held.
        """
        return max(self.sizes, default=0)


def tally(replay: Replay) -> Tally:
    """
    Listen to a replay to its end and count.
    """
    counted = _Counted()
    for step in replay.steps():
        counted.add(step)
    return Tally(
        file=replay.file,
        dialect=replay.dialect,
        calls=replay.calls,
        updates=counted.outcomes["applied"],
        reads=counted.outcomes["read"],
        chars=counted.chars,
        sizes=tuple(lane.largest for lane in replay.lanes),
        calls_with=counted.calls_with,
        found=_found(replay),
        bad_lines=replay.bad_lines,
    )


@attrs.define
class _Counted:
    outcomes: Counter[str] = attrs.Factory(Counter)
    calls_with: Counter[str] = attrs.Factory(Counter)
    chars: int = 0

    def add(self, step: Step) -> None:
        self.outcomes[step.outcome] += 1
        self.calls_with.update({finding.code for finding in step.findings})
        self.chars += step.chars


def _found(replay: Replay) -> Counter[str]:
    found = Counter(finding.code for finding in replay.findings)
    if replay.bad_lines:
        found["bad_line"] = replay.bad_lines
    return found


@attrs.frozen
class Totals:
    """
    All recordings together. `median` and `largest` are of the largest lengths of the plans.
    """

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


def totals(tallies: Iterable[Tally]) -> Totals:
    """
    Add the tallies up.
    """
    every = tuple(tallies)
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
    How common a finding is. `calls` may be 0: some findings belong to a recording, not to a call.
    """

    code: str
    calls: int
    share: float
    recordings: int
    count: int


def finding_shares(tallies: Iterable[Tally]) -> tuple[FindingShare, ...]:
    """
    Return a line for each code that was found, the commonest first; `share` is of all calls.
    """
    every = tuple(tallies)
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


def numbers(each: Tally) -> dict[str, Any]:
    """
    Return a tally as plain data.
    """
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
        "findings": {code: each.found[code] for code in sorted(each.found)},
    }
