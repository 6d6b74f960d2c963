"""What is wrong with a document: all faults with their paths, and the error that says so."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from todoplan.core.problems import Problem
from todoplan.errors import CodecError

__all__ = [
    "LISTED",
    "MOST",
    "Found",
    "MisfitError",
    "field_path",
    "is_huge",
    "misfit",
    "shown",
    "wrong_shape",
]

MOST = 1000
"""So many faults are collected; a document with more is not read on."""

LISTED = 20
"""So many faults are spelled out in a message; the rest is in its data."""
_CLIP = 60
_DIGITS = 4300
# Python refuses to turn longer numbers into text, and text into longer numbers: it takes quadratic
# time. Every whole number of so many bits has at most 4,300 digits, without counting them.
_BITS = 14_284
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,40}")

Found = tuple[str, str]
"""A fault: the path below the value at hand (".status", "[3].id", ""), and a sentence."""


class MisfitError(ValueError):
    """
    A value is not of its shape. `found` holds every fault in it.
    """

    def __init__(self, found: Sequence[Found]) -> None:
        super().__init__("; ".join(f"{path} {sentence}" for path, sentence in found[:LISTED]))
        self.found = tuple(found)

    def below(self, path: str) -> list[Found]:
        """
        Return the faults as seen from further up.
        """
        return [(path + inner, sentence) for inner, sentence in self.found]


def misfit(value: Any, legal: str) -> MisfitError:
    """
    Return the error for one value that is not what `legal` says: `null is no text`.
    """
    return MisfitError([("", f"{shown(value)} is {legal}")])


def field_path(key: str) -> str:
    """
    Return how a path goes on to a key of an object.
    """
    return f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{shown(key)}]"


def shown(value: Any) -> str:
    """
    Return a value as an error names it: JSON, on one line, clipped.
    """
    # As JSON: the reader of an error has a document before them, where None is called null. ASCII,
    # so that what a document holds can neither break the line nor steer a terminal.
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
    """
    Say whether a whole number has more digits than Python reads from a text.
    """
    return value.bit_length() > _BITS


def wrong_shape(found: Sequence[Found], what: str, **data: Any) -> CodecError:
    """
    Return the error that lists all faults; `data["problems"]` holds them as values.
    """
    problems = tuple(
        Problem("wrong_shape", path=path.removeprefix("."), note=sentence)
        for path, sentence in found[:MOST]
    )
    listed = [f"{p.path}: {p.note}" if p.path else p.note for p in problems[:LISTED]]
    more = f"; and {len(problems) - LISTED} more" if len(problems) > LISTED else ""
    msg = f"this is no {what}: {'; '.join(listed)}{more}"
    return CodecError(msg, problem="wrong_shape", path=problems[0].path, problems=problems, **data)
