"""The shapes of the OpenAI chat completions API, which many other servers speak as well."""

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
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                **({"strict": True} if strict else {}),
            },
        }
        for tool in tools
    ]


def _calls(response: object) -> Iterator[Call]:
    choices = entries(response, "choices")
    message = look(choices[0], "message") if choices else response
    for call in entries(message, "tool_calls"):
        function = look(call, "function")
        yield make_call(look(function, "name"), look(function, "arguments"), look(call, "id"))


def _results(replies: Sequence[Reply]) -> list[Shape]:
    # No flag for errors here: the text says so itself.
    return [
        {"role": "tool", "tool_call_id": reply.call_id, "content": reply.text} for reply in replies
    ]


_WIRE = Wire(_define, _calls, _results)

make_tools = _WIRE.make_tools
calls_in = _WIRE.calls_in
results_of = _WIRE.results_of
answer = _WIRE.answer
with_reminder = _WIRE.with_reminder
