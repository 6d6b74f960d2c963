"""
Commands: requests to change a plan. `decide` answers each with events or with problems.

A status or priority may also be passed as a string. For a field that is a tuple, any iterable
except a string may be passed. If a value is unsuitable, the constructor raises a PlanError, because
that is a mistake of the developer.

`UNSET` means "leave the field unchanged"; `None` clears the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from enum import Enum
from typing import Any, Final, Literal, get_args

import attrs

from todoplan.core.plan.model import (
    EMPTY,
    LEVELS,
    Approval,
    Priority,
    PriorityWord,
    Status,
    StatusWord,
    Task,
    Todo,
    Value,
    Waiting,
    as_count,
    as_date_or_none,
    as_fence,
    as_id,
    as_ids,
    as_metadata,
    as_number_or_none,
    as_priority,
    as_status,
    as_text,
    as_text_or_none,
    as_truth,
    as_waiting,
    instance_of,
    tuple_of,
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


# -------- arguments --------
# `UNSET`, and the converters for command fields that may be left out or cleared.
#
# An unsuitable value raises a PlanError in the command's constructor.


_LONGEST = 10**9  # seconds, about thirty years; the present time plus this is a valid datetime


# An enum member and not an object(): type checkers can narrow a type by it, and a copy of it is the
# same object.
class _Sentinel(Enum):
    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Sentinel.UNSET
Unset = Literal[_Sentinel.UNSET]
OfChildren = Literal["refuse", "lift", "remove"]
_FATES = get_args(OfChildren)


def status_or_unset(value: StatusWord | Unset) -> Status | Unset:
    """Return the status for a word, and UNSET unchanged."""
    return UNSET if value is UNSET else as_status(value)


def priority_or_unset(value: PriorityWord | None | Unset) -> Priority | None | Unset:
    """Return the priority for a word, and `None` or UNSET unchanged."""
    return UNSET if value is UNSET else as_priority(value)


def number_or_unset(value: float | None | Unset) -> float | None | Unset:
    """Return the value, which must be a finite number, `None` or UNSET."""
    return UNSET if value is UNSET else as_number_or_none(value)


def date_or_unset(value: date | None | Unset) -> date | None | Unset:
    """Return the value, which must be a date, `None` or UNSET."""
    return UNSET if value is UNSET else as_date_or_none(value)


def text_or_unset(value: str | Unset) -> str | Unset:
    """Return the value, which must be a string or UNSET."""
    return UNSET if value is UNSET else as_text(value)


def text_none_or_unset(value: str | None | Unset) -> str | None | Unset:
    """Return the value, which must be a string, `None` or UNSET."""
    return UNSET if value is UNSET else as_text_or_none(value)


def waiting_or_unset(value: Waiting | None | Unset) -> Waiting | None | Unset:
    """Return the value, which must be a `Waiting`, `None` or UNSET."""
    return UNSET if value is UNSET else as_waiting(value)


def _not_blank(value: str, msg: str) -> str:
    text = as_text(value)
    if not text.strip():
        raise PlanError(msg, seen=value)
    return text


def as_answer(value: str) -> str:
    """Return the answer, which must not be blank."""
    msg = "the answer is empty; say something, or end the wait by UpdateTask(id, waiting=None)"
    return _not_blank(value, msg)


def id_or_none(value: str | None) -> str | None:
    """Return the value, which must be an id or `None`."""
    return None if value is None else as_id(value)


def approval_or_none(value: Approval | None) -> Approval | None:
    """
    Return the value, which must be an `Approval` or `None`.

    Raises:
        PlanError: the value is anything else.
    """
    legal = "None, or an approval, such as that of an earlier plan: plan.approved"
    return None if value is None else instance_of(value, Approval, legal)


def as_fate(value: OfChildren) -> OfChildren:
    """
    Return the word, which says what to do with the subtasks of a deleted task.

    Raises:
        PlanError: the word is unknown.
    """
    if value in _FATES:
        return value
    msg = f"{value!r} is no value of children; write one of {', '.join(_FATES)}"
    raise PlanError(msg, seen=value)


def fence_or_none(value: int | None) -> int | None:
    """
    Return the value, which must be `None` or a whole number of 1 or more.

    Raises:
        PlanError: the value is anything else.
    """
    return None if value is None else as_fence(value)


def as_name(value: str) -> str:
    """Return the name of a claim's owner. The name must not be blank."""
    return _not_blank(value, "the owner of a claim has no name; write ClaimTask('worker-1')")


def as_name_or_none(value: str | None) -> str | None:
    """Return the value, which must be `None` or an actor's name that is not blank."""
    msg = "the actor to give a task to has no name; write give_to='ann', or None for nobody"
    return None if value is None else _not_blank(value, msg)


