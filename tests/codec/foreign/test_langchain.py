"""Laws of LangChain's todos: what they can hold comes back, the rest is named or refused."""

import pytest
from hypothesis import given
from support.documents import plans

from todoplan.codec import from_langchain, to_langchain
from todoplan.core.decide.assembly import plan_of
from todoplan.core.plan.model import Priority, Status, Task
from todoplan.errors import CodecError


@given(plans())
def test_what_todos_hold_comes_back(plan):
    """Order, text, status, active form and priority survive; cancelled tasks are left out."""
    read = from_langchain(to_langchain(plan))
    kept = [task for task in plan if task.status is not Status.CANCELLED]
    assert [(t.subject, t.status, t.active_form, t.priority) for t in read] == [
        (t.subject, t.status, t.active_form, t.priority) for t in kept
    ]
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
