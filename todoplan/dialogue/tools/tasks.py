"""The tool set `tasks`: TaskCreate, TaskGet, TaskList, TaskUpdate, as Claude and AgentScope do."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

import attrs

from todoplan.core.commands import CreateTask, CreateTasks, DeleteTask, UpdateTask
from todoplan.core.plan.fast_constructor import fast_constructor, fast_keyword_constructor
from todoplan.core.problems import Problem
from todoplan.dialogue.intake.fields import Field, Kind
from todoplan.dialogue.intake.vocabulary import DELETED
from todoplan.dialogue.tools.todos import TITLES
from todoplan.dialogue.tools.toolset import Query, Request, Tool, ToolSet

__all__ = ["TASKS", "KeyStyle", "tasks"]

KeyStyle = Literal["camel", "snake"]


def _id() -> Field:
    aliases = ("id", "todo_id", "task")
    return Field("taskId", "task_id", Kind.ID, required=True, aliases=aliases)


_DETAILS = (
    Field("activeForm", "active_form", Kind.LINE),
    Field("owner", "owner", Kind.LINE, aliases=("assignee",)),
    Field("priority", "priority", Kind.PRIORITY),
    Field("estimate", "estimate", Kind.MINUTES, aliases=("minutes", "estimate_minutes")),
    Field("metadata", "metadata", Kind.METADATA, aliases=("meta",)),
)
_NEW = (
    Field("subject", "subject", Kind.LINE, required=True, aliases=TITLES),
    Field("description", "description", Kind.TEXT, aliases=("details", "notes")),
    Field("status", "status", Kind.STATUS, aliases=("state",), hidden=True),
    *_DETAILS,
    Field(
        "blockedBy", "blocked_by", Kind.REFS, aliases=("dependsOn", "dependencies", "addBlockedBy")
    ),
    Field("blocks", "blocks", Kind.REFS, aliases=("addBlocks",), hidden=True),
)
_CREATE = (
    attrs.evolve(_NEW[0], required=False),
    *_NEW[1:],
    Field("tasks", "tasks", Kind.ITEMS, aliases=("items", "todos"), items=_NEW),
)
_UPDATE = (
    _id(),
    Field("status", "status", Kind.STATUS_OR_DELETED, aliases=("state",)),
    Field("subject", "subject", Kind.LINE, aliases=("content", "title", "name", "text")),
    Field("description", "description", Kind.TEXT, aliases=("details", "notes")),
    *_DETAILS,
    Field("addBlocks", "add_blocks", Kind.IDS, aliases=("blocks",)),
    Field("addBlockedBy", "add_blocked_by", Kind.IDS, aliases=("blockedBy", "dependsOn")),
    Field("removeBlocks", "remove_blocks", Kind.IDS),
    Field("removeBlockedBy", "remove_blocked_by", Kind.IDS, aliases=("removeDependsOn",)),
)


_new, _change = fast_keyword_constructor(CreateTask), fast_keyword_constructor(UpdateTask)
_several = fast_constructor(CreateTasks)


def _create(values: Mapping[str, Any]) -> Request:
    if "tasks" not in values:
        return _create_one(values)
    if beside := next((key for key in values if key != "tasks"), None):
        return Problem("beside_tasks", path=beside, legal="tasks")
    if not values["tasks"]:
        return Problem("missing_field", path="tasks", legal="tasks")
    return _several(tuple(_new(**entry) for entry in values["tasks"]))


def _create_one(values: Mapping[str, Any]) -> Request:
    if "subject" not in values:
        return Problem("missing_field", path="subject", legal="subject")
    given = dict(values)
    for ends in ("blocked_by", "blocks"):
        if ends in given:
            given[ends] = tuple(end.lstrip("#") for end in given[ends])
    return _new(**given)


def _get(values: Mapping[str, Any]) -> Request:
    return Query(values["task_id"])


def _list(_: Mapping[str, Any]) -> Request:
    return Query()


def _update(values: Mapping[str, Any]) -> Request:
    if values.get("status") == DELETED:
        return DeleteTask(values["task_id"])
    return _change(**values)


@cache
def tasks(keys: KeyStyle = "camel") -> ToolSet:
    """
    Return the tool set with argument names as Claude ("camel") or AgentScope ("snake") spells them.

    Either spelling is understood whichever is shown.
    """
    return ToolSet(
        "tasks",
        (
            Tool("TaskCreate", _styled(_CREATE, keys), _create, adds_only=True),
            Tool("TaskGet", _styled((_id(),), keys), _get, read_only=True),
            Tool("TaskList", (), _list, read_only=True),
            Tool("TaskUpdate", _styled(_UPDATE, keys), _update),
        ),
        "TaskUpdate",
    )


def _styled(fields: tuple[Field, ...], keys: KeyStyle) -> tuple[Field, ...]:
    if keys == "camel":
        return fields
    return tuple(
        attrs.evolve(field, name=field.target, items=_styled(field.items, keys)) for field in fields
    )


TASKS = tasks()
"""The tool set with names as Claude spells them."""
