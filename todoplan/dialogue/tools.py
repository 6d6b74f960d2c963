"""
Tool sets: the tools offered to a model, independent of any framework and policy.

This module is divided into sections. Read `toolset` first, then the three sets: `todos` (the whole
list in one call), `tasks` (one task at a time), and `lean` (designed for todoplan, with the fewest
tokens). `registry` lists all sets. `schema` builds the JSON Schemas of their fields. In `toolset`,
`require_met` refuses a policy that no call of a set could satisfy.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Any, Literal, cast, get_args

import attrs

from todoplan.core.commands import (
    Batch,
    ClaimTask,
    Command,
    CreateTask,
    CreateTasks,
    DeleteTask,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.plan.model import (
    TASK_FIELDS,
    FieldKind,
    Status,
    TaskField,
    Todo,
    Waiting,
    fast_constructor,
    short_repr,
    tuple_of,
)
from todoplan.core.problems import Problem
from todoplan.core.rules import Policy, Severity
from todoplan.dialogue.intake import BY_OWN_ID, DELETED, OWN_ID, PUBLISHED, WITHIN, Field, Kind
from todoplan.errors import PlanError
from todoplan.texts import fill, wording

# -------- schema --------
# JSON Schema (draft 2020-12) of a tool's arguments, plain or for OpenAI's strict mode.


About = Callable[[str], str]
"""Returns the description of a field, or "", for a path of target names ("todos.active_form")."""


_TEXT: dict[str, Any] = {"type": "string"}
_LIST: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
_SHAPES: dict[Kind, dict[str, Any]] = {
    Kind.LINE: _TEXT,
    Kind.TEXT: _TEXT,
    **{kind: {"type": "string", "enum": [*words]} for kind, words in PUBLISHED.items()},
    Kind.ID: _TEXT,
    Kind.ID_HINT: _TEXT,
    Kind.REF: _TEXT,
    Kind.IDS: _LIST,
    Kind.REFS: _LIST,
    Kind.MINUTES: {"type": "number"},
    Kind.DATE: _TEXT,
    Kind.FLAG: {"type": "boolean"},
    Kind.METADATA: {"type": "object"},
    Kind.WAITS: {"type": "object"},
}
_STRICT_SHAPES = {**_SHAPES, Kind.METADATA: _TEXT, Kind.WAITS: _TEXT}
_NUMERIC_SHAPES: dict[Kind, dict[str, Any]] = {
    Kind.ID: {"type": "integer"},
    Kind.IDS: {"type": "array", "items": {"type": "integer"}},
}


def arguments_schema(
    fields: tuple[Field, ...],
    about: About = lambda _: "",
    prefix: str = "",
    *,
    strict: bool = False,
) -> dict[str, Any]:
    """
    Return the schema of an object with these fields.

    The description of a field is `about(path)`; the path begins with `prefix`. With `strict`, every
    property is required, a property for an optional field may be null, and no other property is
    allowed. An object with free keys becomes a string with JSON, since strict mode has no such
    objects. The description is then `about(path + ".strict")` if there is such a text.
    """

    def of_object(fields: tuple[Field, ...], prefix: str) -> dict[str, Any]:
        shown = [field for field in fields if not field.hidden]
        properties = {field.name: of_field(field, f"{prefix}{field.target}") for field in shown}
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        required = [field.name for field in shown if strict or field.required]
        if required or strict:  # OpenAI requires the key even if the list is empty
            schema["required"] = required
        if strict:
            schema["additionalProperties"] = False
        return schema

    def of_field(field: Field, path: str) -> dict[str, Any]:
        inner = [item for item in field.items if not item.hidden]
        if len(inner) == 1:  # entries with only a title are sent as strings: fewer tokens
            shape = _LIST
        elif inner:
            shape = {"type": "array", "items": of_object(field.items, f"{path}.")}
        else:
            shapes = _NUMERIC_SHAPES if field.numeric else _STRICT_SHAPES if strict else _SHAPES
            shape = shapes[field.kind]
        shape = deepcopy(shape)  # the caller may change the schema
        # There is no `default`: strict mode refused schemas with one for a long time, and Azure
        # still does (openai-agents#4390).
        if description := (strict and about(f"{path}.strict")) or about(path):
            shape["description"] = description
        if strict and not field.required:
            shape["type"] = [shape["type"], "null"]
            # If an enum may be null, OpenAI requires that its values include null.
            if "enum" in shape:
                shape["enum"] = [*shape["enum"], None]
        return shape

    return of_object(fields, prefix)


# -------- toolset --------
# A tool set: the tools offered to a model, independent of any framework and policy.
#
# A tool is data: it has fields (`intake.fields`) and one small function that makes a command of
# the values. Both the JSON Schema and the reading of arguments are derived from the fields, so
# they cannot differ, and another system's tool can be described by a table instead of code.
#
# The wording is data as well: each set has a file of its name, with sections named after tools and
# arguments. In a text, `$TaskUpdate` or `$task_id` stands for the published name. So if a tool is
# renamed, or keys are in snake_case, then prompts, descriptions, examples and errors use the new
# names. A text with a literal name could name a tool that the model does not have.


CLAIM = "claim_as"
"""The key under which a request gets the session's `ClaimTask`."""

