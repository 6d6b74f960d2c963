"""The shapes: what a client is told of tools, results and plans."""

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.talk import BOXES, TOOLSETS, valid

from todoplan.adapters.mcp import make_tools, result_of
from todoplan.adapters.mcp.server import OUTPUT_SCHEMA
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, tasks


def wire(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


@pytest.mark.parametrize("box", BOXES)
def test_tools_are_those_of_the_tool_set(box):
    """Names, descriptions and schemas are the tool set's own, of a toolbox or of the set itself."""
    tools = list(map(wire, make_tools(box, structured=True)))
    for tool, definition in zip(tools, box.toolset.definitions(), strict=True):
        assert (tool["name"], tool["description"]) == (definition.name, definition.description)
        assert tool["inputSchema"] == definition.schema
        assert tool["outputSchema"] == OUTPUT_SCHEMA
        assert tool["_meta"] == {"anthropic/alwaysLoad": True}
    plain = list(map(wire, make_tools(box.toolset)))
    assert plain == [{key: tool[key] for key in tool if key != "outputSchema"} for tool in tools]


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_lenient_schemas_let_synonyms_pass(toolset):
    """What a host would refuse by the schema, our intake repairs; types and descriptions stay."""
    strict, loose = (
        {tool.name: wire(tool)["inputSchema"] for tool in make_tools(toolset, lenient=lenient)}
        for lenient in (False, True)
    )
    assert [*loose] == [*strict]
    for name, schema in loose.items():
        text = json.dumps(schema)
        assert '"enum":' not in text
        assert '"required":' not in text
        for key, part in strict[name]["properties"].items():
            assert schema["properties"][key]["type"] == part["type"]
            assert part.get("description", "") in schema["properties"][key].get("description", "")


def test_a_lenient_list_takes_other_words():
    """The legal words are named where a model reads them."""
    loose, strict = (
        wire(make_tools(TODOS, lenient=lenient)[0])["inputSchema"] for lenient in (True, False)
    )
    sloppy = {"todos": [{"title": "Dig", "status": "done"}]}
    jsonschema.validate(sloppy, loose)
    status = loose["properties"]["todos"]["items"]["properties"]["status"]
    assert status["description"] == "pending, in_progress, completed, cancelled"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(sloppy, strict)


def test_annotations_say_what_a_tool_may_do():
    """Reading changes nothing, creating destroys nothing, a list may be written twice."""
    hints = {}
    for toolset in (TODOS, tasks(), LEAN):
        for tool in map(wire, make_tools(toolset)):
            notes = tool["annotations"]
            assert notes["openWorldHint"] is False
            names = ("readOnlyHint", "destructiveHint", "idempotentHint")
            hints[tool["name"]] = tuple(notes[name] for name in names)
    assert hints == {
        "write_todos": (False, True, True),
        "read_todos": (True, False, True),
        "TaskCreate": (False, False, False),
        "TaskGet": (True, False, True),
        "TaskList": (True, False, True),
        "TaskUpdate": (False, True, False),
        "plan": (False, True, False),
    }
    renamed = wire(make_tools(tasks().renamed(TaskCreate="add_step"))[0])
    assert (renamed["name"], renamed["annotations"]["destructiveHint"]) == ("add_step", False)


def touched(before, after):
    """Return the ids of the tasks that differ between two plans."""
    ids = {task.id for task in before} | {task.id for task in after}
    return {each for each in ids if before.get(each) != after.get(each)}


@given(st.data())
def test_data_tells_the_plan_and_what_changed(data):
    """It is of its schema, its figures are the plan's, and no task that changed is left out."""
    box, plan = data.draw(st.sampled_from(BOXES)), Plan()
    for _ in range(data.draw(st.integers(1, 5))):
        tool = data.draw(st.sampled_from(box.toolset.tools))
        reply = box.call(plan, tool.key, data.draw(valid(tool.fields)))
        result = wire(result_of(reply, "garden", structured=True))
        assert result["content"] == [{"type": "text", "text": reply.text}]
        assert result["isError"] is reply.is_error
        assert ("structuredContent" in result) is not reply.is_error
        if not reply.is_error:
            told = result["structuredContent"]
            jsonschema.validate(told, OUTPUT_SCHEMA)
            assert (told["text"], told["plan"]) == (reply.text, "garden")
            assert (told["revision"], sum(told["counts"].values())) == (
                reply.plan.revision,
                len(reply.plan),
            )
            assert touched(plan, reply.plan) <= set(told["changed"])
            assert len(told["changed"]) == len(set(told["changed"]))
        plan = reply.plan


def test_a_new_order_touches_no_task():
    """It names every task of the plan, and none is another one than before."""
    box, plan = Toolbox(TODOS), Plan()
    for order in ("ab", "ba"):
        todos = [{"content": content, "status": "pending"} for content in order]
        reply = box.call(plan, "write_todos", {"todos": todos})
        plan = reply.plan
    assert reply.events
    assert wire(result_of(reply, "garden", structured=True))["structuredContent"]["changed"] == []
