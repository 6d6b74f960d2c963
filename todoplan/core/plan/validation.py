"""
What developers give to public constructors: taken as it is meant, or refused with the remedy.

The fast constructors (`todoplan.core.plan.fast_constructor`) do without all this: what they are
given was validated before.
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
"""What may be given where a tuple is kept: any iterable that is not a text."""

# What was given by mistake may be a whole plan, or a megabyte.
_short = Repr()
_short.maxstring = _short.maxother = 80
_short.maxlevel = 1


def short_repr(value: object, *, kind: bool = True) -> str:
    """
    Return a short repr of the value, for error messages with its type (`kind`) behind it.
    """
    # A member is shown as its word, which is what one would write.
    plain = str.__str__(value) if isinstance(value, StrEnum) else value
    return f"{_short.repr(plain)} ({type(value).__name__})" if kind else _short.repr(plain)


def as_text(value: str) -> str:
    """
    Return a text, a plain one also of a member of an enum; anything else is a PlanError.
    """
    if not isinstance(value, str):
        raise _unfit(value, "a text")
    # str(value) would ask the subclass, which may answer with anything or raise.
    return value if type(value) is str else str.__str__(value)


def as_text_or_none(value: str | None) -> str | None:
    """
    Return a text, as `as_text` does, or `None`; anything else is a PlanError.
    """
    if value is not None and not isinstance(value, str):
        raise _unfit(value, "a text or None")
    return value if value is None else as_text(value)


def as_member(word: str, of: type[_Member]) -> _Member:
    """
    Return the member of an enum of words that a word names; an unknown word is a PlanError.
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
    Return a finite number, a plain one also of a subclass, or `None`; anything else is a PlanError.

    A bool is no number: it stands where something else was meant.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _unfit(value, "a finite number or None")
    # The subclass is not asked: NumPy's floats and enums of numbers do not survive a document.
    plain = int.__int__(value) if isinstance(value, int) else float.__float__(value)
    try:
        finite = math.isfinite(plain)
    except OverflowError:  # a whole number beyond every float: no sum of minutes holds it
        finite = False
    if not finite:
        raise _unfit(value, "a finite number or None")
    return plain


def as_whole_number(value: Any, least: int | None = None) -> int:
    """
    Return a whole number, `least` or more, as a plain one; anything else is a PlanError.
    """
    legal = "a whole number" if least is None else f"a whole number from {least} on"
    if isinstance(value, bool) or not isinstance(value, int):
        raise _unfit(value, legal)
    if least is not None and value < least:
        raise _unfit(value, legal)
    return int.__int__(value)


def as_time_or_none(value: datetime | None) -> datetime | None:
    """
    Return an aware time in its own zone, or `None`; anything else is a PlanError.
    """
    if value is not None:
        if not isinstance(value, datetime):
            raise _unfit(value, "an aware time such as datetime.now(UTC), or None")
        _require_zone(value)
    return value


def instance_of(value: object, kind: type[T], legal: str) -> T:
    """
    Return what is of this class; anything else is a PlanError that says what is `legal`.
    """
    if not isinstance(value, kind):
        raise _unfit(value, legal)
    return value


def tuple_of(value: object, kinds: type[T] | tuple[type[T], ...], legal: str) -> tuple[T, ...]:
    """
    Return the items as a tuple; a text, no iterable, or an item of no such kind is a PlanError.
    """
    # A text is an iterable of its letters: "12" would be two ids, and nobody would be told.
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
    Return True or False; anything else is a PlanError, since "no" and "false" are true in Python.
    """
    return instance_of(value, bool, "True or False")


def as_id(value: str) -> str:
    """
    Return an id; anything but a text is a PlanError.
    """
    if not isinstance(value, str):
        raise _unfit(value, 'an id, which is a text such as "3": str(id)')
    return value


def as_ids(value: Several[str]) -> tuple[str, ...]:
    """
    Return ids as a tuple; one text, which would be read letter by letter, is a PlanError.
    """
    # Most commands name none in each of their four lists: on the road of every call.
    if type(value) is tuple and not value:
        return ()
    return tuple_of(value, str, 'a tuple of ids, which are texts, such as ("3", "12")')


def as_metadata(value: Mapping[str, Any]) -> FrozenDict:
    """
    Return a deeply frozen copy; what is no mapping, or nested too deeply, is a PlanError.
    """
    if type(value) is FrozenDict:  # as it is by default, and in what was read
        return value
    if not isinstance(value, Mapping):
        raise _unfit(value, 'a mapping such as {"key": "value"}')
    frozen: FrozenDict = freeze(value)
    return frozen


def in_utc(at: datetime) -> datetime:
    """
    Return an aware time in UTC, as the core keeps times: each means one moment, in any document.

    One that is off the calendar there is returned as it is.

    Raises:
        PlanError: it has no time zone.
    """
    _require_zone(at)
    try:
        return at.astimezone(UTC)
    except OverflowError:
        return at


def _require_zone(at: datetime) -> None:
    """
    Refuse a time without a zone, which means another moment on each machine, with a PlanError.
    """
    if at.utcoffset() is None:
        msg = f"{at.isoformat()} has no time zone; give an aware time such as datetime.now(UTC)"
        raise PlanError(msg, at=at)


def _unfit(value: object, legal: str) -> PlanError:
    return PlanError(f"{short_repr(value)} was given; give {legal}", seen=value)
