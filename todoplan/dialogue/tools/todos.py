"""The tool set `todos`: the whole list in one call, as in LangChain and Claude's TodoWrite."""

from collections.abc import Mapping
from typing import Any

from todoplan.core.commands import WriteTodos
from todoplan.core.plan.fast_constructor import fast_constructor
from todoplan.core.plan.model import Todo
from todoplan.dialogue.intake.fields import Field, Kind
from todoplan.dialogue.tools.toolset import Query, Request, Tool, ToolSet

__all__ = ["SUBTASKS", "TITLES", "TODOS", "WAITS", "WRITE_TODOS", "write_tool"]

TITLES = ("content", "subject", "title", "text", "task", "name", "step", "todo", "item")
"""Names of an entry's title in the tools of other systems."""

WAITS = ("waitingFor", "waitsFor", "waitFor", "waitingOn", "blockedReason")
"""Names of the reason for waiting in the tools of other systems."""

SUBTASKS = Field(
    "subtasks", "subtasks", Kind.SUBTASKS, hidden=True, aliases=("children", "subitems", "subtodos")
)
"""Nested entries. No tool publishes them, since they cost tokens, but many models send them."""

_list = fast_constructor(WriteTodos)


def _entry(title: str) -> tuple[Field, ...]:
    return (
        # "description" is the title only if there is no other key for it.
        Field(title, "content", Kind.LINE, required=True, aliases=TITLES, weak=("description",)),
        # Published as required, but may be missing: LangChain refuses an entry without it, which
        # costs a round trip, although a new task is pending anyway.
        Field("status", "status", Kind.STATUS, required=True, lenient=True, aliases=("state",)),
        Field("activeForm", "active_form", Kind.LINE),
        Field("priority", "priority", Kind.PRIORITY),
        # Accepted for models that number their items, but not published: it would cost tokens in
        # every entry of every write, and the text identifies the task as well.
        Field("id", "id", Kind.ID_HINT, aliases=("taskId", "todo_id"), hidden=True),
        Field("waiting", "waiting", Kind.WAITING, aliases=WAITS, weak=("needs",), hidden=True),
        Field("parent", "parent", Kind.PARENT, aliases=("parentId", "parentTask"), hidden=True),
        SUBTASKS,
    )


def write_tool(key: str, list_name: str = "todos", title: str = "content", *extra: Field) -> Tool:
    """Return a whole-list tool with the argument names of some other system."""
    fields = (
        Field(
            list_name,
            "todos",
            Kind.ITEMS,
            required=True,
            aliases=("plan", "items", "tasks", "todo_list", "list"),
            items=_entry(title),
            entry=Todo,
        ),
        # OpenHands treats a missing list as an empty one and wipes the plan. Here clearing needs an
        # argument of its own.
        Field("clear", "clear", Kind.FLAG),
        *extra,
    )
    return Tool(key, fields, _write, whole_list=True)


def _write(values: Mapping[str, Any]) -> Request:
    return _list(tuple(values["todos"]), values.get("clear", False))


def _read(_: Mapping[str, Any]) -> Request:
    return Query()


TODOS = ToolSet(
    "todos",
    (write_tool("write_todos"), Tool("read_todos", (), _read, read_only=True)),
    "write_todos",
    by_id=False,
    expression="TODOS",
)
"""The tools `write_todos` and `read_todos`."""

WRITE_TODOS = ToolSet(
    "todos", (write_tool("write_todos"),), "write_todos", by_id=False, expression="WRITE_TODOS"
)
"""The tool `write_todos` alone, as in LangChain's middleware."""
