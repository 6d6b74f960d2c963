"""
A plan under construction: the one mutable object of the core. It never leaves `decide` or `replay`.

Theory. A draft changes the tasks and updates the data derived from them (`derived`, `nesting`). It
maintains two invariants by itself: `blocks` and `blocked_by` mirror each other, and the tasks are
in the order of their tree, each directly followed by its subtasks. A task that is added or moved
goes to the end of its siblings. If that is not the end of the plan, all tasks have to be laid out
again. This work is deferred (`_late`) until the order is read, so that adding a thousand subtasks
costs one walk.

A draft checks no rules; a meaningless operation (an unknown id, an edge that exists already) does
nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from operator import attrgetter

from todoplan.core.plan.fast_constructor import fast_constructor
from todoplan.core.plan.graph import ancestors
from todoplan.core.plan.model import Approval, Status, Task
from todoplan.core.plan.nesting import Nesting
from todoplan.core.plan.plan import COLUMN, Counts, Plan
from todoplan.core.plan.slots import bits, number_of
from todoplan.core.plan.vector import CHUNK

__all__ = ["Draft"]

_plan = fast_constructor(Plan)
_PENDING, _IN_PROGRESS = Status.PENDING, Status.IN_PROGRESS
_parent_of, _waiting_of = attrgetter("parent"), attrgetter("waiting")


class Draft(Nesting):
    """A mutable copy of `plan`. Creating it is cheap: data is copied only when it is changed."""

    __slots__ = ("_late", "approved", "next_id", "revision")

    def __init__(self, plan: Plan) -> None:
        self._layout = plan._layout
        self._counts = list(plan.counts)
        self._tasks = plan._tasks
        self._unresolved = plan._unresolved
        self._active = plan._active
        self._ready = plan._ready
        self._waiting = plan._waiting
        self._tree = plan._tree
        self.revision = plan.revision
        self.next_id = plan.next_id
        self.approved: Approval | None = plan.approved
        # Ids of tasks that belong at the end of their siblings but are not there yet.
        self._late: dict[str, None] = {}

    def freeze(self) -> Plan:
        """Return the plan. The draft must not be used afterwards."""
        if self._late:
            self._settle()
        # Deleted tasks leave gaps; a plan with more gaps than tasks is packed.
        if self._tasks.size > CHUNK and self._tasks.size > 2 * sum(self._counts) + CHUNK:
            self._lay_out(self, self.next_id)
        return _plan(
            self.revision,
            self.next_id,
            self.approved,
            Counts._make(self._counts),
            self._tasks.freeze(),
            self._unresolved.freeze(),
            self._layout,
            self._active,
            self._ready,
            self._waiting,
            None if self._tree is None else self._tree.freeze(),
        )

    def __iter__(self) -> Iterator[Task]:
        self._settle()
        return filter(None, self._tasks)

    def __len__(self) -> int:
        return sum(self._counts)

    @property
    def counts(self) -> Counts:
        """The present number of tasks with each status."""
        return Counts(*self._counts)

    def ready(self) -> Iterator[Task]:
        """Yield the tasks that can be started, in order."""
        self._settle()
        return self._at(self._ready)

    def active(self) -> Iterator[Task]:
        """Yield the tasks in progress."""
        return self._at(self._active)

    def add(self, task: Task) -> None:
        """Add the task, without its edges, after its siblings: at the end, or below its parent."""
        number = number_of(task.id)
        slot = self._layout.slot(task.id)
        if slot != self._tasks.size:
            if not number or self.get(task.id) is not None:
                return
            if not self._tasks.size <= slot <= self._tasks.size + CHUNK:
                # Skipped ids leave a gap, which costs nothing while it is small. A slot before the
                # end or far after it cannot be used, so the tasks are laid out again.
                self._settle()
                self._lay_out(self, number)
                slot = self._tasks.size
        if number >= self.next_id:
            self.next_id = number + 1
        parent = task.parent
        if task.blocks or task.blocked_by or parent is not None:
            task = task.but(blocks=(), blocked_by=(), parent=None)
        self._place(slot, task)
        if parent is not None or self._late:
            self._attach(task, parent)

    def add_all(self, tasks: Sequence[Task]) -> None:
        """
        Add new tasks at the end. They have no edges, and their ids ascend.

        If their ids are the next ones, all are added in one step.
        """
        first, last = self._tasks.size, self.next_id + len(tasks) - 1
        if (
            not tasks
            or self._late
            or self._layout.slot(tasks[0].id) != first
            or tasks[-1].id != str(last)
            or any(map(_parent_of, tasks))
            or any(map(_waiting_of, tasks))
        ):
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
        """Change the status of the task."""
        slot = self._layout.slot(task_id)
        old = self._tasks[slot]
        if old is not None and old.id == task_id:
            self._replace(slot, old, old.moved(status, at))

    def put(self, task: Task) -> None:
        """Replace the task that has this id; the edges in the plan stay as they are."""
        slot = self._layout.slot(task.id)
        old = self._tasks[slot]
        if old is not None:
            self._replace(slot, old, task)

    def link(self, blocker_id: str, blocked_id: str, at: datetime | None) -> None:
        """Add an edge: `blocker_id` blocks `blocked_id`."""
        blocker, blocked = self.get(blocker_id), self.get(blocked_id)
        if blocker is None or blocked is None or blocker_id == blocked_id:
            return
        if blocked_id in blocker.blocks:
            return
        self._set_edges(blocker, at, blocks=(*blocker.blocks, blocked_id))
        self._set_edges(blocked, at, blocked_by=(*blocked.blocked_by, blocker_id))
        if not blocker.status.resolved:
            self._count_blocker(blocked_id, 1)

    def unlink(self, blocker_id: str, blocked_id: str, at: datetime | None) -> None:
        """Remove the edge by which `blocker_id` blocks `blocked_id`."""
        blocker, blocked = self.get(blocker_id), self.get(blocked_id)
        if blocker is None or blocked is None or blocked_id not in blocker.blocks:
            return
        self._set_edges(blocker, at, blocks=_without(blocker.blocks, blocked_id))
        self._set_edges(blocked, at, blocked_by=_without(blocked.blocked_by, blocker_id))
        if not blocker.status.resolved:
            self._count_blocker(blocked_id, -1)

    def nest(self, task_id: str, parent: str | None, at: datetime | None) -> None:
        """Move the task, with all its subtasks, below another one, or to the top level (`None`)."""
        task = self.get(task_id)
        if task is None or task.parent == parent:
            return
        if parent is not None and (parent == task_id or self.get(parent) is None):
            return
        # A task without subtasks cannot contain its new parent, so a long list needs no walk per
        # line.
        if self.children(task_id) and parent and task_id in ancestors(self, parent):
            return
        self._detach(task)
        moved = task.but(parent=None, updated_at=at or task.updated_at)
        self._set_task(self._layout.slot(task_id), moved)
        self._attach(moved, parent)

    def _attach(self, task: Task, parent: str | None) -> None:
        """
        Put a task from the top level below a parent, if that exists, after the parent's subtasks.
        """
        container = None if parent is None else self.get(parent)
        slot = self._layout.slot(task.id)
        if container is not None and parent != task.id:
            in_place = slot == self._tasks.size - 1 and self._ends_in(container, task.id)
            self._set_task(slot, task.but(parent=parent))
            self._put_below(task, container)
            if in_place and not self._late:
                return
        elif slot == self._tasks.size - 1 and not self._late:
            return
        self._late.pop(task.id, None)
        self._late[task.id] = None

    def _ends_in(self, parent: Task, new: str) -> bool:
        """
        Return True if the last task, not counting `new`, is this parent or one of its descendants.
        """
        backwards = map(self._tasks.__getitem__, reversed(range(self._tasks.size)))
        last = next(task.id for task in backwards if task is not None and task.id != new)
        return parent.id == last or parent.id in ancestors(self, last)

    def _detach(self, task: Task) -> None:
        container = None if task.parent is None else self.get(task.parent)
        if container is not None:
            self._take_from(task, container)

    def remove(self, task_id: str, at: datetime | None) -> None:
        """Remove the task and its edges. Its subtasks move up one level, to its place."""
        task = self.get(task_id)
        if task is None:
            return
        if self.children(task_id):
            self._settle()
            self._lift(task, at)
        self._detach(task)
        for other in map(self.get, task.blocks):
            if other is not None:
                self._set_edges(other, at, blocked_by=_without(other.blocked_by, task_id))
                self._count_blocker(other.id, -(not task.status.resolved))
        for other in map(self.get, task.blocked_by):
            if other is not None:
                self._set_edges(other, at, blocks=_without(other.blocks, task_id))
        self._take_out(self._layout.slot(task_id), task)
        self._late.pop(task_id, None)

    def _set_edges(self, task: Task, at: datetime | None, **ends: tuple[str, ...]) -> None:
        task = task.but(updated_at=at or task.updated_at, **ends)
        self._set_task(self._layout.slot(task.id), task)

    def reorder(self, task_ids: Iterable[str]) -> None:
        """
        Put the named tasks in this order.

        The tasks not named follow in their present order. Subtasks follow their parent.
        """
        named = [task for task_id in dict.fromkeys(task_ids) if (task := self.get(task_id))]
        seen = {task.id for task in named}
        self._lay_out([*named, *(task for task in self if task.id not in seen)], self.next_id)

    def replace(self, tasks: Iterable[Task]) -> None:
        """Replace all tasks by these, with their edges. The next id never goes back."""
        kept = list(tasks)
        self.next_id = max(self.next_id, 1, *(number_of(task.id) + 1 for task in kept))  # law 6
        self._late = {}
        self._lay_out(kept, self.next_id)

    def _settle(self) -> None:
        """Put tasks that were added or moved into their places."""
        if self._late:
            late, self._late = self._late, {}
            placed = [task for task in self._tasks if task is not None and task.id not in late]
            self._lay_out([*placed, *filter(None, map(self.get, late))], self.next_id)


def _without(ids: tuple[str, ...], gone: str) -> tuple[str, ...]:
    return tuple(task_id for task_id in ids if task_id != gone)
