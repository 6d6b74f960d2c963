"""JSON Schema (draft 2020-12) of a tool's arguments, plain or as OpenAI's strict mode wants it."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from todoplan.core.plan.model import Priority, Status
from todoplan.dialogue.intake.fields import Field, Kind
from todoplan.dialogue.intake.vocabulary import DELETED

__all__ = ["arguments_schema"]

About = Callable[[str], str]
"""From a field's path of targets ("todos.active_form") to its description, or ""."""


def _strings(words: list[str]) -> dict[str, Any]:
    return {"type": "string", "enum": words}


_STATUSES = [status.value for status in Status]
_TEXT: dict[str, Any] = {"type": "string"}
_LIST: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
_SHAPES: dict[Kind, dict[str, Any]] = {
    Kind.LINE: _TEXT,
    Kind.TEXT: _TEXT,
    Kind.STATUS: _strings(_STATUSES),
    Kind.STATUS_OR_DELETED: _strings([*_STATUSES, DELETED]),
    Kind.PRIORITY: _strings([priority.value for priority in Priority]),
    Kind.ID: _TEXT,
    Kind.ID_HINT: _TEXT,
    Kind.IDS: _LIST,
    Kind.REFS: _LIST,
    Kind.MINUTES: {"type": "number"},
    Kind.FLAG: {"type": "boolean"},
    Kind.METADATA: {"type": "object"},
}


def arguments_schema(
    fields: tuple[Field, ...], about: About = lambda _: "", *, strict: bool = False
) -> dict[str, Any]:
    """
    Return the schema of an object with these fields.

    `strict`: every property is required, optional ones may be null, nothing else is allowed, and
    free-form metadata is a JSON text (a free object can never be strict). A field is then described
    by `about(path + ".strict")` if there is such a text.
    """
    return _object(fields, about, "", strict)


def _object(fields: tuple[Field, ...], about: About, prefix: str, strict: bool) -> dict[str, Any]:  # noqa: FBT001 - passed on
    shown = [field for field in fields if not field.hidden]
    properties = {field.name: _property(field, about, prefix, strict) for field in shown}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    required = [field.name for field in shown if strict or field.required]
    if required or strict:
        schema["required"] = required
    if strict:
        schema["additionalProperties"] = False
    return schema


def _property(field: Field, about: About, prefix: str, strict: bool) -> dict[str, Any]:  # noqa: FBT001 - passed on
    path = f"{prefix}{field.target}"
    shape = deepcopy(_shape(field, about, path, strict))  # a schema is the caller's to change
    description = (strict and about(f"{path}.strict")) or about(path)
    if description:
        shape["description"] = description
    return _nullable(shape) if strict and not field.required else shape


def _shape(field: Field, about: About, path: str, strict: bool) -> dict[str, Any]:  # noqa: FBT001 - passed on
    if field.kind is Kind.ITEMS:
        shown = [item for item in field.items if not item.hidden]
        if len(shown) == 1:
            return _LIST
        return {"type": "array", "items": _object(field.items, about, f"{path}.", strict)}
    if field.numeric:
        number = {"type": "integer"}
        return number if field.kind is Kind.ID else {"type": "array", "items": number}
    if strict and field.kind is Kind.METADATA:
        return _TEXT
    return _SHAPES[field.kind]


def _nullable(shape: dict[str, Any]) -> dict[str, Any]:
    shape["type"] = [shape["type"], "null"]
    if "enum" in shape:
        shape["enum"] = [*shape["enum"], None]
    return shape
