"""Faults in a document: all of them with their paths, and the error that lists them."""

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
"""The maximum number of collected faults. A document with more is not read further."""

LISTED = 20
"""The maximum number of faults listed in a message. The others are in the error's data."""
_CLIP = 60
_DIGITS = 4300
# Python refuses to convert longer numbers to text or longer texts to numbers, because that takes
# quadratic time. Every integer with at most this many bits has at most 4,300 digits; comparing bits
# avoids counting digits.
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


def misfit(value: Any, legal: str) -> MisfitError:
    """Return the error for one value. `legal` completes the sentence: `null is no text`."""
    return MisfitError([("", f"{shown(value)} is {legal}")])


def field_path(key: str) -> str:
    """Return the path suffix for a key of an object."""
    return f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{shown(key)}]"


def shown(value: Any) -> str:
    """Return a value as error messages show it: JSON, on one line, truncated."""
    # As JSON: the reader of an error sees a JSON document, in which None is null. As ASCII, so that
    # the content of a document can neither break the line nor control a terminal.
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
