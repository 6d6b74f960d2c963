"""A whole recording, read and folded: what a program asks for. Streams go through `Fold`."""

from collections.abc import Callable
from pathlib import Path

import attrs

from todoplan.core.plan import Plan
from todoplan.core.policy import Policy, Severity
from todoplan.transcripts.detect import detect
from todoplan.transcripts.findings import AUDIT, Finding
from todoplan.transcripts.folding import Fold
from todoplan.transcripts.reading import read
from todoplan.transcripts.scene import Step

__all__ = ["LaneResult", "Recording", "replay_file"]


@attrs.frozen
class LaneResult:
    """
    How one plan of a recording ended. `largest` is the most tasks it ever held.
    """

    name: str
    plan: Plan
    calls: int
    refused: int
    largest: int


@attrs.frozen
class Recording:
    """
    A replayed recording: every step, every finding (those of the steps too), the plans at the end.
    """

    file: str
    dialect: str
    steps: tuple[Step, ...]
    lanes: tuple[LaneResult, ...]
    findings: tuple[Finding, ...]

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
) -> Recording:
    """
    Replay a file under a policy; `dialect` is detected unless given.

    Raises:
        ReadError: the file is no recording.
        MissingExtraError: it is one JSON document, and ijson is not installed.
    """
    dialect = dialect or detect(path)
    fold = Fold(policy)
    steps: list[Step] = []
    findings: list[Finding] = []
    for said in fold.steps(read(path, dialect, on_bytes=on_bytes)):
        if isinstance(said, Step):
            steps.append(said)
            findings.extend(said.findings)
        else:
            findings.append(said)
    lanes = tuple(
        LaneResult(lane.name, lane.plan, lane.calls, lane.refused, lane.largest)
        for lane in fold.lanes.values()
    )
    return Recording(str(path), dialect, tuple(steps), lanes, tuple(findings))
