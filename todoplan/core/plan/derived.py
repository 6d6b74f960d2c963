"""
Data derived from the tasks of a plan: stored beside them, and updated with every change.

Theory. Every task is in a slot of a persistent vector (`slots` computes the slot, `vector` makes
the copies). Beside the tasks is stored everything that would take a walk over all of them to
compute: the number of tasks with each status, the number of unresolved blockers of each task, its
subtasks, how many of its ancestors are held up, and which tasks are in progress, waiting or ready.
A change updates this data only for the tasks that it affects, and so costs about the same in a plan
of 10 tasks as in one of 100,000.

A set of tasks is an integer in which bit n stands for slot n. That is one object whatever its size;
a union or a flip is one operation in C, and the first task is the lowest bit. A Python set of ids
would have to be copied for every version of the plan. Bits are flipped (`^=`), not recomputed: code
that changes a value on which a task's bit depends compares `_is_ready` before and after.

Law: all this data agrees with the tasks. A task is held up if one of its blockers is unresolved or
if it waits for something outside the plan. A task that is held up holds up all tasks that it
contains (law 18).
"""

from collections.abc import Iterable, Iterator
from operator import attrgetter

from todoplan.core.plan.graph import tree_order
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import COLUMN, Tree
from todoplan.core.plan.slots import Layout, bits, positions
from todoplan.core.plan.vector import Vector

__all__ = ["Derived"]

_PENDING, _IN_PROGRESS = Status.PENDING, Status.IN_PROGRESS
_parent_of, _waiting_of = attrgetter("parent"), attrgetter("waiting")