PLAN = "plan_before"
"""The key under which a request gets the plan."""

# The values of a call were validated when they were read.
_batch, _write = fast_constructor(Batch), fast_constructor(WriteTodos)
_create_task, _update_task = fast_constructor(CreateTask), fast_constructor(UpdateTask)
_create_tasks = fast_constructor(CreateTasks)

Length = Literal["compact", "guided"]


@attrs.frozen
class Query:
    """A call that only reads: the whole plan, or the task `task_id`."""

    task_id: str | None = None


@attrs.frozen
class Ignoring:
    """A command, and the target names of arguments that it ignores; the reply reports these."""

    command: Command
    ignored: tuple[str, ...]


Request = Command | Query | Problem | Ignoring


@attrs.frozen(eq=False)  # compared by identity, because caches use a tool's fields as keys
class Tool:
    """
    One tool. `key` is the name of the tool in texts and files. `request` makes a command from the
    values that were read.

    `whole_list`: the tool replaces the list, so two of its calls in one turn contradict each other
    and are refused. `adds_only`: the tool does not change existing tasks, except for edges to new
    tasks. `drops_by_id`: open tasks are removed only by id; a list that leaves out open tasks is
    refused. `with_plan`: `request` also gets the plan before the call, under the key `PLAN`.
    `with_claim`: `request` also gets the session's `ClaimTask`, under the key `CLAIM`.
    """

    key: str
    fields: tuple[Field, ...]
    request: Callable[[Mapping[str, Any]], Request]
    read_only: bool = False
    whole_list: bool = False
    adds_only: bool = False
    drops_by_id: bool = False
    with_plan: bool = False
    with_claim: bool = False


@attrs.frozen
class Definition:
    """A tool as frameworks need it: published name, description, JSON Schema of the arguments."""

    name: str
    description: str
    schema: dict[str, Any]
    read_only: bool = False


