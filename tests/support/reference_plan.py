"""The reference model's plan: dicts in a list, edges as pairs; every answer is counted anew."""

from todoplan.core.frozen import thaw

RESOLVED = ("completed", "cancelled")
PLAIN = ("subject", "description", "active_form", "priority", "owner", "estimate")


class Model:
    """
    Tasks as dicts in a list, edges as (blocker, blocked) pairs, the next number.
    """

    def __init__(self):
        self.tasks = []
        self.edges = []
        self.next_id = 1

    # questions

    def ids(self):
        return [task["id"] for task in self.tasks]

    def task(self, task_id):
        return next((task for task in self.tasks if task["id"] == task_id), None)

    def status(self, task_id):
        return self.task(task_id)["status"]

    def waiting(self, task_id):
        return [a for a, b in self.edges if b == task_id and self.status(a) not in RESOLVED]

    def ready(self):
        return [i for i in self.ids() if self.status(i) == "pending" and not self.waiting(i)]

    def active(self):
        return [i for i in self.ids() if self.status(i) == "in_progress"]

    def open(self):
        return [i for i in self.ids() if self.status(i) not in RESOLVED]

    def count(self, status):
        return sum(task["status"] == status for task in self.tasks)

    def reaches(self, start, goal):
        found = {start}
        for _ in self.tasks:
            found |= {b for a, b in self.edges if a in found}
        return goal in found

    def has_cycle(self):
        return any(self.reaches(b, a) for a, b in self.edges)


def as_dict(task):
    """
    Return a real task as the model holds one.
    """
    names = ("id", *PLAIN, "status", "created_at", "updated_at", "started_at", "completed_at")
    return {name: getattr(task, name) for name in names} | {"metadata": thaw(task.metadata)}


def view(plan):
    """
    Return tasks in order, the set of edges and the next id, of a model or of a real plan.
    """
    if isinstance(plan, Model):
        return plan.tasks, set(plan.edges), plan.next_id
    edges = {(task.id, end) for task in plan for end in task.blocks}
    return [as_dict(task) for task in plan], edges, plan.next_id
