"""Lists of hermes, pydantic-ai-todo and Agno as plans: statuses, subtasks, blockers, names."""

from datetime import UTC, datetime

import pytest

from todoplan.codec import from_agno, from_hermes, from_pydantic_ai_todo
from todoplan.core.plan.model import Waiting
from todoplan.errors import CodecError

HERMES = [
    {"id": "plan", "content": "Plan", "status": "completed"},
    {"id": "build", "content": "Build", "status": "in_progress"},
    {"id": "ship", "content": "Ship", "status": "pending"},
    {"id": "walls", "content": "Walls", "status": "cancelled", "parent": "build"},
]
TODOS = [
    {"id": "a1b2c3d4", "content": "Read", "status": "completed", "active_form": "Reading"},
    {
        "id": "e5f6a7b8",
        "content": "Write",
        "status": "blocked",
        "active_form": "",
        "depends_on": ["a1b2c3d4"],
    },
    {"id": "c9", "content": "Ask", "status": "blocked", "parent_id": "e5f6a7b8", "depends_on": []},
]
AGNO = [
    {
        "id": "t1",
        "title": "Find",
        "description": "All of it",
        "status": "failed",
        "assignee": "ann",
        "parent_id": None,
        "dependencies": [],
        "result": "none found",
        "notes": [],
        "created_at": 86400.0,
    },
    {"id": "t2", "title": "Tell", "status": "blocked", "dependencies": ["t1"], "created_at": 0.0},
    {"id": "t3", "title": "In", "status": "cancelled", "parent_id": "t2"},
]


def shown(plan):
    """
    Return of each task its text, status, parent and blockers.
    """
    return [(t.subject, t.status.value, t.parent, t.blocked_by) for t in plan]


@pytest.mark.parametrize("data", [HERMES, {"todos": HERMES, "revision": 4, "summary": {}}])
def test_hermes(data):
    """The list alone, or the answer of its tool; what lies in a todo stands behind it."""
    plan = from_hermes(data)
    assert shown(plan) == [
        ("Plan", "completed", None, ()),
        ("Build", "in_progress", None, ()),
        ("Walls", "cancelled", "2", ()),
        ("Ship", "pending", None, ()),
    ]
    assert [task.metadata["original_id"] for task in plan] == ["plan", "build", "walls", "ship"]
    assert plan.next_id == 5


def test_pydantic_ai_todo():
    """What is blocked by nothing in the list waits; blockers say it themselves."""
    plan = from_pydantic_ai_todo(TODOS)
    assert shown(plan) == [
        ("Read", "completed", None, ()),
        ("Write", "pending", None, ("1",)),
        ("Ask", "pending", "2", ()),
    ]
    assert plan["1"].active_form == "Reading"
    assert (plan["2"].waiting, plan["3"].waiting) == (None, Waiting("blocked"))


@pytest.mark.parametrize("data", [AGNO, {"tasks": AGNO, "goal_complete": False}])
def test_agno(data):
    """Failed stays failed, a result stays in the metadata, times are seconds since 1970."""
    plan = from_agno(data)
    assert shown(plan) == [
        ("Find", "failed", None, ()),
        ("Tell", "pending", None, ("1",)),
        ("In", "cancelled", "2", ()),
    ]
    assert plan["1"].metadata == {"original_id": "t1", "result": "none found"}
    assert (plan["1"].owner, plan["1"].description) == ("ann", "All of it")
    assert plan["1"].created_at == datetime(1970, 1, 2, tzinfo=UTC)
    assert (plan["2"].created_at, plan["2"].waiting) == (None, None)


def paths(read, data):
    """
    Return where the faults are that a list is refused for.
    """
    with pytest.raises(CodecError) as caught:
        read(data)
    return [problem.path for problem in caught.value.data["problems"]]


def test_all_faults_are_named_at_once():
    """A status that is none of theirs is not guessed, whatever the list; a field more is kept."""
    wrong = [{"content": 5}, {"content": "a", "status": "blocked"}, 7, {"status": "pending"}]
    assert paths(from_hermes, wrong) == [
        "todos[0].content",
        "todos[1].status",
        "todos[2]",
        "todos[3].content",
    ]
    assert paths(from_agno, [{"title": "a", "created_at": "now", "dependencies": "t1"}]) == [
        "tasks[0].created_at",
        "tasks[0].dependencies",
    ]
    assert paths(from_agno, [{"title": "a", "created_at": 1e300}]) == ["tasks[0].created_at"]
    assert paths(from_agno, [{"title": "a", "created_at": True}]) == ["tasks[0].created_at"]
    assert paths(from_pydantic_ai_todo, [{"content": "a", "depends_on": [None]}]) == [
        "todos[0].depends_on[0]"
    ]
    kept = from_hermes([{"id": 7, "content": "a", "colour": "red"}])
    assert kept["1"].metadata == {"original_id": "7", "colour": "red"}


@pytest.mark.parametrize("read", [from_hermes, from_agno, from_pydantic_ai_todo])
@pytest.mark.parametrize("data", [None, "[]", 5, {"x": []}])
def test_what_is_no_list_is_no_empty_plan(read, data):
    """It is a fault, with what was seen."""
    with pytest.raises(CodecError, match="this is no list of"):
        read(data)


def test_what_is_named_is_in_the_list_once():
    """An id twice, a blocker or a parent that is not there, a circle of parents."""
    row = {"content": "a", "status": "pending"}
    assert paths(from_hermes, [{**row, "id": "1"}, {**row, "id": "1"}]) == ["todos[1].id"]
    assert paths(from_hermes, [{**row, "parent": "x"}]) == ["todos[0]"]
    assert paths(from_pydantic_ai_todo, [{**row, "depends_on": ["x", "y"]}]) == ["todos[0]"] * 2
    circle = [{**row, "id": "1", "parent": "2"}, {**row, "id": "2", "parent": "1"}]
    assert paths(from_hermes, circle)[0].startswith("todos[")
    assert shown(from_hermes([row, row])) == [("a", "pending", None, ())] * 2
    with pytest.raises(CodecError, match="self_edge"):
        from_pydantic_ai_todo([{**row, "id": "1", "depends_on": ["1"]}])