@attrs.frozen(eq=False, slots=False)  # no slots, for cached properties
class ToolSet:
    """
    Tools that belong together, and their published names.

    `name` is the name of the file with the set's texts; a set without a file has no texts. `writer`
    is the tool that guidance names when it asks for an update. `by_id`: the tools identify tasks by
    id. `names` maps tool keys to published names (see `renamed`). `expression` is the Python
    expression for the set, used in its repr. A set for a `team` uses the text "plan.team", if it
    exists, instead of the text "plan"; the same holds for all other texts.

    Raises:
        PlanError: `tools` is not a tuple of tools, `writer` or a key of `names` is not one of them,
            a published name is not a non-empty string, or two tools would share a name.
    """

    name: str
    tools: tuple[Tool, ...]
    writer: str
    by_id: bool = True
    names: Mapping[str, str] = attrs.field(factory=dict)
    expression: str = attrs.field(default="", kw_only=True)
    team: bool = attrs.field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        tools = tuple_of(self.tools, Tool, "a tuple of tools, such as (Tool(...), Tool(...))")
        keys = [tool.key for tool in tools]
        unknown = sorted({self.writer, *self.names} - set(keys))
        if unknown:
            msg = f"{self.name} has no tool {', '.join(unknown)}; it has {', '.join(keys)}"
            raise PlanError(msg, unknown=unknown)
        for seen in self.names.values():
            # A value of another type differs from its plain name.
            if plain_name(seen) != seen or not seen:
                msg = f"{short_repr(seen)} is no name of a tool; give a text that is not empty"
                raise PlanError(msg, seen=seen)
        if len({self.shown(key) for key in keys}) < len(keys):
            msg = f"two tools of {self.name} would have one name; give each its own"
            raise PlanError(msg, names=dict(self.names))

    def __repr__(self) -> str:
        base = self.expression or f"ToolSet({self.name!r})"
        names = ", ".join(f"{key}={name!r}" for key, name in self.names.items())
        return f"{base}.renamed({names})" if names else base

    def renamed(self, **names: str) -> "ToolSet":
        """
        Return this set with other published names; all texts use the new names.

        Raises:
            PlanError: the set has no such tool, or two tools would share a name.
        """
        return attrs.evolve(self, names={**self.names, **names})

    def shown(self, key: str) -> str:
        """Return the published name of a tool."""
        return self.names.get(key, key)

    def find(self, name: str) -> Tool | None:
        """Return the tool with this published name, or `None`; the argument may be any object."""
        return self._by_name.get(name if type(name) is str else plain_name(name))

    @cached_property
    def _by_name(self) -> dict[str, Tool]:
        return {self.shown(tool.key): tool for tool in self.tools}

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The published names, in order."""
        return tuple(self._by_name)

    @cached_property
    def _vocabulary(self) -> dict[str, str]:
        fields = {field.target: field.name for tool in self.tools for field in tool.fields}
        return {**fields, **{tool.key: self.shown(tool.key) for tool in self.tools}}

    def text(self, name: str) -> str:
        """
        Return a text of this set with published names filled in, or "" if there is no such text.
        """
        own = wording(self.name, f"{name}.team", "") if self.team else ""
        return fill(own or wording(self.name, name, ""), self._vocabulary)

    def system_prompt(self, length: Length = "compact") -> str:
        """
        Return the text about planning for the system prompt.

        Raises:
            PlanError: `length` is neither "compact" nor "guided".
        """
        if length not in get_args(Length):
            msg = f"{short_repr(length)} is no length of a prompt; write 'compact' or 'guided'"
            raise PlanError(msg, seen=length)
        return self.text(f"system.{length}")

    def definitions(self, *, strict: bool = False) -> tuple[Definition, ...]:
        """Return the tools as frameworks need them; `strict` is for OpenAI's strict mode."""
        definitions = []
        for tool in self.tools:
            schema = arguments_schema(tool.fields, self.text, f"{tool.key}.", strict=strict)
            name, description = self.shown(tool.key), self.text(tool.key)
            definitions.append(Definition(name, description, schema, tool.read_only))
        return tuple(definitions)


def plain_name(name: object) -> str:
    """
    Return a tool name as a plain `str`. For any other object, return its type's name in brackets.

    A lookup would call the object's `__hash__` and `__eq__`. A list has no hash, and a subclass of
    `str` may define these methods in any way. So the name is copied without calling them.
    """
    if issubclass(type(name), str):
        return str.__str__(cast("str", name))
    return f"({type(name).__name__})"


def unmet_rules(toolset: ToolSet, policy: Policy) -> dict[str, str]:
    """
    Map each rule at severity "error" that no call can satisfy to the field that the tools lack.
    """
    demands = {
        rule.name: rule.new_tasks_need
        for rule, level in policy.rules
        if level is Severity.ERROR and rule.new_tasks_need
    }
    if not demands:
        return {}
    # The field for the title has a different name in each set, but every set has this field.
    fields = [field for tool in toolset.tools for field in tool.fields]
    for field in fields:  # the list grows during the loop
        fields += field.items
    taken = {"subject", *(field.target for field in fields)}
    return {name: field for name, field in demands.items() if field not in taken}


