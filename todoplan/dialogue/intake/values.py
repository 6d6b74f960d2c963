"""
Readers for each kind of field: they turn a JSON value into ours, with repairs and problems.

Read `Findings` first: it collects repairs and problems while a call is read. Next come the
functions for waiting, as models express it: a status such as "on hold", a reason, or reasons by
task id. Waiting is a field of a task and not a status, so the two must be made consistent: a
waiting task is pending, and a closed task waits for nothing. Then come the readers and their table.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from todoplan.core.plan.model import Status
from todoplan.core.plan.slots import number_of
from todoplan.core.problems import Problem
from todoplan.dialogue.intake.cleaning import clean, is_clean, leaks_field, quoted
from todoplan.dialogue.intake.fields import Kind, folded
from todoplan.dialogue.intake.parsing import InputLimits, unwrapped_text
from todoplan.dialogue.intake.repairs import GUESSES, Repair
from todoplan.dialogue.intake.vocabulary import (
    ABSENT,
    BLOCKED,
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

MISSING = object()
"""Returned by a reader for a value that is ignored or refused."""

MOST_KEPT = 1_000
"""The maximum of recorded repairs, and of problems; a megabyte of odd keys could give 100,000."""


class NotPlainError(Exception):
    """The call does not follow its schema exactly, so it must be read with repairs."""


@attrs.define
class Findings:
    """
    The repairs and problems of a call. `faults` counts all problems, including unrecorded ones.
    """

    limits: InputLimits = InputLimits()
    repairs: list[Repair] = attrs.Factory(list)
    problems: list[Problem] = attrs.Factory(list)
    faults: int = 0

    def need_care(self) -> None:
        """Mark a value as not plain; only `Plain` acts on this."""

    def repair(self, code: str, path: str, seen: object = "", used: str = "") -> None:
        """Record a repair."""
        if len(self.repairs) < MOST_KEPT or code in GUESSES:  # law 17 depends on the guesses
            self.repairs.append(Repair(code, path, quoted(seen), used))

    def refuse(self, code: str, path: str, seen: object = "", legal: str = "") -> Any:
        """Record a problem, and return `MISSING`."""
        # A counter of its own: once `problems` is full, its length no longer shows new faults.
        self.faults += 1
        if self.faults <= MOST_KEPT:
            self.problems.append(Problem(code, (), quoted(seen), legal, path))
        return MISSING

    def decoded(self, value: Any, path: str, *, expected: bool = False) -> Any:
        """
        Return the list or object encoded in a text, else the value; `MISSING` if it is broken.

        With `expected`, the schema asks for a JSON text here, so decoding one is not reported.
        """
        if not isinstance(value, str):
            return value
        found = unwrapped_text(value, self.limits)
        if isinstance(found, Problem):
            return self.refuse(found.code, path or "arguments", found.seen, found.legal)
        for repair in found.repairs:
            if repair.code != "json_text" or not expected:
                self.repair(repair.code, path)
        return found.value

    def cleaned(self, text: str, path: str) -> Any:
        """Return the cleaned text; `MISSING` if it contains another argument."""
        if is_clean(text):
            return text
        if leaks_field(text):
            return self.refuse("swallowed_field", path, text)
        kept, repairs = clean(text, path)
        for repair in repairs:
            self.repair(repair.code, path)
        return kept


class Plain(Findings):
    """
    Findings for the first pass, which raise `NotPlainError` instead of recording anything.

    The value was not validated before. A value that a reader returns without calling one of these
    methods consists of plain JSON types and is within the limits.
    """

    def __init__(self, limits: InputLimits) -> None:
        self.limits, self.faults = limits, 0

    def _refuse_all(self, *_: object, **__: object) -> Any:
        raise NotPlainError

    need_care = repair = refuse = decoded = cleaned = _refuse_all


_ID_KEYS = frozenset({"id", "taskid"})
_EDGES = frozenset({"blocked_by", "add_blocked_by"})
_WAITING_LINE = re.compile(r"#?([0-9]{1,18})(?:\s*+[:,-]|\s)\s*+(\S.*)", re.DOTALL)
_REASON_KEYS = frozenset({"for", "reason", "why", "text", "waitingfor"})
_WAITS_LEGAL = 'ids with what each waits for, such as {"3": "the answer of ann"}'


@attrs.frozen
class WaitingWord:
    """A status such as "on hold": the task is pending and waits for `reason`."""

    word: str
    reason: str


def read_reason(value: Any, path: str, findings: Findings) -> Any:
    """Read the reason why a task waits, from a key that may also contain ids, such as `needs`."""
    findings.need_care()
    if isinstance(value, str) and not all(map(id_of, ids_in(value))):
        return findings.cleaned(value.strip(), path)
    # For example ids: a whole list has no edges, and an edge is no reason for waiting.
    findings.repair("ignored_key", path, path.rpartition(".")[2])
    return MISSING


def read_waits(value: Any, path: str, findings: Findings) -> Any:
    """
    Read the reasons why tasks wait, as pairs of an id and a reason; "" ends the wait.

    Accepted are {"3": "why"}, "3 why", [{"id": 3, "for": "why"}], and lists of these.
    """
    found = findings.decoded(value, path, expected=True)
    if found is MISSING:
        return MISSING
    if isinstance(found, Mapping) and not _ID_KEYS & set(map(folded, found)):
        pairs = list(found.items())
    else:
        listed = found if isinstance(found, list | tuple) else [found]
        pairs = [_wait_in(part) for part in listed]
        findings.repair("waits", path, value)
    if len(pairs) > findings.limits.items:
        return findings.refuse("too_many", path, len(pairs), str(findings.limits.items))
    waits: dict[str, str] = {}
    for key, reason in pairs:
        task_id = id_of(key)
        if task_id is None or not isinstance(reason, str | None):
            findings.refuse("bad_id" if task_id is None else "wrong_type", path, key, _WAITS_LEGAL)
        elif task_id in waits:
            findings.refuse("duplicate_key", path, task_id)
        else:
            waits[task_id] = findings.cleaned((reason or "").strip(), path)
    return tuple(waits.items())


def _wait_in(part: Any) -> tuple[Any, Any]:
    """Return the id and the reason in an entry; the id is `None` unless both are there."""
    if isinstance(part, str) and (line := _WAITING_LINE.fullmatch(part.strip())):
        return line[1], line[2]
    if not isinstance(part, Mapping):
        return None, part
    by_word = {folded(key): inner for key, inner in part.items()}
    ids = [by_word[key] for key in sorted(_ID_KEYS & by_word.keys())]
    reasons = [by_word[key] for key in sorted(_REASON_KEYS & by_word.keys())]
    return (ids[0], reasons[0]) if ids and reasons else (None, part)


def settle_wait(values: dict[str, Any], paths: Mapping[str, str], findings: Findings) -> None:
    """
    Make status and waiting consistent: a waiting task is pending, and a closed one does not wait.
    """
    status = values.get("status")
    if isinstance(status, WaitingWord):
        values["status"] = Status.PENDING
        # "blocked" together with blockers means the edges: completing a blocker would never end a
        # wait.
        waits = "waiting" in paths and not (status.reason == BLOCKED and values.keys() & _EDGES)
        used = "pending and waiting" if waits else "pending"
        findings.repair("word", paths["status"], status.word, used)
        if waits:
            values["waiting"] = values.get("waiting") or status.reason
    elif status in {None, Status.PENDING} or not values["waiting"]:
        return
    elif status is Status.IN_PROGRESS:
        findings.repair("word", paths["status"], status, "pending and waiting")
        values["status"] = Status.PENDING
    else:
        findings.repair("ignored_key", paths["waiting"], "waiting")
        del values["waiting"]


_MOST_DIGITS = 18
_BEYOND_IDS = 10**_MOST_DIGITS
_MOST_MINUTES = 1e9  # two thousand years
_DELETING = frozenset({DELETED, "delete", "remove", "removed"})
_AT_THE_TOP = ABSENT | {"0", "root"}

Reader = Callable[[Any, str, Findings], Any]


# Each reader first checks for a value of exactly the type in the schema (a subclass may define any
# behaviour), so that nearly every value is read by one comparison; see `Plain`.


def _text(value: Any, path: str, findings: Findings) -> Any:
    if type(value) is str and is_clean(value):
        return value
    # Never str(value): converting any value to text is how `null` became the task "None".
    if isinstance(value, int | float) and not isinstance(value, bool):
        findings.repair("number_as_text", path, value, str(value))
        return str(value)
    if not isinstance(value, str):
        return findings.refuse("wrong_type", path, value, "a text")
    return findings.cleaned(value, path)


def _word_reader(kind: Kind, meaning: Callable[[str], Any], code: str) -> Reader:
    """
    Return the reader for a kind whose values are words; an unknown word is refused, not guessed.
    """
    exact, legal = EXACT_WORDS[kind], ", ".join(PUBLISHED[kind])

    def read(value: Any, path: str, findings: Findings) -> Any:
        if type(value) is str and value in exact:
            return exact[value]
        if not isinstance(value, str):
            return findings.refuse("wrong_type", path, value, f"one of {legal}")
        word = findings.cleaned(value, path)
        if word is MISSING or _is_absent(word, path, findings):
            return MISSING
        used = meaning(word)
        if used is None:
            return findings.refuse(code, path, word, legal)
        if not isinstance(used, WaitingWord):  # `settle_wait` reports it
            _report(word, used, path, findings)
        return used

    return read


def _is_absent(word: str, path: str, findings: Findings) -> bool:
    # Frameworks write Python's None as text into optional arguments (smolagents#1538). Titles are
    # not checked, since a title may be such a word.
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


def _plain_id(value: Any) -> str | None:
    if type(value) is str:  # the length first, since `number_of` caches its arguments
        return value if len(value) <= _MOST_DIGITS and number_of(value) else None
    return str(value) if type(value) is int and 0 < value < _BEYOND_IDS else None


def _plain_ref(value: Any) -> str | None:
    return value if type(value) is str and is_reference(value) else _plain_id(value)


def _id(value: Any, path: str, findings: Findings) -> Any:
    plain = _plain_id(value)
    if plain is not None:
        return plain
    word = findings.cleaned(value, path) if isinstance(value, str) else value
    if isinstance(word, str) and _is_absent(word, path, findings):
        return MISSING
    found = None if word is MISSING else id_of(word)
    if found is None:
        return findings.refuse("bad_id", path, value, 'an id such as "3"')
    if isinstance(word, str):
        _report(word, found, path, findings)
    return found


def _id_hint(value: Any, path: str, findings: Findings) -> Any:
    """
    Read an id of the model's own numbering, such as "2.1", which need not be an id of the plan.
    """
    return _plain_id(value) or _own_id(value, path, findings)


def _own_id(value: Any, _path: str, findings: Findings) -> Any:
    findings.need_care()  # references to it are resolved once all entries are read
    fits = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value).strip() if fits else MISSING


def _parent(value: Any, path: str, findings: Findings) -> Any:
    """Read an entry's reference to its parent, by id or by title; "" for a top-level entry."""
    findings.need_care()
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return findings.refuse("wrong_type", path, value, "the id of an entry of the list")
    word = str(value).strip()
    return "" if word.casefold() in _AT_THE_TOP else word


