"""The closed set of planning tool names that recordings are searched for, and how to know them."""

import re

__all__ = ["PLANNING_TOOLS", "canonical_tool", "is_planning_tool", "mentions_tool"]

PLANNING_TOOLS = (
    "TodoWrite",
    "TodoRead",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskUpdate",
    "update_plan",
    "write_todos",
    "read_todos",
    "todo_write",
    "todo_read",
    "task_tracker",
    "SetTodoList",
    "todos",
    "manage_todo_list",
)


def _bare(name: str) -> str:
    return name.replace("_", "").lower()


_KNOWN = {_bare(name): name for name in PLANNING_TOOLS}
_KNOWN["todowrite"], _KNOWN["todoread"] = "TodoWrite", "TodoRead"

_PREFIX = re.compile(r"^.*(?:__|[./:])")
_NAMES = tuple(name.encode() for name in _KNOWN)
_STEMS = (b"todo", b"task", b"plan")


def canonical_tool(name: str) -> str | None:
    """
    Give the name in `PLANNING_TOOLS` that this one stands for, or `None`.

    Case, underscores and a namespace before `__`, `.`, `/` or `:` make no difference, so
    `mcp__x__write_todos` and `Unity.WriteTodos` are both `write_todos`; the three spellings of
    `TodoWrite` are one.
    """
    return _KNOWN.get(_bare(_PREFIX.sub("", name)))


def is_planning_tool(name: str) -> bool:
    """
    Whether calls of this tool change or read a plan.
    """
    return canonical_tool(name) is not None


def mentions_tool(raw: bytes) -> bool:
    """
    Whether a planning tool's name may occur in these bytes: cheap, and never wrong about "no".
    """
    lower = raw.lower()
    if not any(stem in lower for stem in _STEMS):
        return False
    bare = lower.replace(b"_", b"")
    return any(name in bare for name in _NAMES)
