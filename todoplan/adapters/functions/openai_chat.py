"""The shapes of the OpenAI chat completions API, which many other servers speak as well."""

from collections.abc import Iterator, Sequence

from todoplan.adapters.functions._reading import (
    Shape,
    entries,
    look,
    make_call,
    plain,
    said,
    text_in,
)
from todoplan.adapters.functions._wire import Wire, starting
from todoplan.adapters.functions.run import Run
from todoplan.dialogue.guidance.conversation import Message, ToolResult
from todoplan.dialogue.replies.error_texts import is_error_text
from todoplan.dialogue.toolbox import Call, Reply
from todoplan.dialogue.tools.toolset import Definition
from todoplan.lazy import listing

__all__ = [
    "answer",
    "calls_in",
    "make_tools",
    "read_messages",
    "results_of",
    "start_run",
    "with_reminder",
]
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


def _read(entry: object) -> Message:
    choices = entries(entry, "choices")
    message = look(choices[0], "message") if choices else entry
    role, text = look(message, "role"), text_in(look(message, "content"))
    if role == "tool":
        ok, call_id = not is_error_text(text), str(look(message, "tool_call_id"))
        return said(role, results=[ToolResult("", ok, call_id)])
    finish = look(choices[0], "finish_reason") if choices else ""
    # A refusal stands in a field of its own, whatever the finish reason.
    return said(role, text, finish="refusal" if look(message, "refusal") else finish)


def _kept(response: object) -> list[Shape]:
    choices = entries(response, "choices")
    return [plain(look(choices[0], "message") if choices else response)]


_WIRE = Wire(_define, _calls, _results, _read, _kept)

make_tools = _WIRE.make_tools
calls_in = _WIRE.calls_in
results_of = _WIRE.results_of
answer = _WIRE.answer
read_messages = _WIRE.read_messages
with_reminder = _WIRE.with_reminder
start_run = starting(Run, _WIRE)
