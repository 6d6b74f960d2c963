"""
`UNSET`, and the converters for command fields that may be left out or cleared.

An unsuitable value raises a PlanError in the command's constructor.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, get_args

from todoplan.core.plan.model import (
    Approval,
    Priority,
    PriorityWord,
    Status,
    StatusWord,
    Waiting,
    as_priority,
    as_status,
    as_waiting,
)
from todoplan.core.plan.validation import (
    as_id,
    as_number_or_none,
    as_text,
    as_text_or_none,
    as_whole_number,
    instance_of,
)
from todoplan.errors import PlanError

__all__ = [
    "UNSET",
    "OfChildren",
    "Unset",
    "approval_or_none",
    "as_answer",
    "as_fate",
    "as_fence",
    "as_name",
    "as_seconds",
    "fence_or_none",
    "id_or_none",
    "number_or_unset",
    "priority_or_unset",
    "status_or_unset",
    "text_none_or_unset",
    "text_or_unset",
    "waiting_or_unset",
]


_LONGEST = 10**9  # seconds, about thirty years: added to the present, it is still a valid datetime


# An enum member and not an object(): type checkers narrow on it, and a copy is the same object.
class _Sentinel(Enum):
    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Sentinel.UNSET
Unset = Literal[_Sentinel.UNSET]
OfChildren = Literal["refuse", "lift", "remove"]
_FATES = get_args(OfChildren)


def status_or_unset(value: StatusWord | Unset) -> Status | Unset:
    """Return the status for a word, or UNSET."""
    return UNSET if value is UNSET else as_status(value)


def priority_or_unset(value: PriorityWord | None | Unset) -> Priority | None | Unset:
    """Return the priority for a word, `None`, or UNSET."""
    return UNSET if value is UNSET else as_priority(value)


def number_or_unset(value: float | None | Unset) -> float | None | Unset:
    """Return a finite number, `None`, or UNSET."""
    return UNSET if value is UNSET else as_number_or_none(value)


def text_or_unset(value: str | Unset) -> str | Unset:
    """Return a text, or UNSET."""
    return UNSET if value is UNSET else as_text(value)


def text_none_or_unset(value: str | None | Unset) -> str | None | Unset:
    """Return a text, `None`, or UNSET."""
    return UNSET if value is UNSET else as_text_or_none(value)


def waiting_or_unset(value: Waiting | None | Unset) -> Waiting | None | Unset:
    """Return a `Waiting`, `None`, or UNSET."""
    return UNSET if value is UNSET else as_waiting(value)


def as_answer(value: str) -> str:
    """
    Return an answer.

    Raises:
        PlanError: the answer is empty.
    """
    text = as_text(value)
    if not text.strip():
        msg = "the answer is empty; say something, or end the wait by UpdateTask(id, waiting=None)"
        raise PlanError(msg, seen=value)
    return text


def id_or_none(value: str | None) -> str | None:
    """Return an id, or `None`."""
    return None if value is None else as_id(value)


def approval_or_none(value: Approval | None) -> Approval | None:
    """
    Return an approval, or `None`.

    Raises:
        PlanError: the value is anything else.
    """
    legal = "None, or an approval, such as that of an earlier plan: plan.approved"
    return None if value is None else instance_of(value, Approval, legal)


def as_fate(value: OfChildren) -> OfChildren:
    """
    Return the word that says what happens to the subtasks of a deleted task.

    Raises:
        PlanError: the word is unknown.
    """
    if value in _FATES:
        return value
    msg = f"{value!r} says nothing of the subtasks; write one of {', '.join(_FATES)}"
    raise PlanError(msg, seen=value)


def as_fence(value: int) -> int:
    """
    Return a claim's fencing token, a whole number from 1.

    Raises:
        PlanError: the value is anything else.
    """
    return as_whole_number(value, 1)


def fence_or_none(value: int | None) -> int | None:
    """
    Return a whole number from 1, or `None`.

    Raises:
        PlanError: the value is anything else.
    """
    return None if value is None else as_fence(value)


def as_name(value: str) -> str:
    """
    Return the name of an actor.

    Raises:
        PlanError: the name is empty.
    """
    text = as_text(value)
    if not text.strip():
        msg = "the owner of a claim has no name; write ClaimTask('worker-1')"
        raise PlanError(msg, seen=value)
    return text


def as_seconds(value: float) -> float:
    """
    Return a number of seconds above 0.

    Raises:
        PlanError: the value is anything else, or more than 10**9.
    """
    seconds = as_number_or_none(value)
    if seconds is None or not 0 < seconds <= _LONGEST:
        msg = f"a lease has {value!r} seconds; give a number above 0, at most {_LONGEST:,}"
        raise PlanError(msg, seen=value)
    return seconds
