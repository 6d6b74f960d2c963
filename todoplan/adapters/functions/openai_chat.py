"""The OpenAI Chat Completions API, which many other servers support as well."""

from collections.abc import Iterator, Sequence

from todoplan.adapters.functions.run import Run
from todoplan.adapters.functions.wire import (
    Shape,
    Wire,
    call_of,
    entries,
    field,
    first_choice,
    message_of,
    plain,
    starting,
    text_in,
)
from todoplan.dialogue.calls import Call, Reply
from todoplan.dialogue.guidance import Message, ToolResult
from todoplan.dialogue.replies import is_error_text
from todoplan.dialogue.tools import Definition
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
    more = {"strict": True} if strict else {}
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                **more,
            },
        }
        for tool in tools
    ]


def _calls(response: object) -> Iterator[Call]:
    for call in entries(first_choice(response, "choices", "message")[0], "tool_calls"):
        function = field(call, "function")
        yield call_of(field(function, "name"), field(function, "arguments"), field(call, "id"))


def _results(replies: Sequence[Reply]) -> list[Shape]:
    # There is no error flag: the text itself marks an error.
    return [
        {"role": "tool", "tool_call_id": reply.call_id, "content": reply.text} for reply in replies
    ]


def _read(entry: object) -> Message:
    message, choice = first_choice(entry, "choices", "message")
    role, text = field(message, "role"), text_in(field(message, "content"))
    if role == "tool":
        call_id = str(field(message, "tool_call_id"))
        return message_of(role, results=[ToolResult("", not is_error_text(text), call_id)])
    # A refusal is in a field of its own, whatever the finish reason.
    finish = "refusal" if field(message, "refusal") else field(choice, "finish_reason")
    return message_of(role, text, finish=finish)


def _kept(response: object) -> list[Shape]:
    return [plain(first_choice(response, "choices", "message")[0])]


_WIRE = Wire(_define, _calls, _results, _read, _kept)

make_tools, calls_in, results_of = _WIRE.make_tools, _WIRE.calls_in, _WIRE.results_of
answer, read_messages, with_reminder = _WIRE.answer, _WIRE.read_messages, _WIRE.with_reminder
start_run = starting(Run, _WIRE)
