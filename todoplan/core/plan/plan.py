"""
The plan: an immutable value that holds the tasks in order, the next id and the revision.

Theory. A plan is a value: a change gives a new one, and whoever holds the old one (a loop that may
have to retry, a subscriber, an undo) reads it as before. That is affordable since versions share
all that did not change: the tasks stand in a persistent vector, and counts, the tasks in progress
and the ready ones stand beside it and are brought up to date with every change, never worked out
anew (how: `todoplan.core.plan.draft`, the only module that makes a plan out of another).

Law: old versions stay readable, and one change costs near the same from 10 to 100,000 tasks. Plans
do not know rules; what can be asked of them beyond what stands here is in
`todoplan.core.plan.questions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import attrs

from todoplan.core.plan.chunk_text import ChunkText, ChunkWriter
from todoplan.core.plan.model import Approval, Status, Task
from todoplan.core.plan.slots import Layout, positions
from todoplan.core.plan.vector import Vector

__all__ = ["COLUMN", "Counts", "Plan", "Tree"]


class Counts(NamedTuple):
    """
    How many tasks have each status.
    """

    pending: int = 0
    in_progress: int = 0
    completed: int = 0
    cancelled: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        """
        All tasks.
        """
        return sum(self)

    @property
    def open(self) -> int:
        """
        Pending and in progress.
        """
        return self.pending + self.in_progress

    @property
    def resolved(self) -> int:
        """
        Completed and cancelled.
        """
        return self.completed + self.cancelled

    @property
    def closed(self) -> int:
        """
        Completed, cancelled and failed.
        """
        return self.resolved + self.failed


COLUMN = {status: column for column, status in enumerate(Status)}
"""Where in the counts each status stands."""


class Tree:
    """
    What contains what, by slot: the ids of each task's subtasks, and how many of the tasks that
    contain it are held up. A plan without subtasks has none.
    """

    __slots__ = ("children", "held")

    def __init__(
        self,
        children: Vector[tuple[str, ...]] | None = None,
        held: Vector[int] | None = None,
    ) -> None:
        self.children = (Vector[tuple[str, ...]](()) if children is None else children).builder()
        self.held = (Vector(0) if held is None else held).builder()

    def freeze(self) -> Tree:
        """
        Take no more writes.
        """
        self.children.freeze()
        self.held.freeze()
        return self


# No eq of attrs: equal plans may lie in other slots, by how each came about.
@attrs.frozen(eq=False, repr=False, weakref_slot=False, kw_only=True)
class Plan:
    """
    A plan. `Plan()` is the empty one; `plan_of(tasks)` takes ready-made tasks, checked.

    `revision` counts the events of the plan's life, `next_id` numbers the task to come, `approved`
    is what a person has agreed to. A task's subtasks stand right behind it, each with its own: the
    plan's order is that of its tree. Two plans are equal when their tasks, order, revision, next id
    and approval are.
    """

    revision: int = 0
    next_id: int = 1
    approved: Approval | None = None
    counts: Counts = attrs.field(default=Counts(), alias="_counts")
    _tasks: Vector[Task | None] = attrs.field(factory=lambda: Vector(None), alias="_tasks")
    _unresolved: Vector[int] = attrs.field(factory=lambda: Vector(0), alias="_unresolved")
    _layout: Layout = attrs.field(factory=Layout, alias="_layout")
    _active: int = attrs.field(default=0, alias="_active")
    _ready: int = attrs.field(default=0, alias="_ready")
    _waiting: int = attrs.field(default=0, alias="_waiting")
    _tree: Tree | None = attrs.field(default=None, alias="_tree")

    def get(self, task_id: str) -> Task | None:
        """
        Return the task with this id, or `None`.
        """
        task = self._tasks[self._layout.slot(task_id)]
        return task if task is not None and task.id == task_id else None

    def __getitem__(self, task_id: str) -> Task:
        task = self.get(task_id)
        if task is None:
            raise KeyError(task_id)
        return task

    def __contains__(self, task_id: object) -> bool:
        return isinstance(task_id, str) and self.get(task_id) is not None

    def __len__(self) -> int:
        return self.counts.total

    def __iter__(self) -> Iterator[Task]:
        # In C: only a gap is false, since a task has neither a length nor a truth of its own.
        return filter(None, self._tasks)

    def ready(self) -> Iterator[Task]:
        """
        Yield the tasks that can be started, in order: pending, not waiting, without subtasks, and
        every blocker resolved, their own and those of the tasks that contain them.
        """
        return self._at(self._ready)

    def waiting(self) -> Iterator[Task]:
        """
        Yield the tasks that wait for something outside the plan, in order.
        """
        return self._at(self._waiting)

    def children(self, task_id: str) -> tuple[str, ...]:
        """
        Return the ids of the tasks right below this one, in order; () also for an unknown id.
        """
        return () if self._tree is None else self._tree.children[self._layout.slot(task_id)]

    @property
    def nested(self) -> bool:
        """
        Whether there may be subtasks; a plan that never had any says no.
        """
        return self._tree is not None

    def active(self) -> Iterator[Task]:
        """
        Yield the tasks in progress, in order.
        """
        return self._at(self._active)

    def waits_for(self, task_id: str) -> int:
        """
        Return how many unresolved blockers the task has; 0 also for an unknown id.
        """
        return self._unresolved[self._layout.slot(task_id)]

    def written(self, writer: ChunkWriter[Task]) -> list[ChunkText[Task]]:
        """
        Return the tasks in order as this writer writes them, chunk by chunk.
        """
        return writer.parts(self._tasks)

    def waits(self) -> Sequence[Sequence[int]]:
        """
        Return how many unresolved blockers each task has, place by place in the chunks of
        `written`. They may end early: the rest has none.
        """
        return self._unresolved.chunks()

    # Lazy: most callers want the first of what may be 100,000 ready tasks.
    # A gap's bit is never set: the sets name tasks only. The check is for the type checker.
    def _at(self, slots: int) -> Iterator[Task]:
        return (task for slot in positions(slots) if (task := self._tasks[slot]) is not None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plan):
            return NotImplemented
        if self is other:
            return True
        return _head(self) == _head(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        # A few tasks tell plans apart well enough; hashing 100,000 of them would cost a second.
        return hash((*_head(self), *islice(self, 8)))

    def __repr__(self) -> str:
        done, total = self.counts.resolved, self.counts.total
        return (
            f"<Plan tasks={total} resolved={done} revision={self.revision} next_id={self.next_id}>"
        )


def _head(plan: Plan) -> tuple[int, int, Counts, Approval | None]:
    return plan.revision, plan.next_id, plan.counts, plan.approved
