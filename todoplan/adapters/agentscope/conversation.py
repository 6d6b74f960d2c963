"""AgentScope's messages as guidance reads them. One message holds a whole reply, with its calls."""

import json
from collections.abc import Iterator, Sequence
from itertools import takewhile

from agentscope.message import (
    HintBlock,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
)

from todoplan.dialogue.conversation import Message, ToolResult

__all__ = ["last_answer", "neutral", "siblings", "unreadable_input"]


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


def siblings(context: Sequence[Msg]) -> tuple[str, ...]:
    """
    Return the names of the tools that the model called in its last turn; () if all are answered.
    """
    calls, waiting = _calls(context)
    return tuple(call.name for call in calls) if waiting else ()


def unreadable_input(context: Sequence[Msg], name: str) -> str | None:
    """
    Return the arguments of the call that is being answered, as sent, if they are no JSON.

    AgentScope completes what was cut off, and says so to nobody.
    """
    _, waiting = _calls(context)
    sent = next((call.input for call in waiting if call.name == name), "")
    if not sent:
        return None
    try:
        json.loads(sent)
    except ValueError:
        return sent
    return None


def _calls(context: Sequence[Msg]) -> tuple[list[ToolCallBlock], list[ToolCallBlock]]:
    turn = list(_last_turn(reversed(context[-1].content if context else [])))[::-1]
    calls = [block for block in turn if isinstance(block, ToolCallBlock)]
    answered = {block.id for block in turn if isinstance(block, ToolResultBlock)}
    return calls, [call for call in calls if call.id not in answered]


def _last_turn(backwards: Iterator[object]) -> Iterator[object]:
    met_call = False
    for block in backwards:
        if met_call and isinstance(block, ToolResultBlock | HintBlock):
            return
        met_call = met_call or isinstance(block, ToolCallBlock)
        yield block
