"""The prompts of the planning capability of pydantic-ai-harness."""

from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage
from pydantic_ai_harness.planning import Planning

from benchmarks.conversations.tool_host import ToolHost
from benchmarks.peers.pydantic_todo_prompts import definitions

__all__ = ["host"]


def host(*, subtasks: bool = False) -> ToolHost:
    """Return its definitions and guidance. Its tools work only within a run of an agent."""
    planning: Any = Planning(enable_subtasks=subtasks)
    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    _, told = definitions(planning.get_toolset(), context)

    def answer(name: str, arguments: dict[str, Any]) -> str:
        msg = f"{name} {arguments}: not within a run"
        raise AssertionError(msg)

    return ToolHost(told, lambda: planning.get_instructions() or "", answer)
