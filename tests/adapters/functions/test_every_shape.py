"""What holds for all four shapes alike."""

import inspect
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.policies import strict_for
from support.strategies import json_values
from support.talk import TOOLSETS, valid
from support.wires import EVERY, WIRES, numbered

from todoplan.adapters.functions import Answered
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Call, Reply
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, tasks
from todoplan.errors import TodoplanError

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
TASKS = Toolbox(tasks())
FUNCTIONS = [
    "answer",
    "calls_in",
    "make_tools",
    "read_messages",
    "results_of",
    "start_run",
    "with_reminder",
]


def write(*contents):
    return "write_todos", {"todos": [{"content": one, "status": "pending"} for one in contents]}


def test_every_shape_has_the_same_functions():
    """Who changes the provider changes one import: names and signatures are the same."""
    for wire in WIRES:
        assert wire.module.__all__ == FUNCTIONS
    for name in FUNCTIONS:
        assert len({str(inspect.signature(getattr(wire.module, name))) for wire in WIRES}) == 1


@EVERY
@pytest.mark.parametrize("kind", ["sdk", "plain"])
def test_calls_are_read_in_order_with_their_ids(wire, kind):
    """The planning calls of a response, and no other's; from the SDK's object or its dict."""
    sent = numbered([write("a"), ("search", {"q": "x"}), ("read_todos", {})])
    response = wire.respond(sent) if kind == "sdk" else wire.plain(sent)
    found = wire.module.calls_in(TODOS, response)
    assert [(call.name, call.call_id) for call in found] == [
        ("write_todos", "call_0"),
        ("read_todos", "call_2"),
    ]
    assert wire.module.calls_in(Toolbox(), response) == found


@EVERY
def test_names_of_a_renamed_set_are_followed(wire):
    """The model calls a tool by the name it was shown."""
    renamed = TODOS.renamed(write_todos="set_list")
    response = wire.respond(numbered([("set_list", write("a")[1]), write("b")]))
    answered = wire.module.answer(Toolbox(renamed), Plan(), response)
    assert [task.subject for task in answered.plan] == ["a"]
    assert [call.name for call in answered.others] == ["write_todos"]


@EVERY
def test_an_unknown_tool_is_the_callers(wire):
    """A planning tool of another set is no tool of this one: not answered, not lost."""
    answered = wire.module.answer(
        Toolbox(), Plan(), wire.respond(numbered([("TaskCreate", {"subject": "a"})]))
    )
    assert (answered.messages, answered.replies, answered.plan) == ((), (), Plan())
    assert [call.name for call in answered.others] == ["TaskCreate"]


@EVERY
def test_replies_of_other_tools_join_the_turn(wire):
    """Where all results belong in one message, the caller hands in the replies of both."""
    sent = numbered([write("a"), ("search", {"q": "x"})])
    answered = wire.module.answer(Toolbox(), Plan(), wire.respond(sent))
    (other,) = answered.others
    found = Reply(answered.plan, "three hits", name=other.name, call_id=other.call_id)
    together = wire.module.results_of([*answered.replies, found])
    assert wire.read(together)[-1] == ("call_1", "three hits")
    assert len(wire.read(together)) == 2


@EVERY
def test_either_of_two_forms_may_be_given(wire):
    """A toolbox or its tool set, a planner's turn or its replies; nothing gives no message."""
    assert wire.module.make_tools(Toolbox(LEAN)) == wire.module.make_tools(LEAN)
    turn, results_of = Toolbox().turn(Plan(), [Call("read_todos", {})]), wire.module.results_of
    assert results_of(turn) == results_of(iter(turn.replies)) != []
    assert wire.module.answer(Toolbox(), Plan(), wire.respond([])) == Answered(Plan())
    assert results_of([]) == []


@EVERY
@given(junk=(json_values | st.builds(object)).filter(lambda value: value is not None))
def test_what_is_no_response_holds_no_calls(wire, junk):
    """Whatever a provider returns, reading it never raises; `None` is a call that was forgotten."""
    assert wire.module.calls_in(TODOS, junk) == ()


def reminded(wire, messages):
    return wire.module.with_reminder(messages, "two tasks are open")


@EVERY
def test_a_reminder_stands_at_the_tail_of_a_new_list(wire):
    """The prefix stays cached, and the conversation does not keep the reminder."""
    answered = wire.module.answer(Toolbox(), Plan(), wire.respond(numbered([write("a")])))
    messages = list(answered.messages)
    before = repr(messages)
    shown = reminded(wire, messages)
    assert repr(messages) == before
    assert shown is not messages
    assert "two tasks are open" in repr(shown[-1])
    assert wire.module.with_reminder(messages, "") == messages
    assert wire.module.with_reminder(messages, "") is not messages
    assert "two tasks are open" in repr(reminded(wire, []))


def calls_of(toolset):
    """Draw calls of a tool set's tools, with good or other arguments, or of another tool."""
    names = st.sampled_from([*(tool.key for tool in toolset.tools), "search"])
    kinds = {tool.key: valid(tool.fields) for tool in toolset.tools}
    other = st.dictionaries(st.sampled_from(["todos", "status", "wrong"]), json_values, max_size=2)
    return names.flatmap(lambda name: st.tuples(st.just(name), kinds.get(name, other) | other))


def play(wire, toolbox, script):
    """Run a script of turns through one shape: its plan, and what was told in each turn."""
    plan, told = Plan(), []
    for n, turn in enumerate(script):
        response = wire.respond(numbered(turn))
        answered = wire.module.answer(toolbox, plan, response, at=NOON + timedelta(hours=n))
        plan = answered.plan
        told.append((answered.replies, answered.events, wire.read(answered.messages)))
    return plan, told


@given(st.data())
@pytest.mark.parametrize("toolset", TOOLSETS, ids=lambda each: each.name)
def test_the_same_script_gives_the_same_through_every_shape(toolset, data):
    """Law 12: equal plans, events, replies and texts, and those of the toolbox itself."""
    policy = data.draw(st.sampled_from([Toolbox().policy, strict_for(toolset)]))
    toolbox = Toolbox(toolset, policy)
    script = data.draw(st.lists(st.lists(calls_of(toolset), max_size=5), max_size=4))
    plan = Plan()
    expected = []
    for n, turn in enumerate(script):
        calls = [Call(*sent) for sent in numbered(turn) if toolbox.toolset.find(sent.name)]
        done = toolbox.turn(plan, calls, at=NOON + timedelta(hours=n))
        plan = done.plan
        texts_told = [(reply.call_id, reply.text) for reply in done.replies]
        expected.append((done.replies, done.events, texts_told))
    for wire in WIRES:
        assert play(wire, toolbox, script) == (plan, expected)


WRONG = [
    lambda wire: wire.module.answer(TASKS, Plan(), None),
    lambda wire: wire.module.answer(TASKS, [], {}),
    lambda wire: wire.module.answer(tasks(), Plan(), {}),
    lambda wire: wire.module.answer(Plan(), TASKS, {}),
    lambda wire: wire.module.answer(TASKS, Plan(), {}, base=Plan()),
    lambda wire: wire.module.calls_in(TASKS, None),
    lambda wire: wire.module.calls_in(None, {}),
    lambda wire: wire.module.make_tools(Plan()),
]


@EVERY
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_arguments_are_refused(wire, wrong):
    """It says what was seen and what to write; a response of `None` is not one without calls."""
    with pytest.raises(TodoplanError, match="was given; give"):
        wrong(wire)
