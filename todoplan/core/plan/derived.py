"""
What follows from the tasks of a plan, and is kept beside them so that nobody works it out anew.

Theory. Every task stands in a slot of a persistent vector (`slots` says which one, `vector` how it
is copied). Beside the tasks stands what would take a walk over all of them to work out: the number
of tasks with each status, of unresolved blockers of each task, its subtasks, how many of the tasks
that contain it are held up, and which tasks are in progress, waiting or ready. A change brings
these up to date for the tasks that it concerns and for no others, and so costs about the same in a
plan of 10 tasks and of 100,000.

A set of tasks is a whole number in which bit n stands for slot n. That is one object whatever its
size, a union or a flip is one operation in C, and "the first one" is the lowest bit; a Python set
of ids would have to be copied for every version of the plan. The bits are flipped (`^=`), not
computed anew: whoever changes what a task's bit follows from asks `_is_ready` before and after.

Law: all of it agrees with the tasks. A task is held up if a blocker of it is unresolved or it waits
for something outside; what is held up holds up all that it contains (law 18).
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
    """
    The tasks of a plan in their slots, and what is kept beside them.
    """

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

    # Filled by `Draft`, at once with its own.
    _active: int
    _counts: list[int]
    _layout: Layout
    _ready: int
    _tasks: Vector[Task | None]
    _tree: Tree | None
    _unresolved: Vector[int]
    _waiting: int

    def get(self, task_id: str) -> Task | None:
        """
        Return the task with this id, or `None`.
        """
        # The slot of an unknown id may be that of another task, as after a reorder: ids decide.
        task = self._tasks[self._layout.slot(task_id)]
        return task if task is not None and task.id == task_id else None

    def children(self, task_id: str) -> tuple[str, ...]:
        """
        Return the ids of the tasks right below this one.
        """
        return () if self._tree is None else self._tree.children[self._layout.slot(task_id)]

    @property
    def has_waiting(self) -> bool:
        """
        Whether some task waits for something outside the plan.
        """
        return self._waiting > 0

    @property
    def nested(self) -> bool:
        """
        Whether some task may lie below another.
        """
        return self._tree is not None

    def waits_for(self, task_id: str) -> int:
        """
        Return how many unresolved blockers the task has.
        """
        return self._unresolved[self._layout.slot(task_id)]

    def waiting(self) -> Iterator[Task]:
        """
        Yield the tasks that wait for something outside the plan.
        """
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
        """
        Return the tree such that it can be written to.
        """
        tree = self._tree
        tree = self._tree = Tree() if tree is None else Tree(tree.children, tree.held)
        return tree

    def _is_ready(self, slot: int, task: Task) -> bool:
        return task.status is _PENDING and task.waiting is None and self._is_free(slot)

    def _is_free(self, slot: int) -> bool:
        """
        Say whether nothing that a task does not hold itself keeps it from being started.
        """
        if self._unresolved[slot]:
            return False
        tree = self._tree
        return tree is None or not (tree.children[slot] or tree.held[slot])

    def _is_held(self, slot: int, task: Task) -> bool:
        return self._unresolved[slot] > 0 or task.waiting is not None

    def _place(self, slot: int, task: Task) -> None:
        """
        Put a new task, which nothing blocks and nothing contains, into its slot.
        """
        self._set_task(slot, task)
        self._counts[COLUMN[task.status]] += 1
        self._flip(slot, task)

    def _take_out(self, slot: int, task: Task) -> None:
        """
        Empty the slot of a task that blocks nothing and contains nothing any more.
        """
        self._counts[COLUMN[task.status]] -= 1
        self._flip(slot, task)
        self._set_task(slot, None)
        self._set_unresolved(slot, 0)

    def _flip(self, slot: int, task: Task) -> None:
        """
        Bring the sets up to date with a task that comes or goes.
        """
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
        """
        Count one unresolved blocker of a task more, or less.
        """
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
        Count, for all that a task contains, one task above it that is held up more, or less.
        """
        # A list, not a recursion: containment may be as deep as the plan has tasks.
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
        Put these tasks into slots 0, 1, 2, ... in the order of their tree, and work out anew all
        that is kept beside them; ids from `first` on are to follow.
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
        # In the order of the tree: what contains a task has been looked at before it.
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
