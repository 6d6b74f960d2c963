"""
Reading and writing single values of a document, strictly: nothing is converted silently.

A reader returns the value as the core represents it, or raises `MisfitError` with every fault.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from functools import lru_cache
from itertools import islice
from typing import Any, get_args, get_origin, get_type_hints
from zlib import crc32

import attrs

from todoplan.core.plan.model import (
    EMPTY,
    Approval,
    Claim,
    Evidence,
    FrozenDict,
    Priority,
    Status,
    Waiting,
    thaw,
)
from todoplan.core.problems import Problem
from todoplan.errors import CodecError

# -------- faults --------
# Faults in a document with their paths, and the error that lists them.


MOST = 1000
"""The maximum number of collected faults. After so many, the document is not read further."""

LISTED = 20
"""The maximum number of faults listed in a message. The others are in the error's data."""
_CLIP = 60
_DIGITS = 4300
# Python refuses to convert between text and integers of more than 4,300 digits, because this takes
# quadratic time. An integer with at most `_BITS` bits has at most 4,300 digits. Its bits are
# counted, because counting its digits would need the conversion.
_BITS = 14_284
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,40}")

Found = tuple[str, str]
"""A fault: the path below the current value (".status", "[3].id", ""), and a sentence."""


class MisfitError(ValueError):
    """A value does not have the expected shape. `found` contains every fault."""

    def __init__(self, found: Sequence[Found]) -> None:
        super().__init__("; ".join(f"{path} {sentence}" for path, sentence in found[:LISTED]))
        self.found = tuple(found)

    def below(self, path: str) -> list[Found]:
        """Return the faults with `path` prepended to their paths."""
        return [(path + inner, sentence) for inner, sentence in self.found]


def misfit(value: Any, fault: str) -> MisfitError:
    """Return the error "`value` is `fault`", such as "null is no text"."""
    return MisfitError([("", f"{shown(value)} is {fault}")])


def field_path(key: object) -> str:
    """Return the path suffix for a key of an object."""
    is_plain = isinstance(key, str) and _PLAIN_KEY.fullmatch(key)
    return f".{key}" if is_plain else f"[{shown(key)}]"


def shown(value: Any) -> str:
    """Return a value as error messages show it: JSON, on one line, truncated."""
    # As JSON, because people compare the error with a JSON document, in which None is null. As
    # ASCII, so that the content of a document can neither break the line nor control a terminal.
    if isinstance(value, str):
        text = json.dumps(value[:_CLIP])
        return text if len(value) <= _CLIP else f"{text}..."
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else json.dumps(value)
    if isinstance(value, int):
        if is_huge(value):
            return f"a number of more than {_DIGITS} digits"
        text = str(value)
        return text if len(text) <= _CLIP else f"{text[:_CLIP]}..."
    if isinstance(value, list | tuple):
        return "an array"
    return "an object" if isinstance(value, Mapping) else f"a Python {type(value).__name__}"


def is_huge(value: int) -> bool:
    """Return whether an integer has more digits than Python can parse from a text."""
    return value.bit_length() > _BITS


def wrong_shape(found: Sequence[Found], what: str, **data: Any) -> CodecError:
    """Return the error that lists all faults. `data["problems"]` contains them as values."""
    problems = tuple(
        Problem("wrong_shape", path=path.removeprefix("."), note=sentence)
        for path, sentence in found[:MOST]
    )
    listed = [f"{p.path}: {p.note}" if p.path else p.note for p in problems[:LISTED]]
    more = f"; and {len(problems) - LISTED} more" if len(problems) > LISTED else ""
    msg = f"this is no {what}: {'; '.join(listed)}{more}"
    return CodecError(msg, problem="wrong_shape", path=problems[0].path, problems=problems, **data)


# -------- readers --------
# Composed readers: one of several words, an optional value, an object, an array.
#
# Law: a composed reader collects the faults of all its parts, and raises one error that lists them.
# So a person who repairs a document sees everything that is wrong with it.


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
            found.append((field_path(key), f"no such field; there are {', '.join(readers)}"))
            continue
        try:
            read[key] = reader(value)
        except MisfitError as error:
            found += error.below(f".{key}")
    if found:
        raise MisfitError(found[:MOST])
    return read


