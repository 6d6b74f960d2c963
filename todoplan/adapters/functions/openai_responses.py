"""The shapes of the OpenAI Responses API: items in, items out."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from todoplan.adapters.functions._wire import (
    Answered,
    Replies,
    Shape,
    Tools,
    answered,
    definitions,
    entries,
    look,
    make_call,
    planned,
    replies_of,
    with_last,
)
from todoplan.core.plan import Plan
from todoplan.dialogue.toolbox import Call, Toolbox

__all__ = ["answer", "calls_in", "make_tools", "results_of", "with_reminder"]


def make_tools(tools: Tools, *, strict: bool = False) -> list[Shape]:
    """
    Return the definitions for `tools=`; `strict` asks for arguments that match the schema.
    """
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
            "strict": strict,
        }
        for tool in definitions(tools, strict=strict)
    ]


def calls_in(tools: Tools, response: object) -> tuple[Call, ...]:
    """
    Return the planning calls of a response, or of a list of output items, in order.
    """
    return planned(tools, _calls(response))


def _calls(response: object) -> Iterator[Call]:
    items = response if isinstance(response, list | tuple) else entries(response, "output")
    for item in items:
        if look(item, "type") == "function_call":
            yield make_call(look(item, "name"), look(item, "arguments"), look(item, "call_id"))


def results_of(turn: Replies) -> list[Shape]:
    """
    Return one output item for each reply; whether it is an error, the text tells.
    """
    return [
        {"type": "function_call_output", "call_id": reply.call_id, "output": reply.text}
        for reply in replies_of(turn)
    ]


def answer(
    toolbox: Toolbox, plan: Plan, response: object, *, at: datetime | None = None
) -> Answered:
    """
    Answer every planning call of a response, in order as one. `at` is an aware time, or `None`.
    """
    return answered(toolbox, plan, _calls(response), results_of, at)


def with_reminder(messages: Sequence[Shape], text: str) -> list[Shape]:
    """
    Return the input items of one request with a text at their tail; nothing for "". Not to be kept.
    """
    return with_last(messages, text, {"role": "user", "content": text})
