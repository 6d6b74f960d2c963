"""
What stands in a plan under construction, and what is kept beside it, brought up to date.

Law: counts, the tasks in progress and the ready frontier agree with the tasks.
"""

from collections.abc import Iterable, Iterator, Sequence

from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import Counts
from todoplan.core.plan.slots import Layout, positions
from todoplan.core.plan.vector import Vector

__all__ = ["COLUMN", "Frontier", "bits"]

_PENDING, _IN_PROGRESS = Status.PENDING, Status.IN_PROGRESS
COLUMN = {status: column for column, status in enumerate(Status)}
"""Where in the counts each status stands."""


class Frontier:
    """
    Tasks by their place; `todoplan.core.plan.draft` fills it from a plan, and says what
    happens to them.
    """

    __slots__ = ("_active", "_counts", "_layout", "_ready", "_tasks", "_waiting")

    _active: int
    _counts: list[int]
    _layout: Layout
    _ready: int
    _tasks: Vector[Task | None]
    _waiting: Vector[int]

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

    def _settle(self, slot: int, old: Status | None, new: Status | None) -> None:
        """
        Bring the sets up to date with a task's change of status; `None`: it is not there.
        """
        if (old is _PENDING or new is _PENDING) and not self._waiting[slot]:
            self._ready ^= 1 << slot
        if old is _IN_PROGRESS or new is _IN_PROGRESS:
            self._active ^= 1 << slot

    def _lay_out(self, tasks: Iterable[Task], first: int) -> None:
        kept = list(tasks)
        statuses = [task.status for task in kept]
        self._layout = Layout.of((task.id for task in kept), first)
        self._tasks, self._waiting = Vector[Task | None](None).builder(), Vector(0).builder()
        self._tasks.extend(kept)
        self._counts = [statuses.count(status) for status in COLUMN]
        self._active, self._ready = bits(statuses, _IN_PROGRESS), bits(statuses, _PENDING)
        self._lay_edges([(slot, task) for slot, task in enumerate(kept) if task.blocked_by])

    def _lay_edges(self, linked: Sequence[tuple[int, Task]]) -> None:
        open_ids = {task.id for task in self if not task.status.resolved} if linked else ()
        for slot, task in linked:
            waiting = len([blocker for blocker in task.blocked_by if blocker in open_ids])
            if waiting:
                self._waiting[slot] = waiting
                self._ready &= ~(1 << slot)


def bits(statuses: Sequence[Status], wanted: Status) -> int:
    """
    Return the set of the places where a status stands, as the bits of a number.
    """
    digits = "".join(["1" if status is wanted else "0" for status in reversed(statuses)])
    return int(digits or "0", 2)