class Derived:
    """The tasks of a plan in their slots, and the data derived from them."""

    __slots__ = (
        "_active",
        "_counts",
        "_layout",
        "_ready",
        "_tasks",
        "_tree",
        "_unresolved",
        "_waiting",
    )

    # Set by `Draft`, together with its own attributes.
    _active: int
    _counts: list[int]
    _layout: Layout
    _ready: int
    _tasks: Vector[Task | None]
    _tree: Tree | None
    _unresolved: Vector[int]
    _waiting: int

    def get(self, task_id: str) -> Task | None:
        """Return the task with this id, or `None`."""
        # The slot computed for an unknown id may hold another task, as after a reorder, so ids are
        # compared.
        task = self._tasks[self._layout.slot(task_id)]
        return task if task is not None and task.id == task_id else None

    def children(self, task_id: str) -> tuple[str, ...]:
        """Return the ids of the direct subtasks of this task."""
        return () if self._tree is None else self._tree.children[self._layout.slot(task_id)]

    @property
    def has_waiting(self) -> bool:
        """Whether any task waits for something outside the plan."""
        return self._waiting > 0

    @property
    def nested(self) -> bool:
        """Whether the plan may contain subtasks."""
        return self._tree is not None

    def waits_for(self, task_id: str) -> int:
        """Return the number of unresolved blockers of the task."""
        return self._unresolved[self._layout.slot(task_id)]

    def waiting(self) -> Iterator[Task]:
        """Yield the tasks that wait for something outside the plan."""
        return self._at(self._waiting)

    def _at(self, slots: int) -> Iterator[Task]:
        return (task for slot in positions(slots) if (task := self._tasks[slot]) is not None)

    def _set_task(self, slot: int, task: Task | None) -> None:
        tasks = self._tasks = self._tasks.builder()
        tasks[slot] = task

    def _set_unresolved(self, slot: int, count: int) -> None:
        if count != self._unresolved[slot]:
            self._unresolved = self._unresolved.builder()
            self._unresolved[slot] = count

    def _own_tree(self) -> Tree:
        """Return a writable tree."""
        tree = self._tree
        tree = self._tree = Tree() if tree is None else Tree(tree.children, tree.held)
        return tree

    def _is_ready(self, slot: int, task: Task) -> bool:
        return task.status is _PENDING and task.waiting is None and self._is_free(slot)

    def _is_free(self, slot: int) -> bool:
        """
        Return True if nothing outside the task prevents it from being started.

        The task's own status and `waiting` are not considered.
        """
        if self._unresolved[slot]:
            return False
        tree = self._tree
        return tree is None or not (tree.children[slot] or tree.held[slot])

    def _is_held(self, slot: int, task: Task) -> bool:
        return self._unresolved[slot] > 0 or task.waiting is not None

    def _place(self, slot: int, task: Task) -> None:
        """Put a new task, which has no blockers and no parent, into its slot."""
        self._set_task(slot, task)
        self._counts[COLUMN[task.status]] += 1
        self._flip(slot, task)

    def _take_out(self, slot: int, task: Task) -> None:
        """Empty the slot of a task that has neither dependents nor subtasks any more."""
        self._counts[COLUMN[task.status]] -= 1
        self._flip(slot, task)
        self._set_task(slot, None)
        self._set_unresolved(slot, 0)

    def _flip(self, slot: int, task: Task) -> None:
        """Update the sets for a task that is added or removed."""
        if task.status is _IN_PROGRESS:
            self._active ^= 1 << slot
        elif task.waiting is not None:
            self._waiting ^= 1 << slot
        elif task.status is _PENDING and self._is_free(slot):
            self._ready ^= 1 << slot

    def _replace(self, slot: int, old: Task, task: Task) -> None:
        self._set_task(slot, task)
        before, after = old.status, task.status
        waited, waits = old.waiting is not None, task.waiting is not None
        if before is after and waited is waits:
            return
        was_ready = before is _PENDING and not waited
        if was_ready is not (after is _PENDING and not waits) and self._is_free(slot):
            self._ready ^= 1 << slot
        if waited is not waits:
            self._waiting ^= 1 << slot
            if not self._unresolved[slot]:
                self._hold_below(task.id, 1 if waits else -1)
        if before is not after:
            self._counts[COLUMN[before]] -= 1
            self._counts[COLUMN[after]] += 1
            if before is _IN_PROGRESS or after is _IN_PROGRESS:
                self._active ^= 1 << slot
            if task.blocks and before.resolved != after.resolved:
                for dependent in task.blocks:
                    self._count_blocker(dependent, 1 if before.resolved else -1)

    def _count_blocker(self, task_id: str, more: int) -> None:
        """Add `more` (1 or -1) to the number of unresolved blockers of a task."""
        slot = self._layout.slot(task_id)
        task = self._tasks[slot]
        if task is None:
            return
        before = self._unresolved[slot]
        self._set_unresolved(slot, before + more)
        if bool(before) is bool(before + more) or task.waiting is not None:
            return
        tree = self._tree
        if task.status is _PENDING and (
            tree is None or not (tree.children[slot] or tree.held[slot])
        ):
            self._ready ^= 1 << slot
        if tree is not None:
            self._hold_below(task_id, more)

    def _hold_below(self, task_id: str, more: int) -> None:
        """
        Add `more` (1 or -1) to the number of ancestors held up, for all descendants of a task.
        """
        # A list instead of recursion: the tree may be as deep as the plan has tasks.
        below = list(self.children(task_id))
        while below:
            task_id = below.pop()
            self._hold(self._layout.slot(task_id), more)
            below += self.children(task_id)

    def _hold(self, slot: int, more: int) -> None:
        task = self._tasks[slot]
        was_ready = task is not None and self._is_ready(slot, task)
        self._own_tree().held[slot] += more
        if task is not None and self._is_ready(slot, task) is not was_ready:
            self._ready ^= 1 << slot

    def _lay_out(self, tasks: Iterable[Task], first: int) -> None:
        """
        Put these tasks into slots 0, 1, 2, ... in the order of their tree, and recompute all
        derived data.

        Ids from `first` on get the slots after them.
        """
        kept = list(tasks)
        nested = any(map(_parent_of, kept))
        if nested:
            kept = tree_order(kept)
        statuses = [task.status for task in kept]
        self._layout = Layout.of((task.id for task in kept), first)
        self._tasks, self._unresolved = Vector[Task | None](None).builder(), Vector(0).builder()
        self._tasks.extend(kept)
        self._tree = None
        self._counts = [statuses.count(status) for status in COLUMN]
        self._active, self._ready = bits(statuses, _IN_PROGRESS), bits(statuses, _PENDING)
        self._waiting = 0
        if any(map(_waiting_of, kept)):
            self._waiting = bits([task.waiting is not None for task in kept], wanted=True)
            self._ready &= ~self._waiting
        linked = [(slot, task) for slot, task in enumerate(kept) if task.blocked_by]
        open_ids = {task.id for task in kept if not task.status.resolved} if linked else ()
        for slot, task in linked:
            count = len([blocker for blocker in task.blocked_by if blocker in open_ids])
            if count:
                self._unresolved[slot] = count
                self._ready &= ~(1 << slot)
        if nested:
            self._lay_out_tree(kept)

    def _lay_out_tree(self, tasks: list[Task]) -> None:
        below: dict[int, list[str]] = {}
        tree = self._own_tree()
        # In tree order, so that a parent is processed before its subtasks.
        for slot, task in enumerate(tasks):
            if task.parent is not None:
                above = self._layout.slot(task.parent)
                below.setdefault(above, []).append(task.id)
                if held := tree.held[above] + self._is_held(above, tasks[above]):
                    tree.held[slot] = held
                    self._ready &= ~(1 << slot)
        for slot, ids in below.items():
            tree.children[slot] = tuple(ids)
            self._ready &= ~(1 << slot)
