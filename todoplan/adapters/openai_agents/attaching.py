"""`attach`: an agent with tools, prompt and guidance of one session's plan."""

from copy import copy
from dataclasses import fields
from inspect import isawaitable
from typing import Any, TypeVar

from agents import Agent, ModelProvider
from agents.run_context import RunContextWrapper

from todoplan.adapters.openai_agents.model import guided_model
from todoplan.adapters.openai_agents.planning import Planning
from todoplan.adapters.openai_agents.tools import make_tools
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.errors import PlanError

__all__ = ["attach"]

T = TypeVar("T")


def attach(
    agent: Agent[T],
    planning: Planning,
    *,
    settings: Settings = Settings(),  # noqa: B008 - a frozen value
    system_prompt: str | None = None,
    model_provider: ModelProvider | None = None,
) -> Agent[T]:
    """
    Return a copy of the agent that works with the plan of a session, in `Runner.run`, `run_sync`
    and `run_streamed` alike; it costs no more than the copy, so make one for each session.

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
        PlanError: the agent has tools of these names already.
    """
    tools = make_tools(planning)
    _refuse_twins(agent, {tool.name for tool in tools})
    prompt = planning.toolbox.toolset.system_prompt() if system_prompt is None else system_prompt
    guided = guided_model(planning, agent.model, settings=settings, model_provider=model_provider)
    own = _own_containers(agent)
    own |= {"tools": [*agent.tools, *tools], "instructions": _instructions(agent, prompt)}
    attached = agent.clone(**own, model=guided)
    attached.model_settings = agent.model_settings  # a default that came with the model's name
    return attached


def _own_containers(agent: Agent[Any]) -> dict[str, Any]:
    """
    Return copies of an agent's lists and dicts, which `clone` would share.
    """
    values = {field.name: getattr(agent, field.name) for field in fields(agent) if field.init}
    return {name: copy(each) for name, each in values.items() if isinstance(each, list | dict)}


def _refuse_twins(agent: Agent[Any], names: set[str]) -> None:
    twins = sorted(names & {tool.name for tool in agent.tools})
    if twins:
        msg = f"the agent {agent.name!r} has {', '.join(twins)} already; attach one plan, once"
        raise PlanError(msg, names=twins)


def _instructions(agent: Agent[Any], prompt: str) -> Any:
    given = agent.instructions
    if not callable(given):
        return _behind(given, prompt) or None

    async def both(context: RunContextWrapper[Any], now: Agent[Any]) -> str:
        said = given(context, now)
        return _behind(await said if isawaitable(said) else said, prompt)

    return both


def _behind(given: str | None, prompt: str) -> str:
    return "\n\n".join(filter(None, (given, prompt)))
