"""The capabilities of an adapter within its framework, and how a check requires them."""

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import Any, Protocol, TypeVar

import pytest

__all__ = ["ALL", "OFFERED", "Capability", "Capable", "leave_out_without", "needs"]


class Capability(StrEnum):
    """
    Something that some frameworks do not support. Checks of undeclared capabilities are skipped.
    """

    # MCP serves tools and has no access to the model: no turns, no reminders, no answers.
    MODEL = "it runs a model, and what the model is sent can be read"
    TOOLS = "the tools that a model is offered can be read, as it is offered them"
    TURNS = "it knows which calls belong to one model turn, and their order"
    REMINDERS = "it can put a text at the tail of one request, unsaved"
    FURTHER_TURNS = "it can send a final answer back to the model"
    FINISH = "why an answer ended reaches the adapter, such as that the provider refused it"
    THOUGHTS = "a model's thoughts reach the adapter apart from its text"
    # Some frameworks validate arguments first, and answer with texts of their own.
    ARGUMENTS = "arguments that break the schema reach the adapter as they were sent"
    # LangChain and the SDKs of Anthropic and Gemini pass on parsed arguments. AgentScope repairs a
    # text by itself, so it has this capability and not the next.
    TEXT_ARGUMENTS = "the model's arguments are a text, which may be no JSON"
    RAW_ARGUMENTS = "arguments that are no JSON object reach the adapter as the text they are"
    BROKEN_TEXTS = "texts that are no UTF-8, half a surrogate pair, do not stop a run"
    # AgentScope does not catch the ValueError of json.loads, which ends the run.
    LONG_NUMBERS = "a number of more digits than Python reads does not stop a run"
    # OpenAI Agents by default ends the run with a ModelBehaviorError.
    UNKNOWN_TOOLS = "a call of a tool that is not there is answered, not raised"
    # OpenAI's APIs have no error mark: an error is a text.
    ERROR_FLAG = "an answer can be marked as an error"
    EVENTS = "the application is told of the events"
    EDITS = "a person can change the plan of a session between two runs"
    LISTED = "a list drops only what its own session has listed (law 15)"
    # If a framework overwrites changes made during a run with its own state, an edit must be
    # refused.
    LIVE_EDITS = "a person can change the plan of a session while a run goes on"
    RETURNS = "what a run returns holds the plan"
    VERIFIER = "the program can look whether a task is done before a call completes it"
    CLOCK = "the times of a change can be given"
    RESUME = "the plan is kept by the framework's own persistence, and resumed from it"
    THREADS = "sessions run in threads side by side"
    TASKS = "sessions run as asynchronous tasks side by side"


ALL = frozenset(Capability)
"""All capabilities. Subtract those that the framework does not support."""

OFFERED: dict[Capability, str] = {
    Capability.MODEL: "`run` awaits `script.areply(messages, tools)` for each request, as it is "
    "sent; without a model it carries out the calls of `script.turns`",
    Capability.TOOLS: "`tools` of each request, or `script.offer(tools)` once in a run",
    Capability.TURNS: "calls of a turn are answered by `toolbox.turn`, `answered_after` or "
    "`answered_beside`",
    Capability.REMINDERS: "the text of `Guidance.before_model` at the tail of the request, and "
    "its memory beside the plan",
    Capability.FURTHER_TURNS: '`Guidance.after_model` on each answer: on "again" the model is '
    'asked once more with the text, on "raise" the run ends in `unfinished_error(plan)`',
    Capability.FINISH: "the host sends `turn.finish`; the adapter gives it on as `Message.finish`",
    Capability.THOUGHTS: "the host sends `turn.thoughts`; they are not in `Message.text`",
    Capability.ARGUMENTS: "nothing validates before the toolbox does",
    Capability.TEXT_ARGUMENTS: "the host sends a text as it is",
    Capability.RAW_ARGUMENTS: "that text is what the toolbox is given",
    Capability.BROKEN_TEXTS: "what is saved and sent takes any Python string",
    Capability.LONG_NUMBERS: "nothing reads the text by `json.loads` unguarded, also when saving",
    Capability.UNKNOWN_TOOLS: "an answer to each call, also of a tool that nobody has",
    Capability.ERROR_FLAG: "`reply.is_error` in the framework's mark, read back as `Seen.is_error`",
    Capability.EVENTS: "`reply.events` told to the application, given as `Ran(events=)`",
    Capability.EDITS: "`edit`, by an `edit_plan`: `session.edit(command, actor=...)`",
    Capability.LISTED: "a `Session` for each conversation, whose record is kept with it; `seed`",
    Capability.LIVE_EDITS: "`edit` from another thread while `run` goes on: in the plan after it",
    Capability.RETURNS: "`Ran(plan=)`, read from what the framework's run returned",
    Capability.VERIFIER: "`setup.verify`, by `Verifying.of(toolbox, verify).answer(attempt)`",
    Capability.CLOCK: "`at=setup.clock()` with each call",
    Capability.RESUME: "`saved()`: a text, bytes or a path; `resume(saved)` on a new host",
    Capability.THREADS: "`run` in a thread each, for other sessions of the same host",
    Capability.TASKS: "`run` as a task each, of one loop",
}
"""What a host and its adapter must do for each capability."""


class Capable(Protocol):
    """Anything that declares its capabilities."""

    capabilities: frozenset[Capability]


Check = TypeVar("Check", bound=Callable[..., None])


def needs(*wanted: Capability) -> Callable[[Check], Check]:
    """Skip a check, with a reason, if one of the capabilities is not declared."""

    def decorate(check: Any) -> Any:
        # `wraps` keeps the signature, from which pytest reads the parameters of a check.
        @wraps(check)
        def checked(self: Capable, *args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            leave_out_without(self, *wanted)
            check(self, *args, **kwargs)

        return checked

    return decorate


def leave_out_without(suite: Capable, *wanted: Capability) -> None:
    """Skip the current check, with a reason, if one of the capabilities is not declared."""
    for capability in wanted:
        if capability not in suite.capabilities:
            pytest.skip(f"not declared: {capability.name}: {capability}")
