"""
A session's knowledge of a plan, and what others have changed since: the merge base (law 15).

A plan has several writers: a model, a person who watches, the program around them, other agents.
Most conflicts arise when one writer undoes a change that it has never seen. For example, a model
writes a whole list from memory, without tasks that were added in the meantime. So only the
differences between a list and the merge base are applied to the plan. The merge base is the plan as
the session last wrote or read it. A task without a line is removed only if the session itself has
listed the task: a model may leave out tasks that others added, even if it was informed of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from todoplan.core.events.apply import Entry, replay
from todoplan.core.events.types import Event, PlanCleared, PlanRestored, TaskDeleted, TasksReordered
from todoplan.core.plan.model import CLOSED, EMPTY, OPEN, FrozenDict, Task, Todo, fast_constructor
from todoplan.core.plan.plan import Plan

NOTHING_LISTED: frozenset[str] = frozenset()
"""The listed tasks of a session that has not used the plan yet."""

_WORDS = ("status", "active_form", "priority", "waiting")


def _by_id(given: Mapping[str, Any]) -> FrozenDict:
    return FrozenDict(given) if given is not EMPTY and given else EMPTY


@attrs.frozen
class Note:
    """
    What a session learns about the plan from one of its calls.

    `lines` are pairs: the id of a task, and the line for this task in the call's list. It is `None`
    if the call had no list. `named` are the ids of the tasks that the call created or named by
    their ids. `read` is the id of the task that the call read, "" if it read the whole plan, or
    `None` if it read nothing.
    """

    lines: tuple[tuple[str, Todo], ...] | None = None
    named: tuple[str, ...] = ()
    read: str | None = None


@attrs.frozen(weakref_slot=False)
class Base:
    """
    A session's knowledge of a plan. `advanced` returns the knowledge after the next calls.

    `plan` is the plan after the session's last answered call; later changes are news to the
    session. `actors` maps the id of each task that others have changed since then to the actor who
    changed it. `listed` are the ids of tasks that the session wrote in a list, created or named;
    `None` stands for all tasks of `plan`, as for an agent that works alone.

    `mine` has the session's own last version of listed tasks that others have changed or deleted
    since. An entry stays until the session writes the task as it now is, or reads the task. `order`
    is the order of the session's own last list, if the plan's order differs.

    `told` is a task id, as a number: the session was informed that tasks with lower ids stay in the
    plan although the session has not listed them. `overflow` means that some entries of `mine` may
    have been discarded; then no line reopens a closed task that the session has not listed since.
    `heard` is the plan after an earlier call of the same turn, if the reply to that call has
    reported the changes up to then.
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
        """Return a task as the session knows it: its version in `mine`, or else in `plan`."""
        return self.mine.get(task_id) or self.plan.get(task_id)

    def tasks(self) -> list[Task]:
        """Return the tasks with which the session's next list is compared, in order."""
        if not self.mine:
            return list(self.plan)
        gone = [task for task in self.mine.values() if task.id not in self.plan]
        return [*(self.mine.get(task.id, task) for task in self.plan), *gone]

    def has_listed(self, task_id: str) -> bool:
        """Return True if the session has listed the task."""
        return task_id in self.plan if self.listed is None else task_id in self.listed

    def may_drop(self, task: Task) -> bool:
        """
        Return True if a list without a line for the task removes the task.

        This is so if the session has listed the task and nobody else has changed it since.
        """
        if task.id in self.mine or not self.has_listed(task.id):
            return False
        was = self.plan.get(task.id)
        # Changed edges and times count as changes, because another task may depend on this one. A
        # renewed claim does not count.
        return was is task or (was is not None and (was == task or _is_renewed(was, task)))

    def may_reopen(self, task: Task) -> bool:
        """Return True if a line with an open status may reopen the task."""
        return not self.overflow or task.status not in CLOSED or self.has_listed(task.id)

    def with_own(self, events: Iterable[Event]) -> "Base":
        """
        Return this knowledge with further events that the session itself caused.

        So the session is not told of these events as changes by others.
        """
        events = tuple(events)
        return attrs.evolve(self, plan=replay(self.plan, events)) if events else self

    def advanced(self, before: Plan, after: Plan, notes: Iterable[Note]) -> "Base":
        """
        Return the session's knowledge after its calls.

        `before` is the plan before the calls, `after` the plan after them; `notes` describe the
        calls.
        """
        notes = tuple(notes)
        if self._knows_as_before(before, after, notes):
            return quick_base(after, EMPTY, self.listed, EMPTY, (), self.told, self.overflow, None)
        said = {task_id: line for note in notes for task_id, line in note.lines or ()}
        named = {task_id for note in notes for task_id in note.named}
        read = {note.read for note in notes if note.read is not None}
        has_read_all = "" in read
        listed = {task.id for task in self.plan} if self.listed is None else set(self.listed)
        mine: dict[str, Task] = {}
        if not has_read_all:
            # The tasks that others have changed or deleted, since `plan` or earlier.
            changed = differences(self.plan, before)
            touched = (one.task.id for one in changed if not _is_renewal(one))
            for task_id in dict.fromkeys((*self.mine, *touched)):
                known, now = self.get(task_id), after.get(task_id)
                if task_id in read or known is None:
                    continue
                if task_id in said:
                    own = _in_words(known, said[task_id])
                    if now is None or _words(own) != _words(now):
                        mine[task_id] = own
                elif task_id in listed and now is not None:
                    # The calls had no line for the task and did not read it. So the session still
                    # knows its own version.
                    if task_id not in named:
                        mine[task_id] = known
                    elif known.subject != now.subject:
                        mine[task_id] = now.but(subject=known.subject)
            if self.overflow:
                # A line with an open status did not reopen its closed task, see `may_reopen`.
                for task_id, line in said.items():
                    task = after.get(task_id)
                    if task is not None and task.status in CLOSED and line.status in OPEN:
                        mine[task_id] = _in_words(task, line)
        listed |= {*said, *named}
        kept = frozenset(one for one in listed if one in after or one in mine)
        is_list = any(note.lines is not None for note in notes)
        told = after.next_id if is_list else self.told
        order = tuple(one for one in (said if is_list else self.order) if one in after)
        ordered = {*order}
        if order == tuple(task.id for task in after if task.id in ordered):
            order = ()
        if not mine and all(task.id in kept for task in after):
            return Base(after, order=order, told=told)
        overflow = self.overflow and not has_read_all
        return Base(after, listed=kept, mine=mine, order=order, told=told, overflow=overflow)

    def _knows_as_before(self, before: Plan, after: Plan, notes: Sequence[Note]) -> bool:
        """
        Return True in a common case: nobody else has written since, and the calls only changed
        tasks that the session has listed.
        """
        if self.plan is not before or self.listed is None or self.mine or self.order:
            return False
        if (count := len(after)) != len(before) or len(self.listed) >= count:
            return False
        return all(
            note.lines is None and note.read is None and self.listed.issuperset(note.named)
            for note in notes
        )

    @property
    def is_alone(self) -> bool:
        """Whether the session has listed all of `plan`, and `mine` and `order` are empty."""
        # Compared by identity first, which calls no method of a mapping: this runs in every call.
        return self.listed is None and not self.order and (self.mine is EMPTY or not self.mine)

    def after(self, events: Iterable[Event], actor: str | None) -> "Base":
        """Return the base with `actors` updated: another actor has caused these events."""
        if actor is None:
            return self
        actors = dict(self.actors)
        for event in events:
            if isinstance(event, PlanRestored):
                actors = _restored_by(actor, self.plan, event, actors)
            else:
                actors |= dict.fromkeys(event.task_ids, actor)
        return attrs.evolve(self, actors=actors)

    def unseen(self, plan: Plan) -> "tuple[Difference, ...]":
        """
        Return the tasks that others have changed since the session last saw the plan.

        They are in the order of the plan, with deleted tasks last.
        """
        changed = differences(self.heard or self.plan, plan, self.actors)
        # Renewals of claims are frequent, and not worth a report.
        return tuple(one for one in changed if not _is_renewal(one))

    def has_news(self, plan: Plan) -> bool:
        """Return True if there are changes to report: changed tasks, or a new approval."""
        return bool(self.unseen(plan)) or self.is_newly_approved(plan)

    def is_newly_approved(self, plan: Plan) -> bool:
        """Return True if a person has approved the plan since the session last saw it."""
        now, was = plan.approved, (self.heard or self.plan).approved
        # Undoing a later approval restores the earlier one, which is not new.
        return now is not None and (was is None or now.revision > was.revision)


