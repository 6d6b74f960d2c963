"""Calls of one turn belong together, whichever is started first; others are on their own."""

import pytest

from todoplan.adapters.openai_agents import PendingCalls
from todoplan.dialogue.calls import Call
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS
from todoplan.errors import CodecError

A, B, C = (Call("write_todos", "{}", call_id) for call_id in "abc")
READ, SEARCH = Call("read_todos", "{}", "r"), Call("search", "", "s")
SURE = {"write_todos", "read_todos"}


def heard(*calls, sure=SURE):
    """
    Return turns that have heard these calls.
    """
    turns = PendingCalls(Toolbox(TODOS))
    turns.made(calls, sure)
    return turns


def test_calls_of_a_turn_are_one_group():
    """A write and a read, in their order; another tool's call is left out."""
    turns = heard(READ, SEARCH, A)
    assert turns.group(A).calls == (READ, A)
    assert turns.group(READ) is turns.group(A)
    assert turns.group(SEARCH).calls == (SEARCH,)


def test_contradicting_writes_are_a_group_of_their_own():
    """Also if they need approval: none of them can be carried out."""
    for sure in (SURE, set()):
        turns = heard(A, READ, B, sure=sure)
        assert turns.group(A).calls == (A, B)
        assert turns.group(READ).calls == (READ,)


def test_what_may_be_denied_waits_for_its_own_turn():
    """A call that needs approval is not carried out with others."""
    turns = heard(A, READ, sure={"read_todos"})
    assert turns.group(READ).calls == (READ,)
    assert turns.group(A).calls == (A,)


def test_an_unheard_call_is_on_its_own():
    """Also one whose id is another's: ids are unique only within a run."""
    turns = heard(A, READ)
    other = Call("write_todos", "[]", "a")
    assert turns.group(other).calls == (other,)
    assert turns.group(C).calls == (C,)


def test_a_call_that_stands_twice_is_one():
    """The SDK carries out an exact repetition once."""
    assert heard(READ, READ).group(READ).calls == (READ,)


def test_answered_calls_are_forgotten():
    """What the model has seen the answer of is awaited no more; an unknown id is nothing."""
    turns = heard(A, SEARCH)
    assert turns.awaits(["x", "s"])
    turns.answered(["s", "x"])
    assert not turns.awaits(["s"])
    assert turns.awaits(["a"])


def test_abandoned_calls_do_not_pile_up():
    """Only the latest are kept."""
    turns = PendingCalls(Toolbox(TODOS))
    for number in range(300):
        turns.made([Call("read_todos", "{}", str(number))], SURE)
    assert not turns.awaits(["43"])
    assert turns.awaits(["44"])
    assert turns.awaits(["299"])


def test_groups_are_saved():
    """What is not carried out yet belongs together after a restart; what is, is not repeated."""
    turns = heard(A, READ, B)
    restored = PendingCalls(Toolbox(TODOS), turns.to_data())
    assert restored.group(B).calls == (A, B)
    turns.group(A).replies = dict.fromkeys("ab")
    assert [len(calls) for calls in turns.to_data()] == [1, 1, 1]
    assert PendingCalls(Toolbox(TODOS)).to_data() == []


WHOLE = {"name": "write_todos", "arguments": "{}", "call_id": "a"}


@pytest.mark.parametrize(
    "saved", [None, 7, "x", [["x"]], [[{"x": 1}]], [[{**WHOLE, "arguments": {}}]], [[WHOLE], [7]]]
)
def test_damaged_calls_are_an_error(saved):
    """What is no list of lists of calls is never taken for one; the error says what to do."""
    with pytest.raises(CodecError, match="the saved `calls` are damaged"):
        PendingCalls(Toolbox(TODOS), saved)
    assert PendingCalls(Toolbox(TODOS), [[WHOLE]]).awaits(["a"])