def read_each(items: Iterable[Any], convert: FieldReader, first: int = 0) -> tuple[Any, ...]:
    """
    Return every item converted. In error paths, items are numbered from `first`.

    Raises:
        MisfitError: items are wrong. The error lists all faults, each with the item's index.
    """
    made: list[Any] = []
    found: list[Found] = []
    for place, item in enumerate(items, first):
        try:
            made.append(convert(item))
        except MisfitError as error:
            found += error.below(f"[{place}]")
            if len(found) >= MOST:  # probably another kind of file
                break
    if found:
        raise MisfitError(found)
    return tuple(made)


def read_array(value: Any, convert: FieldReader) -> tuple[Any, ...]:
    """
    Read an array item by item.

    Raises:
        MisfitError: the value is not an array, or items are wrong. The error lists all faults.
    """
    if not isinstance(value, list):
        raise misfit(value, "no array")
    return read_each(value, convert)


DEPTH = 64
"""The maximum nesting depth of objects and arrays."""

TIME = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
    r"(Z|[+-][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{6})?)?)"
)
"""The format of a time, as a regular expression."""

DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
"""The format of a date, as a regular expression."""

STATUSES = {status.value: status for status in Status}
PRIORITIES = {priority.value: priority for priority in Priority}

_TEXT = {str}
_is_time = re.compile(TIME).fullmatch
_is_date = re.compile(DATE).fullmatch
_FULL_DATE = "a date such as 2025-01-31"
_FULL_TIME = "a time with its zone such as 2025-01-31T09:00:00+00:00"


def text(value: Any) -> str:
    """Read a string. A subclass of `str` becomes a plain `str`."""
    if isinstance(value, str):
        return value if type(value) is str else str.__str__(value)
    raise misfit(value, "no text")


def truth(value: Any) -> bool:
    """Read true or false."""
    if isinstance(value, bool):
        return value
    raise misfit(value, "neither true nor false")


def at_least(least: int) -> Callable[[Any], int]:
    """Return a reader of whole numbers from `least` on."""

    def read(value: Any) -> int:
        whole = _whole(value)
        if whole is None or whole < least:
            raise misfit(value, f"no whole number from {least} on")
        return whole

    return read


count = at_least(0)
positive = at_least(1)


def _whole(value: Any) -> int | None:
    # This function also checks values before writing, and these may be of a subclass of int.
    if type(value) is not int:
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        value = int.__int__(value)
    return value if value.bit_length() <= _BITS else None


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


@lru_cache(maxsize=1024)  # errors are not cached, so all cached texts are short
def _time(spelled: str) -> datetime:
    # Checked before `fromisoformat`, which also accepts week dates and times without colons.
    if not _is_time(spelled):
        raise misfit(spelled, f"no time; give {_FULL_TIME}")
    try:
        at = datetime.fromisoformat(spelled)
    except ValueError as error:
        raise misfit(spelled, f"no time: {error}") from None
    # Python 3.11 reads an offset of less than a second ("+00:00:00.000001") as UTC. If there is a
    # point before the last six digits and no Z, the offset has microseconds.
    if spelled[-7] == "." and spelled[-1] != "Z" and not at.utcoffset():
        offset = timedelta(microseconds=int(spelled[-16] + spelled[-6:]))
        return at.replace(tzinfo=timezone(offset))
    return at


def day(value: Any) -> date:
    """Read a date."""
    # `fromisoformat` also accepts week dates and dates without dashes.
    if not isinstance(value, str) or not _is_date(value):
        raise misfit(value, f"no date; give {_FULL_DATE}")
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise misfit(value, f"no date: {error}") from None


def ids(value: Any) -> tuple[str, ...]:
    """Read an array of strings."""
    if not isinstance(value, list):
        raise misfit(value, "no array of ids")
    # The set of types is built in C, which is faster than a check of each item.
    return tuple(value) if {*map(type, value)} == _TEXT else read_each(value, text)


