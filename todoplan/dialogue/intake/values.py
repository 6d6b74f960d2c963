"""One reader for each kind of field: from a JSON value to ours, with repairs and faults."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from todoplan.core.plan.model import Status
from todoplan.dialogue.intake.cleaning import quoted
from todoplan.dialogue.intake.fields import Kind, folded
from todoplan.dialogue.intake.findings import MISSING, Findings
from todoplan.dialogue.intake.vocabulary import (
    ABSENT,
    DELETED,
    EXACT_WORDS,
    PUBLISHED,
    id_of,
    ids_in,
    is_reference,
    priority_of,
    status_of,
    wait_of,
)
from todoplan.dialogue.intake.waits import WaitingWord, read_reason, read_waits

__all__ = ["READERS", "Reader"]

_MOST_DIGITS = 18
_DELETING = frozenset({DELETED, "delete", "remove", "removed"})
_ID_KEYS = frozenset({"id", "taskid"})
_AT_THE_TOP = ABSENT | {"0", "root"}

Reader = Callable[[Any, str, Findings], Any]


def _text(value: Any, path: str, findings: Findings) -> Any:
    # Never str(value): a coercion of whatever comes is how `null` became the task "None".
    if isinstance(value, int | float) and not isinstance(value, bool):
        findings.repair("number_as_text", path, value, str(value))
        return str(value)
    if not isinstance(value, str):
        return findings.refuse("wrong_type", path, value, "a text")
    return findings.cleaned(value, path)


def _word_reader(kind: Kind, meaning: Callable[[str], Any], code: str) -> Reader:
    """
    Return the reader of a kind whose values are words; an unknown word is refused, never guessed.
    """
    exact, legal = EXACT_WORDS[kind], ", ".join(PUBLISHED[kind])

    def read(value: Any, path: str, findings: Findings) -> Any:
        if not isinstance(value, str):
            return findings.refuse("wrong_type", path, value, f"one of {legal}")
        if value in exact:
            return exact[value]
        word = findings.cleaned(value, path)
        if word is MISSING or _is_absent(word, path, findings):
            return MISSING
        used = meaning(word)
        if used is None:
            return findings.refuse(code, path, word, legal)
        if not isinstance(used, WaitingWord):  # what came of that is said with its task
            _report(word, used, path, findings)
        return used

    return read


def _is_absent(word: str, path: str, findings: Findings) -> bool:
    # Frameworks print Python's None into optional arguments (smolagents#1538); a title may say it.
    absent = word.strip().casefold() in ABSENT
    if absent:
        findings.repair("absent_word", path, word)
    return absent


def _report(word: str, used: str, path: str, findings: Findings) -> None:
    if word != used:
        findings.repair("word", path, word, str(used))


def _status(word: str) -> Status | WaitingWord | None:
    reason = wait_of(word)
    return status_of(word) if reason is None else WaitingWord(word, reason)


def _status_or_deleted(word: str) -> str | WaitingWord | None:
    return DELETED if folded(word) in _DELETING else _status(word)


def _id(value: Any, path: str, findings: Findings) -> Any:
    word = findings.cleaned(value, path) if isinstance(value, str) else value
    if isinstance(word, str) and _is_absent(word, path, findings):
        return MISSING
    found = None if word is MISSING else id_of(word)
    if found is None:
        return findings.refuse("bad_id", path, value, 'an id such as "3"')
    if isinstance(word, str):
        _report(word, found, path, findings)
    return found


def _id_hint(value: Any, _path: str, _findings: Findings) -> Any:
    """
    Read an id of the model's own numbering, which may be none of ours: "2.1", say.
    """
    fits = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value).strip() if fits else MISSING


def _parent(value: Any, path: str, findings: Findings) -> Any:
    """
    Read how an entry names the one that contains it: by its id, or by its title; "" at the top.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return findings.refuse("wrong_type", path, value, "the id of an entry of the list")
    word = str(value).strip()
    return "" if word.casefold() in _AT_THE_TOP else word


