"""Careful access to JSON values of which nothing is known."""

import json
from collections.abc import Mapping
from typing import Any

from todoplan.transcripts.jsontext import NotJsonError, parse_json

__all__ = [
    "arguments_of",
    "content_text",
    "data_of",
    "id_of",
    "is_refusal",
    "mapping",
    "mappings",
    "string",
    "turn_of",
]

_DEEPEST = 100
_TOO_DEEP = f"(left out: nested more than {_DEEPEST} levels deep)"
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
        return _parsed(value)
    if value is None:
        return {}
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
