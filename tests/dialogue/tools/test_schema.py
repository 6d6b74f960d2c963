"""Schemas: valid draft 2020-12, and in strict mode as OpenAI wants them."""

import json

import pytest
from jsonschema import Draft202012Validator
from support.talk import TOOLSETS

from todoplan.dialogue.intake import Field, Kind
from todoplan.dialogue.tools import TASKS, arguments_schema

BOTH = [(toolset, strict) for toolset in TOOLSETS for strict in (False, True)]
FORBIDDEN = {"default", "allOf", "oneOf", "not", "if", "then", "else", "patternProperties", "$ref"}


def objects(schema):
    """Yield every schema of an object within a schema."""
    if schema.get("type") in ("object", ["object", "null"]):
        yield schema
    for inner in (*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])):
        yield from objects(inner)


@pytest.mark.parametrize(("toolset", "strict"), BOTH)
def test_schemas_are_valid(toolset, strict):
    """Each is draft 2020-12 with an object at its root, and plain JSON."""
    for definition in toolset.definitions(strict=strict):
        Draft202012Validator.check_schema(definition.schema)
        assert definition.schema["type"] == "object"
        assert json.loads(json.dumps(definition.schema)) == definition.schema
        assert definition.description


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_strict_schemas_follow_the_rules(toolset):
    """All properties are required, nothing else is allowed, optional ones may be null."""
    for tool, definition in zip(toolset.tools, toolset.definitions(strict=True), strict=True):
        assert not FORBIDDEN & set(json.dumps(definition.schema).replace('"', " ").split())
        for schema in objects(definition.schema):
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])
        required = {field.name for field in tool.fields if field.required}
        for name, inner in definition.schema["properties"].items():
            assert (name in required) != (
                isinstance(inner["type"], list) and "null" in inner["type"]
            )
            assert "enum" not in inner or (name in required) != (None in inner["enum"])


def test_a_property_that_is_nullable_leaves_the_shared_shapes_alone():
    """Asking for a strict schema does not change the plain one."""
    before = [d.schema for d in TASKS.definitions()]
    TASKS.definitions(strict=True)
    assert [d.schema for d in TASKS.definitions()] == before
    assert arguments_schema(()) == {"type": "object", "properties": {}}


def test_a_description_is_asked_for_by_the_path_of_the_field():
    """Also within a list of objects."""
    step = (Field("title", "subject", Kind.LINE), Field("note", "note", Kind.TEXT))
    schema = arguments_schema((Field("steps", "tasks", Kind.ITEMS, items=step),), about=str)
    steps = schema["properties"]["steps"]
    inner = steps["items"]["properties"]
    told = [part["description"] for part in (steps, inner["title"], inner["note"])]
    assert told == ["tasks", "tasks.subject", "tasks.note"]
