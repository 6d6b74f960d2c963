"""Dependencies in plain Python: which tasks are ready, and whether an edge closes a cycle."""

import json

from benchmarks.floors.statuses import Statuses
from benchmarks.floors.tasks import make
from benchmarks.measure import Call
from benchmarks.workload import edges, title

__all__ = ["Graphs"]


class Graphs(Statuses):
    """Operations that walk over all tasks."""

    def ready(self) -> Call:
        """Check every task for readiness; the pending ones form a chain."""
        half = self.size // 2 + 1
        words = ("completed", "pending")
        found = (make(str(n), title(n), words[n >= half]) for n in range(1, self.size + 1))
        tasks = {task.id: task for task in found}
        waits = {str(n): str(n - 1) for n in range(half + 1, self.size + 1)}

        def run() -> list[str]:
            return [
                task.id
                for task in tasks.values()
                if task.status == "pending"
                and (task.id not in waits or tasks[waits[task.id]].status == "completed")
            ]

        return Call(run, lambda ids: ids == [str(half)])

    def cycle_chain(self) -> Call:
        """Refuse an edge from the end of a chain to its beginning."""
        return _cycle(self.size, "chain")

    def cycle_wide(self) -> Call:
        """Refuse an edge from one of many tasks to their common blocker."""
        return _cycle(self.size, "wide")

    def cycle_dense(self) -> Call:
        """Refuse an edge from the last task to the first, with ten blockers for each."""
        return _cycle(self.size, "dense")


def _cycle(size: int, shape: str) -> Call:
    blocks: dict[str, list[str]] = {}
    for before, after in edges(size, shape):
        blocks.setdefault(str(before), []).append(str(after))
    text = json.dumps({"task_id": "1", "add_blocked_by": [str(size)]})

    def run() -> str:
        given = json.loads(text)
        goal, stack, seen = given["add_blocked_by"][0], [given["task_id"]], set[str]()
        while stack:
            here = stack.pop()
            if here == goal:
                return "cycle"
            for near in blocks.get(here, ()):
                if near not in seen:
                    seen.add(near)
                    stack.append(near)
        return "fine"

    return Call(run, lambda said: said == "cycle")
