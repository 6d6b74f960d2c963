"""
The plan of the naive model: dicts in a list, edges as pairs; every answer is counted anew.

Written from the design and not from the code; of the package it knows only the value classes.
"""

from typing import Any

from todoplan.core.plan.frozen import thaw
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan

__all__ = ["PLAIN", "RESOLVED", "TIMES", "Model", "View", "as_dict", "view"]

View = tuple[list[dict[str, Any]], set[tuple[str, str]], int]
"""Tasks in order, the edges, the next number."""

RESOLVED = ("completed", "cancelled")
TIMES = ("created_at", "updated_at", "started_at", "completed_at")
PLAIN = ("subject", "description", "active_form", "priority", "owner", "estimate")


class Model:
    """
    Tasks as dicts in a list, edges as (blocker, blocked) pairs, the next number.
    """

    def __init__(self) -> None:
        self.tasks: list[dict[str, Any]] = []
        self.edges: list[tuple[str, str]] = []
        self.next_id = 1

    def ids(self) -> list[str]:
        """
        Return all ids, in order.
        """
        return [task["id"] for task in self.tasks]

    def task(self, task_id: str) -> dict[str, Any] | None:
        """
        Return a task, or `None`.
        """
        return next((task for task in self.tasks if task["id"] == task_id), None)

    def known(self, task_id: str) -> dict[str, Any]:
        """
        Return a task that is there.
        """
        return next(task for task in self.tasks if task["id"] == task_id)

    def status(self, task_id: str) -> str:
        """
        Return a task's status.
        """
        return str(self.known(task_id)["status"])

    def waiting(self, task_id: str) -> list[str]:
        """
        Return the unresolved blockers of a task.
        """
        return [a for a, b in self.edges if b == task_id and self.status(a) not in RESOLVED]

    def ready(self) -> list[str]:
        """
        Return the pending tasks that wait for none.
        """
        return [i for i in self.ids() if self.status(i) == "pending" and not self.waiting(i)]

    def active(self) -> list[str]:
        """
        Return the tasks in progress.
        """
        return [i for i in self.ids() if self.status(i) == "in_progress"]

    def open(self) -> list[str]:
        """
        Return what is not resolved.
        """
        return [i for i in self.ids() if self.status(i) not in RESOLVED]

    def count(self, status: str) -> int:
        """
        Return how many tasks have a status.
        """
        return sum(task["status"] == status for task in self.tasks)

    def reaches(self, start: str, goal: str) -> bool:
        """
        Say whether edges lead from one task to another.
        """
        found = {start}
        for _ in self.tasks:
            found |= {b for a, b in self.edges if a in found}
        return goal in found

    def has_cycle(self) -> bool:
        """
        Say whether some task waits for itself.
        """
        return any(self.reaches(b, a) for a, b in self.edges)


def as_dict(task: Task) -> dict[str, Any]:
    """
    Return a real task as the model holds one.
    """
    names = ("id", *PLAIN, "status", *TIMES)
    return {name: getattr(task, name) for name in names} | {"metadata": thaw(task.metadata)}


def view(plan: Plan | Model) -> View:
    """
    Return tasks in order, the set of edges and the next id, of a model or of a real plan.
    """
    if isinstance(plan, Model):
        return plan.tasks, set(plan.edges), plan.next_id
    edges = {(task.id, end) for task in plan for end in task.blocks}
    return [as_dict(task) for task in plan], edges, plan.next_id
