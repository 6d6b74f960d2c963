"""
The code shared by all providers: it reads responses and answers their calls.

Nothing that comes from a model or a provider raises. A developer's mistake raises before any call
is answered. Otherwise, a wrong type for the plan would be noticed only at the first call, and a
response of `None` would always look like a response without calls.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar

import attrs

from todoplan.core.events.base import Base
from todoplan.core.events.types import Event
from todoplan.core.plan.model import short_repr
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Call, Reply, Turn
from todoplan.dialogue.guidance import Message, Role, ToolResult
from todoplan.dialogue.toolbox import Toolbox, require, start, tell_called
from todoplan.dialogue.tools import Definition, ToolSet
from todoplan.errors import PlanError

P = ParamSpec("P")
R = TypeVar("R")

Tools = Toolbox | ToolSet
Shape = Any
"""
A plain dict in a provider's format. Untyped, since an SDK's TypedDict rejects `dict[str, Any]`.
"""
Tail = Callable[[Sequence[Shape], str], list[Shape]]
Replies = Turn | Iterable[Reply]
"""A turn, or any replies: a `Reply` may also contain the result of one of the caller's tools."""


def field(value: object, *names: str) -> Any:
    """Return a mapping's entry or an object's attribute: the first non-empty one of these names."""
    entry = None
    for name in names:
        entry = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if entry:
            break
    return entry


def entries(value: object, name: str) -> Sequence[Any]:
    """Return the list under a name; an empty one if there is no list."""
    entry = field(value, name)
    return entry if isinstance(entry, list | tuple) else ()


def first_choice(response: object, choices: str, name: str) -> tuple[Any, Any]:
    """
    Return the message of a response's first choice, and the choice; `None` for a bare message.
    """
    found = entries(response, choices)
    return (field(found[0], name), found[0]) if found else (response, None)


def plain(value: Any) -> Any:
    """Return an SDK's object as the dict that its API takes; a dict is copied."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "to_dict"):  # OpenAI and Anthropic; leaves out unset fields
        return value.to_dict()
    # Google: not in JSON mode, which would change the signature of a thought.
    return value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else value


def as_text(value: object) -> str:
    """Return the value if it is a text, otherwise ""."""
    return value if isinstance(value, str) else ""


def text_in(content: object) -> str:
    """
    Return the text of a message's content, which is a text or a list of objects or dicts.

    Thoughts and other kinds of parts are left out.
    """
    if not isinstance(content, list | tuple):
        return as_text(content)
    return "".join(
        as_text(part) or as_text(field(part, "text"))
        for part in content
        # Gemini's parts have no type, but mark thoughts; Responses has input and output texts.
        if field(part, "type") in {None, "text", "input_text", "output_text"}
        and not field(part, "thought")
    )


def call_of(name: object, arguments: object, call_id: object) -> Call:
    """Return a call as it was sent; a name or id that is not a text counts as missing."""
    # The arguments stay unchanged, text or object: intake repairs them and reports it (law 10).
    return Call(as_text(name), arguments, as_text(call_id))


_ROLES: dict[object, Role] = {
    "assistant": "assistant",
    "model": "assistant",  # Gemini
    "system": "system",
    "developer": "system",  # OpenAI, for reasoning models
    "tool": "tool",
}


def message_of(
    role: object, text: str = "", *, finish: object = "", results: Iterable[ToolResult] = ()
) -> Message:
    """Return a message without its calls; an unknown role counts as the user's."""
    known = _ROLES.get(role, "user") if isinstance(role, str) else "user"
    return Message(known, text, results=tuple(results), finish=as_text(finish))


def with_message(messages: Sequence[Shape], text: str) -> list[Shape]:
    """Return the messages followed by a user message, in OpenAI's format."""
    return [*messages, {"role": "user", "content": text}]


def _response(given: object) -> object:
    """Return the response; it may be any object except `None`."""
    if given is None:
        msg = f"{short_repr(given)} was given; give the provider's response, or its message"
        raise PlanError(msg, seen=given)
    return given


def no_answer(response: object) -> PlanError:
    """Return the error for a response that is no answer of a model, such as an error's body."""
    # A proxy may answer with status 200 and {"error": ...}; that once ended a run silently while
    # tasks were open.
    msg = (
        f"{response!r:.300} is no answer of a model, and nothing was done with it; see what"
        " went wrong there, and make the same request again"
    )
    return PlanError(msg, seen=response)


def _toolset(tools: Tools) -> ToolSet:
    if isinstance(tools, Toolbox):
        return tools.toolset
    return require(tools, ToolSet, "a toolbox, Toolbox(TASKS, STRICT), or a tool set, TASKS")


@attrs.frozen
class Answered:
    """
    An answered model turn: the plan after it, and `messages` to append to the conversation.

    `others` are the calls of other tools, in order; the caller must answer them. `base` is the
    merge base to store beside the plan for the next answer, or `None`.
    """

    plan: Plan
    messages: tuple[Shape, ...] = ()
    replies: tuple[Reply, ...] = ()
    others: tuple[Call, ...] = ()
    base: Base | None = None

    @property
    def events(self) -> tuple[Event, ...]:
        """All events of the turn, in order."""
        return Turn(self.plan, self.replies).events


