"""
Tool calls written in JavaScript: object literals as mappings, wherever they hold only values.

Codex in code mode calls its tools from a script, so its plan is a literal with unquoted keys.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["tool_calls"]

_CALL = re.compile(r"\btools\s*(?:\.\s*(\w+)|\[\s*[\"']([\w.:/-]+)[\"']\s*\])\s*\(")
# A comment that is never closed goes on to the end: else it would be searched for its end by each
# call in it.
_COMMENT = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
_SPACE = re.compile(rf"(?:\s|{_COMMENT})*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`", re.DOTALL)
# What holds no bracket that counts. A backslash outside strings stands in a regular expression.
_CLOSED = re.compile(rf"{_STRING.pattern}|{_COMMENT}|\\.", re.DOTALL)
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.DOTALL)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "undefined": None}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
# Each level is two frames: Python's limit of 1,000 stays far away.
_DEEPEST = 50


class _NotAValueError(ValueError):
    pass


def tool_calls(script: str) -> Iterator[tuple[str, Mapping[str, Any] | str]]:
    """
    Give the calls `tools.<name>(...)` of a script, in order: the name, and the argument.

    The argument is a mapping where it is an object literal of plain values, else its source text.
    """
    end = 0
    while found := _CALL.search(script, end):
        name = found[1] or found[2]
        start = end = found.end()
        try:
            value, end = _argument(script, start)
            yield name, value
        except _NotAValueError:
            end = max(start, _balanced(script, start))
            yield name, script[start:end].strip()


def _argument(script: str, at: int) -> tuple[dict[str, Any], int]:
    value, end = _value(script, at, 0)
    close = _skip(script, end)
    if not isinstance(value, dict) or script[close : close + 1] not in {")", ","}:
        raise _NotAValueError
    return value, end


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    at = _skip(text, at)
    if depth > _DEEPEST:
        raise _NotAValueError
    if text[at : at + 1] == "{":
        return _object(text, at + 1, depth)
    if text[at : at + 1] == "[":
        return _array(text, at + 1, depth)
    return _scalar(text, at)


def _scalar(text: str, at: int) -> tuple[Any, int]:
    if found := _STRING.match(text, at):
        return _unquoted(found[0]), found.end()
    if found := _NUMBER.match(text, at):
        return _number(found[0]), found.end()
    found = _NAME.match(text, at)
    if found and found[0] in _WORDS:
        return _WORDS[found[0]], found.end()
    # What is computed (a variable, a call) is known only to who runs the script: it stays text.
    raise _NotAValueError


def _number(literal: str) -> int | float:
    # int() refuses more than 4,300 digits, float() takes any number of them.
    if re.fullmatch(r"[-+]?\d{1,300}", literal):
        return int(literal)
    return float(literal)


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    fields: dict[str, Any] = {}
    while (at := _skip(text, at)) < len(text) and text[at] != "}":
        key, at = _key(text, at)
        at = _expect(text, at, ":")
        fields[key], at = _value(text, at, depth + 1)
        at = _separator(text, at, "}")
    return fields, _expect(text, at, "}")


def _array(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    while (at := _skip(text, at)) < len(text) and text[at] != "]":
        item, at = _value(text, at, depth + 1)
        items.append(item)
        at = _separator(text, at, "]")
    return items, _expect(text, at, "]")


def _key(text: str, at: int) -> tuple[str, int]:
    if found := _NAME.match(text, at):
        return found[0], found.end()
    if found := _STRING.match(text, at):
        return _unquoted(found[0]), found.end()
    raise _NotAValueError


def _expect(text: str, at: int, mark: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] != mark:
        raise _NotAValueError
    return at + 1


def _separator(text: str, at: int, closing: str) -> int:
    at = _skip(text, at)
    return at if text[at : at + 1] == closing else _expect(text, at, ",")


def _unquoted(literal: str) -> str:
    if literal[0] == "`" and "${" in literal:
        raise _NotAValueError
    # JavaScript may escape a character beyond the BMP as two halves: UTF-16 joins them, and a half
    # that is alone becomes U+FFFD.
    text = _ESCAPE.sub(_unescaped, literal[1:-1])
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(found: re.Match[str]) -> str:
    escape = found[1]
    if len(escape) > 1 and escape[0] in "ux":
        code = int(escape[1:].strip("{}"), 16)
        return chr(code) if code <= sys.maxunicode else "\ufffd"
    # A backslash at the end of a line goes on in the next one.
    return "" if escape in {"\n", "\r\n"} else _SHORT.get(escape, escape)


def _balanced(text: str, at: int) -> int:
    """
    Where the bracket closes that stands open before `at`; the end of the text if it never does.
    """
    awaited = [")"]
    while at < len(text):
        # A bracket in a task's text closes nothing.
        if found := _CLOSED.match(text, at):
            at = found.end()
            continue
        if text[at] == awaited[-1]:
            awaited.pop()
            if not awaited:
                return at
        elif text[at] in _CLOSING:
            awaited.append(_CLOSING[text[at]])
        at += 1
    return len(text)
