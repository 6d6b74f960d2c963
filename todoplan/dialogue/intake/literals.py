"""
JSON texts and Python literals into values, strictly: no key twice, no number that cannot be kept.
"""

import json
import re
from typing import Any

from todoplan.core.problems import Problem

__all__ = ["MOST_DIGITS", "RefusedError", "from_json", "from_python"]

MOST_DIGITS = 18
_CLOSER_OF = {"[": "]", "{": "}", "(": ")"}
_WORDS = {"None": "null", "True": "true", "False": "false"}
# `u'...'` is how Python 2 wrote a text.
_TOKEN = re.compile(
    r"""
    (?P<space> \s++ )
    | u?(?P<string> "(?:[^"\\]++|\\.)*+" | '(?:[^'\\]++|\\.)*+' )
    | (?P<plain> -?[0-9][0-9.eE+-]*+ | : )
    | (?P<comma> , )
    | (?P<word> \w++ )
    | (?P<opening> [\[{(] )
    | (?P<closing> [\]})] )
    | (?P<other> . )
    """,
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL
)
_DEEPEST = 100
_MISPLACED = "a literal holds brackets, texts, numbers, None, True and False, with commas between"
_ESCAPED = {"\n": "", **dict(zip("\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v", strict=True))}


class RefusedError(Exception):
    """
    The text can be read and must not be: `problem` says why.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


def from_json(text: str) -> Any:
    """
    Return what a JSON text spells; raw line ends within strings are taken as they are.

    Raises:
        RefusedError: a key stands twice with different values, or a number cannot be kept.
        ValueError: it is no JSON.
        RecursionError: it is nested more deeply than Python can read.
    """
    return _DECODER.decode(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):  # `json` would keep the last of two, and say nothing
        first: dict[str, Any] = {}
        for key, value in pairs:
            kept = first.setdefault(key, value)
            if kept != value or type(kept) is not type(value):
                raise RefusedError(Problem("duplicate_key", seen=key))
    return found


def _no_constant(name: str) -> float:
    raise RefusedError(Problem("bad_number", seen=name))


def _integer(digits: str) -> int:
    # The length comes first: int() takes quadratic time, and raises beyond 4,300 digits.
    if len(digits.lstrip("-")) > MOST_DIGITS:
        raise RefusedError(Problem("bad_number", seen=f"a number of {len(digits)} digits"))
    return int(digits)


def _number(digits: str) -> float:
    value = float(digits)  # 1e999 is infinite, and `json` would write it as no JSON
    if value in (float("inf"), float("-inf")):
        raise RefusedError(Problem("bad_number", seen=digits))
    return value


_DECODER = json.JSONDecoder(
    strict=False,
    object_pairs_hook=_object,
    parse_constant=_no_constant,
    parse_int=_integer,
    parse_float=_number,
)


def from_python(text: str) -> Any:
    """
    Return what a Python literal of lists, dicts, tuples, texts and numbers spells.

    It is translated to JSON token by token, and read as that. Python's own parser is no choice for
    text from outside: it warns on standard error, once for each odd token, runs out of memory on
    `-----`, drops comments, and joins two strings between which a comma was lost.

    Raises:
        RefusedError, RecursionError: as of `from_json`.
        ValueError: it is no such literal.
    """
    parts: list[str] = []
    opened: list[tuple[str, int, list[str]]] = []  # brackets, where they stand, their commas
    for found in _TOKEN.finditer(text):
        part = found[0]
        match found.lastgroup:
            case "space":
                continue
            case "string":
                part = json.dumps(_ESCAPE.sub(_unescaped, found["string"][1:-1]))
            case "word" if part in _WORDS:
                part = _WORDS[part]
            case "comma" if opened:
                opened[-1][2].append(part)
            case "opening" if len(opened) < _DEEPEST:
                opened.append((part, len(parts), []))
                part = "[" if part == "(" else part
            case "closing" if opened and _CLOSER_OF[opened[-1][0]] == part:
                bracket, start, commas = opened.pop()
                if bracket == "(" and not commas and len(parts) > start + 1:
                    raise ValueError(_MISPLACED)  # (1) is 1, not a tuple
                # [1,] is Python, [,] is not; JSON refuses the comma that stays.
                if parts[-1] == "," and len(parts) > start + 2:
                    parts.pop()
                part = "]" if bracket == "(" else part
            case "plain":
                pass
            case _:
                raise ValueError(_MISPLACED)
        parts.append(part)
    # Joined by blanks: two strings between which a comma was lost stay two, and are refused.
    return from_json(" ".join(parts))


def _unescaped(found: re.Match[str]) -> str:
    if code := found[1] or found[2] or found[3]:
        return chr(int(code, 16))
    if found[4]:
        return chr(int(found[4], 8))
    return _ESCAPED.get(found[5], found[0])  # an unknown one keeps its backslash, as in C:\dir
