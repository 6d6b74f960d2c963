"""The shapes of the Anthropic Messages API: all results of a turn stand in one user message."""

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
            "name": tool.name,
            "description": tool.description,
            "input_schema": tool.schema,
            **({"strict": True} if strict else {}),
        }
        for tool in definitions(tools, strict=strict)
    ]


def calls_in(tools: Tools, response: object) -> tuple[Call, ...]:
    """
    Return the planning calls of an assistant message, in order.
    """
    return planned(tools, _calls(response))


def _calls(response: object) -> Iterator[Call]:
    for block in entries(response, "content"):
        if look(block, "type") == "tool_use":
            yield make_call(look(block, "name"), look(block, "input"), look(block, "id"))


def results_of(turn: Replies) -> list[Shape]:
    """
    Return one user message with a result for each reply; no message if there are none.

    A turn that calls other tools too wants their results in the same message: hand in their
    replies with those of the plan, or extend its content.
    """
    results = [
        {
            "type": "tool_result",
            "tool_use_id": reply.call_id,
            "content": reply.text,
            "is_error": reply.is_error,
        }
        for reply in replies_of(turn)
    ]
    return [{"role": "user", "content": results}] if results else []


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

    The text is the last block of the user turn that ends the request, behind its tool results.
    """
    last = messages[-1] if messages else None
    if not text or look(last, "role") != "user":
        return with_last(messages, text, {"role": "user", "content": [_text(text)]})
    content = look(last, "content")
    blocks = [_text(content)] if isinstance(content, str) else content
    return [*messages[:-1], {**messages[-1], "content": [*blocks, _text(text)]}]


def _text(text: str) -> Shape:
    return {"type": "text", "text": text}
