"""
Objects and lists on the short way through intake: whole ones are read in one pass, or not at all.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from itertools import repeat
from typing import Any

import attrs

from todoplan.core.plan.fast_constructor import fast_constructor, fast_keyword_constructor
from todoplan.dialogue.intake.cleaning import is_clean
from todoplan.dialogue.intake.fast_values import (
    DEFER,
    LISTS,
    READINGS,
    WORDS,
    Read,
    is_deferred,
    read_filled,
)
from todoplan.dialogue.intake.fields import KEPT_TABLES, Field, Kind

__all__ = ["reader_of"]

_FEW = 5


@lru_cache(maxsize=KEPT_TABLES)
def reader_of(fields: tuple[Field, ...], most: int) -> Read:
    """
    Return what reads a mapping of these fields into values by target name, or answers `DEFER`.

    Lists may have `most` entries.
    """
    readings = {field.name: (field.target, _reading(field, most)) for field in fields}
    required = frozenset(field.target for field in fields if field.required and not field.lenient)

    def read(given: Any) -> Any:
        values: dict[str, Any] = {}
        for key, value in given.items():
            target, reading = readings.get(key, _UNKNOWN)
            if value is None and target:
                continue
            found = reading(value)
            if found is DEFER:
                return DEFER
            values[target] = found
        return values if required <= values.keys() else DEFER

    return read


_UNKNOWN = ("", is_deferred)


def _reading(field: Field, most: int) -> Read:
    if field.kind is Kind.ITEMS:
        return _entries(field, most)
    if field.kind in LISTS:
        return _listed(LISTS[field.kind], most)
    if field.required and field.kind in (Kind.LINE, Kind.TEXT):
        return read_filled
    return READINGS.get(field.kind, is_deferred)


def _entries(field: Field, most: int) -> Read:
    by_kind: dict[type, Read] = {
        dict: reader_of(field.items, most),
        str: _title_reader(field.items),
    }
    by_column = _columns_reader(field)
    make = fast_keyword_constructor(field.entry) if field.entry else dict

    def entries(value: Any) -> Any:
        if type(value) is not list or len(value) > most:
            return DEFER
        found = by_column(value) if len(value) > _FEW else DEFER
        if found is not DEFER:
            return found
        rows = [by_kind.get(type(item), is_deferred)(item) for item in value]
        return DEFER if DEFER in rows else [make(**row) for row in rows]

    return entries


def _title_reader(fields: tuple[Field, ...]) -> Read:
    """
    Return what reads an entry that is only a title; one that could be more than that is deferred.
    """
    title, *others = fields
    if title.kind is not Kind.LINE or any(each.required and not each.lenient for each in others):
        return is_deferred

    def read(text: str) -> Any:
        more = "[" in text or text.lstrip().startswith("{")
        return DEFER if more or read_filled(text) is DEFER else {title.target: text}

    return read


def _columns_reader(field: Field) -> Read:
    """
    Return what reads entries that all have the same keys, all values of a key at once.
    """
    if field.entry is None:
        return is_deferred
    readings = {inner.name: (inner.target, _column(inner)) for inner in field.items}
    required = {inner.name for inner in field.items if inner.required and not inner.lenient}
    order, make = [each.name for each in attrs.fields(field.entry)], fast_constructor(field.entry)

    def read(entries: list[dict[str, Any]]) -> Any:
        if set(map(type, entries)) != {dict}:
            return DEFER
        keys = tuple(entries[0])
        alike = list(map(tuple, entries)).count(keys) == len(entries)
        if not alike or not required <= set(keys) <= readings.keys():
            return DEFER
        columns: dict[str, Any] = {}
        for key, values in zip(keys, zip(*map(dict.values, entries), strict=True), strict=True):
            target, reading = readings[key]
            columns[target] = reading(values)
        if DEFER in columns.values():
            return DEFER
        return list(map(make, *(columns.get(name, repeat(None)) for name in order)))

    return read


def _column(field: Field) -> Read:
    if field.kind in (Kind.LINE, Kind.TEXT):
        return _filled_texts if field.required else _texts
    words = WORDS.get(field.kind)
    return is_deferred if words is None else partial(_in_words, words)


def _texts(column: Sequence[Any]) -> Any:
    return column if set(map(type, column)) == {str} and is_clean("".join(column)) else DEFER


def _filled_texts(column: Sequence[Any]) -> Any:
    found = _texts(column)
    return found if found is DEFER or all(map(str.strip, column)) else DEFER


def _in_words(words: Mapping[str, Any], column: Sequence[Any]) -> Any:
    if set(map(type, column)) != {str}:
        return DEFER
    found = list(map(words.get, column))
    return DEFER if None in found else found


def _listed(read: Read, most: int) -> Read:
    def listed(value: Any) -> Any:
        if type(value) is not list or len(value) > most:
            return DEFER
        found = dict.fromkeys(map(read, value))
        return DEFER if DEFER in found or len(found) < len(value) else tuple(found)

    return listed
