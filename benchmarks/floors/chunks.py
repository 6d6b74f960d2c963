"""
The floor for a plan whose old versions stay readable: tasks in chunks; a change copies one chunk.
"""

from math import isqrt
from typing import Any

from benchmarks.floors.statuses import Statuses
from benchmarks.floors.tasks import FloorTask

__all__ = ["ChunkedFloor"]


class ChunkedFloor(Statuses):
    """
    Like the floor, with tasks in chunks of about sqrt(n). A change copies one chunk and the chunk
    list.
    """

    name = "floor, copy on write"

    def __init__(self, size: int) -> None:
        super().__init__(size)
        tasks: Any = Chunks(list(self.tasks.values()))
        self.tasks = tasks

    def put(self, task_id: str, task: FloorTask) -> None:
        """Make the next version and replace this one with it."""
        tasks: Any = self.tasks
        self.tasks = tasks.with_task(task_id, task)


class Chunks:
    """Tasks by id in an immutable list of lists."""

    __slots__ = ("chunks", "count", "width")

    def __init__(self, tasks: list[FloorTask]) -> None:
        self.width = width = max(32, isqrt(len(tasks)))
        self.chunks = [tasks[at : at + width] for at in range(0, len(tasks), width)]
        self.count = len(tasks)

    def __len__(self) -> int:
        return self.count

    def get(self, task_id: str) -> FloorTask | None:
        """Return the task, or `None`."""
        chunk, place = divmod(int(task_id) - 1, self.width)
        return self.chunks[chunk][place] if 0 <= chunk < len(self.chunks) else None

    def with_task(self, task_id: str, task: FloorTask) -> "Chunks":
        """Return the next version."""
        chunk, place = divmod(int(task_id) - 1, self.width)
        changed = self.chunks[chunk].copy()
        changed[place] = task
        after = object.__new__(Chunks)
        after.width, after.count = self.width, self.count
        after.chunks = self.chunks.copy()
        after.chunks[chunk] = changed
        return after
