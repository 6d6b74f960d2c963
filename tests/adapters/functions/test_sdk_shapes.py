"""Each provider's shapes, against the types of its own SDK."""

import pytest
from anthropic.types import MessageParam, ToolParam
from google.genai.types import Content, FunctionCall, GenerateContentResponse, Tool
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam
from openai.types.responses import FunctionToolParam, ResponseInputItemParam
from pydantic import TypeAdapter
from support.wires import CHAT, EVERY, GEMINI, MESSAGES, RESPONSES, WIRES, Sent, numbered

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Call
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS, TOOLSETS, tasks

WRITE = {"todos": [{"content": "a", "status": "pending"}]}
TOOLS = {
    CHAT: ChatCompletionFunctionToolParam,
    RESPONSES: FunctionToolParam,
    MESSAGES: ToolParam,
    GEMINI: Tool,
}
INPUTS = {
    CHAT: ChatCompletionMessageParam,
    RESPONSES: ResponseInputItemParam,
    MESSAGES: MessageParam,
    GEMINI: Content,
}


def validated(wire, messages):
    """The messages, if the SDK takes them."""
    TypeAdapter(list[INPUTS[wire]]).validate_python(messages)
    return messages


@EVERY
@pytest.mark.parametrize("toolset", TOOLSETS.values(), ids=TOOLSETS)
@pytest.mark.parametrize("strict", [False, True])
def test_definitions_are_the_sdks(wire, toolset, strict):
    """`strict` is said only where it is meant, but always to Responses, whose default is true."""
    made = wire.module.make_tools(toolset, strict=strict)
    read = TypeAdapter(list[TOOLS[wire]]).validate_python(made)
    assert read == made or wire is GEMINI  # of which the objects forbid unknown fields
    shown = made[0]["function_declarations"] if wire is GEMINI else made
    shown = [tool.get("function", tool) for tool in shown]
    assert [tool["name"] for tool in shown] == list(toolset.tool_names)
    assert all(tool["description"] for tool in shown)
    flag = {RESPONSES: strict, GEMINI: None}.get(wire, strict or None)
    assert {tool.get("strict") for tool in shown} == {flag}
    closed = {tool[wire.module._WIRE.schema].get("additionalProperties") for tool in shown}
    assert closed == {False if strict else None}


