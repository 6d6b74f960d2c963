"""Which calls concern a plan, answers joined to their calls, and timestamps of all kinds."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.own_recordings import DIALECTS, own_recording
from support.talk import toolbox
from support.wires import WIRES

from todoplan.transcripts.calls import BadLine, CallResult, OtherCall, PlanningCall
from todoplan.transcripts.readers.base import (
    Answered,
    Joiner,
    Seen,
    filter_answered,
    filter_calls,
    parse_time,
)
from todoplan.transcripts.replay import replay_file

LEAN = (
    [("search", {"q": "x"})],
    [("plan", {"write": ["Read it", "Fix it", "Test it"]}), ("search", {})],
    [("plan", {})],
    [("plan", {"done": [9]})],
    [("plan", {"done": [1], "add": ["Tell"], "edit": [{"id": 3, "after": [4]}]})],
    [("plan", {"done": [2]}), ("plan", {"drop": [4]})],
    [("plan", '{"done": [3')],
    [
        (
            "plan",
            {"write": ["Test it", "More"], "add": ["Most"], "edit": [{"id": 6, "text": "Last"}]},
        )
    ],
)
TODOS = (
    [("write_todos", {"todos": [{"content": "Read it", "status": "in_progress"}]})],
    [("write_todos", {"todos": [{"content": "Read it", "status": "maybe"}]})],
    [("read_todos", {})],
    [("write_todos", {"todos": [{"content": "Read it", "status": "completed"}]})],
)
TASKS = (
    [("TaskCreate", {"subject": "Read it"}), ("TaskCreate", {"subject": "Fix it"})],
    [("TaskUpdate", {"taskId": "2", "addBlockedBy": ["1"]})],
    [("TaskUpdate", {"taskId": "7", "status": "completed"}), ("TaskList", {})],
)
SCRIPTS = {"lean": (LEAN, 8, 2), "todos": (TODOS, 4, 1), "tasks": (TASKS, 5, 1)}


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("wire", WIRES, ids=[wire.name for wire in WIRES])
def test_what_a_loop_of_ours_recorded_replays_to_its_plan(tmp_path, wire, name):
    """In every wire shape, with each tool set: the calls, the refused ones, the very plan."""
    turns, calls, refused = SCRIPTS[name]
    path, plan = own_recording(tmp_path, wire, toolbox(name), *turns)
    replay = replay_file(path)
    outcomes = [step.outcome for step in replay.steps()]
    (lane,) = replay.lanes
    assert (replay.dialect, lane.calls, lane.refused) == (DIALECTS[wire.name], calls, refused)
    assert {"unreadable", "impossible"}.isdisjoint(outcomes)
    assert lane.plan == plan
    assert replay.other_tools == ()


def call(tool, arguments, text=None, **fields):
    result = None if text is None else CallResult(text, **fields)
    return PlanningCall(tool, arguments, 1, result=result)


@pytest.mark.parametrize(
    ("tool", "arguments", "kept"),
    [
        ("TodoWrite", {}, True),
        ("Bash", {"todos": []}, False),
        ("", {}, False),
        ("plan", {"write": ["a"]}, True),
        ("mcp__todoplan__plan", {"done": [1], "why": "x"}, True),
        ("plan", '{"done": [1', True),
        ("plan", r'"{\"done\": [1', True),
        ("plan", "{'drop': [1]}", True),
        ("plan", {"goal": "x", "steps": []}, False),
        ("plan", "write it down", False),
        ("plan", {"start": "2026-01-01"}, False),
    ],
)
def test_calls_of_other_tools_are_told_as_such(tool, arguments, kept):
    """`plan` is a name that others use too: its call must have an argument of ours."""
    one = call(tool, arguments)
    expected = one if kept else OtherCall(tool, 1)
    assert list(filter_calls([one])) == [expected]
    assert list(filter_calls([Seen(one, "k")])) == [Seen(one, "k") if kept else expected]


def test_signals_that_are_no_calls_pass():
    """Answers and bad lines are nobody's calls."""
    others = [Answered("k", CallResult("ok")), BadLine(1, "x"), OtherCall("Bash", 2)]
    assert list(filter_calls(others)) == others
    assert list(filter_answered(others[1:])) == others[1:]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("#1 [pending] a", True),
        ("The plan is empty.", True),
        ("Here is a plan: #1 [pending] a", False),
        ("#1 [open] a", False),
        (None, False),
    ],
)
@pytest.mark.parametrize("arguments", [{}, ""])
def test_a_plan_without_arguments_is_told_by_its_answer(arguments, text, kept):
    """Ours shows the list; another product's says something else."""
    one = call("plan", arguments, text)
    assert list(filter_calls([one])) == [one]
    assert list(filter_answered([one])) == [one if kept else OtherCall("plan", 1)]


def test_what_we_refused_is_refused():
    """Our answers to refused calls are known by their words, where no flag says so."""
    refused = call("plan", {"done": [9]}, "Nothing was changed. There is no task 9.")
    assert [one.result.is_error for one in filter_answered([refused])] == [True]
    for kept in (
        call("plan", {"done": [1]}, "1/1: #1 completed"),
        call("TodoWrite", {}, "Nothing was changed. So there.", is_error=True),
        call("TodoWrite", {}),
    ):
        assert list(filter_answered([kept])) == [kept]


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


MOMENT = datetime(2026, 1, 28, 19, 31, 7, tzinfo=UTC)
EPOCH = int(MOMENT.timestamp())


@pytest.mark.parametrize(
    "value",
    [
        "2026-01-28T19:31:07Z",
        "2026-01-28T19:31:07.000Z",
        "2026-01-28T20:31:07+01:00",
        "2026-01-28T19:31:07",
        "2026-01-28 19:31:07 UTC",
        EPOCH,
        float(EPOCH),
        Decimal(EPOCH),
        EPOCH * 1000,
        EPOCH * 1000_000,
        EPOCH * 1000_000_000,
    ],
)
def test_every_form_is_one_utc_moment(value):
    """ISO text and numbers of any unit give the same aware moment; no zone means UTC."""
    assert parse_time(value) == MOMENT
    assert parse_time(value).utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        "",
        "soon",
        [],
        {},
        float("nan"),
        float("inf"),
        10**400,
        "0001-01-01T00:00:00+14:00",
    ],
)
def test_what_is_no_timestamp_is_none(value):
    """A malformed timestamp is `None`, never an error."""
    assert parse_time(value) is None


def test_a_time_before_1970_is_read():
    """Numbers may be negative."""
    assert parse_time(-1.5).year == 1969


@given(st.text() | st.floats() | st.integers())
def test_no_value_raises(value):
    """Any value gives an aware moment or `None`."""
    found = parse_time(value)
    assert found is None or found.tzinfo is UTC
