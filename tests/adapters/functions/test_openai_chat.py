"""The OpenAI chat shapes, against the SDK's own types."""

import pytest
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionFunctionToolParam,
    ChatCompletionMessage,
    ChatCompletionMessageParam,
    ChatCompletionToolMessageParam,
)
from pydantic import TypeAdapter
from support.wires import CHAT, numbered

from todoplan.adapters.functions.openai_chat import (
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
TOOLS = TypeAdapter(list[ChatCompletionFunctionToolParam])


@pytest.mark.parametrize("toolset", [TODOS, tasks(), tasks("snake"), LEAN], ids=lambda s: s.name)
@pytest.mark.parametrize("strict", [False, True])
def test_definitions_are_the_sdks(toolset, strict):
    """
    Every set, plain and strict; `strict` is said only where it is meant.
    """
    made = make_tools(toolset, strict=strict)
    assert TOOLS.validate_python(made) == made
    assert [tool["function"]["name"] for tool in made] == list(toolset.tool_names)
    assert {tool["function"].get("strict") for tool in made} == {strict or None}
    closed = {tool["function"]["parameters"].get("additionalProperties") for tool in made}
    assert closed == {False if strict else None}


def test_results_are_tool_messages():
    """
    One message for each call; an error is told by its text.
    """
    turn = Toolbox().turn(Plan(), [Call("write_todos", WRITE, "c1"), Call("nope", {}, "c2")])
    made = results_of(turn)
    assert TypeAdapter(list[ChatCompletionToolMessageParam]).validate_python(made) == made
    assert [message["tool_call_id"] for message in made] == ["c1", "c2"]
    assert turn.replies[1].is_error
    assert made[1]["content"] == turn.replies[1].text


def test_the_message_of_a_completion_serves_as_well():
    """
    A completion, its message, and the message as a dict hold the same calls.
    """
    completion = CHAT.respond(numbered([("read_todos", {})]))
    assert isinstance(completion, ChatCompletion)
    message = completion.choices[0].message
    assert isinstance(message, ChatCompletionMessage)
    found = calls_in(TODOS, completion)
    assert found == calls_in(TODOS, message) == calls_in(TODOS, message.to_dict())
    assert found == (Call("read_todos", "{}", "call_0"),)


def called(*functions):
    return {"tool_calls": [{"id": "c1", "type": "function", "function": one} for one in functions]}


@pytest.mark.parametrize("arguments", ['{"todos": [{"cont', "sure, here it is", "[1]", None, "", 7])
def test_malformed_arguments_are_answered_with_an_error(arguments):
    """
    The model is told what was wrong, under the id of its call.
    """
    answered = answer(Toolbox(), Plan(), called({"name": "write_todos", "arguments": arguments}))
    (reply,) = answered.replies
    assert reply.is_error
    assert answered.messages[0]["tool_call_id"] == "c1"
    assert answered.plan == Plan()


def test_missing_names_and_functions_are_left_to_the_caller():
    """
    A call without a name, without a function, or of another kind is no planning call.
    """
    message = called({"arguments": WRITE}, {"name": None}, {"name": ["write_todos"]}, None)
    answered = answer(Toolbox(), Plan(), message)
    assert [call.name for call in answered.others] == ["", "", "", ""]
    assert answered.replies == ()


@pytest.mark.parametrize("call_id", [None, 5])
def test_a_missing_id_is_empty(call_id):
    """
    What is no text is no id.
    """
    message = {"tool_calls": [{"id": call_id, "function": {"name": "read_todos"}}]}
    assert calls_in(TODOS, message) == (Call("read_todos", None, ""),)


@pytest.mark.parametrize("response", [{}, {"choices": []}, {"tool_calls": None}, [], "x"])
def test_no_calls_are_no_calls(response):
    """
    An empty or foreign response holds none.
    """
    assert calls_in(TODOS, response) == ()


def test_a_reminder_is_a_user_message_of_its_own():
    """
    Behind the tool messages, as the SDK types it.
    """
    earlier = results_of(Toolbox().turn(Plan(), [Call("read_todos", {}, "c1")]))
    shown = with_reminder(earlier, "go on")
    assert shown == [*earlier, {"role": "user", "content": "go on"}]
    TypeAdapter(list[ChatCompletionMessageParam]).validate_python(shown)
