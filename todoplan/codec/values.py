"""
Single values of a document, read strictly: nothing is coerced, and a bool is not a number.

A reader returns the value as the core represents it, or raises `MisfitError` with every fault.
"""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from itertools import islice
from typing import Any

from todoplan.codec.faults import (
    MOST,
    Found,
    MisfitError,
    field_path,
    is_huge,
    misfit,
    shown,
)
from todoplan.codec.readers import read_each
from todoplan.core.plan.frozen import EMPTY, FrozenDict, thaw
from todoplan.core.plan.model import Priority, Status

__all__ = [
    "DEPTH",
    "PRIORITIES",
    "STATUSES",
    "TIME",
    "count",
    "ids",
    "metadata",
    "number",
    "positive",
    "text",
    "time",
    "time_or_null",
    "write_metadata",
    "write_time",
]

DEPTH = 64
"""The maximum nesting depth of objects and arrays."""

TIME = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
    r"(Z|[+-][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{6})?)?)"
)
"""The format of a time, as a regular expression."""

STATUSES = {status.value: status for status in Status}
PRIORITIES = {priority.value: priority for priority in Priority}

_TEXT = {str}
_is_time = re.compile(TIME).fullmatch
_FULL_TIME = "a time with its zone such as 2025-01-31T09:00:00+00:00"


def text(value: Any) -> str:
    """Read a string."""
    if isinstance(value, str):
        return value
    raise misfit(value, "no text")


def count(value: Any) -> int:
    """Read an integer that is at least 0."""
    whole = _whole(value)
    if whole is None or whole < 0:
        raise misfit(value, "no whole number from 0 on")
    return whole


def positive(value: Any) -> int:
    """Read an integer that is at least 1."""
    whole = _whole(value)
    if whole is None or whole < 1:
        raise misfit(value, "no whole number from 1 on")
    return whole


def _whole(value: Any) -> int | None:
    # Values to be written pass through here too, and may be of a subclass of int.
    if type(value) is not int:
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        value = int.__int__(value)
    return None if is_huge(value) else value


def number(value: Any) -> float:
    """Read a finite number."""
    whole = _whole(value)
    if whole is not None:
        return whole
    if isinstance(value, float) and math.isfinite(value):
        return value if type(value) is float else float.__float__(value)
    raise misfit(value, "no finite number")


def time(value: Any) -> datetime:
    """Read a time with a time zone."""
    if isinstance(value, str):
        return _time(value)
    raise misfit(value, f"no time; give {_FULL_TIME}")


def time_or_null(value: Any) -> datetime | None:
    """
    Read a time with a time zone, or null. One call, because every task of a journal has two times.
    """
    if isinstance(value, str):
        return _time(value)
    return None if value is None else time(value)


@lru_cache(maxsize=1024)  # only valid times are cached, so the keys are short
def _time(spelled: str) -> datetime:
    # Before fromisoformat, which also accepts week dates and times without colons.
    if not _is_time(spelled):
        raise misfit(spelled, f"no time; give {_FULL_TIME}")
    try:
        at = datetime.fromisoformat(spelled)
    except ValueError as error:
        raise misfit(spelled, f"no time: {error}") from None
    # A point seventh from the end, and no Z: the offset itself has microseconds.
    return _below_a_second(at, spelled) if spelled[-7] == "." and spelled[-1] != "Z" else at


def _below_a_second(at: datetime, spelled: str) -> datetime:
    if at.utcoffset():
        return at
    # An offset of less than a second: Python 3.11 reads "+00:00:00.000001" as UTC.
    offset = timedelta(microseconds=int(spelled[-16] + spelled[-6:]))
    return at.replace(tzinfo=timezone(offset))


def ids(value: Any) -> tuple[str, ...]:
    """Read an array of strings."""
    if not isinstance(value, list):
        raise misfit(value, "no array of ids")
    # The set of types is built in C: one check for an array instead of one for each item.
    return tuple(value) if {*map(type, value)} == _TEXT else read_each(value, _an_id)


def _an_id(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise misfit(value, "no id, a text")


def metadata(value: Any) -> FrozenDict:
    """Read an object of arbitrary JSON values."""
    if not isinstance(value, Mapping):
        raise misfit(value, "no object")
    # What cannot be written is refused here with its path. The JSON encoder would say neither where
    # nor what, and would write NaN, which no other reader accepts.
    found = list(islice(_json_faults(value, "", DEPTH), MOST))
    if found:
        raise MisfitError(found)
    # EMPTY itself: rules and writers compare with it by identity.
    return FrozenDict(value) if value else EMPTY


def _json_faults(value: Any, path: str, depth: int) -> Iterator[Found]:
    if value is None or isinstance(value, str | bool):
        return
    if isinstance(value, int | float):
        lost = is_huge(value) if isinstance(value, int) else not math.isfinite(value)
        if lost:
            yield path, f"{shown(value)} is no number that JSON can hold"
    elif not depth:
        yield path, f"nested deeper than {DEPTH} levels"
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(key, str):
                yield from _json_faults(item, path + field_path(key), depth - 1)
            else:
                yield path, f"{shown(key)} is no key, a text"
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from _json_faults(item, f"{path}[{place}]", depth - 1)
    else:
        yield path, f"{shown(value)} is no JSON value"


def write_time(at: datetime) -> str:
    """
    Return the time as text. Microseconds and the offset are preserved, the name of the zone is not.
    """
    if at.tzinfo is not UTC and at.utcoffset() is None:
        raise misfit(at.isoformat(), f"without a time zone; give {_FULL_TIME}")
    return _in_utc(at) if at.tzinfo is UTC else at.isoformat()


# All tasks changed by one call have the same time. Only for UTC itself: times in different zones
# can be equal although they are spelled differently, and a cache would confuse them.
_in_utc = lru_cache(maxsize=256)(datetime.isoformat)


def write_metadata(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain dicts and lists, if JSON can represent all values."""
    plain: dict[str, Any] = thaw(metadata(value))
    return plain
