"""
The naive model: the plan written a second time, slowly and plainly, to hold the first one to.

Why a second one: `Plan` and `decide` are fast because they remember. Counts, ready tasks, numbers
of unresolved blockers and places in a container are carried along from change to change, and what
is carried along can be stale. This model remembers nothing. Tasks are dicts in a list, edges are
pairs, a step copies everything, and every question is answered by looking at everything again.

What it must not share: the code that it judges. It is written from the design; a fault in a shared
function would stand on both sides and never be seen. Of the package it knows the values that go in
and come out (commands, tasks, limits) and which fields a task has: `TASK_FIELDS` says what there is
to compare, so that a new field is compared from the day on which it is declared.
"""

import unicodedata
from typing import Any

import attrs

from todoplan.core.commands import CreateTask
from todoplan.core.plan.model import TASK_FIELDS, FieldKind, Task, thaw

RESOLVED = ("completed", "cancelled")
CLOSED = (*RESOLVED, "failed")
SETTABLE = tuple(
    name
    for name, field in TASK_FIELDS.items()
    if field.editable
    and field.kind not in {FieldKind.METADATA, FieldKind.WAITING}
    and name in attrs.fields_dict(CreateTask)
)
"""
Fields that a command sets as they are given. Metadata is merged key by key, what a task waits for
goes with its status, and no command about a task sets what was answered or found.
"""

_COMPARED = [field for field in TASK_FIELDS.values() if field.kind is not FieldKind.IDS]
_DEFAULTS = {each.name: each.default for each in _COMPARED if each.default is not attrs.NOTHING}


class Model:
    """
    Tasks as dicts in a list, edges as (blocker, blocked) pairs, the next number, the approval.

    The approval is `None`, or a dict of revision, by and at; a revision of `None` is that of the
    step at hand, which counts events, as the model does not.
    """

    def __init__(self) -> None:
        self.tasks: list[dict[str, Any]] = []
        self.edges: list[tuple[str, str]] = []
        self.next_id = 1
        self.approved: dict[str, Any] | None = None

    def __getitem__(self, task_id: str) -> dict[str, Any]:
        return next(task for task in self.tasks if task["id"] == task_id)

    def get(self, task_id: str) -> dict[str, Any] | None:
        """Return a task, or `None`."""
        return next((task for task in self.tasks if task["id"] == task_id), None)

    def add(self, **fields: Any) -> str:
        """Add a task behind its siblings, under the next number; other fields have defaults."""
        # The number only grows (law 6); AgentScope gives a deleted highest id to the next task.
        task = {**_DEFAULTS, "metadata": {}, **fields, "id": str(self.next_id)}
        self.tasks.append(task)
        self.next_id += 1
        self.arrange()
        return str(task["id"])

    def arrange(self, order: list[str] | None = None) -> None:
        """
        Put siblings in this order, of all ids, else as they stand, and each task's subtree right
        behind it.
        """
        place = {task_id: number for number, task_id in enumerate(order or self.ids())}
        parents = {task["id"]: task["parent"] for task in self.tasks}

        def way(task: dict[str, Any]) -> list[int]:
            step, places = task["id"], []
            while step is not None:
                places.append(place[step])
                step = parents[step]
            return places[::-1]

        # A task sorts by the places of all that it lies in, from the top: its own subtree has these
        # and more, and so nothing else comes in between.
        self.tasks.sort(key=way)

    def ids(self) -> list[str]:
        """Return all ids, in order."""
        return [task["id"] for task in self.tasks]

    def status(self, task_id: str) -> str:
        """Return a task's status."""
        return str(self[task_id]["status"])

    def children(self, task_id: str) -> list[str]:
        """Return the ids of the tasks right below this one, in order."""
        return [task["id"] for task in self.tasks if task["parent"] == task_id]

    def ancestors(self, task_id: str) -> list[str]:
        """Return the ids of what contains this task, from the nearest on."""
        above: list[str] = []
        parent = self[task_id]["parent"]
        while parent is not None:
            above.append(parent)
            parent = self[parent]["parent"]
        return above

    def subtree(self, task_id: str) -> list[str]:
        """Return the ids of this task and of all that it contains, in order."""
        return [i for i in self.ids() if i == task_id or task_id in self.ancestors(i)]

    def blockers(self, task_id: str) -> list[str]:
        """Return the unresolved blockers of a task; a failed one is unresolved."""
        # Law 7: edges stay and are filtered here. AgentScope removes them on completion: reopened,
        # the task blocks nobody, and who is linked to a completed one waits for ever.
        return [a for a, b in self.edges if b == task_id and self.status(a) not in RESOLVED]

    def waiting(self) -> list[str]:
        """Return the tasks that wait for something outside the plan."""
        return [task["id"] for task in self.tasks if task["waiting"] is not None]

    def held(self, task_id: str) -> bool:
        """Say whether a task is blocked, or waits."""
        return bool(self.blockers(task_id)) or task_id in self.waiting()

    def ready(self) -> list[str]:
        """Return the pending leaves that are not held up, and lie in nothing that is (law 18)."""
        leaves = [i for i in self.ids() if self.status(i) == "pending" and not self.children(i)]
        return [i for i in leaves if not any(map(self.held, (i, *self.ancestors(i))))]

    def active(self) -> list[str]:
        """Return the tasks in progress."""
        return [i for i in self.ids() if self.status(i) == "in_progress"]

    def open(self) -> list[str]:
        """Return what is not closed."""
        return [i for i in self.ids() if self.status(i) not in CLOSED]

    def reaches(self, start: str, goal: str) -> bool:
        """
        Say whether what holds up one task would hold up another: along edges, and down the tree.
        """
        ways = {*self.edges, *((task["parent"], task["id"]) for task in self.tasks)}
        found = {start}
        # As many rounds as tasks, for no path is longer; without recursion (law 5), which kills
        # pydantic-ai-harness at a chain of 3,000.
        for _ in self.tasks:
            found |= {b for a, b in ways if a in found}
        return goal in found


def as_dict(task: Task) -> dict[str, Any]:
    """Return a real task as the model holds one: every field but the edges."""
    fields = {field.name: getattr(task, field.name) for field in _COMPARED}
    return fields | {"metadata": thaw(task.metadata)}


def normalised(text: str) -> str:
    """Return the text in lower case with runs of anything but letters and digits as one space."""
    # Written again on purpose: `todoplan.core.rules` has the one that is judged.
    folded = unicodedata.normalize("NFKC", text).casefold()
    # Signs alone stay as they are: "..." and "!!!" would both be "", and mean each other.
    return " ".join("".join(c if c.isalnum() else " " for c in folded).split()) or text
