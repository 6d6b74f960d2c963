"""The prompts of pydantic-ai-todo."""

import asyncio
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage
from pydantic_ai_todo import TodoCapability, TodoStorage, get_todo_system_prompt
from support.tokens import compact, function

from benchmarks.conversations.tool_host import ToolHost

__all__ = ["definitions", "host"]


def definitions(toolset: Any, context: Any) -> tuple[Any, str]:
    """Return a toolset's tools, and their definitions in OpenAI's form."""
    tools = asyncio.run(toolset.get_tools(context))
    told = [
        function(
            each.tool_def.name, each.tool_def.description, each.tool_def.parameters_json_schema
        )
        for each in tools.values()
    ]
    return tools, compact(told)


def host(*, subtasks: bool = False, shown: bool = False) -> ToolHost:
    """Return a new list and its tools. `shown` puts the list into the system prompt."""
    storage = TodoStorage()
    capability = TodoCapability(storage=storage, enable_subtasks=subtasks)
    toolset: Any = capability.get_toolset()
    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    tools, told = definitions(toolset, context)

    def answer(name: str, arguments: dict[str, Any]) -> str:
        given = tools[name].args_validator.validate_json(compact(arguments))
        return str(asyncio.run(toolset.call_tool(name, given, context, tools[name])))

    def system() -> str:
        return get_todo_system_prompt(storage) if shown else capability.get_instructions()

    return ToolHost(told, system, answer)
