"""
Composed readers: one of several words, an optional value, an object, an array.

Law: a composed reader collects the faults of all its parts, each with its path, and raises once. So
a person who repairs a document sees everything that is wrong with it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from todoplan.codec.faults import MOST, Found, MisfitError, field_path, misfit, shown

__all__ = ["FieldReader", "faults_in", "one_of", "optional", "read_each", "read_object"]

FieldReader = Callable[[Any], Any]
"""Returns the value as the core represents it, or raises `MisfitError` with every fault."""


def one_of(words: Mapping[str, Any]) -> FieldReader:
    """Return a reader that accepts one of these words and returns its value."""
    listed = ", ".join(words)

    def read(value: Any) -> Any:
        if isinstance(value, str) and value in words:
            return words[value]
        raise misfit(value, f"none of {listed}")

    return read


def optional(reader: FieldReader) -> FieldReader:
    """Return a reader that also accepts null."""

    def read(value: Any) -> Any:
        return None if value is None else reader(value)

    return read


def read_object(
    data: Any, readers: Mapping[str, FieldReader], required: Collection[str] = ()
) -> dict[str, Any]:
    """
    Read an object field by field. A field that is missing and not required is left out.

    Raises:
        MisfitError: the data are not an object, or fields are unknown, missing or wrong. The error
            lists all faults.
    """
    if not isinstance(data, dict):
        raise misfit(data, "no object")
    found = [(f".{key}", "missing") for key in required if key not in data]
    read = {}
    for key, value in data.items():
        reader = readers.get(key)
        if reader is None:
            # An unknown field is a fault, because an ignored field would be lost at the next save.
            found.append(_unknown(key, readers))
            continue
        try:
            read[key] = reader(value)
        except MisfitError as error:
            found += error.below(f".{key}")
    if found:
        raise MisfitError(found[:MOST])
    return read


def faults_in(data: Any, readers: Mapping[str, FieldReader]) -> tuple[Found, ...]:
    """Return every fault in an object; an empty tuple if there is none."""
    try:
        read_object(data, readers)
    except MisfitError as error:
        return error.found
    return ()


def _unknown(key: Any, readers: Mapping[str, FieldReader]) -> Found:
    path = field_path(key) if isinstance(key, str) else f"[{shown(key)}]"
    return path, f"no such field; there are {', '.join(readers)}"


def read_each(items: Iterable[Any], convert: FieldReader, first: int = 0) -> tuple[Any, ...]:
    """
    Return every item converted. In error paths, items are numbered from `first`.

    Raises:
        MisfitError: the faults of all items, each with the item's index.
    """
    made: list[Any] = []
    found: list[Found] = []
    for place, item in enumerate(items, first):
        try:
            made.append(convert(item))
        except MisfitError as error:
            found += error.below(f"[{place}]")
            if len(found) >= MOST:  # another kind of file: nobody reads a million faults
                break
    if found:
        raise MisfitError(found)
    return tuple(made)
