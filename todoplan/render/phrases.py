"""Describe the events of a plan in a few words, as a timeline shows them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, assert_never

from todoplan.core.events.apply import replay
from todoplan.core.events.base import differences
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
from todoplan.core.problems import ids_text
from todoplan.render.cleaning import clip, one_line
from todoplan.render.details import quoted

__all__ = ["event_phrases"]

_SUBJECT = 60
_MOVES = {
    Status.PENDING: "put back",
    Status.IN_PROGRESS: "started",
    Status.COMPLETED: "completed",
    Status.CANCELLED: "cancelled",
    Status.FAILED: "failed",
}


def event_phrases(
    events: Iterable[Event], plan: Plan, before: Plan | None = None
) -> tuple[str, ...]:
    """
    Return a phrase for each kind of change, cleaned and on one line.

    `plan` is the plan after the events. `before` is the plan before them, if known. If a kind of
    change concerns one task only, the phrase names its subject, cut at 60 columns. For a restored
    plan, the phrases describe what the restore changed; if `before` is unknown, they name all of
    its tasks.
    """
    groups: dict[str, dict[str, None]] = {}
    for verb, task_id in _all_changes(tuple(events), before):
        groups.setdefault(verb, {})[task_id] = None
    return tuple(_phrase(verb, tuple(ids), plan) for verb, ids in groups.items())


def _all_changes(events: Sequence[Event], before: Plan | None) -> Iterator[tuple[str, str]]:
    for place, event in enumerate(events):
        if before is not None and isinstance(event, PlanRestored):
            was = replay(before, events[:place])
            yield from _put_back(was, replay(was, (event,)))
        else:
            yield from _changes(event)


def _put_back(was: Plan, now: Plan) -> Iterator[tuple[str, str]]:
    for found in differences(was, now):
        old, new = found.was, found.now
        if new is None:
            yield "removed", found.task.id
        # An edge is reported for the blocked task, not for the blocker.
        elif old is None or old.but(blocks=new.blocks, updated_at=new.updated_at) != new:
            yield "restored", new.id
    known = [task.id for task in now if task.id in was]
    if known != [task.id for task in was if task.id in now]:
        yield "reordered", ""
    if was.approved != now.approved:
        # After an undo, the previous approval is in force again; nobody has given a new one.
        last = was.approved.revision if was.approved else -1
        is_new = now.approved is not None and now.approved.revision > last
        yield "approved" if is_new else "approval taken back", ""


def _phrase(verb: str, ids: tuple[str, ...], plan: Plan) -> str:
    # A new order or an approval names no task.
    if ids == ("",):
        return verb
    only = plan.get(ids[0]) if len(ids) == 1 else None
    subject = f" {clip(one_line(only.subject), _SUBJECT)}" if only else ""
    return f"{verb} {ids_text(ids)}{subject}".rstrip()


def _changes(event: Event) -> Iterator[tuple[str, str]]:
    match event:
        case TaskCreated(task):
            yield "created", task.id
            # Models write items that are started or completed already.
            if task.status is not Status.PENDING:
                yield _MOVES[task.status], task.id
        case StatusChanged(task_id, lost_by=str(holder)):
            yield f"released from {quoted(clip(holder, _SUBJECT))}", task_id
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
            pass  # a heartbeat, of no interest in a history
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
    """Return the word for an edit, chosen by the most important of the changed fields."""
    if "subject" in changes:
        return "reworded"
    if changes.get("answer") is not None:
        return "answered"
    if "waiting" in changes:
        return "no longer waiting" if changes["waiting"] is None else "waiting"
    if changes.get("evidence") is not None:
        return "check passed" if changes["evidence"].passed else "check failed"
    return "edited"
