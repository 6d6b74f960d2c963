"""Claude Code session logs."""

import json
from datetime import UTC, datetime

import pytest
from support.recorded import TODOS, bad_lines, calls, compactions, lines_file

from todoplan.transcripts.calls import CallResult, PersonSpoke, PlanningCall, ShownPlan
from todoplan.transcripts.readers.coding_agents import Sidechains
from todoplan.transcripts.reading import read

AT = "2026-01-28T19:31:07.534Z"


def _line(uuid, *blocks, kind="assistant", message="m1", **fields):
    content = {"id": message, "role": kind, "content": list(blocks)}
    return {
        "type": kind,
        "uuid": uuid,
        "sessionId": "s",
        "timestamp": AT,
        "message": content,
    } | fields


def _use(call_id, name="TodoWrite", arguments=TODOS):
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def _result(call_id, text="ok", **fields):
    return {"type": "tool_result", "tool_use_id": call_id, "content": text} | fields


def _progress(agent, kind, *blocks):
    inner = {"type": kind, "timestamp": AT, "message": {"id": "p", "content": list(blocks)}}
    data = {"type": "agent_progress", "agentId": agent, "message": inner}
    return {"type": "progress", "uuid": "p", "sessionId": "s", "data": data}


def test_parallel_calls_on_several_lines_share_a_turn(tmp_path):
    """Lines with one message id are one message; results in any order find their calls."""
    path = lines_file(
        tmp_path,
        _line("u1", _use("t1", "TaskCreate", {"subject": "A"})),
        _line("u2", _use("t2", "TaskCreate", {"subject": "B"})),
        _line("u3", {"type": "tool_use", "id": "t3", "name": "Bash", "input": {}}),
        _line("u4", _result("t2", "two"), kind="user"),
        _line("u5", _result("t3", "bash"), kind="user"),
        _line("u6", _result("t1", "one"), kind="user"),
    )
    found = calls(path)
    assert [call.turn for call in found] == ["m1", "m1"]
    assert [call.result.text for call in found] == ["one", "two"]
    first = PlanningCall(
        "TaskCreate",
        {"subject": "A"},
        line=1,
        turn="m1",
        call_id="t1",
        at=datetime(2026, 1, 28, 19, 31, 7, 534000, UTC),
        result=CallResult("one"),
    )
    assert found[0] == first


@pytest.mark.parametrize(
    ("block", "beside", "expected"),
    [
        (_result("t1"), {"oldTodos": []}, CallResult("ok", data={"oldTodos": []})),
        # A flag, the marked text or the data tells a refusal. Data that is text is none.
        (_result("t1", "bad", is_error=True), "Error: bad", CallResult("bad", is_error=True)),
        (_result("t1", "<tool_use_error>x"), None, CallResult("<tool_use_error>x", is_error=True)),
        (
            _result("t1", "Task not found"),
            {"success": False},
            CallResult("Task not found", is_error=True, data={"success": False}),
        ),
        # Several blocks are joined.
        (
            _result("t1", [{"type": "text", "text": "a"}, "b", None, {"x": 1}]),
            None,
            CallResult('a\nb\n{"x": 1}'),
        ),
    ],
)
def test_a_result_is_a_text_a_flag_and_the_data_beside_it(tmp_path, block, beside, expected):
    """The data belongs to a line with a single result."""
    told = _line("u2", block, kind="user", toolUseResult=beside)
    (call,) = calls(lines_file(tmp_path, _line("u1", _use("t1")), told))
    assert call.result == expected
    told["message"]["content"].append(_result("t2"))
    (call,) = calls(lines_file(tmp_path, _line("u1", _use("t1")), told))
    assert call.result.data == {}


def test_repeated_lines_count_once(tmp_path):
    """The same call id, or without one the same line id, is one call. So is a boundary."""
    redacted = _line("u9", _use("REDACTED"), _use("REDACTED"))
    unnamed = _line("REDACTED", _use(""))
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "c", "timestamp": AT}
    lines = _line("u1", _use("t1")), _line("u2", _use("t1"))
    path = lines_file(tmp_path, *lines, redacted, redacted, unnamed, unnamed, boundary, boundary)
    (found,) = compactions(path)
    assert (found.line, found.lane, found.at.year) == (7, "main", 2026)
    assert [(call.line, call.call_id) for call in calls(path)] == [
        (1, "t1"), (3, ""), (3, ""), (5, ""), (6, "")
    ]  # fmt: skip


