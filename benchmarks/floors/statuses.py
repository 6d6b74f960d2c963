"""Tasks in a dict, their counters and a journal: a change of status in plain Python."""

import json
from collections import Counter
from collections.abc import Callable
from itertools import cycle
from typing import Any

from benchmarks.floors.tasks import FloorTask, make, with_status
from benchmarks.measure import Call
from benchmarks.workload import active_id, entries

__all__ = ["STATUSES", "Statuses", "flipping", "flipping_lean"]

STATUSES = {"pending", "in_progress", "completed", "cancelled"}


class Statuses:
    """A dict of frozen tasks, changed in place, with a journal."""

    name = "floor"

    def __init__(self, size: int) -> None:
        self.size = size
        found = (make(*entry) for entry in entries(size))
        self.tasks: dict[str, FloorTask] = {task.id: task for task in found}
        self.counts = Counter(task.status for task in self.tasks.values())
        self.journal: list[tuple[Any, ...]] = []
        self.next_id = size + 1

    def update(self, text: str) -> str:
        """Change a status."""
        given = json.loads(text)
        task = self.tasks.get(given.get("task_id"))
        status = given.get("status")
        if task is None or status not in STATUSES:
            return "error"
        self.put(task.id, with_status(task, status))
        self.counts[task.status] -= 1
        self.counts[status] += 1
        self.journal.append((task.id, task.status, status))
        return f"{self.counts['completed']}/{len(self.tasks)}: #{task.id} {status}"

    def put(self, task_id: str, task: FloorTask) -> None:
        """Store a changed task."""
        self.tasks[task_id] = task

    def status_change(self) -> Call:
        """Change the status of the middle task back and forth."""
        flip = flipping(self.size)
        return Call(lambda: self.update(flip()), lambda text: "#" in text, tidy=self.journal.clear)


def flipping(size: int, key: str = "task_id") -> Callable[[], str]:
    """Return a function that returns the arguments of a status change, back and forth."""
    told = [{key: active_id(size), "status": each} for each in ("pending", "in_progress")]
    return cycle([json.dumps(each) for each in told]).__next__


def flipping_lean(size: int) -> Callable[[], str]:
    """Return the same for the tool set `lean`: the task is completed, and started again."""
    number = int(active_id(size))
    return cycle([json.dumps({word: [number]}) for word in ("done", "start")]).__next__
