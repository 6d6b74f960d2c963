"""
`attach`: give an agent the tools, the prompt and the guidance of one session's plan.

In this SDK, hooks and input filters belong to a run, but tools and model belong to an agent. To
work however the agent is run, guidance must be part of the agent. No hook can add a text to a
single request and ask the model again, for every way of running an agent, but a wrapper of the
agent's model can. It runs after all input filters, so it sees the actual request. The events of a
streamed answer are passed on as they come, and only the completion event is held back, because the
SDK takes the last completion as the answer.
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
from todoplan.dialogue.calls import Call
from todoplan.dialogue.guidance import Guidance, Settings, is_final_answer, is_refusal
from todoplan.dialogue.toolbox import guidance_of, require
from todoplan.dialogue.tools import Definition
from todoplan.errors import PlanError
from todoplan.planner.session import Request

T = TypeVar("T")


@attrs.define
class GuidedRequest:
    """
    A request with its reminder, and the further requests if its answer is sent back.

    `request` has no reminders; `asked` is the session's record of the request.
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
        """Return the guided request for an SDK request. If it answers no call, it starts a run."""
        asked = await planning.session.before_model(
            conversation(request.input),
            # If the provider stores the conversation, the input has only new messages. Read as a
            # whole conversation, it would make the plan look lost in every request.
            partial=request.is_partial,
            # No hook reports the start of a run; a request without a result of ours is a user's.
            is_new=not planning.pending.awaits(answers_in(request.input)),
            guidance=guidance,
        )
        return cls(planning, guidance, request, asked)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the model, by name."""
        # At the end, so that the cached prefix stays valid, and in a copy, so that no later request
        # contains it.
        sent = with_reminder(self.request.input, self.asked.text)
        return {**self.request.arguments(), "input": sent}

    async def goes_on(self, output: Sequence[TResponseOutputItem]) -> bool:
        """
        Process the model's output, and return whether to ask the model again.

        Raises:
            PlanError: the model gives final answers again and again while tasks are open, and the
                settings say to raise.
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
        # With `previous_response_id`, the next request continues the same earlier response, which
        # contains neither this input nor this answer. A stored conversation contains both.
        items = [
            *as_list(self.request.input),
            *ModelResponse([*output], Usage(), None).to_input_items(),
        ]
        kept = [] if self.request.conversation_id else items
        self.request = attrs.evolve(self.request, input=kept)
        return True

    def _note(self, output: Sequence[TResponseOutputItem]) -> None:
        """
        Record the calls of the turn, and which of them will surely run.

        A call of a tool without approval and guardrails will surely run. A call that was answered
        before is a repetition, which the SDK skips.
        """
        find = self.guidance.toolset.find
        sure = {
            tool.name
            for tool in self.request.tools
            if isinstance(tool, FunctionTool)
            and find(tool.name)
            # It may also be a function, whose result is unknown until the call starts.
            and tool.needs_approval is False
            # A guardrail may refuse this call; then the other calls must not carry it out.
            and not tool.tool_input_guardrails
        }
        answered = answers_in(self.request.input)
        self.planning.pending.answered(answered)
        new = [call for call in calls_in(output) if call.call_id not in answered]
        self.planning.pending.made(new, sure)

    def completed(self, output: list[TResponseOutputItem]) -> list[TResponseOutputItem]:
        """
        Return the output for the SDK.

        After the question whether the answer is complete, both answers are merged into one; if the
        model refuses that question, the first answer is returned.
        """
        output, answer = [carried(item, self.guidance.toolset) for item in output], neutral(output)
        if not self.stands or not is_final_answer(answer):
            return output
        messages = _messages(output)
        if is_refusal(answer):
            output, messages = [item for item in output if item not in messages], ()
        if not messages:
            return [*output, *self.stands]
        # One message, since the SDK uses the last message as the final output.
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
    """Return the sum of the tokens of two answers; an answer without usage counts as zero."""
    if spent is None or more is None:
        return spent or more
    return ResponseUsage.model_validate(_sum(spent.model_dump(), more.model_dump()))


def _sum(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, dict):
        return {key: _sum(one.get(key), other.get(key)) for key in {**one, **other}}
    return one + other


