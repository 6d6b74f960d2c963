"""The shapes of the Anthropic Messages API, against the SDK's own types."""

import pytest
from anthropic.types import Message, MessageParam, ToolParam, ToolUseBlock
from pydantic import TypeAdapter
from support.wires import MESSAGES, numbered

from todoplan.adapters.functions.anthropic_messages import (
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
MESSAGE_LIST = TypeAdapter(list[MessageParam])


@pytest.mark.parametrize("toolset", [TODOS, tasks(), tasks("snake"), LEAN], ids=lambda s: s.name)
@pytest.mark.parametrize("strict", [False, True])
def test_definitions_are_the_sdks(toolset, strict):
    """
    Every set, plain and strict; `strict` is said only where it is meant.
    """
    made = make_tools(toolset, strict=strict)
    assert TypeAdapter(list[ToolParam]).validate_python(made) == made
    assert [tool["name"] for tool in made] == list(toolset.tool_names)
    assert {tool.get("strict") for tool in made} == {strict or None}
    closed = {tool["input_schema"].get("additionalProperties") for tool in made}
    assert closed == {False if strict else None}


def test_results_are_one_user_message_with_flags():
    """
    All results stand together, and an error is flagged.
    """
    turn = Toolbox().turn(Plan(), [Call("write_todos", WRITE, "c1"), Call("nope", {}, "c2")])
    (made,) = results_of(turn)
    MESSAGE_LIST.validate_python([made])
    assert made["role"] == "user"
    assert [block["type"] for block in made["content"]] == ["tool_result", "tool_result"]
    flags = [(block["tool_use_id"], block["is_error"]) for block in made["content"]]
    assert flags == [("c1", False), ("c2", True)]


def test_a_message_is_read_as_object_dict_or_parameter():
    """
    The response, its dict, and the assistant message that is sent back hold the same calls.
    """
    message = MESSAGES.respond(numbered([("read_todos", {})]))
    assert isinstance(message, Message)
    found = calls_in(TODOS, message)
    sent_back = {"role": "assistant", "content": message.content}
    assert found == calls_in(TODOS, message.to_dict()) == calls_in(TODOS, sent_back)
    assert found == (Call("read_todos", {}, "call_0"),)


@pytest.mark.parametrize("given", ['{"todos": [{"cont', "sure, here it is", None, [1], 7])
def test_malformed_arguments_are_answered_with_an_error(given):
    """
    The model is told what was wrong, under the id of its call, and the flag is set.
    """
    block = ToolUseBlock.construct(type="tool_use", id="c1", name="write_todos", input=given)
    answered = answer(Toolbox(), Plan(), {"role": "assistant", "content": [block]})
    (result,) = answered.messages[0]["content"]
    assert (result["tool_use_id"], result["is_error"]) == ("c1", True)
    assert answered.plan == Plan()


def test_blocks_of_other_kinds_are_passed_over():
    """
    A provider's own tools answer themselves; a use without a name is left to the caller.
    """
    blocks = [{"type": "server_tool_use", "name": "write_todos"}, {"type": "tool_use"}, None]
    assert answer(Toolbox(), Plan(), {"content": blocks}).others == (Call("", None, ""),)
    assert calls_in(TODOS, {"role": "assistant", "content": "write_todos"}) == ()


def test_a_reminder_follows_the_results_in_the_same_turn():
    """
    All results come first, then the text; the message that is kept stays as it was.
    """
    kept = results_of(Toolbox().turn(Plan(), [Call("read_todos", {}, "c1")]))
    (shown,) = with_reminder(kept, "go on")
    MESSAGE_LIST.validate_python([shown])
    assert [block["type"] for block in shown["content"]] == ["tool_result", "text"]
    assert shown["content"][-1]["text"] == "go on"
    assert len(kept[0]["content"]) == 1


def test_a_reminder_follows_a_users_text_in_the_same_turn():
    """
    A text message becomes a text block, which is the same to the API.
    """
    (shown,) = with_reminder([{"role": "user", "content": "Build it"}], "go on")
    MESSAGE_LIST.validate_python([shown])
    assert [block["text"] for block in shown["content"]] == ["Build it", "go on"]


def test_a_reminder_follows_an_assistant_as_a_new_turn():
    """
    A final answer that is sent back is followed by a user message.
    """
    messages = [{"role": "assistant", "content": "Done."}]
    shown = with_reminder(messages, "go on")
    MESSAGE_LIST.validate_python(shown)
    assert shown[:-1] == messages
    assert shown[-1] == {"role": "user", "content": [{"type": "text", "text": "go on"}]}
