"""
The conversation of a request, as guidance reads it, and its planning results kept from others.
"""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage

from todoplan.dialogue.guidance.conversation import Message, ToolResult, text_of

__all__ = ["neutral", "protected"]

# ContextEditingMiddleware skips what it has cleared already; the strategy tells ours from its own.
_SPARED = {"cleared": True, "strategy": "todoplan"}
_ROLES: dict[str, Any] = {"system": "system", "ai": "assistant", "tool": "tool"}


def neutral(message: BaseMessage) -> Message:
    """
    Return one message of LangChain as guidance reads it.
    """
    role = _ROLES.get(message.type, "user")
    metadata = message.response_metadata
    if isinstance(message, ToolMessage):
        # ContextEditingMiddleware leaves the name and puts a placeholder in place of the content.
        edited = metadata.get("context_editing")
        was_cleared = edited and edited.get("cleared") and edited != _SPARED
        ok = message.status != "error" and not was_cleared
        return Message(role, results=(ToolResult(message.name or "", ok, message.tool_call_id),))
    if isinstance(message, AIMessage):
        # Anthropic says the second, others the first.
        finish = metadata.get("finish_reason") or metadata.get("stop_reason")
        return Message(
            role,
            text_of(message.content),
            tuple(call["name"] for call in message.tool_calls),
            invalid_calls=len(message.invalid_tool_calls),
            finish=finish if isinstance(finish, str) else "",
        )
    return Message(role, text_of(message.content))


def protected(messages: Sequence[AnyMessage], names: Sequence[str]) -> list[AnyMessage]:
    """
    Return the messages of a request with the latest good planning result marked as already edited.

    A `ContextEditingMiddleware` nearer to the model then leaves it alone: it can take away what
    this middleware has seen, and cannot be seen from here.
    """
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if not isinstance(message, ToolMessage) or message.name not in names:
            continue
        if neutral(message).results[0].ok:
            mark = {**message.response_metadata, "context_editing": _SPARED}
            kept = message.model_copy(update={"response_metadata": mark})
            return [*messages[:place], kept, *messages[place + 1 :]]
    return [*messages]
