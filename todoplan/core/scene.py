"""Where a command is decided: a draft that each event happens to at once, and the faults found."""

from datetime import datetime

import attrs

from todoplan.core.apply import fold
from todoplan.core.draft import Draft
from todoplan.core.events import Event
from todoplan.core.model import Task
from todoplan.core.problems import Problem

__all__ = ["Scene"]

_SHOWN = 20


@attrs.define
class Scene:
    """
    One decision under way. Later steps see what earlier ones did; nothing leaves it if one fails.
    """

    draft: Draft
    at: datetime | None
    events: list[Event] = attrs.Factory(list)
    problems: list[Problem] = attrs.Factory(list)

    def emit(self, event: Event) -> None:
        """
        Let the event happen here.
        """
        fold(self.draft, event)
        self.events.append(event)

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
