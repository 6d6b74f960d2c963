"""AgentScope's messages as guidance reads them. One message holds a whole reply, with its calls."""

import json
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from agentscope.message import (
    HintBlock,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
)

from todoplan.dialogue.guidance.conversation import Message, ToolResult
from todoplan.dialogue.toolbox import Call

__all__ = ["as_sent", "call_id_of", "calls_in_turn", "last_answer", "neutral"]


def neutral(message: Msg) -> Message:
    """
    Return one message of AgentScope as guidance reads it.
    """
    return _message(message.role, message.content)


def _message(role: str, blocks: Sequence[object]) -> Message:
    return Message(
        role,  # type: ignore[arg-type]  # AgentScope's three roles are three of ours
        "".join(block.text for block in blocks if isinstance(block, TextBlock)),
        tuple(block.name for block in blocks if isinstance(block, ToolCallBlock)),
        tuple(_result(block) for block in blocks if isinstance(block, ToolResultBlock)),
    )


def _result(block: ToolResultBlock) -> ToolResult:
    return ToolResult(block.name, block.state == ToolResultState.SUCCESS, block.id)


def last_answer(context: Sequence[Msg]) -> Message:
    """
    Return what the model said last: the blocks behind the last tool result or hint.
    """
    blocks = context[-1].content if context else []
    tail = takewhile(lambda b: not isinstance(b, ToolResultBlock | HintBlock), reversed(blocks))
    return _message("assistant", tuple(tail)[::-1])


def calls_in_turn(context: Sequence[Msg]) -> tuple[Call, ...]:
    """
    Return the calls of the model's last turn, without arguments; () if all are answered.
    """
    calls, waiting = _calls(context)
    return tuple(Call(call.name, None, call.id) for call in calls) if waiting else ()


def call_id_of(context: Sequence[Msg], name: str) -> str:
    """
    Return the id of the call that is being answered; "" if the model did not make it.
    """
    # AgentScope tells a tool no id. It answers the calls of planning tools one after the other.
    return next((call.id for call in _calls(context)[1] if call.name == name), "")


def as_sent(context: Sequence[Msg], name: str, given: dict[str, Any]) -> str | dict[str, Any]:
    """
    Return the arguments of the call that is being answered as the model sent them, if it was this
    call, and those that were given if somebody changed them on their way.

    AgentScope completes what was cut off and keeps the last of a repeated key, and tells nobody.
    """
    _, waiting = _calls(context)
    sent = next((call.input for call in waiting if call.name == name), "")
    try:
        return sent if sent and json.loads(sent) == given else given
    except ValueError:
        return sent


def _calls(context: Sequence[Msg]) -> tuple[list[ToolCallBlock], list[ToolCallBlock]]:
    """
    Return the calls of the last turn, and those among them that are not answered.
    """
    # One message holds all turns of a reply: only its tail, from the last result on, is this turn.
    calls: list[ToolCallBlock] = []
    answered: set[str] = set()
    for block in reversed(context[-1].content if context else ()):
        if isinstance(block, ToolCallBlock):
            calls.insert(0, block)
        elif isinstance(block, ToolResultBlock | HintBlock):
            if calls:
                break
            answered.add(block.id)
    return calls, [call for call in calls if call.id not in answered]
