"""
A model with guidance: reminders at the tail of its requests, and further turns, both unsaved.

No hook of the SDK can put a text into one request alone and ask the model again, for every way of
running an agent; a model that wraps the agent's own can. It stands behind all input filters, so
that it looks at what is really sent. Of a streamed answer the events are passed on as they come,
and only its completion is held back: the SDK takes the last completion for the answer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from typing import Any, cast

from agents import Model, ModelProvider, MultiProvider
from agents.items import ModelResponse, TResponseOutputItem, TResponseStreamEvent
from agents.usage import Usage
from openai.types.responses import (
    ResponseCompletedEvent,
    ResponseOutputItemDoneEvent,
    ResponseUsage,
)

from todoplan.adapters.openai_agents.conversation import Request
from todoplan.adapters.openai_agents.guided_request import GuidedRequest
from todoplan.adapters.openai_agents.planning import Planning
from todoplan.dialogue.application import require
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.observed import guidance_of

__all__ = ["GuidedModel", "StreamedAnswer", "closing", "guided_model", "summed"]

Events = AsyncIterator[TResponseStreamEvent]


class StreamedAnswer:
    """
    What a stream has brought so far.
    """

    def __init__(self) -> None:
        self._end: ResponseCompletedEvent | None = None
        self._items: list[TResponseOutputItem] = []

    def holds(self, event: TResponseStreamEvent) -> bool:
        """
        Take an event, and say whether it is held back.
        """
        if isinstance(event, ResponseOutputItemDoneEvent):
            self._items.append(event.item)
        if isinstance(event, ResponseCompletedEvent):
            self._end = event
        return event is self._end

    @property
    def output(self) -> list[TResponseOutputItem] | None:
        """
        The model's answer; `None` if the stream has ended without one.
        """
        # Some providers send a completion without output; then the items are what was said.
        return None if self._end is None else self._end.response.output or self._items

    @property
    def usage(self) -> ResponseUsage | None:
        """
        What the answer cost, if that was told.
        """
        return self._end.response.usage if self._end else None

    def completion(
        self, output: list[TResponseOutputItem], usage: ResponseUsage | None
    ) -> TResponseStreamEvent:
        """
        Return the completion, of this output and cost.
        """
        end = cast("ResponseCompletedEvent", self._end)
        response = end.response.model_copy(update={"output": output, "usage": usage})
        return end.model_copy(update={"response": response})


@asynccontextmanager
async def closing(events: Events) -> AsyncIterator[Events]:
    """
    Close a stream in the end, if it can be closed.
    """
    try:
        yield events
    finally:
        # Left half read, a generator keeps its connection until it is collected.
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()


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
    A model that is told of the plan of one session, and asked again if it stops too early.

    It stands behind every input filter, so it looks at what is really sent. Requests without the
    planning tools pass through; all else about the model, such as closing it, is its own.
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

    def _shows_tools(self, request: Request) -> bool:
        # `RunConfig(model=...)` serves every agent of a run, also those that share no plan.
        names = self._guidance.toolset.tool_names
        return any(tool.name in names for tool in request.tools)

    async def get_response(self, *args: Any, **options: Any) -> ModelResponse:
        """
        Return the model's last answer; those before it are part of its usage alone.

        Raises:
            PlanError: it goes on answering over open tasks, and the settings say to raise.
        """
        model, request = self._resolve(), Request(*args, **options)
        if not self._shows_tools(request):
            return await model.get_response(**request.arguments())
        guided, spent = await GuidedRequest.of(self._planning, self._guidance, request), Usage()
        while True:
            response = await model.get_response(**guided.sent.arguments())
            # An answer that is sent back is paid for too: it must count in the run's limits.
            spent.add(response.usage)
            if not await guided.goes_on(response.output):
                output = guided.completed(response.output)
                return replace(response, output=output, usage=spent)

    def stream_response(self, *args: Any, **options: Any) -> Events:
        """
        Yield the model's events. Those of an answer that is sent back have been seen by then; it
        gets no completion, and the SDK keeps only the last answer.

        Raises:
            PlanError: as of `get_response`.
        """
        model, request = self._resolve(), Request(*args, **options)
        if not self._shows_tools(request):
            return model.stream_response(**request.arguments())
        return self._stream(model, request)

    async def _stream(self, model: Model, request: Request) -> Events:
        guided = await GuidedRequest.of(self._planning, self._guidance, request)
        spent: ResponseUsage | None = None
        while True:
            answer = StreamedAnswer()
            async with closing(model.stream_response(**guided.sent.arguments())) as events:
                async for event in events:
                    if not answer.holds(event):
                        yield event
            # Without a completion nothing is judged: the SDK itself says what is wrong.
            if answer.output is None:
                return
            spent = summed(spent, answer.usage)
            if not await guided.goes_on(answer.output):
                yield answer.completion(guided.completed(answer.output), spent)
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
    found = GuidedModel(planning, chosen, lambda: provider.get_model(model))
    return cast("Model", found)
