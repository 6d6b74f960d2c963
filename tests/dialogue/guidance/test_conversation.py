"""A conversation as guidance reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan.dialogue.guidance.conversation import (
    Message,
    is_final_answer,
    is_refusal,
    text_of,
)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("done", "done"),
        ([{"type": "text", "text": "do"}, {"type": "text", "text": "ne"}], "done"),
        (["do", {"text": "ne"}], "done"),
        ([{"type": "image", "text": "alt"}, {"type": "text", "text": None}], ""),
        ({"type": "text", "text": "done"}, "done"),
        (b"done", ""),
        (None, ""),
        (7, ""),
    ],
)
def test_text_is_read_from_strings_and_blocks(content, text):
    """
    Gemini's list-shaped content is read like a string; other blocks are no text.
    """
    assert text_of(content) == text


@given(st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=8))
def test_any_content_has_a_text(content):
    """
    Reading a message's text never raises.
    """
    assert isinstance(text_of(content), str)


def test_an_answer_without_calls_is_final():
    """
    The assistant's message ends the work when nothing is to be run.
    """
    assert is_final_answer(Message("assistant", "done", finish="stop"))


@pytest.mark.parametrize(
    "message",
    [
        Message("user", "done"),
        Message("assistant", calls=("search",)),
        Message("assistant", invalid_calls=1),
        Message("assistant", finish="tool_calls"),
        Message("assistant", finish="tool_use"),
        Message("assistant", finish="MALFORMED_FUNCTION_CALL"),
    ],
)
def test_what_announces_a_tool_is_no_final_answer(message):
    """
    Calls, invalid calls and a finish reason that says tools keep the work going.
    """
    assert not is_final_answer(message)


@pytest.mark.parametrize(
    ("finish", "refuses"),
    [
        ("refusal", True),
        ("content_filter", True),
        ("SAFETY", True),
        ("guardrail_intervened", True),
        ("stop", False),
        ("tool_calls", False),
        ("", False),
    ],
)
def test_a_refusal_is_known_by_its_finish(finish, refuses):
    """
    However a provider spells it; it ends the work like any answer.
    """
    message = Message("assistant", "No.", finish=finish)
    assert is_refusal(message) is refuses
    assert is_final_answer(message) is (finish != "tool_calls")
