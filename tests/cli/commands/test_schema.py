"""Printing tool definitions."""

import json

import pytest

from todoplan.cli.documents import FORMS, TOOLSETS


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_plain_is_a_schema_for_each_tool_name(invoke, toolset):
    """The default maps names to JSON Schemas of objects."""
    result = invoke("schema", toolset)
    assert result.exit_code == 0
    schemas = json.loads(result.stdout)
    assert tuple(schemas) == TOOLSETS[toolset].tool_names
    assert all(schema["type"] == "object" for schema in schemas.values())


@pytest.mark.parametrize("toolset", TOOLSETS)
@pytest.mark.parametrize("form", FORMS)
def test_every_format_names_every_tool(invoke, toolset, form):
    """No tool is lost in any provider's shape."""
    text = invoke("schema", toolset, "--format", form).stdout
    json.loads(text)
    assert all(f'"{name}"' in text for name in TOOLSETS[toolset].tool_names)


def test_providers_get_their_own_shapes(invoke):
    """Each shape has its own key for the schema; only strict says so."""
    shown = {form: invoke("schema", "todos", "--format", form).stdout for form in FORMS}
    assert '"parameters"' in shown["openai"]
    assert '"input_schema"' in shown["anthropic"]
    assert '"function_declarations"' in shown["gemini"]
    assert [form for form in FORMS if '"strict": true' in shown[form]] == ["strict"]


def test_spellings_differ(invoke):
    """`tasks` is spelled as Claude does, `tasks-snake` as AgentScope."""
    assert '"taskId"' in invoke("schema", "tasks").stdout
    assert '"task_id"' in invoke("schema", "tasks-snake").stdout
