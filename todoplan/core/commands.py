"""
What someone wants done to a plan: the imperative side. `decide` answers with events or problems.

A status or priority may be given as its word. Where a tuple is kept any iterable may be given but a
text. What does not fit is a PlanError, the developer's mistake, raised where it is given.

`UNSET` means "not given: leave it"; `None` clears a field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_args

import attrs

from todoplan.core.arguments import (
    UNSET,
    OfChildren,
    Unset,
    approval_or_none,
    as_fate,
    fence_or_none,
    id_or_none,
    number_or_unset,
    priority_or_unset,
    status_or_unset,
    text_none_or_unset,
    text_or_unset,
    waiting_or_unset,
)
from todoplan.core.plan.frozen import EMPTY, LEVELS
from todoplan.core.plan.model import (
    Approval,
    Priority,
    Status,
    Task,
    Todo,
    Waiting,
    as_priority,
    as_status,
    as_waiting,
)
from todoplan.core.plan.validation import (
    as_id,
    as_ids,
    as_metadata,
    as_number_or_none,
    as_text,
    as_text_or_none,
    as_truth,
    as_whole_number,
    tuple_of,
)
from todoplan.core.teamwork import (
    AnswerTask,
    ApprovePlan,
    ClaimTask,
    RecordEvidence,
    ReleaseClaim,
    RenewClaim,
)
from todoplan.errors import PlanError
from todoplan.lazy import listing

__all__ = [
    "UNSET",
    "AnswerTask",
    "ApprovePlan",
    "Batch",
    "ClaimTask",
    "ClearPlan",
    "Command",
    "CreateTask",
    "CreateTasks",
    "DeleteTask",
    "MoveTask",
    "RecordEvidence",
    "ReleaseClaim",
    "RenewClaim",
    "RestorePlan",
    "StartNext",
    "Unset",
    "UpdateTask",
    "WriteTodos",
]
__dir__ = listing(__all__)


def _todos(value: Iterable[Todo]) -> tuple[Todo, ...]:
    return tuple_of(value, Todo, 'a tuple of todos, such as (Todo("a"), Todo("b"))')


def _tasks(value: Iterable[Task]) -> tuple[Task, ...]:
    return tuple_of(value, Task, "a tuple of tasks, such as tuple(plan)")


# From 0 on, as an entry of a journal holds it: another could be decided, and then not be saved.
def _next_id(value: int) -> int:
    return as_whole_number(value, 0)


@attrs.frozen(weakref_slot=False)
class WriteTodos:
    """
    Make the plan's list this one. Items that are there already keep their identity.
    """

    todos: tuple[Todo, ...] = attrs.field(converter=_todos)
    clear: bool = attrs.field(default=False, converter=as_truth)
    """Said to empty the list on purpose; see the rule `empty_write`."""


@attrs.frozen(weakref_slot=False)
class CreateTask:
    """
    Add one task: at the end, or behind the subtasks of its parent.
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
    parent: str | None = attrs.field(default=None, converter=id_or_none)
    waiting: Waiting | None = attrs.field(default=None, converter=as_waiting)
    check: str | None = attrs.field(default=None, converter=as_text_or_none)


def _items(value: Iterable[CreateTask]) -> tuple[CreateTask, ...]:
    return tuple_of(value, CreateTask, "a tuple of creations, such as (CreateTask('a'),)")


@attrs.frozen(weakref_slot=False)
class CreateTasks:
    """
    Add several tasks, all or none. Edges may name an item of the same command, "#0" is the first,
    and so may a parent, if that item stands before.
    """

    # Ids come from the plan's counter when the command is decided: items can only count each other.
    items: tuple[CreateTask, ...] = attrs.field(converter=_items)


@attrs.frozen(weakref_slot=False)
class UpdateTask:
    """
    Change one task. `metadata` is merged key by key, and `None` deletes a key.

    `waiting` takes a started task back to pending; `None` ends the wait, and so does a status other
    than pending. `parent` puts the task behind the subtasks of another one, `None` at the top.
    `fence` is that of the claim under which the change is made: another one than the current is
    refused, and a claimed task's status is changed with the current one only (law 19).
    """

    task_id: str = attrs.field(converter=as_id)
    status: Status | Unset = attrs.field(default=UNSET, converter=status_or_unset)
    subject: str | Unset = attrs.field(default=UNSET, converter=text_or_unset)
    description: str | Unset = attrs.field(default=UNSET, converter=text_or_unset)
    active_form: str | None | Unset = attrs.field(default=UNSET, converter=text_none_or_unset)
    priority: Priority | None | Unset = attrs.field(default=UNSET, converter=priority_or_unset)
    owner: str | None | Unset = attrs.field(default=UNSET, converter=text_none_or_unset)
    estimate: float | None | Unset = attrs.field(default=UNSET, converter=number_or_unset)
    metadata: Mapping[str, Any] = attrs.field(default=EMPTY, converter=as_metadata)
    add_blocks: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    add_blocked_by: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    # langchain-agentkit tells a model to remove a dependency, and has no tool that can.
    remove_blocks: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    remove_blocked_by: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    parent: str | None | Unset = attrs.field(default=UNSET, converter=text_none_or_unset)
    waiting: Waiting | None | Unset = attrs.field(default=UNSET, converter=waiting_or_unset)
    check: str | None | Unset = attrs.field(default=UNSET, converter=text_none_or_unset)
    fence: int | None = attrs.field(default=None, converter=fence_or_none)


@attrs.frozen(weakref_slot=False)
class MoveTask:
    """
    Put one task, with all that it contains, right before or right behind another one, below the
    same parent. Exactly one of `before` and `after` is given.
    """

    task_id: str = attrs.field(converter=as_id)
    before: str | None = attrs.field(default=None, converter=id_or_none)
    after: str | None = attrs.field(default=None, converter=id_or_none)

    def __attrs_post_init__(self) -> None:
        if (self.before is None) is (self.after is None):
            msg = f'say where to: MoveTask({self.task_id!r}, before="3"), or after="3", not both'
            raise PlanError(msg, seen=(self.before, self.after))


@attrs.frozen(weakref_slot=False)
class DeleteTask:
    """
    Remove one task and its edges. One that contains others is refused, unless `children` says what
    becomes of these: "lift" puts them where it stood, "remove" removes them as well.
    """

    task_id: str = attrs.field(converter=as_id)
    children: OfChildren = attrs.field(default="refuse", converter=as_fate)


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
    Bring back the tasks of an earlier plan, as that plan holds them, its approval, and its next id
    if higher.
    """

    tasks: tuple[Task, ...] = attrs.field(converter=_tasks)
    # Law 6: an id that the earlier plan gave out stays used, also where its task is gone.
    next_id: int = attrs.field(default=1, converter=_next_id)
    approved: Approval | None = attrs.field(default=None, converter=approval_or_none)


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
    | MoveTask
    | ClaimTask
    | RenewClaim
    | ReleaseClaim
    | DeleteTask
    | AnswerTask
    | RecordEvidence
    | ApprovePlan
    | StartNext
    | ClearPlan
    | RestorePlan
    | Batch
)
_COMMANDS = get_args(Command)
