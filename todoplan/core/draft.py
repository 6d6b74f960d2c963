"""
A plan under construction: the one mutable thing of the core. It never leaves `decide` or `replay`.

Law: whatever is done to it, `blocks` and `blocked_by` mirror each other, and counts, the tasks in
progress and the ready frontier agree with the tasks. It knows no rule, and what makes no sense (an
unknown id, an edge that is there already) changes nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from todoplan.core.model import Status, Task
from todoplan.core.plan import Counts, Plan
from todoplan.core.slots import Layout, number_of, positions
from todoplan.core.twin import maker
from todoplan.core.vector import CHUNK, Vector

__all__ = ["Draft"]

_plan = maker(Plan)
_PENDING, _IN_PROGRESS = Status.PENDING, Status.IN_PROGRESS
_COLUMN = {status: column for column, status in enumerate(Status)}


class Draft:
    """
    Starts as a copy of `plan` (cheap: nothing is copied before it is changed).
    """

    __slots__ = (
        "_active", "_counts", "_layout", "_ready", "_tasks", "_waiting", "next_id", "revision",
    )  # fmt: skip

    def __init__(self, plan: Plan) -> None:
        self.revision = plan.revision
        self.next_id = plan.next_id
        self._layout = plan._layout
        self._counts = list(plan.counts)
        self._tasks = plan._tasks
        self._waiting = plan._waiting
        self._active = plan._active
        self._ready = plan._ready

    def freeze(self) -> Plan:
        """
        Return the plan. The draft must not be used afterwards.
        """
        if self._tasks.size > CHUNK and self._tasks.size > 2 * sum(self._counts) + CHUNK:
            self._lay_out(self)
        return _plan(
            self.revision,
            self.next_id,
            Counts._make(self._counts),
            self._tasks.freeze(),
            self._waiting.freeze(),
            self._layout,
            self._active,
            self._ready,
        )

    def _set_task(self, slot: int, task: Task | None) -> None:
        tasks = self._tasks = self._tasks.builder()
        tasks[slot] = task

    def _set_waiting(self, slot: int, count: int) -> None:
        if count != self._waiting[slot]:
            self._waiting = self._waiting.builder()
            self._waiting[slot] = count

    def get(self, task_id: str) -> Task | None:
        """
        Return the task with this id, or `None`.
        """
        task = self._tasks[self._layout.slot(task_id)]
        return task if task is not None and task.id == task_id else None

    def __iter__(self) -> Iterator[Task]:
        return (task for task in self._tasks if task is not None)

    def __len__(self) -> int:
        return sum(self._counts)

    @property
    def counts(self) -> Counts:
        """
        How many tasks have each status, as of now.
        """
        return Counts(*self._counts)

    def waits_for(self, task_id: str) -> int:
        """
        Return how many unresolved blockers the task has.
        """
        return self._waiting[self._layout.slot(task_id)]

    def first_ready(self) -> Task | None:
        """
        Return the first task that could be started, or `None`.
        """
        return self._tasks[next(positions(self._ready), -1)]

    def add(self, task: Task) -> None:
        """
        Put the task at the end, without edges.
        """
        number = number_of(task.id)
        slot = self._layout.slot(task.id)
        if slot != self._tasks.size:
            if not number or self.get(task.id) is not None:
                return
            slot = self._end(slot, number)
        if number >= self.next_id:
            self.next_id = number + 1
        if task.blocks or task.blocked_by:
            task = task.but(blocks=(), blocked_by=())
        self._set_task(slot, task)
        self._counts[_COLUMN[task.status]] += 1
        self._settle(slot, None, task.status)

    def add_all(self, tasks: Sequence[Task]) -> None:
        """
        Put new tasks without edges, ids ascending, at the end; at once if their ids are the next.
        """
        first, last = self._tasks.size, self.next_id + len(tasks) - 1
        if not tasks or self._layout.slot(tasks[0].id) != first or tasks[-1].id != str(last):
            for task in tasks:
                self.add(task)
            return
        self._tasks = self._tasks.builder()
        self._tasks.extend(tasks)
        self.next_id = last + 1
        statuses = [task.status for task in tasks]
        for status, column in _COLUMN.items():
            self._counts[column] += statuses.count(status)
        self._ready |= _bits(statuses, _PENDING) << first
        self._active |= _bits(statuses, _IN_PROGRESS) << first

    def _end(self, slot: int, number: int) -> int:
        if self._tasks.size <= slot <= self._tasks.size + CHUNK:
            return slot
        self._lay_out(self, first=number)
        return self._tasks.size

    def move(self, task_id: str, status: Status, at: datetime | None) -> None:
        """
        Take the task to another status.
        """
        slot = self._layout.slot(task_id)
        old = self._tasks[slot]
        if old is not None and old.id == task_id:
            self._replace(slot, old, old.moved(status, at))

    def put(self, task: Task) -> None:
        """
        Replace the task that has this id; its edges stay as they are in the plan.
        """
        slot = self._layout.slot(task.id)
        old = self._tasks[slot]
        if old is not None:
            self._replace(slot, old, task)

    def _replace(self, slot: int, old: Task, task: Task) -> None:
        self._set_task(slot, task)
        before, after = old.status, task.status
        if before is not after:
            self._counts[_COLUMN[before]] -= 1
            self._counts[_COLUMN[after]] += 1
            self._settle(slot, before, after)
            if task.blocks:
                self._tell_dependents(task, after.resolved - before.resolved)

    def _tell_dependents(self, task: Task, resolved: int) -> None:
        if resolved:
            for dependent in task.blocks:
                self._wait(dependent, -resolved)

    def _wait(self, task_id: str, more: int) -> None:
        slot = self._layout.slot(task_id)
        task = self._tasks[slot]
        if task is None:
            return
        before = self._waiting[slot]
        self._set_waiting(slot, before + more)
        if task.status is _PENDING and bool(before) != bool(before + more):
            self._ready ^= 1 << slot

    def _settle(self, slot: int, old: Status | None, new: Status | None) -> None:
        """
        Bring the sets up to date with a task's change of status; `None`: it is not there.
        """
        if (old is _PENDING or new is _PENDING) and not self._waiting[slot]:
            self._ready ^= 1 << slot
        if old is _IN_PROGRESS or new is _IN_PROGRESS:
            self._active ^= 1 << slot

    def link(self, blocker_id: str, blocked_id: str, at: datetime | None) -> None:
        """
        Make `blocked_id` wait for `blocker_id`.
        """
        blocker, blocked = self.get(blocker_id), self.get(blocked_id)
        if blocker is None or blocked is None or blocker_id == blocked_id:
            return
        if blocked_id in blocker.blocks:
            return
        self._edge(blocker, at, blocks=(*blocker.blocks, blocked_id))
        self._edge(blocked, at, blocked_by=(*blocked.blocked_by, blocker_id))
        if not blocker.status.resolved:
            self._wait(blocked_id, 1)

    def unlink(self, blocker_id: str, blocked_id: str, at: datetime | None) -> None:
        """
        Make `blocked_id` no longer wait for `blocker_id`.
        """
        blocker, blocked = self.get(blocker_id), self.get(blocked_id)
        if blocker is None or blocked is None or blocked_id not in blocker.blocks:
            return
        self._edge(blocker, at, blocks=_without(blocker.blocks, blocked_id))
        self._edge(blocked, at, blocked_by=_without(blocked.blocked_by, blocker_id))
        if not blocker.status.resolved:
            self._wait(blocked_id, -1)

    def remove(self, task_id: str, at: datetime | None) -> None:
        """
        Take the task and its edges out.
        """
        task = self.get(task_id)
        if task is None:
            return
        if task.blocks or task.blocked_by:
            self._forget(task, at)
        slot = self._layout.slot(task_id)
        self._counts[_COLUMN[task.status]] -= 1
        self._settle(slot, task.status, None)
        self._set_task(slot, None)
        self._set_waiting(slot, 0)

    def _forget(self, task: Task, at: datetime | None) -> None:
        for other in map(self.get, task.blocks):
            if other is not None:
                self._edge(other, at, blocked_by=_without(other.blocked_by, task.id))
                self._wait(other.id, -(not task.status.resolved))
        for other in map(self.get, task.blocked_by):
            if other is not None:
                self._edge(other, at, blocks=_without(other.blocks, task.id))

    def _edge(self, task: Task, at: datetime | None, **ends: tuple[str, ...]) -> None:
        task = task.but(updated_at=at or task.updated_at, **ends)
        self._set_task(self._layout.slot(task.id), task)

    def reorder(self, task_ids: Iterable[str]) -> None:
        """
        Put the named tasks in this order; those not named follow in theirs.
        """
        named = [task for task_id in dict.fromkeys(task_ids) if (task := self.get(task_id))]
        seen = {task.id for task in named}
        self._lay_out([*named, *(task for task in self if task.id not in seen)])

    def replace(self, tasks: Iterable[Task]) -> None:
        """
        Make these, with their edges, the tasks. Ids go on where they were.
        """
        kept = list(tasks)
        self.next_id = max(self.next_id, 1, *(number_of(task.id) + 1 for task in kept))
        self._lay_out(kept)

    def _lay_out(self, tasks: Iterable[Task], first: int | None = None) -> None:
        kept = list(tasks)
        statuses = [task.status for task in kept]
        self._layout = Layout.of((task.id for task in kept), first or self.next_id)
        self._tasks, self._waiting = Vector[Task | None](None).builder(), Vector(0).builder()
        self._tasks.extend(kept)
        self._counts = [statuses.count(status) for status in _COLUMN]
        self._active, self._ready = _bits(statuses, _IN_PROGRESS), _bits(statuses, _PENDING)
        self._lay_edges([(slot, task) for slot, task in enumerate(kept) if task.blocked_by])

    def _lay_edges(self, linked: Sequence[tuple[int, Task]]) -> None:
        open_ids = {task.id for task in self if not task.status.resolved} if linked else ()
        for slot, task in linked:
            waiting = len([blocker for blocker in task.blocked_by if blocker in open_ids])
            if waiting:
                self._waiting[slot] = waiting
                self._ready &= ~(1 << slot)


def _bits(statuses: Sequence[Status], wanted: Status) -> int:
    digits = "".join(["1" if status is wanted else "0" for status in reversed(statuses)])
    return int(digits or "0", 2)


def _without(ids: tuple[str, ...], gone: str) -> tuple[str, ...]:
    return tuple(task_id for task_id in ids if task_id != gone)
