"""
The tool set `lean`, our own: one tool, written once, then changed by id in the fewest tokens.

Completing a task starts the next ready one, so that a step of the plan costs one short call.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from todoplan.core.commands import (
    Batch,
    Command,
    CreateTask,
    CreateTasks,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.plan.fast_constructor import fast_constructor, fast_keyword_constructor
from todoplan.core.plan.model import Status, Todo
from todoplan.dialogue.intake.fields import Field, Kind
from todoplan.dialogue.tools.todos import TITLES
from todoplan.dialogue.tools.toolset import Query, Request, Tool, ToolSet

__all__ = ["LEAN"]

_TITLE = Field("text", "subject", Kind.LINE, required=True, aliases=TITLES, weak=("description",))
_AFTER = Field("after", "after", Kind.IDS, numeric=True, aliases=("blockedBy", "dependsOn"))
_FIELDS = (
    Field("write", "write", Kind.ITEMS, aliases=("plan", "tasks", "todos"), items=(_TITLE,)),
    Field("done", "done", Kind.IDS, numeric=True, aliases=("complete", "completed")),
    Field("add", "add", Kind.ITEMS, aliases=("create",), items=(_TITLE,)),
    Field(
        "edit",
        "edit",
        Kind.ITEMS,
        aliases=("update",),
        items=(
            Field("id", "task_id", Kind.ID, required=True, numeric=True, aliases=("taskId",)),
            Field("text", "subject", Kind.LINE, aliases=TITLES),
            _AFTER,
        ),
    ),
    Field("drop", "drop", Kind.IDS, numeric=True, aliases=("cancel", "remove", "delete")),
    Field("start", "start", Kind.IDS, numeric=True, hidden=True),
)


_todo, _new, _change = (
    fast_constructor(Todo),
    fast_constructor(CreateTask),
    fast_constructor(UpdateTask),
)
_edited = fast_keyword_constructor(UpdateTask)
_list, _several, _batch = (
    fast_constructor(WriteTodos),
    fast_constructor(CreateTasks),
    fast_constructor(Batch),
)


def _plan(values: Mapping[str, Any]) -> Request:
    commands = tuple(_commands(values))
    if not commands:
        return Query()
    only_edits = not any(values.get(key) for key in _MOVING)
    return _batch(commands if only_edits else (*commands, StartNext()))


def _commands(values: Mapping[str, Any]) -> Iterator[Command]:
    if values.get("write"):
        yield _list(tuple(_todo(entry["subject"]) for entry in values["write"]))
    if values.get("add"):
        yield _several(tuple(_new(entry["subject"]) for entry in values["add"]))
    for entry in values.get("edit", ()):
        yield _edit(entry)
    for key, status in _STATUSES.items():
        for task_id in values.get(key, ()):
            yield _change(task_id, status)


_MOVING = ("write", "add", "done", "drop", "start")
_STATUSES = {"done": Status.COMPLETED, "drop": Status.CANCELLED, "start": Status.IN_PROGRESS}


def _edit(entry: Mapping[str, Any]) -> Command:
    changes = dict(entry)
    after = changes.pop("after", ())
    return _edited(**changes, add_blocked_by=after)


LEAN = ToolSet("lean", (Tool("plan", _FIELDS, _plan),), "plan")
"""`plan`: write, done, add, edit, drop; without arguments it shows the plan."""
