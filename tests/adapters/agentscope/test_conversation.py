"""Laws of reading AgentScope's messages: one message holds a whole reply."""

import pytest
from agentscope.message import (
    AssistantMsg,
    HintBlock,
    TextBlock,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from support.agentscope_agent import use

from todoplan.adapters.agentscope import as_sent, calls_in_turn, last_answer, neutral


def names_in_turn(context):
    """
    Return the names of the tools that were called in the last turn.
    """
    calls, waiting = calls_in_turn(context)
    return tuple(call.name for call in calls) if waiting else ()


def result(call, state=ToolResultState.SUCCESS):
    """
    Return the result of a call.
    """
    return ToolResultBlock(id=call.id, name=call.name, output="x", state=state)


def said(*blocks):
    """
    Return a context whose last message has these blocks.
    """
    return [AssistantMsg(name="helper", content=list(blocks))]


def test_messages_are_read():
    """Role, text, the names of calls, and which results are good."""
    a, b = use("a"), use("b")
    blocks = [TextBlock(text="t"), a, b, result(a), result(b, ToolResultState.ERROR)]
    user, answer = map(neutral, [UserMsg(name="user", content="hi"), *said(*blocks)])
    assert (user.role, user.text) == ("user", "hi")
    assert (answer.role, answer.text, answer.calls) == ("assistant", "t", ("a", "b"))
    assert [(each.name, each.ok) for each in answer.results] == [("a", True), ("b", False)]


def test_the_last_answer_is_what_stands_behind_results_and_hints():
    """Earlier turns of the same reply do not count."""
    a = use("a")
    one = said(TextBlock(text="early"), a, result(a), TextBlock(text="late"), TextBlock(text="r"))
    assert (last_answer(one).text, last_answer(one).calls) == ("later", ())
    assert last_answer(said(TextBlock(text="x"), HintBlock(hint="h"))).text == ""
    assert last_answer([]).text == ""


def test_names_in_turn_are_the_calls_of_the_turn_that_is_being_answered():
    """Also while some are answered; none once all are, and none of earlier turns."""
    a, b, c = use("a"), use("b"), use("c")
    assert names_in_turn([]) == ()
    assert names_in_turn(said(a, result(a))) == ()
    assert names_in_turn(said(TextBlock(text="x"), a, b)) == ("a", "b")
    assert names_in_turn(said(c, result(c), TextBlock(text="x"), a, b, result(a))) == ("a", "b")
    assert names_in_turn(said(c, HintBlock(hint="h"), a)) == ("a",)


@pytest.mark.parametrize(
    ("sent", "given", "wanted"),
    [
        ('{"subject": "Dig", "subject": "Lay"}', {"subject": "Lay"}, "sent"),
        ('{"subject": "Di', {"subject": "Di"}, "sent"),
        ('{"subject": "Dig"}', {"subject": "Edited by a person"}, "given"),
        ("", {}, "given"),
    ],
)
def test_arguments_are_read_as_the_model_sent_them(sent, given, wanted):
    """What AgentScope mends in silence is read from the text; what a person edits counts."""
    assert as_sent(sent, given) == {"sent": sent, "given": given}[wanted]
