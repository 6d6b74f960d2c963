"""Operations on single tasks in plain Python: create, get, add an edge, delete."""

import json

from benchmarks.floors.statuses import Statuses
from benchmarks.floors.tasks import make
from benchmarks.measure import Call
from benchmarks.workload import active_id, open_id, title

__all__ = ["Items"]


class Items(Statuses):
    """Operations on one task. Edges are recorded at both ends, unchecked."""

    def add(self, text: str) -> str:
        """Create a task."""
        given = json.loads(text)
        subject = given.get("subject")
        if not isinstance(subject, str) or not subject.strip():
            return "error"
        task_id = str(self.next_id)
        self.next_id += 1
        self.tasks[task_id] = make(task_id, subject, "pending")
        self.counts["pending"] += 1
        self.journal.append((task_id, subject))
        return f"{self.counts['completed']}/{len(self.tasks)}: #{task_id} created"

    def create(self) -> Call:
        """Create a task. The cost in a dict does not depend on the number of tasks."""
        text = json.dumps({"subject": title(self.size + 1), "description": "As agreed"})

        def tidy() -> None:
            for number in range(self.size + 1, self.next_id):
                del self.tasks[str(number)]
                self.counts["pending"] -= 1
            self.next_id = self.size + 1
            self.journal.clear()

        return Call(lambda: self.add(text), lambda said: said.endswith("created"), tidy=tidy)

    def get(self) -> Call:
        """Read one task in full."""
        text = json.dumps({"task_id": active_id(self.size)})

        def run() -> str:
            task = self.tasks.get(json.loads(text).get("task_id"))
            return f"#{task.id}: {task.subject}\nstatus: {task.status}" if task else "error"

        return Call(run, lambda said: "status: " in said)

    def add_edge(self) -> Call:
        """Record an edge at both of its ends, and remove it again for the next call."""
        text = json.dumps({"task_id": open_id(self.size), "add_blocked_by": [str(self.size)]})

        def run() -> str:
            given = json.loads(text)
            after, before = given["task_id"], given["add_blocked_by"][0]
            task, blocker = self.tasks[after], self.tasks[before]
            if after == before or before in task.blocked_by:
                return "error"
            blocks = (*blocker.blocks, after)
            edge = make(before, blocker.subject, blocker.status, blocks, blocker.blocked_by)
            waits = (*task.blocked_by, before)
            self.tasks[before] = edge
            self.tasks[after] = make(after, task.subject, task.status, task.blocks, waits)
            self.journal.append((after, before))
            self.tasks[before], self.tasks[after] = blocker, task
            return f"#{after} waits for #{before}"

        return Call(run, lambda said: "waits" in said, tidy=self.journal.clear)

    def delete(self) -> Call:
        """Remove a task, and restore it for the next call."""
        text = json.dumps({"task_id": open_id(self.size), "status": "deleted"})

        def run() -> str:
            task = self.tasks.pop(json.loads(text)["task_id"])
            self.counts[task.status] -= 1
            self.journal.append((task.id, "deleted"))
            said = f"{self.counts['completed']}/{len(self.tasks)}: #{task.id} deleted"
            self.tasks[task.id] = task
            self.counts[task.status] += 1
            return said

        return Call(run, lambda said: said.endswith("deleted"), tidy=self.journal.clear)
