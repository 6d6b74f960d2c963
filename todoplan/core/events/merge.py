"""
Two histories of one plan into one: for frameworks whose branches write in the same step.

Theory. Events name tasks by id, and both branches count their new ids from the same number: the
"3" of one and the "3" of the other are two tasks. So the events of one branch are carried out upon
the plan of the other (a rebase), translated: a created task whose id is taken by now gets the next
free one, and every later event of that branch that names it follows. Where the events are not known
but only two plans are, `joined` reads from the plans what must have happened, and rebases that.

Law: no task that either side made is lost (where events are known), no id is used twice, and what
comes out is a plan: an edge that would close a cycle is left out. Of two changes to the same task
the later one stands. What a branch did to the whole list concerns the tasks that it knew, no
others.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

import attrs

from todoplan.core.events.apply import fold, replay
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
from todoplan.core.plan.draft import Draft
from todoplan.core.plan.frozen import FrozenDict
from todoplan.core.plan.graph import may_block, may_contain
from todoplan.core.plan.model import EDITABLE, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.slots import number_of

__all__ = ["changes_between", "joined", "rebased"]

_Ids = dict[str, str]


# LangChain's `todos` has no reducer: two branches that write it in one step are an error there.
def rebased(
    plan: Plan, events: Iterable[Event], renumbered: Mapping[str, str] | None = None
) -> tuple[Plan, _Ids]:
    """
    Return the plan after events that were decided upon another version of it, and the new ids, by
    the old ones, of tasks whose ids were taken.

    `renumbered` is what an earlier call returned for events of the same origin.
    """
    draft, ids = Draft(plan), dict(renumbered or {})
    for event in events:
        for translated in _translated(event, draft, ids):
            fold(draft, translated)
    return draft.freeze(), ids


def _translated(event: Event, draft: Draft, ids: _Ids) -> Iterator[Event]:
    """
    Yield what an event of another version means for the draft. A task that gets a new id is
    entered in `ids`.
    """
    match event:
        case TaskCreated(task):
            if number_of(task.id) < draft.next_id:
                ids[task.id] = str(draft.next_id)
            parent = task.parent and ids.get(task.parent, task.parent)
            yield TaskCreated(task.but(id=ids.get(task.id, task.id), parent=parent))
        case StatusChanged() | TaskEdited() | TaskDeleted() | TaskClaimed() | ClaimRenewed():
            yield attrs.evolve(event, task_id=ids.get(event.task_id, event.task_id))
        case EdgeAdded() | EdgeRemoved():
            blocker, blocked = (ids.get(end, end) for end in (event.blocker, event.blocked))
            # Each branch kept its own edges free of cycles; together they may close one.
            if isinstance(event, EdgeRemoved) or may_block(draft, blocker, blocked):
                yield attrs.evolve(event, blocker=blocker, blocked=blocked)
        case ParentChanged(task_id, parent):
            task_id, parent = ids.get(task_id, task_id), parent and ids.get(parent, parent)
            if parent is None or may_contain(draft, parent, task_id):
                yield attrs.evolve(event, task_id=task_id, parent=parent)
        case TasksReordered(task_ids):
            # Tasks that the writer did not know are not named, and follow behind (Draft.reorder).
            yield attrs.evolve(event, task_ids=tuple(ids.get(end, end) for end in task_ids))
        case PlanCleared(task_ids, at):
            yield from (TaskDeleted(ids.get(end, end), at) for end in task_ids)
        case PlanRestored() | PlanApproved():
            yield event
        case _ as unreachable:
            assert_never(unreachable)


def joined(mine: Plan, other: Plan) -> Plan:
    """
    Return two versions of a plan as one, where what lies between them is not known.

    If `other` followed from `mine`, that is `other`. If not, its order stands, and the tasks that
    only `mine` made follow under new ids. A task that `mine` deleted and `other` still has comes
    back.

    One loss cannot be seen in two plans: where `other` gave out an id and has no such task now, it
    has deleted it, and a task of that id that `mine` made meanwhile passes for the deleted one. So
    rebase events wherever there are any.
    """
    plan, _ = rebased(other, _only_in(mine, other))
    if plan is other or plan == other:
        return other
    # Above both: whoever has seen either revision must see that there is something new.
    return attrs.evolve(plan, revision=max(plan.revision, mine.revision + 1))


def _only_in(mine: Plan, other: Plan) -> Iterator[Event]:
    """
    Yield, as events upon `other`, what `mine` has and `other` has not: new tasks, later changes.
    """
    made = {task.id for task in mine if _is_new(task, other)}
    for task in mine:
        if task.id in made:
            yield TaskCreated(task)
        elif task.id in other and _is_later(task, other[task.id]):
            yield from _differences(task, other[task.id])
    # Edges of new tasks only. langchain-agentkit joins the edges of both sides, and so brings back
    # what one of them removed: dependents of a deleted task stay blocked for ever.
    # Edges last, when both of their ends are there.
    for task in mine:
        for blocker in task.blocked_by:
            if task.id in made or blocker in made:
                yield EdgeAdded(blocker, task.id, task.updated_at)


def _is_new(task: Task, other: Plan) -> bool:
    theirs = other.get(task.id)
    if theirs is None:
        # An id below their next one was theirs as well: they have deleted the task since.
        return number_of(task.id) >= other.next_id
    # The same id in both: one task or two? They began at the same moment, or are two.
    if task.created_at is None and theirs.created_at is None:
        return task.subject != theirs.subject
    return task.created_at != theirs.created_at


def _is_later(task: Task, theirs: Task) -> bool:
    # Without times nobody knows which was later: theirs stands.
    if task.updated_at is None or theirs.updated_at is None:
        return False
    return task.updated_at > theirs.updated_at


def _differences(task: Task, theirs: Task) -> Iterator[Event]:
    # The status first: what a task waits for, and what was found of it, go with a move.
    if task.status is not theirs.status:
        yield StatusChanged(task.id, theirs.status, task.status, task.updated_at)
    moved = theirs.moved(task.status, None) if task.status is not theirs.status else theirs
    changes = {
        name: value
        for name in sorted(EDITABLE)
        if (value := getattr(task, name)) != getattr(moved, name)
    }
    if changes:
        yield TaskEdited(task.id, FrozenDict(changes), task.updated_at)
    if task.parent != theirs.parent:
        yield ParentChanged(task.id, task.parent, task.updated_at)


# What a move of a task implies by itself: `apply` sets it, whoever wrote the other version.
_IMPLIED = ("waiting", "evidence", "claim", "started_at", "completed_at", "updated_at")


def changes_between(was: Plan, now: Plan) -> tuple[tuple[Event, ...], Plan]:
    """
    Return events, without times, that make one version of a plan the other, and the plan to which
    they lead; for lists that others change without saying what they did.

    Times and claims that a change of status implies are set as always. What no smaller event can
    say (a time of creation, the order of edges) is one `PlanRestored`.
    """
    events: list[Event] = [TaskDeleted(task.id) for task in was if task.id not in now]
    removed: list[Event] = []
    added: list[Event] = []
    for task in now:
        old = was.get(task.id)
        if old is task:
            continue
        if old is None:
            events.append(TaskCreated(task.but(blocks=(), blocked_by=())))
        else:
            events += _differences(task.but(updated_at=None), old)
        before = old.blocked_by if old is not None else ()
        removed += [
            EdgeRemoved(end, task.id) for end in before if end in now and end not in task.blocked_by
        ]
        added += [EdgeAdded(end, task.id) for end in task.blocked_by if end not in before]
    events += [*removed, *added]
    after = replay(was, events)
    ids = tuple(task.id for task in now)
    if ids != tuple(task.id for task in after):
        events.append(TasksReordered(ids))
        after = replay(was, events)
    if after.approved != now.approved or not all(map(_is_meant, after, now, map(was.get, ids))):
        events = [PlanRestored(tuple(now), now.next_id, approved=now.approved)]
        after = replay(was, events)
    return tuple(events), after


def _is_meant(after: Task, now: Task, was: Task | None) -> bool:
    if was is not None and was.status is not now.status:
        now = now.but(**{name: getattr(after, name) for name in _IMPLIED})
    return after == now
