"""
The rules about what tasks hold: their texts, fields, owners and edges, and how many there are.

Each yields only what a change breaks anew (see `todoplan.core.rules.builtin`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from todoplan.core.events.types import EdgeAdded, Event, PlanRestored, TaskCreated, TaskEdited
from todoplan.core.plan.matching import normalised
from todoplan.core.plan.model import OPEN, RESOLVED, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules.change import Change
from todoplan.core.rules.rule import Rule, first_ids, moves, registering

__all__ = ["TASK_RULES"]

TASK_RULES: dict[str, Rule] = {}
_rule = registering(TASK_RULES)
_FILLED = TaskCreated, TaskEdited, PlanRestored


def _anew(change: Change, field: str) -> Iterator[Task]:
    for task in change.written():
        was = change.before.get(task.id)
        if was is None or getattr(was, field) != getattr(task, field):
            yield task


@_rule(*_FILLED, about_plan=True)
def _duplicate_content(change: Change) -> Iterator[Problem]:
    written = {normalised(task.subject) for task in _anew(change, "subject")}
    if not written:
        return
    texts = Counter(normalised(task.subject) for task in change.after)
    for text in written:
        if texts[text] > 1:
            same = first_ids(task for task in change.after if normalised(task.subject) == text)
            yield Problem("duplicate_content", same, seen=str(texts[text]))


def _missing(change: Change, field: str, code: str) -> Iterable[Problem]:
    lacking = tuple(task.id for task in _anew(change, field) if not getattr(task, field))
    return (Problem(code, lacking, seen=field),) if lacking else ()


@_rule(*_FILLED, about_plan=True, demands="active_form")
def _active_form_required(change: Change) -> Iterable[Problem]:
    return _missing(change, "active_form", "active_form_required")


@_rule(*_FILLED, about_plan=True, demands="priority")
def _priority_required(change: Change) -> Iterable[Problem]:
    return _missing(change, "priority", "priority_required")


@_rule(*moves(OPEN, of=RESOLVED), TaskCreated, PlanRestored, about_plan=True)
def _max_items(change: Change) -> Iterator[Problem]:
    before, after, limits = change.before.counts, change.after.counts, change.limits
    if limits.items < after.total > before.total:
        yield Problem("max_items", seen=str(after.total), legal=str(limits.items))
    if limits.open_items < after.open > before.open:
        yield Problem("max_items", seen=f"{after.open} open", legal=str(limits.open_items))


@_rule(*_FILLED, about_plan=True)
def _max_text(change: Change) -> Iterator[Problem]:
    most = change.limits.subject, change.limits.text
    if not any(_long(event, *most) for event in change.events):
        return
    for field, limit in zip(("subject", "description"), most, strict=True):
        for task in _anew(change, field):
            length = len(getattr(task, field))
            if length > limit:
                seen = f"{field} of {length} characters"
                yield Problem("max_text", (task.id,), seen=seen, legal=str(limit))


def _long(event: Event, subject: int, text: int) -> bool:
    if type(event) is TaskCreated:
        return len(event.task.subject) > subject or len(event.task.description) > text
    return type(event) is TaskEdited or type(event) is PlanRestored


@_rule(EdgeAdded, PlanRestored, about_plan=True)
def _max_edges(change: Change) -> Iterator[Problem]:
    most = change.limits.edges
    for task_id in dict.fromkeys(_linked_ids(change)):
        task = change.after.get(task_id)
        if task is not None and len(task.blocked_by) > most:
            yield Problem("max_edges", (task.id,), seen=str(len(task.blocked_by)), legal=str(most))


def _linked_ids(change: Change) -> Iterator[str]:
    for event in change.events:
        if type(event) is EdgeAdded:
            yield event.blocked
        elif type(event) is TaskCreated:
            yield event.task.id
        elif type(event) is PlanRestored:
            yield from _newly_linked(change.before, event.tasks)


def _newly_linked(before: Plan, tasks: Iterable[Task]) -> Iterator[str]:
    for task in tasks:
        was = before.get(task.id)
        if was is None or not set(task.blocked_by) <= set(was.blocked_by):
            yield task.id


@_rule(TaskEdited)
def _owner_taken(change: Change) -> Iterator[Problem]:
    for was, task in change.edited():
        if was.owner and task.owner and was.owner != task.owner:
            yield Problem("owner_taken", (task.id,), seen=was.owner)
