"""
The tasks that a change made ready, because nothing blocks them any more.

Law 7: cancelling a blocker frees the tasks that it blocks. The reply says that the blocker was
cancelled, because its result never came and the model must not go on as if it had. Only tasks
blocked by a changed task are checked, so the cost does not grow with the plan.
"""

from collections.abc import Collection, Iterable, Iterator

from todoplan.core.events.types import (
    EdgeAdded,
    EdgeRemoved,
    Event,
    ParentChanged,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
)
from todoplan.core.plan.model import RESOLVED, Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import is_ready
from todoplan.core.rules.change import Change
from todoplan.dialogue.replies.views import ids_text
from todoplan.texts.wording import say

__all__ = ["few_ids", "freed_texts"]

# The most frequent events besides changes of status; this skips the checks for other types.
_FREES_NOTHING = frozenset({EdgeAdded, TaskCreated})


def few_ids(task_ids: Collection[str]) -> str:
    """Return the ids as text for a reply, with a fast path for a single id."""
    return f"#{next(iter(task_ids))}" if len(task_ids) == 1 else ids_text(filter(None, task_ids))


def freed_texts(change: Change) -> Iterable[str]:
    """
    Return the sentences about the tasks that a change made ready; none if there are no such tasks.
    """
    freed = _freed(change)
    return _said_of(change, freed) if freed else ()


def _said_of(change: Change, freed: dict[str, list[str]]) -> Iterator[str]:
    if ready := [task_id for task_id, causes in freed.items() if not causes]:
        yield say("replies", "ready", ids=few_ids(ready))
    # A cancelled blocker has no result, so the reply must say which blockers were cancelled.
    behind = [task_id for task_id, causes in freed.items() if causes]
    started = [task_id for task_id in behind if not is_ready(change.after, task_id)]
    ready = [task_id for task_id in behind if task_id not in set(started)]
    for ids, one, several in (
        (ready, "ready_after_cancelled", "ready_after_several"),
        (started, "started_after_cancelled", "started_after_several"),
    ):
        if ids:
            blockers = dict.fromkeys(cause for task_id in ids for cause in freed[task_id])
            name = one if len(blockers) == 1 else several
            yield say("replies", name, ids=few_ids(ids), by=few_ids(blockers))


def _freed(change: Change) -> dict[str, list[str]]:
    """
    Return the tasks that became ready, each with its cancelled blockers, in the order of events.
    """
    # Only tasks blocked by a changed task can have become ready. To compare all ready tasks before
    # and after would walk the whole plan on every call.
    before, after = change.before, change.after
    freed: dict[str, list[str]] = {}
    for event in change.events:
        if type(event) is StatusChanged:
            task = after.get(event.task_id) if event.new in RESOLVED else None
            for task_id in task.blocks if task is not None else ():
                causes = freed.setdefault(task_id, [])
                if event.new is Status.CANCELLED:
                    causes.append(event.task_id)
        elif type(event) not in _FREES_NOTHING:
            for task_id in _behind(event, before):
                freed.setdefault(task_id, [])
    if not freed:
        return freed
    if after.nested:
        freed = dict(_leaves(after, freed))
    # An event shows only that a blocker is gone; the same call may have added another one.
    return {
        task_id: causes
        for task_id, causes in freed.items()
        if task_id in before
        and not is_ready(before, task_id)
        and (is_ready(after, task_id) or (causes and _has_started(change, task_id)))
    }


def _behind(event: Event, before: Plan) -> Iterator[str]:
    """Yield the tasks that an event other than a change of status may have freed."""
    if isinstance(event, EdgeRemoved):
        yield event.blocked
    elif isinstance(event, TaskEdited):
        if event.changes.get("waiting", ...) is None:
            yield event.task_id
    elif isinstance(event, TaskDeleted):
        task = before.get(event.task_id)
        if task is not None:
            yield from _around(task, before)
            yield from task.blocks
    elif isinstance(event, ParentChanged):
        task = before.get(event.task_id)
        if task is not None:
            yield from (task.id, *_around(task, before))


def _around(task: Task, plan: Plan) -> tuple[str, ...]:
    """Return a task's subtasks, and its parent, which may have become a leaf."""
    below = plan.children(task.id) if plan.nested else ()
    return below if task.parent is None else (*below, task.parent)


def _leaves(plan: Plan, freed: dict[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the tasks without subtasks among these tasks and their descendants, each once."""
    below = [*freed.items()]
    seen = set(freed)
    for task_id, causes in below:  # the list grows during the loop
        children = plan.children(task_id)
        below += [(child, causes) for child in children if child not in seen]
        seen.update(children)
        if not children:
            yield task_id, causes


def _has_started(change: Change, task_id: str) -> bool:
    was, now = (plan.get(task_id) for plan in (change.before, change.after))
    started = now is not None and now.status is Status.IN_PROGRESS
    return started and was is not None and was.status is not Status.IN_PROGRESS
