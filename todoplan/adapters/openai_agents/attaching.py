"""
`attach`: an agent with the tools, the prompt and the guidance of one session's plan.

Hooks and input filters belong to a run in this SDK, tools and model to an agent: what is to hold
however the agent is run must be part of the agent. No hook can put a text into one request alone
and ask the model again, for every way of running an agent; a model that wraps the agent's own can.
It stands behind all input filters, so that it sees what is really sent. Of a streamed answer the
events are passed on as they come, and only its completion is held back: the SDK takes the last
completion for the answer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, nullcontext
from copy import copy
from dataclasses import fields, replace
from functools import cache
from inspect import isawaitable
from typing import Any, TypeVar, cast

import attrs
from agents import Agent, FunctionTool, Model, ModelProvider, MultiProvider, Tool
from agents.items import ModelResponse, TResponseOutputItem, TResponseStreamEvent
from agents.run_context import RunContextWrapper
from agents.tool_context import ToolContext
from agents.usage import Usage
from openai.types.responses import (
    ResponseCompletedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseUsage,
)

from todoplan.adapters.openai_agents.conversation import (
    SentRequest,
    answers_in,
    as_list,
    calls_in,
    carried,
    conversation,
    neutral,
    with_reminder,
)
from todoplan.adapters.openai_agents.planning import Planning
from todoplan.dialogue.application import require
from todoplan.dialogue.guidance.conversation import is_final_answer, is_refusal
from todoplan.dialogue.guidance.guidance import Guidance, Settings
from todoplan.dialogue.observed import guidance_of
from todoplan.dialogue.toolbox import Call
from todoplan.dialogue.tools.toolset import Definition
from todoplan.errors import PlanError
from todoplan.planner.record import Request

T = TypeVar("T")


@attrs.define
class GuidedRequest:
    """
    A request with its reminder, and the further ones that follow from it.

    `request` is without reminders; `asked` is what the session knows of it.
    """

    planning: Planning
    guidance: Guidance
    request: SentRequest
    asked: Request
    stands: tuple[ResponseOutputMessage, ...] = ()

    @classmethod
    async def of(
        cls, planning: Planning, guidance: Guidance, request: SentRequest
    ) -> GuidedRequest:
        """
        Return what a request of the SDK's opens. One that answers no call opens a run.
        """
        asked = await planning.session.before_model(
            conversation(request.input),
            # With the conversation at the provider, the input is only what is new: read like any
            # other, it would count the plan as lost in every request.
            partial=request.is_partial,
            # No hook says that a run begins; a request without an answer of ours is a user's.
            is_new=not planning.pending.awaits(answers_in(request.input)),
            guidance=guidance,
        )
        return cls(planning, guidance, request, asked)

    def arguments(self) -> dict[str, Any]:
        """
        Return the arguments of the model, by name.
        """
        # At the tail, so that the cached prefix stays, and in a copy: no later request holds it.
        sent = with_reminder(self.request.input, self.asked.text)
        return {**self.request.arguments(), "input": sent}

    async def goes_on(self, output: Sequence[TResponseOutputItem]) -> bool:
        """
        Take what the model has sent, and say whether it is to be asked again.

        Raises:
            PlanError: it goes on answering over open tasks, and the settings say to raise.
        """
        answer = neutral(output)
        self._note(output)
        advice = await self.planning.session.after_model(
            answer,
            structured=self.request.is_structured,
            # Agents that share a plan may have several requests under way.
            request=self.asked,
            guidance=self.guidance,
        )
        if advice.verdict != "again":
            return False
        self.asked = attrs.evolve(self.asked, memory=advice.memory, text=advice.text)
        self.stands = _messages(output) if advice.keeps(answer) else ()
        # With `previous_response_id` the further turn goes on from the same response, which knows
        # neither this input nor this answer; a conversation has taken in both.
        items = [
            *as_list(self.request.input),
            *ModelResponse([*output], Usage(), None).to_input_items(),
        ]
        kept = [] if self.request.conversation_id else items
        self.request = attrs.evolve(self.request, input=kept)
        return True

    def _note(self, output: Sequence[TResponseOutputItem]) -> None:
        """
        Note the calls of the turn. Nothing stands in the way of a tool that needs no approval; a
        call that was answered before is a repetition, which the SDK leaves out.
        """
        find = self.guidance.toolset.find
        sure = {
            tool.name
            for tool in self.request.tools
            if isinstance(tool, FunctionTool)
            and find(tool.name)
            # It may also be a function, whose answer is not known before the call is started.
            and tool.needs_approval is False
            # A guardrail may refuse this call, which its neighbours must not have carried out then.
            and not tool.tool_input_guardrails
        }
        answered = answers_in(self.request.input)
        self.planning.pending.answered(answered)
        new = [call for call in calls_in(output) if call.call_id not in answered]
        self.planning.pending.made(new, sure)

    def completed(self, output: list[TResponseOutputItem]) -> list[TResponseOutputItem]:
        """
        Return what is handed on: behind a question whether all was said, both answers as one; if
        that question is refused, the first.
        """
        output, answer = [carried(item, self.guidance.toolset) for item in output], neutral(output)
        if not self.stands or not is_final_answer(answer):
            return output
        messages = _messages(output)
        if is_refusal(answer):
            output, messages = [item for item in output if item not in messages], ()
        if not messages:
            return [*output, *self.stands]
        # One message, since the SDK takes the last for the final output.
        last, gap = (
            messages[-1],
            ResponseOutputText(annotations=[], text="\n\n", type="output_text"),
        )
        content = [part for one in (*self.stands, last) for part in (gap, *one.content)]
        whole = last.model_copy(update={"content": content[1:]})
        return [whole if item is last else item for item in output]


def _messages(output: Sequence[TResponseOutputItem]) -> tuple[ResponseOutputMessage, ...]:
    return tuple(item for item in output if isinstance(item, ResponseOutputMessage))


def summed(spent: ResponseUsage | None, more: ResponseUsage | None) -> ResponseUsage | None:
    """
    Return the tokens of two answers together; an answer that reports none counts as none.
    """
    if spent is None or more is None:
        return spent or more
    return ResponseUsage.model_validate(_sum(spent.model_dump(), more.model_dump()))


def _sum(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, dict):
        return {key: _sum(one.get(key), other.get(key)) for key in {**one, **other}}
    return one + other


# Registered below and not derived: `Model` has methods of its own (`close`, `get_retry_advice`),
# which a subclass would inherit in place of the inner model's.
class GuidedModel:
    """
    A model that is reminded of the plan of one session, and asked again if it stops too early.

    Requests without the planning tools pass through; all else about the model, such as closing it,
    is its own.
    """

    def __init__(
        self, planning: Planning, settings: Settings, resolve: Callable[[], Model]
    ) -> None:
        self._planning = planning
        self._guidance = guidance_of(planning.toolbox, settings)
        self._resolve = cache(resolve)

    def __getattr__(self, name: str) -> Any:
        # Copying and pickling ask for these before there is anything to resolve.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._resolve(), name)

    def _shows_tools(self, request: SentRequest) -> bool:
        # `RunConfig(model=...)` serves every agent of a run, also those that share no plan.
        names = self._guidance.toolset.tool_names
        return any(tool.name in names for tool in request.tools)

    async def get_response(self, *args: Any, **options: Any) -> ModelResponse:
        """
        Return the model's last answer; those before it are part of its usage alone.

        Raises:
            PlanError: it goes on answering over open tasks, and the settings say to raise.
        """
        model, request = self._resolve(), SentRequest(*args, **options)
        if not self._shows_tools(request):
            return await model.get_response(**request.arguments())
        guided, spent = await GuidedRequest.of(self._planning, self._guidance, request), Usage()
        while True:
            response = await model.get_response(**guided.arguments())
            # An answer that is sent back is paid for too: it must count in the run's limits.
            spent.add(response.usage)
            if not await guided.goes_on(response.output):
                output = guided.completed(response.output)
                return replace(response, output=output, usage=spent)

    def stream_response(self, *args: Any, **options: Any) -> AsyncIterator[TResponseStreamEvent]:
        """
        Yield the model's events. Those of an answer that is sent back have been seen by then; it
        gets no completion, and the SDK keeps only the last answer.

        Raises:
            PlanError: as of `get_response`.
        """
        model, request = self._resolve(), SentRequest(*args, **options)
        if not self._shows_tools(request):
            return model.stream_response(**request.arguments())
        return self._stream(model, request)

    async def _stream(
        self, model: Model, request: SentRequest
    ) -> AsyncIterator[TResponseStreamEvent]:
        guided = await GuidedRequest.of(self._planning, self._guidance, request)
        spent: ResponseUsage | None = None
        while True:
            end: ResponseCompletedEvent | None = None
            items: list[TResponseOutputItem] = []
            events: Any = model.stream_response(**guided.arguments())
            # Left half read, a generator keeps its connection until it is collected.
            async with aclosing(events) if hasattr(events, "aclose") else nullcontext():
                async for event in events:
                    if isinstance(event, ResponseOutputItemDoneEvent):
                        items.append(event.item)
                    if isinstance(event, ResponseCompletedEvent):
                        end = event
                    else:
                        yield event
            # Without a completion nothing is judged: the SDK itself says what is wrong.
            if end is None:
                return
            spent = summed(spent, end.response.usage)
            # Some providers send a completion without output; then the items are the answer.
            output = end.response.output or items
            if not await guided.goes_on(output):
                change = {"output": guided.completed(output), "usage": spent}
                yield end.model_copy(update={"response": end.response.model_copy(update=change)})
                return


Model.register(GuidedModel)


def guided_model(
    planning: Planning,
    model: Model | str | None = None,
    *,
    settings: Settings | None = None,
    model_provider: ModelProvider | None = None,
) -> Model:
    """
    Return a model with guidance; `attach` gives one to its agent.

    `RunConfig(model=...)` takes the place of an agent's own model: give it one of these. A model's
    name, or `None` for the SDK's default, is looked up when it is first needed, with the
    `model_provider`, since that of a `RunConfig` is not asked.

    `settings` are those of the planning unless others are given.

    Raises:
        PlanError: what was given is no `Planning`, or no settings.
    """
    chosen = require(planning, Planning).settings if settings is None else settings
    require(chosen, Settings)
    if isinstance(model, Model):
        return cast("Model", GuidedModel(planning, chosen, lambda: model))
    provider = model_provider or MultiProvider()
    return cast("Model", GuidedModel(planning, chosen, lambda: provider.get_model(model)))


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
    (`conversation_id`, `previous_response_id`) keeps what it is sent. `guided_model` says what
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
        return _both(given, prompt) or None

    async def instructions(context: RunContextWrapper[Any], now: Agent[Any]) -> str:
        own = given(context, now)
        return _both(await own if isawaitable(own) else own, prompt)

    return instructions


def _both(given: str | None, prompt: str) -> str:
    return "\n\n".join(filter(None, (given, prompt)))
