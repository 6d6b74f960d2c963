"""JSON Schema (draft 2020-12) of a tool's arguments, plain or for OpenAI's strict mode."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from todoplan.dialogue.intake.fields import Field, Kind
from todoplan.dialogue.intake.vocabulary import PUBLISHED

__all__ = ["arguments_schema"]

About = Callable[[str], str]
"""Maps a field's path of target names ("todos.active_form") to its description, or ""."""


_TEXT: dict[str, Any] = {"type": "string"}
_LIST: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
_SHAPES: dict[Kind, dict[str, Any]] = {
    Kind.LINE: _TEXT,
    Kind.TEXT: _TEXT,
    **{kind: {"type": "string", "enum": [*words]} for kind, words in PUBLISHED.items()},
    Kind.ID: _TEXT,
    Kind.ID_HINT: _TEXT,
    Kind.REF: _TEXT,
    Kind.IDS: _LIST,
    Kind.REFS: _LIST,
    Kind.MINUTES: {"type": "number"},
    Kind.FLAG: {"type": "boolean"},
    Kind.METADATA: {"type": "object"},
    Kind.WAITS: {"type": "object"},
}
_STRICT_SHAPES = {**_SHAPES, Kind.METADATA: _TEXT, Kind.WAITS: _TEXT}
_NUMERIC_SHAPES: dict[Kind, dict[str, Any]] = {
    Kind.ID: {"type": "integer"},
    Kind.IDS: {"type": "array", "items": {"type": "integer"}},
}


def arguments_schema(
    fields: tuple[Field, ...], about: About = lambda _: "", *, strict: bool = False
) -> dict[str, Any]:
    """
    Return the schema of an object with these fields.

    With `strict`, every property is required, optional ones may be null, and no other property is
    allowed. A free object becomes a string with JSON, since strict mode has no free objects. A
    field is then described by `about(path + ".strict")` if there is such a text.
    """

    def of_object(fields: tuple[Field, ...], prefix: str) -> dict[str, Any]:
        shown = [field for field in fields if not field.hidden]
        properties = {field.name: of_field(field, f"{prefix}{field.target}") for field in shown}
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        required = [field.name for field in shown if strict or field.required]
        if required or strict:  # OpenAI requires the key even if the list is empty
            schema["required"] = required
        if strict:
            schema["additionalProperties"] = False
        return schema

    def of_field(field: Field, path: str) -> dict[str, Any]:
        inner = [item for item in field.items if not item.hidden]
        if len(inner) == 1:  # entries with only a title are sent as strings: fewer tokens
            shape = _LIST
        elif inner:
            shape = {"type": "array", "items": of_object(field.items, f"{path}.")}
        else:
            shapes = _NUMERIC_SHAPES if field.numeric else _STRICT_SHAPES if strict else _SHAPES
            shape = shapes[field.kind]
        shape = deepcopy(shape)  # the caller may change the schema
        # No `default`: strict mode refused one for long, and Azure still does (openai-agents#4390).
        if description := (strict and about(f"{path}.strict")) or about(path):
            shape["description"] = description
        if strict and not field.required:
            shape["type"] = [shape["type"], "null"]
            # OpenAI refuses a nullable enum whose values do not include null.
            if "enum" in shape:
                shape["enum"] = [*shape["enum"], None]
        return shape

    return of_object(fields, "")