# Registered below instead of derived from `Model`: a subclass would inherit methods such as `close`
# and `get_retry_advice`, instead of using those of the inner model.
class GuidedModel:
    """
    A model with reminders of one session's plan; it is asked again if it stops too early.

    Requests without the planning tools are passed on unchanged. All other attributes, such as
    `close`, are those of the inner model.
    """

    def __init__(
        self, planning: Planning, settings: Settings, resolve: Callable[[], Model]
    ) -> None:
        self._planning = planning
        self._guidance = guidance_of(planning.toolbox, settings)
        self._resolve = cache(resolve)

    def __getattr__(self, name: str) -> Any:
        # Copying and pickling read such attributes before the object is initialised.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._resolve(), name)

    def _shows_tools(self, request: SentRequest) -> bool:
        # `RunConfig(model=...)` is used for all agents of a run, even those without a plan.
        names = self._guidance.toolset.tool_names
        return any(tool.name in names for tool in request.tools)

    async def get_response(self, *args: Any, **options: Any) -> ModelResponse:
        """
        Return the model's last answer; its usage includes the answers that were sent back.

        Raises:
            PlanError: the model gives final answers again and again while tasks are open, and the
                settings say to raise.
        """
        model, request = self._resolve(), SentRequest(*args, **options)
        if not self._shows_tools(request):
            return await model.get_response(**request.arguments())
        guided, spent = await GuidedRequest.of(self._planning, self._guidance, request), Usage()
        while True:
            response = await model.get_response(**guided.arguments())
            # An answer that is sent back costs tokens too, and must count towards the run's limits.
            spent.add(response.usage)
            if not await guided.goes_on(response.output):
                output = guided.completed(response.output)
                return replace(response, output=output, usage=spent)

    def stream_response(self, *args: Any, **options: Any) -> AsyncIterator[TResponseStreamEvent]:
        """
        Yield the model's events.

        The events of an answer that is sent back are yielded too, but not its completion event, so
        the SDK keeps only the last answer.

        Raises:
            PlanError: as in `get_response`.
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
            # A generator that is not read to its end keeps its connection open until collected.
            async with aclosing(events) if hasattr(events, "aclose") else nullcontext():
                async for event in events:
                    if isinstance(event, ResponseOutputItemDoneEvent):
                        items.append(event.item)
                    if isinstance(event, ResponseCompletedEvent):
                        end = event
                    else:
                        yield event
            # Without a completion event there is nothing to judge; the SDK reports the error.
            if end is None:
                return
            spent = summed(spent, end.response.usage)
            # Some providers send a completion event without output; then the items are the answer.
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
    Return a model with guidance; `attach` does this for an agent's model.

    `RunConfig(model=...)` replaces an agent's own model, so pass it a guided model. A model's name,
    or `None` for the SDK's default, is resolved on first use with `model_provider`; the provider of
    a `RunConfig` is not used.

    `settings` are by default those of the planning.

    Raises:
        PlanError: `planning` is not a `Planning`, or `settings` are not settings.
    """
    chosen = require(planning, Planning).settings if settings is None else settings
    require(chosen, Settings)
    if isinstance(model, Model):
        return cast("Model", GuidedModel(planning, chosen, lambda: model))
    provider = model_provider or MultiProvider()
    return cast("Model", GuidedModel(planning, chosen, lambda: provider.get_model(model)))


def make_tools(planning: Planning) -> list[Tool]:
    """
    Return the tools of a session's plan for `Agent(tools=...)`, without prompt and guidance.

    Their schemas are strict. Only a model of `guided_model` records which calls belong to one turn;
    with another model, each call is carried out on its own.

    Raises:
        PlanError: the argument is not a `Planning`.
    """
    # Made strict here: the SDK would make every property required, but none nullable.
    definitions = require(planning, Planning).toolbox.toolset.definitions(strict=True)
    return [_tool(planning, definition) for definition in definitions]


def _tool(planning: Planning, definition: Definition) -> FunctionTool:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        reply = await planning.answer(Call(definition.name, arguments, context.tool_call_id))
        return reply.text

    # It always returns a text, even on errors: a tool that raises ends the whole run.
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
    Return a copy of the agent that works with the plan of a session.

    It works in `Runner.run`, `run_sync` and `run_streamed`. It costs only the copy, so make one for
    each session. `settings` are by default those of the planning.

    The copy has its own lists, so additions to them, such as handoffs, apply to this session only.
    A clone of the copy with another model has no guidance: `clone` first, then attach.

    `system_prompt` is appended to the agent's instructions; the default is the tool set's prompt,
    and "" adds none. Guidance is part of the model and is not saved: no reminder is in a session,
    in `to_input_list()` or in a `RunState`. But a provider that stores the conversation
    (`conversation_id`, `previous_response_id`) stores the reminders sent to it. See `guided_model`
    about `model_provider` and `RunConfig(model=...)`.

    Other agents, such as targets of handoffs, share the plan if they are attached to the same
    `Planning`; an agent that is not attached has no plan. An agent that is used as a tool and
    shares the plan should have only `make_tools(planning)`, so that its answers are not sent back
    because of tasks that are not its own.

    Raises:
        PlanError: the agent already has tools of these names, or an argument has the wrong type.
    """
    require(agent, Agent, "an agent of the SDK, and then the planning")
    tools = make_tools(planning)
    doubled = sorted({tool.name for tool in tools} & {tool.name for tool in agent.tools})
    if doubled:
        # The SDK only logs a warning and uses the last tool.
        msg = f"the agent {agent.name!r} has {', '.join(doubled)} already; attach one plan, once"
        raise PlanError(msg, names=doubled)
    prompt = planning.toolbox.toolset.system_prompt() if system_prompt is None else system_prompt
    guided = guided_model(planning, agent.model, settings=settings, model_provider=model_provider)
    # `clone` would share the lists and dicts, and so one session's tools with another session.
    values = {field.name: getattr(agent, field.name) for field in fields(agent) if field.init}
    own = {name: copy(each) for name, each in values.items() if isinstance(each, list | dict)}
    own |= {"tools": [*agent.tools, *tools], "instructions": _instructions(agent, prompt)}
    attached = agent.clone(**own, model=guided)
    attached.model_settings = agent.model_settings  # a default that came with the model's name
    return attached


def _instructions(agent: Agent[Any], prompt: str) -> Any:
    given = agent.instructions
    if not callable(given):
        # After the agent's own instructions, and constant, so that a cached prefix stays valid.
        return _both(given, prompt) or None

    async def instructions(context: RunContextWrapper[Any], now: Agent[Any]) -> str:
        own = given(context, now)
        return _both(await own if isawaitable(own) else own, prompt)

    return instructions


def _both(given: str | None, prompt: str) -> str:
    return "\n\n".join(filter(None, (given, prompt)))
