"""
The short reply to an accepted call: the counts, the changes by id, and the tasks that became ready.

Law: the length does not grow with the plan or the change. A reply is sent again with every later
request and costs tokens each time. So ids are written as ranges, titles are named only if something
was lost, and the counts come first, which costs one token less than at the end.
"""

from collections.abc import Collection, Iterable, Iterator

from todoplan.core.commands import Batch, ClaimTask, Command
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
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules.change import Change
from todoplan.dialogue.replies.freed import few_ids, freed_texts
from todoplan.dialogue.replies.views import one_line
from todoplan.texts.wording import say

__all__ = [
    "all_done_text",
    "change_text",
    "claims_in_vain",
    "counts_text",
    "not_in_reply",
    "whole_list_text",
]

# Warnings that the reply to a whole-list write states in its own words: "removed while open", "no
# change".
_SAID_BY_WHOLE_LIST_TEXT = frozenset({"dropped_open_items", "no_op_write"})
_MOST_TITLES = 3
_LONGEST_TITLE = 60  # enough to recognise the task
_LONGEST_CLAIMED = 500
_SAID_WITH_MORE = (TaskEdited, TaskClaimed)


def counts_text(plan: Plan) -> str:
    """Return the progress of the plan, such as "3/20 completed"."""
    return _with_counts("counts", plan)


def _with_counts(name: str, plan: Plan, changes: str = "") -> str:
    pending, started, done, cancelled, failed = plan.counts
    total = pending + started + done + cancelled + failed
    # The total includes cancelled and failed tasks; they are named only if there are any.
    if not (cancelled or failed):
        return say("replies", name, done=done, total=total, changes=changes)
    named = (("cancelled", cancelled), ("failed", failed))
    others = ", ".join(f"{count} {word}" for word, count in named if count)
    texts = {"done": done, "total": total, "others": others, "changes": changes}
    return say("replies", f"{name}_others", **texts)


def whole_list_text(change: Change) -> str:
    """Return the reply to a whole-list write: the counts, and the open items that it removed."""
    # Never the list itself: LangChain echoes 1,591 characters for 20 short items on every write.
    counts = counts_text(change.after)
    if not change.events:
        return say("replies", "unchanged", counts=counts)
    text = (
        say("replies", "written", counts=counts) if len(change.after) else say("replies", "emptied")
    )
    if dropped := [task.subject for task in change.removed() if not task.status.closed]:
        text = "; ".join([text, say("replies", "dropped", texts=_titles(dropped))])
    # Checked first because most plans have no waits, and every whole-list write comes here.
    if next(change.before.waiting(), None) and (over := [*_waits_over(change)]):
        subjects = [change.before[task_id].subject for task_id in over]
        text = "; ".join([text, say("replies", "wait_over", ids=_titles(subjects))])
    return text


def _titles(subjects: Collection[str]) -> str:
    # By title, not by id: a model that writes whole lists may never have seen an id.
    titles = [f'"{one_line(subject, _LONGEST_TITLE)}"' for subject in [*subjects][:_MOST_TITLES]]
    if len(subjects) > _MOST_TITLES:
        titles.append(say("replies", "more", count=len(subjects) - _MOST_TITLES))
    return ", ".join(titles)


def _waits_over(change: Change) -> Iterator[str]:
    """Yield the tasks whose wait ended because its end time was reached."""
    for event in change.events:
        if type(event) is TaskEdited and event.changes.get("waiting", ...) is None:
            was = change.before.get(event.task_id)
            until = was and was.waiting and was.waiting.until
            if until and event.at and until <= event.at:
                yield event.task_id


def all_done_text(change: Change) -> str:
    """
    Return the note for a change after which no task is open: all is done, or the list is empty.
    """
    if failed := change.after.counts.failed:
        return say("replies", "done_note_failed", failed=failed)
    return say("replies", "done_note" if len(change.after) else "done_note_empty")


