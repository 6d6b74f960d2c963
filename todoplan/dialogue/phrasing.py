"""What an accepted call answers: what changed, by id, what became ready, and the counts. Short."""

from collections.abc import Iterable, Iterator

from todoplan.core.change import Change
from todoplan.core.events import (
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
from todoplan.core.model import Status, Task
from todoplan.core.plan import Plan
from todoplan.core.problems import Problem
from todoplan.dialogue.views import ids_text, one_line
from todoplan.dialogue.wording import say

__all__ = ["counts_text", "done_note", "receipt", "steps", "untold"]

_TOLD = frozenset({"dropped_open_items", "no_op_write"})

_DROPPED = 3
_CLIP = 60


def counts_text(plan: Plan) -> str:
    """
    Return how far the plan is: "3/20 completed".
    """
    return _counted("counts", plan)


def _counted(name: str, plan: Plan, **values: str) -> str:
    counts = plan.counts
    return say(
        "replies",
        f"{name}_cancelled" if counts.cancelled else name,
        done=counts.completed,
        total=counts.total,
        cancelled=counts.cancelled,
        **values,
    )


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
    parts = [say("replies", name, ids=ids_text(ids)) for name, ids in _grouped(change).items()]
    ready = tuple(_newly_ready(change))
    if ready:
        parts.append(say("replies", "ready", ids=ids_text(ready)))
    return _counted("steps", change.after, changes="; ".join(parts))


def _grouped(change: Change) -> dict[str, list[str]]:
    groups: dict[str, dict[str, None]] = {}
    created: set[str] = set()
    for event in change.events:
        name, task_id = _named(event)
        if name == "created":
            created.add(task_id)
        if name == "updated" and task_id in created:
            continue
        groups.setdefault(name, {})[task_id] = None
    return {name: [task_id for task_id in ids if task_id] for name, ids in groups.items()}


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
        return event.new.value, event.task_id
    if isinstance(event, TaskCreated):
        return "created", event.task.id
    if isinstance(event, EdgeAdded | EdgeRemoved):
        return "updated", event.blocked
    if isinstance(event, TaskDeleted | TaskEdited):
        return _OF_A_TASK[type(event)], event.task_id
    return _OF_THE_PLAN[type(event)], ""


def _newly_ready(change: Change) -> Iterator[str]:
    touched = {
        dependent
        for move in change.moves()
        if move.new.resolved and (task := change.after.get(move.task_id))
        for dependent in task.blocks
    }
    for removed in change.removed():
        touched.update(removed.blocks)
    for task_id in touched:
        if _is_ready(change.after, task_id) and not _is_ready(change.before, task_id):
            yield task_id


def _is_ready(plan: Plan, task_id: str) -> bool:
    task = plan.get(task_id)
    return task is not None and task.status is Status.PENDING and not plan.waits_for(task_id)
