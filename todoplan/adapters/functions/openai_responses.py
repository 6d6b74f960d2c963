"""The shapes of the OpenAI Responses API: items in, items out."""

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
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
            # Always said, for the API's own default is true.
            "strict": strict,
        }
        for tool in tools
    ]


def _calls(response: object) -> Iterator[Call]:
    # Items of a conversation that is kept by the caller are a list, with no response around it.
    if look(response, "type") == "function_call":
        items: Sequence[object] = [response]
    else:
        items = response if isinstance(response, list | tuple) else entries(response, "output")
    for item in items:
        if look(item, "type") == "function_call":
            # By `call_id`, which the output must name; an item's `id` is another one.
            yield make_call(look(item, "name"), look(item, "arguments"), look(item, "call_id"))


def _results(replies: Sequence[Reply]) -> list[Shape]:
    return [
        {"type": "function_call_output", "call_id": reply.call_id, "output": reply.text}
        for reply in replies
    ]


def _read(entry: object) -> Message:
    kind = look(entry, "type")
    if kind == "function_call_output":
        text = text_in(look(entry, "output"))
        ok, call_id = not is_error_text(text), str(look(entry, "call_id"))
        return said("tool", results=[ToolResult("", ok, call_id)])
    role = look(entry, "role")
    # One message; a whole response; or an item without a role, which is the model's: a call, a
    # thought.
    messages = [item for item in entries(entry, "output") if look(item, "type") == "message"]
    contents = [look(item, "content") for item in ([entry] if role else messages)]
    finish = look(look(entry, "incomplete_details"), "reason")
    return said(
        role or ("assistant" if _is_answer(entry) else ""),
        "".join(map(text_in, contents)),
        finish="refusal" if any(map(_refuses, contents)) else finish,
    )


def _is_answer(entry: object) -> bool:
    """
    Say whether this is of a model: a response that did not fail, or items, or one.
    """
    if look(entry, "error") is not None or look(entry, "status") in {"failed", "cancelled"}:
        return False
    return isinstance(entry, list | tuple) or any(
        look(entry, key) is not None for key in ("output", "type")
    )


def _refuses(content: object) -> bool:
    parts = content if isinstance(content, list | tuple) else ()
    return any(look(part, "type") == "refusal" for part in parts)


def _kept(response: object) -> list[Shape]:
    # All items, thoughts too: this API wants a call's reasoning back with it.
    items = response if isinstance(response, list | tuple) else entries(response, "output")
    return [plain(item) for item in items]


_WIRE = Wire(_define, _calls, _results, _read, _kept)

make_tools = _WIRE.make_tools
calls_in = _WIRE.calls_in
results_of = _WIRE.results_of
answer = _WIRE.answer
read_messages = _WIRE.read_messages
with_reminder = _WIRE.with_reminder
start_run = starting(Run, _WIRE)
