"""
What someone wants done to a plan: the imperative side. `decide` answers with events or problems.

A status or priority may be given as its word. Where a tuple is kept any iterable may be given but a
text. What does not fit is a PlanError, the developer's mistake, raised where it is given.

`UNSET` means "not given: leave it"; `None` clears a field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Final, Literal, get_args

import attrs

from todoplan.core.plan.frozen import EMPTY, LEVELS
from todoplan.core.plan.model import (
    Priority,
    PriorityWord,
    Status,
    StatusWord,
    Task,
    Todo,
    as_priority,
    as_status,
)
from todoplan.core.plan.validation import (
    as_id,
    as_ids,
    as_metadata,
    as_number_or_none,
    as_text,
    as_text_or_none,
    as_whole_number,
    instance_of,
    tuple_of,
)
from todoplan.errors import PlanError
from todoplan.lazy import listing

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
__dir__ = listing(__all__)


# A member of an enum, not an object(): type checkers narrow on it, and a copy is the same one.
class _Sentinel(Enum):
    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Sentinel.UNSET
Unset = Literal[_Sentinel.UNSET]


def _status(value: StatusWord | Unset) -> Status | Unset:
    return UNSET if value is UNSET else as_status(value)


def _priority(value: PriorityWord | None | Unset) -> Priority | None | Unset:
    return UNSET if value is UNSET else as_priority(value)


def _estimate(value: float | None | Unset) -> float | None | Unset:
    return UNSET if value is UNSET else as_number_or_none(value)


def _text(value: str | Unset) -> str | Unset:
    return UNSET if value is UNSET else as_text(value)


def _words(value: str | None | Unset) -> str | None | Unset:
    return UNSET if value is UNSET else as_text_or_none(value)


def _todos(value: Iterable[Todo]) -> tuple[Todo, ...]:
    return tuple_of(value, Todo, 'a tuple of todos, such as (Todo("a"), Todo("b"))')


def _tasks(value: Iterable[Task]) -> tuple[Task, ...]:
    return tuple_of(value, Task, "a tuple of tasks, such as tuple(plan)")


# "no" and "false" are true in Python, and the list would be emptied on purpose.
def _truth(value: bool) -> bool:  # noqa: FBT001 - a converter's one argument
    return instance_of(value, bool, "True or False")


# From 0 on, as an entry of a journal holds it: another could be decided, and then not be saved.
def _next_id(value: int) -> int:
    return as_whole_number(value, 0)


@attrs.frozen(weakref_slot=False)
class WriteTodos:
    """
    Make the plan's list this one. Items that are there already keep their identity.
    """

    todos: tuple[Todo, ...] = attrs.field(converter=_todos)
    clear: bool = attrs.field(default=False, converter=_truth)
    """Said to empty the list on purpose; see the rule `empty_write`."""


@attrs.frozen(weakref_slot=False)
class CreateTask:
    """
    Add one task at the end.
    """

    subject: str = attrs.field(converter=as_text)
    description: str = attrs.field(default="", converter=as_text)
    status: Status = attrs.field(default=Status.PENDING, converter=as_status)
    active_form: str | None = attrs.field(default=None, converter=as_text_or_none)
    priority: Priority | None = attrs.field(default=None, converter=as_priority)
    owner: str | None = attrs.field(default=None, converter=as_text_or_none)
    blocks: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    blocked_by: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    estimate: float | None = attrs.field(default=None, converter=as_number_or_none)
    metadata: Mapping[str, Any] = attrs.field(default=EMPTY, converter=as_metadata)


def _items(value: Iterable[CreateTask]) -> tuple[CreateTask, ...]:
    return tuple_of(value, CreateTask, "a tuple of creations, such as (CreateTask('a'),)")


@attrs.frozen(weakref_slot=False)
class CreateTasks:
    """
    Add several tasks, all or none. Edges may name an item of the same command: "#0" is the first.
    """

    # Ids come from the plan's counter when the command is decided: items can only count each other.
    items: tuple[CreateTask, ...] = attrs.field(converter=_items)


@attrs.frozen(weakref_slot=False)
class UpdateTask:
    """
    Change one task. `metadata` is merged key by key, and `None` deletes a key.
    """

    task_id: str = attrs.field(converter=as_id)
    status: Status | Unset = attrs.field(default=UNSET, converter=_status)
    subject: str | Unset = attrs.field(default=UNSET, converter=_text)
    description: str | Unset = attrs.field(default=UNSET, converter=_text)
    active_form: str | None | Unset = attrs.field(default=UNSET, converter=_words)
    priority: Priority | None | Unset = attrs.field(default=UNSET, converter=_priority)
    owner: str | None | Unset = attrs.field(default=UNSET, converter=_words)
    estimate: float | None | Unset = attrs.field(default=UNSET, converter=_estimate)
    metadata: Mapping[str, Any] = attrs.field(default=EMPTY, converter=as_metadata)
    add_blocks: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    add_blocked_by: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    # langchain-agentkit tells a model to remove a dependency, and has no tool that can.
    remove_blocks: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    remove_blocked_by: tuple[str, ...] = attrs.field(default=(), converter=as_ids)


@attrs.frozen(weakref_slot=False)
class DeleteTask:
    """
    Remove one task and its edges.
    """

    task_id: str = attrs.field(converter=as_id)


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

    tasks: tuple[Task, ...] = attrs.field(converter=_tasks)
    # Law 6: an id that the earlier plan gave out stays used, also where its task is gone.
    next_id: int = attrs.field(default=1, converter=_next_id)


def _commands(value: Iterable[Command]) -> tuple[Command, ...]:
    legal = "a tuple of commands, such as (CreateTask('a'), StartNext())"
    commands: tuple[Command, ...] = tuple_of(value, _COMMANDS, legal)
    if Batch in map(type, commands) and _levels(commands) > LEVELS:
        msg = f"batches lie in each other over {LEVELS} deep; put their commands into one"
        raise PlanError(msg, limit=LEVELS)
    return commands


# Recursion is safe: each inner batch was held to LEVELS when it was made.
def _levels(commands: tuple[Command, ...]) -> int:
    inner = [_levels(part.commands) for part in commands if isinstance(part, Batch)]
    return 1 + max(inner, default=0)


@attrs.frozen(weakref_slot=False)
class Batch:
    """
    Several commands in order, as one: all are accepted or none. Batches may lie in a batch.
    """

    commands: tuple[Command, ...] = attrs.field(converter=_commands)


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
_COMMANDS = get_args(Command)
