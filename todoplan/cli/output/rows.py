"""
A step as one row of a timeline: when, which tool, the plan as a strip, what changed in few words.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, assert_never

import attrs

from todoplan.core.events.types import (
    ClaimRenewed,
    EdgeAdded,
    EdgeRemoved,
    Event,
    ParentChanged,
    PlanApproved,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskClaimed,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
    TasksReordered,
)
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Severity
from todoplan.dialogue.replies.views import ids_text
from todoplan.render.cleaning import clip, one_line
from todoplan.transcripts.calls import MAIN_LANE, Compaction
from todoplan.transcripts.replay.call_replay import Mark, Step
from todoplan.transcripts.replay.findings import Finding

__all__ = ["MARKS", "Row", "event_phrases", "mark", "mark_name", "row_of", "seconds_spent"]

_SUBJECT = 60
_MOVES = {
    Status.PENDING: "put back",
    Status.IN_PROGRESS: "started",
    Status.COMPLETED: "completed",
    Status.CANCELLED: "cancelled",
    Status.FAILED: "failed",
}


def event_phrases(events: Iterable[Event], plan: Plan) -> tuple[str, ...]:
    """
    Return a phrase for each kind of change; `plan` is the plan afterwards. Cleaned, on one line.

    A task that is alone in its group is named by its subject too, cut at 60 columns.
    """
    groups: dict[str, dict[str, None]] = {}
    for event in events:
        for verb, task_id in _changes(event):
            groups.setdefault(verb, {})[task_id] = None
    return tuple(_phrase(verb, tuple(ids), plan) for verb, ids in groups.items())


def _phrase(verb: str, ids: tuple[str, ...], plan: Plan) -> str:
    # Tasks in another order: no task is named.
    if ids == ("",):
        return verb
    only = plan.get(ids[0]) if len(ids) == 1 else None
    subject = f" {clip(one_line(only.subject), _SUBJECT)}" if only else ""
    return f"{verb} {ids_text(ids)}{subject}".rstrip()


def _changes(event: Event) -> Iterator[tuple[str, str]]:  # noqa: C901, PLR0912 - a case for each event
    match event:
        case TaskCreated(task):
            yield "created", task.id
            # Models write items that are started or completed already.
            if task.status is not Status.PENDING:
                yield _MOVES[task.status], task.id
        case StatusChanged(task_id, old, new):
            back = old.closed and not new.closed
            yield "reopened" if back else _MOVES[new], task_id
        case TaskEdited(task_id, changes):
            yield _edited(changes), task_id
        case EdgeAdded(_, blocked):
            yield "linked", blocked
        case EdgeRemoved(_, blocked):
            yield "unlinked", blocked
        case ParentChanged(task_id):
            yield "moved", task_id
        case TaskClaimed(task_id, _, lost_by):
            yield "claimed" if lost_by is None else "taken over", task_id
        case ClaimRenewed():
            pass  # a heartbeat: who reads a history wants to see what was done
        case TaskDeleted(task_id):
            yield "removed", task_id
        case PlanCleared(task_ids):
            yield from (("removed", task_id) for task_id in task_ids)
        case PlanRestored(tasks):
            yield from (("restored", task.id) for task in tasks)
        case TasksReordered():
            yield "reordered", ""
        case PlanApproved():
            yield "approved", ""
        case _ as unreachable:
            assert_never(unreachable)


def _edited(changes: Mapping[str, Any]) -> str:
    """
    Return the word for an edit, by what matters most of what was set.
    """
    if "subject" in changes:
        return "reworded"
    if changes.get("answer") is not None:
        return "answered"
    if "waiting" in changes:
        return "no longer waiting" if changes["waiting"] is None else "waiting"
    if changes.get("evidence") is not None:
        return "check passed" if changes["evidence"].passed else "check failed"
    return "edited"


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
    first, *more = event_phrases(step.events, step.plan) or (_NOTHING[step.outcome],)
    return (_who(step) + first, *more)


def _who(step: Step) -> str:
    names = dict.fromkeys(name for name in (step.lane, step.actor) if name != MAIN_LANE)
    return "".join(f"{clip(one_line(name), _NAME)}: " for name in names)
