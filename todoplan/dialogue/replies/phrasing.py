"""
What an accepted call answers: what changed, by id, what became ready, and the counts. Short.

Law: the length does not grow with the plan or the change. A model pays for each reply again with
every later request, so ids stand as ranges, titles are named only where something was lost, and the
counts come first: one token less than at the end, on every step of a plan.
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

# Warnings of rules that the answer to a list has words for: "removed while open", "no change".
_SAID_BY_WHOLE_LIST_TEXT = frozenset({"dropped_open_items", "no_op_write"})
_MOST_TITLES = 3
_LONGEST_TITLE = 60  # enough to know the task again
_LONGEST_CLAIMED = 500
_SAID_WITH_MORE = (TaskEdited, TaskClaimed)


def counts_text(plan: Plan) -> str:
    """
    Return how far the plan is: "3/20 completed".
    """
    return _with_counts("counts", plan)


def _with_counts(name: str, plan: Plan, changes: str = "") -> str:
    pending, started, done, cancelled, failed = plan.counts
    total = pending + started + done + cancelled + failed
    # Cancelled and failed tasks are counted in the total, and named only where there are some.
    if not (cancelled or failed):
        return say("replies", name, done=done, total=total, changes=changes)
    named = (("cancelled", cancelled), ("failed", failed))
    others = ", ".join(f"{count} {word}" for word, count in named if count)
    texts = {"done": done, "total": total, "others": others, "changes": changes}
    return say("replies", f"{name}_others", **texts)


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
    if dropped := [task.subject for task in change.removed() if not task.status.closed]:
        text = "; ".join([text, say("replies", "dropped", texts=_titles(dropped))])
    # An empty plan has no waits; most others have none, too, and this is the road of every write.
    if next(change.before.waiting(), None) and (over := [*_waits_over(change)]):
        subjects = [change.before[task_id].subject for task_id in over]
        text = "; ".join([text, say("replies", "wait_over", ids=_titles(subjects))])
    return text


def _titles(subjects: Collection[str]) -> str:
    # By title, not by id: the writer of a whole list may never have seen an id.
    titles = [f'"{one_line(subject, _LONGEST_TITLE)}"' for subject in [*subjects][:_MOST_TITLES]]
    if len(subjects) > _MOST_TITLES:
        titles.append(say("replies", "more", count=len(subjects) - _MOST_TITLES))
    return ", ".join(titles)


def _waits_over(change: Change) -> Iterator[str]:
    """
    Yield the tasks whose wait has ended because its time has come.
    """
    for event in change.events:
        if type(event) is TaskEdited and event.changes.get("waiting", ...) is None:
            was = change.before.get(event.task_id)
            until = was and was.waiting and was.waiting.until
            if until and event.at and until <= event.at:
                yield event.task_id


def all_done_text(change: Change) -> str:
    """
    Return what to say when a change left nothing open: the work is done, or the list was emptied.
    """
    if failed := change.after.counts.failed:
        return say("replies", "done_note_failed", failed=failed)
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
    if len(events) == 1 and type(events[0]) not in _SAID_WITH_MORE:
        # By far the most: one task changed its status.
        name, task_id = _words_for(events[0])
        text = say("replies", name, ids=f"#{task_id}")
    else:
        groups = _by_words(change)
        text = "; ".join([*_group_texts(groups, change)])
    # Named, so that nobody lists for it: with AgentScope's "Call TaskList now" a plan of 20 tasks
    # has 749,000 tokens re-read, without it 319,000.
    if freed := [*freed_texts(change)]:
        text = "; ".join([text, *freed])
    return _with_counts("steps", change.after, text)


def _by_words(change: Change) -> dict[str, dict[str, None]]:
    """
    Return the ids that each reply text is said of, in the order of what happened.
    """
    created = {event.task.id for event in change.events if type(event) is TaskCreated}
    over = set(_waits_over(change))
    is_new = bool(created) and len(created) == len(change.after)
    groups: dict[str, dict[str, None]] = {}
    for name, task_id in map(_words_for, change.events):
        # A new task's edges and its place are part of it; so is the order of a new plan.
        if name in _PART_OF_NEW and (is_new or task_id in created):
            continue
        said = "wait_over" if name == "resumed" and task_id in over else name
        groups.setdefault(said, {})[task_id] = None
    # What waits is pending: that it has become so needs no word.
    for task_id in groups.get("waiting", ()):
        groups.get("pending", {}).pop(task_id, None)
    # What is claimed has started.
    for task_id in groups.get("claimed", ()):
        groups.get("in_progress", {}).pop(task_id, None)
    return {name: ids for name, ids in groups.items() if ids}


def _group_texts(groups: dict[str, dict[str, None]], change: Change) -> Iterator[str]:
    for name, ids in groups.items():
        if name != "claimed":
            yield say("replies", name, ids=few_ids(ids))
            continue
        # Who gets a task may never have seen the plan: its text comes with the claim.
        for task in filter(None, map(change.after.get, ids)):
            fence, subject = task.claims, one_line(task.subject, _LONGEST_CLAIMED)
            yield say("replies", "claim", ids=f"#{task.id}", fence=fence, subject=subject)


def claims_in_vain(change: Change) -> str:
    """
    Return what to say where the next task was to be claimed and there was none; "" otherwise.
    """
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
    """
    Return the name of the reply text for an event, and the task's id, "" for the whole plan's.
    """
    if isinstance(event, StatusChanged):
        # Each status is the name of its text.
        return event.new, event.task_id
    name = _WORDS[type(event)]
    if isinstance(event, TaskEdited) and "waiting" in event.changes:
        name = "waiting" if event.changes["waiting"] is not None else "resumed"
    if isinstance(event, TaskCreated):
        return name, event.task.id
    if isinstance(event, EdgeAdded | EdgeRemoved):
        return name, event.blocked  # the one whose start the edge decides about
    return name, getattr(event, "task_id", "")
