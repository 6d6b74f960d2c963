"""What an accepted call answers: what changed, by id, what became ready, and the counts. Short."""

from collections.abc import Collection, Iterable, Sequence

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
from todoplan.core.plan.model import RESOLVED, Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules.change import Change
from todoplan.dialogue.replies.views import ids_text, one_line
from todoplan.texts.wording import say

__all__ = ["counts_text", "done_note", "receipt", "steps", "untold"]

_TOLD = frozenset({"dropped_open_items", "no_op_write"})

_DROPPED = 3
_CLIP = 60


def counts_text(plan: Plan) -> str:
    """
    Return how far the plan is: "3/20 completed".
    """
    return _counted("counts", plan)


def _counted(name: str, plan: Plan, changes: str = "") -> str:
    pending, started, done, cancelled = plan.counts
    total = pending + started + done + cancelled
    if not cancelled:
        return say("replies", name, done=done, total=total, changes=changes)
    texts = {"done": done, "total": total, "cancelled": cancelled, "changes": changes}
    return say("replies", f"{name}_cancelled", **texts)


def receipt(change: Change) -> str:
    """
    Return the answer to a whole-list write: the counts, and the open items that it removed.
    """
    if not change.events:
        return say("replies", "unchanged", counts=counts_text(change.after))
    done = say("replies", "written", counts=counts_text(change.after))
    parts = [done if len(change.after) else say("replies", "emptied")]
    dropped = [task for task in change.removed() if not task.status.resolved]
    if dropped:
        parts.append(say("replies", "dropped", texts=_titles(dropped)))
    return "; ".join(parts)


def _titles(tasks: list[Task]) -> str:
    told = [f'"{one_line(task.subject, _CLIP)}"' for task in tasks[:_DROPPED]]
    if len(tasks) > _DROPPED:
        told.append(say("replies", "more", count=len(tasks) - _DROPPED))
    return ", ".join(told)


def done_note(change: Change) -> str:
    """
    Return what to say when a change left nothing open; an emptied list is told as such.
    """
    return say("replies", "done_note" if len(change.after) else "done_note_empty")


def untold(warnings: Iterable[Problem]) -> tuple[Problem, ...]:
    """
    Return the warnings that a receipt does not tell in its own words.
    """
    return tuple(warning for warning in warnings if warning.code not in _TOLD)


def steps(change: Change) -> str:
    """
    Return the answer to granular calls: the counts, what happened to which ids, what is ready now.

    One token less than with the counts at the end, on every step of a plan.
    """
    if not change.events:
        return say("replies", "unchanged", counts=counts_text(change.after))
    told = _told_one(change.events[0]) if len(change.events) == 1 else _told(change.events)
    if ready := _newly_ready(change):
        told = f"{told}; {say('replies', 'ready', ids=_ids(ready))}"
    return _counted("steps", change.after, told)


def _told_one(event: Event) -> str:
    name, task_id = _named(event)
    return say("replies", name, ids=f"#{task_id}")


def _told(events: Sequence[Event]) -> str:
    return "; ".join([say("replies", name, ids=_ids(ids)) for name, ids in _grouped(events)])


def _ids(task_ids: Collection[str]) -> str:
    return f"#{next(iter(task_ids))}" if len(task_ids) == 1 else ids_text(task_ids)


def _grouped(events: Sequence[Event]) -> Iterable[tuple[str, Collection[str]]]:
    groups: dict[str, dict[str, None]] = {}
    created = {event.task.id for event in events if type(event) is TaskCreated}
    for name, task_id in map(_named, events):
        if name != "updated" or task_id not in created:
            groups.setdefault(name, {})[task_id] = None
    return [(name, [task_id for task_id in ids if task_id]) for name, ids in groups.items()]


_OF_A_TASK: dict[type, str] = {TaskDeleted: "deleted", TaskEdited: "updated"}
_OF_THE_PLAN: dict[type, str] = {
    PlanCleared: "cleared",
    PlanRestored: "restored",
    TasksReordered: "reordered",
}


def _named(event: Event) -> tuple[str, str]:
    """
    Return the name of the reply text for an event, and the task's id or "".
    """
    if isinstance(event, StatusChanged):
        return event.new, event.task_id
    if isinstance(event, TaskCreated):
        return "created", event.task.id
    if isinstance(event, EdgeAdded | EdgeRemoved):
        return "updated", event.blocked
    if isinstance(event, TaskDeleted | TaskEdited):
        return _OF_A_TASK[type(event)], event.task_id
    return _OF_THE_PLAN[type(event)], ""


def _newly_ready(change: Change) -> list[str]:
    freed: list[str] = []
    for event in change.events:
        freed += _freed(change, event)
    return freed and [
        task_id
        for task_id in dict.fromkeys(freed)
        if _is_ready(change.after, task_id) and not _is_ready(change.before, task_id)
    ]


def _freed(change: Change, event: Event) -> tuple[str, ...]:
    """
    Return the dependents of a task that the event resolved or removed.
    """
    if type(event) is StatusChanged:
        task = change.after.get(event.task_id) if event.new in RESOLVED else None
    else:
        task = change.before.get(event.task_id) if type(event) is TaskDeleted else None
    return task.blocks if task is not None else ()


def _is_ready(plan: Plan, task_id: str) -> bool:
    task = plan.get(task_id)
    return task is not None and task.status is Status.PENDING and not plan.waits_for(task_id)
