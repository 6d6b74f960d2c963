"""
What the wire shapes share: the road from the calls of a response to their results.

There is no framework here that could keep a plan: it is a value that the caller hands in and gets
back, or a `Planner`'s. Nothing that comes from a model or a provider raises; what a developer gives
wrongly does, before a call is answered: a plan that is none would otherwise be noticed only with
the first call, and `None` for a response would look like one without calls, for ever.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from inspect import signature
from typing import Concatenate, ParamSpec, TypeVar

import attrs

from todoplan.adapters.functions._reading import Shape, as_text, look
from todoplan.core.events.base import Base
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.dialogue.application import require
from todoplan.dialogue.guidance.conversation import Message
from todoplan.dialogue.observed import start, tell_called
from todoplan.dialogue.toolbox import Call, Reply, Toolbox, Turn
from todoplan.dialogue.tools.toolset import Definition, ToolSet
from todoplan.errors import PlanError

__all__ = [
    "Answered",
    "Replies",
    "Tools",
    "Wire",
    "behind",
    "message_of",
    "no_answer",
    "starting",
]

Tools = Toolbox | ToolSet

P = ParamSpec("P")
R = TypeVar("R")

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


def no_answer(response: object) -> PlanError:
    """
    Return the error for what is no answer of a model: an error's body, or nothing at all.
    """
    # It ended a run in silence once, over open tasks: a proxy answers 200 with {"error": ...}.
    msg = (
        f"{response!r:.300} is no answer of a model, and nothing was done with it; see what"
        " went wrong there, and make the same request again"
    )
    return PlanError(msg, seen=response)


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


def _id_of(response: object) -> object:
    return look(response, "id")


def _is_never(_: object) -> bool:
    return False


@attrs.frozen
class Wire:
    """
    One provider's shapes. Its methods are the functions of that provider's module.

    `define` shapes tool definitions, and whether they are strict; `calls` finds the calls of a
    response; `results` shapes replies; `read` reads a message or a response, all but its calls;
    `kept` returns what of a response is appended to the messages; `tail` puts a text behind the
    messages of a request; `name` is what names a response, and `is_blocked` says that the provider
    lets the model say nothing.
    """

    define: Callable[[Sequence[Definition], bool], list[Shape]]
    calls: Callable[[object], Iterable[Call]]
    results: Callable[[Sequence[Reply]], list[Shape]]
    read: Callable[[object], Message]
    kept: Callable[[object], list[Shape]]
    tail: Tail = behind(message_of)
    name: Callable[[object], object] = _id_of
    is_blocked: Callable[[object], bool] = _is_never

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

    def name_of(self, response: object) -> str:
        """
        Return what the provider calls a response; "" for a bare message, or if it names none.
        """
        return as_text(self.name(response))

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
        elif base is not None and turn.events:
            base = base.with_own(turn.events)  # but what a verifier found, which is its own
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