@attrs.frozen
class Wire:
    """
    One provider's message formats. Its methods are the functions of that provider's module.

    `define` formats tool definitions, optionally strict. `calls` finds the calls of a response.
    `results` formats replies. `read` reads a message or a response, except its calls. `kept`
    returns the part of a response that is appended to the messages. `tail` appends a text to the
    messages of a request. `name` are the names of the field with a response's id. `is_blocked`
    returns whether the provider blocked the prompt.
    """

    define: Callable[[Sequence[Definition], bool], list[Shape]]
    calls: Callable[[object], Iterable[Call]]
    results: Callable[[Sequence[Reply]], list[Shape]]
    read: Callable[[object], Message]
    kept: Callable[[object], list[Shape]]
    tail: Tail = with_message
    name: tuple[str, ...] = ("id",)
    is_blocked: Callable[[object], bool] = lambda _: False

    def make_tools(self, tools: Tools, *, strict: bool = False) -> list[Shape]:
        """Return the tool definitions for a request; `strict` enforces the schema for arguments."""
        return self.define(_toolset(tools).definitions(strict=strict), strict)

    def split(self, tools: Tools, response: object) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
        """Return the planning calls of a response, and its calls of other tools, each in order."""
        toolset, calls = _toolset(tools), tuple(self.calls(_response(response)))
        ours = tuple(call for call in calls if toolset.find(call.name))
        return ours, tuple(call for call in calls if not toolset.find(call.name))

    def calls_in(self, tools: Tools, response: object) -> tuple[Call, ...]:
        """
        Return the planning calls of a response (its first choice) or of a message, in order.

        Raises:
            PlanError: `tools` is not a toolbox or a tool set, or `response` is `None`.
        """
        return self.split(tools, response)[0]

    def results_of(self, turn: Replies) -> list[Shape]:
        """
        Return the messages with these replies for the model; an empty list if there are none.

        Anthropic and Gemini require all results of a turn in one message. If a turn calls other
        tools too, pass their replies together with the plan's, or extend the returned message.
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
        Answer all planning calls of a response in order, as one turn, and return the other calls.

        `at` is an aware time, or `None`. `base` is the merge base, if others work on the plan too.
        Changes by others are kept, and the reply reports them once. Store the returned merge base
        for the next answer; it is `None` if the model has listed all tasks.

        Raises:
            PlanError: an argument has the wrong type, or `response` is `None`.
        """
        planning, others = self.split(require(toolbox, Toolbox), response)
        # All calls together (law 13): otherwise each of two whole-list writes would look like the
        # only one.
        began = start(toolbox)
        turn = toolbox.turn(require(plan, Plan), planning, at=at, base=base)
        tell_called(toolbox, turn.replies, None, began)
        if base is not None and not all(reply.is_error for reply in turn.replies):
            base = base.advanced(plan, turn.plan, [reply.note for reply in turn.replies])
            base = None if base.is_alone else base
        elif base is not None:  # a refused call changes nothing but a verifier's evidence
            base = base.with_own(turn.events)
        return Answered(turn.plan, tuple(self.results_of(turn)), turn.replies, others, base)

    def read_messages(self, messages: Iterable[object]) -> tuple[Message, ...]:
        """
        Convert messages, or whole responses, for guidance; one `Message` for each.

        Pass all messages of a request: a result refers to its call only by id. If the call is
        missing, the result belongs to no known tool, and the plan would count as lost.
        """
        names: dict[str, str] = {}
        read = []
        for entry in messages:
            calls, message = tuple(self.calls(entry)), self.read(entry)
            names.update((call.call_id, call.name) for call in calls)
            results = tuple(
                attrs.evolve(result, name=result.name or names.get(result.call_id, ""))
                for result in message.results
            )
            named = tuple(call.name for call in calls if call.name)
            # A message with a call is no final answer, even if the tool's name is missing.
            invalid = len(calls) - len(named)
            read.append(attrs.evolve(message, calls=named, results=results, invalid_calls=invalid))
        return tuple(read)

    def with_reminder(self, messages: Sequence[Shape], text: str) -> list[Shape]:
        """
        Return the messages of one request with a text appended; do not save it.

        An empty text adds nothing.
        """
        return self.tail(messages, text) if text else [*messages]


def starting(run: Callable[Concatenate[Wire, P], R], wire: Wire) -> Callable[P, R]:
    """Return the function that starts a run with one provider's message formats."""

    # Not `functools.partial`: help() would describe `partial` instead of these parameters.
    def start_run(*args: P.args, **options: P.kwargs) -> R:
        return run(wire, *args, **options)

    whole = signature(run)
    start_run.__doc__ = run.__doc__
    start_run.__signature__ = whole.replace(  # type: ignore[attr-defined]  # which `inspect` reads
        parameters=[*whole.parameters.values()][1:]
    )
    return start_run
