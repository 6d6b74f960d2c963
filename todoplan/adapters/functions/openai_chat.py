"""The shapes of the OpenAI chat completions API, which many other servers speak as well."""

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
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                **({"strict": True} if strict else {}),
            },
        }
        for tool in definitions(tools, strict=strict)
    ]


def calls_in(tools: Tools, response: object) -> tuple[Call, ...]:
    """
    Return the planning calls of a completion (of its first choice) or of a message, in order.
    """
    return planned(tools, _calls(response))


def _calls(response: object) -> Iterator[Call]:
    choices = entries(response, "choices")
    message = look(choices[0], "message") if choices else response
    for call in entries(message, "tool_calls"):
        function = look(call, "function")
        yield make_call(look(function, "name"), look(function, "arguments"), look(call, "id"))


def results_of(turn: Replies) -> list[Shape]:
    """
    Return one tool message for each reply; whether it is an error, the text tells.
    """
    return [
        {"role": "tool", "tool_call_id": reply.call_id, "content": reply.text}
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
    Return the messages of one request with a text at their tail; nothing for "". Not to be kept.
    """
    return with_last(messages, text, {"role": "user", "content": text})
