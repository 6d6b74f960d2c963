"""Which calls concern a plan, answers joined to their calls, and timestamps of all kinds."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.own_recordings import DIALECTS, own_recording
from support.samples import sample_turns
from support.talk import toolbox
from support.wires import WIRES

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Call
from todoplan.dialogue.tools import BASIC_TOOLSETS
from todoplan.transcripts.calls import BadLine, CallResult, OtherCall, PlanningCall
from todoplan.transcripts.readers.base import Answered, Joiner, Seen, parse_time
from todoplan.transcripts.replay import replay_file


@pytest.mark.parametrize("name", BASIC_TOOLSETS)
@pytest.mark.parametrize("wire", WIRES, ids=[wire.name for wire in WIRES])
def test_what_a_loop_of_ours_recorded_replays_to_its_plan(tmp_path, wire, name):
    """The replay has the calls, the refused calls and the plan, in every API's format."""
    box, plan, replies = toolbox(name), Plan(), []
    broken, other = Call(box.toolset.writer, '{"done": [3'), Call("search", {"q": "x"})
    turns = [(other,), *sample_turns(name), (broken,), (*sample_turns(name)[0], other)]
    for calls in turns:
        replies += box.turn(plan, [call for call in calls if call is not other]).replies
        plan = replies[-1].plan if replies else plan
    recorded = [[(call.name, call.arguments) for call in calls] for calls in turns]
    path, end = own_recording(tmp_path, wire, box, *recorded)
    assert end == plan
    replay = replay_file(path)
    outcomes = [step.outcome for step in replay.steps()]
    (lane,) = replay.lanes
    refused = sum(reply.is_error for reply in replies)
    assert refused >= 2
    assert (replay.dialect, lane.calls, lane.refused) == (
        DIALECTS[wire.name],
        len(replies),
        refused,
    )
    assert {"unreadable", "impossible"}.isdisjoint(outcomes)
    assert lane.plan == plan
    assert replay.other_tools == ()


def call(tool="TodoWrite", arguments=None, text=None, line=1, **fields):
    result = None if text is None else CallResult(text, **fields)
    return PlanningCall(tool, {} if arguments is None else arguments, line, result=result)


def joined(*signals, **limits):
    return list(Joiner(**limits).join(signals))


@pytest.mark.parametrize(
    ("tool", "arguments", "text", "kept"),
    [
        ("TodoWrite", {}, None, True),
        ("Bash", {"todos": []}, None, False),
        ("plan", {"write": ["a"]}, None, True),
        ("mcp__todoplan__plan", {"done": [1], "why": "x"}, None, True),
        ("plan", '{"done": [1', None, True),
        ("plan", r'"{\"done\": [1', None, True),
        ("plan", "{'drop': [1]}", None, True),
        ("plan", {"goal": "x", "steps": []}, None, False),
        ("plan", "write it down", None, False),
        ("plan", {"start": "2026-01-01"}, None, False),
        # Without arguments, ours answers with the list.
        ("plan", {}, "#1 [pending] a", True),
        ("plan", "", "The plan is empty.", True),
        ("plan", {}, "Here is a plan: #1 [pending] a", False),
        ("plan", "", "#1 [open] a", False),
        ("plan", {}, None, False),
    ],
)
def test_calls_of_other_tools_are_told_as_such(tool, arguments, text, kept):
    """
    `plan` is a name that others use too: an argument of ours, or our answer tells them apart.
    """
    one = call(tool, arguments, text)
    expected = [one if kept else OtherCall(tool, 1)]
    assert joined(one) == joined(Seen(one, "k")) == expected
    assert joined(call("")) == []


def test_what_we_refused_is_refused():
    """Our answers to refused calls are known by their words, where no flag says so."""
    refused = call("plan", {"done": [9]}, "Nothing was changed. There is no task 9.")
    kept = call("plan", {"done": [1]}, "1/1: #1 completed")
    assert [one.result.is_error for one in joined(refused, kept)] == [True, False]


OK = CallResult("ok")


