"""
The rules that a policy can switch: each looks at a change and yields what is wrong with it.

A rule about the plan yields only what a change breaks anew: a fault that the plan had before is not
held against a command that does not add to it, so that a stricter policy never locks a plan up.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from types import NoneType

import attrs

from todoplan.core.change import Change
from todoplan.core.commands import CreateTasks
from todoplan.core.events import (
    EdgeAdded,
    Event,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
)
from todoplan.core.lifecycle import ACTION_TO, TABLE, Kind
from todoplan.core.matching import normalised
from todoplan.core.model import OPEN, RESOLVED, Status, Task
from todoplan.core.plan import Plan
from todoplan.core.problems import Problem

__all__ = ["RULES", "Rule", "Trigger", "trigger_of"]

Trigger = type | tuple[Status, Status]

_SHOWN = 20


@attrs.frozen
class Rule:
    """
    A named check. `about_plan`: it can also be asked of a plan as it stands (`inspect`).

    `on` names what can break it, so that nothing else need be looked at: types of events, moves as
    (old, new) status, `NoneType` for a command without events. Empty: it is asked of every change.
    """

    name: str
    check: Callable[[Change], Iterable[Problem]]
    about_plan: bool = False
    on: frozenset[Trigger] = frozenset()

    def heeds(self, triggers: AbstractSet[Trigger]) -> bool:
        """
        Say whether something among what happened can break the rule.
        """
        moved = StatusChanged in self.on and any(type(trigger) is tuple for trigger in triggers)
        return moved or not self.on or not self.on.isdisjoint(triggers)


RULES: dict[str, Rule] = {}


def trigger_of(event: Event) -> Trigger:
    """
    Return what a rule's `on` calls an event.
    """
    return (event.old, event.new) if type(event) is StatusChanged else type(event)


def _moves(to: Iterable[Status] = Status, *, of: Iterable[Status] = Status) -> set[Trigger]:
    return {(old, new) for old in of for new in to if old is not new}


_STARTED = _moves([Status.IN_PROGRESS])
_COMPLETED = _moves([Status.COMPLETED])
_OPENED = _moves(OPEN, of=RESOLVED)
_REOPENED = _moves(of=[Status.COMPLETED])
_JUMPED: set[Trigger] = {
    (old, move.target) for (old, _), move in TABLE.items() if move.kind is Kind.JUMP
}

_Check = Callable[[Change], Iterable[Problem]]


def _rule(*on: Trigger, about_plan: bool = False) -> Callable[[_Check], _Check]:
    def keep(check: _Check) -> _Check:
        name = check.__name__.strip("_")
        RULES[name] = Rule(name, check, about_plan, frozenset(on))
        return check  # by its name in the module, so that a policy can be pickled

    return keep


def _ids(tasks: Iterable[Task]) -> tuple[str, ...]:
    return tuple(task.id for task in islice(tasks, _SHOWN))


def _anew(change: Change, field: str) -> Iterator[Task]:
    for task in change.written():
        was = change.before.get(task.id)
        if was is None or getattr(was, field) != getattr(task, field):
            yield task


@_rule(*_STARTED, TaskCreated, PlanRestored, about_plan=True)
def _single_in_progress(change: Change) -> Iterable[Problem]:
    now = change.after.counts.in_progress
    if now <= 1 or now <= change.before.counts.in_progress:
        return ()
    return (Problem("single_in_progress", _ids(change.after.active()), seen=str(now), legal="1"),)


@_rule(about_plan=True)
def _some_in_progress(change: Change) -> Iterable[Problem]:
    before, after = change.before.counts, change.after.counts
    if after.in_progress or not after.open or (before.open and not before.in_progress):
        return ()
    return (Problem("some_in_progress", _ids(change.after.ready()), seen="0", legal="1"),)


@_rule()
def _first_in_progress(change: Change) -> Iterable[Problem]:
    after = change.after.counts
    listed = any(change.writes()) or isinstance(change.command, CreateTasks)
    if not listed or change.before.counts.open or after.in_progress or not after.open:
        return ()
    return (Problem("first_in_progress", _ids(change.after.ready()), seen="0", legal="1"),)


@_rule(*_REOPENED, TaskEdited, TaskDeleted, PlanCleared)
def _completed_is_final(change: Change) -> Iterator[Problem]:
    for move in change.moves():
        if move.old is Status.COMPLETED:
            yield Problem("completed_is_final", (move.task_id,), seen=f"set to {move.new}")
    for task in change.written():
        was = change.before.get(task.id)
        if was and was.status is Status.COMPLETED and was.subject != task.subject:
            yield Problem("completed_is_final", (task.id,), seen="reworded")
    if change.before.counts.open:
        for task in change.removed():
            if task.status is Status.COMPLETED:
                yield Problem("completed_is_final", (task.id,), seen="removed")


@_rule(*_JUMPED)
def _linear_status(change: Change) -> Iterator[Problem]:
    for move in change.moves():
        if TABLE[move.old, ACTION_TO[move.new]].kind is Kind.JUMP:
            yield Problem("linear_status", (move.task_id,), seen=f"{move.old} to {move.new}")


def _blocked_moves(change: Change, to: Status) -> Iterable[Problem]:
    late = list(filter(change.after.waits_for, _arrived(change.events, to)))
    return _blocked(change.after, dict.fromkeys(late), to) if late else ()


def _blocked(plan: Plan, task_ids: Iterable[str], to: Status) -> Iterator[Problem]:
    for task in filter(None, map(plan.get, task_ids)):
        if task.status is to:
            waiting = [b for b in task.blocked_by if not plan[b].status.resolved]
            yield Problem(f"blocked_{_VERB[to]}", (task.id,), seen=", ".join(waiting[:_SHOWN]))


def _arrived(events: Sequence[Event], to: Status) -> list[str]:
    arrived = []
    for event in events:
        if type(event) is StatusChanged and event.new is to:
            arrived.append(event.task_id)
        elif type(event) is TaskCreated:
            arrived.append(event.task.id)
    return arrived


_VERB = {Status.IN_PROGRESS: "start", Status.COMPLETED: "complete"}


@_rule(*_STARTED, EdgeAdded)
def _blocked_start(change: Change) -> Iterable[Problem]:
    return _blocked_moves(change, Status.IN_PROGRESS)


@_rule(*_COMPLETED, EdgeAdded)
def _blocked_complete(change: Change) -> Iterable[Problem]:
    return _blocked_moves(change, Status.COMPLETED)


@_rule(TaskDeleted, PlanCleared)
def _dropped_open_items(change: Change) -> Iterable[Problem]:
    if all(write.clear for write in change.writes()):
        return ()
    dropped = tuple(task.id for task in change.removed() if not task.status.resolved)
    return (Problem("dropped_open_items", dropped, seen=str(len(dropped))),) if dropped else ()


@_rule(PlanCleared)
def _empty_write(change: Change) -> Iterable[Problem]:
    still_open = change.before.counts.open
    if not still_open or all(write.todos or write.clear for write in change.writes()):
        return ()
    return (Problem("empty_write", seen=str(still_open)),)


@_rule(TaskCreated, TaskEdited, about_plan=True)
def _duplicate_content(change: Change) -> Iterator[Problem]:
    written = {normalised(task.subject) for task in _anew(change, "subject")}
    if not written:
        return
    texts = Counter(normalised(task.subject) for task in change.after)
    for text in written:
        if texts[text] > 1:
            same = _ids(task for task in change.after if normalised(task.subject) == text)
            yield Problem("duplicate_content", same, seen=str(texts[text]))


def _missing(change: Change, field: str, code: str) -> Iterable[Problem]:
    lacking = tuple(task.id for task in _anew(change, field) if not getattr(task, field))
    return (Problem(code, lacking, seen=field),) if lacking else ()


@_rule(TaskCreated, TaskEdited, about_plan=True)
def _active_form_required(change: Change) -> Iterable[Problem]:
    return _missing(change, "active_form", "active_form_required")


@_rule(TaskCreated, TaskEdited, about_plan=True)
def _priority_required(change: Change) -> Iterable[Problem]:
    return _missing(change, "priority", "priority_required")


@_rule(*_OPENED, TaskCreated, PlanRestored, about_plan=True)
def _max_items(change: Change) -> Iterator[Problem]:
    before, after, limits = change.before.counts, change.after.counts, change.limits
    if limits.items < after.total > before.total:
        yield Problem("max_items", seen=str(after.total), legal=str(limits.items))
    if limits.open_items < after.open > before.open:
        yield Problem("max_items", seen=f"{after.open} open", legal=str(limits.open_items))


@_rule(TaskCreated, TaskEdited, about_plan=True)
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
    return type(event) is TaskEdited


@_rule(EdgeAdded, about_plan=True)
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


@_rule(TaskEdited)
def _owner_taken(change: Change) -> Iterator[Problem]:
    for task in change.written():
        was = change.before.get(task.id)
        if was is not None and was.owner and task.owner and was.owner != task.owner:
            yield Problem("owner_taken", (task.id,), seen=was.owner)


@_rule(*_COMPLETED)
def _batch_completion(change: Change) -> Iterable[Problem]:
    done = tuple(dict.fromkeys(move.task_id for move in change.moves(Status.COMPLETED)))
    return (Problem("batch_completion", done, seen=str(len(done))),) if len(done) > 1 else ()


@_rule(NoneType)
def _no_op_write(change: Change) -> Iterable[Problem]:
    if change.events or not any(change.writes()):
        return ()
    return (Problem("no_op_write"),)
