"""
The single steps that a command takes the naive model through, each noted for the rules.

A fault does not stop the rest: all faults of a command are named at once, as `decide` names them.
What an edge or a parent must not be is carried out all the same, for what comes after it is judged
by the plan that was meant.
"""

import copy
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from support.naive.model import CLOSED, Model

from todoplan.core.plan.model import Waiting


class Steps:
    """
    The model `before`, the model `after`, and what happened in between.

    `arrived` has each status that a task got, also by its creation. `placed` has the tasks that
    were created or moved to another parent. `repeats` is whether known evidence was recorded again
    or a claim renewed. `fences` are the fencing tokens of the author's claims.
    """

    def __init__(
        self, before: Model, at: datetime | None, actor: str | None, fences: Mapping[str, int]
    ) -> None:
        self.before, self.at, self.actor = before, at, actor
        self.fences = dict(fences)
        # A copy of all: a rejection changes nothing (law 3), and rules ask for both sides.
        self.after = copy.deepcopy(before)
        self.faults: Counter[str] = Counter()
        self.moves: list[tuple[str, str, str]] = []
        self.arrived: list[tuple[str, str]] = []
        self.written: list[str] = []
        self.linked: list[str] = []
        self.placed: list[str] = []
        self.removed: list[str] = []
        self.changed = self.repeats = False

    def demand(self, task_id: str) -> bool:
        """Return whether there is such a task; if not, this is a fault."""
        known = task_id in self.after.ids()
        self.faults["unknown_task"] += not known
        return known

    def is_live(self, task_id: str) -> bool:
        """Return whether a task has a live claim. If the time is unknown, no claim has expired."""
        claim = self.after[task_id]["claim"]
        return claim is not None and (None in {claim.until, self.at} or self.at < claim.until)

    def may_change(self, task_id: str) -> bool:
        """Say whether the status of a task may be changed: nobody else has a live claim on it."""
        claim = self.after[task_id]["claim"]
        return not self.is_live(task_id) or self.fences.get(task_id) == claim.fence

    def touch(self, *task_ids: str) -> None:
        """Note that tasks changed now."""
        self.changed = True
        for task_id in task_ids:
            task = self.after[task_id]
            task["updated_at"] = self.at or task["updated_at"]

    def new(self, status: str, **fields: Any) -> str:
        """Add a task, and return its id."""
        if fields.get("waiting") is not None and status != "pending":
            self.faults["cannot_wait"] += 1
            fields["waiting"] = None
        fields["waiting"] = self.to_come(fields.get("waiting"))
        started = self.at if status == "in_progress" else None
        completed = self.at if status == "completed" else None
        times = {"started_at": started, "completed_at": completed}
        task_id = self.after.add(
            status=str(status), created_at=self.at, updated_at=self.at, **times, **fields
        )
        self.written.append(task_id)
        self.placed.append(task_id)
        self.arrived.append((task_id, str(status)))
        self.changed = True
        return task_id

    def edit(self, task_id: str, **changes: Any) -> None:
        """Set fields of a task."""
        task = self.after[task_id]
        # Law 20: what was found was found by the check as it was.
        if "evidence" not in changes and changes.get("check", task["check"]) != task["check"]:
            changes["evidence"] = None
        if any(task[name] != value for name, value in changes.items()):
            task.update(changes)
            self.written.append(task_id)
            self.touch(task_id)

    def move(self, task_id: str, status: str) -> None:
        """Take a task to a status."""
        task, new = self.after[task_id], str(status)
        # No event for no change: the same list twice gives none (law 8).
        if (old := task["status"]) == new:
            return
        if not self.may_change(task_id):
            self.faults["claimed"] += 1
            return
        self.moves.append((task_id, old, new))
        self.arrived.append((task_id, new))
        task["status"] = new
        if new != "pending":
            task["waiting"] = None
        if new != "in_progress":
            task["claim"] = None
        if new in CLOSED:
            task["failed_attempts"] = 0
        # Law 20: what was found of an earlier try says nothing of this one.
        if new == "in_progress" or old in CLOSED:
            task["evidence"] = None
        if new == "in_progress":
            task["started_at"] = task["started_at"] or self.at
        task["completed_at"] = self.at if new == "completed" else None
        self.touch(task_id)

    def wait(self, task_id: str, waiting: Waiting | None) -> None:
        """Let a task wait for something outside the plan, or no more."""
        task, waiting = self.after[task_id], self.to_come(waiting)
        if task["waiting"] == waiting:
            return
        if task["status"] in CLOSED:
            self.faults["cannot_wait"] += 1
            return
        self.move(task_id, "pending")
        if task["status"] == "pending":
            self.edit(task_id, waiting=waiting)

    def to_come(self, waiting: Waiting | None) -> Waiting | None:
        """Return what is waited for, if it has not come already by the time of the command."""
        end = None if waiting is None else waiting.until
        return None if end is not None and self.at is not None and end <= self.at else waiting

    def link(self, blocker: str, blocked: str) -> None:
        """Let one task block another."""
        edge = (blocker, blocked)
        # Below `&`, not `and`: both ends are asked for, so that all faults are named at once.
        if blocker == blocked:
            self.faults["self_edge"] += 1
        elif self.demand(blocker) & self.demand(blocked) and edge not in self.after.edges:
            if self.after.reaches(blocked, blocker):
                self.faults["cycle"] += 1
            elif blocker in self.after.ancestors(blocked):
                self.faults["edge_within"] += 1
            self.after.edges.append(edge)
            self.linked.append(blocked)
            self.touch(*edge)

    def unlink(self, blocker: str, blocked: str) -> None:
        """Remove the edge between two tasks."""
        edge = (blocker, blocked)
        if self.demand(blocker) & self.demand(blocked) and edge in self.after.edges:
            self.after.edges.remove(edge)
            self.touch(*edge)

    def nest(self, task_id: str, parent: str | None) -> None:
        """Move a task and its subtree below a parent, after the other children."""
        if parent == task_id:
            self.faults["self_edge"] += 1
            return
        if parent is not None and not self.demand(parent):
            return
        if self.after[task_id]["parent"] == parent:
            return
        inner = self.after.subtree(task_id)
        if parent in inner:  # not carried out: a circle of parents would hang on nothing
            self.faults["cycle"] += 1
            return
        if parent is not None:
            above = (parent, *self.after.ancestors(parent))
            if self.after.reaches(task_id, parent):
                self.faults["cycle"] += 1
            elif any(a in above and b in inner for a, b in self.after.edges):
                self.faults["edge_within"] += 1
        self.after[task_id]["parent"] = parent
        order = [each for each in self.after.ids() if each != task_id]
        self.after.arrange([*order, task_id])
        self.placed.append(task_id)
        self.touch(task_id)

    def delete(self, task_id: str) -> None:
        """Remove a task; its children move up to its parent, in its place."""
        if not self.may_change(task_id):
            self.faults["claimed"] += 1
            return
        # A deleted task blocks nobody: in langchain-agentkit its dependents wait ever after.
        for blocker, blocked in list(self.after.edges):
            if task_id in (blocker, blocked):
                self.after.edges.remove((blocker, blocked))
                self.touch(blocked if blocker == task_id else blocker)
        for child in self.after.children(task_id):
            self.after[child]["parent"] = self.after[task_id]["parent"]
            self.touch(child)
        self.after.tasks.remove(self.after[task_id])
        self.removed.append(task_id)
        self.changed = True

    def clear(self) -> None:
        """Remove every task, or none if somebody else has claimed one."""
        claimed = [i for i in self.after.ids() if not self.may_change(i)]
        self.faults["claimed"] += len(claimed)
        if not claimed:
            self.changed |= bool(self.after.tasks)
            self.removed += self.after.ids()
            self.after.tasks, self.after.edges = [], []
