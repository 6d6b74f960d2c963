"""Careful access to JSON values of which nothing is known, and timestamps in whatever form."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from todoplan.transcripts.files.json_text import NotJsonError, parse_json

__all__ = [
    "arguments_of",
    "content_text",
    "data_of",
    "id_of",
    "is_refusal",
    "mapping",
    "mappings",
    "parse_time",
    "string",
    "tells_error",
    "turn_of",
]

# Deeper values would exhaust the recursion of whoever handles them next: json.dumps, attrs, intake.
# `json` stops at about 1,000 levels on Python 3.11 and parses 100,000 on 3.14: the bound is ours.
_DEEPEST = 100
_TOO_DEEP = f"(left out: nested more than {_DEEPEST} levels deep)"
# Entire writes it in place of ids: as an id it would make all calls one.
_REDACTED = "REDACTED"
_NOTHING: Mapping[str, Any] = {}
_REFUSAL = "<tool_use_error>"


def mapping(value: Any) -> Mapping[str, Any]:
    """
    Give the value if it is an object, else an empty one.
    """
    return value if isinstance(value, dict) else _NOTHING


def mappings(value: Any) -> tuple[Mapping[str, Any], ...]:
    """
    Give the objects of a list; none if it is no list.
    """
    return tuple(one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def string(value: Any) -> str:
    """
    Give the value if it is text, else the empty text.
    """
    return value if isinstance(value, str) else ""


def id_of(*values: Any) -> str:
    """
    Give the first of these that can serve as an id: text that the recorder did not redact.
    """
    return next((one for one in map(string, values) if one and one != _REDACTED), "")


def turn_of(line: int, *values: Any) -> str:
    """
    Give the first of these that is an id, else a name for the line.
    """
    return id_of(*values) or f"#{line}"


def content_text(value: Any) -> str:
    """
    Give the text of a message's content: text itself, or the texts of its blocks, a line each.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_block_text, value)))
    return _block_text(value)


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if block is None:
        return ""
    fields = mapping(block)
    named = (fields.get(key) for key in ("text", "content", "output", "value"))
    return next((one for one in named if isinstance(one, str)), "") or _dumped(block)


_ERRORS = ("Error:", "ERROR:", "Error invoking tool")


def tells_error(text: str) -> bool:
    """
    Whether this answer says in its first words that it is an error, where no field of it does.
    """
    return is_refusal(text) or text.startswith(_ERRORS)


def is_refusal(text: str) -> bool:
    """
    Whether this answer is Claude Code's for a call that it did not carry out.
    """
    return text.startswith(_REFUSAL)


def arguments_of(value: Any) -> Mapping[str, Any] | str:
    """
    Give a call's arguments: an object, or the text that should have been one.
    """
    if isinstance(value, str):
        # Chat completions and Codex send arguments as a text of JSON.
        return _parsed(value)
    if value is None:
        return {}  # some recorders leave out arguments that are empty
    if isinstance(value, dict) and not _too_deep(value):
        return value
    return _dumped(value)


def _parsed(text: str) -> Mapping[str, Any] | str:
    if not text.strip():
        return {}
    try:
        value = parse_json(text)
    except NotJsonError:
        return text
    return value if isinstance(value, dict) and not _too_deep(value) else text


def data_of(value: Any) -> Mapping[str, Any] | None:
    """
    Give a structured answer, if it is an object that can be handled.
    """
    return value if isinstance(value, dict) and not _too_deep(value) else None


def _dumped(value: Any) -> str:
    return _TOO_DEEP if _too_deep(value) else json.dumps(value, ensure_ascii=False, default=str)


def _too_deep(value: Any) -> bool:
    # Without recursion: this is what others rely on before they recurse.
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return False
    return True


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_SECONDS = 1e11  # the year 5138 in seconds, 1973 in milliseconds: no recording is older


def parse_time(value: Any) -> datetime | None:
    """
    ISO 8601 text, or a number since 1970 in s, ms, us or ns (told by its size), as a UTC datetime.

    A local time without a zone is taken as UTC. What is no timestamp is `None`, never an error.
    """
    try:
        if isinstance(value, str):
            return _from_text(value)
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            return _from_number(float(value))
    except (ValueError, OverflowError):
        return None
    return None


def _from_text(text: str) -> datetime:
    # OpenHands' logs in Markdown have a time with the letters UTC behind it.
    moment = datetime.fromisoformat(text.strip().removesuffix(" UTC"))
    # OpenHands writes local time and does not say where.
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _from_number(number: float) -> datetime | None:
    if not math.isfinite(number):
        return None
    while abs(number) >= _LATEST_SECONDS:
        number /= 1000
    return _EPOCH + timedelta(seconds=number)
