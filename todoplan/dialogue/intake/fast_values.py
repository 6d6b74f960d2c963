"""
Single values on the short way through intake: taken as they are, or deferred.
"""

from collections.abc import Callable, Mapping
from typing import Any

from todoplan.core.plan.model import Priority, Status
from todoplan.core.plan.slots import number_of
from todoplan.dialogue.intake.cleaning import is_clean
from todoplan.dialogue.intake.fields import Kind
from todoplan.dialogue.intake.vocabulary import DELETED, is_reference

__all__ = ["DEFER", "LISTS", "READINGS", "WORDS", "Read", "is_deferred", "read_filled"]

DEFER: Any = object()
"""What the short way returns for anything that it leaves to the careful one."""

Read = Callable[[Any], Any]
"""From a JSON value to ours, or to `DEFER`."""

_BEYOND_IDS = 10**18
_TOO_LONG = 1e9


def is_deferred(_: Any) -> Any:
    """
    Leave a value to the careful way, whatever it is.
    """
    return DEFER


def _text(value: Any) -> Any:
    return value if type(value) is str and is_clean(value) else DEFER


def read_filled(value: Any) -> Any:
    """
    Take a clean text with something in it.
    """
    return DEFER if type(value) is not str or not value.strip() else _text(value)


def _id(value: Any) -> Any:
    if type(value) is str:
        return value if number_of(value) else DEFER
    return str(value) if type(value) is int and 0 < value < _BEYOND_IDS else DEFER


def _reference(value: Any) -> Any:
    return value if type(value) is str and is_reference(value) else _id(value)


def _minutes(value: Any) -> Any:
    return value if type(value) in (int, float) and 0 <= value < _TOO_LONG else DEFER


def _flag(value: Any) -> Any:
    return value if type(value) is bool else DEFER


def _word(words: Mapping[str, Any]) -> Read:
    return lambda value: words.get(value, DEFER) if type(value) is str else DEFER


WORDS: dict[Kind, Mapping[str, Any]] = {
    Kind.STATUS: {status.value: status for status in Status},
    Kind.STATUS_OR_DELETED: {**{status.value: status for status in Status}, DELETED: DELETED},
    Kind.PRIORITY: {priority.value: priority for priority in Priority},
}
READINGS: dict[Kind, Read] = {
    Kind.LINE: _text,
    Kind.TEXT: _text,
    **{kind: _word(words) for kind, words in WORDS.items()},
    Kind.ID: _id,
    Kind.ID_HINT: _id,
    Kind.MINUTES: _minutes,
    Kind.FLAG: _flag,
}
LISTS: dict[Kind, Read] = {Kind.IDS: _id, Kind.REFS: _reference}
