"""Messages of Pydantic AI, as guidance reads them."""

import pytest
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolReturnPart,
    UserPromptPart,
)
from support.pydantic_ai_agent import response, use

from todoplan.adapters.pydantic_ai import neutral, turn_of, with_reminder
from todoplan.dialogue.calls import Call
from todoplan.dialogue.guidance import Message, ToolResult, is_final_answer


def test_texts_calls_and_results_are_read():
    """Thoughts and prompts are none of them."""
    failed = ToolReturnPart("b", "no", tool_call_id="2", outcome="failed")
    returns = [ToolReturnPart("a", "ok", tool_call_id="1"), failed]
    messages = [
        ModelRequest(parts=[SystemPromptPart("Be good."), UserPromptPart("go")]),
        ModelResponse(parts=[ThinkingPart("hm"), TextPart("well"), use("a", {}, "1")]),
        ModelRequest(parts=returns),
    ]
    won, lost = ToolResult("a", ok=True, call_id="1"), ToolResult("b", ok=False, call_id="2")
    assert [*map(neutral, messages)] == [
        Message("user"),
        Message("assistant", "well", ("a",)),
        Message("user", results=(won, lost)),
    ]


@pytest.mark.parametrize(
    ("fields", "final"),
    [
        ({}, True),
        ({"finish_reason": "stop"}, True),
        ({"finish_reason": "tool_call"}, False),
        ({"state": "suspended"}, False),
        ({"state": "interrupted"}, False),
    ],
)
def test_what_goes_on_is_no_final_answer(fields, final):
    """A response that is paused, cut off or about to call tools ends no work."""
    assert is_final_answer(neutral(ModelResponse(parts=[TextPart("x")], **fields))) is final


def test_a_turn_is_the_calls_of_the_calls_own_response():
    """Not of an earlier one, and none for a call that nobody made."""
    first = response([use("a", {}, "1")])
    second = response([use("b", {}, "2"), use("c", "{", "3")])
    messages = [first, ModelRequest(parts=[]), second]
    assert turn_of(messages, "3")[1] == (Call("b", {}, "2"), Call("c", "{", "3"))
    assert turn_of(messages, "1")[1] == (Call("a", {}, "1"),)
    assert turn_of(messages, "9") == turn_of([], None) == ((), ())


def test_a_response_is_named_by_its_time_and_id():
    """That of the call, and not of an earlier one; none for a call that nobody made."""
    first, second = response([use("a", {}, "1")]), response([use("b", {}, "2")])
    messages = [first, ModelRequest(parts=[]), second]
    assert turn_of(messages, "1")[0] == (first.timestamp.isoformat(), "")
    assert turn_of(messages, "2")[0] == (second.timestamp.isoformat(), "")


def test_a_reminder_stands_behind_the_last_request():
    """In a copy: the message itself is not touched, nor is anything added for no text."""
    messages = [response("x"), ModelRequest(parts=[UserPromptPart("go")])]
    sent = with_reminder(messages, "remember")
    assert [part.content for part in sent[-1].parts] == ["go", "remember"]
    assert len(messages[-1].parts) == 1
    assert with_reminder(messages, "") == messages
    assert with_reminder(messages[:1], "remember") == messages[:1]
