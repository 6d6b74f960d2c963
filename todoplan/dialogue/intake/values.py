"""One reader a kind of field: from a JSON value to ours, with what was mended and what is wrong."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from todoplan.core.plan.model import Priority, Status
from todoplan.dialogue.intake.cleaning import quoted
from todoplan.dialogue.intake.fields import Kind, folded
from todoplan.dialogue.intake.findings import MISSING, Findings
from todoplan.dialogue.intake.vocabulary import (
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

Reader = Callable[[Any, str, Findings], Any]


def _text(value: Any, path: str, findings: Findings) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        findings.mend("number_as_text", path, value, str(value))
        return str(value)
    if not isinstance(value, str):
        return findings.refuse("wrong_type", path, value, "a text")
    return findings.cleaned(value, path)


def _word(value: Any, path: str, findings: Findings, legal: str) -> Any:
    if not isinstance(value, str):
        return findings.refuse("wrong_type", path, value, f"one of {legal}")
    word = findings.cleaned(value, path)
    if word is not MISSING and word.strip().casefold() in ABSENT:
        findings.mend("absent_word", path, value)
        return MISSING
    return word


def _status(value: Any, path: str, findings: Findings, legal: str = _STATUS_WORDS) -> Any:
    if isinstance(value, str) and value in _BY_NAME:
        return _BY_NAME[value]
    word = _word(value, path, findings, legal)
    if word is MISSING:
        return MISSING
    status = status_of(word)
    if status is None:
        return findings.refuse("unknown_status", path, word, legal)
    return _told(word, status, path, findings)


def _told(word: str, used: str, path: str, findings: Findings) -> str:
    if word != used:
        findings.mend("word", path, word, str(used))
    return used


def _status_or_deleted(value: Any, path: str, findings: Findings) -> Any:
    if isinstance(value, str) and folded(value) in _DELETING:
        return _told(value, DELETED, path, findings)
    return _status(value, path, findings, f"{_STATUS_WORDS}, {DELETED}")


def _priority(value: Any, path: str, findings: Findings) -> Any:
    legal = ", ".join(Priority)
    word = _word(value, path, findings, legal)
    if word is MISSING:
        return MISSING
    priority = priority_of(word)
    if priority is None:
        return findings.refuse("unknown_priority", path, word, legal)
    return _told(word, priority, path, findings)


def _id(value: Any, path: str, findings: Findings) -> Any:
    word = findings.cleaned(value, path) if isinstance(value, str) else value
    if isinstance(word, str) and word.strip().casefold() in ABSENT:
        findings.mend("absent_word", path, value)
        return MISSING
    found = None if word is MISSING else id_of(word)
    if found is None:
        return findings.refuse("bad_id", path, value, 'an id such as "3"')
    if isinstance(word, str):
        _told(word, found, path, findings)
    return found


def _id_hint(value: Any, _path: str, _notes: Findings) -> Any:
    """
    Read an id of the model's own numbering: what is no id of ours does not count.
    """
    return id_of(value) or MISSING


def _flat(value: Any, path: str, findings: Findings) -> Any:
    """
    Return the parts of a list of ids, however it was given; `MISSING` if it is broken or too long.
    """
    value = findings.decoded(value, path)
    if value is MISSING:
        return MISSING
    listed = value if isinstance(value, list | tuple) else _split(value)
    flat = [_single(part) for part in listed]
    if len(flat) > findings.limits.items:
        return findings.refuse("too_many", path, len(flat), str(findings.limits.items))
    if flat != list(listed) or listed is not value:
        findings.mend("unwrapped", path, value)
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


def _ids(value: Any, path: str, findings: Findings, read_one: Reader = _id) -> Any:
    parts = _flat(value, path, findings)
    if parts is MISSING:
        return MISSING
    read = [read_one(part, f"{path}[{index}]", findings) for index, part in enumerate(parts)]
    return _once([task_id for task_id in read if task_id is not MISSING], path, findings)


def _once(known: list[Any], path: str, findings: Findings) -> tuple[str, ...]:
    kept = tuple(dict.fromkeys(known))
    if len(kept) < len(known):
        findings.mend("repeated_id", path)
    return kept


def _refs(value: Any, path: str, findings: Findings) -> Any:
    return _ids(value, path, findings, _ref)


def _ref(value: Any, path: str, findings: Findings) -> Any:
    return value if isinstance(value, str) and is_reference(value) else _id(value, path, findings)


def _minutes(value: Any, path: str, findings: Findings) -> Any:
    given = value
    if isinstance(value, str) and value.isascii() and len(value) <= _MOST_DIGITS:
        try:
            value = float(value)
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return findings.refuse("wrong_type", path, given, "a number of minutes")
    if not 0 <= value < 1e9 or not math.isfinite(value):  # noqa: PLR2004 - two thousand years
        return findings.refuse("bad_number", path, given, "minutes from 0 up")
    if isinstance(given, str):
        findings.mend("word", path, given, str(value))
    return value


_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}


def _flag(value: Any, path: str, findings: Findings) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, str | int) and quoted(value).casefold() in _FLAGS:
        used = _FLAGS[quoted(value).casefold()]
        findings.mend("word", path, value, str(used).lower())
        return used
    return findings.refuse("wrong_type", path, value, "true or false")


def _metadata(value: Any, path: str, findings: Findings) -> Any:
    found = findings.decoded(value, path, expected=True)
    if found is MISSING:
        return MISSING
    if isinstance(found, Mapping):
        return _cleaned(found, path, findings)
    return findings.refuse("wrong_type", path, value, "an object")


def _cleaned(value: Any, path: str, findings: Findings) -> Any:
    if isinstance(value, str):
        return findings.cleaned(value, path)
    if isinstance(value, Mapping):
        return _cleaned_keys(value, path, findings)
    if isinstance(value, list | tuple):
        return [_cleaned(item, path, findings) for item in value]
    return value


def _cleaned_keys(value: Mapping[str, Any], path: str, findings: Findings) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, item in value.items():
        kept = findings.cleaned(key, path)
        if kept in found:
            findings.refuse("conflicting_keys", path, key)
        found[kept] = _cleaned(item, path, findings)
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
"""The reader of each kind; lists of entries are read in `todoplan.dialogue.intake.read`."""
