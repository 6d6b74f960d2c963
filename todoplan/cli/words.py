"""Events in few words: "completed #1 Write the parser", "started #2-#4"."""

from collections.abc import Iterable, Iterator

from todoplan.core.events.types import (
    EdgeAdded,
    EdgeRemoved,
    Event,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
    TasksReordered,
)
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.replies.views import ids_text
from todoplan.render.cleaning import clip, one_line

__all__ = ["told"]

_SUBJECT = 60
_MOVES = {
    Status.PENDING: "put back",
    Status.IN_PROGRESS: "started",
    Status.COMPLETED: "completed",
    Status.CANCELLED: "cancelled",
}
_Said = Iterator[tuple[str, str]]


def told(events: Iterable[Event], plan: Plan) -> tuple[str, ...]:
    """
    Return a phrase for each kind of change; `plan` is the plan afterwards. Cleaned, on one line.

    A task that is alone in its group is named by its subject too, cut at 60 columns.
    """
    groups: dict[str, dict[str, None]] = {}
    for event in events:
        for verb, task_id in _said(event):
            groups.setdefault(verb, {})[task_id] = None
    return tuple(_phrase(verb, tuple(ids), plan) for verb, ids in groups.items())


def _phrase(verb: str, ids: tuple[str, ...], plan: Plan) -> str:
    if ids == ("",):
        return verb
    only = plan.get(ids[0]) if len(ids) == 1 else None
    subject = f" {clip(one_line(only.subject), _SUBJECT)}" if only else ""
    return f"{verb} {ids_text(ids)}{subject}".rstrip()


def _said(event: Event) -> _Said:
    match event:
        case TaskCreated(task):
            yield "created", task.id
            if task.status is not Status.PENDING:
                yield _MOVES[task.status], task.id
        case StatusChanged(task_id, old, new):
            back = old.resolved and not new.resolved
            yield "reopened" if back else _MOVES[new], task_id
        case TaskEdited(task_id, changes):
            yield "reworded" if "subject" in changes else "edited", task_id
        case EdgeAdded(_, blocked):
            yield "linked", blocked
        case EdgeRemoved(_, blocked):
            yield "unlinked", blocked
        case _:
            yield from _said_of_many(event)


def _said_of_many(event: TaskDeleted | PlanCleared | PlanRestored | TasksReordered) -> _Said:
    match event:
        case TaskDeleted(task_id):
            yield "removed", task_id
        case PlanCleared(task_ids):
            yield from (("removed", task_id) for task_id in task_ids)
        case PlanRestored(tasks):
            yield from (("restored", task.id) for task in tasks)
        case _:
            yield "reordered", ""
