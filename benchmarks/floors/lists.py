"""Operations on whole plans in plain Python: lists, whole-list writes, JSON documents."""

import json
from collections import Counter

from benchmarks.floors.statuses import STATUSES, Statuses
from benchmarks.floors.tasks import FloorTask, make
from benchmarks.measure import Call
from benchmarks.workload import listed

__all__ = ["Lists"]


class Lists(Statuses):
    """Operations on all tasks. Nothing is cached between calls."""

    def list_cold(self) -> Call:
        """Show a line for each task."""

        def run() -> str:
            return "\n".join([f"#{t.id} [{t.status}] {t.subject}" for t in self.tasks.values()])

        return Call(run, lambda said: said.count("\n") == self.size - 1)

    list_warm = list_cold

    def write(self, text: str) -> Call:
        """Make all tasks again from a whole list."""

        def run() -> str:
            given = json.loads(text)["todos"]
            if any(not e["content"].strip() or e["status"] not in STATUSES for e in given):
                return "error"
            tasks = {
                str(number): make(str(number), entry["content"], entry["status"])
                for number, entry in enumerate(given, 1)
            }
            counts = Counter([task.status for task in tasks.values()])
            return f"ok, {counts['completed']}/{len(tasks)} completed"

        return Call(run, lambda said: said.startswith("ok"))

    def write_first(self) -> Call:
        """Write a whole list to an empty plan."""
        return self.write(listed(self.size))

    write_same = write_first

    def write_one(self) -> Call:
        """Write the list with one more task completed."""
        return self.write(listed(self.size, moved=1))

    def write_other(self) -> Call:
        """Write a list without any of the current tasks."""
        return self.write(listed(self.size, verb="Check"))

    def document(self) -> str:
        """Return the plan as JSON."""
        tasks = [
            {"id": t.id, "subject": t.subject, "status": t.status} for t in self.tasks.values()
        ]
        return json.dumps({"next_id": self.next_id, "tasks": tasks})

    def dump_cold(self) -> Call:
        """Return the plan as JSON."""
        return Call(self.document, lambda text: len(json.loads(text)["tasks"]) == self.size)

    dump_warm = dump_cold

    def load(self) -> Call:
        """Read the plan from JSON."""
        text = self.document()

        def run() -> dict[str, FloorTask]:
            found = json.loads(text)["tasks"]
            if any(not e["subject"] or e["status"] not in STATUSES for e in found):
                return {}
            return {e["id"]: make(e["id"], e["subject"], e["status"]) for e in found}

        return Call(run, lambda tasks: len(tasks) == self.size)
