"""
What a command does to the naive model: each command by itself, with all faults that are found.

Whatever happens on the way is noted (moves, edits, removals), because rules ask for it. A fault
does not stop the rest: all faults of a command are named at once, as `decide` names them.
"""

import copy
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, assert_never

from todoplan.core.commands import (
    UNSET,
    Batch,
    ClearPlan,
    Command,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.plan.frozen import thaw
from todoplan.core.plan.model import Task, Todo
from todoplan.testing.machine.model import SETTABLE, Model, as_dict, normalised

__all__ = ["NaiveDecision"]

_SAME: tuple[Callable[[Todo, dict[str, Any]], bool], ...] = (
    lambda todo, task: todo.id == task["id"],
    lambda todo, task: todo.content == task["subject"],
    lambda todo, task: normalised(todo.content) == normalised(task["subject"]),
)
"""Law 8: a line means the task of its id, else of its exact text, else of its normalised text."""

_LARGEST = 10**15  # the highest id or next id that may come from outside


class NaiveDecision:
    """
    One command, carried out on a copy: the model `before`, the model `after`, and what happened.
    """

    def __init__(self, before: Model, command: Command, at: datetime | None = None) -> None:
        self.before, self.command, self.at = before, command, at
        # A copy of all: a rejection changes nothing (law 3), and rules ask for both sides.
        self.after = copy.deepcopy(before)
        self.commands: list[Command] = []
        self.faults: Counter[str] = Counter()
        self.moves: list[tuple[str, str, str]] = []
        self.written: list[str] = []
        self.linked: list[str] = []
        self.removed: list[str] = []
        self.changed = False
        self._do(command)

    def writes(self) -> list[WriteTodos]:
        """
        Return the whole-list writes of the command.
        """
        return [part for part in self.commands if isinstance(part, WriteTodos)]

    def _do(self, command: Command) -> None:  # noqa: C901, PLR0912 - one branch a command
        if isinstance(command, Batch):
            for part in command.commands:
                self._do(part)
            return
        self.commands.append(command)
        match command:
            case CreateTask():
                self._create((command,))
            case CreateTasks(items):
                self._create(items)
            case UpdateTask():
                self._update(command)
            case DeleteTask(task_id):
                if self._demand(task_id):
                    self._delete(task_id)
            case WriteTodos(todos):
                self._write(todos)
            case StartNext():
                if self.after.ready() and not self.after.active():
                    self._move(self.after.ready()[0], "in_progress")
            case RestorePlan(tasks, next_id):
                self._restore(tasks, next_id)
            case ClearPlan():
                for task_id in self.after.ids():
                    self._delete(task_id)
            case _:  # a command that this model does not know must not pass for one that it does
                assert_never(command)

    def _create(self, items: tuple[CreateTask, ...]) -> None:
        ids = []
        for item in items:
            self.faults["empty_text"] += not item.subject.strip()
            fields = {name: getattr(item, name) for name in SETTABLE}
            ids.append(self._new(item.status, metadata=thaw(item.metadata), **fields))
        # Edges after all items: the first may block one that comes behind it.
        local = {f"#{place}": task_id for place, task_id in enumerate(ids)}
        for mine, item in zip(ids, items, strict=True):
            for end in self._referred(item.blocked_by, local):
                self._link(end, mine)
            for end in self._referred(item.blocks, local):
                self._link(mine, end)

    def _referred(self, ends: tuple[str, ...], local: Mapping[str, str]) -> Iterator[str]:
        for end in ends:
            if end in local or not end.startswith("#"):
                yield local.get(end, end)
            else:
                self.faults["unknown_reference"] += 1

    def _update(self, part: UpdateTask) -> None:
        if not self._demand(part.task_id):
            return
        given = {n: getattr(part, n) for n in SETTABLE if getattr(part, n) is not UNSET}
        self.faults["empty_text"] += not given.get("subject", "x").strip()
        # Law 7 and the order of effects: fields, then edges, then status, so that a task can be
        # unblocked and started in one call.
        metadata = dict(self.after[part.task_id]["metadata"])
        for key, value in thaw(part.metadata).items():
            metadata[key] = value
            if value is None:
                del metadata[key]
        self._edit(part.task_id, metadata=metadata, **given)
        for end in part.remove_blocks:
            self._unlink(part.task_id, end)
        for end in part.remove_blocked_by:
            self._unlink(end, part.task_id)
        for end in part.add_blocks:
            self._link(part.task_id, end)
        for end in part.add_blocked_by:
            self._link(end, part.task_id)
        if part.status is not UNSET:
            self._move(part.task_id, part.status)

    def _restore(self, tasks: tuple[Task, ...], next_id: int) -> None:
        restored = Model()
        restored.tasks = [as_dict(task) for task in tasks]
        restored.edges = [(end, task.id) for task in tasks for end in task.blocked_by]
        if next_id > _LARGEST or _no_plan(tasks, restored):
            self.faults["no_plan"] += 1
        else:
            # Ids that were given since then stay used (law 6).
            numbers = [int(task_id) + 1 for task_id in restored.ids()]
            restored.next_id = max([self.after.next_id, next_id, *numbers])
            self.after, self.changed = restored, True

    def _write(self, todos: tuple[Todo, ...]) -> None:
        ids = [todo.id for todo in todos if todo.id is not None]
        self.faults["duplicate_id"] += len(ids) - len(set(ids))
        self.faults["empty_text"] += sum(not todo.content.strip() for todo in todos)
        meant = self._meant(todos)
        if not any(meant):  # all at once: nobody is left whose edges could be touched
            self.changed |= bool(self.after.tasks)
            self.removed += self.after.ids()
            self.after.tasks, self.after.edges = [], []
        for task_id in [each for each in self.after.ids() if each not in meant]:
            self._delete(task_id)
        for todo, old in zip(todos, meant, strict=True):
            if old is not None:
                given = {name: getattr(todo, name) for name in ("active_form", "priority")}
                # What a line does not say stays as it was (law 8).
                said = {name: value for name, value in given.items() if value is not None}
                self._edit(old, subject=todo.content, **said)
                self._move(old, todo.status or self.after.status(old))
        order = [*meant]
        # In the order of numbers, not of lines: the next id only grows (law 6).
        for number, place in sorted(self._numbers(todos, meant)):
            self.after.next_id, new = number, todos[place]
            fields = {"active_form": new.active_form, "priority": new.priority}
            order[place] = self._new(new.status or "pending", subject=new.content, **fields)
        self.changed |= order != self.after.ids()
        self.after.tasks.sort(key=lambda task: order.index(task["id"]))

    def _meant(self, todos: tuple[Todo, ...]) -> list[str | None]:
        left = self.after.ids()
        meant: list[str | None] = [None] * len(todos)
        for same in _SAME:
            for place, todo in enumerate(todos):
                alike = [task_id for task_id in left if same(todo, self.after[task_id])]
                if meant[place] is None and alike:
                    meant[place] = alike[0]
                    left.remove(alike[0])
        return meant

    def _numbers(
        self, todos: tuple[Todo, ...], meant: Iterable[str | None]
    ) -> Iterator[tuple[int, int]]:
        """
        Yield new numbers with their places: a line's own id if unused and near, else the next.
        """
        # A line that numbers itself keeps its number: the same list, written twice, then means the
        # same tasks (law 8). Only a near one: a huge number would use up all ids below it.
        start = self.after.next_id
        near = {str(number): number for number in range(start, start + len(todos))}
        own = {p: near.get(todos[p].id or "") for p, old in enumerate(meant) if old is None}
        number = max([start - 1, *filter(None, own.values())])
        for place, given in own.items():
            if given is None:
                number += 1
                # What another line says would mean that other task the next time.
                while str(number) in [todo.id for todo in todos]:
                    number += 1
            yield given or number, place

    def _demand(self, task_id: str) -> bool:
        """
        Say whether there is such a task; if not, that is a fault.
        """
        known = task_id in self.after.ids()
        self.faults["unknown_task"] += not known
        return known

    def _touch(self, *task_ids: str) -> None:
        self.changed = True
        for task_id in task_ids:
            task = self.after[task_id]
            task["updated_at"] = self.at or task["updated_at"]

    def _new(self, status: str, **fields: Any) -> str:
        started = self.at if status == "in_progress" else None
        completed = self.at if status == "completed" else None
        times = {"started_at": started, "completed_at": completed}
        task_id = self.after.add(
            status=str(status), created_at=self.at, updated_at=self.at, **times, **fields
        )
        self.written.append(task_id)
        self.changed = True
        return task_id

    def _edit(self, task_id: str, **changes: Any) -> None:
        task = self.after[task_id]
        if any(task[name] != value for name, value in changes.items()):
            task.update(changes)
            self.written.append(task_id)
            self._touch(task_id)

    def _move(self, task_id: str, status: str) -> None:
        task = self.after[task_id]
        # No event for no change: the same list twice gives none (law 8).
        if task["status"] == status:
            return
        self.moves.append((task_id, task["status"], str(status)))
        task["status"] = str(status)
        if status == "in_progress":
            task["started_at"] = task["started_at"] or self.at
        task["completed_at"] = self.at if status == "completed" else None
        self._touch(task_id)

    def _link(self, blocker: str, blocked: str) -> None:
        edge = (blocker, blocked)
        # Below `&`, not `and`: both ends are asked for, so that all faults are named at once.
        if blocker == blocked:
            self.faults["self_edge"] += 1
        elif self._demand(blocker) & self._demand(blocked) and edge not in self.after.edges:
            if self.after.reaches(blocked, blocker):
                self.faults["cycle"] += 1
            else:
                self.after.edges.append(edge)
                self.linked.append(blocked)
                self._touch(*edge)

    def _unlink(self, blocker: str, blocked: str) -> None:
        edge = (blocker, blocked)
        if self._demand(blocker) & self._demand(blocked) and edge in self.after.edges:
            self.after.edges.remove(edge)
            self._touch(*edge)

    def _delete(self, task_id: str) -> None:
        # A deleted task blocks nobody: in langchain-agentkit its dependents wait ever after.
        for blocker, blocked in list(self.after.edges):
            if task_id in (blocker, blocked):
                self.after.edges.remove((blocker, blocked))
                self._touch(blocked if blocker == task_id else blocker)
        self.after.tasks.remove(self.after[task_id])
        self.removed.append(task_id)
        self.changed = True


def _no_plan(tasks: tuple[Task, ...], restored: Model) -> bool:
    """
    Say whether tasks can never form a plan, under any policy (laws 4 to 6).
    """
    ids, edges = restored.ids(), restored.edges
    mirror = [(task.id, end) for task in tasks for end in task.blocks]
    return (
        sorted(edges) != sorted(mirror)
        or len(set(edges)) < len(edges)
        or len(set(ids)) < len(ids)
        or any(a == b or a not in ids or b not in ids for a, b in edges)
        or not all(re.fullmatch("[1-9][0-9]{0,15}", i) and int(i) <= _LARGEST for i in ids)
        or not all(task.subject.strip() for task in tasks)
        or any(restored.reaches(b, a) for a, b in edges)
    )
