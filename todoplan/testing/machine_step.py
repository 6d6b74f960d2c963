"""
A naive reference model of what commands do, written from the design and not from the code.

Plain dicts and lists; a step copies everything, and every question is answered by looking at
everything.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from todoplan.core.commands import (
    UNSET,
    Batch,
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
from todoplan.core.plan.model import Task
from todoplan.core.rules.limits import Limits
from todoplan.testing.machine_edits import Edits
from todoplan.testing.machine_model import PLAIN, Model, as_dict
from todoplan.testing.machine_rules import RULES
from todoplan.testing.machine_writing import write

__all__ = ["Step"]


class Step(Edits):
    """
    One command on a copy of the model.
    """

    def __init__(self, before: Model, command: Command, at: datetime | None = None) -> None:
        super().__init__(before, at)
        self.command = command
        self.commands = list(_flat(command))
        for part in self.commands:
            self._do(part)

    def writes(self) -> list[WriteTodos]:
        """
        Return the whole-list writes of the command.
        """
        return [part for part in self.commands if isinstance(part, WriteTodos)]

    def problems(self, severities: Mapping[str, str], limits: Limits) -> set[str]:
        """
        Return what is wrong: structural faults, or else the names of the rules broken at `error`.
        """
        faults = {code for code, times in self.faults.items() if times}
        strict = {name for name, level in severities.items() if level == "error"}
        return faults or {name for name in strict if RULES[name](self, limits)}

    def _do(self, part: Command) -> None:  # noqa: C901 - one branch a command
        match part:
            case CreateTask():
                self._create((part,))
            case CreateTasks(items):
                self._create(items)
            case UpdateTask():
                self._update(part)
            case DeleteTask(task_id):
                if self.known(task_id):
                    self.delete(task_id)
            case WriteTodos(todos):
                write(self, todos)
            case StartNext():
                if self.after.ready() and not self.after.active():
                    self.move(self.after.ready()[0], "in_progress")
            case RestorePlan(tasks, next_id):
                self._restore(tasks, next_id)
            case _:
                for task_id in self.after.ids():
                    self.delete(task_id)

    def _create(self, items: tuple[CreateTask, ...]) -> None:
        ids = []
        for item in items:
            self.faults["empty_text"] += not item.subject.strip()
            fields = {name: getattr(item, name) for name in PLAIN[1:]}
            ids.append(self.new(item.subject, item.status, metadata=thaw(item.metadata), **fields))
        local = {f"#{place}": task_id for place, task_id in enumerate(ids)}
        for mine, item in zip(ids, items, strict=True):
            for end in self._named(item.blocked_by, local):
                self.edge(end, mine)
            for end in self._named(item.blocks, local):
                self.edge(mine, end)

    def _named(self, ends: tuple[str, ...], local: Mapping[str, str]) -> Iterator[str]:
        for end in ends:
            if end in local or not end.startswith("#"):
                yield local.get(end, end)
            else:
                self.faults["unknown_reference"] += 1

    def _update(self, part: UpdateTask) -> None:
        if not self.known(part.task_id):
            return
        given = {n: getattr(part, n) for n in PLAIN if getattr(part, n) is not UNSET}
        self.faults["empty_text"] += not given.get("subject", "x").strip()
        metadata = dict(self.after.known(part.task_id)["metadata"])
        for key, value in thaw(part.metadata).items():
            metadata[key] = value
            if value is None:
                del metadata[key]
        self.edit(part.task_id, metadata=metadata, **given)
        self._relink(part)
        if part.status is not UNSET:
            self.move(part.task_id, part.status)

    def _relink(self, part: UpdateTask) -> None:
        for end in part.remove_blocks:
            self.unedge(part.task_id, end)
        for end in part.remove_blocked_by:
            self.unedge(end, part.task_id)
        for end in part.add_blocks:
            self.edge(part.task_id, end)
        for end in part.add_blocked_by:
            self.edge(end, part.task_id)

    def _restore(self, tasks: tuple[Task, ...], next_id: int) -> None:
        restored = Model()
        restored.tasks = [as_dict(task) for task in tasks]
        restored.edges = [(end, task.id) for task in tasks for end in task.blocked_by]
        numbers = [int(task.id) + 1 for task in tasks if task.id.isdecimal()]
        restored.next_id = max([self.after.next_id, next_id, *numbers])
        if next_id > 10**15 or _no_plan(tasks, restored) or restored.has_cycle():
            self.faults["no_plan"] += 1
        else:
            self.after, self.changed = restored, True


def _no_plan(tasks: tuple[Task, ...], restored: Model) -> bool:
    ids, edges = restored.ids(), restored.edges
    mirror = [(task.id, end) for task in tasks for end in task.blocks]
    return (
        sorted(edges) != sorted(mirror)
        or len(set(edges)) < len(edges)
        or len(set(ids)) < len(ids)
        or any(a == b or a not in ids or b not in ids for a, b in edges)
        or not all(re.fullmatch("[1-9][0-9]{0,17}", task_id) for task_id in ids)
        or not all(task.subject.strip() for task in tasks)
    )


def _flat(command: Command) -> Iterator[Command]:
    if isinstance(command, Batch):
        for part in command.commands:
            yield from _flat(part)
    else:
        yield command
