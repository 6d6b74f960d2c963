"""The input of a rule: the plan before and after a command, and the events in between."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import attrs

from todoplan.core.commands import Batch, Command, WriteTodos
from todoplan.core.events.types import (
    Event,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
)
from todoplan.core.plan.model import Status, Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.limits import Limits

__all__ = ["Change"]


@attrs.frozen(slots=False)  # has a __dict__, for the cached properties
class Change:
    """
    The effect of one command, not yet accepted. It contains everything that a rule may use.

    `before` and `after` are whole plans, with `counts`, `ready()`, `active()` and `get(id)`;
    `events` are the events in between, in order. `command` is `None` when a plan is inspected as it
    is: then every task counts as created. `limits` are those of the policy; `actor` is the author
    of the command, if known.

    A check that looks at every task makes every change as slow as the plan is large. Begin with
    what the change affected: `written`, `moves`, `edited` or `removed`.

        def titled(change):
            for task in change.written():
                if len(task.subject) < 5:
                    yield Problem(code, (task.id,), note="Say more than that.")
    """

    before: Plan
    after: Plan
    command: Command | None
    events: tuple[Event, ...]
    limits: Limits = Limits()
    actor: str | None = None
    lines: tuple[tuple[str, Todo], ...] | None = attrs.field(default=None, eq=False, repr=False)

    def writes(self) -> Iterator[WriteTodos]:
        """Yield the whole-list writes of the command, including those of a batch."""
        return _writes(self.command)

    def moves(self, to: Status | None = None) -> Iterator[StatusChanged]:
        """Yield the status changes: all, or only those to one status."""
        for event in self.events:
            if type(event) is StatusChanged and (to is None or event.new is to):
                yield event

    def written(self) -> Iterator[Task]:
        """Yield the tasks that were created, restored or edited, as they are after the change."""
        return iter(self._written)

    @cached_property
    def _written(self) -> tuple[Task, ...]:
        ids: dict[str, None] = {}
        for event in self.events:
            if type(event) is TaskCreated:
                ids[event.task.id] = None
            elif type(event) is TaskEdited:
                ids[event.task_id] = None
            elif type(event) is PlanRestored:
                ids.update(dict.fromkeys(task.id for task in event.tasks))
        return tuple(task for task in map(self.after.get, ids) if task is not None)

    def edited(self) -> Iterator[tuple[Task, Task]]:
        """Yield the tasks whose fields were edited: before and after the change."""
        edited = (event.task_id for event in self.events if type(event) is TaskEdited)
        for task_id in dict.fromkeys(edited):
            was, task = self.before.get(task_id), self.after.get(task_id)
            if was is not None and task is not None:
                yield was, task

    def removed(self) -> Iterator[Task]:
        """Yield the removed tasks, as they were before the change."""
        return iter(self._removed)

    @cached_property
    def _removed(self) -> tuple[Task, ...]:
        ids: list[str] = []
        for event in self.events:
            if type(event) is TaskDeleted:
                ids.append(event.task_id)
            elif type(event) is PlanCleared:
                ids.extend(event.task_ids)
        tasks = filter(None, map(self.before.get, ids))
        # A later command of the same batch may have restored the task.
        return tuple(task for task in tasks if task.id not in self.after)


def _writes(command: Command | None) -> Iterator[WriteTodos]:
    if isinstance(command, WriteTodos):
        yield command
    elif isinstance(command, Batch):
        # Batches are nested at most LEVELS deep, so recursion is safe.
        for part in command.commands:
            yield from _writes(part)
