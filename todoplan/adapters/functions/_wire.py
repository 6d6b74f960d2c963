"""
What the wire shapes share: reading an object or its dict, and the road from calls to results.

There is no framework here that could keep a plan: it is a value that the caller hands in and gets
back, or a `Planner`'s. Nothing that comes from a model or a provider raises; what a developer gives
wrongly does, before a call is answered: a plan that is none would otherwise be noticed only with
the first call, and `None` for a response would look like one without calls, for ever.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs

from todoplan.core.events.base import Base
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.dialogue.application import require
from todoplan.dialogue.guidance.conversation import Message, Role, ToolResult
from todoplan.dialogue.observed import start, tell_called
from todoplan.dialogue.toolbox import Call, Reply, Toolbox, Turn
from todoplan.dialogue.tools.toolset import Definition, ToolSet
from todoplan.errors import PlanError

__all__ = [
    "Answered",
    "Replies",
    "Shape",
    "Tools",
    "Wire",
    "behind",
    "entries",
    "look",
    "make_call",
    "message_of",
    "plain",
    "said",
    "text_in",
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
    answer. `base` is what to keep of the one that was given: `None` once the model has been told.
    """

    plan: Plan
    messages: tuple[Shape, ...] = ()
    replies: tuple[Reply, ...] = ()
    others: tuple[Call, ...] = ()
    base: Base | None = None

    @property
    def events(self) -> tuple[Event, ...]:
        """
        All events of the turn, in order.
        """
        return Turn(self.plan, self.replies).events


def _toolset(tools: Tools) -> ToolSet:
    if isinstance(tools, Toolbox):
        return tools.toolset
    return require(tools, ToolSet, "a toolbox, Toolbox(TASKS, STRICT), or a tool set, TASKS")


def _response(given: object) -> object:
    """
    Return a response, which may be anything that a provider or its SDK might return.
    """
    if given is None:
        msg = f"{short_repr(given)} was given; give the provider's response, or its message"
        raise PlanError(msg, seen=given)
    return given


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
    return Call(_text(name), arguments, _text(call_id))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def text_in(content: object) -> str:
    """
    Return the text of a content: a text, or parts as objects or dicts; no thoughts, no other kinds.
    """
    if not isinstance(content, list | tuple):
        return _text(content)
    shown = (
        part
        for part in content
        # Gemini's parts have no type, and mark thoughts; Responses has input and output texts.
        if look(part, "type") in {None, "text", "input_text", "output_text"}
        and not look(part, "thought")
    )
    return "".join(_text(part) or _text(look(part, "text")) for part in shown)


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
    return Message(known, text, results=tuple(results), finish=_text(finish))


def message_of(text: str) -> Shape:
    """
    Return a user's message, as OpenAI's shapes have it.
    """
    return {"role": "user", "content": text}


def behind(message: Callable[[str], Shape]) -> "Tail":
    """
    Return a tail that is a message of its own.
    """
    return lambda messages, text: [*messages, message(text)]


Tail = Callable[[Sequence[Shape], str], list[Shape]]


@attrs.frozen
class Wire:
    """
    One provider's shapes. Its methods are the functions of that provider's module.

    `define` shapes tool definitions, and whether they are strict; `calls` finds the calls of a
    response; `results` shapes replies; `read` reads a message or a response, all but its calls;
    `kept` returns what of a response is appended to the messages; `tail` puts a text behind the
    messages of a request.
    """

    define: Callable[[Sequence[Definition], bool], list[Shape]]
    calls: Callable[[object], Iterable[Call]]
    results: Callable[[Sequence[Reply]], list[Shape]]
    read: Callable[[object], Message]
    kept: Callable[[object], list[Shape]]
    tail: Tail = behind(message_of)

    def make_tools(self, tools: Tools, *, strict: bool = False) -> list[Shape]:
        """
        Return the definitions for `tools=`; `strict` asks for arguments that match the schema.
        """
        return self.define(_toolset(tools).definitions(strict=strict), strict)

    def split(self, tools: Tools, response: object) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
        """
        Return the planning calls of a response, and those of other tools, each in order.
        """
        toolset, calls = _toolset(tools), tuple(self.calls(_response(response)))
        ours = [toolset.find(call.name) is not None for call in calls]
        found = tuple(zip(calls, ours, strict=True))
        return tuple(c for c, its in found if its), tuple(c for c, its in found if not its)

    def calls_in(self, tools: Tools, response: object) -> tuple[Call, ...]:
        """
        Return the planning calls of a response (its first choice), or of a message, in order.

        Raises:
            PlanError: what was given is no toolbox, or no response.
        """
        return self.split(tools, response)[0]

    def results_of(self, turn: Replies) -> list[Shape]:
        """
        Return the messages that bring replies to the model; none if there are none.

        Anthropic and Gemini want all results of a turn in one message: for a turn that calls other
        tools too, hand in their replies with those of the plan, or extend what comes.
        """
        return self.results(turn.replies if isinstance(turn, Turn) else tuple(turn))

    def answer(
        self,
        toolbox: Toolbox,
        plan: Plan,
        response: object,
        *,
        at: datetime | None = None,
        base: Base | None = None,
    ) -> Answered:
        """
        Answer every planning call of a response, in order as one, and hand back the other calls.

        `at` is an aware time, or `None`. `base` is the plan as the model last saw it, if others
        have changed it since: what they did stays, and the answer tells of it. What is still to be
        kept of it is in what is returned.

        Raises:
            PlanError: what was given is no toolbox, no plan, no base or no response.
        """
        planning, others = self.split(require(toolbox, Toolbox), response)
        # All at once (law 13): one by one, two whole-list writes would each look like the only one.
        began = start(toolbox)
        turn = toolbox.turn(require(plan, Plan), planning, at=at, base=base)
        tell_called(toolbox, turn.replies, None, began)
        if not all(reply.is_error for reply in turn.replies):
            base = None  # also reading is a look; what was refused has shown nothing
        return Answered(turn.plan, tuple(self.results_of(turn)), turn.replies, others, base)

    def read_messages(self, messages: Iterable[object]) -> tuple[Message, ...]:
        """
        Return messages, or a whole response, as guidance reads them, one for each.

        Give all messages of a request: a result names its call only by the id, and one whose call
        is not there is that of no tool, so that the plan would count as lost.
        """
        names: dict[str, str] = {}
        read = []
        for entry in messages:
            calls, message = tuple(self.calls(entry)), self.read(entry)
            names.update((call.call_id, call.name) for call in calls)
            results = [
                attrs.evolve(result, name=result.name or names.get(result.call_id, ""))
                for result in message.results
            ]
            named = tuple(call.name for call in calls if call.name)
            read.append(
                attrs.evolve(
                    message,
                    calls=named,
                    results=tuple(results),
                    # Whoever tried to call has not finished, also where the name is missing.
                    invalid_calls=len(calls) - len(named),
                )
            )
        return tuple(read)

    def with_reminder(self, messages: Sequence[Shape], text: str) -> list[Shape]:
        """
        Return the messages of one request with a text at their tail; nothing for "". Not to be
        kept.
        """
        return self.tail(messages, text) if text else [*messages]
