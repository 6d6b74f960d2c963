"""Items of the Responses API as guidance reads them; only what a decision needs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from agents.items import TResponseInputItem

from todoplan.adapters.openai_agents.request import Input
from todoplan.dialogue.guidance.conversation import Message, ToolResult
from todoplan.dialogue.replies.error_texts import is_error_text
from todoplan.dialogue.toolbox import Call

__all__ = ["answers_in", "as_list", "calls_in", "conversation", "neutral", "with_reminder"]

_TRIMMED = "[Trimmed"
_REFUSAL = "refusal"


def _look(item: object, key: str) -> Any:
    return item.get(key) if isinstance(item, Mapping) else getattr(item, key, None)


def _items(given: Input) -> Sequence[Any]:
    return () if isinstance(given, str) else given


def conversation(given: Input) -> list[Message]:
    """
    Return the tools' answers in a request. The SDK marks no errors: they are known by their words.

    What `ToolOutputTrimmer` has cut to a preview shows the plan no longer.
    """
    items = _items(given)
    names = {_look(i, "call_id"): _look(i, "name") for i in items if _is(i, "function_call")}
    return [
        Message("tool", results=(_result(item, names.get(_look(item, "call_id"), "")),))
        for item in items
        if _is(item, "function_call_output")
    ]


def _is(item: object, kind: str) -> bool:
    return bool(_look(item, "type") == kind)


def _result(item: object, name: str) -> ToolResult:
    output = _look(item, "output")
    told = output if isinstance(output, str) else ""
    failed = is_error_text(told) or told.startswith(_TRIMMED)
    return ToolResult(name, not failed, _look(item, "call_id"))


def answers_in(given: Input) -> list[str]:
    """
    Return the ids of the calls whose answers stand in a request.
    """
    answers = (i for i in _items(given) if str(_look(i, "type")).endswith("_output"))
    return [_look(item, "call_id") for item in answers]


def neutral(output: Iterable[object]) -> Message:
    """
    Return a model's response as one message. What the SDK is to carry out counts as a call; what
    the provider has carried out itself, such as a web search, does not.
    """
    items = [*output]
    parts = [*_parts(item for item in items if _is(item, "message"))]
    text = "".join(_look(part, "text") or "" for part in parts)
    calls = tuple(str(_look(item, "type")) for item in items if _is_open(item))
    finish = _REFUSAL if any(_is(part, _REFUSAL) for part in parts) else ""
    return Message("assistant", text, calls, finish=finish)


def _parts(messages: Iterable[object]) -> Iterator[object]:
    for message in messages:
        yield from _look(message, "content") or ()


def _is_open(item: object) -> bool:
    return bool(_look(item, "call_id")) or _is(item, "mcp_approval_request")


def calls_in(output: Iterable[object]) -> list[Call]:
    """
    Return the calls of a model's response that the SDK is to answer, in order.
    """
    return [_call(item) for item in output if _look(item, "call_id")]


def _call(item: object) -> Call:
    arguments = _look(item, "arguments") if _is(item, "function_call") else ""
    return Call(_look(item, "name") or "", arguments, _look(item, "call_id"))


def with_reminder(given: Input, text: str) -> Input:
    """
    Return the input of one request with a text at its tail; nothing is put there for "".
    """
    if not text:
        return given
    said: list[TResponseInputItem] = [{"role": "user", "content": text}]
    return [*as_list(given), *said]


def as_list(given: Input) -> list[TResponseInputItem]:
    """
    Return the input of a request as a list of items.
    """
    return [{"role": "user", "content": given}] if isinstance(given, str) else given