def _ids(value: Any, path: str, findings: Findings, read_one: Reader = _id) -> Any:
    """
    Read a list of ids, however it was given: 7, "1, 2", [[7]], [{"id": 7}]; each id once.
    """
    value = findings.decoded(value, path)
    if value is MISSING:
        return MISSING
    # What is no id refuses the call: AgentScope drops unknown blockers, and the task starts early.
    listed = value
    if not isinstance(value, list | tuple):
        listed = ids_in(value) if isinstance(value, str) else [value]
    if len(listed) > findings.limits.items:
        return findings.refuse("too_many", path, len(listed), str(findings.limits.items))
    flat = [_single(part) for part in listed]
    if flat != list(listed) or listed is not value:
        findings.repair("unwrapped", path, value)
    read = (read_one(part, f"{path}[{index}]", findings) for index, part in enumerate(flat))
    known = [task_id for task_id in read if task_id is not MISSING]
    once = tuple(dict.fromkeys(known))
    if len(once) < len(known):
        findings.repair("repeated_id", path)
    return once


def _single(part: Any) -> Any:
    """
    Return what stands alone in [7] or {"id": 7}; anything else as it is.
    """
    if isinstance(part, list | tuple) and len(part) == 1:
        return part[0]
    if isinstance(part, Mapping) and len(part) == 1:
        return next((inner for key, inner in part.items() if folded(key) in _ID_KEYS), part)
    return part


def _refs(value: Any, path: str, findings: Findings) -> Any:
    return _ids(value, path, findings, _ref)


def _ref(value: Any, path: str, findings: Findings) -> Any:
    reference = isinstance(value, str) and is_reference(value)
    return value if reference else _id(value, path, findings)


def _minutes(value: Any, path: str, findings: Findings) -> Any:
    given = value
    # float() reads the digits of every script, and "1_0" as 10; ids and minutes are plain ASCII.
    if isinstance(value, str) and value.isascii() and len(value) <= _MOST_DIGITS:
        try:
            value = None if "_" in value else float(value)
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return findings.refuse("wrong_type", path, given, "a number of minutes")
    if not 0 <= value < 1e9 or not math.isfinite(value):  # noqa: PLR2004 - two thousand years
        return findings.refuse("bad_number", path, given, "minutes from 0 up")
    if isinstance(given, str):
        findings.repair("word", path, given, str(value))
    return value


# A closed table, since bool("false") is true.
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}


def _flag(value: Any, path: str, findings: Findings) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, str | int) and quoted(value).casefold() in _FLAGS:
        used = _FLAGS[quoted(value).casefold()]
        findings.repair("word", path, value, str(used).lower())
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
    # No check of depth: `parse` has let in `limits.depth` levels at most.
    if isinstance(value, list | tuple):
        return [_cleaned(item, path, findings) for item in value]
    if not isinstance(value, Mapping):
        return value
    found: dict[str, Any] = {}
    for key, item in value.items():
        kept = findings.cleaned(key, path)
        if kept in found:  # two keys that differed in hidden characters
            findings.refuse("conflicting_keys", path, key)
        found[kept] = _cleaned(item, path, findings)
    return found


READERS: dict[Kind, Reader] = {
    Kind.LINE: _text,
    Kind.TEXT: _text,
    Kind.STATUS: _word_reader(Kind.STATUS, _status, "unknown_status"),
    Kind.STATUS_OR_DELETED: _word_reader(
        Kind.STATUS_OR_DELETED, _status_or_deleted, "unknown_status"
    ),
    Kind.PRIORITY: _word_reader(Kind.PRIORITY, priority_of, "unknown_priority"),
    Kind.ID: _id,
    Kind.ID_HINT: _id_hint,
    Kind.OWN_ID: _id_hint,
    Kind.IDS: _ids,
    Kind.REF: _ref,
    Kind.REFS: _refs,
    Kind.MINUTES: _minutes,
    Kind.FLAG: _flag,
    Kind.METADATA: _metadata,
    Kind.WAITS: read_waits,
    Kind.WAITING: read_reason,
    Kind.PARENT: _parent,
    Kind.SUBTASKS: lambda value, _path, _findings: value,
}
"""The reader of each kind; lists of entries are read in `todoplan.dialogue.intake.read`."""
