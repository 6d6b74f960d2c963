"""The tool set `todos`: the whole list in one call, and the variants that other systems name."""

from support.talk import planned, texts_of

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.intake import Field, Kind, read
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS, WRITE_TODOS, write_tool


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
