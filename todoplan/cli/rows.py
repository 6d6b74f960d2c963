"""A step as one row of a timeline: when, which tool, the plan as a strip, what changed."""

import attrs

from todoplan.cli.words import told
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Severity
from todoplan.render.cleaning import clip, one_line
from todoplan.transcripts.calls import MAIN_LANE
from todoplan.transcripts.findings import Finding
from todoplan.transcripts.scene import Step

__all__ = ["MARKS", "Row", "mark", "row_of"]

MARKS = {
    Status.PENDING: ".",
    Status.IN_PROGRESS: "~",
    Status.COMPLETED: "x",
    Status.CANCELLED: "-",
}
"""A task in the strip."""

_STRIP = 10
_NAME = 24
_NOTHING = {
    "applied": "no change",
    "read": "read the plan",
    "refused": "refused, no change",
    "unreadable": "arguments unreadable, no change",
    "impossible": "impossible, no change",
}


@attrs.frozen
class Row:
    """
    A step as a timeline shows it; the texts are cleaned and on one line.

    `strip` has a mark for each task (ten for a longer plan, in proportion), `done` reads "2/5",
    `mark` is "!" for a warning and "!!" for an error. `phrases` say what changed, at least one.
    """

    line: int
    day: str
    time: str
    tool: str
    strip: str
    done: str
    mark: str
    phrases: tuple[str, ...]


def row_of(step: Step) -> Row:
    """
    Return the row of a step.
    """
    counts = step.plan.counts
    return Row(
        line=step.line,
        day=f"{step.at:%Y-%m-%d}" if step.at else "",
        time=f"{step.at:%H:%M:%S}" if step.at else "",
        tool=clip(one_line(step.tool), _NAME),
        strip=_strip(step.plan),
        done=f"{counts.completed}/{counts.total}",
        mark=mark(step.findings),
        phrases=_phrases(step),
    )


def mark(findings: tuple[Finding, ...]) -> str:
    """
    Return "!!" if one of the findings is an error, "!" for warnings only, "" for none.
    """
    if any(finding.severity is Severity.ERROR for finding in findings):
        return "!!"
    return "!" if findings else ""


def _strip(plan: Plan) -> str:
    if len(plan) <= _STRIP:
        return "".join(MARKS[task.status] for task in plan)
    counts = plan.counts
    resolved = "x" * (counts.resolved * _STRIP // counts.total)
    active = "~" if counts.in_progress else ""
    return (resolved + active).ljust(_STRIP, ".")


def _phrases(step: Step) -> tuple[str, ...]:
    first, *more = told(step.events, step.plan) or (_NOTHING[step.outcome],)
    return (_who(step) + first, *more)


def _who(step: Step) -> str:
    names = dict.fromkeys(name for name in (step.lane, step.actor) if name != MAIN_LANE)
    return "".join(f"{clip(one_line(name), _NAME)}: " for name in names)
