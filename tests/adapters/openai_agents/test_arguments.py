"""Half a character in a model's arguments ends no run, and intake reads what was sent."""

import json

import pytest
from agents.testing import assistant_message, function_call
from hypothesis import given
from hypothesis import strategies as st
from support.openai_agents_runs import agent_of, outputs, plan_of, run, scripted

from todoplan.adapters.openai_agents import Planning, attach, carried, portable
from todoplan.dialogue.tools import TODOS

LONE, PAIR = r'{"a": "x\ud800"}', r'{"a": "\ud83d\ude00"}'


@pytest.mark.parametrize(
    "arguments", ["", "{}", '{"a": "\u00fc"}', PAIR, r'{"a": "\ud800', "\\ud800"]
)
def test_what_can_be_carried_is_left_alone(arguments):
    """Text without lone surrogates, and escapes in what is no JSON, stay as they are."""
    assert portable(arguments) is arguments


def test_lone_surrogates_become_question_marks():
    """As escapes and as they are, in JSON and in what is none."""
    assert json.loads(portable(LONE)) == {"a": "x?"}
    assert portable("no json \ud800") == "no json ?"


def test_bottomless_lists_become_a_text():
    """A long list is none of them."""
    deep, wide = "[" * 5_000, json.dumps([{}] * 500)
    assert json.loads(portable(deep)) == deep
    assert portable(wide) is wide


@given(st.dictionaries(st.text(), st.text(st.characters(codec=None))))
def test_what_is_handed_on_can_be_written(value):
    """Whatever a model sends, the SDK can write it as UTF-8."""
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        sent = portable(text)
        json.dumps(json.loads(sent), ensure_ascii=False).encode()


def test_only_planning_calls_are_touched():
    """Items of other kinds, other tools' calls and sound arguments are the same objects."""
    sound = function_call("write_todos", "{}", call_id="1")
    others = function_call("search", LONE, call_id="2")
    for item in (assistant_message("hi"), sound, others):
        assert carried(item, TODOS) is item
    assert (
        carried(function_call("write_todos", LONE, call_id="3"), TODOS).arguments == '{"a": "x?"}'
    )


def test_the_run_goes_on():
    """The task is there, the reply says what was mended, and the conversation can be sent."""
    planning = Planning()
    sent = r'{"todos": [{"content": "Dig \ud800", "status": "completed"}]}'
    model = scripted(function_call("write_todos", sent, call_id="1"), "Done.")
    result = run(attach(agent_of(model), planning))
    assert "replaced broken characters" in outputs(result)["1"]
    assert [task.subject for task in plan_of(planning)] == ["Dig \ufffd"]
    json.dumps(result.to_input_list(), ensure_ascii=False).encode()
