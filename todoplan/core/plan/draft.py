"""
A plan under construction: the one mutable thing of the core. It never leaves `decide` or `replay`.

Theory. A draft changes the tasks, and has what is kept beside them follow (`derived`, `nesting`).
It keeps two orders right by itself: `blocks` and `blocked_by` mirror each other, and the tasks
stand in the order of their tree, a task's subtasks right behind it. What is added or moved goes to
the end of its siblings. Where that is not the end of the plan, all tasks have to be laid out anew,
and so this is put off (`_late`) until somebody asks for the order: a thousand subtasks cost one
walk.

No rule lives here; what makes no sense (an unknown id, an edge that is there) does nothing.
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
    """
    Starts as a copy of `plan` (cheap: nothing is copied before it is changed).
    """

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
        # Ids that belong at the end of their siblings and do not stand there yet.
        self._late: dict[str, None] = {}

    def freeze(self) -> Plan:
        """
        Return the plan. The draft must not be used afterwards.
        """
        if self._late:
            self._settle()
        # Deleted tasks leave gaps; a plan that is mostly gaps is packed.
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
        """
        How many tasks have each status, as of now.
        """
        return Counts(*self._counts)

    def ready(self) -> Iterator[Task]:
        """
        Yield the tasks that could be started, in order.
        """
        self._settle()
        return self._at(self._ready)

    def active(self) -> Iterator[Task]:
        """
        Yield the tasks in progress.
        """
        return self._at(self._active)

    def add(self, task: Task) -> None:
        """
        Put the task, without edges, behind its siblings: at the end, or below its parent.
        """
        number = number_of(task.id)
        slot = self._layout.slot(task.id)
        if slot != self._tasks.size:
            if not number or self.get(task.id) is not None:
                return
            if not self._tasks.size <= slot <= self._tasks.size + CHUNK:
                # Ids that were skipped leave a gap, which costs nothing while it is small. A slot
                # before the end, or far behind it, is no place to put a task: number them anew.
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
        Put new tasks without edges, ids ascending, at the end; at once if their ids are the next.
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
            self._count_blocker(blocked_id, 1)

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
            self._count_blocker(blocked_id, -1)

    def nest(self, task_id: str, parent: str | None, at: datetime | None) -> None:
        """
        Put the task, with all that it contains, below another one, or at the top (`None`).
        """
        task = self.get(task_id)
        if task is None or task.parent == parent:
            return
        if parent is not None and (parent == task_id or self.get(parent) is None):
            return
        # What contains nothing cannot contain its new parent: no walk for each line of a long list.
        if self.children(task_id) and parent and task_id in ancestors(self, parent):
            return
        self._detach(task)
        moved = task.but(parent=None, updated_at=at or task.updated_at)
        self._set_task(self._layout.slot(task_id), moved)
        self._attach(moved, parent)

    def _attach(self, task: Task, parent: str | None) -> None:
        """
        Put a task that stands at the top below a parent, if there is that, behind its siblings.
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
        Say whether the last task of the plan, but for the new one, is this parent or lies in it.
        """
        backwards = map(self._tasks.__getitem__, reversed(range(self._tasks.size)))
        last = next(task.id for task in backwards if task is not None and task.id != new)
        return parent.id == last or parent.id in ancestors(self, last)

    def _detach(self, task: Task) -> None:
        container = None if task.parent is None else self.get(task.parent)
        if container is not None:
            self._take_from(task, container)

    def remove(self, task_id: str, at: datetime | None) -> None:
        """
        Take the task and its edges out; what it contains goes up, and stands where it stood.
        """
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
        Put the named tasks in this order; those not named follow in theirs, subtasks their parent.
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
        self._late = {}
        self._lay_out(kept, self.next_id)

    def _settle(self) -> None:
        """
        Put what was added or moved out of order where it belongs.
        """
        if self._late:
            late, self._late = self._late, {}
            placed = [task for task in self._tasks if task is not None and task.id not in late]
            self._lay_out([*placed, *filter(None, map(self.get, late))], self.next_id)


def _without(ids: tuple[str, ...], gone: str) -> tuple[str, ...]:
    return tuple(task_id for task_id in ids if task_id != gone)
