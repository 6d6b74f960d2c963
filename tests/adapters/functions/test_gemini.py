"""The Gemini shapes, against the SDK's own types."""

import pytest
from google.genai.types import Content, FunctionCall, GenerateContentResponse, Tool
from support.wires import GEMINI, Sent, numbered

from todoplan.adapters.functions.gemini import (
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

WRITE = {"todos": [{"content": "a", "status": "pending"}]}


@pytest.mark.parametrize("toolset", [TODOS, tasks(), tasks("snake"), LEAN], ids=lambda s: s.name)
@pytest.mark.parametrize("strict", [False, True])
def test_definitions_are_the_sdks(toolset, strict):
    """
    Every set, plain and strict, as one tool; nullable unions pass, being JSON Schema.
    """
    (made,) = make_tools(toolset, strict=strict)
    declared = Tool.model_validate(made).function_declarations
    assert [one.name for one in declared] == list(toolset.tool_names)
    assert all(one.description for one in declared)
    closed = {one.parameters_json_schema.get("additionalProperties") for one in declared}
    assert closed == {False if strict else None}


def test_results_are_one_content_with_output_or_error():
    """
    All responses stand together, each under the name and the id of its call.
    """
    turn = Toolbox().turn(Plan(), [Call("write_todos", WRITE, "c1"), Call("nope", {}, "c2")])
    (made,) = results_of(turn)
    content = Content.model_validate(made)
    found = [part.function_response for part in content.parts]
    assert content.role == "user"
    assert [(one.id, one.name) for one in found] == [("c1", "write_todos"), ("c2", "nope")]
    assert found[0].response == {"output": turn.replies[0].text}
    assert found[1].response == {"error": turn.replies[1].text}


def test_a_response_is_read_as_object_content_or_dict():
    """
    The response, its content, and both as dicts, in Python's spelling or the wire's.
    """
    response = GEMINI.respond(numbered([("read_todos", {})]))
    assert isinstance(response, GenerateContentResponse)
    content = response.candidates[0].content
    found = calls_in(TODOS, response)
    assert found == (Call("read_todos", {}, "call_0"),)
    forms = [content, response.model_dump(), content.model_dump(by_alias=True)]
    assert [calls_in(TODOS, form) for form in forms] == [found] * 3
    assert "functionCall" in content.model_dump(by_alias=True)["parts"][1]


def test_parallel_calls_without_ids_keep_their_order():
    """
    Older models send no ids; results are matched by name and place.
    """
    sent = [Sent("TaskCreate", {"subject": one}) for one in "ab"]
    answered = answer(Toolbox(tasks()), Plan(), GEMINI.respond(sent))
    parts = Content.model_validate(answered.messages[0]).parts
    assert [part.function_response.id for part in parts] == [None, None]
    assert [part.function_response.name for part in parts] == ["TaskCreate"] * 2
    assert [task.subject for task in answered.plan] == ["a", "b"]


@pytest.mark.parametrize("args", ["sure, here it is", None, {}, [1], 7])
def test_malformed_arguments_are_answered_with_an_error(args):
    """
    The model is told what was wrong, under the id of its call.
    """
    call = FunctionCall.model_construct(name="write_todos", args=args, id="c1")
    answered = answer(Toolbox(), Plan(), {"parts": [{"function_call": call}]})
    (part,) = answered.messages[0]["parts"]
    assert part["function_response"]["id"] == "c1"
    assert list(part["function_response"]["response"]) == ["error"]


def test_missing_names_are_left_to_the_caller():
    """
    A call without a name is no planning call; a part without a call is none.
    """
    parts = [{"function_call": FunctionCall()}, {"text": "Hm."}, None]
    answered = answer(Toolbox(), Plan(), {"parts": parts})
    assert answered.others == (Call("", None, ""),)
    assert answered.messages == ()


@pytest.mark.parametrize("found", [None, []])
def test_a_response_without_candidates_holds_no_calls(found):
    """
    A blocked prompt has no candidates, a blocked answer no content.
    """
    assert calls_in(TODOS, GenerateContentResponse(candidates=found)) == ()
    assert calls_in(TODOS, {"candidates": [{"content": found}]}) == ()


def test_a_reminder_is_a_content_of_its_own():
    """
    The content with the responses holds nothing else.
    """
    earlier = results_of(Toolbox().turn(Plan(), [Call("read_todos", {}, "c1")]))
    shown = with_reminder(earlier, "go on")
    assert shown[:-1] == earlier
    assert Content.model_validate(shown[-1]).parts[0].text == "go on"
