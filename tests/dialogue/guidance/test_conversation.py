"""A conversation as guidance reads it: a framework's messages, and what each of them means."""

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan.dialogue.guidance import (
    Conversation,
    Message,
    asks,
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
        (bytearray(b"done"), ""),
        (reduce(lambda inner, _: [inner], range(100_000), "deep"), "deep"),
        (None, ""),
        (7, ""),
    ],
)
def test_text_is_read_from_strings_and_blocks(content, text):
    """Gemini's list-shaped content is read like a string; other blocks are no text."""
    assert text_of(content) == text


TOOLS = "tool_calls tool_use MALFORMED_FUNCTION_CALL functionCall function_calls pause_turn"
REFUSED = (
    "refusal content_filter SAFETY guardrail_intervened PROHIBITED_CONTENT BLOCKLIST"
    " content-filtered RECITATION SPII"
)


def test_a_final_answer_is_the_assistants_and_announces_no_tool():
    """Calls, invalid calls and a finish reason that says tools keep the work going."""
    assert not is_final_answer(Message("user", "done"))
    assert not is_final_answer(Message("assistant", calls=("search",)))
    assert not is_final_answer(Message("assistant", invalid_calls=1))
    for finish in ("stop", "", *TOOLS.split(), *REFUSED.split()):
        message = Message("assistant", "No.", finish=finish)
        assert is_final_answer(message) is (finish not in TOOLS.split()), finish
        # A refusal ends the work like any answer.
        assert is_refusal(message) is (finish in REFUSED.split()), finish


@given(st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=8), st.text())
def test_any_content_has_a_text_and_any_answer_can_be_judged(content, text):
    """Neither ever raises."""
    assert isinstance(text_of(content), str)
    assert asks(Message("assistant", text)) in {True, False}


def test_a_conversation_is_read_message_by_message():
    """It is a sequence over the messages, and reads none that nobody asks for."""
    seen = []

    def read(text):
        seen.append(text)
        return Message("user", text)

    whole = Conversation(["a", "b", "c"], read)
    assert (len(whole), whole[-1].text) == (3, "c")
    assert list(whole[:2]) == [Message("user", "a"), Message("user", "b")]
    assert next(reversed(whole)).text == "c"
    assert seen == ["c", "a", "b", "c"]


@pytest.mark.parametrize(
    "text",
    [
        "Which database should I migrate to?",
        "I am stuck. May I delete the table?\n",
        "\u4f60\u8981\u54ea\u4e00\u4e2a\uff1f",
        "\u0645\u0627\u0630\u0627\u061f",
        "\u03a0\u03bf\u03b9\u03bf;",
        "\u0548\u055e\u0580\u0568",
        "**Shall I go on?** \U0001f642",
        '(or "both?")',
        "Really\u2049\ufe0f",
        "Shall I go on\u2753",
        "Shall I go on?" + " " * 1_000_000,
    ],
)
def test_an_answer_that_ends_in_a_question_asks(text):
    """
    In any script, whatever emphasis, quotes, brackets or emoji stand behind the question mark.
    """
    assert asks(Message("assistant", text))


@pytest.mark.parametrize(
    "text",
    ["", "?!"[1:], "Done.", "Why? Because it was slow.", "x = 1;", ";", " \n", "**", "\u2026"],
)
def test_other_answers_do_not_ask(text):
    """A question that the answer itself has answered is none, nor is a line of code."""
    assert not asks(Message("assistant", text))
