"""One recording being replayed: its steps stream by, and what is counted of them stays."""

from collections.abc import Callable, Iterator

import attrs

from todoplan.cli.counting import plural
from todoplan.cli.inputs import Input
from todoplan.core.policy import Policy, Severity
from todoplan.errors import ReadError
from todoplan.transcripts.detect import detect
from todoplan.transcripts.findings import Finding
from todoplan.transcripts.folding import Fold
from todoplan.transcripts.reading import read
from todoplan.transcripts.scene import Lane, Step

__all__ = ["KEPT_BAD_LINES", "Replay", "open_replay"]

KEPT_BAD_LINES = 100
"""So many lines that could not be read are kept of a recording; all of them are counted."""


@attrs.define(eq=False)
class Replay:
    """
    A replay, to be listened to once: iterate `steps()`, then look at the rest.

    `trouble` says why the reading ended early, if it did.
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
    def headline(self) -> str:
        """
        The recording in a line: "claude-code, 9 calls (1 refused), 2 plans".
        """
        refused = sum(lane.refused for lane in self.lanes)
        aside = f" ({refused} refused)" if refused else ""
        calls, plans = plural(self.calls, "planning call"), plural(len(self.lanes), "plan")
        return f"{self.dialect}, {calls}{aside}, {plans}"

    @property
    def has_errors(self) -> bool:
        """
        True if a finding has severity error.
        """
        return any(finding.severity is Severity.ERROR for finding in self.findings)


def open_replay(
    source: Input, policy: Policy, dialect: str | None, on_bytes: Callable[[int], None]
) -> Replay:
    """
    Return the replay of a file, not yet begun; its dialect is detected unless given.

    Raises:
        ReadError: this is no recording. A file that was not named must also make some sense.
        MissingExtraError: it is one JSON document, and ijson is not installed.
    """
    path = source.path
    if path.exists() and not path.is_file():
        msg = f"{path} is no regular file, and a recording is read twice; save it first"
        raise ReadError(msg, file=str(path))
    dialect = dialect or detect(path)
    fold = Fold(policy)
    told = fold.steps(read(path, dialect, on_bytes=on_bytes))
    replay = Replay(source.label, dialect, fold, told)
    if not source.named and replay.is_senseless():
        msg = f"{path} holds no planning call, and lines that cannot be read"
        raise ReadError(msg, file=str(path))
    return replay
