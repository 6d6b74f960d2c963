"""
The plan: an immutable value that holds the tasks in order, the next id and the revision.

Theory. A plan is a value: a change creates a new plan, and code that holds the old one (a loop that
may have to retry, a subscriber, an undo) still reads the old state. This is cheap because versions
share everything that did not change: the tasks are in a persistent vector. The counts, the tasks in
progress and the ready tasks are stored beside it and updated with every change, never recomputed
(`todoplan.core.plan.draft` explains how; only that module makes a plan from another one).

Law: old versions stay readable, and one change costs nearly the same from 10 to 100,000 tasks.
Plans do not know the rules of a policy. Further queries on a plan are in
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
    """The number of tasks with each status."""

    pending: int = 0
    in_progress: int = 0
    completed: int = 0
    cancelled: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        """The number of all tasks."""
        return sum(self)

    @property
    def open(self) -> int:
        """The number of tasks that are pending or in progress."""
        return self.pending + self.in_progress

    @property
    def resolved(self) -> int:
        """The number of tasks that are completed or cancelled."""
        return self.completed + self.cancelled

    @property
    def closed(self) -> int:
        """The number of tasks that are completed, cancelled or failed."""
        return self.resolved + self.failed


COLUMN = {status: column for column, status in enumerate(Status)}
"""The position of each status in `Counts`."""


class Tree:
    """
    The containment of tasks, by slot.

    `children` has the ids of each task's direct subtasks. `held` has, for each task, the number of
    its ancestors that are held up (see `todoplan.core.plan.derived`). A plan without subtasks has
    no tree.
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
        """Make the tree immutable and return it."""
        self.children.freeze()
        self.held.freeze()
        return self


# No eq by attrs: equal plans may have their tasks in different slots, depending on their history.
@attrs.frozen(eq=False, repr=False, weakref_slot=False, kw_only=True)
class Plan:
    """
    A plan. `Plan()` is empty; `plan_of(tasks)` builds a plan from existing tasks and checks them.

    `revision` counts the events since the plan was created, `next_id` is the id of the next new
    task, and `approved` is the revision that a person has approved. The order of a plan is that of
    its tree: each task is directly followed by its subtasks, and each of these by its own. Two
    plans are equal when their tasks, order, revision, next id and approval are equal.
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
        """Return the task with this id, or `None`."""
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
        # Runs in C. Only a gap is falsy, since Task defines neither __len__ nor __bool__.
        return filter(None, self._tasks)

    def ready(self) -> Iterator[Task]:
        """
        Yield the tasks that can be started, in order.

        A ready task is pending, does not wait and has no subtasks. All blockers of the task and of
        its ancestors are resolved, and no ancestor waits.
        """
        return self._at(self._ready)

    def waiting(self) -> Iterator[Task]:
        """Yield the tasks that wait for something outside the plan, in order."""
        return self._at(self._waiting)

    def children(self, task_id: str) -> tuple[str, ...]:
        """Return the ids of the direct subtasks of a task, in order; () for an unknown id."""
        return () if self._tree is None else self._tree.children[self._layout.slot(task_id)]

    @property
    def nested(self) -> bool:
        """Whether the plan may contain subtasks. It is False if the plan never had any."""
        return self._tree is not None

    def active(self) -> Iterator[Task]:
        """Yield the tasks in progress, in order."""
        return self._at(self._active)

    def waits_for(self, task_id: str) -> int:
        """Return the number of unresolved blockers of a task; 0 for an unknown id."""
        return self._unresolved[self._layout.slot(task_id)]

    def written(self, writer: ChunkWriter[Task]) -> list[ChunkText[Task]]:
        """Return the tasks in order as text made by this writer, one entry for each chunk."""
        return writer.parts(self._tasks)

    def waits(self) -> Sequence[Sequence[int]]:
        """
        Return the number of unresolved blockers of each task, in the same chunks as `written`.

        The sequence may end early: tasks without an entry have no unresolved blockers.
        """
        return self._unresolved.chunks()

    # Lazy: most callers want only the first of up to 100,000 ready tasks. The sets contain only
    # slots of tasks, never of gaps; the check is for the type checker.
    def _at(self, slots: int) -> Iterator[Task]:
        return (task for slot in positions(slots) if (task := self._tasks[slot]) is not None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plan):
            return NotImplemented
        if self is other:
            return True
        return _head(self) == _head(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        # The first tasks distinguish plans well enough; hashing 100,000 tasks would take a second.
        return hash((*_head(self), *islice(self, 8)))

    def __repr__(self) -> str:
        done, total = self.counts.resolved, self.counts.total
        return (
            f"<Plan tasks={total} resolved={done} revision={self.revision} next_id={self.next_id}>"
        )


def _head(plan: Plan) -> tuple[int, int, Counts, Approval | None]:
    return plan.revision, plan.next_id, plan.counts, plan.approved
