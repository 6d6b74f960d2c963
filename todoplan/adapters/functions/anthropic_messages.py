"""The Anthropic Messages API: all results of a turn are in one user message."""

from collections.abc import Iterator, Sequence

from todoplan.adapters.functions.run import Run
from todoplan.adapters.functions.wire import (
    Shape,
    Wire,
    call_of,
    entries,
    field,
    message_of,
    plain,
    starting,
    text_in,
)
from todoplan.dialogue.calls import Call, Reply
from todoplan.dialogue.guidance import Message, ToolResult
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
    # Optional: all strict tools are compiled to one grammar, which was too large for some users
    # with 13 tools.
    more = {"strict": True} if strict else {}
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "input_schema": tool.schema,
            **more,
        }
        for tool in tools
    ]


def _calls(response: object) -> Iterator[Call]:
    for block in entries(response, "content"):
        if field(block, "type") == "tool_use":
            yield call_of(field(block, "name"), field(block, "input"), field(block, "id"))


def _results(replies: Sequence[Reply]) -> list[Shape]:
    results = [
        {
            "type": "tool_result",
            "tool_use_id": reply.call_id,
            "content": reply.text,
            "is_error": reply.is_error,
        }
        for reply in replies
    ]
    # All in one message: this API refuses a call whose result is not in the next message.
    return [{"role": "user", "content": results}] if results else []


def _tail(messages: Sequence[Shape], text: str) -> list[Shape]:
    """Append the text to the user turn that ends the request, after its tool results."""
    # Turns alternate in this API, and results must come first in the turn after their calls.
    last = messages[-1] if messages else None
    block = {"type": "text", "text": text}
    if field(last, "role") != "user":
        return [*messages, {"role": "user", "content": [block]}]
    content = field(last, "content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [*messages[:-1], {**messages[-1], "content": [*blocks, block]}]


def _read(entry: object) -> Message:
    results = [
        ToolResult("", not field(block, "is_error"), str(field(block, "tool_use_id")))
        for block in entries(entry, "content")
        if field(block, "type") == "tool_result"
    ]
    text, finish = text_in(field(entry, "content")), field(entry, "stop_reason")
    return message_of(field(entry, "role"), text, finish=finish, results=results)


def _kept(response: object) -> list[Shape]:
    content = field(response, "content")
    if isinstance(content, list | tuple):
        content = [plain(block) for block in content]
    return [{"role": "assistant", "content": content}]


_WIRE = Wire(_define, _calls, _results, _read, _kept, _tail)

make_tools, calls_in, results_of = _WIRE.make_tools, _WIRE.calls_in, _WIRE.results_of
answer, read_messages, with_reminder = _WIRE.answer, _WIRE.read_messages, _WIRE.with_reminder
start_run = starting(Run, _WIRE)
