"""
Arguments as the SDK can carry them: half a character (a lone surrogate), or lists in lists without
end, would end its run (0.24).

What the model has sent is what intake reads; this is what the SDK and the conversation hold.
"""

import json
import re
from itertools import accumulate

from agents.items import TResponseOutputItem
from openai.types.responses import ResponseFunctionToolCall

from todoplan.dialogue.tools.toolset import ToolSet

__all__ = ["carried", "portable"]

_DEEPEST = 100
_BRACKET = re.compile(r"[\[\]{}]")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def portable(arguments: str) -> str:
    """
    Return the arguments with a question mark for each lone surrogate; as a JSON text of themselves
    if they are nested too deeply; others as they are.
    """
    if _depth(arguments) > _DEEPEST:
        return json.dumps(arguments)
    if not _SURROGATE.search(arguments):
        return arguments
    try:
        text = json.dumps(json.loads(arguments), ensure_ascii=False)
    except ValueError:
        text = arguments
    mended = text.encode("utf-8", "replace").decode()
    return arguments if mended == text else mended


def _depth(arguments: str) -> int:
    if arguments.count("[") + arguments.count("{") <= _DEEPEST:
        return 0
    steps = (1 if bracket in "[{" else -1 for bracket in _BRACKET.findall(arguments))
    return max(accumulate(steps))


def carried(item: TResponseOutputItem, toolset: ToolSet) -> TResponseOutputItem:
    """
    Return an item of a model's answer as it is handed to the SDK: only planning calls are touched.
    """
    if not isinstance(item, ResponseFunctionToolCall) or toolset.find(item.name) is None:
        return item
    arguments = portable(item.arguments)
    if arguments is item.arguments:
        return item
    return item.model_copy(update={"arguments": arguments})
