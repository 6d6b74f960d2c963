"""
The state while a command is decided: a draft that each event changes at once, and the problems
found.

Law: an edge takes effect as soon as it is added, and no intermediate plan has a cycle. New edges
are checked together, at the end of the command and before any edge or task is removed. Removing can
open an existing cycle, adding never does, so checking the last plan before a removal also covers
all plans before it. Putting a task below another counts as such an edge as well (law 18).
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from todoplan.core.decide.cycles import Edge, closing_edges
from todoplan.core.events.apply import fold
from todoplan.core.events.base import Base
from todoplan.core.events.types import (
    EdgeAdded,
    EdgeRemoved,
    Event,
    ParentChanged,
    PlanCleared,
    PlanRestored,
    TaskCreated,
    TaskDeleted,
)
from todoplan.core.plan.draft import Draft
from todoplan.core.plan.fast_constructor import fast_constructor
from todoplan.core.plan.graph import ancestors, edges_from_above
from todoplan.core.plan.model import Claim, Task, Todo
from todoplan.core.problems import MOST_NAMED, Problem

__all__ = ["Transaction", "claimed"]

_REMOVING = frozenset({EdgeRemoved, TaskDeleted, PlanCleared, PlanRestored})
_created = fast_constructor(TaskCreated)
_NO_FENCES: Mapping[str, int] = MappingProxyType({})


class Transaction:
    """
    A decision in progress. Later steps see the effects of earlier ones; a failed step voids all.
    """

    __slots__ = (
        "actor",
        "at",
        "base",
        "draft",
        "events",
        "fences",
        "lines",
        "problems",
        "unchecked",
    )

    def __init__(
        self,
        draft: Draft,
        at: datetime | None,
        base: Base | None = None,
        actor: str | None = None,
        fences: Mapping[str, int] = _NO_FENCES,
    ) -> None:
        self.draft = draft
        self.at = at
        self.base = base
        self.actor = actor
        self.fences = fences
        self.events: list[Event] = []
        self.lines: tuple[tuple[str, Todo], ...] | None = None
        self.problems: list[Problem] = []
        self.unchecked: dict[Edge, str] = {}

    def emit(self, event: Event) -> None:
        """Record the event and apply it to the draft."""
        if self.unchecked and self._takes_away(event):
            self.check_edges()
        fold(self.draft, event)
        self.events.append(event)

    def _takes_away(self, event: Event) -> bool:
        if type(event) is not ParentChanged:
            return type(event) in _REMOVING
        task = self.draft.get(event.task_id)
        return task is not None and task.parent is not None

    def create(self, tasks: Sequence[Task]) -> None:
        """Create these new tasks, whose ids continue those of the draft."""
        # The same as `fold` for each event, in one step: a first list may be long.
        self.draft.add_all(tasks)
        self.draft.revision += len(tasks)
        self.events.extend(map(_created, tasks))

    def link(self, blocker_id: str, blocked_id: str, path: str) -> None:
        """
        Make one task block another, unless it already does.

        `path` is the place of the edge in the command, for problems.
        """
        # An unknown id is refused (by `find`): AgentScope silently drops such an edge, and in
        # Gemini's tracker the task can then never be closed.
        if blocker_id == blocked_id:
            self.refuse("self_edge", blocker_id, seen=blocker_id, path=path)
            return
        blocker, blocked = self.find(blocker_id, path), self.find(blocked_id, path)
        if blocker is None or blocked is None:
            return
        # Both ends store the edge. The shorter list is searched, because one task may block
        # thousands.
        if len(blocker.blocks) < len(blocked.blocked_by):
            known = blocked_id in blocker.blocks
        else:
            known = blocker_id in blocked.blocked_by
        if not known:
            self.emit(EdgeAdded(blocker_id, blocked_id, self.at))
            self.unchecked[blocker_id, blocked_id] = path

    def unlink(self, blocker_id: str, blocked_id: str, path: str) -> None:
        """Make one task no longer block another."""
        blocker, blocked = self.find(blocker_id, path), self.find(blocked_id, path)
        if blocker is not None and blocked is not None and blocked_id in blocker.blocks:
            self.emit(EdgeRemoved(blocker_id, blocked_id, self.at))

    def nest(self, task: Task, parent: str | None, path: str) -> None:
        """Put a task below another one, or at the top level (`None`)."""
        if parent is None or parent == task.id:
            if parent is not None:
                self.refuse("self_edge", task.id, seen=task.id, path=path)
            elif task.parent is not None:
                self.emit(ParentChanged(task.id, None, self.at))
            return
        if self.find(parent, path) is None or task.parent == parent:
            return
        # A cycle of parents is refused before it exists: the tree of a draft never has one. A task
        # without subtasks cannot close one.
        inner = self.draft.children(task.id)
        above = (parent, *ancestors(self.draft, parent)) if inner else ()
        if task.id in above:
            way = (*reversed(above[: above.index(task.id) + 1]), task.id)
            self.refuse("cycle", *way, seen=" -> ".join(way), path=path)
            return
        self.emit(ParentChanged(task.id, parent, self.at))
        self.unchecked[parent, task.id] = path

    def check_edges(self) -> None:
        """
        Note a problem for each invalid edge among those added since the last check.

        An edge is invalid if it closes a cycle, or joins a task with its ancestor.
        """
        closing = closing_edges(self.draft, self.unchecked)
        for edge, way in closing.items():
            path = self.unchecked[edge]
            self.refuse("cycle", *way, seen=" -> ".join(way), path=path)
        if self.draft.nested:
            self._refuse_within(closing)
        self.unchecked = {}

    def _refuse_within(self, closing: Collection[Edge]) -> None:
        """
        Note a problem for each edge between a task and its ancestor that the added edges caused.
        """
        found: dict[Edge, str] = {}
        looked: set[str] = set()
        for (start, end), path in self.unchecked.items():
            if (start, end) in closing:
                continue
            task = self.draft.get(end)
            if task is not None and task.parent == start:
                # All tasks that moved with this one; each is visited once, however many moves
                # affected it.
                edges = edges_from_above(self.draft, end, looked)
            else:
                edges = ((i, o) for i, o in ((end, start), (start, end)) if self._lies_in(i, o))
            found.update(dict.fromkeys(edges, path))
        for (inner, outer), path in found.items():
            self.refuse("edge_within", inner, outer, seen=inner, legal=outer, path=path)

    def _lies_in(self, inner: str, outer: str) -> bool:
        return bool(self.draft.children(outer)) and outer in ancestors(self.draft, inner)

    def refuse(
        self, code: str, *task_ids: str, seen: str = "", legal: str = "", path: str = ""
    ) -> None:
        """Note a problem; the command will be refused."""
        self.problems.append(Problem(code, task_ids, seen, legal, path))

    def may_change(self, task: Task, path: str = "") -> bool:
        """
        Return True if the status of a task may be changed; otherwise note a problem.

        It may not if another actor has a live claim on the task.
        """
        claim = task.claim
        if claim is None or self.fences.get(task.id) == claim.fence or not claim.is_live(self.at):
            return True
        self.problems.append(claimed(task.id, claim, path))
        return False

    def find(self, task_id: str, path: str) -> Task | None:
        """Return the task; if there is none, note a problem and return `None`."""
        task = self.draft.get(task_id)
        if task is None:
            # Tasks created by this command are not suggested, because they will not exist after it
            # is refused. If the command removes the old tasks, its later parts mean the new ones.
            new = {event.task.id for event in self.events if type(event) is TaskCreated}
            anew = any(type(event) in _REMOVING for event in self.events)
            ids = [task.id for task in self.draft if anew or task.id not in new]
            known, more = ", ".join(ids[:MOST_NAMED]), len(ids) - MOST_NAMED
            legal = f"{known} and {more} more" if more > 0 else known
            self.refuse("unknown_task", task_id, seen=task_id, legal=legal, path=path)
        return task


def claimed(task_id: str, claim: Claim, path: str = "") -> Problem:
    """
    Return the problem that another actor has claimed the task, with that owner and the claim's end.
    """
    until = "" if claim.until is None else f" until {claim.until.isoformat(timespec='seconds')}"
    return Problem("claimed", (task_id,), task_id, f"{claim.owner}{until}", path)
