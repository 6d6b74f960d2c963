"""
What a call's arguments, and a list in them, came in: wrappers, texts, a list or an entry alone.

Every way of packing here was seen from a model or a framework, and each is reported. Which of them
guess what the container is, and what that forbids, is in `todoplan.dialogue.intake.repairs`.
"""

from collections.abc import Mapping
from typing import Any

from todoplan.dialogue.intake.fields import Field, Kind, meant_by
from todoplan.dialogue.intake.findings import MISSING, Findings
from todoplan.dialogue.intake.vocabulary import Line, checklist

__all__ = ["arguments_in", "entries_in", "entry_in"]

# openclaw#142304, ollama#11805, hermes#100979: the call's own envelope instead of its arguments.
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
# What may stand beside a wrapper: the rest of the envelope.
# "function" holds the whole call in OpenAI's envelope, and only a name in others.
_NAMES = frozenset({"name", "tool", "tool_name", "function", "type", "id"})
_LEVELS = 3


def arguments_in(
    value: Any, fields: tuple[Field, ...], findings: Findings
) -> Mapping[str, Any] | None:
    """
    Return a call's arguments by key, however they were packed; `None` if that cannot be told.
    """
    value = _unwrapped(value, fields, findings)
    # No arguments (agno#4604, hermes#112120) are an empty object: what is required is then named.
    if value is None or value is MISSING:
        return {} if value is None else None
    # Of several lists of entries a bare list, or a bare entry, could be any.
    lists = [field for field in fields if field.kind is Kind.ITEMS and not field.hidden]
    field = lists[0] if len(lists) == 1 else None
    if not isinstance(value, Mapping):
        listed = isinstance(value, list | tuple) or (isinstance(value, str) and checklist(value))
        if field is None or not listed:
            findings.refuse("wrong_type", "arguments", value, "an object")
            return None
        findings.repair("bare_list", field.name)
        return {field.name: value}
    named = any(meant_by(key, fields)[0] for key in value)
    # A weak spelling alone ("description", strength 0) is no sign of an entry.
    if named or field is None or not any(meant_by(key, field.items)[1] > 0 for key in value):
        return value
    findings.repair("bare_entry", field.name)
    return {field.name: [value]}


def _unwrapped(value: Any, fields: tuple[Field, ...], findings: Findings) -> Any:
    """
    Return the arguments out of at most three wrappers, such as {"arguments": {...}}.
    """
    for _ in range(_LEVELS):
        value = findings.decoded(value, "")
        key = _wrapper(value, fields)
        if key is None:
            return value
        # Of {"arguments": {...}, "drop": [2]} one half would be lost, so that neither is taken.
        if isinstance(value[key], Mapping) and any(near != key for near in value.keys() - _NAMES):
            return findings.refuse("wrapper_siblings", "arguments", key)
        findings.repair("wrapper", "")
        value = value[key]
    value = findings.decoded(value, "")
    if _wrapper(value, fields) is None:
        return value
    return findings.refuse("too_deep", "arguments", "", str(_LEVELS))


def _wrapper(value: Any, fields: tuple[Field, ...]) -> str | None:
    """
    Return the key of a wrapper; `None` where there is none. A field of the tool is never one.
    """
    if not isinstance(value, Mapping):
        return None
    # A text or a list under "input" may be an argument of some tool: it is a wrapper only alone.
    alone = len(value.keys() - _NAMES) <= 1
    for key in _WRAPPERS:
        if key in value and meant_by(key, fields)[0] is None:
            inner = value[key]
            if isinstance(inner, Mapping):
                return key
            if alone and key not in _NAMES and (inner is None or isinstance(inner, str | list)):
                return key
    return None


def entries_in(value: Any, field: Field, path: str, findings: Findings) -> Any:
    """
    Return the list of entries, however it was given; `MISSING` if it is none, or broken. Of a
    checklist the entries are `Line`s.

    Taken out of {"todos": {"todos": ...}} three times at most. A text that is neither the JSON or
    Python spelling of a list nor plainly a checklist is refused: "null", "same as before" and
    "[object Object]" were titles once, and emptied the plan around them.
    """
    value = findings.decoded(value, path)
    for _ in range(_LEVELS):
        if not isinstance(value, Mapping) or len(value) != 1:
            break
        ((key, inner),) = value.items()
        if meant_by(key, (field,))[0] is None:
            break
        findings.repair("wrapper", path)
        value = findings.decoded(inner, path)
    if isinstance(value, str):
        lines = checklist(value)
        if lines is None:
            return findings.refuse("no_list", path, value)
        findings.repair("checklist", path)
        return lines
    if value is MISSING or isinstance(value, list | tuple):
        return value
    findings.repair("bare_entry", path)
    return [value]


def entry_in(item: str | Line, field: Field, path: str, findings: Findings) -> Any:
    """
    Return the entry that a text in a list is: a title, with a box before it or none, or JSON.
    """
    title = field.items[0].name
    if isinstance(item, Line):
        return {title: item.title, **({"status": item.status} if item.status else {})}
    lines = checklist(item) or []
    if len(lines) == 1:
        findings.repair("box", path)
        return entry_in(lines[0], field, path, findings)
    # A title may begin with "[": only an object is looked for in a text that stands for an entry.
    spelled = findings.decoded(item, path) if item.lstrip().startswith("{") else item
    return {title: item} if isinstance(spelled, str) else spelled
