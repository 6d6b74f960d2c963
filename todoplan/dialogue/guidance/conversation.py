"""A conversation as guidance reads it: framework-neutral, only what a decision needs."""

from collections.abc import Mapping, Sequence
from typing import Literal

import attrs

__all__ = ["Message", "ToolResult", "is_final_answer", "is_refusal", "text_of"]

Role = Literal["system", "user", "assistant", "tool"]

_TOOL_FINISHES = frozenset(
    {"toolcalls", "tooluse", "functioncall", "functioncalls", "malformedfunctioncall", "pauseturn"}
)
_REFUSING_FINISHES = frozenset(
    {
        "blocklist",
        "contentfilter",
        "contentfiltered",
        "guardrailintervened",
        "prohibitedcontent",
        "recitation",
        "refusal",
        "safety",
        "spii",
    }
)


@attrs.frozen
class ToolResult:
    """
    What a tool answered: its name as the model sees it, and whether the call succeeded.
    """

    name: str
    ok: bool = True
    call_id: str = ""


@attrs.frozen
class Message:
    """
    One message. `calls` are the names of the tools called in it, in order; `invalid_calls` counts
    calls that the framework could not read. `shows` is the plan's revision if this is a reminder.
    """

    role: Role
    text: str = ""
    calls: tuple[str, ...] = ()
    results: tuple[ToolResult, ...] = ()
    invalid_calls: int = 0
    finish: str = ""
    shows: int | None = None


def text_of(content: object) -> str:
    """
    Return the text of a message's content: a string, or a list of strings and text blocks.

    Blocks of other kinds, and anything else, count as no text.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        text = content.get("text")
        return text if isinstance(text, str) and content.get("type", "text") == "text" else ""
    if isinstance(content, Sequence) and not isinstance(content, bytes | bytearray):
        return "".join(text_of(block) for block in content)
    return ""


def is_final_answer(message: Message) -> bool:
    """
    Say whether the message ends the agent's work: the assistant's, and no tool is to be run.
    """
    if message.role != "assistant" or message.calls or message.invalid_calls:
        return False
    return _finish(message) not in _TOOL_FINISHES


def is_refusal(message: Message) -> bool:
    """
    Say whether the model, or a filter of its provider, would not answer; asking again is no help.
    """
    return _finish(message) in _REFUSING_FINISHES


def _finish(message: Message) -> str:
    return "".join(letter for letter in message.finish.casefold() if letter.isalpha())