def metadata(value: Any) -> FrozenDict:
    """Read an object of arbitrary JSON values."""
    if not isinstance(value, Mapping):
        raise misfit(value, "no object")
    # The JSON encoder would report neither the path nor the value, and would write NaN, which other
    # programs cannot read.
    found = list(islice(_json_faults(value, "", DEPTH), MOST))
    if found:
        raise MisfitError(found)
    # The object EMPTY is returned, because rules and writers compare with it by identity.
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
    """Return the time as text, with microseconds and offset, without the name of the zone."""
    if not isinstance(at, datetime):
        raise misfit(at, f"no time; give {_FULL_TIME}")
    if at.tzinfo is not UTC and at.utcoffset() is None:
        raise misfit(at.isoformat(), f"without a time zone; give {_FULL_TIME}")
    return _in_utc(at) if at.tzinfo is UTC else at.isoformat()


# Cached, because all tasks that a call changes get the same time. The cache is only for UTC: times
# of different zones can be equal although their texts differ, and a cache would confuse them.
_in_utc = lru_cache(maxsize=256)(datetime.isoformat)


def write_day(value: Any) -> str:
    """Return the date as text."""
    # A datetime is a date too, but its text could not be read again.
    if not isinstance(value, date) or isinstance(value, datetime):
        raise misfit(value, f"no date; give {_FULL_DATE}")
    return value.isoformat()


def write_ids(value: Any) -> list[str]:
    """Return a tuple of ids as a list."""
    if not isinstance(value, tuple):
        raise misfit(value, "no array of ids")
    return list(ids([*value]))


