"""Tokens: what each tool set adds to a request, and the cost of a plan's life."""

from collections.abc import Callable
from typing import Any

import attrs
from support.tokens import tokens

from benchmarks.conversations.priced_tool_sets import priced_tool_sets
from benchmarks.conversations.token_bill import bill

__all__ = ["run"]

_SIZES = (5, 10, 20, 50)
_QUICK = (5, 20)


def run(
    *, quick: bool, say: Callable[[str], None], only: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """Count for every tool set; with `only`, for those whose names start with one of its words."""
    found: list[dict[str, Any]] = []
    for toolset in priced_tool_sets():
        if only and not toolset.name.startswith(only):
            continue
        host = toolset.host()
        system, tools = tokens(host.system()), tokens(host.tools)
        row = {"contender": toolset.name, "system": system, "tools": tools, "fixed": system + tools}
        found.append(row)
        say(f"{toolset.name:38} system {system:5,} + tools {tools:5,} = {system + tools:6,}")
        if toolset.script is None:
            continue
        for size in _QUICK if quick else _SIZES:
            life = bill(toolset.host(), toolset.script(size))
            found.append({"contender": toolset.name, "n": size, **attrs.asdict(life)})
            say(f"  n={size}: {life}")
    return found
