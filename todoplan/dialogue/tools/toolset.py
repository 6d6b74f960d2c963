"""A tool set: what a model sees of the plan, independent of any framework and any policy."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Literal

import attrs

from todoplan.core.commands import Command
from todoplan.core.problems import Problem
from todoplan.dialogue.intake.fields import Field
from todoplan.dialogue.tools.schema import arguments_schema
from todoplan.errors import PlanError
from todoplan.texts.wording import fill, wording

__all__ = ["Definition", "Length", "Query", "Request", "Tool", "ToolSet"]

Length = Literal["compact", "guided"]


@attrs.frozen
class Query:
    """
    A call that only reads: the whole plan, or the one task `task_id`.
    """

    task_id: str | None = None


Request = Command | Query | Problem


@attrs.frozen(eq=False)
class Tool:
    """
    One tool. `key` is its name in texts and files; `request` makes a command of read arguments.

    `whole_list`: two calls of it in one turn contradict each other and are refused. `adds_only`:
    what was there before stays, but for edges to what is new.
    """

    key: str
    fields: tuple[Field, ...]
    request: Callable[[Mapping[str, Any]], Request]
    read_only: bool = False
    whole_list: bool = False
    adds_only: bool = False


@attrs.frozen
class Definition:
    """
    A tool as a framework wants it: shown name, description, JSON Schema of the arguments.
    """

    name: str
    description: str
    schema: dict[str, Any]
    read_only: bool = False


@attrs.frozen(eq=False, slots=False)
class ToolSet:
    """
    Tools that belong together, and the names under which they are shown.

    `writer` is the tool that guidance names when it asks for an update; `by_id` tells whether the
    model knows tasks by id.
    """

    name: str
    tools: tuple[Tool, ...]
    writer: str
    by_id: bool = True
    names: Mapping[str, str] = attrs.field(factory=dict)

    def renamed(self, **names: str) -> "ToolSet":
        """
        Return this set with tools shown under other names; every text follows.

        Raises:
            PlanError: a name is none of the set's tools, or two tools would share one.
        """
        known = [tool.key for tool in self.tools]
        unknown = sorted(set(names) - set(known))
        if unknown:
            msg = f"{self.name} has no tool {', '.join(unknown)}; it has {', '.join(known)}"
            raise PlanError(msg, unknown=unknown)
        merged = {**self.names, **names}
        if len({merged.get(key, key) for key in known}) < len(known):
            msg = f"two tools of {self.name} would have one name; give each its own"
            raise PlanError(msg, names=merged)
        return attrs.evolve(self, names=merged)

    def shown(self, key: str) -> str:
        """
        Return the name under which the model knows a tool.
        """
        return self.names.get(key, key)

    def find(self, name: str) -> Tool | None:
        """
        Return the tool that the model calls by this name.
        """
        return self._by_name.get(name)

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
        return fill(wording(self.name, name, ""), self._vocabulary)

    def system_prompt(self, length: Length = "compact") -> str:
        """
        Return what to tell the model about planning, once, in the system prompt.
        """
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
