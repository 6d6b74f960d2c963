"""
The short way through intake: a call that needs no mend is read in one pass, any other not at all.

Law: what is read here is what the careful way (`todoplan.dialogue.intake`) reads, without a repair
or a problem; whatever could need one is left to it.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import repeat
from typing import Any

import attrs

from todoplan.core.model import Priority, Status
from todoplan.core.slots import number_of
from todoplan.core.twin import maker, named_maker
from todoplan.dialogue.fields import Field, Kind
from todoplan.dialogue.jsonish import InputLimits
from todoplan.dialogue.vocabulary import DELETED, is_reference

__all__ = ["UNUSUAL", "plain_values"]

UNUSUAL: Any = object()
"""What the short way returns for anything that it leaves to the careful one."""

_SUSPECT = re.compile("[<\x00\ud800-\udfff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_DECODE = json.JSONDecoder(strict=False).raw_decode
_DEEPEST = 5
_FEW = 5
_NODE = 64
_BEYOND_IDS = 10**18
_TOO_LONG = 1e9

_Read = Callable[[Any], Any]


def plain_values(raw: object, fields: tuple[Field, ...], limits: InputLimits) -> Any:
    """
    Return a call's arguments by target name, or `UNUSUAL`. `raw` is a JSON text or a dict of it.
    """
    given = _value(raw, limits.chars) if type(raw) is str else raw
    if type(given) is not dict or limits.depth < _DEEPEST:
        return UNUSUAL
    values = _reader(fields, limits.items)(given)
    bounded = given is not raw or values is UNUSUAL or _weight(given) <= limits.chars
    return values if bounded else UNUSUAL


def _weight(value: Any) -> int:
    """
    Return a size that the careful way does not find larger.
    """
    if type(value) is dict:
        return sum([_weight(inner) for inner in value.values()])
    if type(value) is list:
        return sum([_weight(inner) for inner in value])
    return _NODE + len(value) if type(value) is str else _NODE


def _value(text: str, most: int) -> Any:
    """
    Return the value of a JSON text in which no key stands twice, if that is plain to see.

    It is where as many colons end a key as the value has keys.
    """
    if len(text) > most:
        return UNUSUAL
    try:
        value, end = _DECODE(text)
    except (ValueError, RecursionError):
        return UNUSUAL
    if end != len(text):
        return UNUSUAL
    keys = _keys(value)
    return value if keys == text.count(":") or keys == _key_colons(text) else UNUSUAL


def _keys(value: Any) -> int:
    """
    Return how many keys {"a": 1, "b": [{...}, ...]} and its entries have; deeper ones do not count.
    """
    if type(value) is not dict:
        return -1
    keys = len(value)
    for inner in value.values():
        if type(inner) is list:
            keys += sum(len(item) for item in inner if type(item) is dict)
    return keys


def _key_colons(text: str) -> int:
    if "\\" in text or any(loose in text for loose in (" :", "\n:", "\t:", "\r:")):
        return -1
    return text.count('":')


@cache
def _reader(fields: tuple[Field, ...], most: int) -> _Read:
    """
    Return what reads a mapping of these fields into values by target name, or finds it `UNUSUAL`.

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
            if found is UNUSUAL:
                return UNUSUAL
            values[target] = found
        return values if required <= values.keys() else UNUSUAL

    return read


def _unusual(_: Any) -> Any:
    return UNUSUAL


_UNKNOWN = ("", _unusual)


def _reading(field: Field, most: int) -> _Read:
    if field.kind is Kind.ITEMS:
        return _entries(field, most)
    if field.kind in _LISTS:
        return _listed(_LISTS[field.kind], most)
    if field.required and field.kind in (Kind.LINE, Kind.TEXT):
        return _filled
    return _READINGS.get(field.kind, _unusual)


def _entries(field: Field, most: int) -> _Read:
    by_kind: dict[type, _Read] = {dict: _reader(field.items, most), str: _title_reader(field.items)}
    by_column = _columns_reader(field)
    make = named_maker(field.entry) if field.entry else dict

    def entries(value: Any) -> Any:
        if type(value) is not list or len(value) > most:
            return UNUSUAL
        found = by_column(value) if len(value) > _FEW else UNUSUAL
        if found is not UNUSUAL:
            return found
        rows = [by_kind.get(type(item), _unusual)(item) for item in value]
        return UNUSUAL if UNUSUAL in rows else [make(**row) for row in rows]

    return entries


