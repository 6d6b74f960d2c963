"""LangChain messages as guidance reads them; only those are looked at that a decision needs."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage

from todoplan.dialogue.guidance.conversation import Message, ToolResult, text_of

__all__ = ["neutral", "protected", "was_cleared"]

_SPARED = {"cleared": True, "strategy": "todoplan"}
_ROLES: dict[str, Any] = {"system": "system", "ai": "assistant", "tool": "tool"}


def neutral(message: BaseMessage) -> Message:
    """
    Return one message of LangChain as guidance reads it.
    """
    role = _ROLES.get(message.type, "user")
    if isinstance(message, ToolMessage):
        ok = message.status != "error" and not was_cleared(message)
        result = ToolResult(message.name or "", ok, message.tool_call_id)
        return Message(role, results=(result,))
    if isinstance(message, AIMessage):
        return Message(
            role,
            text_of(message.content),
            tuple(call["name"] for call in message.tool_calls),
            invalid_calls=len(message.invalid_tool_calls),
            finish=_finish(message),
        )
    return Message(role, text_of(message.content))


def _finish(message: AIMessage) -> str:
    metadata = message.response_metadata
    found = metadata.get("finish_reason") or metadata.get("stop_reason")
    return found if isinstance(found, str) else ""


def was_cleared(message: ToolMessage) -> bool:
    """
    Say whether `ContextEditingMiddleware` has put a placeholder in place of the content.
    """
    edited = message.response_metadata.get("context_editing")
    return bool(edited and edited.get("cleared") and edited != _SPARED)


def protected(messages: Sequence[AnyMessage], names: Sequence[str]) -> list[AnyMessage]:
    """
    Return the messages of a request with the latest good planning result marked as already edited.

    A `ContextEditingMiddleware` nearer to the model then leaves it alone: it can take away what
    this middleware has seen, and cannot be seen from here.
    """
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, ToolMessage) and _shows(message, names):
            mark = {**message.response_metadata, "context_editing": _SPARED}
            kept = message.model_copy(update={"response_metadata": mark})
            return [*messages[:place], kept, *messages[place + 1 :]]
    return [*messages]


def _shows(message: ToolMessage, names: Sequence[str]) -> bool:
    return message.name in names and neutral(message).results[0].ok