def require_met(toolset: ToolSet, policy: Policy) -> None:
    """
    Check that some call of the tool set can satisfy each rule at severity "error".

    Raises:
        PlanError: there is a rule that no call can satisfy.
    """
    if unmet := unmet_rules(toolset, policy):
        off = ", ".join(f'{name}="off"' for name in unmet)
        msg = (
            f"the tool set {toolset.name} takes no {', '.join(unmet.values())}, which the policy"
            f" demands by {', '.join(unmet)}: every new task would be refused. Give"
            f" policy.but({off}), or a tool set that takes it"
        )
        raise PlanError(msg, toolset=toolset.name, rules=tuple(unmet))


# -------- todos --------
# The tool set `todos`: the whole list in one call, as in LangChain and Claude's TodoWrite.


TITLES = ("content", "subject", "title", "text", "task", "name", "step", "todo", "item")
"""Names of an entry's title in the tools of other systems."""

WAITS = ("waitingFor", "waitsFor", "waitFor", "waitingOn", "blockedReason")
"""Names of the reason for waiting in the tools of other systems."""

SUBTASKS = Field(
    "subtasks", "subtasks", Kind.SUBTASKS, hidden=True, aliases=("children", "subitems", "subtodos")
)
"""Nested entries. No tool publishes them, since they cost tokens, but many models send them."""


