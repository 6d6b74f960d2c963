"""
Converters for the arguments of public constructors. Unsuitable values are refused with a remedy.

The fast constructors (`todoplan.core.plan.fast_constructor`) skip all this, because their arguments
were validated before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from difflib import get_close_matches
from enum import StrEnum
from reprlib import Repr
from typing import Any, TypeVar

from todoplan.core.plan.frozen import FrozenDict, freeze
from todoplan.errors import PlanError

__all__ = [
    "Several",
    "as_id",
    "as_ids",
    "as_member",
    "as_metadata",
    "as_number_or_none",
    "as_text",
    "as_text_or_none",
    "as_time_or_none",
    "as_truth",
    "as_whole_number",
    "in_utc",
    "instance_of",
    "short_repr",
    "tuple_of",
]

T = TypeVar("T")
_Member = TypeVar("_Member", bound=StrEnum)

Several = tuple[T, ...] | list[T] | AbstractSet[T] | Iterator[T]
"""Any iterable except a string. Parameters that are stored as a tuple accept it."""

# A value passed by mistake may be a whole plan, or a megabyte long.
_short = Repr()
_short.maxstring = _short.maxother = 80
_short.maxlevel = 1


def short_repr(value: object, *, kind: bool = True) -> str:
    """
    Return a short repr of the value for error messages, followed by its type if `kind` is true.
    """
    # An enum member is shown as its word, which is what a user writes.
    plain = str.__str__(value) if isinstance(value, StrEnum) else value
    return f"{_short.repr(plain)} ({type(value).__name__})" if kind else _short.repr(plain)


def as_text(value: str) -> str:
    """
    Return a plain string, also for a member of a string enum.

    Raises:
        PlanError: the value is not a string.
    """
    if not isinstance(value, str):
        raise _unfit(value, "a text")
    # str(value) would call the subclass, which may return anything or raise.
    return value if type(value) is str else str.__str__(value)


def as_text_or_none(value: str | None) -> str | None:
    """
    Return a plain string, or `None`.

    Raises:
        PlanError: the value is anything else.
    """
    if value is not None and not isinstance(value, str):
        raise _unfit(value, "a text or None")
    return value if value is None else as_text(value)


def as_member(word: str, of: type[_Member]) -> _Member:
    """
    Return the member of a string enum for a word.

    Raises:
        PlanError: the word is unknown.
    """
    try:
        return of(word)
    except ValueError:
        near = get_close_matches(str(word), list(of), 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        words = ", ".join(of)
        msg = f"{short_repr(word)} is no {of.__name__.lower()}; write one of {words}{meant}"
        raise PlanError(msg, seen=word) from None


def as_number_or_none(value: float | None) -> float | None:
    """
    Return a finite number of a plain type, or `None`.

    A bool is refused: it is usually a mistake for another value.

    Raises:
        PlanError: the value is anything else.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _unfit(value, "a finite number or None")
    # The subclass's own conversion is not called. Numbers are stored as plain types, because
    # NumPy's floats and numeric enums do not survive a document.
    plain = int.__int__(value) if isinstance(value, int) else float.__float__(value)
    try:
        finite = math.isfinite(plain)
    except OverflowError:  # an integer too large for a float has no sum in minutes
        finite = False
    if not finite:
        raise _unfit(value, "a finite number or None")
    return plain


def as_whole_number(value: Any, least: int | None = None) -> int:
    """
    Return a plain int that is `least` or more.

    Raises:
        PlanError: the value is anything else.
    """
    legal = "a whole number" if least is None else f"a whole number from {least} on"
    if isinstance(value, bool) or not isinstance(value, int):
        raise _unfit(value, legal)
    if least is not None and value < least:
        raise _unfit(value, legal)
    return int.__int__(value)


def as_time_or_none(value: datetime | None) -> datetime | None:
    """
    Return an aware time, with its own time zone, or `None`.

    Raises:
        PlanError: the value is anything else.
    """
    if value is not None:
        if not isinstance(value, datetime):
            raise _unfit(value, "an aware time such as datetime.now(UTC), or None")
        _require_zone(value)
    return value


def instance_of(value: object, kind: type[T], legal: str) -> T:
    """
    Return the value if it is an instance of this class.

    Raises:
        PlanError: it is not; the message says what is `legal`.
    """
    if not isinstance(value, kind):
        raise _unfit(value, legal)
    return value


def tuple_of(value: object, kinds: type[T] | tuple[type[T], ...], legal: str) -> tuple[T, ...]:
    """
    Return the items as a tuple.

    Raises:
        PlanError: the value is a string or not iterable, or an item is of another class.
    """
    # A string iterates over its letters: "12" would silently become two ids.
    items: tuple[Any, ...]
    if type(value) is tuple:
        items = value
    elif isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise _unfit(value, legal)
    else:
        items = tuple(value)
    for kind in {*map(type, items)}:  # thousands of items have one or two classes
        if not issubclass(kind, kinds):
            raise _unfit(next(item for item in items if type(item) is kind), legal)
    return items


def as_truth(value: bool) -> bool:  # noqa: FBT001 - a converter's one argument
    """
    Return True or False.

    Raises:
        PlanError: the value is not a bool. The strings "no" and "false" are true in Python.
    """
    return instance_of(value, bool, "True or False")


def as_id(value: str) -> str:
    """
    Return an id.

    Raises:
        PlanError: the value is not a string.
    """
    if not isinstance(value, str):
        raise _unfit(value, 'an id, which is a text such as "3": str(id)')
    return value


def as_ids(value: Several[str]) -> tuple[str, ...]:
    """
    Return ids as a tuple.

    Raises:
        PlanError: the value is not an iterable of strings, or is a single string, which would be
            read letter by letter.
    """
    # Most commands have four empty lists of ids, and every call passes here.
    if type(value) is tuple and not value:
        return ()
    return tuple_of(value, str, 'a tuple of ids, which are texts, such as ("3", "12")')


def as_metadata(value: Mapping[str, Any]) -> FrozenDict:
    """
    Return a deeply frozen copy of a mapping.

    Raises:
        PlanError: the value is not a mapping, or is nested too deeply.
    """
    if type(value) is FrozenDict:  # true of the default, and of values read from a document
        return value
    if not isinstance(value, Mapping):
        raise _unfit(value, 'a mapping such as {"key": "value"}')
    frozen: FrozenDict = freeze(value)
    return frozen


def in_utc(at: datetime) -> datetime:
    """
    Return an aware time in UTC. The core keeps times in UTC, so that each is unambiguous in any
    document.

    A time that would be outside the range of datetime in UTC is returned unchanged.

    Raises:
        PlanError: the time has no time zone.
    """
    _require_zone(at)
    try:
        return at.astimezone(UTC)
    except OverflowError:
        return at


def _require_zone(at: datetime) -> None:
    """
    Check that a time has a time zone; without one it means a different moment on each machine.

    Raises:
        PlanError: the time has no time zone.
    """
    if at.utcoffset() is None:
        msg = f"{at.isoformat()} has no time zone; give an aware time such as datetime.now(UTC)"
        raise PlanError(msg, at=at)


def _unfit(value: object, legal: str) -> PlanError:
    return PlanError(f"{short_repr(value)} was given; give {legal}", seen=value)
