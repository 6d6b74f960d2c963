"""Deeply immutable JSON values, so that a plan with metadata is a value like any other."""

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["EMPTY", "FrozenDict", "freeze", "thaw"]


class FrozenDict(Mapping[str, Any]):
    """
    A mapping that cannot change. Equal to any mapping with the same items, and hashable.
    """

    __slots__ = ("_items",)

    _items: dict[str, Any]

    def __init__(self, items: Mapping[str, Any] | None = None) -> None:
        frozen = {key: freeze(value) for key, value in (items or {}).items()}
        object.__setattr__(self, "_items", frozen)

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return f"FrozenDict({self._items!r})"

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"a FrozenDict cannot change; build a new one instead of setting {name!r}"
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[type["FrozenDict"], tuple[dict[str, Any]]]:
        return FrozenDict, (self._items,)


EMPTY = FrozenDict()


def freeze(value: Any) -> Any:
    """
    Return the JSON value with every object a `FrozenDict` and every array a tuple.
    """
    if isinstance(value, FrozenDict):
        return value
    if isinstance(value, Mapping):
        return FrozenDict(value)
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    return value


def thaw(value: Any) -> Any:
    """
    Return the value with plain dicts and lists, as `json.dumps` wants it.
    """
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [thaw(item) for item in value]
    return value
