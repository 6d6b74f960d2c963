"""
The tools of one session's plan, and `attach`: an agent with tools, prompt and guidance of it.

Hooks and input filters belong to a run, in this SDK, and tools and model to an agent: what is to
hold however the agent is run must be part of the agent.
"""

from __future__ import annotations

from copy import copy
from dataclasses import fields
from inspect import isawaitable
from typing import Any, TypeVar

from agents import Agent, FunctionTool, ModelProvider, Tool
from agents.run_context import RunContextWrapper
from agents.tool_context import ToolContext

from todoplan.adapters.openai_agents.model import guided_model
from todoplan.adapters.openai_agents.planning import Planning
from todoplan.dialogue.application import require
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.toolbox import Call
from todoplan.dialogue.tools.toolset import Definition
from todoplan.errors import PlanError

__all__ = ["attach", "make_tools"]

T = TypeVar("T")


def make_tools(planning: Planning) -> list[Tool]:
    """
    Return the tools of a session's plan, for `Agent(tools=...)`: without prompt and guidance.

    Their schemas are strict. Only a model of `guided_model` makes known which calls belong to one
    turn; with another, each call counts when it comes.

    Raises:
        PlanError: this is no `Planning`.
    """
    # Strict already: left to the SDK, every property becomes required, and none may be null.
    definitions = require(planning, Planning).toolbox.toolset.definitions(strict=True)
    return [_tool(planning, definition) for definition in definitions]


def _tool(planning: Planning, definition: Definition) -> FunctionTool:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        reply = await planning.answer(Call(definition.name, arguments, context.tool_call_id))
        return reply.text

    # It returns a text whatever is wrong: a tool that raises ends the whole run.
    return FunctionTool(
        name=definition.name,
        description=definition.description,
        params_json_schema=definition.schema,
        on_invoke_tool=invoke,
    )


def attach(
    agent: Agent[T],
    planning: Planning,
    *,
    settings: Settings | None = None,
    system_prompt: str | None = None,
    model_provider: ModelProvider | None = None,
) -> Agent[T]:
    """
    Return a copy of the agent that works with the plan of a session, in `Runner.run`, `run_sync`
    and `run_streamed` alike; it costs no more than the copy, so make one for each session.

    `settings` are those of the planning unless this agent has others.

    Its lists are its own, so that what is added to them, handoffs say, is this session's. A copy of
    it with another model has no guidance: `clone` first, then attach.

    `system_prompt` is put behind the agent's instructions ("" for none); by default it is the tool
    set's. Guidance is part of the model, and so unsaved: nothing of it is in a session, in
    `to_input_list()` or in a `RunState`; but a provider that keeps the conversation
    (`conversation_id`, `previous_response_id`) keeps what it is sent. `guided_model` tells what
    `model_provider` and `RunConfig(model=...)` mean for it.

    Other agents share the plan if they are attached to the same `Planning`, as targets of handoffs;
    one that is not attached has no plan. An agent that serves as a tool and shares the plan should
    have only `make_tools(planning)`, so that it is not sent back over tasks that are not its own.

    Raises:
        PlanError: the agent has tools of these names already; what was given is no agent, no
            `Planning` or no settings.
    """
    require(agent, Agent, "an agent of the SDK, and then the planning")
    tools = make_tools(planning)
    doubled = sorted({tool.name for tool in tools} & {tool.name for tool in agent.tools})
    if doubled:
        # The SDK only writes a line to its log, and lets the last one win.
        msg = f"the agent {agent.name!r} has {', '.join(doubled)} already; attach one plan, once"
        raise PlanError(msg, names=doubled)
    prompt = planning.toolbox.toolset.system_prompt() if system_prompt is None else system_prompt
    guided = guided_model(planning, agent.model, settings=settings, model_provider=model_provider)
    # `clone` would share the lists and dicts: one session's tools would be another's, too.
    values = {field.name: getattr(agent, field.name) for field in fields(agent) if field.init}
    own = {name: copy(each) for name, each in values.items() if isinstance(each, list | dict)}
    own |= {"tools": [*agent.tools, *tools], "instructions": _instructions(agent, prompt)}
    attached = agent.clone(**own, model=guided)
    attached.model_settings = agent.model_settings  # a default that came with the model's name
    return attached


def _instructions(agent: Agent[Any], prompt: str) -> Any:
    given = agent.instructions
    if not callable(given):
        # Behind the agent's own, and always the same bytes: a cached prefix stays valid.
        return _behind(given, prompt) or None

    async def both(context: RunContextWrapper[Any], now: Agent[Any]) -> str:
        said = given(context, now)
        return _behind(await said if isawaitable(said) else said, prompt)

    return both


def _behind(given: str | None, prompt: str) -> str:
    return "\n\n".join(filter(None, (given, prompt)))
