"""The shapes of the OpenAI Responses API: items in, items out."""

from collections.abc import Iterator, Sequence

from todoplan.adapters.functions._wire import Shape, Wire, entries, look, make_call
from todoplan.dialogue.toolbox import Call, Reply
from todoplan.dialogue.tools.toolset import Definition
from todoplan.lazy import listing

__all__ = ["answer", "calls_in", "make_tools", "results_of", "with_reminder"]
__dir__ = listing(__all__)


def _define(tools: Sequence[Definition], strict: bool) -> list[Shape]:  # noqa: FBT001 - a Wire's
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
            "strict": strict,
        }
        for tool in tools
    ]


def _calls(response: object) -> Iterator[Call]:
    # Items of a conversation that is kept by the caller are a list, with no response around it.
    items = response if isinstance(response, list | tuple) else entries(response, "output")
    for item in items:
        if look(item, "type") == "function_call":
            yield make_call(look(item, "name"), look(item, "arguments"), look(item, "call_id"))


def _results(replies: Sequence[Reply]) -> list[Shape]:
    return [
        {"type": "function_call_output", "call_id": reply.call_id, "output": reply.text}
        for reply in replies
    ]


_WIRE = Wire(_define, _calls, _results)

make_tools = _WIRE.make_tools
calls_in = _WIRE.calls_in
results_of = _WIRE.results_of
answer = _WIRE.answer
with_reminder = _WIRE.with_reminder
