"""The shapes of the OpenAI Responses API: items in, items out."""

from collections.abc import Iterator, Sequence
from typing import Any

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
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
            # Always said, for the API's own default is true.
            "strict": strict,
        }
        for tool in tools
    ]


def _items(response: object) -> Sequence[Any]:
    # Items of a conversation that is kept by the caller are a list, with no response around it.
    return response if isinstance(response, list | tuple) else entries(response, "output")


def _calls(response: object) -> Iterator[Call]:
    alone = field(response, "type") == "function_call"
    for item in [response] if alone else _items(response):
        if field(item, "type") == "function_call":
            # By `call_id`, which the output must name; an item's `id` is another one.
            yield call_of(field(item, "name"), field(item, "arguments"), field(item, "call_id"))


def _results(replies: Sequence[Reply]) -> list[Shape]:
    return [
        {"type": "function_call_output", "call_id": reply.call_id, "output": reply.text}
        for reply in replies
    ]


def _read(entry: object) -> Message:
    if field(entry, "type") == "function_call_output":
        text, call_id = text_in(field(entry, "output")), str(field(entry, "call_id"))
        return message_of("tool", results=[ToolResult("", not is_error_text(text), call_id)])
    role = field(entry, "role")
    # One message; a whole response; or an item without a role, which is the model's: a call, a
    # thought.
    messages = [item for item in entries(entry, "output") if field(item, "type") == "message"]
    contents = [field(item, "content") for item in ([entry] if role else messages)]
    refused = any(
        field(part, "type") == "refusal"
        for content in contents
        if isinstance(content, list | tuple)
        for part in content
    )
    return message_of(
        role or ("assistant" if _is_answer(entry) else ""),
        "".join(map(text_in, contents)),
        finish="refusal" if refused else field(field(entry, "incomplete_details"), "reason"),
    )


def _is_answer(entry: object) -> bool:
    """Say whether this is of a model: a response that did not fail, or items, or one."""
    if field(entry, "error") is not None or field(entry, "status") in {"failed", "cancelled"}:
        return False
    return isinstance(entry, list | tuple) or any(
        field(entry, name) is not None for name in ("output", "type")
    )


def _kept(response: object) -> list[Shape]:
    # All items, thoughts too: this API wants a call's reasoning back with it.
    return [plain(item) for item in _items(response)]


_WIRE = Wire(_define, _calls, _results, _read, _kept)

make_tools, calls_in, results_of = _WIRE.make_tools, _WIRE.calls_in, _WIRE.results_of
answer, read_messages, with_reminder = _WIRE.answer, _WIRE.read_messages, _WIRE.with_reminder
start_run = starting(Run, _WIRE)