def test_results_are_the_sdks():
    """An error has a flag, a key, or its text alone; two providers want all in one message."""
    turn = Toolbox().turn(Plan(), [Call("write_todos", WRITE, "c1"), Call("nope", {}, "c2")])
    good, bad = (reply.text for reply in turn.replies)
    sent = [("c1", good, False), ("c2", bad, True)]
    made = {wire: validated(wire, wire.module.results_of(turn)) for wire in WIRES}
    assert made[CHAT] == [
        {"role": "tool", "tool_call_id": call, "content": text} for call, text, _ in sent
    ]
    assert made[RESPONSES] == [
        {"type": "function_call_output", "call_id": call, "output": text} for call, text, _ in sent
    ]
    blocks = [
        {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": flag}
        for call, text, flag in sent
    ]
    assert made[MESSAGES] == [{"role": "user", "content": blocks}]
    parts = [
        {"function_response": {"id": "c1", "name": "write_todos", "response": {"output": good}}},
        {"function_response": {"id": "c2", "name": "nope", "response": {"error": bad}}},
    ]
    assert made[GEMINI] == [{"role": "user", "parts": parts}]


@pytest.mark.parametrize(
    ("wire", "arguments", "forms"),
    [
        (CHAT, "{}", lambda r: [r.choices[0].message, r.choices[0].message.to_dict()]),
        (RESPONSES, "{}", lambda r: [r.output, r.to_dict()]),
        (MESSAGES, {}, lambda r: [r.to_dict(), {"role": "assistant", "content": r.content}]),
        (
            GEMINI,
            {},
            lambda r: [
                r.model_dump(),
                r.candidates[0].content,
                r.candidates[0].content.model_dump(by_alias=True),
            ],
        ),
    ],
)
def test_what_a_response_consists_of_serves_as_well(wire, arguments, forms):
    """The SDK's object, its message or items, and both as dicts hold the same calls."""
    response = wire.respond(numbered([("read_todos", {})]))
    for form in (response, *forms(response)):
        assert wire.module.calls_in(TODOS, form) == (Call("read_todos", arguments, "call_0"),)


def called(*functions):
    return {"tool_calls": [{"id": "c1", "type": "function", "function": one} for one in functions]}


@pytest.mark.parametrize(
    ("wire", "response", "others"),
    [
        (CHAT, called({"arguments": "{}"}, {"name": None}, {"name": ["write_todos"]}, None), 4),
        (RESPONSES, [{"type": "custom_tool_call", "name": "write_todos"}, None], 0),
        (RESPONSES, [{"type": "function_call"}], 1),
        (MESSAGES, {"content": [{"type": "server_tool_use", "name": "write_todos"}, None]}, 0),
        (MESSAGES, {"content": [{"type": "tool_use"}]}, 1),
        (MESSAGES, {"role": "assistant", "content": "write_todos"}, 0),
        (GEMINI, {"parts": [{"function_call": FunctionCall()}, {"text": "Hm."}, None]}, 1),
        (GEMINI, GenerateContentResponse(candidates=None), 0),
        (GEMINI, GenerateContentResponse(candidates=[]), 0),
        (GEMINI, {"candidates": [{"content": None}]}, 0),
        (GEMINI, {"candidates": [{"content": []}]}, 0),
        *((CHAT, empty, 0) for empty in ({}, {"choices": []}, {"tool_calls": None}, [], "x")),
    ],
)
def test_a_call_without_a_name_is_left_to_the_caller(wire, response, others):
    """Other kinds of content are no calls; an empty or foreign response has none."""
    answered = wire.module.answer(Toolbox(), Plan(), response)
    assert [call.name for call in answered.others] == [""] * others
    assert (answered.replies, answered.messages) == ((), ())


@pytest.mark.parametrize("call_id", [None, 5])
def test_a_missing_id_is_empty(call_id):
    """What is no text is no id."""
    message = {"tool_calls": [{"id": call_id, "function": {"name": "read_todos"}}]}
    assert CHAT.module.calls_in(TODOS, message) == (Call("read_todos", None, ""),)


def test_parallel_calls_without_ids_keep_their_order():
    """Older models of Gemini send no ids; results are matched by name and place."""
    sent = [Sent("TaskCreate", {"subject": one}) for one in "ab"]
    answered = GEMINI.module.answer(Toolbox(tasks()), Plan(), GEMINI.respond(sent))
    results = [part["function_response"] for part in answered.messages[0]["parts"]]
    assert [([*one], one["name"]) for one in results] == [(["name", "response"], "TaskCreate")] * 2
    assert [task.subject for task in answered.plan] == ["a", "b"]


TEXT = {"type": "text", "text": "go on"}


@EVERY
def test_a_reminder_follows_the_results(wire):
    """As the user's message; Anthropic's turns alternate, so there it stands in the same one."""
    earlier = wire.module.results_of(Toolbox().turn(Plan(), [Call("read_todos", {}, "c1")]))
    wanted = {
        GEMINI: [*earlier, {"role": "user", "parts": [{"text": "go on"}]}],
        MESSAGES: [{**earlier[0], "content": [*earlier[0].get("content", []), TEXT]}],
    }.get(wire, [*earlier, {"role": "user", "content": "go on"}])
    assert validated(wire, wire.module.with_reminder(earlier, "go on")) == wanted


@pytest.mark.parametrize(
    ("last", "shown"),
    [
        (
            {"role": "user", "content": "Build it"},
            [{"role": "user", "content": [{"type": "text", "text": "Build it"}, TEXT]}],
        ),
        (
            {"role": "assistant", "content": "Done."},
            [{"role": "assistant", "content": "Done."}, {"role": "user", "content": [TEXT]}],
        ),
    ],
)
def test_a_reminder_follows_a_text(last, shown):
    """A user's text becomes a block of the same turn; behind the assistant a new turn begins."""
    made = MESSAGES.module.with_reminder([last], "go on")
    assert validated(MESSAGES, made) == shown
