"""Plans of hermes, pydantic-ai-todo, Agno, Beads and task-master: statuses, subtasks, blockers."""

import json
from datetime import UTC, datetime

import pytest

from todoplan.codec import (
    from_agno,
    from_beads,
    from_hermes,
    from_pydantic_ai_todo,
    from_taskmaster,
)
from todoplan.core.commands import ClaimTask
from todoplan.core.decide import decide
from todoplan.core.plan.model import Waiting, thaw
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
        "depends_on": ["a1b2c3d4", "a1b2c3d4"],
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
    """Return of each task its text, status, parent and blockers."""
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
    assert [task.active_form for task in plan] == ["Reading", None, None]
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
    """Return where the faults are that a list is refused for."""
    with pytest.raises(CodecError) as caught:
        read(data)
    return [problem.path for problem in caught.value.data["problems"]]


NO_LISTS = {
    **{
        read: (None, "[]", 5, {"x": []}) for read in (from_hermes, from_agno, from_pydantic_ai_todo)
    },
    from_beads: ["{", "[1\n", "[" * 100_000, None, {"id": "bd-1"}, [5]],
    from_taskmaster: [None, [], {}, {"tasks": None}, {"master": {}}, {"other": {"tasks": []}}],
}


@pytest.mark.parametrize("read", NO_LISTS)
def test_what_is_no_list_is_no_empty_plan(read):
    """It is a fault, with what was seen, and where the tasks should be."""
    for data in NO_LISTS[read]:
        with pytest.raises(CodecError, match=r"this is no (list of|export)"):
            read(data)


EDGE = {"type": "blocks"}
FAULTS = [
    (from_hermes, [{"content": 5}, {"content": "a", "status": "blocked"}, 7, {"status": "pending"}],
     "todos[0].content todos[1].status todos[2] todos[3].content"),
    (from_agno, [{"title": "a", "created_at": "now", "dependencies": "t1"}],
     "tasks[0].created_at tasks[0].dependencies"),
    (from_agno, [{"title": "a", "created_at": 1e300}], "tasks[0].created_at"),
    (from_agno, [{"title": "a", "created_at": True}], "tasks[0].created_at"),
    (from_pydantic_ai_todo, [{"content": "a", "depends_on": [None]}], "todos[0].depends_on[0]"),
    (from_beads, [{"id": "a", "title": "a", "status": "pinned", "dependencies": [EDGE]},
                  {"title": "b"}, {"id": "c", "title": "c", "dependencies": "x"}],
     ("issues[0].status issues[0].dependencies[0].depends_on_id issues[1].id"
      " issues[2].dependencies")),
    *((from_beads, [{"id": "a", "title": "a", "priority": rank}], "issues[0]")
      for rank in (5, -1, True, "1")),
    (from_taskmaster, {"tasks": [
        5,
        {"id": 1, "title": "a", "status": "doing", "subtasks": [7, {"id": 1}]},
        {"id": 2, "title": "b", "subtasks": "none"},
    ]}, "tasks[0] tasks[1].status tasks[2] tasks[3].title"),
]  # fmt: skip


@pytest.mark.parametrize(("read", "data", "where"), FAULTS)
def test_all_faults_are_named_at_once(read, data, where):
    """Statuses, ranks and edges that are none of theirs are not guessed; a field more is kept."""
    assert paths(read, data) == where.split()
    kept = from_hermes([{"id": 7, "content": "a", "colour": "red"}])
    assert kept["1"].metadata == {"original_id": "7", "colour": "red"}


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


def edge(kind, name):
    """Return a dependency as Beads writes it, on the issue that has it."""
    return {"issue_id": "x", "depends_on_id": name, "type": kind, "created_by": "ann"}


ISSUES = [
    {"id": "bd-1", "title": "Epic", "status": "open", "priority": 1, "issue_type": "epic"},
    {
        "id": "bd-2",
        "title": "Walls",
        "description": "Four",
        "acceptance_criteria": "They stand",
        "status": "closed",
        "priority": 2,
        "assignee": "ann",
        "labels": ["house"],
        "dependencies": [edge("parent-child", "bd-1"), edge("related", "bd-9")],
        "created_at": "2026-01-19T22:12:48Z",
        "closed_at": "2026-01-20T00:00:00Z",
        "defer_until": "2027-01-01T00:00:00Z",
    },
    {
        "id": "bd-3",
        "title": "Roof",
        "status": "blocked",
        "priority": 4,
        "labels": ["house"],
        "dependencies": [edge("blocks", "bd-2"), edge("parent-child", "bd-1")],
    },
    {"id": "bd-4", "title": "Gone", "status": "tombstone"},
    {"id": "bd-5", "title": "Later", "status": "deferred", "defer_until": "2027-01-01T00:00:00Z"},
    {"id": "bd-6", "title": "Stuck", "status": "blocked", "dependencies": None},
]
TEXT = "\n".join(map(json.dumps, ISSUES)) + "\n\n"


