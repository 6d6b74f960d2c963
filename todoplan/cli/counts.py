"""What `stats` counts: each recording in numbers, and totals over all of them."""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from statistics import median
from typing import Any

import attrs

from todoplan.transcripts.replay.recording import Replay

__all__ = [
    "SORTS",
    "FindingShare",
    "RecordingCounts",
    "Totals",
    "count_recording",
    "finding_shares",
    "numbers",
    "totals",
]


@attrs.frozen
class RecordingCounts:
    """
    One recording in numbers.

    `updates` are the calls that were carried out, `reads` those that only look, `failed` the rest.
    `sizes` has the largest length of each plan. `chars` is the length of all calls and answers.
    `calls_with` counts, by code, the calls that have such a finding; `found` all findings.
    `done` of `total` tasks were resolved at the end; `first` and `last` are when calls were made.
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


def count_recording(replay: Replay) -> RecordingCounts:
    """
    Consume a replay and count.
    """
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


# Minus: the largest first. A recording without a time comes last.
SORTS: dict[str, Callable[[RecordingCounts], Any]] = {
    "name": lambda each: each.file,
    "calls": lambda each: -each.calls,
    "findings": lambda each: -each.found.total(),
    "open": lambda each: each.done - each.total,
    "chars": lambda each: -each.chars,
    "date": lambda each: (each.first is None, each.first or datetime.max.replace(tzinfo=UTC)),
}
"""What recordings may be sorted by; of equal ones the order stays."""


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


def totals(counted: Iterable[RecordingCounts]) -> Totals:
    """
    Add the counts of recordings up.
    """
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
    How common a finding is. `calls` may be 0: some findings belong to a recording, not to a call.
    """

    code: str
    calls: int
    share: float
    recordings: int
    count: int


def finding_shares(counted: Iterable[RecordingCounts]) -> tuple[FindingShare, ...]:
    """
    Return a line for each code that was found, the commonest first; `share` is of all calls.
    """
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
    """
    Return the counts of a recording as plain data.
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
        "done": each.done,
        "total": each.total,
        "first": each.first.isoformat() if each.first else None,
        "last": each.last.isoformat() if each.last else None,
        "findings": {code: each.found[code] for code in sorted(each.found)},
    }
