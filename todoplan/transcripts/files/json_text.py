"""JSON from untrusted text: any failure is one exception with a reason in one line."""

import json
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["NotJsonError", "parse_json", "parse_values"]

# `raw_decode` can go on behind a value; `json.loads` refuses text that has a second one.
_DECODER = json.JSONDecoder()
# Whole pairs are matched to be left alone: only the first group is half of one.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SPACE = re.compile(r"[ \t\r\n]*")


class NotJsonError(ValueError):
    """
    The text is not JSON, or cannot be held; the message says why, in one line.
    """


def parse_json(text: str) -> Any:
    """
    Give the one JSON value that the text holds.

    Raises:
        NotJsonError: not JSON, nested too deeply, or something follows the value.

    """
    values = list(parse_values(text))
    if len(values) != 1:
        msg = f"{len(values)} JSON values where one was expected"
        raise NotJsonError(msg)
    return values[0]


def parse_values(text: str) -> Iterator[Any]:
    """
    Each of the JSON values that follow one another in the text.

    Half of a surrogate pair becomes U+FFFD, so that every string can be written.

    Raises:
        NotJsonError: after the values that could be read.

    """
    text = _whole_pairs(text)
    start = _skip_space(text, 0)
    while start < len(text):
        value, end = _one(text, start)
        yield value
        start = _skip_space(text, end)


def _one(text: str, start: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, start)
    # Python sets this limit: about 1,000 levels on 3.11, while 3.14 parses 100,000.
    except RecursionError as error:
        msg = "nested too deeply"
        raise NotJsonError(msg) from error
    except json.JSONDecodeError as error:
        msg = f"{error.msg} at character {error.pos + 1}"
        raise NotJsonError(msg) from error
    # Python refuses integers of more than 4,300 digits.
    except ValueError as error:
        msg = str(error).partition("\n")[0]
        raise NotJsonError(msg) from error


def _skip_space(text: str, start: int) -> int:
    space = _SPACE.match(text, start)
    return space.end() if space else start


def _whole_pairs(text: str) -> str:
    # The substitution calls a function for each escape: only texts with a surrogate pay for it.
    if not _SURROGATE.search(text):
        return text
    return _ESCAPE.sub(lambda found: "\\ufffd" if found[1] else found[0], text)
