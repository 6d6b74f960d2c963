"""
Updates of the derived data when a task is put below another one or taken out of it.

Law 18: a task with subtasks is never ready, and a task that is held up holds up all tasks that it
contains. So a task that moves below a parent is held up, with all its descendants, by everything
that holds up the parent. This ends when the task leaves.
"""

from datetime import datetime

from todoplan.core.plan.derived import Derived
from todoplan.core.plan.model import Task

__all__ = ["Nesting"]


class Nesting(Derived):
    """The tasks in their slots, with operations on their tree."""

    __slots__ = ()

    def _put_below(self, task: Task, container: Task) -> None:
        """Update the derived data for a top-level task that becomes a subtask of `container`."""
        slot, above = self._layout.slot(task.id), self._layout.slot(container.id)
        if self._is_ready(above, container):
            self._ready ^= 1 << above
        tree = self._own_tree()
        tree.children[above] = (*tree.children[above], task.id)
        self._hold_all(slot, task, tree.held[above] + self._is_held(above, container))

    def _take_from(self, task: Task, container: Task) -> None:
        """Update the derived data for a task that stops being a subtask of `container`."""
        slot, above = self._layout.slot(task.id), self._layout.slot(container.id)
        tree = self._own_tree()
        self._hold_all(slot, task, -tree.held[slot])
        tree.children[above] = tuple(each for each in tree.children[above] if each != task.id)
        if self._is_ready(above, container):
            self._ready ^= 1 << above

    def _lift(self, task: Task, at: datetime | None) -> None:
        """
        Move the subtasks of a task up beside it, directly before it, so the order of tasks stays.
        """
        slot, below = self._layout.slot(task.id), self.children(task.id)
        held = self._is_held(slot, task)
        for child in filter(None, map(self.get, below)):
            place = self._layout.slot(child.id)
            moved = child.but(parent=task.parent, updated_at=at or child.updated_at)
            self._set_task(place, moved)
            self._hold_all(place, moved, -held)
        tree = self._own_tree()
        tree.children[slot] = ()
        if self._is_ready(slot, task):
            self._ready ^= 1 << slot
        if task.parent is not None:
            above = self._layout.slot(task.parent)
            ids = tree.children[above]
            here = ids.index(task.id)
            tree.children[above] = (*ids[:here], *below, *ids[here:])

    def _hold_all(self, slot: int, task: Task, more: int) -> None:
        if more:
            self._hold(slot, more)
            self._hold_below(task.id, more)
