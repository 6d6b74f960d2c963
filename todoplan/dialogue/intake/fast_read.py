"""
The fast way through intake: a call as its schema asks for it is read in one pass, or not at all.

Law: what is read here is what `todoplan.dialogue.intake.read.careful_read` reads, without a repair
or a problem. Whatever could need one is answered with `DEFER`, and left to that. Nearly every call
takes this way: measured, 2 us for a status change where the careful way takes 13, 0.9 ms for a list
of 1,000 entries where that takes 6. There is no meaning of its own here: which words a kind is
published with is in `vocabulary`, what a clean text is in `cleaning`, what an id is in the core.

A tool's fields become closures once (`_reader_of`). An entry is read as a row, key by key; where
all entries of a list have the same keys, as columns, all values of a key by one call into C.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import repeat
from typing import Any

import attrs

from todoplan.core.plan.fast_constructor import fast_constructor, fast_keyword_constructor
from todoplan.core.plan.slots import number_of
from todoplan.dialogue.intake.cleaning import is_clean
from todoplan.dialogue.intake.fields import MOST_TABLES, Field, Kind
from todoplan.dialogue.intake.parsing import InputLimits
from todoplan.dialogue.intake.vocabulary import EXACT_WORDS, is_reference

__all__ = ["DEFER", "fast_read", "reader_of"]

DEFER: Any = object()
"""What the fast way returns for anything that it leaves to the careful one."""

Read = Callable[[Any], Any]
"""From a JSON value to ours, or to `DEFER`."""

# Raw line ends within strings are taken here too, as by `literals.from_json`.
_DECODE = json.JSONDecoder(strict=False).raw_decode
_DEEPEST = 5  # arguments, list, entry, its list of ids, an id: no schema of ours is deeper
_NODE = 64  # on the careful way a value's key and brackets count less
_BEYOND_IDS = 10**18
_LONGEST_ID = 18
_TOO_LONG = 1e9
_FEW_ROWS = 5  # measured: up to here, rows are faster than setting up columns


def fast_read(raw: object, fields: tuple[Field, ...], limits: InputLimits) -> Any:
    """
    Return a call's arguments by target name, or `DEFER`. `raw` is a JSON text or a dict of it.
    """
    # `type` and not `isinstance`, here and below: a class of its own may answer anything.
    given = _json_object(raw, limits.chars) if type(raw) is str else raw
    if type(given) is not dict or limits.depth < _DEEPEST:
        return DEFER
    try:
        values = reader_of(fields, limits.items)(given)
    except Exception:  # noqa: BLE001 - a key of a foreign class; the careful way says so
        return DEFER
    bounded = given is not raw or values is DEFER or _size(given) <= limits.chars
    return values if bounded else DEFER


def _size(value: dict[str, Any] | list[Any]) -> int:
    """
    Return a size that the careful way does not find larger.
    """
    size = 0
    for inner in value.values() if type(value) is dict else value:
        if isinstance(inner, dict | list):
            size += _size(inner)
        else:
            size += _NODE + len(inner) if isinstance(inner, str) else _NODE
    return size


def _json_object(text: str, most: int) -> Any:
    """
    Return the value of a JSON text in which no key stands twice, where that is cheap to see.

    A hook for each object, as the careful way has it, would cost more than all the rest. Instead:
    as many colons as the value has keys mean that no repeated key was lost. Where texts hold colons
    too, only those are counted that end a key; that needs a text without escapes or odd spaces.
    """
    if len(text) > most:
        return DEFER
    try:
        value, end = _DECODE(text)
    except (ValueError, RecursionError):
        return DEFER
    if end != len(text) or type(value) is not dict:
        return DEFER
    keys = len(value)
    for inner in value.values():
        if type(inner) is list:
            keys += sum(len(item) for item in inner if type(item) is dict)
    if keys == text.count(":"):
        return value
    if "\\" in text or any(loose in text for loose in (" :", "\n:", "\t:", "\r:")):
        return DEFER
    return value if keys == text.count('":') else DEFER


@lru_cache(maxsize=MOST_TABLES)
def reader_of(fields: tuple[Field, ...], most: int) -> Read:
    """
    Return what reads a mapping of these fields into values by target name, or answers `DEFER`.

    Lists may have `most` entries.
    """
    # Published names only: an alias means a look at what else was given, which is the careful way.
    readings = {field.name: (field.target, _reading(field, most)) for field in fields}
    required = _required(fields, "target")
    clearing = frozenset(field.name for field in fields if field.clears)

    def read(given: Any) -> Any:
        values: dict[str, Any] = {}
        absent: list[str] = []
        for key, value in given.items():
            target, reading = readings.get(key, _UNKNOWN)
            # Not given (OpenAI's strict mode makes models send null); an unknown key is reported.
            if value is None and target:
                absent.append(key)
                continue
            found = reading(value)
            if found is DEFER:
                return DEFER
            values[target] = found
        # A `null` that stands alone clears a field; in strict mode there is one for each.
        if len(absent) == 1 and absent[0] in clearing:
            return DEFER
        return values if required <= values.keys() else DEFER

    return read


def _required(fields: Sequence[Field], called: str) -> frozenset[str]:
    return frozenset(getattr(f, called) for f in fields if f.required and not f.lenient)


def _reading(field: Field, most: int) -> Read:
    kind = field.kind
    if field.clears:  # "" and `null` have a meaning, and so has what stands beside it
        return _deferred
    if kind is Kind.ITEMS:
        return _entries(field, most)
    if kind in _LISTS:
        return _listed(_LISTS[kind], most)
    if kind in EXACT_WORDS:
        words = EXACT_WORDS[kind]
        return lambda value: words.get(value, DEFER) if type(value) is str else DEFER
    return _filled_text if field.required and kind in _TEXTS else _SINGLE.get(kind, _deferred)


def _deferred(_: Any) -> Any:
    return DEFER


_UNKNOWN = ("", _deferred)


def _text(value: Any) -> Any:
    return value if type(value) is str and is_clean(value) else DEFER


def _filled_text(value: Any) -> Any:
    return DEFER if type(value) is not str or not value.strip() else _text(value)


def _id(value: Any) -> Any:
    if type(value) is str:  # the length first: `number_of` keeps what it was asked in a cache
        return value if len(value) <= _LONGEST_ID and number_of(value) else DEFER
    return str(value) if type(value) is int and 0 < value < _BEYOND_IDS else DEFER


def _reference(value: Any) -> Any:
    return value if type(value) is str and is_reference(value) else _id(value)


def _minutes(value: Any) -> Any:
    return value if type(value) in (int, float) and 0 <= value < _TOO_LONG else DEFER


def _flag(value: Any) -> Any:
    return value if type(value) is bool else DEFER


_TEXTS = (Kind.LINE, Kind.TEXT)
_LISTS: dict[Kind, Read] = {Kind.IDS: _id, Kind.REFS: _reference}
_SINGLE: dict[Kind, Read] = {
    Kind.LINE: _text,
    Kind.TEXT: _text,
    Kind.ID: _id,
    Kind.ID_HINT: _id,
    Kind.REF: _reference,
    Kind.MINUTES: _minutes,
    Kind.FLAG: _flag,
}


def _listed(read: Read, most: int) -> Read:
    def listed(value: Any) -> Any:
        if type(value) is not list or len(value) > most:
            return DEFER
        # An id that stands twice is read once, and that is a repair to report.
        found = dict.fromkeys(map(read, value))
        return DEFER if DEFER in found or len(found) < len(value) else tuple(found)

    return listed


def _entries(field: Field, most: int) -> Read:
    by_kind: dict[type, Read] = {dict: reader_of(field.items, most), str: _title_reader(field)}
    by_column = _columns_reader(field)
    make = fast_keyword_constructor(field.entry) if field.entry else dict

    def entries(value: Any) -> Any:
        if type(value) is not list or len(value) > most:
            return DEFER
        found = by_column(value) if len(value) > _FEW_ROWS else DEFER
        if found is not DEFER:
            return found
        rows = [by_kind.get(type(item), _deferred)(item) for item in value]
        return DEFER if DEFER in rows else [make(**row) for row in rows]

    return entries


def _title_reader(field: Field) -> Read:
    """
    Return what reads an entry that is only a title; one that could be more than that is deferred.
    """
    title, *others = field.items
    if title.kind is not Kind.LINE or _required(others, "name"):
        return _deferred
    nested = any(inner.kind is Kind.SUBTASKS for inner in others)

    def read(text: str) -> Any:
        more = "[" in text or text.startswith("{")  # a box, or an entry's JSON text
        # An indented line, or one with a bullet, may lie in the one above it; what is read as a
        # line loses the spaces around it.
        more = more or text != text.strip() or (nested and text.startswith("- "))
        return DEFER if more or _filled_text(text) is DEFER else {title.target: text}

    return read


def _columns_reader(field: Field) -> Read:
    """
    Return what reads entries that all have the same keys, all values of a key at once.
    """
    if field.entry is None:
        return _deferred
    readings = {inner.name: (inner.target, _column(inner)) for inner in field.items}
    required = _required(field.items, "name")
    order, make = [each.name for each in attrs.fields(field.entry)], fast_constructor(field.entry)

    def read(entries: list[dict[str, Any]]) -> Any:
        if set(map(type, entries)) != {dict}:
            return DEFER
        # The same keys in the same order, so that the values line up without a look at the keys.
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
    if field.kind in _TEXTS:
        return partial(_text_column, filled=field.required)
    words = EXACT_WORDS.get(field.kind)
    return _deferred if words is None else partial(_in_words, words)


def _text_column(column: Sequence[Any], *, filled: bool) -> Any:
    # Joined, for one search in C: a suspect character is one code point, so no seam makes one.
    if set(map(type, column)) != {str} or not is_clean("".join(column)):
        return DEFER
    return DEFER if filled and not all(map(str.strip, column)) else column


def _in_words(words: Mapping[str, Any], column: Sequence[Any]) -> Any:
    if set(map(type, column)) != {str}:
        return DEFER
    found = list(map(words.get, column))
    return DEFER if None in found else found
