"""
A whole recording, read and replayed: its steps stream by, and what is counted of them stays.

Memory holds the plans and one step.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import attrs

from todoplan.core.plan.questions import open_tasks
from todoplan.core.rules.policy import Policy, Severity
from todoplan.dialogue.replies.views import one_line
from todoplan.errors import ReadError
from todoplan.transcripts.calls import (
    BadLine,
    Item,
    OtherCall,
    PersonSpoke,
    PlanningCall,
    RecordedEntry,
    ShownPlan,
)
from todoplan.transcripts.reading import detect, read
from todoplan.transcripts.replay.call_replay import CallReplay, Mark, Step
from todoplan.transcripts.replay.entries import entry_step
from todoplan.transcripts.replay.findings import AUDIT, Finding, recording_finding
from todoplan.transcripts.replay.following import Follower
from todoplan.transcripts.replay.translation import Lane

__all__ = ["KEPT_BAD_LINES", "Fold", "Replay", "replay_file"]

KEPT_BAD_LINES = 100
"""So many lines that could not be read are kept of a recording; all of them are counted."""

_CLIP = 120
_KEPT_MARKS = 100


class Fold:
    """
    The replay of one recording: feed it items, then close it.

    `others` names the first tools that are no planning tools known here, until a planning call.
    """

    def __init__(self, policy: Policy = AUDIT) -> None:
        self.policy = policy
        self.lanes: dict[str, Lane] = {}
        self.others: dict[str, None] = {}
        # The latest ones: a recording of a million messages may have no planning call.
        self._marks: deque[Mark] = deque(maxlen=_KEPT_MARKS)

    def steps(self, items: Iterable[Item]) -> Iterator[Step | Finding]:
        """
        Yield a step for each call, and a finding for each line that could not be read.

        Findings about how the lanes ended come last.
        """
        for item in items:
            if isinstance(item, PlanningCall):
                yield self.feed(item)
            elif isinstance(item, RecordedEntry):
                yield self._entry(item)
            elif isinstance(item, BadLine):
                code = "unfinished_line" if item.unfinished else "bad_line"
                yield recording_finding(code, item.line, "", reason=item.reason)
            elif isinstance(item, OtherCall):
                self.others[item.tool] = None
            elif isinstance(item, ShownPlan):
                yield from self._shown(item)
            else:
                self._mark(item)
        for lane in self.lanes.values():
            if left := open_tasks(lane.plan):
                yield recording_finding(
                    "ended_unfinished",
                    lane.last_line,
                    lane.name,
                    *(task.id for task in left),
                    first=one_line(left[0].subject, _CLIP),
                    open=len(left),
                    total=len(lane.plan),
                )

    def _entry(self, item: RecordedEntry) -> Step:
        lane = self.lanes.setdefault(item.lane, Lane(item.lane))
        lane.calls += 1
        lane.last_line = item.line
        step = entry_step(lane, item, self.policy, tuple(self._marks))
        lane.unreadable += step.outcome == "unreadable"
        lane.measure()
        return step

    def _mark(self, mark: Mark) -> None:
        self._marks.append(mark)
        if isinstance(mark, PersonSpoke):
            for lane in self.lanes.values():
                # An agent that waits for a person is not silent.
                lane.last_at = mark.at

    def _shown(self, item: ShownPlan) -> Iterator[Finding]:
        """
        Follow a plan that is shown beside any call, once the lane has one.
        """
        lane = self.lanes.get(item.lane)
        if lane is not None:
            # A state at the end of a document stands on no line of its own.
            line = item.line or lane.last_line
            shown = PlanningCall("", {}, line, item.lane, at=item.at)
            findings: list[Finding] = []
            Follower(lane, shown, findings, lane.shown_between).read(item.result)
            lane.measure()
            yield from findings

    def feed(self, call: PlanningCall) -> Step:
        """
        Replay one call on its lane.
        """
        lane = self.lanes.setdefault(call.lane, Lane(call.lane))
        lane.calls += 1
        lane.last_line = call.line
        marks = tuple(self._marks)
        self._marks.clear()
        step = CallReplay(lane, call, self.policy, before=marks).carry_out()
        lane.plan = step.plan
        lane.refused += step.outcome == "refused"
        lane.unreadable += step.outcome == "unreadable"
        lane.measure()
        return step


@attrs.define(eq=False)
class Replay:
    """
    A replay, to be consumed once: iterate `steps()`, then look at the rest.

    `findings` has those of the steps too. `trouble` says why the reading ended early, if it did.
    """

    file: str
    dialect: str
    fold: Fold
    _coming: Iterator[Step | Finding]
    findings: list[Finding] = attrs.Factory(list)
    bad_lines: int = 0
    trouble: str = ""
    _ahead: Step | None = None

    def steps(self) -> Iterator[Step]:
        """
        Give the steps one by one; none of them is kept.
        """
        while (step := self._next()) is not None:
            self.findings += step.findings
            yield step

    def _next(self) -> Step | None:
        """
        Read on to the next step, and keep the findings before it.
        """
        if self._ahead is not None:
            step, self._ahead = self._ahead, None
            return step
        try:
            for one in self._coming:
                if isinstance(one, Step):
                    return one
                # A file that is no text has a bad line for each of its lines: not all are kept.
                self.bad_lines += one.code == "bad_line"
                if one.code != "bad_line" or self.bad_lines <= KEPT_BAD_LINES:
                    self.findings.append(one)
        except ReadError as error:
            # The disk failed on the way: what was read until then is worth showing.
            self.trouble = str(error)
        return None

    def is_unreadable(self) -> bool:
        """
        Look for the first step; true if there is none, but lines that could not be read.
        """
        self._ahead = self._next()
        return self._ahead is None and self.bad_lines > 0

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """
        The plans of the recording, as far as it was read.
        """
        return tuple(self.fold.lanes.values())

    @property
    def calls(self) -> int:
        """
        How many planning calls were replayed.
        """
        return sum(lane.calls for lane in self.lanes)

    @property
    def refused(self) -> int:
        """
        How many of them were refused when they were made.
        """
        return sum(lane.refused for lane in self.lanes)

    @property
    def unreadable(self) -> int:
        """
        How many of them had arguments that were not understood.
        """
        return sum(lane.unreadable for lane in self.lanes)

    @property
    def other_tools(self) -> tuple[str, ...]:
        """
        The first tools that were called, where none is a planning tool known here.
        """
        return () if self.fold.lanes else tuple(self.fold.others)

    @property
    def has_errors(self) -> bool:
        """
        True if a finding has severity error.
        """
        return any(finding.severity is Severity.ERROR for finding in self.findings)


def replay_file(
    path: str | Path,
    *,
    policy: Policy = AUDIT,
    dialect: str | None = None,
    on_bytes: Callable[[int], None] | None = None,
) -> Replay:
    """
    Return the replay of a file under a policy, not yet begun; its dialect is detected unless given.

    Raises:
        ReadError: the file is no recording.
        MissingExtraError: it is one JSON document, and ijson is not installed.
    """
    dialect = dialect or detect(path)
    fold = Fold(policy)
    return Replay(str(path), dialect, fold, fold.steps(read(path, dialect, on_bytes=on_bytes)))
