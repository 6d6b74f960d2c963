"""Where a command is decided: a draft that each event happens to at once, and the faults found."""

from collections.abc import Sequence
from datetime import datetime

from todoplan.core.events.apply import fold
from todoplan.core.events.types import Event, TaskCreated
from todoplan.core.plan.draft import Draft
from todoplan.core.plan.fast_constructor import fast_constructor
from todoplan.core.plan.model import Task
from todoplan.core.problems import Problem

__all__ = ["Transaction"]

_SHOWN = 20
_created = fast_constructor(TaskCreated)


class Transaction:
    """
    One decision under way. Later steps see what earlier ones did; nothing leaves it if one fails.
    """

    __slots__ = ("at", "draft", "events", "problems")

    def __init__(self, draft: Draft, at: datetime | None) -> None:
        self.draft = draft
        self.at = at
        self.events: list[Event] = []
        self.problems: list[Problem] = []

    def emit(self, event: Event) -> None:
        """
        Let the event happen here.
        """
        fold(self.draft, event)
        self.events.append(event)

    def create(self, tasks: Sequence[Task]) -> None:
        """
        Let these new tasks, whose ids go on from the draft's, be created.
        """
        self.draft.add_all(tasks)
        self.draft.revision += len(tasks)
        self.events.extend(map(_created, tasks))

    def fault(
        self, code: str, *task_ids: str, seen: str = "", legal: str = "", path: str = ""
    ) -> None:
        """
        Note a fault; the command will be refused.
        """
        self.problems.append(Problem(code, task_ids, seen, legal, path))

    def find(self, task_id: str, path: str) -> Task | None:
        """
        Return the task, or note that there is none.
        """
        task = self.draft.get(task_id)
        if task is None:
            self.fault("unknown_task", task_id, seen=task_id, legal=self._known(), path=path)
        return task

    def _known(self) -> str:
        known = [task.id for _, task in zip(range(_SHOWN), self.draft, strict=False)]
        more = len(self.draft) - len(known)
        return ", ".join(known) + (f" and {more} more" if more else "")
