"""
The small values that tasks and plans are made of: the words for where a task stands and how much it
matters, what it waits for, what was found when the program looked, what a person has agreed to. And
what is known of a field of a task.
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
    Where a task stands. "Blocked" is derived from edges and never stored.

    Failed is closed without its result: what waits for it goes on waiting.
    """

    # pydantic-ai-todo stores "blocked": once the blockers were done, nothing ever took it back.
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"

    __hash__ = str.__hash__  # Enum's own is written in Python and ten times slower

    @property
    def resolved(self) -> bool:
        """
        True for completed and cancelled: what waits for such a task is free.
        """
        return self in RESOLVED

    @property
    def closed(self) -> bool:
        """
        True for completed, cancelled and failed: nobody works on such a task any more.
        """
        return self in CLOSED


# Spelled out, since a new status must be put on one side or the other; a test holds that it is.
RESOLVED = frozenset({Status.COMPLETED, Status.CANCELLED})
CLOSED = RESOLVED | {Status.FAILED}
OPEN = frozenset({Status.PENDING, Status.IN_PROGRESS})


class Priority(StrEnum):
    """
    How much a task matters, as OpenCode and Claude Code name the grades.
    """

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


# What converters take: with the words spelled out, a misspelled one is a type error.
StatusWord = Status | Literal["pending", "in_progress", "completed", "cancelled", "failed"]
PriorityWord = Priority | Literal["high", "medium", "low"]


def as_status(word: StatusWord) -> Status:
    """
    Return the status that a word names; an unknown word is a PlanError.
    """
    return word if type(word) is Status else as_member(word, Status)


def as_priority(word: PriorityWord | None) -> Priority | None:
    """
    Return the priority that a word names; an unknown word is a PlanError.
    """
    return word if word is None or type(word) is Priority else as_member(word, Priority)


def _revision(value: int) -> int:
    return as_whole_number(value, 0)


@attrs.frozen(weakref_slot=False)
class Waiting:
    """
    What a pending task waits for outside the plan: `reason` says who or what.

    From `until` on, an aware time, the task is ready again. `question` is one that somebody can
    answer by `AnswerTask`, which ends the wait.
    """

    reason: str = attrs.field(default="", converter=as_text)
    until: datetime | None = attrs.field(default=None, converter=as_time_or_none)
    question: str | None = attrs.field(default=None, converter=as_text_or_none)


@attrs.frozen(weakref_slot=False)
class Evidence:
    """
    What the program found when it looked whether a task is done, as its `check` says.

    `summary` is what was seen, `by` who looked, `at` when. No model's tool makes one (law 20).
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
    The right of `owner` to work on a task, until a time that its holder can put off (law 19).

    `fence` numbers the claims of the task from 1 on: it belongs to this claim, and not to whoever
    has the same name. Without `until` the claim does not run out.
    """

    # Procrastinate#1518 tells holders apart by their id: a restarted pod has that of the old one.
    owner: str = attrs.field(converter=as_text)
    fence: int = attrs.field(converter=_fence)
    until: datetime | None = attrs.field(default=None, converter=as_time_or_none)

    def is_live(self, at: datetime | None) -> bool:
        """
        Say whether the claim has not run out by a time; where no time is known it has not.
        """
        return at is None or self.until is None or at < self.until


@attrs.frozen(weakref_slot=False)
class Approval:
    """
    The revision of a plan that a person has agreed to, who it was, and when.
    """

    revision: int = attrs.field(converter=_revision)
    by: str | None = attrs.field(default=None, converter=as_text_or_none)
    at: datetime | None = attrs.field(default=None, converter=as_time_or_none)


class FieldKind(Enum):
    """
    What a field of a task holds. Where `None` may stand, it means "not given" and is the default.
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
    One field of a task. `editable`: a `TaskEdited` event may set it. The other fields have events
    of their own (status, parent, edges), or follow from these (times).
    """

    name: str
    kind: FieldKind
    default: Any
    editable: bool
