"""
Where a command is decided: a draft that each event happens to at once, and the problems found.

Law: an edge counts as soon as it is added, and no plan on the way has a cycle. New edges are
checked together, when the command has been run through, and before any edge or task goes: removing
may open a cycle that was there, adding never does, so the last plan between two checks speaks for
all before it.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from todoplan.core.decide.cycles import Edge, closing_edges
from todoplan.core.events.apply import fold
from todoplan.core.events.types import (
    EdgeAdded,
    EdgeRemoved,
    Event,
    PlanCleared,
    PlanRestored,
    TaskCreated,
    TaskDeleted,
)
from todoplan.core.plan.draft import Draft
from todoplan.core.plan.fast_constructor import fast_constructor
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import MOST_NAMED, Problem

__all__ = ["Transaction"]

_REMOVING = frozenset({EdgeRemoved, TaskDeleted, PlanCleared, PlanRestored})
_created = fast_constructor(TaskCreated)


class Transaction:
    """
    One decision under way. Later steps see what earlier ones did; nothing leaves it if one fails.
    """

    __slots__ = ("at", "base", "draft", "events", "problems", "unchecked")

    def __init__(self, draft: Draft, at: datetime | None, base: Plan | None = None) -> None:
        self.draft = draft
        self.at = at
        self.base = base
        self.events: list[Event] = []
        self.problems: list[Problem] = []
        self.unchecked: dict[Edge, str] = {}

    def emit(self, event: Event) -> None:
        """
        Let the event happen here.
        """
        if self.unchecked and type(event) in _REMOVING:
            self.check_edges()
        fold(self.draft, event)
        self.events.append(event)

    def create(self, tasks: Sequence[Task]) -> None:
        """
        Let these new tasks, whose ids go on from the draft's, be created.
        """
        # What `fold` would do for each event, for all at once: a first list is many lines.
        self.draft.add_all(tasks)
        self.draft.revision += len(tasks)
        self.events.extend(map(_created, tasks))

    def link(self, blocker_id: str, blocked_id: str, path: str) -> None:
        """
        Let one task wait for another, unless it does. `path` is where in the command that stands.
        """
        # An unknown end is refused (`find`): AgentScope drops such an edge in silence, and in the
        # tracker of Gemini the task can then never be closed.
        if blocker_id == blocked_id:
            self.refuse("self_edge", blocker_id, seen=blocker_id, path=path)
            return
        blocker, blocked = self.find(blocker_id, path), self.find(blocked_id, path)
        if blocker is None or blocked is None:
            return
        # Both ends hold the edge; the shorter list is read, for one task may block thousands.
        if len(blocker.blocks) < len(blocked.blocked_by):
            known = blocked_id in blocker.blocks
        else:
            known = blocker_id in blocked.blocked_by
        if not known:
            self.emit(EdgeAdded(blocker_id, blocked_id, self.at))
            self.unchecked[blocker_id, blocked_id] = path

    def unlink(self, blocker_id: str, blocked_id: str, path: str) -> None:
        """
        Let one task wait for another no more.
        """
        blocker, blocked = self.find(blocker_id, path), self.find(blocked_id, path)
        if blocker is not None and blocked is not None and blocked_id in blocker.blocks:
            self.emit(EdgeRemoved(blocker_id, blocked_id, self.at))

    def check_edges(self) -> None:
        """
        Note a problem for each edge, of those added since the last check, that closes a cycle.
        """
        closing = closing_edges(self.draft, self.unchecked)
        for edge, way in closing.items():
            path = self.unchecked[edge]
            self.refuse("cycle", *way, seen=" -> ".join(way), path=path)
        self.unchecked = {}

    def refuse(
        self, code: str, *task_ids: str, seen: str = "", legal: str = "", path: str = ""
    ) -> None:
        """
        Note a problem; the command will be refused.
        """
        self.problems.append(Problem(code, task_ids, seen, legal, path))

    def find(self, task_id: str, path: str) -> Task | None:
        """
        Return the task, or note that there is none.
        """
        task = self.draft.get(task_id)
        if task is None:
            known = ", ".join(task.id for task in islice(self.draft, MOST_NAMED))
            more = len(self.draft) - MOST_NAMED
            legal = f"{known} and {more} more" if more > 0 else known
            self.refuse("unknown_task", task_id, seen=task_id, legal=legal, path=path)
        return task