def _ids(
    value: Any,
    path: str,
    findings: Findings,
    read_one: Reader = _id,
    plain: Callable[[Any], str | None] = _plain_id,
) -> Any:
    """Read a list of ids in any form: 7, "1, 2", [[7]], [{"id": 7}]; duplicates are removed."""
    if type(value) is list and len(value) <= findings.limits.items:
        found = dict.fromkeys(map(plain, value))
        if None not in found and len(found) == len(value):
            return tuple(found)
    value = findings.decoded(value, path)
    if value is MISSING:
        return MISSING
    # A part that is no id refuses the call: AgentScope drops unknown blockers, so the task starts
    # too early.
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
    """Return the single value in [7] or {"id": 7}; anything else unchanged."""
    if isinstance(part, list | tuple) and len(part) == 1:
        return part[0]
    if isinstance(part, Mapping) and len(part) == 1:
        return next((inner for key, inner in part.items() if folded(key) in _ID_KEYS), part)
    return part


def _refs(value: Any, path: str, findings: Findings) -> Any:
    return _ids(value, path, findings, _ref, _plain_ref)


def _ref(value: Any, path: str, findings: Findings) -> Any:
    return _plain_ref(value) or _id(value, path, findings)


def _minutes(value: Any, path: str, findings: Findings) -> Any:
    if type(value) in (int, float) and 0 <= value < _MOST_MINUTES:
        return value
    findings.need_care()
    given = value
    # float() accepts the digits of every script, and reads "1_0" as 10; only ASCII digits are
    # accepted here.
    if isinstance(value, str) and value.isascii() and len(value) <= _MOST_DIGITS:
        try:
            value = None if "_" in value else float(value)
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return findings.refuse("wrong_type", path, given, "a number of minutes")
    if not 0 <= value < _MOST_MINUTES or not math.isfinite(value):
        return findings.refuse("bad_number", path, given, "minutes from 0 up")
    findings.repair("word", path, given, str(value))  # a number in range was returned above
    return value


# A fixed table, since bool("false") is true.
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}


def _flag(value: Any, path: str, findings: Findings) -> Any:
    if type(value) is bool:
        return value
    if isinstance(value, str | int) and quoted(value).casefold() in _FLAGS:
        used = _FLAGS[quoted(value).casefold()]
        findings.repair("word", path, value, str(used).lower())
        return used
    return findings.refuse("wrong_type", path, value, "true or false")


def _subtasks(value: Any, _path: str, findings: Findings) -> Any:
    findings.need_care()
    return value


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
    # No check of depth: `parse` allows at most `limits.depth` levels.
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
    Kind.OWN_ID: _own_id,
    Kind.IDS: _ids,
    Kind.REF: _ref,
    Kind.REFS: _refs,
    Kind.MINUTES: _minutes,
    Kind.FLAG: _flag,
    Kind.METADATA: _metadata,
    Kind.WAITS: read_waits,
    Kind.WAITING: read_reason,
    Kind.PARENT: _parent,
    Kind.SUBTASKS: _subtasks,
}
"""The reader of each kind. Lists of entries are read in `todoplan.dialogue.intake.read`."""