def _seen(line, key, once=""):
    return Seen(call(line=line), key, once)


@pytest.mark.parametrize(
    ("signals", "limits", "expected"),
    [
        # Results may come in any order. The calls stay in theirs.
        (
            [_seen(1, "a"), _seen(2, "b"), BadLine(3, "x"), Answered("b", OK)],
            {},
            [(1, False), (2, True), (3, False)],
        ),
        # Beyond the window calls are let go without a result, and a late result finds none.
        (
            [*(_seen(n, f"k{n}") for n in range(1, 6)), Answered("k1", OK), Answered("k5", OK)],
            {"window": 3},
            [(1, False), (2, False), (3, False), (4, False), (5, True)],
        ),
        # One `once` counts once, as long as it is remembered. No `once` counts always.
        (
            [_seen(n, "", once) for n, once in enumerate(["a", "a", "", "", "b", "c", "a"], 1)],
            {},
            [(1, False), (3, False), (4, False), (5, False), (6, False)],
        ),
        (
            [_seen(n, "", once) for n, once in enumerate(["a", "a", "b", "c", "a"], 1)],
            {"memory": 2},
            [(1, False), (3, False), (4, False), (5, False)],
        ),
        # A new call under a waiting key takes its place. Two of one line share the answer.
        (
            [_seen(1, "k"), _seen(2, "k"), _seen(2, "k"), Answered("k", OK)],
            {},
            [(1, False), (2, True), (2, True)],
        ),
        # Only calls take results.
        ([Seen(BadLine(1, "x"), "k"), Answered("k", OK)], {}, [(1, False)]),
        # After a planning call, no other tool is of interest.
        ([_seen(1, "a"), OtherCall("a", 2)], {}, [(1, False)]),
    ],
)
def test_answers_are_joined_to_their_calls(signals, limits, expected):
    """Calls come out once, in the order they were sent, each with its own result."""
    items = joined(*signals, **limits)
    assert [(item.line, getattr(item, "result", None) == OK) for item in items] == expected


def test_a_call_comes_out_as_soon_as_its_result_is_known():
    """The joiner takes no more signals than it needs."""
    signals = iter([_seen(1, "a"), Answered("a", OK), BadLine(2, "later")])
    assert next(Joiner().join(signals)).result == OK
    assert next(signals) == BadLine(2, "later")


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


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abc"))), st.integers(1, 4))
def test_nothing_is_lost_and_order_stays(script, window):
    """Whatever comes, every item comes out once, in its order."""
    signals = [_seen(n, key) if sent else Answered(key, OK) for n, (sent, key) in enumerate(script)]
    sent = [n for n, (is_call, _) in enumerate(script) if is_call]
    assert [item.line for item in joined(*signals, window=window)] == sent


MOMENT = datetime(2026, 1, 28, 19, 31, 7, tzinfo=UTC)
EPOCH = int(MOMENT.timestamp())
ISO = (
    "2026-01-28T19:31:07Z",
    "2026-01-28T19:31:07.000Z",
    "2026-01-28T20:31:07+01:00",
    "2026-01-28T19:31:07",
    "2026-01-28 19:31:07 UTC",
)
NUMBERS = (EPOCH, float(EPOCH), *(EPOCH * 1000**power for power in (1, 2, 3)))
NO_TIMES = (None, True, "", "soon", [], {}, float("inf"), 10**400, "0001-01-01T00:00:00+14:00")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((value, MOMENT) for value in (*ISO, *NUMBERS)),
        *((value, None) for value in NO_TIMES),
        (-1.5, datetime(1969, 12, 31, 23, 59, 58, 500_000, tzinfo=UTC)),
    ],
)
def test_every_form_is_one_utc_moment(value, expected):
    """ISO text and numbers of any unit; no zone means UTC; anything else is no time."""
    assert parse_time(value) == expected


@given(st.text() | st.floats() | st.integers())
def test_no_value_raises(value):
    """Any value gives an aware moment or `None`."""
    found = parse_time(value)
    assert found is None or found.tzinfo is UTC