def not_in_reply(warnings: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the warnings that `whole_list_text` has not already stated in its own words."""
    return tuple(one for one in warnings if one.code not in _SAID_BY_WHOLE_LIST_TEXT)


def change_text(change: Change) -> str:
    """
    Return the reply to granular calls: the counts, the changes by id, and the tasks now ready.
    """
    events = change.events
    if not events:
        return say("replies", "unchanged", counts=counts_text(change.after))
    if len(events) == 1 and type(events[0]) not in _SAID_WITH_MORE:
        # The most frequent change: one task changed its status.
        name, task_id = _words_for(events[0])
        text = say("replies", name, ids=f"#{task_id}")
    else:
        groups = _by_words(change)
        text = "; ".join([*_group_texts(groups, change)])
    # The ready tasks are named, so that the model need not list the plan: with AgentScope's "Call
    # TaskList now", 749,000 tokens are re-read for a plan of 20 tasks; without it 319,000.
    if freed := [*freed_texts(change)]:
        text = "; ".join([text, *freed])
    return _with_counts("steps", change.after, text)


def _by_words(change: Change) -> dict[str, dict[str, None]]:
    """Return the ids for each reply text, by the text's name, in the order of events."""
    created = {event.task.id for event in change.events if type(event) is TaskCreated}
    over = set(_waits_over(change))
    is_new = bool(created) and len(created) == len(change.after)
    groups: dict[str, dict[str, None]] = {}
    for name, task_id in map(_words_for, change.events):
        # The edges and the place of a new task are part of it, as is the order of a new plan.
        if name in _PART_OF_NEW and (is_new or task_id in created):
            continue
        said = "wait_over" if name == "resumed" and task_id in over else name
        groups.setdefault(said, {})[task_id] = None
    # A waiting task is pending, so the change to pending is not mentioned.
    for task_id in groups.get("waiting", ()):
        groups.get("pending", {}).pop(task_id, None)
    # A claimed task is in progress, so the change to in progress is not mentioned.
    for task_id in groups.get("claimed", ()):
        groups.get("in_progress", {}).pop(task_id, None)
    return {name: ids for name, ids in groups.items() if ids}


def _group_texts(groups: dict[str, dict[str, None]], change: Change) -> Iterator[str]:
    for name, ids in groups.items():
        if name != "claimed":
            yield say("replies", name, ids=few_ids(ids))
            continue
        # The claimant may never have seen the plan, so the reply contains the task's text.
        for task in filter(None, map(change.after.get, ids)):
            fence, subject = task.claims, one_line(task.subject, _LONGEST_CLAIMED)
            yield say("replies", "claim", ids=f"#{task.id}", fence=fence, subject=subject)


def claims_in_vain(change: Change) -> str:
    """Return a note if a claim of the next task found no task; "" otherwise."""
    asked = any(type(part) is ClaimTask for part in _parts(change.command))
    got = any(type(event) is TaskClaimed for event in change.events)
    return say("replies", "nothing_to_claim") if asked and not got else ""


def _parts(command: Command | None) -> Iterable[Command | None]:
    return command.commands if type(command) is Batch else (command,)


_PART_OF_NEW = frozenset({"updated", "moved", "reordered"})
_WORDS: dict[type, str] = {
    TaskCreated: "created",
    TaskEdited: "updated",
    EdgeAdded: "updated",
    EdgeRemoved: "updated",
    ParentChanged: "moved",
    TaskClaimed: "claimed",
    ClaimRenewed: "extended",
    TaskDeleted: "deleted",
    TasksReordered: "reordered",
    PlanCleared: "cleared",
    PlanRestored: "restored",
    PlanApproved: "approved",
}


def _words_for(event: Event) -> tuple[str, str]:
    """Return the name of the reply text for an event, and the task's id ("" for the whole plan)."""
    if isinstance(event, StatusChanged):
        # The texts have the names of the statuses.
        return event.new, event.task_id
    name = _WORDS[type(event)]
    if isinstance(event, TaskEdited) and "waiting" in event.changes:
        name = "waiting" if event.changes["waiting"] is not None else "resumed"
    if isinstance(event, TaskCreated):
        return name, event.task.id
    if isinstance(event, EdgeAdded | EdgeRemoved):
        return name, event.blocked  # the blocked task, since the edge delays its start
    return name, getattr(event, "task_id", "")
