"""The tool set `tasks`: TaskCreate, TaskGet, TaskList, TaskUpdate, as Claude and AgentScope do."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import attrs

from todoplan.core.commands import CreateTask, CreateTasks, DeleteTask, UpdateTask
from todoplan.core.plan.fast_constructor import fast_constructor, fast_keyword_constructor
from todoplan.core.plan.validation import short_repr
from todoplan.core.problems import Problem
from todoplan.dialogue.intake.fields import Field, Kind
from todoplan.dialogue.intake.vocabulary import DELETED
from todoplan.dialogue.tools.todos import TITLES
from todoplan.dialogue.tools.toolset import Query, Request, Tool, ToolSet
from todoplan.errors import PlanError

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
    # Hidden: a plan is created before it is worked on. A model that starts a task with its creation
    # is understood, and so is one that names dependents instead of blockers.
    Field("status", "status", Kind.STATUS, aliases=("state",), hidden=True),
    *_DETAILS,
    # Claude takes no edges here, yet prompts written for it assume them (orchestkit#2188).
    Field(
        "blockedBy", "blocked_by", Kind.REFS, aliases=("dependsOn", "dependencies", "addBlockedBy")
    ),
    Field("blocks", "blocks", Kind.REFS, aliases=("addBlocks",), hidden=True),
)
_CREATE = (
    attrs.evolve(_NEW[0], required=False),
    *_NEW[1:],
    # Several at once: models make up a bulk tool where there is none (evonic#80). A later entry
    # names an earlier one as "#0", as in hezo#216.
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
    if "tasks" in values:
        if beside := next((key for key in values if key != "tasks"), None):
            return Problem("beside_tasks", path=beside, legal="tasks")
        if not values["tasks"]:
            return Problem("missing_field", path="tasks", legal="tasks")
        return _several(tuple(_new(**entry) for entry in values["tasks"]))
    if "subject" not in values:
        return Problem("missing_field", path="subject", legal="subject")
    # "#1" is the second task of a call that creates several; where there is but one, it can only
    # mean the task 1 that is there.
    edges = {
        name: tuple(task_id.lstrip("#") for task_id in values[name])
        for name in ("blocked_by", "blocks")
        if name in values
    }
    return _new(**{**values, **edges})


def _get(values: Mapping[str, Any]) -> Request:
    return Query(values["task_id"])


def _list(_: Mapping[str, Any]) -> Request:
    return Query()


def _update(values: Mapping[str, Any]) -> Request:
    # Deleting is no status, but a fifth tool for it would cost its schema in every request.
    if values.get("status") == DELETED:
        return DeleteTask(values["task_id"])
    return _change(**values)


def _styled(fields: tuple[Field, ...], keys: KeyStyle) -> tuple[Field, ...]:
    if keys == "camel":
        return fields
    return tuple(
        attrs.evolve(field, name=field.target, items=_styled(field.items, keys)) for field in fields
    )


# Made once each: tables are cached by the identity of a tool's fields.
_SETS: dict[KeyStyle, ToolSet] = {
    keys: ToolSet(
        "tasks",
        (
            Tool("TaskCreate", _styled(_CREATE, keys), _create, adds_only=True),
            Tool("TaskGet", _styled((_id(),), keys), _get, read_only=True),
            Tool("TaskList", (), _list, read_only=True),
            Tool("TaskUpdate", _styled(_UPDATE, keys), _update),
        ),
        "TaskUpdate",
        expression="TASKS" if keys == "camel" else f"tasks({keys!r})",
    )
    for keys in get_args(KeyStyle)
}


def tasks(keys: KeyStyle = "camel") -> ToolSet:
    """
    Return the tool set with argument names as Claude ("camel") or AgentScope ("snake") spells them.

    Either spelling is understood whichever is shown.

    Raises:
        PlanError: `keys` is neither.
    """
    if keys not in get_args(KeyStyle):  # compared, not hashed: any object may come here
        msg = f"{short_repr(keys)} is no spelling; write tasks('camel') or tasks('snake')"
        raise PlanError(msg, seen=keys)
    return _SETS[keys]


TASKS = tasks()
"""The tool set with names as Claude spells them."""