def as_seconds(value: float) -> float:
    """
    Return the value, which must be a number of seconds above 0 and at most 10**9.

    Raises:
        PlanError: the value is anything else.
    """
    seconds = as_number_or_none(value)
    if seconds is None or not 0 < seconds <= _LONGEST:
        msg = f"a lease has {value!r} seconds; give a number above 0, at most {_LONGEST:,}"
        raise PlanError(msg, seen=value)
    return seconds


# -------- teamwork --------
# Commands for actors who share a plan: claims, answers, evidence, approval.
#
# The docstring of this module describes what all commands have in common.


@attrs.frozen(weakref_slot=False, repr=False)
class ClaimTask(Value):
    """
    Claim a task for `lease` seconds and start it.

    `task_id` names the task; without it, the next available task is claimed. If no task is
    available, nothing happens.

    The next available task is the first task whose claim has expired, or else the first ready task.
    Tasks that are assigned to another actor are skipped. If `priority` or `tag` (an item of "tags"
    in the metadata) is given, tasks without it are skipped too. If a task was released or lost
    `attempts` times since it was last closed, it is not claimed but given up: it is set to failed
    or, if `give_to` names an actor, set to pending and assigned to that actor.
    """

    owner: str = attrs.field(converter=as_name)
    lease: float = attrs.field(default=300.0, converter=as_seconds)
    task_id: str | None = attrs.field(default=None, converter=id_or_none)
    priority: Priority | None = attrs.field(default=None, converter=as_priority)
    tag: str | None = attrs.field(default=None, converter=as_text_or_none)
    attempts: int | None = attrs.field(default=None, converter=fence_or_none)
    give_to: str | None = attrs.field(default=None, converter=as_name_or_none)


@attrs.frozen(weakref_slot=False, repr=False)
class RenewClaim(Value):
    """Extend a claim to `lease` seconds from now. `fence` is the fencing token of the claim."""

    task_id: str = attrs.field(converter=as_id)
    fence: int = attrs.field(converter=as_fence)
    lease: float = attrs.field(default=300.0, converter=as_seconds)


@attrs.frozen(weakref_slot=False, repr=False)
class ReleaseClaim(Value):
    """
    Release a claimed task, or take it from an owner that died. The task becomes pending again.

    Anyone who knows the fencing token may do this. Later reports by the former owner are refused.
    """

    task_id: str = attrs.field(converter=as_id)
    fence: int = attrs.field(converter=as_fence)


@attrs.frozen(weakref_slot=False, repr=False)
class AnswerTask(Value):
    """Answer the question of a waiting task. The wait ends, and the task keeps the answer."""

    task_id: str = attrs.field(converter=as_id)
    answer: str = attrs.field(converter=as_answer)


@attrs.frozen(weakref_slot=False, repr=False)
class RecordEvidence(Value):
    """
    Record the result of a check by the program: is a task done?

    No tool offered to a model creates this command. `by` names the checker; by default it is the
    actor of the command.
    """

    task_id: str = attrs.field(converter=as_id)
    passed: bool = attrs.field(converter=as_truth)
    summary: str = attrs.field(default="", converter=as_text)
    by: str | None = attrs.field(default=None, converter=as_text_or_none)


@attrs.frozen(weakref_slot=False, repr=False)
class ApprovePlan(Value):
    """
    Approve the plan as it is: its present revision becomes the approved one.

    `by` names the person who approves; by default it is the actor of the command.
    """

    by: str | None = attrs.field(default=None, converter=as_text_or_none)


def as_todos(value: Iterable[Todo]) -> tuple[Todo, ...]:
    """Return todos as a tuple."""
    return tuple_of(value, Todo, 'a tuple of todos, such as (Todo("a"), Todo("b"))')


def as_tasks(value: Iterable[Task]) -> tuple[Task, ...]:
    """Return tasks as a tuple."""
    return tuple_of(value, Task, "a tuple of tasks, such as tuple(plan)")


@attrs.frozen(weakref_slot=False, repr=False)
class WriteTodos(Value):
    """Replace the plan's whole list. A todo that matches a task only changes that task."""

    todos: tuple[Todo, ...] = attrs.field(converter=as_todos)
    clear: bool = attrs.field(default=False, converter=as_truth)
    """Confirms that an empty list is intended; see the rule `empty_write`."""


@attrs.frozen(weakref_slot=False, repr=False)
class CreateTask(Value):
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
    due: date | None = attrs.field(default=None, converter=as_date_or_none)


def as_creations(value: Iterable[CreateTask]) -> tuple[CreateTask, ...]:
    """Return `CreateTask` commands as a tuple."""
    return tuple_of(value, CreateTask, "a tuple of creations, such as (CreateTask('a'),)")


