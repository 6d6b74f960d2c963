"""
A tool set: what a model sees of the plan, independent of any framework and any policy.

A tool is data: fields (`intake.fields`), from which both its JSON Schema and the reading of its
arguments follow, and one small function that makes a command of what was read. So what is published
and what is understood cannot drift apart, and another system's tool is a table, not a program.

Words are data as well, in a file named like the set, in sections named like tools and arguments. In
them `$TaskUpdate` or `$task_id` stands for the name that is shown: who renames a tool or shows
snake_case keys has every prompt, description, example and error follow. A name spelled out in a
text would be the name of a tool that the model does not have.
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
"""Under this name a request finds how its hand claims a task."""

Length = Literal["compact", "guided"]


@attrs.frozen
class Query:
    """
    A call that only reads: the whole plan, or the one task `task_id`.
    """

    task_id: str | None = None


@attrs.frozen
class Ignoring:
    """
    A command that makes no use of some arguments, by their target names: the reply says so.
    """

    command: Command
    ignored: tuple[str, ...]


Request = Command | Query | Problem | Ignoring


@attrs.frozen(eq=False)  # compared by identity: tables of a tool's fields are kept by them
class Tool:
    """
    One tool. `key` is its name in texts and files; `request` makes a command of read arguments.

    `whole_list`: two calls of it in one turn contradict each other and are refused. `adds_only`:
    what was there before stays, but for edges to what is new. `for_hand`: its request is given how
    its hand claims a task as well, a `ClaimTask` under `CLAIM`.
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
    A tool as a framework wants it: shown name, description, JSON Schema of the arguments.
    """

    name: str
    description: str
    schema: dict[str, Any]
    read_only: bool = False


@attrs.frozen(eq=False, slots=False)  # no slots, so that what follows from it can be kept
class ToolSet:
    """
    Tools that belong together, and the names under which they are shown.

    `name` is that of the file with its texts; a set without one has none. `writer` is the tool that
    guidance names when it asks for an update; `by_id`: the model knows tasks by id;
    `names` are those shown instead of the tools' keys (see `renamed`). `expression` is how a
    program writes the set. One for a `team` has its own wording where there is one, "plan.team".

    Raises:
        PlanError: the tools are no tools, or `writer` or a key of `names` is none of them.
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
            if plain_name(seen) != seen or not seen:  # what is no text is not equal to one
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
        Return this set with tools shown under other names; every text follows.

        Raises:
            PlanError: a name is none of the set's tools, or two tools would share one.
        """
        return attrs.evolve(self, names={**self.names, **names})

    def shown(self, key: str) -> str:
        """
        Return the name under which the model knows a tool.
        """
        return self.names.get(key, key)

    def find(self, name: str) -> Tool | None:
        """
        Return the tool that the model calls by this name; `None` for whatever else was sent.
        """
        return self._by_name.get(name if type(name) is str else plain_name(name))

    @cached_property
    def _by_name(self) -> dict[str, Tool]:
        return {self.shown(tool.key): tool for tool in self.tools}

    @property
    def tool_names(self) -> tuple[str, ...]:
        """
        The names that the model sees, in order.
        """
        return tuple(self._by_name)

    @cached_property
    def _vocabulary(self) -> dict[str, str]:
        fields = {field.target: field.name for tool in self.tools for field in tool.fields}
        return {**fields, **{tool.key: self.shown(tool.key) for tool in self.tools}}

    def text(self, name: str) -> str:
        """
        Return a text of this set with its tool and argument names filled in; "" if there is none.
        """
        own = wording(self.name, f"{name}.team", "") if self.team else ""
        return fill(own or wording(self.name, name, ""), self._vocabulary)

    def system_prompt(self, length: Length = "compact") -> str:
        """
        Return the part of the system prompt that is about planning.

        Raises:
            PlanError: `length` is neither "compact" nor "guided".
        """
        if length not in get_args(Length):
            msg = f"{short_repr(length)} is no length of a prompt; write 'compact' or 'guided'"
            raise PlanError(msg, seen=length)
        return self.text(f"system.{length}")

    def definitions(self, *, strict: bool = False) -> tuple[Definition, ...]:
        """
        Return the tools as frameworks take them; `strict` as OpenAI's strict mode wants schemas.
        """
        return tuple(self._definition(tool, strict=strict) for tool in self.tools)

    def _definition(self, tool: Tool, *, strict: bool) -> Definition:
        def about(path: str) -> str:
            return self.text(f"{tool.key}.{path}")

        schema = arguments_schema(tool.fields, about, strict=strict)
        return Definition(self.shown(tool.key), self.text(tool.key), schema, tool.read_only)


def plain_name(name: object) -> str:
    """
    Return the name that was sent for a tool as a plain text; what is no text shows its type.

    A lookup would ask the object for its hash and its equality. A list has none, and a subclass of
    `str` may have any: so a name is copied, and nothing of the object itself is asked.
    """
    if issubclass(type(name), str):
        return str.__str__(cast("str", name))
    return f"({type(name).__name__})"


def unmet_rules(toolset: ToolSet, policy: Policy) -> dict[str, str]:
    """
    Return the rules at error that no call of the tool set can satisfy, each with its field.
    """
    demands = {
        rule.name: rule.new_tasks_need
        for rule, level in policy.rules
        if level is Severity.ERROR and rule.new_tasks_need
    }
    if not demands:
        return {}
    # A title is called differently in each set, and is always there.
    taken = {"subject", *(f.target for tool in toolset.tools for f in _with_inner(tool.fields))}
    return {name: field for name, field in demands.items() if field not in taken}


def require_met(toolset: ToolSet, policy: Policy) -> None:
    """
    Raise if a rule at error can be satisfied by no call of the tool set.

    Raises:
        PlanError: there is such a rule.
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
