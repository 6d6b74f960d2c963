"""Pydantic AI's messages as guidance reads them, and a reminder as Pydantic AI sends it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ToolReturnPart,
    UserPromptPart,
)

from todoplan.dialogue.guidance.conversation import Message, ToolResult
from todoplan.dialogue.toolbox import Call

__all__ = ["calls_of_turn", "conversation", "neutral", "with_reminder"]

_FINISHES = {"tool_call": "tool_calls"}  # Pydantic AI's word, and the one that guidance knows
_UNDER_WAY = "pause_turn"  # Anthropic's word for a turn that is to be continued


def conversation(messages: Iterable[ModelMessage]) -> list[Message]:
    """
    Return the messages of a request as guidance reads them.
    """
    return [*map(neutral, messages)]


def neutral(message: ModelMessage) -> Message:
    """
    Return one message; a response that is to be continued counts as one that calls tools.
    """
    if isinstance(message, ModelResponse):
        calls = tuple(call.tool_name for call in message.tool_calls)
        return Message("assistant", message.text or "", calls, finish=_finish(message))
    returns = (part for part in message.parts if isinstance(part, ToolReturnPart))
    return Message("user", results=tuple(map(_result, returns)))


def _finish(message: ModelResponse) -> str:
    if message.state != "complete":
        return _UNDER_WAY
    reason = message.finish_reason or ""
    return _FINISHES.get(reason, reason)


def _result(part: ToolReturnPart) -> ToolResult:
    # A failed or denied call has shown the model nothing of the plan.
    return ToolResult(part.tool_name, part.outcome == "success", part.tool_call_id)


def calls_of_turn(messages: Sequence[ModelMessage], call_id: str | None) -> tuple[Call, ...]:
    """
    Return the calls of the response that made this one, itself included; () if there is none.
    """
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            calls = [Call(c.tool_name, c.args, c.tool_call_id) for c in message.tool_calls]
            if any(call.call_id == call_id for call in calls):
                return tuple(calls)
    return ()


def response_of(messages: Sequence[ModelMessage], call_id: str | None) -> tuple[str, ...]:
    """
    Return what names the response that made a call, in this process and in any that resumes the
    run; () if there is none.
    """
    for message in reversed(messages):
        if isinstance(message, ModelResponse) and any(
            call.tool_call_id == call_id for call in message.tool_calls
        ):
            return message.timestamp.isoformat(), message.provider_response_id or ""
    return ()


def with_reminder(messages: Sequence[ModelMessage], text: str) -> list[ModelMessage]:
    """
    Return the messages of one request with a text at their tail; nothing is put there for "".
    """
    *earlier, last = messages
    if text and isinstance(last, ModelRequest):
        # In the same request, behind its results: Anthropic wants one user turn, results first.
        return [*earlier, replace(last, parts=[*last.parts, UserPromptPart(text)])]
    return [*messages]
