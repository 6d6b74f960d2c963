"""
Conversion of the SDK's requests and responses for guidance, and of arguments for the SDK.

Items of the Responses API have no error flag, so an error is recognised by its text. Some arguments
that a model sends would abort the SDK's run (0.24): lone surrogates, and very deeply nested lists.
Intake reads the arguments as the model sent them; the SDK and the conversation get them in the form
that `portable` returns.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import attrs
from agents import Tool
from agents.items import TResponseInputItem, TResponseOutputItem
from openai.types.responses import ResponseFunctionToolCall

from todoplan.dialogue.calls import Call
from todoplan.dialogue.guidance import Message, ToolResult
from todoplan.dialogue.replies import is_error_text
from todoplan.dialogue.tools import ToolSet

Input = str | list[TResponseInputItem]
_TRIMMED = "[Trimmed"  # the beginning of an output that ToolOutputTrimmer has cut
_REFUSAL = "refusal"
# More than intake reads (32), and far less than the depth at which `json` fails: about 1,000 on
# Python 3.11 (openai-agents#4772).
_DEEPEST = 100
_BRACKET = re.compile(r"[\[\]{}]")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


@attrs.frozen
class SentRequest:
    """The arguments of a model's method, with the names and in the order of `agents.Model`."""

    system_instructions: str | None
    input: Input
    model_settings: Any
    tools: list[Tool]
    output_schema: Any
    handoffs: list[Any]
    tracing: Any
    previous_response_id: str | None = attrs.field(kw_only=True)
    conversation_id: str | None = attrs.field(kw_only=True)
    prompt: Any = attrs.field(kw_only=True)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments by name."""
        return attrs.asdict(self, recurse=False)

    @property
    def is_partial(self) -> bool:
        """
        Return whether the provider stores the conversation, so that the input has only new items.
        """
        return bool(self.previous_response_id or self.conversation_id)

    @property
    def is_structured(self) -> bool:
        """Return whether the answer must have a given structure."""
        return self.output_schema is not None and not self.output_schema.is_plain_text()


def _field(item: object, key: str) -> Any:
    return item.get(key) if isinstance(item, Mapping) else getattr(item, key, None)


def _items(given: Input) -> Sequence[Any]:
    return () if isinstance(given, str) else given


def conversation(given: Input) -> list[Message]:
    """
    Return the tool results in a request.

    The SDK has no error flag, so errors are recognised by their text. An output that
    `ToolOutputTrimmer` has cut no longer shows the plan, so it counts as failed.
    """
    items = _items(given)
    names = {_field(i, "call_id"): _field(i, "name") for i in items if _is(i, "function_call")}
    messages = []
    for item in items:
        if _is(item, "function_call_output"):
            call_id, output = _field(item, "call_id"), _field(item, "output")
            text = output if isinstance(output, str) else ""
            failed = is_error_text(text) or text.startswith(_TRIMMED)
            result = ToolResult(names.get(call_id, ""), not failed, call_id)
            messages.append(Message("tool", results=(result,)))
    return messages


def _is(item: object, kind: str) -> bool:
    return bool(_field(item, "type") == kind)


def answers_in(given: Input) -> list[str]:
    """Return the ids of the calls whose results are in a request."""
    answers = (i for i in _items(given) if str(_field(i, "type")).endswith("_output"))
    return [_field(item, "call_id") for item in answers]


def neutral(output: Iterable[object]) -> Message:
    """
    Return a model's response as one message.

    Items that the SDK must carry out count as calls. Calls that the provider has carried out
    itself, such as a web search, do not.
    """
    items = [*output]
    messages = (item for item in items if _is(item, "message"))
    parts = [part for message in messages for part in _field(message, "content") or ()]
    text = "".join(_field(part, "text") or "" for part in parts)
    calls = tuple(
        str(_field(item, "type"))
        for item in items
        if _field(item, "call_id") or _is(item, "mcp_approval_request")
    )
    # In this API, a refusal is a kind of content part, not a finish reason.
    finish = _REFUSAL if any(_is(part, _REFUSAL) for part in parts) else ""
    return Message("assistant", text, calls, finish=finish)


def calls_in(output: Iterable[object]) -> list[Call]:
    """Return the calls of a model's response that the SDK must answer, in order."""
    calls = []
    for item in output:
        if _field(item, "call_id"):
            arguments = _field(item, "arguments") if _is(item, "function_call") else ""
            calls.append(Call(_field(item, "name") or "", arguments, _field(item, "call_id")))
    return calls


def with_reminder(given: Input, text: str) -> Input:
    """Return the input of one request with a text appended; an empty text adds nothing."""
    if not text:
        return given
    said: list[TResponseInputItem] = [{"role": "user", "content": text}]
    return [*as_list(given), *said]


def as_list(given: Input) -> list[TResponseInputItem]:
    """Return the input of a request as a list of items."""
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def portable(arguments: str) -> str:
    """
    Return the arguments in a form that the SDK can process.

    Lone surrogates are replaced by question marks. Arguments that are nested too deeply are encoded
    as a JSON string. Other arguments are returned unchanged.
    """
    if _depth(arguments) > _DEEPEST:
        return json.dumps(arguments)
    if not _SURROGATE.search(arguments):
        return arguments
    try:
        text = json.dumps(json.loads(arguments), ensure_ascii=False)
    except ValueError:
        text = arguments
    sendable = text.encode("utf-8", "replace").decode()
    return arguments if sendable == text else sendable


def _depth(arguments: str) -> int:
    # A fast upper bound, which is enough for most arguments.
    if arguments.count("[") + arguments.count("{") <= _DEEPEST:
        return 0
    # Brackets inside strings count too. At worst, valid arguments are encoded without need, but
    # only for the SDK: intake reads them as they were sent.
    steps = (1 if bracket in "[{" else -1 for bracket in _BRACKET.findall(arguments))
    return max(accumulate(steps))


def carried(item: TResponseOutputItem, toolset: ToolSet) -> TResponseOutputItem:
    """
    Return an item of a model's answer in the form for the SDK; only planning calls may change.
    """
    if not isinstance(item, ResponseFunctionToolCall) or toolset.find(item.name) is None:
        return item
    arguments = portable(item.arguments)
    # The SDK's own object is kept if nothing had to change.
    if arguments is item.arguments:
        return item
    return item.model_copy(update={"arguments": arguments})
