"""
A step as one row of a timeline: when, which tool, the plan as a strip, what changed in few words.
"""

import attrs

from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Severity
from todoplan.render.cleaning import clip, one_line
from todoplan.render.phrases import event_phrases
from todoplan.transcripts.calls import MAIN_LANE, Compaction
from todoplan.transcripts.replay.call_replay import Mark, Step
from todoplan.transcripts.replay.findings import Finding

__all__ = ["MARKS", "Row", "mark", "mark_name", "row_of", "seconds_spent"]

MARKS = {
    Status.PENDING: ".",
    Status.IN_PROGRESS: "~",
    Status.COMPLETED: "x",
    Status.CANCELLED: "-",
    Status.FAILED: "!",
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
    `before` says what happened in the conversation since the row above, "" for nothing.
    """

    line: int
    day: str
    time: str
    tool: str
    strip: str
    done: str
    mark: str
    phrases: tuple[str, ...]
    before: str = ""


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
        before=_before(step),
    )


def mark_name(mark: Mark) -> str:
    """
    Return "compaction" or "person".
    """
    return "compaction" if isinstance(mark, Compaction) else "person"


def _before(step: Step) -> str:
    names = [mark_name(mark) for mark in step.before]
    spoke = names.count("person")
    said = f"{spoke} messages of the person" if spoke > 1 else "a message of the person"
    summary = "the conversation was summarised"
    return ", ".join([summary] * ("compaction" in names) + [said] * bool(spoke))


def seconds_spent(plan: Plan) -> dict[str, float]:
    """
    Return by task id the seconds from its start to its completion, where both are known.
    """
    return {
        task.id: (task.completed_at - task.started_at).total_seconds()
        for task in plan
        if task.started_at and task.completed_at
    }


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
    # Rounded down: a strip is full only when everything is closed.
    counts = plan.counts
    resolved = counts.resolved * _STRIP // counts.total
    failed = counts.closed * _STRIP // counts.total - resolved
    active = "~" if counts.in_progress else ""
    return ("x" * resolved + "!" * failed + active).ljust(_STRIP, ".")


def _phrases(step: Step) -> tuple[str, ...]:
    first, *more = event_phrases(step.events, step.plan, step.was) or (_NOTHING[step.outcome],)
    return (_who(step) + first, *more)


def _who(step: Step) -> str:
    names = dict.fromkeys(name for name in (step.lane, step.actor) if name != MAIN_LANE)
    return "".join(f"{clip(one_line(name), _NAME)}: " for name in names)