def _title_reader(fields: tuple[Field, ...]) -> _Read:
    """
    Return what reads an entry that is only a title; one that could be more than that is unusual.
    """
    title, *others = fields
    if title.kind is not Kind.LINE or any(each.required and not each.lenient for each in others):
        return _unusual

    def read(text: str) -> Any:
        more = "[" in text or text.lstrip().startswith("{")
        return UNUSUAL if more or _filled(text) is UNUSUAL else {title.target: text}

    return read


def _columns_reader(field: Field) -> _Read:
    """
    Return what reads entries that all have the same keys, all values of a key at once.
    """
    if field.entry is None:
        return _unusual
    readings = {inner.name: (inner.target, _column(inner)) for inner in field.items}
    required = {inner.name for inner in field.items if inner.required and not inner.lenient}
    order, make = [each.name for each in attrs.fields(field.entry)], maker(field.entry)

    def read(entries: list[dict[str, Any]]) -> Any:
        if set(map(type, entries)) != {dict}:
            return UNUSUAL
        keys = tuple(entries[0])
        alike = list(map(tuple, entries)).count(keys) == len(entries)
        if not alike or not required <= set(keys) <= readings.keys():
            return UNUSUAL
        columns: dict[str, Any] = {}
        for key, values in zip(keys, zip(*map(dict.values, entries), strict=True), strict=True):
            target, reading = readings[key]
            columns[target] = reading(values)
        if UNUSUAL in columns.values():
            return UNUSUAL
        return list(map(make, *(columns.get(name, repeat(None)) for name in order)))

    return read


def _column(field: Field) -> _Read:
    if field.kind in (Kind.LINE, Kind.TEXT):
        return _filled_texts if field.required else _texts
    words = _WORDS.get(field.kind)
    return _unusual if words is None else partial(_in_words, words)


def _texts(column: Sequence[Any]) -> Any:
    return column if set(map(type, column)) == {str} and _clean("".join(column)) else UNUSUAL


def _filled_texts(column: Sequence[Any]) -> Any:
    found = _texts(column)
    return found if found is UNUSUAL or all(map(str.strip, column)) else UNUSUAL


def _in_words(words: Mapping[str, Any], column: Sequence[Any]) -> Any:
    if set(map(type, column)) != {str}:
        return UNUSUAL
    found = list(map(words.get, column))
    return UNUSUAL if None in found else found


def _listed(read: _Read, most: int) -> _Read:
    def listed(value: Any) -> Any:
        if type(value) is not list or len(value) > most:
            return UNUSUAL
        found = dict.fromkeys(map(read, value))
        return UNUSUAL if UNUSUAL in found or len(found) < len(value) else tuple(found)

    return listed


def _text(value: Any) -> Any:
    return value if type(value) is str and _clean(value) else UNUSUAL


def _clean(text: str) -> bool:
    if text.isascii():
        return "<" not in text and "\x00" not in text
    return _SUSPECT.search(text) is None


def _filled(value: Any) -> Any:
    return UNUSUAL if type(value) is not str or not value.strip() else _text(value)


def _id(value: Any) -> Any:
    if type(value) is str:
        return value if number_of(value) else UNUSUAL
    return str(value) if type(value) is int and 0 < value < _BEYOND_IDS else UNUSUAL


def _reference(value: Any) -> Any:
    return value if type(value) is str and is_reference(value) else _id(value)


def _minutes(value: Any) -> Any:
    return value if type(value) in (int, float) and 0 <= value < _TOO_LONG else UNUSUAL


def _flag(value: Any) -> Any:
    return value if type(value) is bool else UNUSUAL


def _word(words: Mapping[str, Any]) -> _Read:
    return lambda value: words.get(value, UNUSUAL) if type(value) is str else UNUSUAL


_WORDS: dict[Kind, Mapping[str, Any]] = {
    Kind.STATUS: {status.value: status for status in Status},
    Kind.STATUS_OR_DELETED: {**{status.value: status for status in Status}, DELETED: DELETED},
    Kind.PRIORITY: {priority.value: priority for priority in Priority},
}
_READINGS: dict[Kind, _Read] = {
    Kind.LINE: _text,
    Kind.TEXT: _text,
    **{kind: _word(words) for kind, words in _WORDS.items()},
    Kind.ID: _id,
    Kind.ID_HINT: _id,
    Kind.MINUTES: _minutes,
    Kind.FLAG: _flag,
}
_LISTS: dict[Kind, _Read] = {Kind.IDS: _id, Kind.REFS: _reference}
