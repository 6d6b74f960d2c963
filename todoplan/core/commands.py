"""
Commands: requests to change a plan. `decide` answers each with events or with problems.

A status or priority may be given as its word. Where a command keeps a tuple, any iterable except a
string may be given. An unsuitable value is the developer's mistake; the constructor raises a
PlanError.

`UNSET` means "leave the field unchanged"; `None` clears the field.
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


# At least 0, as a journal entry requires: a negative number could be decided but not saved.
def _next_id(value: int) -> int:
    return as_whole_number(value, 0)


@attrs.frozen(weakref_slot=False)
class WriteTodos:
    """Replace the plan's whole list. Items that match an existing task keep its identity."""

    todos: tuple[Todo, ...] = attrs.field(converter=_todos)
    clear: bool = attrs.field(default=False, converter=as_truth)
    """Confirms that an empty list is intended; see the rule `empty_write`."""


@attrs.frozen(weakref_slot=False)
class CreateTask:
    """Add one task, at the end of the plan or after the other subtasks of its parent."""

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
    Add several tasks, all or none.

    Edges may name an item of the same command: "#0" is the first one. A parent may name an earlier
    item in the same way.
    """

    # The plan's counter gives out ids only when the command is decided, so items refer to each
    # other by position.
    items: tuple[CreateTask, ...] = attrs.field(converter=_items)


@attrs.frozen(weakref_slot=False)
class UpdateTask:
    """
    Change one task. `metadata` is merged key by key, and `None` deletes a key.

    Setting `waiting` moves a started task back to pending. `None` ends the wait, and so does a
    status other than pending. `parent` moves the task after the last subtask of another one; `None`
    moves it to the top level. `fence` is the fencing token of the claim under which the change is
    made. A token other than the current one is refused, and the status of a claimed task changes
    only with the current token (law 19).
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
    Put one task, with all its subtasks, directly before or after another one, below the same
    parent.

    Exactly one of `before` and `after` must be given.
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
    Remove one task and its edges.

    A task with subtasks is refused, unless `children` says what to do with them: "lift" puts them
    in the place of the deleted task, "remove" removes them as well.
    """

    task_id: str = attrs.field(converter=as_id)
    children: OfChildren = attrs.field(default="refuse", converter=as_fate)


@attrs.frozen(weakref_slot=False)
class StartNext:
    """Start the next ready task, unless a task is in progress or none is ready."""


@attrs.frozen(weakref_slot=False)
class ClearPlan:
    """Remove every task."""


@attrs.frozen(weakref_slot=False)
class RestorePlan:
    """
    Restore the tasks and the approval of an earlier plan, exactly as that plan has them.

    The plan's next id becomes the earlier plan's next id if that is higher.
    """

    tasks: tuple[Task, ...] = attrs.field(converter=_tasks)
    # Law 6: an id that the earlier plan gave out stays used, even if its task was deleted.
    next_id: int = attrs.field(default=1, converter=_next_id)
    approved: Approval | None = attrs.field(default=None, converter=approval_or_none)


def _commands(value: Iterable[Command]) -> tuple[Command, ...]:
    legal = "a tuple of commands, such as (CreateTask('a'), StartNext())"
    commands: tuple[Command, ...] = tuple_of(value, _COMMANDS, legal)
    if Batch in map(type, commands) and _levels(commands) > LEVELS:
        msg = f"batches lie in each other over {LEVELS} deep; put their commands into one"
        raise PlanError(msg, limit=LEVELS)
    return commands


# Recursion is safe: each inner batch was limited to LEVELS when it was made.
def _levels(commands: tuple[Command, ...]) -> int:
    inner = [_levels(part.commands) for part in commands if isinstance(part, Batch)]
    return 1 + max(inner, default=0)


@attrs.frozen(weakref_slot=False)
class Batch:
    """Several commands in order, accepted or refused as one. A batch may contain batches."""

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
