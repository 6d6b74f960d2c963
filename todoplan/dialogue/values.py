"""One reader a kind of field: from a JSON value to ours, with what was mended and what is wrong."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from todoplan.core.model import Priority, Status
from todoplan.core.problems import Problem
from todoplan.dialogue.cleaning import clean, quoted
from todoplan.dialogue.fields import Kind
from todoplan.dialogue.jsonish import InputLimits, unwrapped_text
from todoplan.dialogue.repairs import Repair
from todoplan.dialogue.vocabulary import ABSENT, DELETED, id_of, ids_in, priority_of, status_of

__all__ = ["MISSING", "READERS", "Notes", "Reader"]

MISSING = object()
"""What a reader returns for a value that does not count, or that it has refused."""

_STATUS_WORDS = ", ".join(Status)


@attrs.define
class Notes:
    """
    What came up while a call's arguments were read.
    """

    limits: InputLimits = InputLimits()
    repairs: list[Repair] = attrs.Factory(list)
    problems: list[Problem] = attrs.Factory(list)

    def mend(self, code: str, path: str, seen: object = "", used: str = "") -> None:
        """
        Say what was read differently from what was given.
        """
        self.repairs.append(Repair(code, path, quoted(seen), used))

    def refuse(self, code: str, path: str, seen: object = "", legal: str = "") -> object:
        """
        Say what cannot be read, and return `MISSING`.
        """
        self.problems.append(Problem(code, (), quoted(seen), legal, path))
        return MISSING


Reader = Callable[[Any, str, Notes], Any]


def _line(value: Any, path: str, notes: Notes) -> Any:
    return _text(value, path, notes)


def _text(value: Any, path: str, notes: Notes) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18:  # noqa: PLR2004
        notes.mend("number_as_text", path, value, str(value))
        return str(value)
    if not isinstance(value, str):
        return notes.refuse("wrong_type", path, value, "a text")
    if "<parameter name=" in value:
        return notes.refuse("swallowed_field", path, value)
    kept, repairs = clean(value, path)
    notes.repairs.extend(repairs)
    return kept


def _word(value: Any, path: str, notes: Notes) -> Any:
    if not isinstance(value, str):
        return notes.refuse("wrong_type", path, value, "a word")
    if value.strip().casefold() in ABSENT:
        notes.mend("absent_word", path, value)
        return MISSING
    return value


def _status(value: Any, path: str, notes: Notes) -> Any:
    word = _word(value, path, notes)
    if word is MISSING:
        return MISSING
    status = status_of(word)
    if status is None:
        return notes.refuse("unknown_status", path, word, _STATUS_WORDS)
    return _told(word, status, path, notes)


def _told(word: str, used: Status | Priority, path: str, notes: Notes) -> Status | Priority:
    if word != used.value:
        notes.mend("word", path, word, used.value)
    return used


def _status_or_deleted(value: Any, path: str, notes: Notes) -> Any:
    if isinstance(value, str) and value.strip().casefold() in {DELETED, "delete", "removed"}:
        return DELETED
    before = len(notes.problems)
    found = _status(value, path, notes)
    if len(notes.problems) > before:
        notes.problems[-1] = attrs.evolve(notes.problems[-1], legal=f"{_STATUS_WORDS}, {DELETED}")
    return found


def _priority(value: Any, path: str, notes: Notes) -> Any:
    word = _word(value, path, notes)
    if word is MISSING:
        return MISSING
    priority = priority_of(word)
    if priority is None:
        return notes.refuse("unknown_priority", path, word, ", ".join(Priority))
    return _told(word, priority, path, notes)


def _id(value: Any, path: str, notes: Notes) -> Any:
    if isinstance(value, str) and value.strip().casefold() in ABSENT:
        notes.mend("absent_word", path, value)
        return MISSING
    found = id_of(value)
    if found is None:
        return notes.refuse("bad_id", path, value, 'an id such as "3"')
    if isinstance(value, str) and value != found:
        notes.mend("id", path, value, found)
    return found


def _id_hint(value: Any, _path: str, _notes: Notes) -> Any:
    """
    Read an id of the model's own numbering: what is no id of ours does not count.
    """
    return id_of(value) or MISSING


def _flat(value: Any, path: str, notes: Notes) -> list[Any]:
    value = unwrapped_text(value, notes.limits).value
    if isinstance(value, str):
        return ids_in(value)
    if isinstance(value, Mapping) or not isinstance(value, list | tuple):
        value = [value]
    flat = [
        item[0] if isinstance(item, list | tuple) and len(item) == 1 else item for item in value
    ]
    if flat != list(value):
        notes.mend("unwrapped", path)
    return [_inner_id(item) for item in flat]


def _inner_id(item: Any) -> Any:
    if isinstance(item, Mapping):
        return next((item[key] for key in ("id", "taskId", "task_id") if key in item), item)
    return item


def _ids(value: Any, path: str, notes: Notes) -> Any:
    parts = enumerate(_flat(value, path, notes))
    read = [_id(part, f"{path}[{index}]", notes) for index, part in parts]
    return _once(read, path, notes)


def _once(read: list[Any], path: str, notes: Notes) -> tuple[str, ...]:
    known = [task_id for task_id in read if task_id is not MISSING]
    if len(set(known)) < len(known):
        notes.mend("repeated_id", path)
    return tuple(dict.fromkeys(known))


def _refs(value: Any, path: str, notes: Notes) -> Any:
    read: list[Any] = []
    for index, part in enumerate(_flat(value, path, notes)):
        reference = isinstance(part, str) and part[:1] == "#" and part[1:].isdecimal()
        read.append(part if reference else _id(part, f"{path}[{index}]", notes))
    return _once(read, path, notes)


def _minutes(value: Any, path: str, notes: Notes) -> Any:
    given = value
    if isinstance(value, str) and len(value) <= 18:  # noqa: PLR2004 - no number of minutes is longer
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
    found = unwrapped_text(value, notes.limits)
    notes.repairs.extend(attrs.evolve(repair, path=path) for repair in found.repairs)
    if isinstance(found.value, Mapping):
        return _cleaned(found.value, path, notes)
    return notes.refuse("wrong_type", path, value, "an object")


def _cleaned(value: Any, path: str, notes: Notes) -> Any:
    if isinstance(value, str):
        kept, repairs = clean(value, path)
        notes.repairs.extend(repairs)
        return kept
    if isinstance(value, Mapping):
        return {key: _cleaned(item, path, notes) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item, path, notes) for item in value]
    return value


READERS: dict[Kind, Reader] = {
    Kind.LINE: _line,
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
