"""One reader a kind of field: from a JSON value to ours, with what was mended and what is wrong."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from todoplan.core.model import Priority, Status
from todoplan.dialogue.cleaning import quoted
from todoplan.dialogue.fields import Kind, folded
from todoplan.dialogue.notes import MISSING, Notes
from todoplan.dialogue.vocabulary import (
    ABSENT,
    DELETED,
    id_of,
    ids_in,
    is_reference,
    priority_of,
    status_of,
)

__all__ = ["READERS", "Reader"]

_BY_NAME = {status.value: status for status in Status}
_STATUS_WORDS = ", ".join(Status)
_MOST_DIGITS = 18
_DELETING = frozenset({DELETED, "delete", "remove", "removed"})
_ID_KEYS = frozenset({"id", "taskid"})

Reader = Callable[[Any, str, Notes], Any]


def _text(value: Any, path: str, notes: Notes) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        notes.mend("number_as_text", path, value, str(value))
        return str(value)
    if not isinstance(value, str):
        return notes.refuse("wrong_type", path, value, "a text")
    return notes.cleaned(value, path)


def _word(value: Any, path: str, notes: Notes, legal: str) -> Any:
    if not isinstance(value, str):
        return notes.refuse("wrong_type", path, value, f"one of {legal}")
    word = notes.cleaned(value, path)
    if word is not MISSING and word.strip().casefold() in ABSENT:
        notes.mend("absent_word", path, value)
        return MISSING
    return word


def _status(value: Any, path: str, notes: Notes, legal: str = _STATUS_WORDS) -> Any:
    if isinstance(value, str) and value in _BY_NAME:
        return _BY_NAME[value]
    word = _word(value, path, notes, legal)
    if word is MISSING:
        return MISSING
    status = status_of(word)
    if status is None:
        return notes.refuse("unknown_status", path, word, legal)
    return _told(word, status, path, notes)


def _told(word: str, used: str, path: str, notes: Notes) -> str:
    if word != used:
        notes.mend("word", path, word, str(used))
    return used


def _status_or_deleted(value: Any, path: str, notes: Notes) -> Any:
    if isinstance(value, str) and folded(value) in _DELETING:
        return _told(value, DELETED, path, notes)
    return _status(value, path, notes, f"{_STATUS_WORDS}, {DELETED}")


def _priority(value: Any, path: str, notes: Notes) -> Any:
    legal = ", ".join(Priority)
    word = _word(value, path, notes, legal)
    if word is MISSING:
        return MISSING
    priority = priority_of(word)
    if priority is None:
        return notes.refuse("unknown_priority", path, word, legal)
    return _told(word, priority, path, notes)


def _id(value: Any, path: str, notes: Notes) -> Any:
    word = notes.cleaned(value, path) if isinstance(value, str) else value
    if isinstance(word, str) and word.strip().casefold() in ABSENT:
        notes.mend("absent_word", path, value)
        return MISSING
    found = None if word is MISSING else id_of(word)
    if found is None:
        return notes.refuse("bad_id", path, value, 'an id such as "3"')
    if isinstance(word, str):
        _told(word, found, path, notes)
    return found


def _id_hint(value: Any, _path: str, _notes: Notes) -> Any:
    """
    Read an id of the model's own numbering: what is no id of ours does not count.
    """
    return id_of(value) or MISSING


def _flat(value: Any, path: str, notes: Notes) -> Any:
    """
    Return the parts of a list of ids, however it was given; `MISSING` if it is broken or too long.
    """
    value = notes.decoded(value, path)
    if value is MISSING:
        return MISSING
    listed = value if isinstance(value, list | tuple) else _split(value)
    flat = [_single(part) for part in listed]
    if len(flat) > notes.limits.items:
        return notes.refuse("too_many", path, len(flat), str(notes.limits.items))
    if flat != list(listed) or listed is not value:
        notes.mend("unwrapped", path, value)
    return flat


def _split(value: Any) -> list[Any]:
    return ids_in(value) if isinstance(value, str) else [value]


def _single(part: Any) -> Any:
    """
    Return what stands alone in [7] or {"id": 7}; anything else as it is.
    """
    if isinstance(part, list | tuple) and len(part) == 1:
        return part[0]
    if isinstance(part, Mapping) and len(part) == 1:
        return next((inner for key, inner in part.items() if folded(key) in _ID_KEYS), part)
    return part


def _ids(value: Any, path: str, notes: Notes, read_one: Reader = _id) -> Any:
    parts = _flat(value, path, notes)
    if parts is MISSING:
        return MISSING
    read = [read_one(part, f"{path}[{index}]", notes) for index, part in enumerate(parts)]
    return _once([task_id for task_id in read if task_id is not MISSING], path, notes)


def _once(known: list[Any], path: str, notes: Notes) -> tuple[str, ...]:
    kept = tuple(dict.fromkeys(known))
    if len(kept) < len(known):
        notes.mend("repeated_id", path)
    return kept


def _refs(value: Any, path: str, notes: Notes) -> Any:
    return _ids(value, path, notes, _ref)


def _ref(value: Any, path: str, notes: Notes) -> Any:
    return value if isinstance(value, str) and is_reference(value) else _id(value, path, notes)


def _minutes(value: Any, path: str, notes: Notes) -> Any:
    given = value
    if isinstance(value, str) and value.isascii() and len(value) <= _MOST_DIGITS:
        try:
            value = float(value)
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return notes.refuse("wrong_type", path, given, "a number of minutes")
    if not 0 <= value < 1e9 or not math.isfinite(value):  # noqa: PLR2004 - two thousand years
        return notes.refuse("bad_number", path, given, "minutes from 0 up")
    if isinstance(given, str):
        notes.mend("word", path, given, str(value))
    return value


_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}


def _flag(value: Any, path: str, notes: Notes) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, str | int) and quoted(value).casefold() in _FLAGS:
        used = _FLAGS[quoted(value).casefold()]
        notes.mend("word", path, value, str(used).lower())
        return used
    return notes.refuse("wrong_type", path, value, "true or false")


def _metadata(value: Any, path: str, notes: Notes) -> Any:
    found = notes.decoded(value, path, expected=True)
    if found is MISSING:
        return MISSING
    if isinstance(found, Mapping):
        return _cleaned(found, path, notes)
    return notes.refuse("wrong_type", path, value, "an object")


def _cleaned(value: Any, path: str, notes: Notes) -> Any:
    if isinstance(value, str):
        return notes.cleaned(value, path)
    if isinstance(value, Mapping):
        return _cleaned_keys(value, path, notes)
    if isinstance(value, list | tuple):
        return [_cleaned(item, path, notes) for item in value]
    return value


def _cleaned_keys(value: Mapping[str, Any], path: str, notes: Notes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, item in value.items():
        kept = notes.cleaned(key, path)
        if kept in found:
            notes.refuse("conflicting_keys", path, key)
        found[kept] = _cleaned(item, path, notes)
    return found


READERS: dict[Kind, Reader] = {
    Kind.LINE: _text,
    Kind.TEXT: _text,
    Kind.STATUS: _status,
    Kind.STATUS_OR_DELETED: _status_or_deleted,
    Kind.PRIORITY: _priority,
    Kind.ID: _id,
    Kind.ID_HINT: _id_hint,
    Kind.IDS: _ids,
    Kind.REFS: _refs,
    Kind.MINUTES: _minutes,
    Kind.FLAG: _flag,
    Kind.METADATA: _metadata,
}
"""The reader of each kind; lists of entries are read in `todoplan.dialogue.intake`."""
