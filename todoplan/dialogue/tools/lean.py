"""
The tool set `lean`, our own: one tool, written once, then changed by id in the fewest tokens.

Completing a task starts the next ready one, so that a step of the plan costs one short call. A
subtask is an indented line, and what tasks wait for stands in a free object, by id: of all shapes
these two cost the fewest tokens, in the schema and in each call.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

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
from todoplan.core.plan.model import Status, Todo, Waiting
from todoplan.dialogue.intake.fields import Field, Kind
from todoplan.dialogue.intake.read import WITHIN
from todoplan.dialogue.tools.todos import SUBTASKS, TITLES, WAITS
from todoplan.dialogue.tools.toolset import Query, Request, Tool, ToolSet

__all__ = ["LEAN"]

# Ids are published as integers: each is a token less than as a text.
_TITLE = Field("text", "subject", Kind.LINE, required=True, aliases=TITLES, weak=("description",))
_LINES = (_TITLE, SUBTASKS)
_PARENT = Field("parent", "parent", Kind.ID, aliases=("parentId", "under"), hidden=True)
_AFTER = Field(
    "after", "after", Kind.IDS, numeric=True, aliases=("blockedBy", "dependsOn", "needs")
)
_FIELDS = (
    Field("write", "write", Kind.ITEMS, aliases=("plan", "tasks", "todos"), items=_LINES),
    Field("done", "done", Kind.IDS, numeric=True, aliases=("complete", "completed")),
    Field("add", "add", Kind.ITEMS, aliases=("create",), items=(*_LINES, _PARENT)),
    Field(
        "edit",
        "edit",
        Kind.ITEMS,
        aliases=("update",),
        items=(
            Field("id", "task_id", Kind.ID, required=True, numeric=True, aliases=("taskId",)),
            Field("text", "subject", Kind.LINE, aliases=TITLES),
            _AFTER,
            attrs.evolve(_PARENT, clears=True),
        ),
    ),
    Field("drop", "drop", Kind.IDS, numeric=True, aliases=("cancel", "remove", "delete")),
    Field("wait", "wait", Kind.WAITS, aliases=("waiting", *WAITS)),
    Field("fail", "fail", Kind.IDS, numeric=True, aliases=("failed",)),
    # The next ready task starts by itself, so nobody needs this; who sends it is understood.
    Field("start", "start", Kind.IDS, numeric=True, hidden=True),
)


_todo, _new = fast_constructor(Todo), fast_constructor(CreateTask)
_update, _update_by_name = fast_constructor(UpdateTask), fast_keyword_constructor(UpdateTask)
_write, _create = fast_constructor(WriteTodos), fast_constructor(CreateTasks)
_batch = fast_constructor(Batch)
_STATUSES = {
    "done": Status.COMPLETED,
    "drop": Status.CANCELLED,
    "fail": Status.FAILED,
    "start": Status.IN_PROGRESS,
}


def _plan(values: Mapping[str, Any]) -> Request:
    """
    Make one command of all that stands in a call, in the order of the fields: what was written can
    be edited, what was added can be started.
    """
    commands: list[Command] = []
    # An empty list empties nothing: this set has no `clear`.
    if values.get("write"):
        commands.append(_write(tuple(_todos(values["write"]))))
    if values.get("add"):
        commands.append(_create(tuple(map(_added, values["add"]))))
    edits = values.get("edit", ())
    for entry in edits:
        changes = dict(entry)
        commands.append(_update_by_name(add_blocked_by=changes.pop("after", ()), **changes))
    for task_id, reason in values.get("wait", ()):
        commands.append(UpdateTask(task_id, waiting=Waiting(reason) if reason else None))
    for key, status in _STATUSES.items():
        commands += [_update(task_id, status) for task_id in values.get(key, ())]
    if not commands:
        return Query()
    # Who only corrects a text has not moved on, and would be surprised by a task that starts.
    if len(commands) > len(edits):
        # Measured on the barest texts, 20 tasks: 55,000 tokens are re-read, and 100,000 where each
        # change of status is a call of its own.
        commands.append(StartNext())
    return _batch(tuple(commands))


def _todos(entries: Sequence[Mapping[str, Any]]) -> list[Todo]:
    if not any(WITHIN in entry for entry in entries):
        return [_todo(entry["subject"]) for entry in entries]
    levels: list[int] = []
    for entry in entries:
        levels.append(levels[entry[WITHIN]] + 1 if WITHIN in entry else 0)
    return [
        Todo(entry["subject"], level=level) for entry, level in zip(entries, levels, strict=True)
    ]


def _added(entry: Mapping[str, Any]) -> CreateTask:
    if len(entry) == 1:
        return _new(entry["subject"])
    within = f"#{entry[WITHIN]}" if WITHIN in entry else None
    return CreateTask(entry["subject"], parent=within or entry.get("parent"))


LEAN = ToolSet("lean", (Tool("plan", _FIELDS, _plan),), "plan", expression="LEAN")
"""`plan`: write, done, add, edit, drop, wait, fail; without arguments it shows the plan."""
