"""The OpenAI Responses API, in which requests and responses consist of items."""

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
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
            # Always set, since the API's default is true.
            "strict": strict,
        }
        for tool in tools
    ]


def _items(response: object) -> Sequence[Any]:
    # The items of a conversation that the caller stores are a list, without a response object.
    return response if isinstance(response, list | tuple) else entries(response, "output")


def _calls(response: object) -> Iterator[Call]:
    alone = field(response, "type") == "function_call"
    for item in [response] if alone else _items(response):
        if field(item, "type") == "function_call":
            # The output must have the `call_id`; an item's `id` is a different id.
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
    # The entry is one message, a whole response, or an item of the model without a role, such as a
    # call or reasoning.
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
    """Return whether this comes from a model: a response that did not fail, an item, or items."""
    if field(entry, "error") is not None or field(entry, "status") in {"failed", "cancelled"}:
        return False
    return isinstance(entry, list | tuple) or any(
        field(entry, name) is not None for name in ("output", "type")
    )


def _kept(response: object) -> list[Shape]:
    # All items, including reasoning: this API requires a call's reasoning to be sent back.
    return [plain(item) for item in _items(response)]


_WIRE = Wire(_define, _calls, _results, _read, _kept)

make_tools, calls_in, results_of = _WIRE.make_tools, _WIRE.calls_in, _WIRE.results_of
answer, read_messages, with_reminder = _WIRE.answer, _WIRE.read_messages, _WIRE.with_reminder
start_run = starting(Run, _WIRE)