quick_base = fast_constructor(Base)


def _in_words(task: Task, line: Todo) -> Task:
    given = {name: getattr(line, name) for name in _WORDS if getattr(line, name) is not None}
    return task.but(subject=line.content, **given)


def _words(task: Task) -> tuple[Any, ...]:
    return (task.subject, *(getattr(task, name) for name in _WORDS))


@attrs.frozen
class Difference:
    """One changed task: `was` is `None` for a new task, `now` is `None` for a deleted task."""

    was: Task | None
    now: Task | None
    actor: str | None = None

    @property
    def task(self) -> Task:
        """The task as it is, or as it was before it was deleted."""
        task = self.now or self.was
        assert task is not None  # noqa: S101 - `differences` sets at least one
        return task


_MOST_ACTORS = 3  # a saved session has the names, and its size is bounded
_Names = tuple[str, ...]
_Who = TypeVar("_Who", str, _Names)


def changed_by(was: Plan, entries: Iterable[Entry]) -> dict[str, str]:
    """
    Return the actors who have changed each task, from the journal entries after the plan `was`.

    Several actors, at most the last three, are joined in the order of their first changes, as
    "ann, bob". For a removed task, only the actor who removed it is returned. A new order of the
    tasks does not count as a change. If a change was undone, neither its author nor the actor who
    undid it is returned.
    """
    entries = tuple(entries)
    actors: dict[str, _Names] = {}
    undoable: dict[int, dict[str, _Names]] = {}  # the actors before each entry, () for none
    for place, entry in enumerate(entries):
        undone = None if entry.undoes is None else undoable.get(entry.undoes)
        if undone is not None:
            actors = {task_id: names for task_id, names in (actors | undone).items() if names}
            continue
        ids = {task_id for event in entry.events for task_id in event.task_ids}
        undoable[entry.revision] = {task_id: actors.get(task_id, ()) for task_id in ids}
        actor = entry.actor
        for event in entry.events:
            if actor is None or isinstance(event, TasksReordered):
                continue
            if isinstance(event, TaskDeleted | PlanCleared):
                actors |= dict.fromkeys(event.task_ids, (actor,))
            elif not isinstance(event, PlanRestored):
                _add(actor, event.task_ids, actors)
            elif entry.undoes is None:
                plan = replay(was, [one for each in entries[:place] for one in each.events])
                found = differences(plan, replay(plan, (event,)))
                _add(actor, [one.task.id for one in found if one.now], actors)
                actors |= {one.task.id: (actor,) for one in found if one.now is None}
            else:
                actors = _restored_by((actor,), was, event, actors)
    return {task_id: ", ".join(names) for task_id, names in actors.items()}


