"""
The tool set `lean`, our own: one tool that writes a plan once and then changes it by id.

It is designed for the fewest tokens. Completing a task starts the next ready one, so a step of the
plan costs one short call. A subtask is an indented line, and reasons for waiting are a free object
by task id: of all shapes, these two cost the fewest tokens in the schema and in each call.
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
from todoplan.dialogue.tools.toolset import CLAIM, Query, Request, Tool, ToolSet

__all__ = ["LEAN", "lean", "not_started"]

# Ids are published as integers: each costs one token less than as a string.
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
    Field("wait", "wait", Kind.WAITS, aliases=("waiting", "on_hold", "blocked", *WAITS)),
    Field("fail", "fail", Kind.IDS, numeric=True, aliases=("failed",)),
    # Not published, because the next ready task starts by itself; accepted if a model sends it.
    Field("start", "start", Kind.IDS, numeric=True, hidden=True),
)
# Starting a task claims it: two agents would both work on a started task without a claim.
_TEAM_FIELDS = (
    *_FIELDS[:-1],
    Field("next", "next", Kind.FLAG, aliases=("claimNext",)),
    Field("claim", "claim", Kind.IDS, numeric=True, aliases=("start", "take")),
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
    Make one command of a call, in the order of the fields.

    So a task that the same call writes can be edited, and one that it adds can be started.
    """
    commands = _commands(values)
    if not commands:
        return Query()
    # A call that only edits tasks is no progress, and must not start a task.
    if len(commands) > len(values.get("edit", ())):
        # Measured with minimal texts and 20 tasks: 55,000 tokens are re-read, against 100,000 if
        # each change of status is a call of its own.
        commands.append(StartNext())
    return _batch(tuple(commands))


def not_started(request: Command) -> Command:
    """
    Return a call's command without the automatic start of the next task.

    While the plan is not approved, no task may start, but the rest of the call is carried out.
    """
    if isinstance(request, Batch) and request.commands and request.commands[-1] == StartNext():
        return attrs.evolve(request, commands=request.commands[:-1])
    return request


def _plan_of_team(values: Mapping[str, Any]) -> Request:
    """
    Make one command of a call in a team: no task starts by itself, since it would have no claim.
    """
    commands, claim = _commands(values), values[CLAIM]
    commands += [attrs.evolve(claim, task_id=task_id) for task_id in values.get("claim", ())]
    if values.get("next"):
        commands.append(claim)
    return _batch(tuple(commands)) if commands else Query()


def _commands(values: Mapping[str, Any]) -> list[Command]:
    commands: list[Command] = []
    # An empty list does not clear the plan, and this set has no `clear`.
    if values.get("write"):
        commands.append(_write(tuple(_todos(values["write"]))))
    if values.get("add"):
        commands.append(_create(tuple(map(_added, values["add"]))))
    for entry in values.get("edit", ()):
        changes = dict(entry)
        commands.append(_update_by_name(add_blocked_by=changes.pop("after", ()), **changes))
    for task_id, reason in values.get("wait", ()):
        commands.append(UpdateTask(task_id, waiting=Waiting(reason) if reason else None))
    for key, status in _STATUSES.items():
        commands += [_update(task_id, status) for task_id in values.get(key, ())]
    return commands


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
"""The tool `plan`: write, done, add, edit, drop, wait, fail. No arguments: it shows the plan."""

_TEAM = ToolSet(
    "lean",
    (Tool("plan", _TEAM_FIELDS, _plan_of_team, for_hand=True),),
    "plan",
    expression="lean(team=True)",
    team=True,
)


def lean(*, team: bool = False) -> ToolSet:
    """
    Return the tool set.

    For a `team`, that is agents that share a plan, it also has `next` and `claim`: an agent claims
    a task before it works on it, and no task starts by itself.
    """
    return _TEAM if team else LEAN
