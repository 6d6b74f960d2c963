"""
JSON text and plain data, both ways, exactly: any string comes back as it was.

Written text can be encoded as UTF-8 and is one line for every line splitter. Lone surrogates are
escaped. JSON cannot tell a high surrogate and a low one behind it from the one character that they
spell; where such a pair stands, U+FDD0 is put between and taken out again on reading.
"""

import json
import re
from itertools import islice
from typing import Any

from todoplan.codec.faults import LISTED, MOST, shown
from todoplan.codec.keys import an_object, doubled_paths, has_lost_keys
from todoplan.codec.values import DEPTH
from todoplan.errors import CodecError

__all__ = ["LIMIT", "in_one_line", "parse", "to_raw", "to_text", "to_unicode"]

LIMIT = 64 * 1024 * 1024
"""So many bytes a document may have, unless told otherwise."""

_JOINT = "\ufdd0"
_PAIR = re.compile("([\ud800-\udbff]\ufdd0*)([\udc00-\udfff])")
_JOINED = re.compile("([\ud800-\udbff]\ufdd0*)\ufdd0([\udc00-\udfff])")
_BREAKS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
_CUT = re.compile(r"-|[.eE][+-]?|\\?u?[0-9a-fA-F]{0,4}|t(ru?)?|f(a(ls?)?)?|n(ul?)?")

to_raw = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode
"""From plain data to JSON text that `in_one_line` has not seen yet."""
_decode = json.JSONDecoder().decode
_decode_all = json.JSONDecoder(object_pairs_hook=an_object).decode


def to_text(data: Any) -> str:
    """
    Return plain data as JSON text.
    """
    return in_one_line(to_raw(data))


def in_one_line(raw: str) -> str:
    """
    Return JSON text such that it can be encoded and that no line splitter cuts it.
    """
    if raw.isascii():
        return raw
    try:
        raw.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(_PAIR.sub(rf"\1{_JOINT}\2", raw)), separators=(",", ":"))
    return raw.translate(_BREAKS) if any(chr(mark) in raw for mark in _BREAKS) else raw


def to_unicode(document: Any, limit: int) -> str:
    """
    Return the text of a document.

    Raises:
        CodecError: too large, not UTF-8, or no text at all.
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
    Return the value of JSON text; `line` is the text's number in its document.

    Raises:
        CodecError: truncated, no JSON, nested too deep, or keys that stand twice.
    """
    try:
        value = _decode(text)
        if has_lost_keys(text, value):
            raise _doubled_keys(_decode_all(text), line)
    except json.JSONDecodeError as error:
        raise _not_json(error, line) from None
    except RecursionError:
        raise _too_deep(line) from None
    except ValueError as error:
        msg = f"the document is not JSON that can be held: {error}{_of(line)}"
        raise CodecError(msg, problem="not_json", line=line) from None
    return _apart(value) if _has_joint(text) else value


def _doubled_keys(value: Any, line: int | None) -> CodecError:
    paths = [path.removeprefix(".") for path in islice(doubled_paths(value), MOST)]
    msg = (
        f"keys stand twice in one object: {', '.join(paths[:LISTED])}{_of(line)}; keep one of each"
    )
    return CodecError(msg, problem="duplicate_key", path=paths[0], paths=tuple(paths), line=line)


def _not_json(error: json.JSONDecodeError, line: int | None) -> CodecError:
    where = f"line {line or error.lineno}, column {error.colno}"
    rest = error.doc[error.pos :].rstrip()
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
