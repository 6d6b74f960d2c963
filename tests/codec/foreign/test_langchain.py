"""Laws of LangChain's todos: what they can hold comes back, the rest is named or refused."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from support.documents import plans

from todoplan.codec import from_langchain, to_langchain
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Priority, Status, Task, Waiting
from todoplan.errors import CodecError

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)


@given(plans())
def test_what_todos_hold_comes_back(plan):
    """Order, text, status, wait, active form and priority survive; cancelled tasks are left out."""
    todos = to_langchain(plan)
    read = from_langchain(todos)
    kept = [task for task in plan if task.status is not Status.CANCELLED]
    assert [(t.subject, t.status, t.waiting, t.active_form, t.priority) for t in read] == [
        (t.subject, t.status, t.waiting, t.active_form, t.priority) for t in kept
    ]
    assert {todo["status"] for todo in todos} <= {"pending", "in_progress", "completed"}
    assert [task.id for task in read] == [str(place + 1) for place in range(len(kept))]


def test_todos_are_plain_data():
    """A bare todo has LangChain's two keys; the others stand only where they are set."""
    full = Task("2", "b", active_form="doing b", priority=Priority.LOW, status=Status.IN_PROGRESS)
    plan = plan_of((Task("1", "a"), full, Task("3", "c", status=Status.CANCELLED)))
    assert to_langchain(plan) == [
        {"content": "a", "status": "pending"},
        {"content": "b", "status": "in_progress", "activeForm": "doing b", "priority": "low"},
    ]
    assert type(to_langchain(plan)[0]["status"]) is str


def test_all_faults_are_named_at_once():
    """Nothing is coerced and nothing dropped: a fourth status or another field is a fault."""
    with pytest.raises(CodecError) as caught:
        from_langchain([{"content": 5, "status": "cancelled"}, {"status": "pending", "id": "1"}, 5])
    assert [problem.path for problem in caught.value.data["problems"]] == [
        "todos[0].content",
        "todos[0].status",
        "todos[1].content",
        "todos[1].id",
        "todos[2]",
    ]


@pytest.mark.parametrize("todos", [None, "[]", {"todos": []}])
def test_todos_are_an_array(todos):
    """What is no list is no empty plan."""
    with pytest.raises(CodecError, match="this is no list of todos: todos: "):
        from_langchain(todos)


def test_a_todo_without_text_is_no_task():
    """The core's rule holds for imports too."""
    with pytest.raises(CodecError, match="empty_text"):
        from_langchain([{"content": " ", "status": "pending"}])


def test_failed_and_waiting_stand_beside_a_status_of_theirs():
    """Nothing there fails or waits: such a task is pending, and what it is stands beside that."""
    waiting = Waiting("Bob", AT, "Which?")
    plan = plan_of(
        [Task("1", "a", status=Status.FAILED), Task("2", "b", waiting=waiting), Task("3", "c")]
    )
    todos = to_langchain(plan)
    assert todos == [
        {"content": "a", "status": "pending", "failed": True},
        {
            "content": "b",
            "status": "pending",
            "waiting": {"reason": "Bob", "until": AT.isoformat(), "question": "Which?"},
        },
        {"content": "c", "status": "pending"},
    ]
    assert list(from_langchain(todos)) == list(plan)


@pytest.mark.parametrize("status", ["in_progress", "completed"])
def test_a_status_that_somebody_set_there_holds(status):
    """Whoever started or completed such a task did not know that it had failed or waits."""
    beside = {"failed": True, "waiting": {"reason": "Bob"}}
    read = from_langchain([{"content": "a", "status": status, **beside}])
    assert list(read) == [Task("1", "a", status=status)]
    assert from_langchain([{"content": "a", "status": "pending", **beside}])["1"].waiting is None


def test_what_stands_beside_is_read_strictly():
    """Nothing is coerced there either."""
    for beside, path in (
        ({"failed": False}, r"todos\[0\].failed: false is not true"),
        ({"failed": 1}, r"todos\[0\].failed: 1 is not true"),
        ({"waiting": "Bob"}, r"todos\[0\].waiting: \"Bob\" is no object"),
        ({"waiting": {"until": "noon"}}, r"todos\[0\].waiting.until"),
    ):
        with pytest.raises(CodecError, match=path):
            from_langchain([{"content": "a", "status": "pending", **beside}])


def test_a_wait_that_json_cannot_hold_is_named():
    """With its path."""
    bad = Waiting("x")
    object.__setattr__(bad, "reason", 5)
    with pytest.raises(CodecError, match=r"waiting.reason: 5 is no text"):
        to_langchain([Task("1", "a", waiting=bad)])
