"""
What a model sent, read against a tool's fields: values, mends and problems. Never an exception.

Rules: mend only what is unambiguous and whole, and say so; else refuse the whole call with every
fault, its path, what was seen and what is allowed. `null` means "not given".
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import attrs

from todoplan.core.problems import Problem
from todoplan.dialogue.cleaning import quoted
from todoplan.dialogue.fields import Field, Kind, find_field, folded
from todoplan.dialogue.jsonish import InputLimits, parse, unwrapped_text
from todoplan.dialogue.repairs import Repair
from todoplan.dialogue.values import MISSING, READERS, Notes
from todoplan.dialogue.vocabulary import checklist

__all__ = ["Intake", "read"]

_WRAPPERS = ("arguments", "input", "parameters", "args", "params", "kwargs", "tool_input")
_NAMES = frozenset({"name", "tool", "tool_name", "function", "type", "id"})
_LEVELS = 3


@attrs.frozen
class Intake:
    """
    A call's arguments by target name; `values` hold only what was given and could be read.
    """

    values: Mapping[str, Any]
    repairs: tuple[Repair, ...] = ()
    problems: tuple[Problem, ...] = ()


def read(raw: object, fields: tuple[Field, ...], limits: InputLimits | None = None) -> Intake:
    """
    Read a call's arguments: JSON text, or the mapping that a framework has made of it.
    """
    limits = limits or InputLimits()
    parsed = parse(raw, limits)
    if isinstance(parsed, Problem):
        return Intake({}, (), (attrs.evolve(parsed, seen=quoted(parsed.seen)),))
    notes = Notes(limits, list(parsed.repairs))
    found = _root(parsed.value, fields, notes)
    values = {} if found is None else _object(found, fields, "", notes)
    return Intake(values, tuple(notes.repairs), tuple(notes.problems))


def _root(value: Any, fields: tuple[Field, ...], notes: Notes) -> Mapping[str, Any] | None:
    for _ in range(_LEVELS):
        value = _decoded(value, "", notes)
        inner = _unwrapped(value, fields)
        if inner is value:
            break
        notes.mend("wrapper", "")
        value = inner
    if value is None:
        return {}
    adopted = value if isinstance(value, Mapping) else _adopted(value, fields, notes)
    if adopted is None:
        notes.refuse("wrong_type", "", value, "an object")
    return _as_list(adopted, fields, notes) if adopted is not None else None


def _decoded(value: Any, path: str, notes: Notes) -> Any:
    found = unwrapped_text(value, notes.limits)
    notes.repairs.extend(attrs.evolve(repair, path=path) for repair in found.repairs)
    return found.value


def _unwrapped(value: Any, fields: tuple[Field, ...]) -> Any:
    """
    Return what stands inside {"arguments": {...}}, {"name": ..., "input": ...} or a doubled key.
    """
    if not isinstance(value, Mapping):
        return value
    rest = [key for key in value if key not in _NAMES or _field(key, fields)[0] is not None]
    if len(rest) != 1:
        return value
    key, inner = rest[0], value[rest[0]]
    field, _ = _field(key, fields)
    if field is None and key in _WRAPPERS and (isinstance(inner, Mapping | str) or inner is None):
        return inner
    if field is not None and field.kind is Kind.ITEMS and isinstance(inner, Mapping):
        same = [name for name in inner if _field(name, fields)[0] is field]
        return inner if same and len(inner) == len(same) else value
    return value


def _list_field(fields: tuple[Field, ...]) -> Field | None:
    return next((field for field in fields if field.kind is Kind.ITEMS), None)


def _adopted(value: Any, fields: tuple[Field, ...], notes: Notes) -> Mapping[str, Any] | None:
    """
    Take a bare list, or a checklist, as the tool's one list.
    """
    field = _list_field(fields)
    listed = isinstance(value, list | tuple) or (isinstance(value, str) and checklist(value))
    if field is None or not listed:
        return None
    notes.mend("bare_list", field.name)
    return {field.name: value}


def _as_list(
    value: Mapping[str, Any], fields: tuple[Field, ...], notes: Notes
) -> Mapping[str, Any] | None:
    """
    Take a bare entry, {"content": ..., "status": ...}, as a list of one.
    """
    field = _list_field(fields)
    if field is None or not value or any(_field(key, fields)[0] for key in value):
        return value
    if not any(_field(key, field.items)[1] > 0 for key in value):
        return value
    notes.mend("bare_entry", field.name)
    return {field.name: [value]}


def _field(key: str, fields: tuple[Field, ...]) -> tuple[Field | None, int]:
    return find_field(fields).get(folded(key), (None, -1))


def _object(
    value: Mapping[str, Any], fields: tuple[Field, ...], prefix: str, notes: Notes
) -> dict[str, Any]:
    given = _given(value, fields, prefix, notes)
    values: dict[str, Any] = {}
    for field in fields:
        path = f"{prefix}{field.name}"
        if field in given:
            found = _value(given[field], field, path, notes)
            if found is not MISSING:
                values[field.target] = found
        elif field.required and not field.lenient:
            notes.problems.append(Problem("missing_field", path=path, legal=field.name))
    return values


def _given(
    value: Mapping[str, Any], fields: tuple[Field, ...], prefix: str, notes: Notes
) -> dict[Field, Any]:
    """
    Return the value of each field; of several spellings the strongest, if they do not contradict.
    """
    given: dict[Field, tuple[int, Any]] = {}
    for key, inner in value.items():
        field, strength = _field(key, fields)
        if field is None:
            _unknown(key, fields, prefix, notes)
        elif inner is None:
            continue
        elif field not in given or strength > given[field][0] == 0:
            given[field] = (strength, inner)
        elif strength and inner != given[field][1]:
            notes.refuse("conflicting_keys", f"{prefix}{field.name}", key)
    return {field: inner for field, (_, inner) in given.items()}


def _unknown(key: str, fields: tuple[Field, ...], prefix: str, notes: Notes) -> None:
    names = [field.name for field in fields if not field.hidden]
    near = get_close_matches(key[:80], names, n=1)
    notes.mend("ignored_key", f"{prefix}{quoted(key)}", key, near[0] if near else "")


def _value(value: Any, field: Field, path: str, notes: Notes) -> Any:
    if field.kind is Kind.ITEMS:
        return _items(value, field, path, notes)
    return READERS[field.kind](value, path, notes)


def _items(value: Any, field: Field, path: str, notes: Notes) -> Any:
    value = _decoded(value, path, notes)
    if isinstance(value, str):
        value = _from_text(value, field, path, notes)
    elif not isinstance(value, list | tuple):
        notes.mend("bare_entry", path)
        value = [value]
    if len(value) > notes.limits.items:
        return notes.refuse("too_many", path, len(value), str(notes.limits.items))
    return [_item(item, field, f"{path}[{index}]", notes) for index, item in enumerate(value)]


def _from_text(text: str, field: Field, path: str, notes: Notes) -> list[Any]:
    title = field.items[0].name
    listed = checklist(text)
    notes.mend("checklist" if listed else "bare_entry", path)
    if listed is None:
        return [text]
    return [{title: line, "status": status.value} for line, status in listed]


def _item(value: Any, field: Field, path: str, notes: Notes) -> dict[str, Any]:
    if isinstance(value, str):
        spelled = _decoded(value, path, notes)
        value = spelled if isinstance(spelled, Mapping) else {field.items[0].name: value}
    if not isinstance(value, Mapping):
        notes.refuse("wrong_type", path, value, "an object")
        return {}
    return _object(value, field.items, f"{path}.", notes)
