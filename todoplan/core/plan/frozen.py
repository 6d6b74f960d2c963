"""
Deeply immutable JSON values, so that a plan with metadata is still a value: comparable and
hashable.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from todoplan.errors import PlanError

__all__ = ["EMPTY", "LEVELS", "FrozenDict", "freeze", "thaw"]

# freeze, thaw and hashing recurse; this limit is far below Python's limit of 1,000 frames.
LEVELS = 64
"""The most levels of nested objects and arrays. The same limit holds for documents."""

# Values of exactly these classes are immutable; an instance of a subclass may not be.
_PLAIN = frozenset({str, int, float, bool, type(None)})


class FrozenDict(Mapping[str, Any]):
    """
    An immutable, hashable mapping. It is equal to any mapping with the same items.

    Each of its values may be nested as deeply as `freeze` allows.
    """

    __slots__ = ("_items",)

    _items: dict[str, Any]

    def __init__(self, items: Mapping[str, Any] | None = None) -> None:
        frozen = {key: _frozen(value, LEVELS) for key, value in (items or {}).items()}
        object.__setattr__(self, "_items", frozen)

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if type(other) is FrozenDict:  # same result as Mapping's, without two copies as dicts
            return self._items == other._items
        return super().__eq__(other)

    def __hash__(self) -> int:
        # Equality ignores the order of items, so the hash must ignore it too.
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return f"FrozenDict({self._items!r})"

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"a FrozenDict cannot change; build a new one instead of setting {name!r}"
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[type["FrozenDict"], tuple[dict[str, Any]]]:
        # Calls the constructor: pickle's default sets the slot, which __setattr__ refuses.
        return FrozenDict, (self._items,)


EMPTY = FrozenDict()


def freeze(value: Any) -> Any:
    """
    Return the JSON value with every object as a `FrozenDict` and every array as a tuple.

    A `FrozenDict` is returned unchanged.

    Raises:
        PlanError: objects and arrays are nested more than `LEVELS` deep.
    """
    return value if isinstance(value, FrozenDict) else _frozen(value, LEVELS)


def _frozen(value: Any, levels: int) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return _frozen_object(value, _one_less(levels))
    if isinstance(value, list | tuple):
        below = _one_less(levels)
        return tuple([_frozen(item, below) for item in value])
    return value


def _frozen_object(value: Mapping[str, Any], levels: int) -> FrozenDict:
    # A FrozenDict is walked too: together with its surroundings it may exceed LEVELS.
    items = {key: _frozen(item, levels) for key, item in value.items()}
    if isinstance(value, FrozenDict):
        return value
    made = FrozenDict()  # the items are frozen already; the constructor would freeze them again
    object.__setattr__(made, "_items", items)
    return made


def _one_less(levels: int) -> int:
    if not levels:
        msg = f"objects and arrays lie in each other over {LEVELS} deep; give a flatter value"
        raise PlanError(msg, limit=LEVELS)
    return levels - 1


def thaw(value: Any) -> Any:
    """Return the value with plain dicts and lists, for `json.dumps`."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [thaw(item) for item in value]
    return value
