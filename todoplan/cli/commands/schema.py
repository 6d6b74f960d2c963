"""`todoplan schema`: the tools of a tool set, as a provider takes them."""

import json
from collections.abc import Callable
from typing import Any

from todoplan.adapters.functions import anthropic_messages, gemini, openai_chat
from todoplan.cli.output.screen import Screen
from todoplan.dialogue.tools.lean import LEAN, lean
from todoplan.dialogue.tools.tasks import tasks
from todoplan.dialogue.tools.todos import TODOS
from todoplan.dialogue.tools.toolset import ToolSet

__all__ = ["FORMS", "TOOLSETS", "schema"]

TOOLSETS: dict[str, ToolSet] = {
    "todos": TODOS,
    "tasks": tasks(),
    "tasks-snake": tasks("snake"),
    "lean": LEAN,
    "tasks-team": tasks(team=True),
    "lean-team": lean(team=True),
}
"""Tool sets by the name that the command line takes."""


def _plain(tools: ToolSet) -> dict[str, Any]:
    return {tool.name: tool.schema for tool in tools.definitions()}


def _strict(tools: ToolSet) -> list[Any]:
    return openai_chat.make_tools(tools, strict=True)


FORMS: dict[str, Callable[[ToolSet], Any]] = {
    "plain": _plain,
    "openai": openai_chat.make_tools,
    "anthropic": anthropic_messages.make_tools,
    "gemini": gemini.make_tools,
    "strict": _strict,
}
"""Makers of definitions by format; `strict` is OpenAI's strict mode."""


def schema(toolset: str, form: str, screen: Screen) -> int:
    """
    Print the definitions as JSON, and return the exit code.
    """
    screen.write(json.dumps(FORMS[form](TOOLSETS[toolset]), indent=2) + "\n")
    return 0
