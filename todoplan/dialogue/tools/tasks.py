"""The tool set `tasks`: TaskCreate, TaskGet, TaskList, TaskUpdate, as in Claude and AgentScope."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import attrs

from todoplan.core.commands import Batch, ClaimTask, CreateTask, CreateTasks, DeleteTask, UpdateTask
from todoplan.core.plan.fast_constructor import fast_constructor, fast_keyword_constructor
from todoplan.core.plan.model import Status, Waiting
from todoplan.core.plan.validation import short_repr
from todoplan.core.problems import Problem
from todoplan.dialogue.intake.fields import Field, Kind
from todoplan.dialogue.intake.read import BY_OWN_ID, OWN_ID, WITHIN
from todoplan.dialogue.intake.vocabulary import DELETED
from todoplan.dialogue.tools.todos import SUBTASKS, TITLES, WAITS
from todoplan.dialogue.tools.toolset import CLAIM, Ignoring, Query, Request, Tool, ToolSet
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
_PARENTS = ("parent", "parentTask")
_WAITING = Field("waitingFor", "waiting", Kind.LINE, aliases=WAITS, clears=True)
_NEW = (
    Field("subject", "subject", Kind.LINE, required=True, aliases=TITLES),
    Field("description", "description", Kind.TEXT, aliases=("details", "notes")),
    # Hidden, since a plan is created before work starts. But a model may start a task when it
    # creates it, and may name dependent tasks instead of blockers.
    Field("status", "status", Kind.STATUS, aliases=("state",), hidden=True),
    *_DETAILS,
    # Claude accepts no edges here, yet prompts written for it use them (orchestkit#2188).
    Field(
        "blockedBy",
        "blocked_by",
        Kind.REFS,
        aliases=("dependsOn", "dependencies", "addBlockedBy", "needs"),
    ),
    Field("blocks", "blocks", Kind.REFS, aliases=("addBlocks",), hidden=True),
    Field("parentId", "parent", Kind.REF, aliases=_PARENTS),
    attrs.evolve(_WAITING, hidden=True),
    SUBTASKS,
)
# The plan assigns the ids. An id in an entry only serves to refer to it within the same call.
_ENTRY = (*_NEW, Field(OWN_ID, OWN_ID, Kind.OWN_ID, aliases=("taskId", "todo_id"), hidden=True))
_CREATE = (
    attrs.evolve(_NEW[0], required=False),
    *_NEW[1:-1],
    # Several tasks in one call: without this, models invent a bulk tool (evonic#80). A later entry
    # refers to an earlier one as "#0", as in hezo#216.
    Field("tasks", "tasks", Kind.ITEMS, aliases=("items", "todos"), items=_ENTRY),
    attrs.evolve(SUBTASKS, kind=Kind.ITEMS, items=_ENTRY),
)
_UPDATE = (
    _id(),
    Field("status", "status", Kind.STATUS_OR_DELETED, aliases=("state",)),
    Field("subject", "subject", Kind.LINE, aliases=("content", "title", "name", "text")),
    Field("description", "description", Kind.TEXT, aliases=("details", "notes")),
    *_DETAILS,
    Field("addBlocks", "add_blocks", Kind.IDS, aliases=("blocks",)),
    Field("addBlockedBy", "add_blocked_by", Kind.IDS, aliases=("blockedBy", "dependsOn", "needs")),
    Field("removeBlocks", "remove_blocks", Kind.IDS),
    Field("removeBlockedBy", "remove_blocked_by", Kind.IDS, aliases=("removeDependsOn",)),
    Field("parentId", "parent", Kind.ID, aliases=_PARENTS, clears=True),
    _WAITING,
)


_new, _change = fast_keyword_constructor(CreateTask), fast_keyword_constructor(UpdateTask)
_several = fast_constructor(CreateTasks)
_EDGES = frozenset({"blocked_by", "blocks"})


def _create(values: Mapping[str, Any]) -> Request:
    if "tasks" in values:
        if beside := next((key for key in values if key != "tasks"), None):
            return Problem("beside_tasks", path=beside, legal="tasks")
        if not values["tasks"]:
            return Problem("missing_field", path="tasks", legal="tasks")
        return _created(values["tasks"])
    if "subject" not in values:
        return Problem("missing_field", path="subject", legal="subject")
    # "#1" is the second task of a call that creates several tasks. If the call creates one task,
    # it can only mean the existing task 1.
    own = {**values}
    subtasks = own.pop("subtasks", ())
    if not _EDGES.isdisjoint(own):
        for name in _EDGES & own.keys():
            own[name] = tuple(task_id.lstrip("#") for task_id in own[name])
    if "parent" in own:
        own["parent"] = own["parent"].lstrip("#")
    if not subtasks:
        return _new(**(_with_wait(own) if "waiting" in own else own))
    inner = [
        entry
        if entry.get("parent", "").startswith(BY_OWN_ID) and WITHIN not in entry
        else {**entry, WITHIN: entry.get(WITHIN, -1) + 1}
        for entry in subtasks
    ]
    return _created([own, *inner], before=1)


def _created(entries: Sequence[Mapping[str, Any]], before: int = 0) -> CreateTasks:
    """
    Return the command that creates these entries, with nested entries as subtasks.

    `before` is the number of entries that precede the list to which the references refer.
    """
    tops = [place for place, entry in enumerate(entries) if WITHIN not in entry]
    items: list[CreateTask] = []
    for entry in entries:
        values = _with_wait(entry)
        outer = values.pop(WITHIN, None)
        for name in _EDGES & values.keys():
            values[name] = tuple(_moved(ref, tops, before) for ref in values[name])
        if "parent" in values:
            values["parent"] = _moved(values["parent"], tops, before)
        if outer is not None:
            values["parent"] = f"#{outer}"
        items.append(_new(**values))
    return _several(tuple(items))


def _moved(reference: str, tops: Sequence[int], before: int) -> str:
    if reference.startswith(BY_OWN_ID):
        return f"#{int(reference.removeprefix(BY_OWN_ID)) + before}"
    # The model counts only the top entries of its list, without nested ones.
    place = int(reference[1:]) if reference.startswith("#") else len(tops)
    return f"#{tops[place]}" if place < len(tops) else reference


def _with_wait(values: Mapping[str, Any]) -> dict[str, Any]:
    reason = values.get("waiting")
    return {**values, "waiting": Waiting(reason)} if reason else dict(values)


def _get(values: Mapping[str, Any]) -> Request:
    return Query(values["task_id"])


def _list(_: Mapping[str, Any]) -> Request:
    return Query()


def _update(values: Mapping[str, Any]) -> Request:
    # "deleted" is no status of a plan, but a separate tool would cost its schema in every request.
    if values.get("status") == DELETED:
        ignored = tuple(name for name in values if name not in {"task_id", "status"})
        deletion = DeleteTask(values["task_id"])
        return Ignoring(deletion, ignored) if ignored else deletion
    return _change(**(_with_wait(values) if "waiting" in values else values))


def _update_in_team(values: Mapping[str, Any]) -> Request:
    own = {key: value for key, value in values.items() if key not in {CLAIM, "status"}}
    if values.get("status") is not Status.IN_PROGRESS:
        return _update({**own, **({"status": values["status"]} if "status" in values else {})})
    # Starting a task claims it: two agents would both work on a started task without a claim.
    claim = _claim(values)
    return Batch((_change(**_with_wait(own)), claim)) if len(own) > 1 else claim


def _claim(values: Mapping[str, Any]) -> ClaimTask:
    as_whom: ClaimTask = values[CLAIM]
    return attrs.evolve(as_whom, task_id=values.get("task_id"))


def _styled(fields: tuple[Field, ...], keys: KeyStyle) -> tuple[Field, ...]:
    if keys == "camel":
        return fields
    return tuple(
        attrs.evolve(field, name=_snake(field.name), items=_styled(field.items, keys))
        for field in fields
    )


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def _toolset(keys: KeyStyle, *, team: bool) -> ToolSet:
    create = Tool("TaskCreate", _styled(_CREATE, keys), _create, adds_only=True)
    get = Tool("TaskGet", _styled((_id(),), keys), _get, read_only=True)
    listing = Tool("TaskList", (), _list, read_only=True)
    tools = [create, get, listing]
    fields, wanted = _styled(_UPDATE, keys), (attrs.evolve(_id(), required=False),)
    options = [] if keys == "camel" else [repr(keys)]
    if team:
        tools.append(Tool("TaskUpdate", fields, _update_in_team, for_hand=True))
        tools.append(Tool("TaskClaim", _styled(wanted, keys), _claim, for_hand=True))
        options.append("team=True")
    else:
        tools.append(Tool("TaskUpdate", fields, _update))
    expression = f"tasks({', '.join(options)})" if options else "TASKS"
    return ToolSet("tasks", tuple(tools), "TaskUpdate", expression=expression, team=team)


# Each set is made once, because tables are cached by the identity of a tool's fields.
_SETS: dict[tuple[KeyStyle, bool], ToolSet] = {
    (keys, team): _toolset(keys, team=team) for keys in get_args(KeyStyle) for team in (False, True)
}


def tasks(keys: KeyStyle = "camel", *, team: bool = False) -> ToolSet:
    """
    Return the tool set with argument names as Claude ("camel") or AgentScope ("snake") spells them.

    Both spellings are accepted, whichever is published. For a `team`, that is agents that share a
    plan, there is a fifth tool, `TaskClaim`, and setting a task in progress claims it.

    Raises:
        PlanError: `keys` is neither "camel" nor "snake".
    """
    if keys not in get_args(KeyStyle):  # compared, not hashed, since the argument may be any object
        msg = f"{short_repr(keys)} is no spelling; write tasks('camel') or tasks('snake')"
        raise PlanError(msg, seen=keys)
    return _SETS[keys, team]


TASKS = tasks()
"""The tool set with Claude's argument names."""