def write_metadata(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata as plain dicts and lists."""
    plain: dict[str, Any] = thaw(metadata(value))
    return plain


# -------- checks --------
# A checksum for a journal entry or a plan, which detects accidental damage.
#
# Of 150,000 documents in which bits were flipped, 2 % still loaded, as different plans: a document
# with another digit in a revision or another letter in a title is still valid. Law: if a damaged
# document has a checksum, loading it raises a `CodecError`. A document without a checksum can be
# loaded too, so that older documents and documents of other programs stay valid.
#
# The checksum is CRC-32 over the canonical text of the data: sorted keys, no spaces, ASCII. So it
# does not depend on how the document was transported or stored: a JSON column of a database may
# sort the keys, and a tool may indent the text. The checksum detects every change of a few bits,
# and misses one in four thousand million other changes. It is not a signature: somebody who changes
# an entry on purpose can also compute the checksum of the changed entry.


CHECK = "check"
"""The key of an object's checksum."""

CHECK_PATTERN = "crc32:[0-9a-f]{8}"
"""The format of a checksum. The word before the colon names the algorithm."""

_is_check = re.compile(CHECK_PATTERN).fullmatch
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def checksum(data: dict[str, Any]) -> str:
    """Return the checksum of an object without its key `CHECK`, which stores the checksum."""
    return f"crc32:{crc32(_canonical(data).encode()):08x}"


def unchecked(data: Any, what: str, where: dict[str, Any]) -> Any:
    """
    Verify an object's checksum, and return the object without it.

    An object without a checksum is returned unchanged. `what` and `where` describe the object in
    errors.

    Raises:
        MisfitError: the value of "check" is not a checksum.
        CodecError: the object differs from what was written.
    """
    if not isinstance(data, dict) or CHECK not in data:
        return data
    rest = dict(data)
    written = rest.pop(CHECK)
    if not isinstance(written, str) or not _is_check(written):
        legal = "no check such as crc32:0a1b2c3d; a newer todoplan may know it"
        raise MisfitError([(f".{CHECK}", f"{shown(written)} is {legal}")])
    try:
        found = checksum(rest)
    # Data from a framework may contain values that JSON does not have.
    except (TypeError, ValueError, RecursionError):
        found = "no JSON"
    if found != written:
        msg = (
            f"this {what} is damaged: it was written with the check {written}, and now has {found};"
            f' restore it from a copy, or remove "{CHECK}" to read it as it is'
        )
        raise CodecError(msg, problem="damaged", path=CHECK, said=written, found=found, **where)
    return rest


# -------- kinds --------
# A kind of value has a reader, a writer and a JSON Schema. The kind of a field is found by its type
# annotation. So the fields of the core's classes are not listed here again.
#
# A writer refuses a value that could not be read again: a document that nobody can load is worse
# than an error.


Schema = dict[str, Any]


@attrs.frozen
class Kind:
    """How values of one type are read from JSON data and written as JSON data, and their schema."""

    read: FieldReader
    write: FieldReader
    schema: Schema


def ref(name: str) -> Schema:
    """Return the schema that refers to one of the `DEFINITIONS`."""
    return {"$ref": f"#/$defs/{name}"}


def or_null(schema: Schema) -> Schema:
    """Return the schema that also allows null."""
    return {"anyOf": [schema, {"type": "null"}]}


def array_schema(of: Schema) -> Schema:
    """Return the schema of an array."""
    return {"type": "array", "items": of}


def object_schema(properties: Schema, required: Iterable[str] = ()) -> Schema:
    """Return the schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _words(values: Mapping[str, Any], name: str) -> Kind:
    return Kind(one_of(values), one_of({word: word for word in values}), ref(name))


DEFINITIONS: dict[str, Schema] = {
    "status": {"enum": list(STATUSES)},
    "priority": {"enum": list(PRIORITIES)},
    "time": {"type": "string", "pattern": f"^{TIME}$"},
    "date": {"type": "string", "pattern": f"^{DATE}$"},
}
"""The named parts of the JSON Schema."""

COUNT = Kind(count, count, {"type": "integer", "minimum": 0})
POSITIVE = Kind(positive, positive, {"type": "integer", "minimum": 1})
TEXT = Kind(text, text, {"type": "string"})
KINDS: dict[Any, "Kind | Record"] = {
    str: TEXT,
    bool: Kind(truth, truth, {"type": "boolean"}),
    int: COUNT,
    float: Kind(number, number, {"type": "number"}),
    datetime: Kind(time, write_time, ref("time")),
    date: Kind(day, write_day, ref("date")),
    Status: _words(STATUSES, "status"),
    Priority: _words(PRIORITIES, "priority"),
    FrozenDict: Kind(metadata, write_metadata, {"type": "object"}),
    tuple[str, ...]: Kind(ids, write_ids, array_schema(TEXT.schema)),
}
"""The kinds of values by type annotation."""

_NOTES: dict[str, Schema] = {
    "estimate": {"description": "minutes"},
    "description": {"default": ""},
    "cause": {"default": ""},
}


def kind_of(annotation: Any) -> "Kind | Record":
    """Return the kind of the values that a type annotation allows."""
    parts = get_args(annotation)
    if annotation in KINDS or not parts:
        return KINDS[annotation]
    kind = kind_of(parts[0])  # of `tuple[X, ...]` or of `X | None`
    if get_origin(annotation) is not tuple:
        return Kind(optional(kind.read), optional(kind.write), or_null(kind.schema))

    return Kind(
        lambda value: read_array(value, kind.read),
        lambda items: [*read_each(items, kind.write)],
        array_schema(kind.schema),
    )


class Record:
    """
    A `Kind` that reads and writes instances of one attrs class. Default values are not written.

    The fields `first` are always written, before the others. `special` maps a field to its kind, if
    the field allows fewer values than its type annotation.
    """

    def __init__(self, of: type[attrs.AttrsInstance], *first: str, **special: Kind) -> None:
        hints, fields = get_type_hints(of), attrs.fields_dict(of)
        self.kinds = {
            name: special.get(name) or kind_of(hints[name])
            for name in dict.fromkeys((*first, *fields))
        }
        self.readers = {name: kind.read for name, kind in self.kinds.items()}
        self.writers = {name: kind.write for name, kind in self.kinds.items()}
        self._of = of
        self.rows = [
            (name, attrs.NOTHING if name in first else fields[name].default, kind.write)
            for name, kind in self.kinds.items()
        ]
        self.required = [name for name, default, _ in self.rows if default is attrs.NOTHING]
        self.word = re.sub(r"(?<!^)(?=[A-Z])", "_", of.__name__).lower()
        self.schema = ref(self.word)
        self.properties = {
            name: {**kind.schema, **_NOTES.get(name, {})} for name, kind in self.kinds.items()
        }
        DEFINITIONS[self.word] = object_schema(self.properties, self.required)

    def read(self, data: Any) -> Any:
        """
        Read an instance.

        Raises:
            MisfitError: fields are unknown, missing or wrong. The error lists all faults.
        """
        return self._of(**read_object(data, self.readers, self.required))

    def write(self, value: Any) -> dict[str, Any]:
        """
        Return an instance as plain data.

        Raises:
            MisfitError: JSON cannot represent a value, or a time has no time zone.
        """
        if type(value) is not self._of:
            raise misfit(value, "no object")
        data = {}
        try:
            for name, default, write in self.rows:
                item = getattr(value, name)
                if item is not default and item != default:
                    data[name] = write(item)
        except MisfitError:  # raise an error with the faults of all fields
            items = {name: getattr(value, name) for name, _, _ in self.rows}
            given = {n: items[n] for n, default, _ in self.rows if items[n] != default}
            return read_object(given, self.writers)
        return data


KINDS |= {
    Waiting: Record(Waiting),
    Evidence: Record(Evidence),
    Claim: Record(Claim, fence=POSITIVE),
    Approval: Record(Approval),
}


def write_fields(value: Waiting | Evidence | Approval | Claim) -> dict[str, Any]:
    """
    Return a `Waiting`, `Evidence`, `Approval` or `Claim` as plain data, without default values.

    Raises:
        MisfitError: a value cannot be represented in JSON, or a time has no time zone.
    """
    data: dict[str, Any] = KINDS[type(value)].write(value)
    return data


# -------- text --------
# JSON text from plain data and back, exactly: every string is preserved, and no key is lost.
#
# The text can be encoded as UTF-8, and is one line for every program. Lone surrogates are escaped.
# A string may contain a high surrogate followed by a low one. JSON cannot distinguish these two
# from the single character that they encode. So U+FDD0 is inserted between them on writing, and
# removed on reading.
#
# If an object has a duplicate key, JSON parsers silently keep the last value. To detect this, the
# quotes are counted: JSON text has exactly two for each string of the value (a key or an item). If
# there are more, a key was lost, and a slower parser finds the duplicate keys. (A hook for each
# object would detect them too, but then all reading would take twice as long.)


LIMIT = 64 * 1024 * 1024
"""The default size limit of a document in bytes."""

_JOINT = "\ufdd0"
_PAIR = re.compile("([\ud800-\udbff]\ufdd0*)([\udc00-\udfff])")
_JOINED = re.compile("([\ud800-\udbff]\ufdd0*)\ufdd0([\udc00-\udfff])")
_BREAKS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
_CUT = re.compile(r"-|[.eE][+-]?|\\?u?[0-9a-fA-F]{0,4}|t(ru?)?|f(a(ls?)?)?|n(ul?)?")

to_raw = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode
"""Encode plain data as JSON text. Pass the text to `in_one_line`."""


class Doubled(dict[str, Any]):
    """An object of a document with duplicate keys, which are listed in `twice`."""

    twice: tuple[str, ...]


def an_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a dict with these pairs, as the `object_pairs_hook` of a `json.JSONDecoder` must."""
    read = dict(pairs)
    if len(read) == len(pairs):
        return read
    doubled = Doubled(read)
    doubled.twice = tuple(key for key, times in Counter(k for k, _ in pairs).items() if times > 1)
    return doubled


_decode = json.JSONDecoder().decode
_decode_all = json.JSONDecoder(object_pairs_hook=an_object).decode


def to_text(data: Any) -> str:
    """Return plain data as JSON text."""
    return in_one_line(to_raw(data))


def in_one_line(raw: str) -> str:
    """Return JSON text in a form that can be encoded as UTF-8 and is one line for every program."""
    if raw.isascii():
        return raw
    try:
        raw.encode()
    except UnicodeEncodeError:
        # Models send halves of surrogate pairs. UTF-8 cannot contain these, so they are escaped.
        return json.dumps(json.loads(_PAIR.sub(rf"\1{_JOINT}\2", raw)), separators=(",", ":"))
    # These characters are line breaks for `str.splitlines` and JavaScript, but not for JSON.
    return raw.translate(_BREAKS) if any(chr(mark) in raw for mark in _BREAKS) else raw


def to_unicode(document: Any, limit: int) -> str:
    """
    Return the text of a document.

    Raises:
        CodecError: the document is too large, not UTF-8, or neither str nor bytes.
    """
    if not isinstance(document, str | bytes):
        msg = f"{shown(document)} is no document; give its text or its bytes"
        raise CodecError(msg, problem="not_text")
    size = (
        len(document)
        if isinstance(document, bytes) or document.isascii()
        else len(document.encode("utf-8", "surrogatepass"))
    )
    if size > limit:
        msg = f"the document has {size} bytes, the limit is {limit}; raise it with limit={size}"
        raise CodecError(msg, problem="too_large", size=size, limit=limit)
    if isinstance(document, str):
        return document.removeprefix("\ufeff")
    try:
        return document.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"the document is not UTF-8: {error.reason} at byte {error.start} of {size}"
        raise CodecError(msg, problem="not_utf8", position=error.start) from None


def parse(text: str, line: int | None = None) -> Any:
    """
    Return the value of JSON text. `line` is the text's line number in its document.

    Raises:
        CodecError: the text is truncated, not JSON, nested too deeply, or has duplicate keys.
    """
    try:
        value = _decode(text)
        if has_lost_keys(text, value):
            found = islice(doubled_paths(_decode_all(text)), MOST)
            paths = [path.removeprefix(".") for path in found]
            listed = ", ".join(paths[:LISTED])
            msg = f"an object has a key more than once: {listed}{_of(line)}; keep one of each"
            data = {"path": paths[0], "paths": tuple(paths), "line": line}
            raise CodecError(msg, problem="duplicate_key", **data)
        if _JOINT in text or ("\\" in text and ("\\ufdd0" in text or "\\uFDD0" in text)):
            # Inside the `try`, because this may also fail if the value is nested deeply.
            return json.loads(_JOINED.sub(r"\1\2", json.dumps(value, ensure_ascii=False)))
        return value  # noqa: TRY300 - beside the other result
    except json.JSONDecodeError as error:
        # A document that ends too soon, as after a crash, gets an error of its own.
        if error.msg.startswith("Unterminated") or _CUT.fullmatch(text[error.pos :].rstrip()):
            end = len(text)
            msg = (
                f"the document is truncated: it ends after {end} characters{_of(line)}, unfinished"
            )
            raise CodecError(msg, problem="truncated", position=end, line=line) from None
        at = line or error.lineno
        msg = f"the document is not JSON: {error.msg} at line {at}, column {error.colno}"
        raise CodecError(msg, problem="not_json", position=error.pos, line=at) from None
    # Python 3.11 stops at about 1,000 levels, 3.14 reads 100,000. Metadata have a lower limit,
    # `DEPTH`.
    except RecursionError:
        msg = f"the document is nested deeper than {DEPTH} levels{_of(line)}"
        raise CodecError(msg, problem="too_deep", line=line, limit=DEPTH) from None
    except ValueError as error:
        msg = f"the document is JSON that cannot be read: {error}{_of(line)}"
        raise CodecError(msg, problem="not_json", line=line) from None


def _of(line: int | None) -> str:
    return f" in line {line}" if line else ""


def has_lost_keys(document: str, value: Any) -> bool:
    """Return whether JSON text contains more strings than the value that was read from it."""
    texts = 0
    waiting = [[value]]
    while waiting:
        here: Any = waiting.pop()
        if type(here) is dict:
            texts += len(here)
            here = here.values()
        for item in here:
            kind = type(item)
            if kind is str:
                texts += 1
            elif kind is dict or kind is list:
                waiting.append(item)
    # Escaped quotes do not count. Escaped backslashes are removed first, because a quote after one
    # is not escaped.
    if "\\" in document:
        document = document.replace("\\\\", "").replace('\\"', "")
    return document.count('"') != 2 * texts


def doubled_paths(value: Any) -> Iterator[str]:
    """Yield the paths of all duplicate keys in a value that was decoded with `an_object`."""
    waiting = [("", value)]
    while waiting:
        path, here = waiting.pop()
        if isinstance(here, Doubled):
            yield from (path + field_path(key) for key in here.twice)
        if isinstance(here, dict):
            waiting += [(path + field_path(key), item) for key, item in here.items()]
        elif isinstance(here, list):
            waiting += [(f"{path}[{place}]", item) for place, item in enumerate(here)]
