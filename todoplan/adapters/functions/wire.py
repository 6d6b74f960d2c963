"""
The engine of the wire shapes: reads what a provider sent, and answers the calls of a response.

Nothing that comes from a model or a provider raises. A developer's mistake does, before a call is
answered: a plan that is none would otherwise be noticed only with the first call, and `None` for a
response would look like one without calls, for ever.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar

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

P = ParamSpec("P")
R = TypeVar("R")

Tools = Toolbox | ToolSet
Shape = Any
"""A plain dict as a provider takes it. Untyped: no TypedDict of an SDK accepts `dict[str, Any]`."""
Tail = Callable[[Sequence[Shape], str], list[Shape]]
Replies = Turn | Iterable[Reply]
"""A turn, or replies from anywhere: a `Reply` may also carry the answer of a tool of the caller."""


def field(value: object, *names: str) -> Any:
    """
    Return a mapping's entry or an object's attribute, by the first name that has one.
    """
    entry = None
    for name in names:
        entry = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if entry:
            break
    return entry


def entries(value: object, name: str) -> Sequence[Any]:
    """Return the list that stands under a name; empty for anything else."""
    entry = field(value, name)
    return entry if isinstance(entry, list | tuple) else ()


def first_choice(response: object, choices: str, name: str) -> tuple[Any, Any]:
    """
    Return the message of a response's first choice, and that choice; a bare message has none.
    """
    found = entries(response, choices)
    return (field(found[0], name), found[0]) if found else (response, None)


def plain(value: Any) -> Any:
    """Return an SDK's object as the dict that its API takes; a dict as it is."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "to_dict"):  # OpenAI's and Anthropic's, without what was never set
        return value.to_dict()
    # Google's: not as JSON, where a thought's signature would come back as another one.
    return value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else value


def as_text(value: object) -> str:
    """Return a text, and "" for what is none."""
    return value if isinstance(value, str) else ""


def text_in(content: object) -> str:
    """
    Return the text of a content: a text, or parts as objects or dicts; no thoughts, no other kinds.
    """
    if not isinstance(content, list | tuple):
        return as_text(content)
    return "".join(
        as_text(part) or as_text(field(part, "text"))
        for part in content
        # Gemini's parts have no type, and mark thoughts; Responses has input and output texts.
        if field(part, "type") in {None, "text", "input_text", "output_text"}
        and not field(part, "thought")
    )


def call_of(name: object, arguments: object, call_id: object) -> Call:
    """Return a call as it was sent; a name or id that is no text counts as missing."""
    # The arguments stay as they came, text or object: intake says what it repairs (law 10).
    return Call(as_text(name), arguments, as_text(call_id))


_ROLES: dict[object, Role] = {
    "assistant": "assistant",
    "model": "assistant",  # Gemini
    "system": "system",
    "developer": "system",  # OpenAI, for models that reason
    "tool": "tool",
}


def message_of(
    role: object, text: str = "", *, finish: object = "", results: Iterable[ToolResult] = ()
) -> Message:
    """
    Return a message without its calls; a role that no provider is known to use is the user's.
    """
    known = _ROLES.get(role, "user") if isinstance(role, str) else "user"
    return Message(known, text, results=tuple(results), finish=as_text(finish))


def with_message(messages: Sequence[Shape], text: str) -> list[Shape]:
    """Return the messages with a user's message behind them, as OpenAI's shapes have it."""
    return [*messages, {"role": "user", "content": text}]


def _response(given: object) -> object:
    """Return a response, which may be anything that a provider or its SDK might return."""
    if given is None:
        msg = f"{short_repr(given)} was given; give the provider's response, or its message"
        raise PlanError(msg, seen=given)
    return given


def no_answer(response: object) -> PlanError:
    """Return the error for what is no answer of a model: an error's body, or nothing at all."""
    # It ended a run in silence once, over open tasks: a proxy answers 200 with {"error": ...}.
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
    A model turn, answered: the plan after it, and `messages` to append to the conversation.

    `others` are the calls of tools that are not the plan's, in order; they are the caller's to
    answer. `base` is what to keep beside the plan for the next answer; `None` for nothing.
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


@attrs.frozen
class Wire:
    """
    One provider's shapes. Its methods are the functions of that provider's module.

    `define` shapes tool definitions, and whether they are strict; `calls` finds the calls of a
    response; `results` shapes replies; `read` reads a message or a response, all but its calls;
    `kept` returns what of a response is appended to the messages; `tail` puts a text behind the
    messages of a request; `name` is the field that names a response, and `is_blocked` says that the
    provider lets the model say nothing.
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
        """
        Return the definitions for `tools=`; `strict` asks for arguments that match the schema.
        """
        return self.define(_toolset(tools).definitions(strict=strict), strict)

    def split(self, tools: Tools, response: object) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
        """
        Return the planning calls of a response, and those of other tools, each in order.
        """
        toolset, calls = _toolset(tools), tuple(self.calls(_response(response)))
        ours = tuple(call for call in calls if toolset.find(call.name))
        return ours, tuple(call for call in calls if not toolset.find(call.name))

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
        Answer every planning call of a response, in order as one, and return the other calls.

        `at` is an aware time, or `None`. `base` is the merge base, if others work on the plan too:
        what the model has listed, and the plan as its last answer left it. What others did since
        stays, and the answer says so once. Keep the base that is returned for the next answer;
        `None` if the model has listed all that there is.

        Raises:
            PlanError: what was given is no toolbox, no plan, no base or no response.
        """
        planning, others = self.split(require(toolbox, Toolbox), response)
        # All at once (law 13): one by one, two whole-list writes would each look like the only one.
        began = start(toolbox)
        turn = toolbox.turn(require(plan, Plan), planning, at=at, base=base)
        tell_called(toolbox, turn.replies, None, began)
        if base is not None and not all(reply.is_error for reply in turn.replies):
            base = base.advanced(plan, turn.plan, [reply.note for reply in turn.replies])
            base = None if base.is_alone else base
        elif base is not None:  # a refused call changes nothing but the evidence of a verifier
            base = base.with_own(turn.events)
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
            results = tuple(
                attrs.evolve(result, name=result.name or names.get(result.call_id, ""))
                for result in message.results
            )
            named = tuple(call.name for call in calls if call.name)
            # Whoever tried to call has not finished, also where the name is missing.
            invalid = len(calls) - len(named)
            read.append(attrs.evolve(message, calls=named, results=results, invalid_calls=invalid))
        return tuple(read)

    def with_reminder(self, messages: Sequence[Shape], text: str) -> list[Shape]:
        """
        Return the messages of one request with a text at their tail; nothing for "". Not to be
        kept.
        """
        return self.tail(messages, text) if text else [*messages]


def starting(run: Callable[Concatenate[Wire, P], R], wire: Wire) -> Callable[P, R]:
    """
    Return the function that begins a run over one provider's shapes.
    """

    # No `functools.partial`, of which help() shows what a partial is and not what it takes.
    def start_run(*args: P.args, **options: P.kwargs) -> R:
        return run(wire, *args, **options)

    whole = signature(run)
    start_run.__doc__ = run.__doc__
    start_run.__signature__ = whole.replace(  # type: ignore[attr-defined]  # which `inspect` reads
        parameters=[*whole.parameters.values()][1:]
    )
    return start_run
