"""What an adapter can do, as far as its framework lets it, and how a check asks for it."""

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import Any, Protocol, TypeVar

import pytest

__all__ = ["ALL", "Capability", "Capable", "leave_out_without", "needs"]


class Capability(StrEnum):
    """
    Something that some frameworks cannot have. What is not declared is not checked.
    """

    # MCP serves tools and sees no model: no turns, no reminders, no answers.
    MODEL = "it runs a model, and what the model is sent can be read"
    TOOLS = "the tools that a model is offered can be read, as it is offered them"
    TURNS = "it knows which calls belong to one model turn, and their order"
    REMINDERS = "it can put a text at the tail of one request, unsaved"
    FURTHER_TURNS = "it can send a final answer back to the model"
    FINISH = "why an answer ended reaches the adapter, such as that the provider refused it"
    THOUGHTS = "a model's thoughts reach the adapter apart from its text"
    # Some frameworks validate first, and answer in words of their own.
    ARGUMENTS = "arguments that break the schema reach the adapter as they were sent"
    # LangChain and the SDKs of Anthropic and Gemini hand on what they have parsed. AgentScope
    # repairs a text by itself, so that it has this and not the next.
    TEXT_ARGUMENTS = "the model's arguments are a text, which may be no JSON"
    RAW_ARGUMENTS = "arguments that are no JSON object reach the adapter as the text they are"
    BROKEN_TEXTS = "texts that are no UTF-8, half a surrogate pair, do not stop a run"
    # AgentScope lets the ValueError of json.loads through, which ends the run.
    LONG_NUMBERS = "a number of more digits than Python reads does not stop a run"
    # OpenAI Agents ends the run by ModelBehaviorError, unless it is told otherwise.
    UNKNOWN_TOOLS = "a call of a tool that is not there is answered, not raised"
    # OpenAI's APIs have none: an error is a text.
    ERROR_FLAG = "an answer can be marked as an error"
    EVENTS = "the application is told of the events"
    EDITS = "a person can change the plan of a session between two runs"
    # Where a framework writes its state over what was written meanwhile, an edit must be refused.
    LIVE_EDITS = "a person can change the plan of a session while a run goes on"
    RETURNS = "what a run returns holds the plan"
    VERIFIER = "the program can look whether a task is done before a call completes it"
    CLOCK = "the times of a change can be given"
    RESUME = "the plan is kept by the framework's own persistence, and resumed from it"
    THREADS = "sessions run in threads side by side"
    TASKS = "sessions run as asynchronous tasks side by side"


ALL = frozenset(Capability)
"""Every capability: take away what the framework cannot have."""


class Capable(Protocol):
    """
    Whatever declares its capabilities.
    """

    capabilities: frozenset[Capability]


Check = TypeVar("Check", bound=Callable[..., None])


def needs(*wanted: Capability) -> Callable[[Check], Check]:
    """
    Have a check left out, with the reason, where a capability is not declared.
    """

    def decorate(check: Any) -> Any:
        # pytest finds by this what a check is parametrised with.
        @wraps(check)
        def checked(self: Capable, *args: Any, **kwargs: Any) -> None:
            leave_out_without(self, *wanted)
            check(self, *args, **kwargs)

        return checked

    return decorate


def leave_out_without(suite: Capable, *wanted: Capability) -> None:
    """
    Skip the check under way, with the reason, where a capability is not declared.
    """
    for capability in wanted:
        if capability not in suite.capabilities:
            pytest.skip(f"not declared: {capability.name}: {capability}")
