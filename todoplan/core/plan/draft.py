"""
A plan under construction: the one mutable thing of the core. It never leaves `decide` or `replay`.

Law: whatever is done to it, `blocks` and `blocked_by` mirror each other, and counts, the tasks in
progress and the ready frontier agree with the tasks. It knows no rule, and what makes no sense (an
unknown id, an edge that is there already) changes nothing.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from todoplan.core.plan.fast_constructor import fast_constructor
from todoplan.core.plan.frontier import COLUMN, Frontier, bits
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import Counts, Plan
from todoplan.core.plan.slots import number_of
from todoplan.core.plan.vector import CHUNK

__all__ = ["Draft"]

_plan = fast_constructor(Plan)
_PENDING, _IN_PROGRESS = Status.PENDING, Status.IN_PROGRESS


class Draft(Frontier):
    """
    Starts as a copy of `plan` (cheap: nothing is copied before it is changed).
    """

    __slots__ = ("next_id", "revision")

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
            self._lay_out(self, self.next_id)
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
        self._counts[COLUMN[task.status]] += 1
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
        for status, column in COLUMN.items():
            self._counts[column] += statuses.count(status)
        self._ready |= bits(statuses, _PENDING) << first
        self._active |= bits(statuses, _IN_PROGRESS) << first

    def _end(self, slot: int, number: int) -> int:
        if self._tasks.size <= slot <= self._tasks.size + CHUNK:
            return slot
        self._lay_out(self, number)
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
            self._counts[COLUMN[before]] -= 1
            self._counts[COLUMN[after]] += 1
            self._settle(slot, before, after)
            if task.blocks:
                self._tell_dependents(task, after.resolved - before.resolved)

    def _tell_dependents(self, task: Task, resolved: int) -> None:
        if resolved:
            for dependent in task.blocks:
                self._wait(dependent, -resolved)

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
        self._counts[COLUMN[task.status]] -= 1
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
        self._lay_out([*named, *(task for task in self if task.id not in seen)], self.next_id)

    def replace(self, tasks: Iterable[Task]) -> None:
        """
        Make these, with their edges, the tasks. Ids go on where they were.
        """
        kept = list(tasks)
        self.next_id = max(self.next_id, 1, *(number_of(task.id) + 1 for task in kept))
        self._lay_out(kept, self.next_id)


def _without(ids: tuple[str, ...], gone: str) -> tuple[str, ...]:
    return tuple(task_id for task_id in ids if task_id != gone)
