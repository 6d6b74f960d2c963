"""
Readers put together: one of several words, null or a value, an object's fields, every item.

Law: a reader that is made of others collects the faults of all of them, each below its path, and
raises once: whoever repairs a document sees everything that is wrong with it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from todoplan.codec.faults import MOST, Found, MisfitError, field_path, misfit, shown

__all__ = ["FieldReader", "faults_in", "one_of", "optional", "read_each", "read_object"]

FieldReader = Callable[[Any], Any]
"""Returns the value as the core holds it, or raises `MisfitError` with every fault in it."""


def one_of(words: Mapping[str, Any]) -> FieldReader:
    """
    Return the reader of one of these words.
    """
    listed = ", ".join(words)

    def read(value: Any) -> Any:
        if isinstance(value, str) and value in words:
            return words[value]
        raise misfit(value, f"none of {listed}")

    return read


def optional(reader: FieldReader) -> FieldReader:
    """
    Return a reader that also takes null.
    """

    def read(value: Any) -> Any:
        return None if value is None else reader(value)

    return read


def read_object(
    data: Any, readers: Mapping[str, FieldReader], required: Collection[str] = ()
) -> dict[str, Any]:
    """
    Read an object field by field; one that is missing and not required is left out.

    Raises:
        MisfitError: no object, or fields that are unknown, missing or wrong: all of them.
    """
    if not isinstance(data, dict):
        raise misfit(data, "no object")
    found = [(f".{key}", "missing") for key in required if key not in data]
    read = {}
    for key, value in data.items():
        reader = readers.get(key)
        if reader is None:
            # A fault, not passed over: what is not read would be gone at the next save.
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
    """
    Return every fault in an object, none for a good one.
    """
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
    Return every item converted; in paths they are counted from `first`.

    Raises:
        MisfitError: with the faults of all items, each below its place.
    """
    made: list[Any] = []
    found: list[Found] = []
    for place, item in enumerate(items, first):
        try:
            made.append(convert(item))
        except MisfitError as error:
            found += error.below(f"[{place}]")
            if len(found) >= MOST:  # a file of another kind: nobody reads a million faults
                break
    if found:
        raise MisfitError(found)
    return tuple(made)
