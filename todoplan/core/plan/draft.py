"""
A plan under construction: the one mutable thing of the core. It never leaves `decide` or `replay`.

Theory. Every task stands in a slot of a persistent vector (`slots` says which one, `vector` how it
is copied). Beside the tasks stands what would take a walk over all of them to work out: the number
of tasks with each status, of unresolved blockers of each task, and which tasks are in progress or
ready. A change brings these up to date for the tasks that it concerns and for no others, and so
costs about the same in a plan of 10 tasks and of 100,000.

A set of tasks is a whole number in which bit n stands for slot n. That is one object whatever its
size, a union or a flip is one operation in C, and "the first one" is the lowest bit; a Python set
of ids would have to be copied for every version of the plan. The bits are flipped (`^=`), not
computed anew, and so each change must flip exactly once, after `_waiting` is right for the tasks it
concerns: a second flip would undo the first, and nothing would look at the task again.

Law: `blocks` and `blocked_by` mirror each other, and all that is kept beside the tasks agrees with
them. No rule lives here; what makes no sense (an unknown id, an edge that is there) does nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from todoplan.core.plan.fast_constructor import fast_constructor
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import COLUMN, Counts, Plan
from todoplan.core.plan.slots import Layout, bits, number_of, positions
from todoplan.core.plan.vector import CHUNK, Vector

__all__ = ["Draft"]

_plan = fast_constructor(Plan)
_PENDING, _IN_PROGRESS = Status.PENDING, Status.IN_PROGRESS


class Draft:
    """
    Starts as a copy of `plan` (cheap: nothing is copied before it is changed).
    """

    __slots__ = (
        "_active",
        "_counts",
        "_layout",
        "_ready",
        "_tasks",
        "_waiting",
        "next_id",
        "revision",
    )

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
        # Deleted tasks leave gaps; a plan that is mostly gaps is packed.
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

    def get(self, task_id: str) -> Task | None:
        """
        Return the task with this id, or `None`.
        """
        # The slot of an unknown id may be that of another task, as after a reorder: ids decide.
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
            if not self._tasks.size <= slot <= self._tasks.size + CHUNK:
                # Ids that were skipped leave a gap, which costs nothing while it is small. A slot
                # before the end, or far behind it, is no place to put a task: number them anew.
                self._lay_out(self, number)
                slot = self._tasks.size
        if number >= self.next_id:
            self.next_id = number + 1
        if task.blocks or task.blocked_by:
            task = task.but(blocks=(), blocked_by=())
        self._set_task(slot, task)
        self._counts[COLUMN[task.status]] += 1
        self._flip(slot, None, task.status)

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
        if before is after:
            return
        self._counts[COLUMN[before]] -= 1
        self._counts[COLUMN[after]] += 1
        self._flip(slot, before, after)
        if task.blocks and before.resolved != after.resolved:
            for dependent in task.blocks:
                self._wait(dependent, 1 if before.resolved else -1)

    def link(self, blocker_id: str, blocked_id: str, at: datetime | None) -> None:
        """
        Make `blocked_id` wait for `blocker_id`.
        """
        blocker, blocked = self.get(blocker_id), self.get(blocked_id)
        if blocker is None or blocked is None or blocker_id == blocked_id:
            return
        if blocked_id in blocker.blocks:
            return
        self._set_edges(blocker, at, blocks=(*blocker.blocks, blocked_id))
        self._set_edges(blocked, at, blocked_by=(*blocked.blocked_by, blocker_id))
        if not blocker.status.resolved:
            self._wait(blocked_id, 1)

    def unlink(self, blocker_id: str, blocked_id: str, at: datetime | None) -> None:
        """
        Make `blocked_id` no longer wait for `blocker_id`.
        """
        blocker, blocked = self.get(blocker_id), self.get(blocked_id)
        if blocker is None or blocked is None or blocked_id not in blocker.blocks:
            return
        self._set_edges(blocker, at, blocks=_without(blocker.blocks, blocked_id))
        self._set_edges(blocked, at, blocked_by=_without(blocked.blocked_by, blocker_id))
        if not blocker.status.resolved:
            self._wait(blocked_id, -1)

    def remove(self, task_id: str, at: datetime | None) -> None:
        """
        Take the task and its edges out.
        """
        task = self.get(task_id)
        if task is None:
            return
        for other in map(self.get, task.blocks):
            if other is not None:
                self._set_edges(other, at, blocked_by=_without(other.blocked_by, task_id))
                self._wait(other.id, -(not task.status.resolved))
        for other in map(self.get, task.blocked_by):
            if other is not None:
                self._set_edges(other, at, blocks=_without(other.blocks, task_id))
        slot = self._layout.slot(task_id)
        self._counts[COLUMN[task.status]] -= 1
        self._flip(slot, task.status, None)
        self._set_task(slot, None)
        self._set_waiting(slot, 0)

    def _set_edges(self, task: Task, at: datetime | None, **ends: tuple[str, ...]) -> None:
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
        self.next_id = max(self.next_id, 1, *(number_of(task.id) + 1 for task in kept))  # law 6
        self._lay_out(kept, self.next_id)

    def _set_task(self, slot: int, task: Task | None) -> None:
        tasks = self._tasks = self._tasks.builder()
        tasks[slot] = task

    def _set_waiting(self, slot: int, count: int) -> None:
        if count != self._waiting[slot]:
            self._waiting = self._waiting.builder()
            self._waiting[slot] = count

    def _wait(self, task_id: str, more: int) -> None:
        slot = self._layout.slot(task_id)
        task = self._tasks[slot]
        if task is None:
            return
        before = self._waiting[slot]
        self._set_waiting(slot, before + more)
        if task.status is _PENDING and bool(before) != bool(before + more):
            self._ready ^= 1 << slot

    def _flip(self, slot: int, old: Status | None, new: Status | None) -> None:
        """
        Bring the sets up to date with a task's change of status; `None`: it is not there.

        Once for each change: the old status and the new one differ.
        """
        if (old is _PENDING or new is _PENDING) and not self._waiting[slot]:
            self._ready ^= 1 << slot
        if old is _IN_PROGRESS or new is _IN_PROGRESS:
            self._active ^= 1 << slot

    def _lay_out(self, tasks: Iterable[Task], first: int) -> None:
        """
        Put these tasks into slots 0, 1, 2, ... and work out anew all that is kept beside them;
        ids from `first` on are to follow.
        """
        kept = list(tasks)
        statuses = [task.status for task in kept]
        self._layout = Layout.of((task.id for task in kept), first)
        self._tasks, self._waiting = Vector[Task | None](None).builder(), Vector(0).builder()
        self._tasks.extend(kept)
        self._counts = [statuses.count(status) for status in COLUMN]
        self._active, self._ready = bits(statuses, _IN_PROGRESS), bits(statuses, _PENDING)
        linked = [(slot, task) for slot, task in enumerate(kept) if task.blocked_by]
        open_ids = {task.id for task in kept if not task.status.resolved} if linked else ()
        for slot, task in linked:
            waiting = len([blocker for blocker in task.blocked_by if blocker in open_ids])
            if waiting:
                self._waiting[slot] = waiting
                self._ready &= ~(1 << slot)


def _without(ids: tuple[str, ...], gone: str) -> tuple[str, ...]:
    return tuple(task_id for task_id in ids if task_id != gone)
