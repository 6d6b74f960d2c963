"""The shapes of the Gemini API: contents made of parts; a call need not have an id."""

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
from todoplan.dialogue.toolbox import Call, Reply, Toolbox

__all__ = ["answer", "calls_in", "make_tools", "results_of", "with_reminder"]


def make_tools(tools: Tools, *, strict: bool = False) -> list[Shape]:
    """
    Return one tool with all declarations. `strict` shapes the schemas only: there is no such mode.
    """
    return [
        {
            "function_declarations": [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters_json_schema": tool.schema,
                }
                for tool in definitions(tools, strict=strict)
            ]
        }
    ]


def calls_in(tools: Tools, response: object) -> tuple[Call, ...]:
    """
    Return the planning calls of a response (of its first candidate) or of a content, in order.
    """
    return planned(tools, _calls(response))


def _calls(response: object) -> Iterator[Call]:
    candidates = entries(response, "candidates")
    content = look(candidates[0], "content") if candidates else response
    for part in entries(content, "parts"):
        call = look(part, "function_call") or look(part, "functionCall")
        if call is not None:
            yield make_call(look(call, "name"), look(call, "args"), look(call, "id"))


def results_of(turn: Replies) -> list[Shape]:
    """
    Return one content with a response for each reply; no content if there are none.

    Gemini wants as many responses in it as the turn had calls: for a turn that calls other tools
    too, hand in their replies with those of the plan, or extend its parts.
    """
    parts = [{"function_response": _response(reply)} for reply in replies_of(turn)]
    return [{"role": "user", "parts": parts}] if parts else []


def _response(reply: Reply) -> Shape:
    said = {"error" if reply.is_error else "output": reply.text}
    named = {"id": reply.call_id} if reply.call_id else {}
    return {**named, "name": reply.name, "response": said}


def answer(
    toolbox: Toolbox, plan: Plan, response: object, *, at: datetime | None = None
) -> Answered:
    """
    Answer every planning call of a response, in order as one. `at` is an aware time, or `None`.
    """
    return answered(toolbox, plan, _calls(response), results_of, at)


def with_reminder(messages: Sequence[Shape], text: str) -> list[Shape]:
    """
    Return the contents of one request with a text at their tail; nothing for "". Not to be kept.

    It is a content of its own: the one with the responses must hold nothing else.
    """
    return with_last(messages, text, {"role": "user", "parts": [{"text": text}]})
