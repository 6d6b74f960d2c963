"""Streamed answers: what is passed on, what is held back, what it cost; and closing streams."""

import asyncio

import pytest
from agents.exceptions import ModelBehaviorError
from agents.testing import assistant_message
from openai.types.responses import (
    ResponseCompletedEvent,
    ResponseOutputItemDoneEvent,
    ResponseUsage,
)
from support.openai_agents_runs import agent_of, scripted, stream, turns

from todoplan.adapters.openai_agents import Planning, attach, summed

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


def streamed(*events):
    """
    Return the result of a run whose model streams these events, and what was passed on.
    """
    agent = attach(agent_of(scripted({"stream_events": [*events]})), Planning())
    return asyncio.run(stream(agent))


@pytest.mark.parametrize("output", [[HELLO], []])
def test_only_the_completion_is_held_back(output):
    """Its output is the answer, or the items if it has none, as some providers send it."""
    result, events = streamed(item(HELLO), completion(*output))
    raw = [event.data for event in events if event.type == "raw_response_event"]
    assert [each.type for each in raw] == ["response.output_item.done", "response.completed"]
    assert raw[-1].response.output == [HELLO]
    assert result.final_output == "Hello."


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


class Streaming:
    """
    A model's stream that is no generator, or one that can be closed.
    """

    def __init__(self, model, events, closed):
        self.model, self.events, self.closed = model, events, closed

    def stream_response(self, **given):
        return self if self.closed is None else self._generator()

    def __aiter__(self):
        return self

    async def __anext__(self):
        if not self.events:
            raise StopAsyncIteration
        return self.events.pop(0)

    async def _generator(self):
        try:
            for event in self.events:
                yield event
        finally:
            self.closed.append(True)


def guided(model, closed=None):
    """
    Return the model of an attached agent, whose stream is this one.
    """
    inner = Streaming(model, [item(HELLO), completion(HELLO)], closed)
    model.stream_response = inner.stream_response
    return attach(agent_of(model), Planning())


def test_a_stream_that_is_left_is_closed():
    """Half read, a generator would keep its connection until it is collected."""
    closed = []

    async def left():
        agent = guided(scripted(), closed)
        events = agent.model.stream_response(
            None,
            "go",
            None,
            agent.tools,
            None,
            [],
            None,
            previous_response_id=None,
            conversation_id=None,
            prompt=None,
        )
        await anext(events)
        await events.aclose()

    asyncio.run(left())
    assert closed == [True]


def test_a_stream_that_cannot_be_closed_is_read_to_its_end():
    """Not every provider's is a generator."""
    result, _ = asyncio.run(stream(guided(scripted())))
    assert result.final_output == "Hello."


def test_a_stream_that_breaks_off_is_the_runs_error():
    """Without a completion nothing is judged, and the SDK says what it says."""
    planning = Planning()
    agent = attach(agent_of(scripted({"stream_events": [item(HELLO)]})), planning)
    with pytest.raises(ModelBehaviorError, match="final response"):
        asyncio.run(stream(agent))
    assert turns(planning) == 0
