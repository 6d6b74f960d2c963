"""The planning tools as function tools, of any tool set and under any policy."""

from typing import Any

from agents import FunctionTool, Tool
from agents.tool_context import ToolContext

from todoplan.adapters.openai_agents.planning import Planning
from todoplan.dialogue.toolbox import Call
from todoplan.dialogue.tools.toolset import Definition

__all__ = ["make_tools"]


def make_tools(planning: Planning) -> list[Tool]:
    """
    Return the tools of a session's plan, for `Agent(tools=...)`: without prompt and guidance.

    Their schemas are strict. Only a model of `guided_model` makes known which calls belong to one
    turn; with another, each call counts when it comes.
    """
    return [
        _tool(planning, definition)
        for definition in planning.toolbox.toolset.definitions(strict=True)
    ]


def _tool(planning: Planning, definition: Definition) -> FunctionTool:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        reply = await planning.answer(Call(definition.name, arguments, context.tool_call_id))
        return reply.text

    return FunctionTool(
        name=definition.name,
        description=definition.description,
        params_json_schema=definition.schema,
        on_invoke_tool=invoke,
    )
