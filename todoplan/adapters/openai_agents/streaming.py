"""One streamed answer of a model: its events as they come, and its completion held back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from agents.items import TResponseOutputItem, TResponseStreamEvent
from openai.types.responses import (
    ResponseCompletedEvent,
    ResponseOutputItemDoneEvent,
    ResponseUsage,
)

__all__ = ["StreamedAnswer", "closing", "summed"]

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
