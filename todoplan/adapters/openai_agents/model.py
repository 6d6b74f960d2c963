"""A model with guidance: reminders at the tail of its requests, and further turns, both unsaved."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import cache
from typing import Any, cast

from agents import Model, ModelProvider, MultiProvider
from agents.items import ModelResponse, TResponseStreamEvent
from agents.usage import Usage
from openai.types.responses import ResponseUsage

from todoplan.adapters.openai_agents.exchange import Exchange
from todoplan.adapters.openai_agents.planning import Planning
from todoplan.adapters.openai_agents.request import Request
from todoplan.adapters.openai_agents.streaming import StreamedAnswer, closing, summed
from todoplan.dialogue.guidance.guidance import Guidance, Settings

__all__ = ["GuidedModel", "guided_model"]

_Events = AsyncIterator[TResponseStreamEvent]


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
        self._guidance = Guidance(planning.toolbox.toolset, settings)
        self._resolve = cache(resolve)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._resolve(), name)

    def _shows_tools(self, request: Request) -> bool:
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
        exchange, spent = await Exchange.of(self._planning, self._guidance, request), Usage()
        while True:
            response = await model.get_response(**exchange.sent.arguments())
            spent.add(response.usage)
            if not await exchange.goes_on(response.output):
                output = exchange.completed(response.output)
                return replace(response, output=output, usage=spent)

    def stream_response(self, *args: Any, **options: Any) -> _Events:
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

    async def _stream(self, model: Model, request: Request) -> _Events:
        exchange = await Exchange.of(self._planning, self._guidance, request)
        spent: ResponseUsage | None = None
        while True:
            answer = StreamedAnswer()
            async with closing(model.stream_response(**exchange.sent.arguments())) as events:
                async for event in events:
                    if not answer.holds(event):
                        yield event
            if answer.output is None:
                return
            spent = summed(spent, answer.usage)
            if not await exchange.goes_on(answer.output):
                yield answer.completion(exchange.completed(answer.output), spent)
                return


Model.register(GuidedModel)


def guided_model(
    planning: Planning,
    model: Model | str | None = None,
    *,
    settings: Settings = Settings(),  # noqa: B008 - a frozen value
    model_provider: ModelProvider | None = None,
) -> Model:
    """
    Return a model with guidance; `attach` gives one to its agent.

    `RunConfig(model=...)` takes the place of an agent's own model: give it one of these. A model's
    name, or `None` for the SDK's default, is looked up when it is first needed, with the
    `model_provider`, since that of a `RunConfig` is not asked.
    """
    if isinstance(model, Model):
        return cast("Model", GuidedModel(planning, settings, lambda: model))
    provider = model_provider or MultiProvider()
    found = GuidedModel(planning, settings, lambda: provider.get_model(model))
    return cast("Model", found)
