"""Law 10: whatever a model sends, every tool answers; nothing is raised or repaired silently."""

import importlib.util
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.strategies import full_plans
from support.talk import BOXES, PYTHON, check_reply, valid

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Call
from todoplan.dialogue.tools import arguments_schema

ROOT = Path(__file__).resolve().parents[1]
_spec = importlib.util.spec_from_file_location("targets", ROOT / "fuzz" / "targets.py")
targets = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(targets)

TOOLS = [(box, tool) for box in BOXES for tool in box.toolset.tools]
KEYS = sorted(
    {word for _, tool in TOOLS for field in tool.fields for word in (field.name, *field.aliases)}
)
tools = st.sampled_from(TOOLS)
plans = st.just(Plan()) | full_plans
any_text = st.text(st.characters(exclude_categories=()), max_size=30)
WORDS = [
    "",
    "none",
    "3",
    "#1",
    "1,2",
    "[1]",
    '{"id": 1}',
    "- [ ] a\n- [x] b",
    '[{"content": "a"}]',
    "done",
    "[x] b",
    "deleted",
    "\ud800",
    "a\x00\u202eb",
    "</invoke>",
    '<parameter name="x">',
    "```json\n[1]\n```",
    "arguments",
    '"[1]"',
]
words = st.sampled_from(WORDS) | any_text
leaves = st.none() | st.booleans() | st.integers() | st.floats() | words | st.just(10**400)
keys = st.sampled_from([*KEYS, "arguments", "input", "function", "x"]) | any_text


def _dumped(value):
    try:
        return json.dumps(value)
    except ValueError:
        return repr(type(value))


values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(keys, inner, max_size=4)
        | st.tuples(inner)
        | inner.map(_dumped)
    ),
    max_leaves=8,
)
odd_values = (
    values | st.binary(max_size=8) | st.sets(st.integers(), max_size=2) | st.complex_numbers()
)


@given(tools, plans, any_text | st.binary(max_size=40))
def test_any_text_and_any_bytes_are_answered(tool, plan, raw):
    """Text and bytes of any kind get a reply, an error leaves the plan as it was."""
    box, chosen = tool
    check_reply(plan, box.call(plan, chosen.key, raw))


@given(tools, plans, odd_values | st.dictionaries(keys, odd_values, max_size=4))
def test_any_value_is_answered(tool, plan, arguments):
    """So does any Python value, of JSON's types or not."""
    box, chosen = tool
    check_reply(plan, box.call(plan, chosen.key, arguments))


@st.composite
def mutated(draw):
    """Draw a tool and valid arguments in which something was broken or packed up."""
    box, tool = draw(tools)
    text = json.dumps(draw(valid(tool.fields)))
    if draw(st.booleans()):
        start = draw(st.integers(0, len(text)))
        text = text[:start] + draw(words) + text[start + draw(st.integers(0, 3)) :]
    return box, tool, text


@given(mutated(), plans)
def test_mutated_arguments_are_answered(call, plan):
    """Valid arguments with a few characters changed get a reply."""
    box, tool, text = call
    check_reply(plan, box.call(plan, tool.key, text))


@given(tools, st.booleans(), plans, st.data())
def test_what_the_schema_allows_intake_takes_as_it_is(pair, strict, plan, data):
    """Arguments as published are read without a repair, and no reply holds a Python repr."""
    box, tool = pair
    arguments = data.draw(valid(tool.fields, strict=strict))
    schema = arguments_schema(tool.fields, strict=strict)
    Draft202012Validator(schema).validate(arguments)
    reply = box.call(plan, tool.key, arguments)
    check_reply(plan, reply)
    # A schema cannot say it: what waits is pending, and what is closed waits for nothing.
    reasons = {field.name for field in tool.fields if field.target in {"waiting", "wait"}}
    waits = {"word", "ignored_key"} if reasons & arguments.keys() else set()
    # Nor that a deletion takes no other argument along: the reply says which were ignored.
    deletes = arguments.get("status") == "deleted"
    waits |= {"ignored_key"} if deletes else set()
    assert {repair.code for repair in reply.repairs} <= {"repeated_id"} | waits
    known = {"missing_field", "beside_tasks", "unknown_task", "unknown_reference", "self_edge"}
    known |= {"cycle", "edge_within", "empty_write", "left_out"}
    # Not said by a schema either: a task with subtasks is not deleted, and what is closed waits for
    # nothing.
    known |= {"has_children"} if deletes else set()
    known |= {"cannot_wait"} if reasons & arguments.keys() else set()
    assert {problem.code for problem in reply.problems} <= known
    own = json.dumps(arguments, ensure_ascii=False) + "".join(task.subject for task in plan)
    assert PYTHON.search(reply.text) is None or PYTHON.search(own)


@given(st.lists(st.tuples(tools, odd_values), max_size=4), st.sampled_from(BOXES), plans)
def test_any_turn_is_answered_call_by_call(calls, box, plan):
    """A turn of any calls, also to tools that do not exist, gives one reply each."""
    sent = [Call(tool.key, arguments, str(n)) for n, ((_, tool), arguments) in enumerate(calls)]
    turn = box.turn(plan, sent)
    assert [reply.call_id for reply in turn.replies] == [call.call_id for call in sent]
    assert not turn.replies or turn.plan == turn.replies[-1].plan
    for before, reply in zip((plan, *(r.plan for r in turn.replies)), turn.replies, strict=False):
        check_reply(before, reply)


@pytest.mark.parametrize("name", targets.TARGETS)
@given(st.binary(max_size=60))
def test_the_fuzz_targets_hold(name, data):
    """Those that `python -m tests.fuzz` runs, of any bytes."""
    targets.TARGETS[name](data)


@pytest.mark.parametrize("name", targets.TARGETS)
def test_the_fuzz_targets_begin_with_valid_inputs(name):
    """A fuzzer goes on from what is read."""
    for data in targets.SEEDS[name]:
        targets.TARGETS[name](data)
