"""
What a model sent, read against a tool's fields: values, mends and problems. Never an exception.

Rules: mend only what is unambiguous and whole, and say so; else refuse the whole call with every
fault, its path, what was seen and what is allowed. `null` means "not given".
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import attrs

from todoplan.core.plan.fast_constructor import fast_constructor
from todoplan.core.plan.model import Status
from todoplan.core.problems import Problem
from todoplan.dialogue.intake.cleaning import quoted
from todoplan.dialogue.intake.envelopes import arguments_in
from todoplan.dialogue.intake.fast_read import DEFER, fast_read
from todoplan.dialogue.intake.fields import Field, Kind, meant_by
from todoplan.dialogue.intake.findings import MISSING, Findings
from todoplan.dialogue.intake.jsonish import InputLimits, parse
from todoplan.dialogue.intake.repairs import Repair
from todoplan.dialogue.intake.values import READERS
from todoplan.dialogue.intake.vocabulary import checklist

__all__ = ["Intake", "read"]

_LEVELS = 3
_MOST_GUESSES = 10


@attrs.frozen(weakref_slot=False)
class Intake:
    """
    A call's arguments by target name; `values` hold only what was given and could be read.
    """

    values: Mapping[str, Any]
    repairs: tuple[Repair, ...] = ()
    problems: tuple[Problem, ...] = ()


_intake = fast_constructor(Intake)
_USUAL = InputLimits()


def read(raw: object, fields: tuple[Field, ...], limits: InputLimits | None = None) -> Intake:
    """
    Read a call's arguments: JSON text, or the mapping that a framework has made of it.
    """
    limits = limits or _USUAL
    values = fast_read(raw, fields, limits)
    return _intake(values) if values is not DEFER else _carefully(raw, fields, limits)


def _carefully(raw: object, fields: tuple[Field, ...], limits: InputLimits) -> Intake:
    parsed = parse(raw, limits)
    if isinstance(parsed, Problem):
        return Intake({}, (), (attrs.evolve(parsed, seen=quoted(parsed.seen)),))
    findings = Findings(limits, list(parsed.repairs))
    found = arguments_in(parsed.value, fields, findings)
    values = {} if found is None else _object(found, fields, "", findings)
    return Intake(values, tuple(findings.repairs), tuple(findings.problems))


def _object(
    value: Mapping[str, Any], fields: tuple[Field, ...], prefix: str, findings: Findings
) -> dict[str, Any]:
    given = _given(value, fields, prefix, findings)
    values: dict[str, Any] = {}
    for field in fields:
        path = f"{prefix}{field.name}"
        faults = len(findings.problems)
        found = _value(given[field], field, path, findings) if field in given else MISSING
        if found is not MISSING:
            values[field.target] = found
        elif field.required and not field.lenient and len(findings.problems) == faults:
            findings.problems.append(Problem("missing_field", path=path, legal=field.name))
    return values


_Given = tuple[int, str, Any]
"""How surely a key means its field, the key, and its value."""


def _given(
    value: Mapping[str, Any], fields: tuple[Field, ...], prefix: str, findings: Findings
) -> dict[Field, Any]:
    """
    Return the value of each field; of several spellings the strongest, if they do not contradict.
    """
    given: dict[Field, _Given] = {}
    for key, inner in value.items():
        field, strength = meant_by(key, fields)
        if field is None:
            _unknown(key, fields, prefix, findings)
        elif inner is not None:
            new = strength, key, inner
            old = given.get(field)
            given[field] = new if old is None else _stronger(old, new, field, prefix, findings)
    return {field: inner for field, (_, _, inner) in given.items()}


def _stronger(old: _Given, new: _Given, field: Field, prefix: str, findings: Findings) -> _Given:
    kept, other = (new, old) if new[0] > old[0] == 0 else (old, new)
    if type(old[2]) is type(new[2]) and old[2] == new[2]:
        return kept
    if kept[0] and not other[0]:
        findings.mend("ignored_key", f"{prefix}{quoted(other[1])}", other[1])
    else:
        findings.refuse("conflicting_keys", f"{prefix}{field.name}", new[1])
    return kept


def _unknown(key: str, fields: tuple[Field, ...], prefix: str, findings: Findings) -> None:
    names = [field.name for field in fields if not field.hidden]
    path = f"{prefix}{quoted(key)}"
    if findings.limits.strict:
        findings.refuse("unknown_key", path, key, ", ".join(names) or "none")
        return
    guessing = len(findings.repairs) < _MOST_GUESSES
    near = get_close_matches(key[:80], names, n=1) if guessing else []
    findings.mend("ignored_key", path, key, near[0] if near else "")


def _value(value: Any, field: Field, path: str, findings: Findings) -> Any:
    if field.kind is Kind.ITEMS:
        return _items(value, field, path, findings)
    found = READERS[field.kind](value, path, findings)
    if field.required and isinstance(found, str) and not found.strip():
        return findings.refuse("empty_text", path, value)
    return found


def _items(value: Any, field: Field, path: str, findings: Findings) -> Any:
    found = _listed(value, field, path, findings)
    if found is MISSING:
        return MISSING
    if len(found) > findings.limits.items:
        return findings.refuse("too_many", path, len(found), str(findings.limits.items))
    faults = len(findings.problems)
    read = [_item(item, field, f"{path}[{index}]", findings) for index, item in enumerate(found)]
    sound = len(findings.problems) == faults
    return [field.entry(**entry) for entry in read] if field.entry and sound else read


def _listed(value: Any, field: Field, path: str, findings: Findings) -> Any:
    """
    Return the list of entries, however it was given; `MISSING` if it is broken.
    """
    lines = checklist(value) if isinstance(value, str) else None
    if lines is not None:
        return _entries(lines, field, path, findings)
    value = _undoubled(value, field, path, findings)
    if value is MISSING or isinstance(value, list | tuple):
        return value
    findings.mend("bare_entry", path)
    return [value]


def _undoubled(value: Any, field: Field, path: str, findings: Findings) -> Any:
    """
    Return what stands inside {"todos": {"todos": ...}}, at most three times, and as a JSON text.
    """
    for _ in range(_LEVELS):
        value = findings.decoded(value, path)
        inner = _inside(value, field)
        if inner is MISSING:
            return value
        findings.mend("wrapper", path)
        value = inner
    return findings.decoded(value, path)


def _inside(value: Any, field: Field) -> Any:
    if isinstance(value, Mapping) and len(value) == 1:
        key = next(iter(value))
        return value[key] if meant_by(key, (field,))[0] is field else MISSING
    return MISSING


def _entries(
    lines: list[tuple[str, Status | None]], field: Field, path: str, findings: Findings
) -> list[dict[str, str]]:
    """
    Return the items of a checklist as entries.
    """
    findings.mend("checklist", path)
    return [_entry(*line, field) for line in lines]


def _entry(title: str, status: Status | None, field: Field) -> dict[str, str]:
    entry = {field.items[0].name: title}
    return entry if status is None else {**entry, "status": status.value}


def _item(value: Any, field: Field, path: str, findings: Findings) -> dict[str, Any]:
    if isinstance(value, str):
        value = _from_line(value, field, path, findings)
    if isinstance(value, Mapping):
        return _object(value, field.items, f"{path}.", findings)
    if value is not MISSING:
        findings.refuse("wrong_type", path, value, "an object")
    return {}


def _from_line(text: str, field: Field, path: str, findings: Findings) -> Any:
    lines = checklist(text) or []
    if len(lines) == 1:
        return _entries(lines, field, path, findings)[0]
    spelled = findings.decoded(text, path) if text.lstrip().startswith("{") else text
    return {field.items[0].name: text} if isinstance(spelled, str) else spelled
