"""What a call's arguments stand in: wrappers, texts, a bare list or entry instead of an object."""

from collections.abc import Mapping
from typing import Any

from todoplan.dialogue.intake.fields import Field, Kind, meant_by
from todoplan.dialogue.intake.findings import MISSING, Findings
from todoplan.dialogue.intake.vocabulary import checklist

__all__ = ["arguments_in"]

_WRAPPERS = (
    "arguments",
    "input",
    "parameters",
    "args",
    "params",
    "kwargs",
    "tool_input",
    "function",
)
_NAMES = frozenset({"name", "tool", "tool_name", "function", "type", "id"})
_LEVELS = 3


def arguments_in(
    value: Any, fields: tuple[Field, ...], findings: Findings
) -> Mapping[str, Any] | None:
    """
    Return a call's arguments by key, however they were packed; `None` if that cannot be told.
    """
    value = _bare(value, fields, findings)
    if value is MISSING:
        return None
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        return _adopted(value, fields, findings)
    return _as_list(value, fields, findings)


def _bare(value: Any, fields: tuple[Field, ...], findings: Findings) -> Any:
    """
    Return the arguments out of at most three wrappers, such as {"arguments": {...}}.
    """
    for _ in range(_LEVELS):
        value = findings.decoded(value, "")
        key = _wrapper(value, fields)
        if key is None:
            return value
        if isinstance(value[key], Mapping) and any(near != key for near in value.keys() - _NAMES):
            return findings.refuse("wrapper_siblings", "arguments", key)
        findings.mend("wrapper", "")
        value = value[key]
    value = findings.decoded(value, "")
    if _wrapper(value, fields) is None:
        return value
    return findings.refuse("too_deep", "arguments", "", str(_LEVELS))


def _wrapper(value: Any, fields: tuple[Field, ...]) -> str | None:
    if not isinstance(value, Mapping):
        return None
    alone = len(value.keys() - _NAMES) <= 1
    for key in _WRAPPERS:
        if key in value and meant_by(key, fields)[0] is None:
            inner = value[key]
            if isinstance(inner, Mapping) or (alone and _may_wrap(key, inner)):
                return key
    return None


def _may_wrap(key: str, inner: Any) -> bool:
    return key not in _NAMES and (inner is None or isinstance(inner, str | list | tuple))


def _list_field(fields: tuple[Field, ...]) -> Field | None:
    """
    Return the tool's one list of entries; `None` if it has several, and a bare one could be any.
    """
    lists = [field for field in fields if field.kind is Kind.ITEMS]
    return lists[0] if len(lists) == 1 else None


def _adopted(value: Any, fields: tuple[Field, ...], findings: Findings) -> Mapping[str, Any] | None:
    """
    Take a bare list, or a checklist, as the tool's one list.
    """
    field = _list_field(fields)
    listed = isinstance(value, list | tuple) or (isinstance(value, str) and checklist(value))
    if field is None or not listed:
        findings.refuse("wrong_type", "arguments", value, "an object")
        return None
    findings.mend("bare_list", field.name)
    return {field.name: value}


def _as_list(
    value: Mapping[str, Any], fields: tuple[Field, ...], findings: Findings
) -> Mapping[str, Any]:
    """
    Take a bare entry, {"content": ..., "status": ...}, as a list of one.
    """
    field = _list_field(fields)
    if field is None or not value or any(meant_by(key, fields)[0] for key in value):
        return value
    if not any(meant_by(key, field.items)[1] > 0 for key in value):
        return value
    findings.mend("bare_entry", field.name)
    return {field.name: [value]}