@pytest.mark.parametrize("given", [ISSUES, TEXT], ids=["objects", "text"])
def test_issues(given):
    """Parents are no blockers; what is deleted there is left out; nothing else is lost."""
    plan = from_beads(given)
    assert [(t.subject, t.status.value, t.parent, t.blocked_by) for t in plan] == [
        ("Epic", "pending", None, ()),
        ("Walls", "completed", "1", ()),
        ("Roof", "pending", "1", ("2",)),
        ("Later", "pending", None, ()),
        ("Stuck", "pending", None, ()),
    ]
    walls = plan["2"]
    assert thaw(walls.metadata) == {
        "original_id": "bd-2",
        "priority": 2,
        "tags": ["house"],
        "dependencies": [{"type": "related", "id": "bd-9"}],
    }
    assert (walls.owner, walls.check, walls.description) == ("ann", "They stand", "Four")
    assert walls.completed_at == datetime(2026, 1, 20, tzinfo=UTC)
    ranks = [task.priority and task.priority.value for task in plan]
    assert ranks == ["high", "medium", "low", None, None]
    with pytest.raises(CodecError, match="5 is no priority from 0 to 4"):
        from_beads([{**ISSUES[0], "priority": 5}])
    later = Waiting("deferred", datetime(2027, 1, 1, tzinfo=UTC))
    assert [task.waiting for task in plan][2:] == [None, later, Waiting("blocked")]


def test_labels_are_tags_to_claim_by():
    """So that a worker drains what has one."""
    decision = decide(from_beads(ISSUES), ClaimTask("ann", tag="house"))
    assert decision.unwrap()["3"].claim.owner == "ann"


def test_a_second_parent_stays_in_the_metadata():
    """A task lies in one other at most."""
    two = {**ISSUES[0], "id": "bd-7", "dependencies": [edge("parent-child", n) for n in "ab"]}
    plan = from_beads([{"id": "a", "title": "A"}, {"id": "b", "title": "B"}, two])
    assert plan["3"].parent == "1"
    assert thaw(plan["3"].metadata)["dependencies"] == [{"type": "parent-child", "id": "b"}]


TASKS = [
    {"id": 1, "title": "Init", "status": "done", "dependencies": [], "priority": "critical"},
    {
        "id": 2,
        "title": "Auth",
        "description": "Sign in",
        "details": "By OAuth",
        "testStrategy": "It signs in",
        "status": "in-progress",
        "dependencies": [1],
        "priority": "high",
        "complexityScore": 7,
        "subtasks": [
            {"id": 1, "title": "Config", "status": "pending", "parentTaskId": 2},
            {"id": 2, "title": "Login", "status": "deferred", "dependencies": [1, "1.1", 3]},
        ],
    },
    {"id": 3, "title": "Docs", "status": "review", "dependencies": ["2.1"]},
]
# Task 1 has a subtask as well, so that "1.1" is one of another task.
FULL = [{**TASKS[0], "subtasks": [{"id": 1, "title": "Repo", "status": "done"}]}, *TASKS[1:]]


@pytest.mark.parametrize(
    ("data", "tag"),
    [
        ({"tasks": FULL, "metadata": {}}, "master"),
        ({"master": {"tasks": FULL}}, "master"),
        ({"x": {"tasks": FULL}}, "x"),
    ],
)
def test_tasks_and_subtasks(data, tag):
    """A subtask's number names one beside it, if there is one, else a task; "1.2" any."""
    plan = from_taskmaster(data, tag)
    assert [(t.subject, t.status.value, t.parent, t.blocked_by) for t in plan] == [
        ("Init", "completed", None, ()),
        ("Repo", "completed", "1", ()),
        ("Auth", "in_progress", None, ("1",)),
        ("Config", "pending", "3", ()),
        ("Login", "pending", "3", ("4", "2", "6")),
        ("Docs", "pending", None, ("4",)),
    ]
    names = [task.metadata["original_id"] for task in plan]
    assert names == ["1", "1.1", "2", "2.1", "2.2", "3"]
    auth, login, docs = plan["3"], plan["5"], plan["6"]
    assert (auth.description, auth.check) == ("Sign in\n\nBy OAuth", "It signs in")
    assert auth.metadata["complexityScore"] == 7
    assert (plan["1"].priority.value, auth.priority.value) == ("high", "high")
    assert (login.waiting, docs.waiting) == (Waiting("deferred"), Waiting("review"))
