"""
A tool set: the tools offered to a model, independent of any framework and policy.

A tool is data: it has fields (`intake.fields`) and one small function that makes a command of the
values. Both the JSON Schema and the reading of arguments are derived from the fields, so they
cannot differ, and another system's tool can be described by a table instead of code.

The wording is data as well: each set has a file of its name, with sections named after tools and
arguments. In a text, `$TaskUpdate` or `$task_id` stands for the published name, so prompts,
descriptions, examples and errors change with it if a tool is renamed or keys are in snake_case. A
literal name in a text could be that of a tool that the model does not have.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, cast, get_args

import attrs

from todoplan.core.commands import Command
from todoplan.core.plan.validation import short_repr, tuple_of
from todoplan.core.problems import Problem
from todoplan.core.rules.policy import Policy, Severity
from todoplan.dialogue.intake.fields import Field
from todoplan.dialogue.tools.schema import arguments_schema
from todoplan.errors import PlanError
from todoplan.texts.wording import fill, wording

__all__ = [
    "CLAIM",
    "Definition",
    "Length",
    "Query",
    "Request",
    "Tool",
    "ToolSet",
    "plain_name",
    "require_met",
    "unmet_rules",
]

CLAIM = "claim_as"
"""The key under which a request gets the session's `ClaimTask`."""

Length = Literal["compact", "guided"]


@attrs.frozen
class Query:
    """A call that only reads: the whole plan, or the task `task_id`."""

    task_id: str | None = None


@attrs.frozen
class Ignoring:
    """A command that ignores some arguments, given by target names; the reply reports them."""

    command: Command
    ignored: tuple[str, ...]


Request = Command | Query | Problem | Ignoring


@attrs.frozen(eq=False)  # compared by identity, because caches use a tool's fields as keys
class Tool:
    """
    One tool. `key` is its name in texts and files; `request` makes a command of the values read.

    `whole_list`: it replaces the list, so two calls of it in one turn contradict each other and are
    refused. `adds_only`: it does not change existing tasks, except for edges to new ones.
    `for_hand`: its values also contain the session's `ClaimTask`, under the key `CLAIM`.
    """

    key: str
    fields: tuple[Field, ...]
    request: Callable[[Mapping[str, Any]], Request]
    read_only: bool = False
    whole_list: bool = False
    adds_only: bool = False
    for_hand: bool = False


@attrs.frozen
class Definition:
    """
    A tool as frameworks take it: published name, description and JSON Schema of the arguments.
    """

    name: str
    description: str
    schema: dict[str, Any]
    read_only: bool = False


@attrs.frozen(eq=False, slots=False)  # no slots, for cached properties
class ToolSet:
    """
    Tools that belong together, and their published names.

    `name` is the name of the file with its texts; a set without a file has no texts. `writer` is
    the tool that guidance names when it asks for an update. `by_id`: the model knows tasks by id.
    `names` maps tool keys to published names (see `renamed`). `expression` is the Python expression
    for the set, used in its repr. A set for a `team` uses the text "plan.team" instead of "plan",
    where there is one.

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
            if (
                plain_name(seen) != seen or not seen
            ):  # a value of another type differs from its plain name
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
        """Return a text of this set with published names filled in; "" if there is no such text."""
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
        """
        Return the tools as frameworks take them; `strict` gives schemas for OpenAI's strict mode.
        """
        return tuple(self._definition(tool, strict=strict) for tool in self.tools)

    def _definition(self, tool: Tool, *, strict: bool) -> Definition:
        def about(path: str) -> str:
            return self.text(f"{tool.key}.{path}")

        schema = arguments_schema(tool.fields, about, strict=strict)
        return Definition(self.shown(tool.key), self.text(tool.key), schema, tool.read_only)


def plain_name(name: object) -> str:
    """
    Return the tool name that was sent as a plain `str`; for another type, the type's name.

    A lookup would call the object's `__hash__` and `__eq__`. A list has no hash, and a subclass of
    `str` may define any. So the name is copied, and no method of the object is called.
    """
    if issubclass(type(name), str):
        return str.__str__(cast("str", name))
    return f"({type(name).__name__})"


def unmet_rules(toolset: ToolSet, policy: Policy) -> dict[str, str]:
    """
    Return the rules at severity "error" that no call of the set can satisfy, each with its field.
    """
    demands = {
        rule.name: rule.new_tasks_need
        for rule, level in policy.rules
        if level is Severity.ERROR and rule.new_tasks_need
    }
    if not demands:
        return {}
    # The title has a different name in each set, but every set has one.
    taken = {"subject", *(f.target for tool in toolset.tools for f in _with_inner(tool.fields))}
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
            f"the tool set {toolset.name} takes no {', '.join(unmet.values())}, which the"
            f" policy demands by {', '.join(unmet)}: every new task would be refused. Give"
            f" policy.but({off}), or a tool set that takes it"
        )
        raise PlanError(msg, toolset=toolset.name, rules=tuple(unmet))


def _with_inner(fields: Sequence[Field]) -> Iterator[Field]:
    for field in fields:
        yield field
        yield from _with_inner(field.items)
