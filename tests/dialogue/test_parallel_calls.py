"""The calls of a turn, passed one at a time, get the replies that the whole turn gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples import sample_calls

from todoplan.core.commands import CreateTask
from todoplan.core.decide import decide
from todoplan.core.events.base import Base
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Call
from todoplan.dialogue.toolbox import Toolbox, answered_after, answered_beside
from todoplan.dialogue.tools import BASIC_TOOLSETS, TODOS


def broken(name):
    """Return a call that is refused, because its arguments are no JSON."""
    return Call(BASIC_TOOLSETS[name].writer, "{")


turns = st.sampled_from([*BASIC_TOOLSETS]).flatmap(
    lambda name: st.tuples(
        st.just(Toolbox(BASIC_TOOLSETS[name])),
        st.lists(st.sampled_from([*sample_calls(name), broken(name)]), min_size=1, max_size=5),
    )
)


def visible(reply):
    """Return the parts of a reply that do not depend on the id of its call."""
    return reply.plan, reply.text, reply.events, reply.is_error, reply.name


@given(turns)
def test_beside_each_other_calls_are_answered_as_in_the_turn(turn):
    """Each call gets the plan before the turn, and has the reply of the whole turn (law 13)."""
    toolbox, calls = turn
    whole = toolbox.turn(Plan(), calls).replies
    for place in range(len(calls)):
        replies = answered_beside(toolbox, Plan(), calls, place)
        assert list(map(visible, replies)) == list(map(visible, whole[: place + 1]))


@given(turns)
def test_after_each_other_calls_are_answered_as_in_the_turn(turn):
    """Each call gets the plan after the call before it, and the names of all calls (law 13)."""
    toolbox, calls = turn
    plan, names = Plan(), [call.name for call in calls]
    for call, expected in zip(calls, toolbox.turn(plan, calls).replies, strict=True):
        reply = answered_after(toolbox, plan, call, names)
        assert visible(reply) == visible(expected)
        plan = reply.plan


@pytest.mark.parametrize("turn", [(), ("write_todos",), ("other", "write_todos")])
def test_a_call_that_clashes_with_none_is_carried_out(turn):
    """The other calls of the turn are unknown, or none of them writes the list."""
    call = Call("write_todos", {"todos": [{"content": "a", "status": "pending"}]})
    assert len(answered_after(Toolbox(TODOS), Plan(), call, turn).plan) == 1


def test_a_call_after_others_takes_what_its_session_last_saw():
    """Law 15: a task that others have added since stays, and the reply names it."""
    was = Plan()
    now = decide(was, CreateTask("Tell Ann")).unwrap()
    call = Call("write_todos", {"todos": [{"content": "Dig", "status": "pending"}]})
    reply = answered_after(Toolbox(TODOS), now, call, base=Base(was, {"1": "ann"}))
    assert "Tell Ann created by ann" in reply.text
    assert [task.subject for task in reply.plan] == ["Dig", "Tell Ann"]