@attrs.frozen(weakref_slot=False, repr=False)
class CreateTasks(Value):
    """
    Add several tasks, all or none.

    Edges may name an item of the same command: "#0" is the first one. A parent may name an earlier
    item in the same way.
    """

    # The plan's counter gives out ids only when the command is decided, so items refer to each
    # other by position.
    items: tuple[CreateTask, ...] = attrs.field(converter=as_creations)


@attrs.frozen(weakref_slot=False, repr=False)
class UpdateTask(Value):
    """
    Change one task. `metadata` is merged key by key, and `None` deletes a key.

    Setting `waiting` moves a started task back to pending. `waiting=None` ends the wait, and so
    does a status other than pending. `parent` makes the task the last subtask of another task;
    `parent=None` moves it to the top level. `fence` is the fencing token of the claim under which
    the change is made. A token other than the current one is refused, and the status of a claimed
    task changes only with the current token (law 19).
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
    # langchain-agentkit tells a model to remove a dependency, but has no tool that can do so.
    remove_blocks: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    remove_blocked_by: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    parent: str | None | Unset = attrs.field(default=UNSET, converter=text_none_or_unset)
    waiting: Waiting | None | Unset = attrs.field(default=UNSET, converter=waiting_or_unset)
    check: str | None | Unset = attrs.field(default=UNSET, converter=text_none_or_unset)
    fence: int | None = attrs.field(default=None, converter=fence_or_none)
    due: date | None | Unset = attrs.field(default=UNSET, converter=date_or_unset)


@attrs.frozen(weakref_slot=False, repr=False)
class MoveTask(Value):
    """
    Put one task, with all its subtasks, directly before or after another task.

    The task gets the parent of that other task. Exactly one of `before` and `after` must be given.
    """

    task_id: str = attrs.field(converter=as_id)
    before: str | None = attrs.field(default=None, converter=id_or_none)
    after: str | None = attrs.field(default=None, converter=id_or_none)

    def __attrs_post_init__(self) -> None:
        if (self.before is None) is (self.after is None):
            msg = f'say where to: MoveTask({self.task_id!r}, before="3"), or after="3", not both'
            raise PlanError(msg, seen=(self.before, self.after))


@attrs.frozen(weakref_slot=False, repr=False)
class DeleteTask(Value):
    """
    Remove one task and its edges.

    A task with subtasks is refused, unless `children` says what to do with them: "lift" puts them
    in the place of the deleted task, "remove" removes them as well.
    """

    task_id: str = attrs.field(converter=as_id)
    children: OfChildren = attrs.field(default="refuse", converter=as_fate)


@attrs.frozen(weakref_slot=False, repr=False)
class StartNext(Value):
    """Start the next ready task, unless a task is in progress or none is ready."""


@attrs.frozen(weakref_slot=False, repr=False)
class ClearPlan(Value):
    """Remove every task."""


@attrs.frozen(weakref_slot=False, repr=False)
class RestorePlan(Value):
    """
    Restore the tasks and the approval of an earlier plan. Claims that have ended stay ended.

    `next_id` is the next id of the earlier plan. It is used if the present next id is lower.
    """

    tasks: tuple[Task, ...] = attrs.field(converter=as_tasks)
    # Law 6: an id that the earlier plan gave out stays used, even if its task was deleted. A
    # negative number is refused: a journal entry with one could not be saved.
    next_id: int = attrs.field(default=1, converter=as_count)
    approved: Approval | None = attrs.field(default=None, converter=approval_or_none)


def as_commands(value: Iterable[Command]) -> tuple[Command, ...]:
    """
    Return commands as a tuple.

    Raises:
        PlanError: an item is not a command, or batches are nested too deeply.
    """
    legal = "a tuple of commands, such as (CreateTask('a'), StartNext())"
    commands: tuple[Command, ...] = tuple_of(value, _COMMANDS, legal)
    if Batch in map(type, commands) and _levels(commands) > LEVELS:
        msg = f"batches are nested more than {LEVELS} levels deep; put their commands into one"
        raise PlanError(msg, limit=LEVELS)
    return commands


# Recursion is safe: each inner batch was limited to LEVELS when it was made.
def _levels(commands: tuple[Command, ...]) -> int:
    inner = [_levels(part.commands) for part in commands if isinstance(part, Batch)]
    return 1 + max(inner, default=0)


@attrs.frozen(weakref_slot=False, repr=False)
class Batch(Value):
    """Several commands in order, accepted or refused together. A batch may contain batches."""

    commands: tuple[Command, ...] = attrs.field(converter=as_commands)


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
