"""
What a session knows of a plan, and what others have done to it since: the base of a merge (law 15).

A plan has several writers: a model, the person who watches, the program around them, other agents.
Most of what goes wrong between them is one undoing what it has never seen: a whole list is written
from memory, and what was added in the meantime is not on it. So a list means its difference to the
base, the plan as its session last wrote or read it. And a line that is missing drops a task only if
that session has itself listed it: a model may leave out what others added, told of it or not.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from todoplan.core.events.apply import replay
from todoplan.core.events.journal import Entry
from todoplan.core.events.touched import ids_of
from todoplan.core.events.types import Event, PlanRestored
from todoplan.core.plan.frozen import EMPTY, FrozenDict
from todoplan.core.plan.model import CLOSED, OPEN, Task, Todo
from todoplan.core.plan.plan import Plan

__all__ = ["NOTHING_LISTED", "Base", "Difference", "Note", "changed_by", "differences"]

NOTHING_LISTED: frozenset[str] = frozenset()
"""What a new session has listed."""

_WORDS = ("status", "active_form", "priority", "waiting")


def _by_id(given: Mapping[str, Any]) -> FrozenDict:
    return FrozenDict(given) if given else EMPTY


@attrs.frozen
class Note:
    """
    What one call says of its session: which task each line of its list means (`None`: no list), the
    tasks that it named by id or created, and what it read ("" for the whole plan).
    """

    lines: tuple[tuple[str, Todo], ...] | None = None
    named: tuple[str, ...] = ()
    read: str | None = None


@attrs.frozen
class Base:
    """
    What a session knows of a plan; `advanced` says what it knows after its next calls.

    `plan` is the plan as of its last answered call: what came later is news. `actors` says, by task
    id, who changed it since. `listed` are the tasks that the session wrote in a list, created or
    named by id; `None` stands for all of `plan`, as of an agent alone. `mine` are its own last
    words of listed tasks that others have changed or deleted since: they stand until its own list
    takes the change over, or it reads the task. `order` is that of its own last list, where the
    plan has another. Of tasks below the id `told` it was told that they stay. `overflow`: some of
    its words may have been forgotten, so that no line reopens a closed task that it has not listed
    since. `heard` is the plan of which an earlier answer of the same turn has told.
    """

    plan: Plan
    actors: Mapping[str, str] = attrs.field(default=EMPTY, converter=_by_id)
    listed: frozenset[str] | None = None
    mine: Mapping[str, Task] = attrs.field(default=EMPTY, converter=_by_id)
    order: tuple[str, ...] = ()
    told: int = 0
    overflow: bool = False
    heard: Plan | None = None

    def get(self, task_id: str) -> Task | None:
        """
        Return a task in the session's own last words, or as it last saw it.
        """
        return self.mine.get(task_id) or self.plan.get(task_id)

    def tasks(self) -> list[Task]:
        """
        Return the tasks that the session's next list is compared with, in their order.
        """
        if not self.mine:
            return list(self.plan)
        gone = [task for task in self.mine.values() if task.id not in self.plan]
        return [*(self.mine.get(task.id, task) for task in self.plan), *gone]

    def has_listed(self, task_id: str) -> bool:
        """
        Say whether the session has listed a task.
        """
        return task_id in self.plan if self.listed is None else task_id in self.listed

    def may_drop(self, task: Task) -> bool:
        """
        Say whether a missing line drops a task: the session listed it, and nobody changed it since.
        """
        if task.id in self.mine or not self.has_listed(task.id):
            return False
        was = self.plan.get(task.id)
        # Edges and times count too: somebody may rely on it. A claim that goes on does not.
        return was is task or (was is not None and (was == task or _is_renewed(was, task)))

    def may_reopen(self, task: Task) -> bool:
        """
        Say whether a line with an open status reopens a task.
        """
        return not self.overflow or task.status not in CLOSED or self.has_listed(task.id)

    def with_own(self, events: Iterable[Event]) -> "Base":
        """
        Return the base once this session has done this itself, which is no news to it.
        """
        events = tuple(events)
        return attrs.evolve(self, plan=replay(self.plan, events)) if events else self

    def advanced(self, before: Plan, after: Plan, notes: Iterable[Note]) -> "Base":
        """
        Return what the session knows after its calls made `after` of the plan `before`.
        """
        notes = tuple(notes)
        said = {task_id: line for note in notes for task_id, line in note.lines or ()}
        named = {task_id for note in notes for task_id in note.named}
        read = {note.read for note in notes if note.read is not None}
        has_read_all = "" in read
        listed = {task.id for task in self.plan} if self.listed is None else set(self.listed)
        mine: dict[str, Task] = {}
        if not has_read_all:
            for task_id in self._touched(before):
                known, now = self.get(task_id), after.get(task_id)
                if task_id in read or known is None:
                    continue
                if task_id in said:
                    own = _in_words(known, said[task_id])
                    if now is None or _words(own) != _words(now):
                        mine[task_id] = own
                elif task_id in listed and now is not None:
                    # Left out or not asked for: the session still knows it in its own words.
                    if task_id not in named:
                        mine[task_id] = known
                    elif known.subject != now.subject:
                        mine[task_id] = now.but(subject=known.subject)
            if self.overflow:
                mine |= self._ignored(said, after)
        listed |= {*said, *named}
        kept = frozenset(one for one in listed if one in after or one in mine)
        is_list = any(note.lines is not None for note in notes)
        told = after.next_id if is_list else self.told
        order = tuple(one for one in (said if is_list else self.order) if one in after)
        if order and [task.id for task in after if task.id in {*order}] == [*order]:
            order = ()
        if not mine and all(task.id in kept for task in after):
            return Base(after, order=order, told=told)
        overflow = self.overflow and not has_read_all
        return Base(after, listed=kept, mine=mine, order=order, told=told, overflow=overflow)

    def _touched(self, before: Plan) -> Iterable[str]:
        """
        Return the ids of the tasks that others have changed or deleted since this base, or earlier.
        """
        changed = (one.task.id for one in differences(self.plan, before) if not _is_renewal(one))
        return dict.fromkeys((*self.mine, *changed))

    def _ignored(self, said: Mapping[str, Todo], after: Plan) -> dict[str, Task]:
        """
        Return the words of lines that would have reopened a task whose words were forgotten.
        """
        now = {task_id: task for task_id in said if (task := after.get(task_id)) is not None}
        return {
            task_id: _in_words(task, said[task_id])
            for task_id, task in now.items()
            if task.status in CLOSED and said[task_id].status in OPEN
        }

    @property
    def is_alone(self) -> bool:
        """
        Say whether the session has listed all of `plan`, in its words and its order.
        """
        return self.listed is None and not self.mine and not self.order

    def after(self, events: Iterable[Event], actor: str | None) -> "Base":
        """
        Return the base once somebody else has done this as well.
        """
        if actor is None:
            return self
        actors = dict(self.actors)
        for event in events:
            if isinstance(event, PlanRestored):
                actors = _restored_by(actor, self.plan, event, actors)
            else:
                actors |= dict.fromkeys(ids_of(event), actor)
        return attrs.evolve(self, actors=actors)

    def unseen(self, plan: Plan) -> "tuple[Difference, ...]":
        """
        Return what others made of the tasks since, in the order of the plan; what is gone is last.
        """
        changed = differences(self.heard or self.plan, plan, self.actors)
        # Heartbeats of claims are many, and nothing to tell of.
        return tuple(one for one in changed if not _is_renewal(one))

    def has_news(self, plan: Plan) -> bool:
        """
        Say whether there is anything to tell of: tasks that are not as they were, or an approval.
        """
        return bool(self.unseen(plan)) or self.is_newly_approved(plan)

    def is_newly_approved(self, plan: Plan) -> bool:
        """
        Say whether a person has approved the plan since.
        """
        now, was = plan.approved, (self.heard or self.plan).approved
        # A later approval that was undone leaves the earlier one, which is no news.
        return now is not None and (was is None or now.revision > was.revision)


def _in_words(task: Task, line: Todo) -> Task:
    given = {name: getattr(line, name) for name in _WORDS if getattr(line, name) is not None}
    return task.but(subject=line.content, **given)


def _words(task: Task) -> tuple[Any, ...]:
    return (task.subject, *(getattr(task, name) for name in _WORDS))


@attrs.frozen
class Difference:
    """
    One task that is not as it was: `was` is `None` for a new one, `now` for one that is gone.
    """

    was: Task | None
    now: Task | None
    actor: str | None = None

    @property
    def task(self) -> Task:
        """
        The task as it is, or as it was before it went.
        """
        task = self.now or self.was
        assert task is not None  # noqa: S101 - one of them is there, by `differences`
        return task


def changed_by(was: Plan, entries: Iterable[Entry]) -> dict[str, str]:
    """
    Return who changed each task last, by the entries that follow upon a plan. A change that was
    undone counts for nobody: not for its author, nor for whoever undid it.
    """
    entries = tuple(entries)
    actors: dict[str, str] = {}
    undoable: dict[int, dict[str, str | None]] = {}  # by revision: who was known before the entry
    for place, entry in enumerate(entries):
        undone = None if entry.undoes is None else undoable.get(entry.undoes)
        if undone is not None:
            then = {**actors, **undone}
            actors = {task_id: actor for task_id, actor in then.items() if actor is not None}
            continue
        before = actors
        if entry.actor is not None:
            actors = dict(actors)
            for event in entry.events:
                if not isinstance(event, PlanRestored):
                    actors |= dict.fromkeys(ids_of(event), entry.actor)
                elif entry.undoes is None:
                    plan = replay(was, [one for each in entries[:place] for one in each.events])
                    found = differences(plan, replay(plan, (event,)))
                    actors |= {one.task.id: entry.actor for one in found}
                else:
                    actors = _restored_by(entry.actor, was, event, actors)
        ids = {task_id for event in entry.events for task_id in ids_of(event)}
        undoable[entry.revision] = {task_id: before.get(task_id) for task_id in ids}
    return actors


def _restored_by(
    actor: str, was: Plan, event: PlanRestored, actors: Mapping[str, str]
) -> dict[str, str]:
    # What somebody else is known to have changed since, the undo of an earlier change left alone.
    ids = (*(task.id for task in was), *ids_of(event))
    return {**dict.fromkeys(ids, actor), **actors}


def _is_renewal(one: Difference) -> bool:
    return one.was is not None and one.now is not None and _is_renewed(one.was, one.now)


def _is_renewed(was: Task, now: Task) -> bool:
    if was.claim is None or now.claim is None:
        return False
    fresh = attrs.evolve(was.claim, until=now.claim.until)
    return fresh == now.claim and was.but(claim=now.claim, updated_at=now.updated_at) == now


def differences(was: Plan, now: Plan, actors: Mapping[str, str] = EMPTY) -> tuple[Difference, ...]:
    """
    Return the tasks in which two versions of a plan differ, edges and times included.
    """
    if was is now:
        return ()
    changed = [
        Difference(was.get(task.id), task, actors.get(task.id))
        for task in now
        # Versions share what did not change, so identity decides nearly all.
        if (old := was.get(task.id)) is not task and old != task
    ]
    gone = [Difference(task, None, actors.get(task.id)) for task in was if task.id not in now]
    return (*changed, *gone)
