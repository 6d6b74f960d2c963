"""
JSON text and plain data, converted exactly: every string is preserved, and no key is lost.

Written text can be encoded as UTF-8, and every line splitter sees one line. Lone surrogates are
escaped. JSON cannot distinguish a high surrogate followed by a low one from the single character
that they encode. Between such a pair U+FDD0 is inserted on writing and removed on reading.

JSON parsers ignore a duplicate key in an object and keep its last value. A document has exactly two
quotes for each string of its value (a key or an item). If there are more quotes, some key was lost.
Counting is fast, and only if the count differs, the objects are examined one by one to find the
keys. (With a hook for every object, all reading would take twice as long.)
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from todoplan.codec.faults import LISTED, MOST, field_path, shown
from todoplan.codec.values import DEPTH
from todoplan.errors import CodecError

__all__ = [
    "LIMIT",
    "Doubled",
    "an_object",
    "doubled_paths",
    "has_lost_keys",
    "in_one_line",
    "parse",
    "to_raw",
    "to_text",
    "to_unicode",
]

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
"""Encode plain data as JSON text, without the treatment by `in_one_line`."""


class Doubled(dict[str, Any]):
    """An object of a document in which the keys `twice` are duplicated."""

    twice: tuple[str, ...]


def an_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs; an `object_pairs_hook` for `json.JSONDecoder`."""
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
    """Return JSON text that can be encoded as UTF-8 and that no line splitter breaks."""
    if raw.isascii():
        return raw
    try:
        raw.encode()
    except UnicodeEncodeError:
        # Half a surrogate pair, as models send it: preserved by escaping, because no file could
        # contain it.
        return json.dumps(json.loads(_PAIR.sub(rf"\1{_JOINT}\2", raw)), separators=(",", ":"))
    # Line breaks for str.splitlines and JavaScript, but not for JSON: they would break the line.
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
    size = _size(document)
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


def _size(document: str | bytes) -> int:
    if isinstance(document, bytes) or document.isascii():
        return len(document)
    return len(document.encode("utf-8", "surrogatepass"))


def parse(text: str, line: int | None = None) -> Any:
    """
    Return the value of JSON text. `line` is the text's line number in its document.

    Raises:
        CodecError: the text is truncated, not JSON, nested too deeply, or has duplicate keys.
    """
    try:
        value = _decode(text)
        if has_lost_keys(text, value):
            raise _doubled_keys(_decode_all(text), line)
        # Inside the `try`: `_apart` encodes and decodes the value, which may fail too for a deep
        # one.
        return _apart(value) if _has_joint(text) else value
    except json.JSONDecodeError as error:
        raise _not_json(error, line) from None
    # Python 3.11 stops at about 1,000 levels, 3.14 reads 100,000; `values` has a limit of its own.
    except RecursionError:
        raise _too_deep(line) from None
    except ValueError as error:
        msg = f"the document is not JSON that can be held: {error}{_of(line)}"
        raise CodecError(msg, problem="not_json", line=line) from None


def _doubled_keys(value: Any, line: int | None) -> CodecError:
    paths = [path.removeprefix(".") for path in islice(doubled_paths(value), MOST)]
    msg = (
        f"keys stand twice in one object: {', '.join(paths[:LISTED])}{_of(line)}; keep one of each"
    )
    return CodecError(msg, problem="duplicate_key", path=paths[0], paths=tuple(paths), line=line)


def _not_json(error: json.JSONDecodeError, line: int | None) -> CodecError:
    where = f"line {line or error.lineno}, column {error.colno}"
    rest = error.doc[error.pos :].rstrip()
    # A document that only ends too soon, as after a crash, is distinguished from one that is not
    # JSON.
    if error.msg.startswith("Unterminated") or _CUT.fullmatch(rest):
        end = len(error.doc)
        msg = f"the document is truncated: it ends after {end} characters{_of(line)}, unfinished"
        return CodecError(msg, problem="truncated", position=end, line=line)
    msg = f"the document is not JSON: {error.msg} at {where}"
    return CodecError(msg, problem="not_json", position=error.pos, line=line or error.lineno)


def _too_deep(line: int | None) -> CodecError:
    msg = f"the document is nested deeper than {DEPTH} levels{_of(line)}"
    return CodecError(msg, problem="too_deep", line=line, limit=DEPTH)


def _of(line: int | None) -> str:
    return f" in line {line}" if line else ""


def _has_joint(text: str) -> bool:
    return _JOINT in text or ("\\" in text and ("\\ufdd0" in text or "\\uFDD0" in text))


def _apart(value: Any) -> Any:
    return json.loads(_JOINED.sub(r"\1\2", json.dumps(value, ensure_ascii=False)))


def has_lost_keys(document: str, value: Any) -> bool:
    """Return whether the JSON text contains more strings than the value that was read from it."""
    # An escaped quote does not delimit a string. A backslash that is itself escaped escapes
    # nothing.
    if "\\" in document:
        document = document.replace("\\\\", "").replace('\\"', "")
    return document.count('"') != 2 * _texts_in(value)


def _texts_in(value: Any) -> int:
    count = 0
    waiting = [[value]]
    while waiting:
        here: Any = waiting.pop()
        if type(here) is dict:
            count += len(here)
            here = here.values()
        for item in here:
            kind = type(item)
            if kind is str:
                count += 1
            elif kind is dict or kind is list:
                waiting.append(item)
    return count


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