def write_tool(key: str, list_name: str = "todos", title: str = "content", *extra: Field) -> Tool:
    """
    Return a tool that writes the whole list, with the argument names of some other system.

    `list_name` is the name of the argument with the list, `title` is the name of an entry's title,
    and `extra` are further arguments.
    """
    entry = (
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
    fields = (
        Field(
            list_name,
            "todos",
            Kind.ITEMS,
            required=True,
            aliases=("plan", "items", "tasks", "todo_list", "list"),
            items=entry,
            entry=Todo,
        ),
        # OpenHands treats a missing list as an empty list and deletes the plan. Here a plan is
        # cleared only with a separate argument.
        Field("clear", "clear", Kind.FLAG),
        *extra,
    )
    return Tool(
        key,
        fields,
        lambda values: _write(tuple(values["todos"]), values.get("clear", False)),
        whole_list=True,
    )


TODOS = ToolSet(
    "todos",
    (write_tool("write_todos"), Tool("read_todos", (), lambda _: Query(), read_only=True)),
    "write_todos",
    by_id=False,
    expression="TODOS",
)
"""The tools `write_todos` and `read_todos`."""

WRITE_TODOS = ToolSet(
    "todos", (write_tool("write_todos"),), "write_todos", by_id=False, expression="WRITE_TODOS"
)
"""The tool `write_todos` alone, as in LangChain's middleware."""


# -------- tasks --------
# The tool set `tasks`: TaskCreate, TaskGet, TaskList, TaskUpdate, as in Claude and AgentScope.


KeyStyle = Literal["camel", "snake"]


def _id() -> Field:
    aliases = ("id", "todo_id", "task")
    return Field("taskId", "task_id", Kind.ID, required=True, aliases=aliases)


_DETAILS: tuple[Field, ...] = (
    Field("activeForm", "active_form", Kind.LINE),
    Field("owner", "owner", Kind.LINE, aliases=("assignee",)),
    Field("priority", "priority", Kind.PRIORITY),
    Field("estimate", "estimate", Kind.MINUTES, aliases=("minutes", "estimate_minutes")),
    # Hidden, since most plans have no dates, and a published argument costs tokens in each request.
    Field(
        "due", "due", Kind.DATE, aliases=("dueDate", "dueAt", "deadline"), hidden=True, clears=True
    ),
    Field("metadata", "metadata", Kind.METADATA, aliases=("meta",)),
)
_ARGUMENT_KINDS = {
    FieldKind.TEXT: Kind.TEXT,
    FieldKind.TEXT_OR_NONE: Kind.LINE,
    FieldKind.PRIORITY: Kind.PRIORITY,
    FieldKind.DATE: Kind.DATE,
}


def hidden_arguments(fields: Iterable[TaskField]) -> tuple[Field, ...]:
    """
    Return an unpublished argument for each field of a task that models may set.

    To publish an argument for a field, which costs tokens, add it to `_DETAILS`.
    """
    return tuple(
        Field(
            re.sub("_([a-z])", lambda found: found[1].upper(), field.name),
            field.name,
            _ARGUMENT_KINDS[field.kind],
            hidden=True,
            clears=field.default is None,
        )
        for field in fields
        if field.for_models and field.kind in _ARGUMENT_KINDS
    )


_HAVE_ARGUMENTS = {"subject", "description", *(field.target for field in _DETAILS)}
_DETAILS += hidden_arguments(
    field
    for name, field in TASK_FIELDS.items()
    if name in attrs.fields_dict(UpdateTask).keys() - _HAVE_ARGUMENTS
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
# The plan assigns the ids. An id in an entry is used only for references within the same call.
_ENTRY = (*_NEW, Field(OWN_ID, OWN_ID, Kind.OWN_ID, aliases=("taskId", "todo_id"), hidden=True))
_CREATE = (
    attrs.evolve(_NEW[0], required=False),
    *_NEW[1:-1],
    # Several tasks in one call: without this field, models invent a bulk tool (evonic#80). A later
    # entry refers to the first one as "#0", as in hezo#216.
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
    # "#1" can only mean the existing task 1.
    own = {**values}
    subtasks = own.pop("subtasks", ())
    if not _EDGES.isdisjoint(own):
        for name in _EDGES & own.keys():
            own[name] = tuple(task_id.lstrip("#") for task_id in own[name])
    if "parent" in own:
        own["parent"] = own["parent"].lstrip("#")
    if not subtasks:
        return _create_task(**(_with_wait(own) if "waiting" in own else own))
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

    A reference such as "@0" in an entry is a position in the list that the model sent. `before` is
    the number of `entries` that come before that list: 1 if the first entry is the parent task,
    otherwise 0.
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
        items.append(_create_task(**values))
    return _create_tasks(tuple(items))


def _moved(reference: str, tops: Sequence[int], before: int) -> str:
    if reference.startswith(BY_OWN_ID):
        return f"#{int(reference.removeprefix(BY_OWN_ID)) + before}"
    # The model counts only the top entries of its list, without nested ones.
    place = int(reference[1:]) if reference.startswith("#") else len(tops)
    return f"#{tops[place]}" if place < len(tops) else reference


def _with_wait(values: Mapping[str, Any]) -> dict[str, Any]:
    reason = values.get("waiting")
    return {**values, "waiting": Waiting(reason)} if reason else dict(values)


def _update(values: Mapping[str, Any]) -> Request:
    # "deleted" is no status of a task in a plan. It is accepted here, because the schema of a
    # separate tool to delete tasks would be sent with every request.
    if values.get("status") == DELETED:
        ignored = tuple(name for name in values if name not in {"task_id", "status"})
        deletion = DeleteTask(values["task_id"])
        return Ignoring(deletion, ignored) if ignored else deletion
    return _update_task(**(_with_wait(values) if "waiting" in values else values))


def _update_in_team(values: Mapping[str, Any]) -> Request:
    own = {key: value for key, value in values.items() if key not in {CLAIM, "status"}}
    if values.get("status") is not Status.IN_PROGRESS:
        return _update({**own, **({"status": values["status"]} if "status" in values else {})})
    # Starting a task claims it. Without a claim, two agents could both work on a started task.
    claim = _claim(values)
    return Batch((_update_task(**_with_wait(own)), claim)) if len(own) > 1 else claim


def _claim(values: Mapping[str, Any]) -> ClaimTask:
    as_whom: ClaimTask = values[CLAIM]
    return attrs.evolve(as_whom, task_id=values.get("task_id"))


def _styled(fields: tuple[Field, ...], keys: KeyStyle) -> tuple[Field, ...]:
    if keys == "camel":
        return fields
    return tuple(
        attrs.evolve(
            field,
            name=re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", field.name),
            items=_styled(field.items, keys),
        )
        for field in fields
    )


def _toolset(keys: KeyStyle, *, team: bool) -> ToolSet:
    create, update, one = (_styled(fields, keys) for fields in (_CREATE, _UPDATE, (_id(),)))
    any_one = _styled((attrs.evolve(_id(), required=False),), keys)
    tools = [
        Tool("TaskCreate", create, _create, adds_only=True),
        Tool("TaskGet", one, lambda values: Query(values["task_id"]), read_only=True),
        Tool("TaskList", (), lambda _: Query(), read_only=True),
        Tool("TaskUpdate", update, _update_in_team if team else _update, with_claim=team),
    ]
    if team:
        tools.append(Tool("TaskClaim", any_one, _claim, with_claim=True))
    options = [*([repr(keys)] if keys != "camel" else ()), *(["team=True"] if team else ())]
    expression = f"tasks({', '.join(options)})" if options else "TASKS"
    return ToolSet("tasks", tuple(tools), "TaskUpdate", expression=expression, team=team)


# Each set is made once, because tables are cached by the identity of a tool's fields.
_SETS: dict[tuple[KeyStyle, bool], ToolSet] = {
    (keys, team): _toolset(keys, team=team) for keys in get_args(KeyStyle) for team in (False, True)
}


def tasks(keys: KeyStyle = "camel", *, team: bool = False) -> ToolSet:
    """
    Return the tool set with argument names as Claude ("camel") or AgentScope ("snake") spells them.

    Both spellings are accepted, whichever is published. The set for a `team`, that is for agents
    that share a plan, has a fifth tool, `TaskClaim`, and setting a task in progress claims it.

    Raises:
        PlanError: `keys` is neither "camel" nor "snake".
    """
    if keys not in get_args(KeyStyle):  # compared, not hashed, since the argument may be any object
        msg = f"{short_repr(keys)} is no spelling; write tasks('camel') or tasks('snake')"
        raise PlanError(msg, seen=keys)
    return _SETS[keys, team]


TASKS = tasks()
"""The tool set with Claude's argument names."""


# -------- lean --------
# The tool set `lean`, our own: one tool that writes a plan once and then changes it by id.
#
# It is designed for the fewest tokens. Completing a task starts the next ready one, so a step of
# the plan costs one short call. A subtask is an indented line. Reasons for waiting are an object
# whose keys are task ids. These two shapes cost fewer tokens than all others, in the schema and in
# each call.


# Ids are published as integers: each costs one token less than as a string.
_TITLE = Field("text", "subject", Kind.LINE, required=True, aliases=TITLES, weak=("description",))
_PARENT = Field("parent", "parent", Kind.ID, aliases=("parentId", "under"), hidden=True)
_AFTER = Field(
    "after", "after", Kind.IDS, numeric=True, aliases=("blockedBy", "dependsOn", "needs")
)
_FIELDS = (
    Field(
        "write",
        "write",
        Kind.ITEMS,
        aliases=("plan", "tasks", "todos"),
        items=(attrs.evolve(_TITLE, target="content"), SUBTASKS),
        entry=Todo,
        begins=True,
    ),
    Field("done", "done", Kind.IDS, numeric=True, aliases=("complete", "completed")),
    Field(
        "add", "add", Kind.ITEMS, aliases=("create",), items=(_TITLE, SUBTASKS, _PARENT), adds=True
    ),
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
    # Not published, because the next ready task starts by itself. It is accepted from a model that
    # wants to begin with another task, or to reopen a closed task.
    Field(
        "start",
        "start",
        Kind.IDS,
        aliases=("reopen", "undone", "restart"),
        numeric=True,
        hidden=True,
    ),
)
# Starting a task claims it. Without a claim, two agents could both work on a started task.
_TEAM_FIELDS = (
    *_FIELDS[:-1],
    Field("next", "next", Kind.FLAG, aliases=("claimNext",)),
    Field("claim", "claim", Kind.IDS, numeric=True, aliases=("start", "take")),
)


_STATUSES = {
    "done": Status.COMPLETED,
    "drop": Status.CANCELLED,
    "fail": Status.FAILED,
    "start": Status.IN_PROGRESS,
}


def _plan(values: Mapping[str, Any]) -> Request:
    """
    Make one command from a call.

    Its parts are in the order of the tool's fields, so a call can edit a task that it writes, and
    start a task that it adds.
    """
    commands = _commands(values)
    if not commands:
        return Query()
    # If a call only edits tasks, there is no progress, and no task may start.
    if len(commands) > len(values.get("edit", ())):
        # The next task starts in the same call. If it took a call of its own, the model would read
        # 100,000 tokens for a plan of 20 tasks with minimal texts, instead of 55,000.
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
    Make one command from a call in a team.

    No task starts by itself, because a task that starts by itself would have no claim.
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
        commands.append(_write(tuple(values["write"])))
    if values.get("add"):
        # A nested entry is a subtask of the entry that contains it.
        added = (
            _create_task(
                entry["subject"],
                parent=f"#{entry[WITHIN]}" if WITHIN in entry else entry.get("parent"),
            )
            for entry in values["add"]
        )
        commands.append(_create_tasks(tuple(added)))
    for entry in values.get("edit", ()):
        changes = dict(entry)
        after = changes.pop("after", None)
        # An empty list removes edges only if the entry has no other change, because models send
        # empty lists for arguments that they do not need. Other lists only add edges: by law 15, an
        # edge that another session has added since stays although a list leaves it out.
        freed = after == () and len(changes) == 1 and PLAN in values
        task = values[PLAN].get(changes["task_id"]) if freed else None
        changes["remove_blocked_by"] = task.blocked_by if task else ()
        commands.append(_update_task(add_blocked_by=after or (), **changes))
    for task_id, reason in values.get("wait", ()):
        commands.append(UpdateTask(task_id, waiting=Waiting(reason) if reason else None))
    for key, status in _STATUSES.items():
        commands += [_update_task(task_id, status) for task_id in values.get(key, ())]
    return commands


_LEAN_TOOL = Tool("plan", _FIELDS, _plan, drops_by_id=True, with_plan=True)
LEAN = ToolSet("lean", (_LEAN_TOOL,), "plan", expression="LEAN")
"""
The tool `plan`: write, done, add, edit, drop, wait, fail. Without arguments it shows the plan.
"""

_TEAM_TOOL = Tool(
    "plan", _TEAM_FIELDS, _plan_of_team, drops_by_id=True, with_plan=True, with_claim=True
)
_TEAM = ToolSet("lean", (_TEAM_TOOL,), "plan", expression="lean(team=True)", team=True)


def lean(*, team: bool = False) -> ToolSet:
    """
    Return the tool set `lean`.

    The set for a `team`, that is for agents that share a plan, also has `next` and `claim`: an
    agent claims a task before it works on it, and no task starts by itself.
    """
    return _TEAM if team else LEAN


# -------- registry --------
# All tool sets. The command line, the conformance suite of adapters, the readers of recordings and
# the tests take their tool sets from here, and their sample calls from `SAMPLES` of the suite.


TOOLSETS: dict[str, ToolSet] = {
    "todos": TODOS,
    "tasks": TASKS,
    "tasks-snake": tasks("snake"),
    "lean": LEAN,
    "tasks-team": tasks(team=True),
    "lean-team": lean(team=True),
}
"""All tool sets, by their names on the command line."""

BASIC_TOOLSETS = {name: each for name, each in TOOLSETS.items() if name == each.name}
"""The tool sets without their variants in snake_case or for a team."""
