"""
The naive model: a second, slow and plain implementation of the plan, to compare the first one with.

`Plan` and `decide` are fast because they carry counts, ready tasks, numbers of unresolved blockers
and places in a container from change to change. Such values can be outdated. This model carries
nothing. Tasks are dicts in a list, edges are pairs, a step copies everything, and every question is
answered by looking at everything again.

The model is written from the design and must not share the code that it judges: a fault in a shared
function would be in both and never be seen. It uses only the package's values (commands, tasks,
limits) and `TASK_FIELDS`, which says what to compare, so a new field is compared as soon as it is
declared.
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

    The approval is `None`, or a dict of revision, by and at. Its revision is `None` until the
    current step is compared, because the model does not count events.
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
        """Add a task after its siblings, with the next number; other fields have defaults."""
        # The number only grows (law 6); AgentScope gives a deleted highest id to the next task.
        task = {**_DEFAULTS, "metadata": {}, **fields, "id": str(self.next_id)}
        self.tasks.append(task)
        self.next_id += 1
        self.arrange()
        return str(task["id"])

    def arrange(self, order: list[str] | None = None) -> None:
        """
        Put siblings in this order of all ids, or leave their order, and put each task's subtree
        right after it.
        """
        place = {task_id: number for number, task_id in enumerate(order or self.ids())}
        parents = {task["id"]: task["parent"] for task in self.tasks}

        def way(task: dict[str, Any]) -> list[int]:
            step, places = task["id"], []
            while step is not None:
                places.append(place[step])
                step = parents[step]
            return places[::-1]

        # A task's key has the places of its ancestors, from the top, and its own. The keys of its
        # subtree begin with this key, so nothing else comes in between.
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
        """Return the ids of the task's ancestors, the nearest first."""
        above: list[str] = []
        parent = self[task_id]["parent"]
        while parent is not None:
            above.append(parent)
            parent = self[parent]["parent"]
        return above

    def subtree(self, task_id: str) -> list[str]:
        """Return the ids of this task and of all its descendants, in order."""
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
        """Return the pending leaves that are not held up, and whose ancestors are not (law 18)."""
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
        Return whether another task waits for the first one, along edges and down the tree.
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
