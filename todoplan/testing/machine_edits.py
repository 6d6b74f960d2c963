"""What can be done to the naive model, one thing at a time, with what a rule may ask about it."""

import copy
from collections import Counter
from datetime import datetime
from typing import Any

from todoplan.testing.machine_model import PLAIN, Model

__all__ = ["Edits"]


class Edits:
    """
    A copy of a model that is being changed; the model `before` stays.
    """

    def __init__(self, before: Model, at: datetime | None = None) -> None:
        self.before, self.at = before, at
        self.after = copy.deepcopy(before)
        self.faults: Counter[str] = Counter()
        self.moves: list[tuple[str, str, str]] = []
        self.written: list[str] = []
        self.linked: list[str] = []
        self.removed: list[str] = []
        self.changed = False

    def subject(self, task_id: str) -> str:
        """
        Return what a task is called now.
        """
        return str(self.after.known(task_id)["subject"])

    def known(self, task_id: str) -> bool:
        """
        Say whether there is such a task; if not, that is a fault.
        """
        known = task_id in self.after.ids()
        self.faults["unknown_task"] += not known
        return known

    def touch(self, task_id: str) -> None:
        """
        Let a task count as changed.
        """
        self.changed = True
        task = self.after.known(task_id)
        task["updated_at"] = self.at or task["updated_at"]

    def new(self, subject: str, status: str, **fields: Any) -> str:
        """
        Add a task at the end, and return its id.
        """
        task: dict[str, Any] = dict.fromkeys(PLAIN) | {"subject": subject, "description": ""}
        task |= {"id": str(self.after.next_id), "metadata": {}, "status": str(status)} | fields
        task |= {"created_at": self.at, "updated_at": self.at}
        task["started_at"] = self.at if status == "in_progress" else None
        task["completed_at"] = self.at if status == "completed" else None
        self.after.tasks.append(task)
        self.after.next_id += 1
        self.written.append(task["id"])
        self.changed = True
        return str(task["id"])

    def edge(self, blocker: str, blocked: str) -> None:
        """
        Let one task wait for another.
        """
        if blocker == blocked:
            self.faults["self_edge"] += 1
        elif self.known(blocker) & self.known(blocked):
            if (blocker, blocked) in self.after.edges:
                return
            if self.after.reaches(blocked, blocker):
                self.faults["cycle"] += 1
                return
            self.after.edges.append((blocker, blocked))
            self.linked.append(blocked)
            self.touch(blocker)
            self.touch(blocked)

    def unedge(self, blocker: str, blocked: str) -> None:
        """
        Let one task wait for another no more.
        """
        if self.known(blocker) & self.known(blocked) and (blocker, blocked) in self.after.edges:
            self.after.edges.remove((blocker, blocked))
            self.touch(blocker)
            self.touch(blocked)

    def edit(self, task_id: str, **changes: Any) -> None:
        """
        Set fields of a task.
        """
        task = self.after.known(task_id)
        if any(task[name] != value for name, value in changes.items()):
            task.update(changes)
            self.written.append(task_id)
            self.touch(task_id)

    def move(self, task_id: str, status: str) -> None:
        """
        Set a task's status.
        """
        task = self.after.known(task_id)
        if task["status"] == status:
            return
        self.moves.append((task_id, task["status"], str(status)))
        task["status"] = str(status)
        if status == "in_progress":
            task["started_at"] = task["started_at"] or self.at
        task["completed_at"] = self.at if status == "completed" else None
        self.touch(task_id)

    def delete(self, task_id: str) -> None:
        """
        Remove a task and its edges.
        """
        for blocker, blocked in list(self.after.edges):
            if task_id in (blocker, blocked):
                self.after.edges.remove((blocker, blocked))
                self.touch(blocked if blocker == task_id else blocker)
        self.after.tasks.remove(self.after.known(task_id))
        self.removed.append(task_id)
        self.changed = True
