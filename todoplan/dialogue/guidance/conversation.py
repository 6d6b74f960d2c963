"""
Framework-neutral messages, with only the parts that guidance needs.

Each adapter has one function that converts its framework's messages to `Message`. Whether a message
is a final answer, a refusal or a question is decided only here. When adapters decided this
themselves, one of them took an unreadable call for a final answer, and another asked again and
again for an answer that the provider's filter had blocked.
"""

from __future__ import annotations  # help() shows short names, without the module path

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
# all in use. Gemini reports a call that it could not form as MALFORMED_FUNCTION_CALL; Anthropic
# reports a turn that continues by itself as "pause_turn".
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
    """The result of a tool call: the tool's name as the model sees it, and whether it succeeded."""

    name: str
    ok: bool = True
    call_id: str = ""


@attrs.frozen
class Message:
    """
    One message.

    `calls` are the names of the tools called in it, in order. `invalid_calls` counts calls that the
    framework could not parse. `results` are the results of tools. `finish` is the provider's finish
    reason ("stop", "tool_use", "SAFETY", ...), in any spelling, or "" if unknown. `shows` is the
    revision of the plan that this message lists, if it is a reminder.

    Raises:
        PlanError: the role is not one of system, user, assistant and tool; or `calls` or `results`
            is not a tuple of names or results.
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
        if self.calls or self.results:  # fast path: most messages have neither
            tuple_of(self.calls, str, 'the names of the called tools, such as ("write_todos",)')
            tuple_of(self.results, ToolResult, 'a tuple of results: (ToolResult("search"),)')


# Messages are converted one by one, since guidance starts at the end and mostly stops there. To
# convert all of 10,000 messages, as DeerFlow does, costs 1.5 to 3 ms a request.
@attrs.frozen
class Conversation(Sequence[Message]):
    """A framework's messages, each converted by `read` when it is accessed."""

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
    while waiting:  # no recursion: the framework decides how deep the content is nested
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
    """Return whether the message ends the agent's run: it is the assistant's and calls no tool."""
    # After an unreadable call the model gets an error and goes on, so this is no final answer.
    if message.role != "assistant" or message.calls or message.invalid_calls:
        return False
    return _finish(message) not in _TOOL_FINISHES


def is_refusal(message: Message) -> bool:
    """
    Return whether the model or its provider's filter refused to answer, so a retry is pointless.
    """
    return _finish(message) in _REFUSING_FINISHES


def asks(message: Message) -> bool:
    """
    Return whether the text ends with a question, in any script.

    Quotes, brackets, emphasis and emoji after the question mark are skipped.
    """
    # Agents that waited for a person were reminded again and again (oh-my-pi#3581,
    # claude-code#61900).
    end = message.text.rstrip()[-_LONGEST_ENDING:]
    while end and not _is_named(end[-1], "QUESTION MARK", "INTERROBANG"):
        if end[-1] not in _CLOSING and unicodedata.category(end[-1]) not in _PASSED:
            break
        end = end[:-1]
    else:
        return bool(end)
    word = end.split()[-1]
    if word.endswith(";"):  # Greek keyboards type it for the Greek question mark
        return len(word) > 1 and _is_named(word[-2], "GREEK")
    return any(_is_named(letter, "ARMENIAN QUESTION MARK") for letter in word)  # inside the word


_LONGEST_ENDING = 200  # bounded, since each step back copies the ending
# Characters that may follow a question mark: quotes and emphasis; and, by Unicode category, closing
# brackets and quotes, spaces, control characters, and emoji with their joiners and skin tones.
_CLOSING = frozenset("\"'*_`~|>")
_PASSED = frozenset({"Pe", "Pf", "Zs", "Zl", "Zp", "Cc", "Cf", "So", "Sk", "Mn"})


def _is_named(letter: str, *parts: str) -> bool:
    name = unicodedata.name(letter, "")
    return any(part in name for part in parts)


def _finish(message: Message) -> str:
    return "".join(letter for letter in message.finish.casefold() if letter.isalpha())