def test_each_old_subagent_has_a_list_of_its_own(tmp_path):
    """Sidechain lines belong to the first line of their chain, or to the agent they name."""
    side = {"isSidechain": True}
    path = lines_file(
        tmp_path,
        _line("root-one-1", kind="user", parentUuid=None, **side),
        _line("root-two-2", kind="user", parentUuid=None, **side),
        _line("a", _use("t1"), parentUuid="root-one-1", **side),
        _line("b", _use("t2"), parentUuid="root-two-2", **side),
        _line("c", _use("t3"), parentUuid="a", **side),
        _line("d", _use("t4"), parentUuid="lost", **side),
        _line("e", _use("t5"), agentId="x1", **side),
        _line("f", _use("t6", "TaskCreate"), agentId="x1", **side),
        _line("g", _use("t7")),
        _line("h", _use("t8"), parent_tool_use_id="toolu_9"),
    )
    assert [call.lane for call in calls(path)] == [
        "sidechain-root-one", "sidechain-root-two", "sidechain-root-one", "sidechain",
        "agent-x1", "main", "main", "agent-toolu_9",
    ]  # fmt: skip
    assert calls(path)[5].actor == "agent-x1"


def test_progress_lines_are_a_subagents_and_its_tasks_are_the_sessions(tmp_path):
    """Tools that go by ids act on the shared plan, a todo list is the subagent's own."""
    path = lines_file(
        tmp_path,
        _line("u0", kind="user"),
        _progress("af9", "assistant", _use("t1", "TaskUpdate", {"taskId": "1"})),
        _progress("af9", "assistant", _use("t2")),
        _progress("af9", "assistant", _use("t4", "mcp__todoplan__plan", {"done": [1]})),
        _progress(None, "assistant", _use("t3")),
        _progress("af9", "user", _result("t1", "Updated task #1 status")),
        {"type": "progress", "uuid": "x", "sessionId": "s", "data": {"type": "TodoWrite"}},
    )
    found = calls(path)
    assert [(call.lane, call.actor) for call in found] == [
        ("main", "agent-af9"), ("agent-af9", "agent-af9"), ("main", "agent-af9"),
        ("sidechain", "sidechain"),
    ]  # fmt: skip
    assert found[0].result.text == "Updated task #1 status"
    assert found[0].at.year == 2026


def test_two_objects_on_one_line_and_a_cut_end_cost_nothing(tmp_path):
    """Both objects are read; the cut line is told."""
    both = json.dumps({"type": "summary", "leafUuid": "l"}) + json.dumps(_line("u1", _use("t1")))
    path = lines_file(tmp_path, both, {"a": 1})
    path.write_bytes(path.read_bytes() + b'{"type": "assist')
    assert [call.line for call in calls(path)] == [1]
    assert [bad.line for bad in bad_lines(path)] == [3]


def test_lines_have_a_turn_and_an_actor(tmp_path):
    """
    A redacted message id is no turn; the request's id serves, else the line. Lines of a team carry
    the speaker's name.
    """
    path = lines_file(
        tmp_path,
        _line("u1", _use("t1"), message="REDACTED", requestId="req_1"),
        _line("u2", _use("t2"), message="REDACTED"),
        _line("u3", _use("t3", "TaskUpdate"), agentName="ana", teamName="t"),
    )
    found = [(call.turn, call.lane, call.actor) for call in calls(path)]
    assert found == [("req_1", "main", "main"), ("#2", "main", "main"), ("m1", "main", "ana")]


def test_chains_are_followed_with_little_memory():
    """A chain of any length keeps its root; only the latest lines are remembered."""
    sidechains = Sidechains()
    lane = ""
    for number in range(5000):
        parent = f"u{number - 1}" if number else None
        fields = {"isSidechain": True, "uuid": f"u{number}", "parentUuid": parent}
        lane = sidechains.lane(fields)
    assert lane == "sidechain-u0"
    assert len(sidechains._lanes) <= 4096


def test_a_reminder_of_the_task_table_shows_the_plan(tmp_path):
    """The program lists its tasks; an empty list only says that the tools were not used yet."""

    def reminder(uuid, tasks):
        shown = {"type": "task_reminder", "content": tasks}
        head = {"type": "attachment", "uuid": uuid, "sessionId": "s", "timestamp": AT}
        return head | {"attachment": shown}

    tasks = [{"id": "1", "subject": "a", "status": "completed"}]
    create = _line("u1", _use("t1", "TaskCreate", {"subject": "a"}))
    path = lines_file(tmp_path, create, reminder("a1", []), reminder("a2", tasks))
    shown = [each for each in read(path) if isinstance(each, ShownPlan)]
    assert [(each.line, each.result.data["tasks"]) for each in shown] == [(3, tasks)]


def test_what_the_program_says_is_no_message_of_the_person(tmp_path):
    """Hooks, commands and background tasks speak in the person's name."""

    def said(number, text, **more):
        return _line(f"u{number}", {"type": "text", "text": text}, kind="user", **more)

    path = lines_file(
        tmp_path,
        said(1, "Do the garden."),
        said(2, "Stop hook feedback:\nTasks are open."),
        said(3, "<task-notification>\nDone."),
        said(4, "Go on.", isSynthetic=True),
        said(5, "<command-name>/plan</command-name>"),
        said(6, "[Request interrupted by user]"),
    )
    assert [each.line for each in read(path) if isinstance(each, PersonSpoke)] == [1]
