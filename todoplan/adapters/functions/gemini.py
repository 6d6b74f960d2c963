"""The shapes of the Gemini API: contents made of parts; a call need not have an id."""

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
from todoplan.adapters.functions._wire import Wire, behind, starting
from todoplan.adapters.functions.run import Run
from todoplan.dialogue.guidance.conversation import Message, ToolResult
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


def _define(tools: Sequence[Definition], _strict: bool) -> list[Shape]:  # noqa: FBT001 - a Wire's
    """
    Declare all tools in one; there is no strict mode, only strict schemas.
    """
    declarations = [
        {
            "name": tool.name,
            "description": tool.description,
            # Not `parameters`: there the SDK crashes on a type such as ["string", "null"].
            "parameters_json_schema": tool.schema,
        }
        for tool in tools
    ]
    return [{"function_declarations": declarations}]


def _calls(response: object) -> Iterator[Call]:
    # A prompt that was blocked has no candidates, a blocked answer no content.
    candidates = entries(response, "candidates")
    content = look(candidates[0], "content") if candidates else response
    for part in entries(content, "parts"):
        # The SDK's objects and the REST API's JSON spell it differently.
        call = look(part, "function_call") or look(part, "functionCall")
        if call is not None:
            yield make_call(look(call, "name"), look(call, "args"), look(call, "id"))


def _results(replies: Sequence[Reply]) -> list[Shape]:
    parts = [{"function_response": _response(reply)} for reply in replies]
    return [{"role": "user", "parts": parts}] if parts else []


def _response(reply: Reply) -> Shape:
    # There is no flag for errors: the key tells. A call need not have an id.
    said = {"error" if reply.is_error else "output": reply.text}
    named = {"id": reply.call_id} if reply.call_id else {}
    return {**named, "name": reply.name, "response": said}


def _content(text: str) -> Shape:
    return {"role": "user", "parts": [{"text": text}]}


def _read(entry: object) -> Message:
    candidates = entries(entry, "candidates")
    content = look(candidates[0], "content") if candidates else entry
    finish = (
        look(candidates[0], "finish_reason") or look(candidates[0], "finishReason")
        if candidates
        else ""
    )
    results = []
    for part in entries(content, "parts"):
        answer = look(part, "function_response") or look(part, "functionResponse")
        if answer is not None:
            ok = look(look(answer, "response"), "error") is None
            call_id = look(answer, "id") or ""
            results.append(ToolResult(str(look(answer, "name")), ok, call_id))
    role = "model" if candidates else look(content, "role")
    return said(role, text_in(look(content, "parts")), finish=finish, results=results)


def _kept(response: object) -> list[Shape]:
    candidates = entries(response, "candidates")
    content = look(candidates[0], "content") if candidates else response
    # A blocked answer has no content, and the next request would be refused for a None in it.
    return [] if content is None else [plain(content)]


def _name(response: object) -> object:
    return look(response, "response_id") or look(response, "responseId")


def _is_blocked(response: object) -> bool:
    """
    Say whether the prompt was blocked: that answer has no candidates, and is no error.
    """
    said = look(response, "prompt_feedback") or look(response, "promptFeedback")
    reason = look(said, "block_reason") or look(said, "blockReason")
    return reason is not None and not entries(response, "candidates")


_WIRE = Wire(
    _define, _calls, _results, _read, _kept, behind(_content), name=_name, is_blocked=_is_blocked
)

make_tools = _WIRE.make_tools
calls_in = _WIRE.calls_in
results_of = _WIRE.results_of
answer = _WIRE.answer
read_messages = _WIRE.read_messages
with_reminder = _WIRE.with_reminder
start_run = starting(Run, _WIRE)
