"""A whole recording, read and folded: its steps stream by, and what is counted of them stays."""

from collections.abc import Callable, Iterator
from pathlib import Path

import attrs

from todoplan.core.rules.policy import Policy, Severity
from todoplan.errors import ReadError
from todoplan.transcripts.detect import detect
from todoplan.transcripts.findings import AUDIT, Finding
from todoplan.transcripts.folding import Fold
from todoplan.transcripts.lanes import Lane
from todoplan.transcripts.reading import read
from todoplan.transcripts.scene import Step

__all__ = ["KEPT_BAD_LINES", "Replay", "replay_file"]

KEPT_BAD_LINES = 100
"""So many lines that could not be read are kept of a recording; all of them are counted."""


@attrs.define(eq=False)
class Replay:
    """
    A replay, to be listened to once: iterate `steps()`, then look at the rest.

    `findings` has those of the steps too. `trouble` says why the reading ended early, if it did.
    """

    file: str
    dialect: str
    fold: Fold
    _told: Iterator[Step | Finding]
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
        step, self._ahead = self._ahead, None
        return step or self._read()

    def _read(self) -> Step | None:
        """
        Read on to the next step, and hear what is said between.
        """
        try:
            for said in self._told:
                if isinstance(said, Step):
                    return said
                self._hear(said)
        except ReadError as error:
            self.trouble = str(error)
        return None

    def is_senseless(self) -> bool:
        """
        Look for the first step; true if there is none, but lines that could not be read.
        """
        self._ahead = self._next()
        return self._ahead is None and self.bad_lines > 0

    def _hear(self, finding: Finding) -> None:
        if finding.code == "bad_line":
            self.bad_lines += 1
            if self.bad_lines > KEPT_BAD_LINES:
                return
        self.findings.append(finding)

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
