"""
JSON texts and Python literals into values, strictly: no key twice, no number that cannot be kept.
"""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from todoplan.core.problems import Problem

__all__ = ["MOST_DIGITS", "RefusedError", "from_json", "from_python"]

MOST_DIGITS = 18
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_STRING = re.compile(r"""(?:"(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+')""", re.DOTALL)
_QUOTE = re.compile(r"""\s*+[bBrRuU]?["']""")
_PYTHON_ESCAPES = frozenset("\n\\'\"abfnrtv01234567xNuU")


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
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and (found[key] != value or type(found[key]) is not type(value)):
            raise RefusedError(Problem("duplicate_key", seen=key))
        found[key] = value
    return found


def _no_constant(word: str) -> Any:
    raise RefusedError(Problem("bad_number", seen=word))


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MOST_DIGITS:
        raise RefusedError(Problem("bad_number", seen=f"a number of {len(digits)} digits"))
    return int(digits)


def _number(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise RefusedError(Problem("bad_number", seen=digits))
    return value


def from_python(text: str) -> Any:
    """
    Return what a Python literal spells; nothing is run.

    Two strings with nothing between them are a lost comma here, not one string.

    Raises:
        RefusedError: a key stands twice with different values.
        ValueError, SyntaxError, TypeError: it is no literal.
        MemoryError, RecursionError: it is nested more deeply than Python can read.
    """
    if any(_QUOTE.match(text, string.end()) for string in _STRING.finditer(text)):
        msg = "a comma is missing between two strings; put one there"
        raise ValueError(msg)
    tree = ast.parse(_ESCAPE.sub(_known_escape, text), mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            _object([(_key(key), ast.dump(value)) for key, value in _pairs(node)])
    return ast.literal_eval(tree)


def _known_escape(found: re.Match[str]) -> str:
    return found[0] if found[1] in _PYTHON_ESCAPES else f"\\{found[0]}"


def _pairs(node: ast.Dict) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    return zip(node.keys, node.values, strict=True)


def _key(node: ast.expr | None) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


_DECODER = json.JSONDecoder(
    strict=False,
    object_pairs_hook=_object,
    parse_constant=_no_constant,
    parse_int=_integer,
    parse_float=_number,
)
