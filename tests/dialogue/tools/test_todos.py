"""The tool set `todos`: the whole list in one call, and the variants that other systems name."""

from support.talk import planned, texts_of, toolbox, write

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.intake import Field, Kind, read
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS, WRITE_TODOS, write_tool


def test_a_list_is_written_and_shown():
    """The receipt counts; the list itself comes from `read_todos` only."""
    entries = [
        {"content": "a", "status": "done", "id": 1},
        {"content": "b", "status": "in_progress", "id": "x"},
    ]
    reply = write(entries)
    assert reply.text.startswith("ok, 1/2 completed")
    shown = toolbox().call(reply.plan, "read_todos")
    assert shown.text == "#1 [completed] a\n#2 [in_progress] b"
    assert shown.plan is reply.plan


def test_an_id_says_which_task_is_meant():
    """An id of the plan's wins over the text; the model's own numbering is no fault."""
    plan = planned("a", "b")
    reply = write([{"id": "2", "content": "B"}, {"id": "todo_x", "content": "a"}], plan)
    assert [(task.id, task.subject) for task in reply.plan] == [("2", "B"), ("1", "a")]


def test_what_was_left_out_is_told():
    """Open items that a list drops are named, three of them, clipped."""
    plan = planned(*"abcde", "f" * 100)
    assert write(["a"], plan).text == (
        'ok, 0/1 completed; removed while open: "b", "c", "d", and 2 more'
    )
    assert write(["a", "b", "f" * 100], plan).text == (
        'ok, 0/3 completed; removed while open: "c", "d", "e"'
    )
    assert write([*"abcde"], plan).text == f'ok, 0/5 completed; removed while open: "{"f" * 57}..."'


def test_cancelled_items_are_counted():
    """Cancelled is a status like the others."""
    reply = write(
        [{"content": "a", "status": "cancelled"}, {"content": "b", "status": "completed"}]
    )
    assert reply.text == "ok, 1/2 completed, 1 cancelled"


def test_a_variant_of_another_system():
    """List and title may be named as elsewhere, and further arguments added."""
    tool = write_tool("update_plan", "plan", "step", Field("explanation", "reason", Kind.TEXT))
    given = read({"plan": [{"step": "a", "status": "pending"}], "explanation": "x"}, tool.fields)
    assert tool.request({key: given.values[key] for key in ("todos",)}).todos[0].content == "a"
    assert given.values["reason"] == "x"
    assert TODOS.find("write_todos").whole_list
    assert texts_of(Plan()) == []


def test_the_write_alone():
    """LangChain's middleware has one tool; it costs no second one."""
    assert WRITE_TODOS.tool_names == ("write_todos",)
    assert Toolbox(WRITE_TODOS).call(planned("a"), "read_todos").is_error
