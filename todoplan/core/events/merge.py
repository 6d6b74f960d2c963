"""
Merge two histories of one plan, for frameworks whose branches write in the same step.

Theory. Events refer to tasks by id, and both branches count their new ids from the same number: the
"3" of one branch and the "3" of the other are two tasks. So the events of one branch are replayed
on the plan of the other branch (a rebase), with translated ids. A created task whose id is already
taken gets the next free id, and later events of its branch that refer to the task are changed
accordingly. If there are only two plans and no events, `joined` infers events from the plans, and
rebases these events.

Law: no task of either side is lost (if the events are available), no id is used twice, and the
result is a valid plan: an edge that would close a cycle is left out. If both branches changed the
same task, the later change wins. If a branch cleared or reordered the plan, or restored an earlier
one, this affects only the tasks that the branch knew. Restoring a plan changes a task only if the
earlier plan has it differently.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs

from todoplan.core.events import types
from todoplan.core.events.apply import replay
from todoplan.core.events.types import Event, TaskId
from todoplan.core.plan.model import EDITABLE, FrozenDict, Task
from todoplan.core.plan.plan import Draft, Plan, may_block, may_contain, number_of

_Ids = dict[str, str]
_ID: Any = TaskId  # pyright does not know `|` of an annotated type
_ONE_ID: tuple[Any, ...] = (_ID, _ID | None)
_SEVERAL_IDS: Any = tuple[TaskId, ...]


# LangChain's `todos` has no reducer: there, two branches that write it in one step are an error.
def rebased(
    plan: Plan,
    events: Sequence[Event],
    renumbered: Mapping[str, str] | None = None,
    was: Plan | None = None,
) -> tuple[Plan, _Ids, tuple[Event, ...]]:
    """
    Apply events that were decided for another version of the plan. Return the plan, the new ids,
    and the events that were applied, which lead from `plan` to the returned plan.

    The new ids are a dict from old to new id, for tasks whose id was taken. `renumbered` is the
    dict that an earlier call returned for events of the same branch. `was` is the plan for which
    the events were decided (default: `plan`). Only a `PlanRestored` needs it, to find out what the
    restore has changed.
    """
    draft, ids = Draft(plan), dict(renumbered or {})
    applied: list[Event] = []
    for place, event in enumerate(events):
        if isinstance(event, types.PlanRestored):
            before = replay(plan if was is None else was, events[:place])
            translations = _restoring(event, before, draft, ids)
        else:
            translations = _translated(event, draft, ids)
        for translated in translations:
            draft.revision += 1
            translated.apply_to(draft)
            applied.append(translated)
    return draft.freeze(), ids, tuple(applied)


def _restoring(event: types.PlanRestored, was: Plan, draft: Draft, ids: _Ids) -> Iterator[Event]:
    """
    Yield the events that restore, on the draft, what a branch has restored in its plan `was`.

    Only the tasks that differ from `was` are changed, so that other branches' tasks and changes
    stay.
    """
    events, _ = _changes(was, replay(was, (event,)), event.at)
    for part in events:
        yield from _translated(part, draft, ids, was.next_id)
    # No smaller event sets an earlier approval, or says that higher ids were used elsewhere.
    if event.approved != was.approved or event.next_id > draft.next_id:
        yield types.PlanRestored(tuple(draft), event.next_id, event.at, event.approved)


def _translated(event: Event, draft: Draft, ids: _Ids, known: int = 0) -> Iterator[Event]:
    """
    Yield the events that have, on the draft, the effect of an event for another version.

    If a task gets a new id, the id is added to `ids`. While a plan is restored, `known` is the next
    id of the branch: a created task with a lower id is a restored one, and keeps this id if no
    other task has it.
    """
    if isinstance(event, types.TaskCreated) and number_of(event.task.id) < draft.next_id:
        task_id = event.task.id
        is_back = number_of(task_id) < known and draft.get(ids.get(task_id, task_id)) is None
        if not is_back:
            ids[task_id] = str(draft.next_id)
    event = renumbered(event, ids)
    match event:
        # Neither branch alone has a cycle, but the edges of both branches together may close one.
        case types.EdgeAdded(blocker, blocked) if not may_block(draft, blocker, blocked):
            pass
        case types.ParentChanged(task_id, str(parent)) if not may_contain(draft, parent, task_id):
            pass
        case types.PlanCleared(task_ids, at):
            yield from (types.TaskDeleted(task_id, at) for task_id in task_ids)
        case _:
            # `TasksReordered` does not name tasks that the branch did not know; `Draft.reorder`
            # puts them at the end.
            yield event


def renumbered(event: Event, ids: Mapping[str, str]) -> Event:
    """Return the event with the new ids in `ids`; tasks without a new id keep theirs."""
    changes: dict[str, Any] = {}
    # Fields are found by their types, so that a new kind of event needs no change here.
    for field in attrs.fields(type(event)):
        value = getattr(event, field.name)
        if field.type in _ONE_ID:
            changes[field.name] = ids.get(value, value)
        elif field.type == _SEVERAL_IDS:
            changes[field.name] = tuple(ids.get(task_id, task_id) for task_id in value)
        elif field.type is Task:
            parent = ids.get(value.parent, value.parent)
            changes[field.name] = value.but(id=ids.get(value.id, value.id), parent=parent)
    return attrs.evolve(event, **changes)


def joined(mine: Plan, other: Plan) -> Plan:
    """
    Return the merge of two versions of a plan, if the events between them are not available.

    If `other` was made from `mine`, the result is `other`. If not, the result has the order of
    `other`, and the tasks that only `mine` created follow with new ids. A task that `mine` deleted
    and `other` still has is restored.

    One loss cannot be detected from two plans. If `other` created a task and then deleted it, and
    `mine` created a task with the same id, the task of `mine` is taken for the deleted one and
    lost. So if there are events, rebase them instead.
    """
    plan, _, _ = rebased(other, tuple(_only_in(mine, other)))
    if plan is other or plan == other:
        return other
    # Higher than both: a session that has seen either revision must notice the change.
    return attrs.evolve(plan, revision=max(plan.revision, mine.revision + 1))


def _only_in(mine: Plan, other: Plan) -> Iterator[Event]:
    """Yield the new tasks and later changes of `mine` as events for `other`."""
    made = {task.id for task in mine if _is_new(task, other)}
    for task in mine:
        if task.id in made:
            yield types.TaskCreated(task)
        elif (theirs := other.get(task.id)) is not None:
            # Without times it is unknown which change was later: the task of `other` is kept.
            now, then = task.updated_at, theirs.updated_at
            if now is not None and then is not None and now > then:
                yield from _differences(task, theirs)
    # Only edges of new tasks are added. langchain-agentkit unites the edges of both sides. So it
    # restores edges that one side removed, and tasks that depend on a deleted task stay blocked for
    # ever. Edges are added last, when the tasks at both ends exist.
    for task in mine:
        for blocker in task.blocked_by:
            if task.id in made or blocker in made:
                yield types.EdgeAdded(blocker, task.id, task.updated_at)


def _is_new(task: Task, other: Plan) -> bool:
    theirs = other.get(task.id)
    if theirs is None:
        # `other` has used every id below its next id: it has deleted this task.
        return number_of(task.id) >= other.next_id
    # Both plans have this id: it is one task if the times of creation are equal, else two tasks.
    if task.created_at is None and theirs.created_at is None:
        return task.subject != theirs.subject
    return task.created_at != theirs.created_at


def _differences(task: Task, theirs: Task) -> Iterator[Event]:
    # The status first: changing it may clear the wait and the evidence.
    moved = theirs
    if task.status is not theirs.status:
        yield types.StatusChanged(task.id, theirs.status, task.status, task.updated_at)
        moved = theirs.moved(task.status, None)
    changes = {
        name: value
        for name in sorted(EDITABLE)
        if (value := getattr(task, name)) != getattr(moved, name)
    }
    if changes:
        yield types.TaskEdited(task.id, FrozenDict(changes), task.updated_at)
    if task.parent != theirs.parent:
        yield types.ParentChanged(task.id, task.parent, task.updated_at)


# Fields that `apply` sets when the status changes. The program that wrote the later version may not
# have set them.
_IMPLIED = ("waiting", "evidence", "claim", "started_at", "completed_at", "updated_at")


def changes_between(was: Plan, now: Plan) -> tuple[tuple[Event, ...], Plan]:
    """
    Return events that turn one version of a plan into another, and the resulting plan.

    This is for lists that other programs change without recording events. The events have no times.
    Times and claims that a status change implies are set as usual. A difference that no smaller
    event can express (a time of creation, the order of edges) becomes a single `PlanRestored`.
    """
    events, after = _changes(was, now, None)
    meant = []
    for task, made in zip(now, after, strict=True):
        old = was.get(task.id)
        implied = _IMPLIED if old is not None and old.status is not task.status else ()
        meant.append(made == task.but(**{name: getattr(made, name) for name in implied}))
    if after.approved != now.approved or not all(meant):
        events = [types.PlanRestored(tuple(now), now.next_id, approved=now.approved)]
        after = replay(was, events)
    return tuple(events), after


def _changes(was: Plan, now: Plan, at: datetime | None) -> tuple[list[Event], Plan]:
    """
    Return small events, with the time `at`, that turn one version of a plan into another, as far as
    small events can, and the resulting plan. The approval is left out.
    """
    events: list[Event] = [types.TaskDeleted(task.id, at) for task in was if task.id not in now]
    removed: list[Event] = []
    added: list[Event] = []
    for task in now:
        old = was.get(task.id)
        if old is task:
            continue
        if old is None:
            events.append(types.TaskCreated(task.but(blocks=(), blocked_by=())))
        else:
            events += _differences(task.but(updated_at=at), old)
        before = old.blocked_by if old is not None else ()
        removed += [
            types.EdgeRemoved(end, task.id, at)
            for end in before
            if end in now and end not in task.blocked_by
        ]
        added += [types.EdgeAdded(end, task.id, at) for end in task.blocked_by if end not in before]
    events += [*removed, *added]
    ids = tuple(task.id for task in now)
    after = replay(was, events)
    if ids != tuple(task.id for task in after):
        events.append(types.TasksReordered(ids, at))
        after = replay(was, events)
    return events, after
