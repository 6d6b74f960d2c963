"""
What someone wants done to a plan: the imperative side. `decide` answers with events or problems.

A status or priority may be given as its word; an unknown word is a ValueError, the developer's.

`UNSET` means "not given: leave it"; `None` clears a field.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, Literal

import attrs

from todoplan.core.frozen import EMPTY
from todoplan.core.model import Priority, Status, Task, Todo, as_priority, as_status

__all__ = [
    "UNSET",
    "Batch",
    "ClearPlan",
    "Command",
    "CreateTask",
    "CreateTasks",
    "DeleteTask",
    "RestorePlan",
    "StartNext",
    "Unset",
    "UpdateTask",
    "WriteTodos",
]


class _Sentinel(Enum):
    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Sentinel.UNSET
Unset = Literal[_Sentinel.UNSET]


def _status(value: str | Unset) -> Status | Unset:
    return UNSET if value is UNSET else as_status(value)


def _priority(value: str | None | Unset) -> Priority | None | Unset:
    return UNSET if value is UNSET else as_priority(value)


@attrs.frozen(weakref_slot=False)
class WriteTodos:
    """
    Make the plan's list this one. Items that are there already keep their identity.
    """

    todos: tuple[Todo, ...]
    clear: bool = False
    """Said to empty the list on purpose; see the rule `empty_write`."""


@attrs.frozen(weakref_slot=False)
class CreateTask:
    """
    Add one task at the end.
    """

    subject: str
    description: str = ""
    status: Status = attrs.field(default=Status.PENDING, converter=as_status)
    active_form: str | None = None
    priority: Priority | None = attrs.field(default=None, converter=as_priority)
    owner: str | None = None
    blocks: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()
    estimate: float | None = None
    metadata: Mapping[str, Any] = EMPTY


@attrs.frozen(weakref_slot=False)
class CreateTasks:
    """
    Add several tasks, all or none. Edges may name an item of the same command: "#0" is the first.
    """

    items: tuple[CreateTask, ...]


@attrs.frozen(weakref_slot=False)
class UpdateTask:
    """
    Change one task. `metadata` is merged key by key, and `None` deletes a key.
    """

    task_id: str
    status: Status | Unset = attrs.field(default=UNSET, converter=_status)
    subject: str | Unset = UNSET
    description: str | Unset = UNSET
    active_form: str | None | Unset = UNSET
    priority: Priority | None | Unset = attrs.field(default=UNSET, converter=_priority)
    owner: str | None | Unset = UNSET
    estimate: float | None | Unset = UNSET
    metadata: Mapping[str, Any] = EMPTY
    add_blocks: tuple[str, ...] = ()
    add_blocked_by: tuple[str, ...] = ()
    remove_blocks: tuple[str, ...] = ()
    remove_blocked_by: tuple[str, ...] = ()


@attrs.frozen(weakref_slot=False)
class DeleteTask:
    """
    Remove one task and its edges.
    """

    task_id: str


@attrs.frozen(weakref_slot=False)
class StartNext:
    """
    Start the next ready task, unless one is in progress or none is ready.
    """


@attrs.frozen(weakref_slot=False)
class ClearPlan:
    """
    Remove every task.
    """


@attrs.frozen(weakref_slot=False)
class RestorePlan:
    """
    Bring back the tasks of an earlier plan, as that plan holds them, and its next id if higher.
    """

    tasks: tuple[Task, ...]
    next_id: int = 1


@attrs.frozen(weakref_slot=False)
class Batch:
    """
    Several commands in order, as one: all are accepted or none.
    """

    commands: tuple["Command", ...]


Command = (
    WriteTodos
    | CreateTask
    | CreateTasks
    | UpdateTask
    | DeleteTask
    | StartNext
    | ClearPlan
    | RestorePlan
    | Batch
)
