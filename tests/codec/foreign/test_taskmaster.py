"""`tasks.json` of task-master as a plan: dotted ids of subtasks, statuses, tags."""

import pytest

from todoplan.codec import from_taskmaster
from todoplan.core.plan.model import Waiting
from todoplan.errors import CodecError

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


@pytest.mark.parametrize(
    "data", [None, [], {}, {"tasks": None}, {"master": {}}, {"other": {"tasks": []}}]
)
def test_what_is_no_such_file_is_no_empty_plan(data):
    """With where the tasks should be."""
    with pytest.raises(CodecError, match="list of task-master"):
        from_taskmaster(data)


def test_all_faults_are_named_at_once():
    """Of tasks, and of what they hold."""
    wrong = [
        5,
        {"id": 1, "title": "a", "status": "doing", "subtasks": [7, {"id": 1}]},
        {"id": 2, "title": "b", "subtasks": "none"},
    ]
    with pytest.raises(CodecError) as caught:
        from_taskmaster({"tasks": wrong})
    found = [problem.path for problem in caught.value.data["problems"]]
    assert found[:4] == ["tasks[0]", "tasks[1].status", "tasks[2]", "tasks[3].title"]
    assert len(found) == 4
