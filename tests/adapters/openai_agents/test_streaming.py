"""One streamed answer: its items, its completion, its cost; and closing what can be closed."""

import asyncio

import pytest
from agents.exceptions import ModelBehaviorError
from agents.testing import assistant_message
from openai.types.responses import (
    ResponseCompletedEvent,
    ResponseOutputItemDoneEvent,
    ResponseUsage,
)
from support.openai_agents_runs import agent_of, scripted, stream

from todoplan.adapters.openai_agents import Planning, attach
from todoplan.adapters.openai_agents.model import StreamedAnswer, closing, summed

HELLO = assistant_message("Hello.")


def completion(*output):
    """
    Return the completion of a response.
    """
    response = ResponseCompletedEvent.model_fields["response"].annotation.model_construct(
        id="r", output=[*output], usage=None
    )
    return ResponseCompletedEvent.model_construct(type="response.completed", response=response)


def item(output):
    """
    Return the event that an item is done.
    """
    return ResponseOutputItemDoneEvent.model_construct(
        item=output, type="response.output_item.done"
    )


def test_only_the_completion_is_held_back():
    """Its output is the answer, or the items if it has none, as some providers send it."""
    for end in (completion(HELLO), completion()):
        answer = StreamedAnswer()
        assert answer.output is None
        assert answer.usage is None
        assert not answer.holds(item(HELLO))
        assert answer.holds(end)
        assert answer.output == [HELLO]
        assert answer.completion([HELLO], None).response.output == [HELLO]


def usage(tokens, **more):
    """
    Return the cost of an answer, as a provider reports it.
    """
    told = {"input_tokens": tokens, "output_tokens": 1, "total_tokens": tokens + 1}
    details = {"cached_tokens": tokens, "cache_write_tokens": 0, **more}
    return ResponseUsage.model_validate(
        {**told, "input_tokens_details": details, "output_tokens_details": {"reasoning_tokens": 3}}
    )


def test_costs_are_summed():
    """Every count, also those that only one of them has; an unknown cost adds nothing."""
    both = summed(usage(2), usage(3, new_tokens=4))
    assert both == usage(5, new_tokens=4).model_copy(
        update={
            "output_tokens": 2,
            "total_tokens": 7,
            "output_tokens_details": both.output_tokens_details,
        }
    )
    assert both.output_tokens_details.reasoning_tokens == 6
    for one, other in ((None, usage(2)), (usage(2), None)):
        assert summed(one, other) == usage(2)
    assert summed(None, None) is None


class Events:
    """
    A stream that is no generator.
    """

    def __aiter__(self):
        return self

    async def __anext__(self):
        raise StopAsyncIteration


def test_what_can_be_closed_is_closed():
    """A generator is, at once; another iterator is left alone."""
    closed = []

    async def generator():
        try:
            yield 1
        finally:
            closed.append(True)

    async def look():
        async with closing(generator()) as events:
            assert await anext(events) == 1
        assert closed == [True]
        async with closing(Events()) as events:
            assert [event async for event in events] == []

    asyncio.run(look())


def test_a_stream_that_breaks_off_is_the_runs_error():
    """Without a completion nothing is judged, and the SDK says what it says."""
    planning = Planning()
    agent = attach(agent_of(scripted({"stream_events": [item(HELLO)]})), planning)
    with pytest.raises(ModelBehaviorError, match="final response"):
        asyncio.run(stream(agent))
    assert planning.memory.turn == 0
