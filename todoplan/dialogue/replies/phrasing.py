"""
What an accepted call answers: what changed, by id, what became ready, and the counts. Short.

Law: the length does not grow with the plan or the change. A model pays for each reply again with
every later request, so ids stand as ranges, titles are named only where something was lost, and the
counts come first: one token less than at the end, on every step of a plan.
"""

from collections.abc import Collection, Iterable

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
from todoplan.core.plan.model import RESOLVED, Status
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules.change import Change
from todoplan.dialogue.replies.views import ids_text, one_line
from todoplan.texts.wording import say

__all__ = ["all_done_text", "change_text", "counts_text", "not_in_reply", "whole_list_text"]

# Warnings of rules that the answer to a list has words for: "removed while open", "no change".
_SAID_BY_WHOLE_LIST_TEXT = frozenset({"dropped_open_items", "no_op_write"})
_MOST_TITLES = 3
_LONGEST_TITLE = 60  # enough to know the task again


def counts_text(plan: Plan) -> str:
    """
    Return how far the plan is: "3/20 completed".
    """
    return _with_counts("counts", plan)


def _with_counts(name: str, plan: Plan, changes: str = "") -> str:
    pending, started, done, cancelled = plan.counts
    total = pending + started + done + cancelled
    # Cancelled tasks are counted in the total, and named only where there are some.
    if not cancelled:
        return say("replies", name, done=done, total=total, changes=changes)
    texts = {"done": done, "total": total, "cancelled": cancelled, "changes": changes}
    return say("replies", f"{name}_cancelled", **texts)


def whole_list_text(change: Change) -> str:
    """
    Return the answer to a whole-list write: the counts, and the open items that it removed.
    """
    # Never the list itself: LangChain echoes 1,591 characters for 20 short items, at every write.
    counts = counts_text(change.after)
    if not change.events:
        return say("replies", "unchanged", counts=counts)
    text = (
        say("replies", "written", counts=counts) if len(change.after) else say("replies", "emptied")
    )
    dropped = [task for task in change.removed() if not task.status.resolved]
    if not dropped:
        return text
    # By title, not by id: the writer of a whole list may never have seen an id.
    titles = [f'"{one_line(task.subject, _LONGEST_TITLE)}"' for task in dropped[:_MOST_TITLES]]
    if len(dropped) > _MOST_TITLES:
        titles.append(say("replies", "more", count=len(dropped) - _MOST_TITLES))
    return "; ".join([text, say("replies", "dropped", texts=", ".join(titles))])


def all_done_text(change: Change) -> str:
    """
    Return what to say when a change left nothing open: the work is done, or the list was emptied.
    """
    return say("replies", "done_note" if len(change.after) else "done_note_empty")


def not_in_reply(warnings: Iterable[Problem]) -> tuple[Problem, ...]:
    """
    Return the warnings that `whole_list_text` has not already put in its own words.
    """
    return tuple(one for one in warnings if one.code not in _SAID_BY_WHOLE_LIST_TEXT)


def change_text(change: Change) -> str:
    """
    Return the answer to granular calls: the counts, what happened to which ids, what is ready now.
    """
    events = change.events
    if not events:
        return say("replies", "unchanged", counts=counts_text(change.after))
    if len(events) == 1:  # by far the most: one task changed its status
        name, task_id = _words_for(events[0])
        text = say("replies", name, ids=f"#{task_id}")
    else:
        created = {event.task.id for event in events if type(event) is TaskCreated}
        groups: dict[str, dict[str, None]] = {}
        for name, task_id in map(_words_for, events):
            if name != "updated" or task_id not in created:  # a new task's edges are part of it
                groups.setdefault(name, {})[task_id] = None
        text = "; ".join([say("replies", name, ids=_ids(ids)) for name, ids in groups.items()])
    # Named, so that nobody lists for it: with AgentScope's "Call TaskList now" a plan of 20 tasks
    # has 749,000 tokens re-read, without it 319,000.
    if ready := _newly_ready(change):
        text = f"{text}; {say('replies', 'ready', ids=_ids(ready))}"
    return _with_counts("steps", change.after, text)


def _ids(task_ids: Collection[str]) -> str:
    return f"#{next(iter(task_ids))}" if len(task_ids) == 1 else ids_text(filter(None, task_ids))


_WORDS: dict[type, str] = {
    TaskCreated: "created",
    TaskEdited: "updated",
    EdgeAdded: "updated",
    EdgeRemoved: "updated",
    TaskDeleted: "deleted",
    TasksReordered: "reordered",
    PlanCleared: "cleared",
    PlanRestored: "restored",
}


def _words_for(event: Event) -> tuple[str, str]:
    """
    Return the name of the reply text for an event, and the task's id, "" for the whole plan's.
    """
    if isinstance(event, StatusChanged):
        # Each status is the name of its text.
        return event.new, event.task_id
    name = _WORDS[type(event)]
    if isinstance(event, TaskCreated):
        return name, event.task.id
    if isinstance(event, EdgeAdded | EdgeRemoved):
        return name, event.blocked  # the one whose start the edge decides about
    return name, getattr(event, "task_id", "")


def _newly_ready(change: Change) -> list[str]:
    """
    Return the tasks that can start now and could not before, in the order of what freed them.
    """
    # Only dependents of what was resolved or removed can have become ready. To compare all that is
    # ready before and after would take a walk over the plan for every call.
    freed: dict[str, None] = {}
    for event in change.events:
        task = None
        if type(event) is StatusChanged:
            task = change.after.get(event.task_id) if event.new in RESOLVED else None
        elif type(event) is TaskDeleted:
            task = change.before.get(event.task_id)
        elif type(event) is EdgeRemoved:
            freed[event.blocked] = None
        if task is not None:
            freed.update(dict.fromkeys(task.blocks))
    # An event tells only that a blocker is gone; another one may have come in the same call.
    return [
        task_id
        for task_id in freed
        if _is_ready(change.after, task_id) and not _is_ready(change.before, task_id)
    ]


def _is_ready(plan: Plan, task_id: str) -> bool:
    task = plan.get(task_id)
    return task is not None and task.status is Status.PENDING and not plan.waits_for(task_id)
