"""The shapes of the OpenAI Responses API, against the SDK's own types."""

import pytest
from openai.types.responses import FunctionToolParam, Response, ResponseInputItemParam
from openai.types.responses.response_input_item_param import FunctionCallOutput
from pydantic import TypeAdapter
from support.wires import RESPONSES, numbered

from todoplan.adapters.functions.openai_responses import (
    answer,
    calls_in,
    make_tools,
    results_of,
    with_reminder,
)
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Call
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, tasks

WRITE = '{"todos": [{"content": "a", "status": "pending"}]}'


@pytest.mark.parametrize("toolset", [TODOS, tasks(), tasks("snake"), LEAN], ids=lambda s: s.name)
@pytest.mark.parametrize("strict", [False, True])
def test_definitions_are_the_sdks(toolset, strict):
    """
    Every set, plain and strict; `strict` is always said, for the API's own default is true.
    """
    made = make_tools(toolset, strict=strict)
    assert TypeAdapter(list[FunctionToolParam]).validate_python(made) == made
    assert [tool["name"] for tool in made] == list(toolset.tool_names)
    assert {tool["strict"] for tool in made} == {strict}
    closed = {tool["parameters"].get("additionalProperties") for tool in made}
    assert closed == {False if strict else None}


def test_results_are_output_items():
    """
    One item for each call; an error is told by its text.
    """
    turn = Toolbox().turn(Plan(), [Call("write_todos", WRITE, "c1"), Call("nope", {}, "c2")])
    made = results_of(turn)
    assert TypeAdapter(list[FunctionCallOutput]).validate_python(made) == made
    assert [item["call_id"] for item in made] == ["c1", "c2"]
    assert made[1]["output"] == turn.replies[1].text


def test_the_output_items_serve_as_well():
    """
    A response, its dict, and the list of its items hold the same calls, by their call ids.
    """
    response = RESPONSES.respond(numbered([("read_todos", {})]))
    assert isinstance(response, Response)
    found = calls_in(TODOS, response)
    assert found == calls_in(TODOS, response.output) == calls_in(TODOS, response.to_dict())
    assert found == (Call("read_todos", "{}", "call_0"),)


@pytest.mark.parametrize("arguments", ['{"todos": [{"cont', "sure, here it is", None, ""])
def test_malformed_arguments_are_answered_with_an_error(arguments):
    """
    The model is told what was wrong, under the id of its call.
    """
    item = {"type": "function_call", "call_id": "c1", "name": "write_todos", "arguments": arguments}
    answered = answer(Toolbox(), Plan(), {"output": [item]})
    assert answered.replies[0].is_error
    assert answered.messages[0]["call_id"] == "c1"


def test_items_of_other_kinds_are_passed_over():
    """
    Only function calls are calls; one without a name is left to the caller.
    """
    items = [{"type": "custom_tool_call", "name": "write_todos"}, {"type": "function_call"}, None]
    answered = answer(Toolbox(), Plan(), items)
    assert answered.others == (Call("", None, ""),)
    assert answered.messages == ()


def test_a_reminder_is_an_item_of_its_own():
    """
    Behind the outputs, as the SDK types it.
    """
    earlier = results_of(Toolbox().turn(Plan(), [Call("read_todos", {}, "c1")]))
    shown = with_reminder(earlier, "go on")
    assert shown == [*earlier, {"role": "user", "content": "go on"}]
    TypeAdapter(list[ResponseInputItemParam]).validate_python(shown)
