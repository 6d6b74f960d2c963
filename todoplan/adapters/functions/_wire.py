"""What the wire shapes share: reading an object or its dict, and the road from calls to results."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs

from todoplan.core.events import Event
from todoplan.core.plan import Plan
from todoplan.dialogue.toolbox import Call, Reply, Toolbox, Turn
from todoplan.dialogue.toolsets import Definition, ToolSet

__all__ = [
    "Answered",
    "Replies",
    "Shape",
    "Tools",
    "answered",
    "definitions",
    "entries",
    "look",
    "make_call",
    "planned",
    "replies_of",
    "with_last",
]

Shape = Any
"""A plain dict as a provider takes it. Untyped: no TypedDict of an SDK accepts `dict[str, Any]`."""

Tools = Toolbox | ToolSet

Replies = Turn | Iterable[Reply]
"""A turn, or replies from anywhere: a `Reply` may also carry what a tool of the caller's said."""


@attrs.frozen
class Answered:
    """
    A model turn, answered: the plan after it, and `messages` to append to the conversation.

    `others` are the calls of tools that are not the plan's, in order; they are the caller's to
    answer.
    """

    plan: Plan
    messages: tuple[Shape, ...] = ()
    replies: tuple[Reply, ...] = ()
    others: tuple[Call, ...] = ()

    @property
    def events(self) -> tuple[Event, ...]:
        """
        All events of the turn, in order.
        """
        return Turn(self.plan, self.replies).events


def definitions(tools: Tools, *, strict: bool) -> tuple[Definition, ...]:
    """
    Return the tools of a tool set, or of a toolbox's.
    """
    return _toolset(tools).definitions(strict=strict)


def _toolset(tools: Tools) -> ToolSet:
    return tools.toolset if isinstance(tools, Toolbox) else tools


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


def make_call(name: object, arguments: object, call_id: object = None) -> Call:
    """
    Return a call as it was sent; a name or id that is no text counts as missing.
    """
    return Call(_text(name), arguments, _text(call_id))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def planned(tools: Tools, calls: Iterable[Call]) -> tuple[Call, ...]:
    """
    Return the calls that are the plan's, in order.
    """
    toolset = _toolset(tools)
    return tuple(call for call in calls if toolset.find(call.name) is not None)


def replies_of(turn: Replies) -> tuple[Reply, ...]:
    """
    Return the replies of a turn, or those given.
    """
    return turn.replies if isinstance(turn, Turn) else tuple(turn)


def answered(
    toolbox: Toolbox,
    plan: Plan,
    calls: Iterable[Call],
    results_of: Callable[[Replies], list[Shape]],
    at: datetime | None,
) -> Answered:
    """
    Answer the plan's calls of a turn, in order as one, and hand back the others.
    """
    calls = tuple(calls)
    turn = toolbox.turn(plan, planned(toolbox, calls), at=at)
    others = tuple(call for call in calls if toolbox.toolset.find(call.name) is None)
    return Answered(turn.plan, tuple(results_of(turn)), turn.replies, others)


def with_last(messages: Sequence[Shape], text: str, last: Shape) -> list[Shape]:
    """
    Return a new list with a message of this text behind the others; without it if there is none.
    """
    return [*messages, last] if text else [*messages]
