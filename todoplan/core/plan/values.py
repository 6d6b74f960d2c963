"""
Small values that tasks and plans are made of: statuses, priorities, waiting, claims, evidence and
approvals.

`TaskField` and `FieldKind` describe the fields of a task.
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum, StrEnum
from typing import Any, Literal

import attrs

from todoplan.core.plan.validation import (
    as_member,
    as_text,
    as_text_or_none,
    as_time_or_none,
    as_truth,
    as_whole_number,
)

__all__ = [
    "CLOSED",
    "OPEN",
    "RESOLVED",
    "Approval",
    "Claim",
    "Evidence",
    "FieldKind",
    "Priority",
    "PriorityWord",
    "Status",
    "StatusWord",
    "TaskField",
    "Waiting",
    "as_priority",
    "as_status",
]


class Status(StrEnum):
    """
    The status of a task. "Blocked" is derived from edges and never stored.

    A failed task is closed without its result: the tasks that depend on it stay blocked.
    """

    # pydantic-ai-todo stores "blocked", and nothing resets it once the blockers are completed.
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"

    __hash__ = str.__hash__  # Enum's own hash is written in Python and ten times slower

    @property
    def resolved(self) -> bool:
        """True for completed and cancelled: such a task blocks no other task."""
        return self in RESOLVED

    @property
    def closed(self) -> bool:
        """True for completed, cancelled and failed: nobody works on such a task any more."""
        return self in CLOSED


# Written out, so that a new status must be put into one of the sets; a test checks this.
RESOLVED = frozenset({Status.COMPLETED, Status.CANCELLED})
CLOSED = RESOLVED | {Status.FAILED}
OPEN = frozenset({Status.PENDING, Status.IN_PROGRESS})


class Priority(StrEnum):
    """The priority of a task, with the words that OpenCode and Claude Code use."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


# The types that converters accept. The words are spelled out, so a misspelled one is a type error.
StatusWord = Status | Literal["pending", "in_progress", "completed", "cancelled", "failed"]
PriorityWord = Priority | Literal["high", "medium", "low"]


def as_status(word: StatusWord) -> Status:
    """
    Return the status for a word.

    Raises:
        PlanError: the word is unknown.
    """
    return word if type(word) is Status else as_member(word, Status)


def as_priority(word: PriorityWord | None) -> Priority | None:
    """
    Return the priority for a word, or `None`.

    Raises:
        PlanError: the word is unknown.
    """
    return word if word is None or type(word) is Priority else as_member(word, Priority)


def _revision(value: int) -> int:
    return as_whole_number(value, 0)


@attrs.frozen(weakref_slot=False)
class Waiting:
    """
    What a pending task waits for outside the plan. `reason` names the person or thing.

    `until` is an aware time; from then on the task no longer waits. A `question` can be answered
    with `AnswerTask`, which ends the wait.
    """

    reason: str = attrs.field(default="", converter=as_text)
    until: datetime | None = attrs.field(default=None, converter=as_time_or_none)
    question: str | None = attrs.field(default=None, converter=as_text_or_none)


@attrs.frozen(weakref_slot=False)
class Evidence:
    """
    The result of the program's check whether a task is done, as its `check` describes.

    `summary` is what the check saw, `by` the name of the checker, `at` the time. No tool offered to
    a model creates evidence (law 20).
    """

    passed: bool = attrs.field(converter=as_truth)
    summary: str = attrs.field(default="", converter=as_text)
    by: str | None = attrs.field(default=None, converter=as_text_or_none)
    at: datetime | None = attrs.field(default=None, converter=as_time_or_none)


def _fence(value: int) -> int:
    return as_whole_number(value, 1)


@attrs.frozen(weakref_slot=False)
class Claim:
    """
    The right of `owner` to work on a task until a time, which the owner can extend (law 19).

    `fence` is the fencing token: it numbers the claims of a task from 1, and so identifies this
    claim even where two workers have the same name. A claim with `until=None` does not expire.
    """

    # Procrastinate#1518 identifies owners by their id alone: a restarted pod has the id of the old
    # one.
    owner: str = attrs.field(converter=as_text)
    fence: int = attrs.field(converter=_fence)
    until: datetime | None = attrs.field(default=None, converter=as_time_or_none)

    def is_live(self, at: datetime | None) -> bool:
        """Return True if the claim has not expired at the given time, or if no time is given."""
        return at is None or self.until is None or at < self.until


@attrs.frozen(weakref_slot=False)
class Approval:
    """The revision of a plan that a person has approved, with the person's name and the time."""

    revision: int = attrs.field(converter=_revision)
    by: str | None = attrs.field(default=None, converter=as_text_or_none)
    at: datetime | None = attrs.field(default=None, converter=as_time_or_none)


class FieldKind(Enum):
    """
    The kind of value in a field of a task. Where `None` is allowed, it means "not given" and is the
    default.
    """

    ID = "the task's own id"
    TEXT = "a text"
    TEXT_OR_NONE = "a text, or None"
    STATUS = "a Status"
    PRIORITY = "a Priority, or None"
    PARENT = "the id of another task, or None"
    WAITING = "a Waiting, or None"
    EVIDENCE = "an Evidence, or None"
    CLAIM = "a Claim, or None"
    COUNT = "a whole number from 0 on"
    IDS = "a tuple of task ids"
    NUMBER = "a finite number, or None"
    METADATA = "JSON values by key"
    TIME = "an aware time, or None"


@attrs.frozen
class TaskField:
    """
    Describes one field of a task.

    An `editable` field can be set by a `TaskEdited` event. The other fields either have events of
    their own (status, parent, edges) or follow from these (times).
    """

    name: str
    kind: FieldKind
    default: Any
    editable: bool
