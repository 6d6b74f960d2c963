"""The Gemini API: contents consist of parts, and a call need not have an id."""

from collections.abc import Iterator, Sequence
from typing import Any

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


def _define(tools: Sequence[Definition], _strict: bool) -> list[Shape]:  # noqa: FBT001 - a Wire's
    """Return one entry with all declarations; there is no strict mode, only strict schemas."""
    declarations = [
        {
            "name": tool.name,
            "description": tool.description,
            # Not `parameters`, where the SDK crashes on a type such as ["string", "null"].
            "parameters_json_schema": tool.schema,
        }
        for tool in tools
    ]
    return [{"function_declarations": declarations}]


def _content(response: object) -> tuple[Any, Any]:
    # For a blocked prompt there are no candidates; a blocked answer has no content.
    return first_choice(response, "candidates", "content")


# The SDK's objects and the REST API's JSON spell names differently.
def _parts(content: object, *names: str) -> Iterator[Any]:
    parts = (field(part, *names) for part in entries(content, "parts"))
    return (part for part in parts if part is not None)


def _calls(response: object) -> Iterator[Call]:
    for call in _parts(_content(response)[0], "function_call", "functionCall"):
        yield call_of(field(call, "name"), field(call, "args"), field(call, "id"))


def _results(replies: Sequence[Reply]) -> list[Shape]:
    parts = [{"function_response": _response(reply)} for reply in replies]
    return [{"role": "user", "parts": parts}] if parts else []


def _response(reply: Reply) -> Shape:
    # There is no error flag: the key marks an error. A call need not have an id.
    said = {"error" if reply.is_error else "output": reply.text}
    named = {"id": reply.call_id} if reply.call_id else {}
    return {**named, "name": reply.name, "response": said}


def _tail(contents: Sequence[Shape], text: str) -> list[Shape]:
    return [*contents, {"role": "user", "parts": [{"text": text}]}]


def _read(entry: object) -> Message:
    content, candidate = _content(entry)
    results = [
        ToolResult(
            str(field(result, "name")),
            field(field(result, "response"), "error") is None,
            field(result, "id") or "",
        )
        for result in _parts(content, "function_response", "functionResponse")
    ]
    role = field(content, "role") if candidate is None else "model"
    finish = field(candidate, "finish_reason", "finishReason")
    return message_of(role, text_in(field(content, "parts")), finish=finish, results=results)


def _kept(response: object) -> list[Shape]:
    content, _ = _content(response)
    # A blocked answer has no content, and a request that contains None is refused.
    return [] if content is None else [plain(content)]


def _is_blocked(response: object) -> bool:
    """Return whether the prompt was blocked: the response has no candidates, but is no error."""
    feedback = field(response, "prompt_feedback", "promptFeedback")
    reason = field(feedback, "block_reason", "blockReason")
    return reason is not None and not entries(response, "candidates")


_WIRE = Wire(
    _define, _calls, _results, _read, _kept, _tail, ("response_id", "responseId"), _is_blocked
)

make_tools, calls_in, results_of = _WIRE.make_tools, _WIRE.calls_in, _WIRE.results_of
answer, read_messages, with_reminder = _WIRE.answer, _WIRE.read_messages, _WIRE.with_reminder
start_run = starting(Run, _WIRE)
