"""
The planning tools of other systems as commands of ours: argument shapes from `dialogue` fields.
"""

import re
from collections.abc import Mapping
from typing import Any

import attrs

from todoplan.dialogue.intake.fields import Field, Kind
from todoplan.dialogue.tools.lean import LEAN
from todoplan.dialogue.tools.tasks import tasks
from todoplan.dialogue.tools.todos import write_tool
from todoplan.dialogue.tools.toolset import Query, Request, Tool
from todoplan.transcripts.calls import CallResult

__all__ = ["FOREIGN_STATUS_WORDS", "RECORDED", "checklist", "created_id", "created_ids", "listed"]

FOREIGN_STATUS_WORDS = frozenset(
    {"todo", "done", "not-started", "in-progress", "open", "cancelled"}
)
"""Status words that are some system's own: reading them is no repair of a model's mistake."""

# Claude Code says "Task #1 created", AgentScope "Task (id=1) created".
_CREATED = re.compile(r"(?:#|\(id=)\s*(\d{1,15})")
_ALL_CREATED = re.compile(r"\A\d[^\n]*?[:;] #(\d{1,15})(?:-#(\d{1,15}))? created")


_PARENTS = frozenset({"parent", "parent_id", "parentId"})


def _reading_if(key: str, word: str) -> Field:
    return Field(key, f"reads_{word}", Kind.LINE, hidden=True)


def _whole(*extra: Field) -> Tool:
    """
    Return a whole-list tool that also reads the list, by a word or when no list is given.
    """
    base = write_tool("write_todos", "todos", "content", *extra)
    todos = attrs.evolve(
        base.fields[0], lenient=True, aliases=(*base.fields[0].aliases, "task_list")
    )

    def request(values: Mapping[str, Any]) -> Request:
        reads = any(values.get(one.target) == one.target.removeprefix("reads_") for one in extra)
        # Kimi and Hermes read by leaving the list out.
        if reads or "todos" not in values:
            return Query()
        return base.request(values)

    return attrs.evolve(base, fields=(todos, *base.fields[1:]), request=request)


_WRITES = _whole()
_MERGES = _whole(Field("merge", "merge", Kind.FLAG, hidden=True))
_READS = Tool("read_todos", (), lambda _: Query(), read_only=True)

RECORDED: dict[str, Tool] = {
    **{tool.key: tool for tool in (*tasks().tools, *LEAN.tools)},
    # Under this name also Cursor's `todo_write`, which may merge.
    "TodoWrite": _MERGES,
    "todo_list": _MERGES,
    "write_todos": _WRITES,
    "update_plan": _WRITES,
    "todos": _WRITES,
    "SetTodoList": _WRITES,
    "task_tracker": _whole(_reading_if("command", "view")),
    "manage_todo_list": _whole(_reading_if("operation", "read")),
    "update_todo_list": _WRITES,
    "task_progress": _WRITES,
    "TodoRead": _READS,
    "read_todos": _READS,
}
"""How to read a call, by the tool's name in `todoplan.transcripts.tools`."""


_CHECK = re.compile(
    r"\s*(?:[-*+]|\d{1,4}[.)])?\s*\[(?P<mark>[ xX~*-]|[a-z][a-z_ -]{2,})\]\s+(?P<text>\S.*)"
)
_MARKS = {" ": "pending", "x": "completed", "-": "in_progress", "~": "in_progress"}


def checklist(text: str) -> list[dict[str, str]] | None:
    """
    Return the items of a list that is written as text, `None` if any line is something else.

    Roo and Cline write "- [x] A", Roo "[-] A" for what is in progress, Droid "1. [in_progress] A".
    Goose has headings between.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    found = [_CHECK.fullmatch(line) for line in lines]
    if not found or not all(found):
        return None
    return [
        {"content": one["text"].rstrip(), "status": _MARKS.get(one["mark"].lower(), one["mark"])}
        for one in found
        if one
    ]


def listed(arguments: Mapping[str, Any] | str) -> Mapping[str, Any] | str:
    """
    Return the arguments of a whole-list tool with a list that is written as text made one.
    """
    if isinstance(arguments, str):
        return arguments
    todos = arguments.get("todos")
    if arguments.get("merge") and isinstance(todos, list):
        # What lies in what is not moved by a merge: the one that is named may be in the plan alone.
        flat = [
            {key: value for key, value in one.items() if key not in _PARENTS}
            if isinstance(one, Mapping)
            else one
            for one in todos
        ]
        return {**arguments, "todos": flat}
    for key in ("todos", "content"):  # Goose: its list is the content of a note
        text = arguments.get(key)
        if isinstance(text, str) and (rows := checklist(text)) is not None:
            return {"todos": rows}
    return arguments


def created_id(result: CallResult | None) -> str | None:
    """
    Return the id that a TaskCreate was answered with: it stands nowhere else.
    """
    if result is None:
        return None
    task = (result.data or {}).get("task")
    recorded = task.get("id") if isinstance(task, Mapping) else None
    # As long as a call can name; int() refuses thousands of digits.
    if isinstance(recorded, str) and re.fullmatch(r"\d{1,18}", recorded):
        return recorded
    spelled = _CREATED.search(result.text)
    return spelled[1] if spelled else None


def created_ids(result: CallResult | None, most: int) -> tuple[str, ...]:
    """
    Return the ids that `lean` says it gave to new tasks, in order; at most so many.
    """
    answered = _ALL_CREATED.match(result.text) if result else None
    if answered is None:
        return ()
    first = int(answered[1])
    # An answer is not trusted with a range: there are no more ids than tasks were sent.
    last = min(int(answered[2] or answered[1]), first + most - 1)
    return tuple(map(str, range(first, last + 1)))
