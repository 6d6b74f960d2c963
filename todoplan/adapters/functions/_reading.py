"""Reading what a provider sent: an object of its SDK, or the dict of it; nothing of it raises."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from todoplan.dialogue.guidance.conversation import Message, Role, ToolResult
from todoplan.dialogue.toolbox import Call

__all__ = ["Shape", "as_text", "entries", "look", "make_call", "plain", "said", "text_in"]

Shape = Any
"""A plain dict as a provider takes it. Untyped: no TypedDict of an SDK accepts `dict[str, Any]`."""


def look(value: object, key: str) -> Any:
    """
    Return a mapping's entry or an object's attribute; `None` if there is none.
    """
    return value.get(key) if isinstance(value, Mapping) else getattr(value, key, None)


def entries(value: object, key: str) -> Sequence[Any]:
    """
    Return the list that stands under a key; empty for anything else.
    """
    found = look(value, key)
    return found if isinstance(found, list | tuple) else ()


def plain(value: Any) -> Any:
    """
    Return an SDK's object as the dict that its API takes; a dict as it is.
    """
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "to_dict"):  # OpenAI's and Anthropic's, without what was never set
        return value.to_dict()
    # Google's: not as JSON, where a thought's signature would come back as another one.
    return value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else value


def make_call(name: object, arguments: object, call_id: object = None) -> Call:
    """
    Return a call as it was sent; a name or id that is no text counts as missing.
    """
    # The arguments stay as they came, text or object: intake says what it repairs (law 10).
    return Call(as_text(name), arguments, as_text(call_id))


def as_text(value: object) -> str:
    """
    Return a text, and "" for what is none.
    """
    return value if isinstance(value, str) else ""


def text_in(content: object) -> str:
    """
    Return the text of a content: a text, or parts as objects or dicts; no thoughts, no other kinds.
    """
    if not isinstance(content, list | tuple):
        return as_text(content)
    shown = (
        part
        for part in content
        # Gemini's parts have no type, and mark thoughts; Responses has input and output texts.
        if look(part, "type") in {None, "text", "input_text", "output_text"}
        and not look(part, "thought")
    )
    return "".join(as_text(part) or as_text(look(part, "text")) for part in shown)


_ROLES: dict[object, Role] = {
    "assistant": "assistant",
    "model": "assistant",  # Gemini
    "system": "system",
    "developer": "system",  # OpenAI, for models that reason
    "tool": "tool",
}


def said(
    role: object, text: str = "", *, finish: object = "", results: Iterable[ToolResult] = ()
) -> Message:
    """
    Return a message without its calls; a role that no provider is known to use is the user's.
    """
    known = _ROLES.get(role, "user") if isinstance(role, str) else "user"
    return Message(known, text, results=tuple(results), finish=as_text(finish))
