"""Results put to their calls."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan.transcripts.calls import BadLine, CallResult, OtherCall, PlanningCall
from todoplan.transcripts.readers.base import Answered, Joiner, Seen

OK = CallResult("ok")


def _call(line, call_id=""):
    return PlanningCall("TodoWrite", {}, line, call_id=call_id)


def _seen(line, key):
    return Seen(_call(line, key), key)


def test_results_in_any_order_leave_the_calls_in_theirs():
    """Calls come out in the order they were sent, each with its own result."""
    other = CallResult("no", is_error=True)
    signals = [
        _seen(1, "a"),
        _seen(2, "b"),
        BadLine(3, "x"),
        Answered("b", other),
        Answered("a", OK),
    ]
    items = list(Joiner().join(signals))
    assert items == [
        attrs.evolve(_call(1, "a"), result=OK),
        attrs.evolve(_call(2, "b"), result=other),
        BadLine(3, "x"),
    ]


def test_a_call_comes_out_as_soon_as_its_result_is_known():
    """The joiner takes no more signals than it needs."""
    taken = []

    def signals():
        for signal in (_seen(1, "a"), Answered("a", OK), BadLine(2, "later")):
            taken.append(signal)
            yield signal

    assert next(Joiner().join(signals())).result == OK
    assert len(taken) == 2


def test_without_results_little_is_held():
    """Past the window calls are let go without a result, and a late result finds nothing."""
    joiner = Joiner(window=3)
    signals = [_seen(n, f"k{n}") for n in range(10)] + [Answered("k0", OK), Answered("k9", OK)]
    items = list(joiner.join(signals))
    assert [item.line for item in items] == list(range(10))
    assert [item.result for item in items] == [None] * 9 + [OK]


def test_of_repeated_items_the_first_counts():
    """One `once` is taken once, for as long as it is remembered; no `once` is always taken."""
    signals = [
        Seen(_call(n), once=once) for n, once in enumerate(["a", "a", "", "", "b", "c", "a"])
    ]
    assert [item.line for item in Joiner().join(signals)] == [0, 2, 3, 4, 5]
    assert [item.line for item in Joiner(memory=2).join(signals)] == [0, 2, 3, 4, 5, 6]


def test_an_id_used_again_closes_the_older_call():
    """A new call under a waiting key takes its place; two of one line share the answer."""
    signals = [_seen(1, "k"), _seen(2, "k"), _seen(2, "k"), Answered("k", OK)]
    assert [item.result for item in Joiner().join(signals)] == [None, OK, OK]


def test_an_answer_to_an_item_that_is_no_call_changes_nothing():
    """Only calls take results."""
    assert list(Joiner().join([Seen(BadLine(1, "x"), "k"), Answered("k", OK)])) == [BadLine(1, "x")]


@pytest.mark.parametrize(("key", "expected"), [(b"a", True), (b"b", False), (b"\\u0061", True)])
def test_what_may_be_awaited_is_told(key, expected):
    """An awaited key is known in bytes; an escaped one may always be."""
    joiner = Joiner()

    def signals():
        yield _seen(1, "a")
        assert joiner.awaits([key]) is expected
        yield Answered("a", OK)

    assert [item.result for item in joiner.join(signals())] == [OK]
    assert not joiner.awaits([b"a"])


def test_of_other_tools_the_first_few_are_let_through():
    """Each once, none without a name, until five are known."""
    joiner = Joiner()
    others = [OtherCall(tool, 1) for tool in ("a", "", "a", "b", "c", "d", "e", "f")]
    assert joiner.wants_other_tools
    assert "".join(item.tool for item in joiner.join(others)) == "abcde"
    assert not joiner.wants_other_tools


@pytest.mark.parametrize("signal", [_call(1), _seen(1, "a")])
def test_after_a_planning_call_no_other_tool_is_of_interest(signal):
    """Then there is something to replay."""
    joiner = Joiner()
    assert [item.line for item in joiner.join([signal, OtherCall("a", 2)])] == [1]
    assert not joiner.wants_other_tools


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abc"))), st.integers(1, 4))
def test_nothing_is_lost_and_order_stays(script, window):
    """Whatever comes, every item comes out once, in its order."""
    signals = [_seen(n, key) if sent else Answered(key, OK) for n, (sent, key) in enumerate(script)]
    sent = [n for n, (is_call, _) in enumerate(script) if is_call]
    assert [item.line for item in Joiner(window).join(signals)] == sent
