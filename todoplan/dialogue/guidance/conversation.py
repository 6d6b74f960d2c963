"""
A conversation as guidance reads it: framework-neutral, only what a decision needs.

An adapter says what each message of its framework is, once, in a function to `Message`. What that
means (a final answer, a refusal, a question) is decided here and nowhere else: where adapters
decided it, a call that could not be read passed for an answer in one of them, and a filtered answer
was asked for again and again in another.
"""

from __future__ import annotations  # help() shows short names, not the path before each

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args, overload

import attrs

from todoplan.core.plan.validation import short_repr, tuple_of
from todoplan.errors import PlanError

__all__ = [
    "Conversation",
    "Message",
    "ToolResult",
    "asks",
    "is_final_answer",
    "is_refusal",
    "text_of",
]

Role = Literal["system", "user", "assistant", "tool"]
_ROLES = get_args(Role)

# Finish reasons without case and punctuation, since "tool_calls", "toolCalls" and "TOOL_CALLS" are
# in use. Gemini ends a call that it could not form by MALFORMED_FUNCTION_CALL, Anthropic a turn
# that goes on by itself by "pause_turn".
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
    One message.

    `calls` are the names of the tools called in it, in order; `invalid_calls` counts calls that the
    framework could not read; `results` are what tools answered. `finish` is the provider's own word
    for why the model stopped ("stop", "tool_use", "SAFETY", ...), in any spelling; "" if unknown.
    `shows` is the plan's revision if this is a reminder that lists it.

    Raises:
        PlanError: the role is none of system, user, assistant, tool; `calls` is one text.
    """

    role: Role
    text: str = ""
    calls: tuple[str, ...] = ()
    results: tuple[ToolResult, ...] = ()
    invalid_calls: int = 0
    finish: str = ""
    shows: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.role not in _ROLES:
            msg = f"{short_repr(self.role)} is no role; write one of {', '.join(_ROLES)}"
            raise PlanError(msg, seen=self.role)
        if self.calls or self.results:  # most messages have neither, and many are read in a turn
            tuple_of(self.calls, str, 'the names of the called tools, such as ("write_todos",)')
            tuple_of(self.results, ToolResult, 'a tuple of results: (ToolResult("search"),)')


# Read one by one, since guidance begins at the end and mostly stops there: a look through all of
# 10,000 messages, as DeerFlow takes it, costs 1.5 to 3 ms a request.
@attrs.frozen
class Conversation(Sequence[Message]):
    """
    The `messages` of a framework, and what reads one of them.
    """

    messages: Sequence[Any]
    read: Callable[[Any], Message]

    def __len__(self) -> int:
        return len(self.messages)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        if isinstance(index, slice):
            return Conversation(self.messages[index], self.read)
        return self.read(self.messages[index])


def text_of(content: object) -> str:
    """
    Return the text of a message's content: a string, or a list of strings and text blocks.

    Blocks of other kinds, and anything else, count as no text.
    """
    texts: list[str] = []
    waiting = [content]
    while waiting:  # not by recursion: how deep it is nested is the framework's choice
        part = waiting.pop()
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            text = part.get("text")
            if isinstance(text, str) and part.get("type", "text") == "text":
                texts.append(text)
        elif isinstance(part, Sequence) and not isinstance(part, bytes | bytearray):
            waiting += reversed(part)
    return "".join(texts)


def is_final_answer(message: Message) -> bool:
    """
    Say whether the message ends the agent's work: the assistant's, and no tool is to be run.
    """
    # A call that could not be read is one that the model meant to make: it will be told and go on.
    if message.role != "assistant" or message.calls or message.invalid_calls:
        return False
    return _finish(message) not in _TOOL_FINISHES


def is_refusal(message: Message) -> bool:
    """
    Say whether the model, or a filter of its provider, would not answer; asking again is no help.
    """
    return _finish(message) in _REFUSING_FINISHES


def asks(message: Message) -> bool:
    """
    Say whether the text ends in a question, in whatever script.

    What may stand behind a question mark (a quote, a bracket, emphasis, an emoji) is passed over.
    """
    # Agents that wait for a person were nagged on (oh-my-pi#3581, claude-code#61900).
    end = message.text.rstrip()[-_LONGEST_ENDING:]
    while end and not _is_named(end[-1], "QUESTION MARK", "INTERROBANG"):
        if end[-1] not in _CLOSING and unicodedata.category(end[-1]) not in _PASSED:
            break
        end = end[:-1]
    else:
        return bool(end)
    word = end.split()[-1]
    if word.endswith(";"):  # what Greek keyboards write for the Greek question mark
        return len(word) > 1 and _is_named(word[-2], "GREEK")
    return any(_is_named(letter, "ARMENIAN QUESTION MARK") for letter in word)  # stands in the word


_LONGEST_ENDING = 200  # each step back copies the rest of it
# What may stand behind a question mark: quotes and emphasis, and by category closing brackets and
# quotes, spaces, controls, emoji with their joiners and skins.
_CLOSING = frozenset("\"'*_`~|>")
_PASSED = frozenset({"Pe", "Pf", "Zs", "Zl", "Zp", "Cc", "Cf", "So", "Sk", "Mn"})


def _is_named(letter: str, *parts: str) -> bool:
    name = unicodedata.name(letter, "")
    return any(part in name for part in parts)


def _finish(message: Message) -> str:
    return "".join(letter for letter in message.finish.casefold() if letter.isalpha())
