"""
How what is kept beside the tasks follows when a task comes to lie in another one, or leaves it.

Law 18: a task that contains others is never ready, and what is held up holds up all that it
contains. So a task that goes below another one takes on what holds that one up, with all that it
contains itself, and lays it down when it leaves.
"""

from datetime import datetime

from todoplan.core.plan.derived import Derived
from todoplan.core.plan.model import Task

__all__ = ["Nesting"]


class Nesting(Derived):
    """
    The tasks in their slots, as they lie in each other.
    """

    __slots__ = ()

    def _put_below(self, task: Task, container: Task) -> None:
        """
        Count a task that nothing contains among what another one contains.
        """
        slot, above = self._layout.slot(task.id), self._layout.slot(container.id)
        if self._is_ready(above, container):
            self._ready ^= 1 << above
        tree = self._own_tree()
        tree.children[above] = (*tree.children[above], task.id)
        self._hold_all(slot, task, tree.held[above] + self._is_held(above, container))

    def _take_from(self, task: Task, container: Task) -> None:
        """
        Count a task no more among what another one contains.
        """
        slot, above = self._layout.slot(task.id), self._layout.slot(container.id)
        tree = self._own_tree()
        self._hold_all(slot, task, -tree.held[slot])
        tree.children[above] = tuple(each for each in tree.children[above] if each != task.id)
        if self._is_ready(above, container):
            self._ready ^= 1 << above

    def _lift(self, task: Task, at: datetime | None) -> None:
        """
        Put what a task contains beside it, right before it: the order of the tasks stays.
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