def _add(actor: str, task_ids: Iterable[str], actors: dict[str, _Names]) -> None:
    for task_id in task_ids:
        names = actors.get(task_id, ())
        if actor not in names:
            actors[task_id] = (*names, actor)[-_MOST_ACTORS:]


def _restored_by(
    who: _Who, was: Plan, event: PlanRestored, actors: Mapping[str, _Who]
) -> dict[str, _Who]:
    # A task with a recorded actor keeps that actor: undoing an earlier change does not affect later
    # changes.
    ids = (*(task.id for task in was), *event.task_ids)
    return {**dict.fromkeys(ids, who), **actors}


def _is_renewal(one: Difference) -> bool:
    return one.was is not None and one.now is not None and _is_renewed(one.was, one.now)


def _is_renewed(was: Task, now: Task) -> bool:
    if was.claim is None or now.claim is None:
        return False
    fresh = attrs.evolve(was.claim, until=now.claim.until)
    return fresh == now.claim and was.but(claim=now.claim, updated_at=now.updated_at) == now


def differences(was: Plan, now: Plan, actors: Mapping[str, str] = EMPTY) -> tuple[Difference, ...]:
    """Return the tasks in which two versions of a plan differ, edges and times included."""
    if was is now:
        return ()
    changed = [
        Difference(was.get(task.id), task, actors.get(task.id))
        for task in now
        # Versions share unchanged tasks, so comparing identities decides nearly all cases.
        if (old := was.get(task.id)) is not task and old != task
    ]
    gone = [Difference(task, None, actors.get(task.id)) for task in was if task.id not in now]
    return (*changed, *gone)
