"""
What developers give to public constructors: taken as it is meant, or refused with the remedy.

The quick constructors (`todoplan.core.plan.fast_constructor`) pass all this by: what they are given
is checked.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from reprlib import Repr
from typing import Any, TypeVar

from todoplan.core.plan.frozen import FrozenDict, freeze
from todoplan.errors import PlanError

__all__ = [
    "Several",
    "as_id",
    "as_ids",
    "as_metadata",
    "as_text",
    "as_text_or_none",
    "short_repr",
    "tuple_of",
]

T = TypeVar("T")

Several = tuple[T, ...] | list[T] | AbstractSet[T] | Iterator[T]
"""What may be given where a tuple is kept: any iterable that is not a text."""

_short = Repr()
_short.maxstring = _short.maxother = 80
_short.maxlevel = 1


def short_repr(value: object) -> str:
    """
    Return how a value looks, in few characters, with its type.
    """
    return f"{_short.repr(value)} ({type(value).__name__})"


def as_text(value: str) -> str:
    """
    Return a text, a plain one also of a member of an enum; anything else is a PlanError.
    """
    if not isinstance(value, str):
        raise _unfit(value, "a text")
    return value if type(value) is str else str.__str__(value)


def as_text_or_none(value: str | None) -> str | None:
    """
    Return a text, as `as_text` does, or `None`; anything else is a PlanError.
    """
    if value is not None and not isinstance(value, str):
        raise _unfit(value, "a text or None")
    return value if value is None else as_text(value)


def tuple_of(value: object, kinds: type[T] | tuple[type[T], ...], legal: str) -> tuple[T, ...]:
    """
    Return the items as a tuple; a text, no iterable, or an item of no such kind is a PlanError.
    """
    items = value if type(value) is tuple else _walked(value, legal)
    for kind in {*map(type, items)}:
        if not issubclass(kind, kinds):
            raise _unfit(next(item for item in items if type(item) is kind), legal)
    return items


def _walked(value: object, legal: str) -> tuple[Any, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise _unfit(value, legal)
    return tuple(value)


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
    return tuple_of(value, str, 'a tuple of ids, which are texts, such as ("3", "12")')


def as_metadata(value: Mapping[str, Any]) -> FrozenDict:
    """
    Return a deeply frozen copy; what is no mapping, or nested too deeply, is a PlanError.
    """
    if not isinstance(value, Mapping):
        raise _unfit(value, 'a mapping such as {"key": "value"}')
    frozen: FrozenDict = freeze(value)
    return frozen


def _unfit(value: object, legal: str) -> PlanError:
    return PlanError(f"{short_repr(value)} was given; give {legal}", seen=value)
