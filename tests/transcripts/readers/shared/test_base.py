"""Which calls concern a plan: all of a loop of ours, none of other products' tools."""

import pytest
from support.own_recordings import DIALECTS, own_recording
from support.talk import toolbox
from support.wires import WIRES

from todoplan.transcripts.calls import BadLine, CallResult, OtherCall, PlanningCall
from todoplan.transcripts.readers.base import Answered, Seen, filter_answered, filter_calls
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
